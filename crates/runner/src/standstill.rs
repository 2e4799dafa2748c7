//! Does a run stand still for good? The recorder of a controlled run notes when all threads wait for one another, and of
//! other runs the kernel tells; if that lasts, nobody needs to wait for a time-out to know that the run hangs.

use std::fs::{self, File};
use std::io::Read as _;
use std::path::Path;
use std::time::{Duration, Instant};

use libc::pid_t;
use recording::HEADER_BYTES;

use crate::waiting;

/// How long nothing may happen. A thread that was woken out of the recorder's sight comes to its next point sooner than this.
const LASTING: Duration = Duration::from_millis(200);

/// Looks at a run while it goes on.
pub(crate) struct Standstill<'a> {
    recordings: &'a Path,
    group: pid_t,
    /// When the run was first seen to stand still at this point.
    since: Option<(Instant, Point)>,
}

/// Where a run stands still.
#[derive(PartialEq)]
enum Point {
    /// In a controlled run, by its number.
    Controlled(u64),
    /// Threads, and how often each has run.
    Waiting(Vec<(pid_t, u64)>),
}

impl<'a> Standstill<'a> {
    /// Of the run with this process group.
    pub fn new(recordings: &'a Path, group: pid_t) -> Standstill<'a> {
        Standstill { recordings, group, since: None }
    }

    /// Is there nothing more to wait for?
    pub fn is_final(&mut self) -> bool {
        let controlled = point_of(self.recordings).map(Point::Controlled);
        let point = controlled.or_else(|| waiting::all_wait(self.group).map(Point::Waiting));
        match (point, &self.since) {
            (Some(point), Some((since, known))) if point == *known => since.elapsed() >= LASTING,
            (point, _) => {
                self.since = point.map(|point| (Instant::now(), point));
                false
            }
        }
    }
}

/// The point at which a controlled run stands still. Of several processes, one may wait for another.
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
