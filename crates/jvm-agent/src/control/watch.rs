//! Takes the token from threads that wait where nobody sees it.

use std::sync::atomic::Ordering;
use std::time::Duration;

use super::Scheduler;
use super::state::{Standing, State};

const WATCH_EVERY: Duration = Duration::from_millis(2);
/// A thread found asleep so often in a row, with no hook in between, is taken to wait. Pauses of the garbage collector
/// look the same, so where runs are to be repeatable it takes longer.
const ASLEEP: u32 = 2;
const ASLEEP_CONTROLLED: u32 = 25;
/// Longer still while a thread is on its way (starting one takes its starter a while), or waits by the clock and is to run next.
const ON_ITS_WAY: u32 = 10;
const BY_THE_CLOCK: u32 = 4;

impl Scheduler {
    /// Watches the thread that has the token until everybody is free. Says so when all threads wait for one another, after so
    /// many points, and with so many interleavings that came about; and when they do no more.
    pub fn watch(&self, stands_still: impl Fn(Option<(u64, u64)>)) {
        let enough = if self.is_controlled() { ASLEEP_CONTROLLED } else { ASLEEP };
        let mut last = (0, 0, 0);
        let mut seen = 0;
        let mut told = None;
        while !self.free.load(Ordering::Relaxed) {
            std::thread::sleep(WATCH_EVERY);
            let (now, os_id, is_excused, patience, standstill) = {
                let state = self.lock();
                let now = self.position(&state);
                let watched = state.watched;
                let is_needed = match now.0 {
                    0 => state.waits_for_next() || state.first_who_wants().is_some(),
                    _ => state.is_anybody_ready() || state.first_who_wants().is_some(),
                };
                let stands_still = now.0 == 0 && state.stands_still(is_asleep);
                let is_excused = watched.is_called
                    || watched.awaits_arrivals
                    || watched.sleeps_on
                    || !is_needed
                    || stands_still;
                let patience = match now.0 {
                    _ if state.is_anybody_expected() => ON_ITS_WAY,
                    0 if state.waits_for_next() => BY_THE_CLOCK,
                    _ => 1,
                };
                (now, watched.os_id, is_excused, patience, stands_still.then(|| state.counts()))
            };
            if standstill != told {
                stands_still(standstill);
                told = standstill;
            }
            let is_stuck = !is_excused && (now.0 == 0 || is_asleep(os_id));
            seen = if is_stuck && now == last { seen + 1 } else { u32::from(is_stuck) };
            last = now;
            if seen >= enough * patience {
                self.take_away(now);
                seen = 0;
            }
        }
    }

    /// Who runs, and how far it has come: the hooks that were native, and those left before the next that must be.
    fn position(&self, state: &State) -> (u32, u64, u32) {
        let left = state.watched.desk.map_or(0, |desk| desk.left());
        (self.holder(), self.progress.load(Ordering::Relaxed), left)
    }

    fn take_away(&self, seen: (u32, u64, u32)) {
        let mut state = self.lock();
        if self.position(&state) != seen {
            return;
        }
        if seen.0 != 0 {
            state.settle(seen.0);
            state.stand(seen.0, Standing::Away);
        }
        if state.is_anybody_ready() {
            self.give(&mut state, 0, false);
        } else if let Some(id) = state.first_who_wants() {
            self.running.store(id, Ordering::Release);
            state.try_out(id);
        } else {
            self.running.store(0, Ordering::Release);
        }
    }
}

/// Has the operating system put this thread of ours to sleep, or is it gone?
fn is_asleep(os_id: u32) -> bool {
    let Ok(status) = std::fs::read_to_string(format!("/proc/self/task/{os_id}/stat")) else { return true };
    // The state follows the name, which may contain anything.
    let state = status.rsplit_once(')').and_then(|(_, rest)| rest.trim_start().chars().next());
    // D is for a disk, and soon over.
    !matches!(state, Some('R' | 'D'))
}
