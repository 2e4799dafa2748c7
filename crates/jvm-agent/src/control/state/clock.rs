//! Time as threads see it: sleeps end after so many points, or when nobody else is to run; time-outs end by the real clock, and
//! others wait for that if they are to come too late.

use super::super::policy::Candidate;
use super::{Member, Standing, State};

/// Longer sleeps are not waited for where somebody could run that is only held back, in points: as in the native recorder.
pub const NEAR: u64 = 500_000;

impl State {
    /// Logical time, in points.
    pub fn time(&self) -> u64 {
        self.points + self.slept
    }

    /// Nobody else is to run: time jumps to when the first sleeper wakes up, if that is no further than so many points.
    pub fn first_to_wake(&mut self, furthest: u64) -> Option<Candidate> {
        let sleeper = |(&id, member): (&u32, &Member)| match member.standing {
            Standing::Sleeping(until) => Some((until, id, member.operation)),
            _ => None,
        };
        let (until, thread, operation) =
            self.members.iter().filter_map(sleeper).min_by_key(|&(until, id, _)| (until, id))?;
        let missing = until.saturating_sub(self.time());
        if missing > furthest {
            return None;
        }
        self.slept += missing;
        Some(Candidate { thread, operation })
    }

    /// Is somebody expected when its time-out is over?
    pub fn is_by_the_clock(&self) -> bool {
        self.by_the_clock.is_some()
    }

    /// A thread waits for some time at most; if it is to go first, others wait for that to be over.
    pub fn wait_by_the_clock(&mut self, id: u32, goes_first: bool) {
        if goes_first && !self.has_long_time_outs {
            self.by_the_clock = Some(id);
        }
    }
}
