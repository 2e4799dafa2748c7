//! Does a run stand still for good? The recorder of a controlled run notes when all threads wait for one another, and of
//! other runs the kernel tells; if that lasts, nobody needs to wait for a time-out to know that the run hangs. A thread that
//! waits for longer than the run is given does so for ever: Rust's test harness, say, looks once a minute.

use std::fs::{self, File};
use std::io::Read as _;
use std::path::Path;
use std::time::{Duration, Instant};

use libc::pid_t;
use recording::{HEADER_BYTES, Header};

use crate::waiting;

/// The kernel is not asked before this: most runs are over by then, and what was asked about a process takes it long to have forgotten at its end (see `orphans`).
const YOUNG: Duration = Duration::from_millis(30);
/// How long nothing may happen. A thread that was woken out of the recorder's sight comes to its next point sooner than this.
const LASTING: Duration = Duration::from_millis(200);
/// The same where all threads sleep until another one wakes them: in between, none of them has run but to look whether it can go on.
const SLEEPING: Duration = Duration::from_millis(12);
/// Threads of a controlled run look for themselves whether they can go on, each once in this time, or in as many times as much as there are.
const LOOK_OF_ONE: Duration = Duration::from_millis(8);

/// Looks at a run while it goes on.
pub(crate) struct Standstill<'a> {
    recordings: &'a Path,
    group: pid_t,
    began: Instant,
    /// When the run is over anyway, by the system's monotonic clock.
    end: u64,
    /// When the run was first seen to stand still at this point.
    since: Option<(Instant, Point)>,
    /// Since when all of its threads have been asleep whenever somebody looked, if they are.
    asleep: Option<Instant>,
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
    /// Of the run with this process group, which may go on for this time.
    pub fn new(recordings: &'a Path, group: pid_t, left: Option<Duration>) -> Standstill<'a> {
        let left = left.map_or(u64::MAX, |left| left.as_nanos().try_into().unwrap_or(u64::MAX));
        let end = waiting::now(libc::CLOCK_MONOTONIC).saturating_add(left);
        Standstill { recordings, group, began: Instant::now(), end, since: None, asleep: None }
    }

    /// Is there nothing more to wait for?
    pub fn is_final(&mut self) -> bool {
        let controlled = self.controlled().map(Point::Controlled);
        let point = controlled.or_else(|| self.waiting().map(Point::Waiting));
        match (point, &self.since) {
            (Some(point), Some((since, known))) if point == *known => {
                since.elapsed() >= LASTING || self.is_asleep()
            }
            (point, _) => {
                self.since = point.map(|point| (Instant::now(), point));
                self.asleep = None;
                self.is_suspected() && self.is_asleep()
            }
        }
    }

    /// Has it begun just now?
    pub fn is_young(&self) -> bool {
        self.began.elapsed() < YOUNG
    }

    /// The threads of a run that all wait for one another, as the kernel sees them.
    fn waiting(&self) -> Option<Vec<(pid_t, u64)>> {
        if self.is_young() { None } else { waiting::all_wait(self.group, self.end) }
    }

    /// Does it seem to stand still?
    pub fn is_suspected(&self) -> bool {
        self.since.is_some()
    }

    /// Have all threads been asleep for so long that none of them goes on by itself?
    fn is_asleep(&mut self) -> bool {
        let threads = match &self.since {
            Some((_, Point::Waiting(threads))) => Some(threads.len()),
            Some((_, Point::Controlled(_))) => waiting::sleeping_threads(self.group),
            None => None,
        };
        let Some(threads) = threads else {
            self.asleep = None;
            return false;
        };
        let lasting = SLEEPING + LOOK_OF_ONE * threads.min(64) as u32;
        self.asleep.get_or_insert_with(Instant::now).elapsed() >= lasting
    }

    /// The point at which a controlled run stands still.
    fn controlled(&self) -> Option<u64> {
        let header = only_header(self.recordings).filter(Header::stands_still)?;
        let is_endless = header.standstill_until == 0
            || header.standstill_until > self.end && waiting::has_timers(self.group) == Some(false);
        is_endless.then_some(header.points)
    }
}

/// What the recorder of a run has noted. Of several processes, one may wait for another.
fn only_header(recordings: &Path) -> Option<Header> {
    let mut files = fs::read_dir(recordings).ok()?.flatten();
    let only = files.next()?;
    if files.next().is_some() {
        return None;
    }
    header_of(&only.path())
}

/// What the recorder of one process has noted so far.
pub(crate) fn header_of(recording: &Path) -> Option<Header> {
    let mut bytes = [0; HEADER_BYTES];
    File::open(recording).ok()?.read_exact(&mut bytes).ok()?;
    recording::header(&bytes).ok()
}
