//! Is a controlled run that does not end merely slow? With one thread at a time and a choice at every point, some tests take a
//! hundred times as long. Such a run says nothing about the test, while one that hangs has failed: that comes to no further
//! points or, if it spins, to many more than runs that end. Points at which the plan has a thread held back do not count: who waits
//! for that one spins because of us.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::standstill::header_of;

/// For so long a run may come to no further point and still be on its way: the machine may be busy with other things.
const BETWEEN_POINTS: Duration = Duration::from_secs(1);
/// A run with so many times the points of those that ended goes round in circles.
const IN_CIRCLES: u64 = 4;
/// But not with fewer than these: on a busy machine, threads of a small test may pass the token to and fro for as long as it takes to come to some
/// thousands, and one that does nothing else comes to as many within a second on a quiet one.
const FEWEST_IN_CIRCLES: u64 = 20_000;

/// What is known about how long a controlled run takes.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    /// After this time it is too slow, if it still comes to new points.
    pub patience: Duration,
    /// The most points of a run that ended, without those at which a thread was held back; zero if there was none.
    pub points: u64,
}

/// Watches a controlled run come to points.
pub(crate) struct Advance<'a> {
    recordings: &'a Path,
    pace: Pace,
    began: Instant,
    points: Points,
    /// When it was last seen to have come to new points.
    newest: Option<Instant>,
}

impl<'a> Advance<'a> {
    pub fn new(recordings: &'a Path, pace: Pace) -> Advance<'a> {
        Advance { recordings, pace, began: Instant::now(), points: Points::default(), newest: None }
    }

    /// Is it no use to wait longer?
    pub fn is_too_slow(&mut self) -> bool {
        self.goes_on() && self.began.elapsed() >= self.pace.patience
    }

    /// Is it on its way to its end, as far as can be told?
    pub fn goes_on(&mut self) -> bool {
        let points = points(self.recordings);
        if points.all > self.points.all {
            (self.points, self.newest) = (points, Some(Instant::now()));
        }
        self.newest.is_some_and(|newest| newest.elapsed() < BETWEEN_POINTS) && !self.is_in_circles()
    }

    /// Does it spin, as long after its start as runs that end never are on their way?
    pub fn spins(&mut self) -> bool {
        !self.goes_on() && self.is_in_circles() && self.began.elapsed() >= self.pace.patience
    }

    fn is_in_circles(&self) -> bool {
        self.pace.points != 0 && self.points.free >= self.pace.circles()
    }
}

impl Pace {
    /// The points of a run that goes round in circles.
    fn circles(self) -> u64 {
        self.points.saturating_mul(IN_CIRCLES).max(FEWEST_IN_CIRCLES)
    }
}

/// The points that all processes of a run have come to.
#[derive(Clone, Copy, Default)]
struct Points {
    all: u64,
    /// Those at which no thread was held back.
    free: u64,
}

fn points(recordings: &Path) -> Points {
    let files = fs::read_dir(recordings).into_iter().flatten().flatten();
    let headers = files.filter_map(|file| header_of(&file.path()));
    headers.fold(Points::default(), |points, header| Points {
        all: points.all + header.points,
        free: points.free + header.free_points(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A run of a test that has come to these points so far, long after its start; others came to 160.
    fn advance(all: u64, free: u64) -> Advance<'static> {
        let pace = Pace { patience: Duration::ZERO, points: 160 };
        let newest = Some(Instant::now());
        Advance { points: Points { all, free }, newest, ..Advance::new(Path::new("/dev/null"), pace) }
    }

    #[test]
    fn who_spins_while_others_are_held_back_is_on_its_way() {
        assert!(advance(40_000, 40_000).spins());
        let mut held_back = advance(40_000, 160);
        assert!(!held_back.spins() && held_back.goes_on() && held_back.is_too_slow());
    }

    #[test]
    fn a_few_points_more_than_others_are_no_circle() {
        assert!(!advance(700, 700).spins());
        assert!(advance(FEWEST_IN_CIRCLES, FEWEST_IN_CIRCLES).spins());
        let long = Pace { patience: Duration::ZERO, points: 1_000_000 };
        assert_eq!(long.circles(), 4_000_000);
    }
}
