//! Is a controlled run that does not end merely slow? With one thread at a time and a choice at every point, some tests take a
//! hundred times as long. Such a run says nothing about the test, while one that hangs has failed: that comes to no further
//! points or, if it spins, to many more than runs that end.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::standstill::header_of;

/// For so long a run may come to no further point and still be on its way: the machine may be busy with other things.
const BETWEEN_POINTS: Duration = Duration::from_secs(1);
/// A run with so many times the points of those that ended goes round in circles.
const IN_CIRCLES: u64 = 4;

/// What is known about how long a controlled run takes.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    /// After this time it is too slow, if it still comes to new points.
    pub patience: Duration,
    /// The most points of a run that ended; zero if there was none.
    pub points: u64,
}

/// Watches a controlled run come to points.
pub(crate) struct Advance<'a> {
    recordings: &'a Path,
    pace: Pace,
    began: Instant,
    points: u64,
    /// When it was last seen to have come to new points.
    newest: Option<Instant>,
}

impl<'a> Advance<'a> {
    pub fn new(recordings: &'a Path, pace: Pace) -> Advance<'a> {
        Advance { recordings, pace, began: Instant::now(), points: 0, newest: None }
    }

    /// Is it no use to wait longer?
    pub fn is_too_slow(&mut self) -> bool {
        self.goes_on() && self.began.elapsed() >= self.pace.patience
    }

    /// Is it on its way to its end, as far as can be told?
    pub fn goes_on(&mut self) -> bool {
        let points = points(self.recordings);
        if points > self.points {
            (self.points, self.newest) = (points, Some(Instant::now()));
        }
        self.newest.is_some_and(|newest| newest.elapsed() < BETWEEN_POINTS) && !self.is_in_circles()
    }

    /// Does it spin, as long after its start as runs that end never are on their way?
    pub fn spins(&mut self) -> bool {
        !self.goes_on() && self.is_in_circles() && self.began.elapsed() >= self.pace.patience
    }

    fn is_in_circles(&self) -> bool {
        self.pace.points != 0 && self.points >= self.pace.points.saturating_mul(IN_CIRCLES)
    }
}

/// The points that all processes of a run have come to.
fn points(recordings: &Path) -> u64 {
    let files = fs::read_dir(recordings).into_iter().flatten().flatten();
    files.filter_map(|file| header_of(&file.path())).map(|header| header.points).sum()
}
