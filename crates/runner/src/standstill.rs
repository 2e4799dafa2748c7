//! Does a run stand still for good? The recorder of a controlled run notes when all threads wait for one another; if
//! that lasts, nobody needs to wait for a time-out to know that the run hangs.

use std::fs::{self, File};
use std::io::Read as _;
use std::path::Path;
use std::time::{Duration, Instant};

use recording::HEADER_BYTES;

/// How long nothing may happen. A thread that was woken out of the recorder's sight comes to its next point sooner than this.
const LASTING: Duration = Duration::from_millis(200);

/// Looks at a run's recording while it is being made.
pub(crate) struct Standstill<'a> {
    recordings: &'a Path,
    /// When the run was first seen to stand still at this point.
    since: Option<(Instant, u64)>,
}

impl<'a> Standstill<'a> {
    pub fn new(recordings: &'a Path) -> Standstill<'a> {
        Standstill { recordings, since: None }
    }

    /// Is there nothing more to wait for?
    pub fn is_final(&mut self) -> bool {
        let point = point_of(self.recordings);
        match (point, self.since) {
            (Some(point), Some((since, known))) if point == known => since.elapsed() >= LASTING,
            _ => {
                self.since = point.map(|point| (Instant::now(), point));
                false
            }
        }
    }
}

/// The point at which a run stands still. Of several processes, one may wait for another.
fn point_of(recordings: &Path) -> Option<u64> {
    let mut files = fs::read_dir(recordings).ok()?.flatten();
    let only = files.next()?;
    if files.next().is_some() {
        return None;
    }
    let mut bytes = [0; HEADER_BYTES];
    File::open(only.path()).ok()?.read_exact(&mut bytes).ok()?;
    let header = recording::header(&bytes).ok()?;
    header.stands_still().then_some(header.points)
}
