//! The schedule of an earlier run, followed switch by switch, as in the native recorder (`control/replay.rs` there). Stops are
//! counted per thread, so that one which does more or less than it did before shifts nobody else's; a schedule of our own making counts
//! progress in their place (see [`super::super::progress`]). Where the thread whose turn it
//! is cannot run, the one that ran goes on, or any other. Behind the last switch to be followed, the trial and the policy decide.
//!
//! Time is what differs between runs of the same program: a thread that waits by the clock, or where nobody sees it, is waited
//! for when its turn has come.

use recording::Switch;

use super::super::policy::Candidate;
use super::{Standing, State};

impl State {
    /// Who runs next by the schedule, zero to wait for somebody. `may_wait` is false if that was in vain. Whoever is to run as long as
    /// it can has done so when it would rather let others run.
    pub fn follow(&mut self, candidates: &[Candidate], may_wait: bool, passes: bool) -> u32 {
        let can_run = |thread: u32| candidates.iter().any(|candidate| candidate.thread == thread);
        while let Some(switch) = self.replay.next() {
            let has_passed = passes && switch.stop == Switch::AS_LONG_AS_IT_CAN;
            if self.number(switch.from) < switch.stop && can_run(switch.from) && !has_passed {
                return switch.from;
            }
            // Whose turn it is has slept enough, however few points there were this time.
            if can_run(switch.to) || matches!(self.stands(switch.to), Some(Standing::Sleeping(_))) {
                self.replay.advance();
                if self.is_done(switch.to) {
                    continue;
                }
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

    /// How far a thread has come, by what the schedule's numbers count.
    fn number(&self, thread: u32) -> u32 {
        if self.replay.counts_progress() { self.come(thread).progress } else { self.stops(thread) }
    }

    /// Does the schedule have the thread lose the token at the point where it is? By stops it never does: each is one more. Who has
    /// waited has not come any further by that.
    fn is_done(&self, thread: u32) -> bool {
        let come = self.come(thread);
        let next = self.replay.next().filter(|next| next.from == thread && next.stop <= come.progress);
        self.replay.counts_progress() && come.is_at_point && next.is_some()
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
