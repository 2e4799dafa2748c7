//! Sleeps end in logical time, as in the native recorder: each point takes a while, and when all threads sleep, time jumps. So a sleep
//! ends after the same number of points in every run with the same seed.
//!
//! How long a point takes differs between runs. In some the machine is slow: who sleeps, or waits with a time-out, for as long as others
//! should need is back before they are done. Tests that sleep in place of waiting fail then, as they do on busy machines.

use std::sync::atomic::Ordering;
use std::time::Instant;

use recording::Schedule;

use super::policy::Random;
use super::state::Standing;
use super::{Operation, Scheduler, Seat};

/// Logical time: points that a millisecond of sleep is worth, as in the native recorder.
const POINTS_PER_MILLISECOND: u64 = 1000;
/// In this share of runs a point takes a millisecond in place of a microsecond, as on a machine that has other things to do: who sleeps
/// for as long as others should need is then back before they are done.
const ONE_IN_SLOW: u64 = 4;
/// Then sleeps of up to so many milliseconds take any number of points, of up to this many: short tests have few.
const SHORT: u64 = 50;
const MOST_POINTS: u64 = 16;
/// Apart from what else is drawn by the seed.
const SALT: u64 = 0x736c_6f77;

impl Scheduler {
    /// Is this a run on a slow machine, or does it follow one?
    fn is_slow(&self) -> bool {
        // Systematic runs differ in their preemptions alone.
        let differs = self.plan.schedule != Schedule::Bounded;
        differs && Random::with_seed(self.seed.load(Ordering::Relaxed) ^ SALT).below(ONE_IN_SLOW) == 0
    }

    /// Chance for the calling thread where it is.
    fn chance_here(&self, seat: &Seat) -> Random {
        let stop = u64::from(self.lock().stops(seat.id));
        self.chance(seat, stop)
    }

    /// Are others to wait until the calling thread's time-out is over? In half of its waits on a slow machine.
    pub(super) fn goes_first(&self, seat: &Seat) -> bool {
        self.is_controlled() && self.is_slow() && self.chance_here(seat).below(2) == 0
    }

    /// The points that a sleep of the calling thread takes.
    fn points(&self, seat: &Seat, milliseconds: u64) -> u64 {
        match self.is_slow() {
            false => milliseconds.saturating_mul(POINTS_PER_MILLISECOND),
            true if milliseconds > SHORT => milliseconds,
            true => self.chance_here(seat).below(1 + milliseconds.min(MOST_POINTS)),
        }
    }

    /// The calling thread is about to sleep. For how long it shall really do so, and whether others have run.
    pub fn sleeps(&self, seat: &mut Seat, milliseconds: i64) -> (i64, bool) {
        if !self.is_controlled() {
            self.leaves(seat);
            return (milliseconds, false);
        }
        let begin = Instant::now();
        let points = self.points(seat, milliseconds.max(0) as u64);
        let until = self.lock().time().saturating_add(points);
        // Who looks again and again whether something has happened would otherwise be all that happens.
        let switched = self.take_turn(seat, Standing::Sleeping(until), Operation::NONE, self.is_slow());
        if self.plan.skip_sleeps {
            return (0, switched);
        }
        self.lock().watched.sleeps_on = true;
        ((milliseconds - begin.elapsed().as_millis() as i64).max(0), switched)
    }
}
