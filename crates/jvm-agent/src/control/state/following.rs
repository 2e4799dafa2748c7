//! The schedule of an earlier run, followed switch by switch, as in the native recorder (`control/replay.rs` there). Stops are
//! counted per thread, so that one which does more or less than it did before shifts nobody else's. Where the thread whose turn it
//! is cannot run, the one that ran goes on, or any other. Behind the last switch to be followed, the trial and the policy decide.
//!
//! Time is what differs between runs of the same program: a thread that waits by the clock, or where nobody sees it, is waited
//! for when its turn has come.

use super::super::policy::Candidate;
use super::{Standing, State};

impl State {
    /// Who runs next by the schedule, zero to wait for somebody. `may_wait` is false if that was in vain.
    pub fn follow(&mut self, candidates: &[Candidate], may_wait: bool) -> u32 {
        let can_run = |thread: u32| candidates.iter().any(|candidate| candidate.thread == thread);
        while let Some(switch) = self.replay.next() {
            let stops = self.stops.get(&switch.from).copied().unwrap_or(0);
            if stops < switch.stop && can_run(switch.from) {
                return switch.from;
            }
            // Whose turn it is has slept enough, however few points there were this time.
            if can_run(switch.to) || matches!(self.stands(switch.to), Some(Standing::Sleeping(_))) {
                self.replay.advance();
                return switch.to;
            }
            if self.has_ended(switch.to) {
                self.replay.advance();
                continue;
            }
            if may_wait && !self.replay.has_waited && self.comes_back(switch.to) {
                return 0;
            }
            self.replay.has_waited = true;
            break;
        }
        let first = candidates.first().map_or(0, |candidate| candidate.thread);
        if can_run(self.last) { self.last } else { first }
    }

    fn has_ended(&self, thread: u32) -> bool {
        thread <= self.newest && !self.members.contains_key(&thread)
    }

    /// Will the thread go on by itself, as far as can be told?
    fn comes_back(&self, thread: u32) -> bool {
        let waits = matches!(self.stands(thread), Some(Standing::Away | Standing::Parked));
        waits && !self.patient.contains(&thread)
    }

    /// Is there somebody to wait for, rather than let others run?
    pub fn waits_for_next(&self) -> bool {
        self.replay.next().is_some_and(|switch| !self.replay.has_waited && self.comes_back(switch.to))
    }
}
