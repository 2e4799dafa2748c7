//! How far a thread has come, counted so that it does not depend on what others did: see [`recording::Numbering`].
//!
//! Which accesses are points depends on who has used the object before. Progress counts all accesses of code under test, and all that it
//! does about locks, conditions and threads. What the library does inside of its calls is not counted: how often it takes its own locks and
//! waits depends on others. Where the schedule has a thread lose the token at something that is no point, that is one, too.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use recording::Switch;

use super::replay::Replay;
use super::state::{Come, State};
use super::{Scheduler, Seat};

/// Whether it is counted, and what is expected of whoever has the token.
pub struct Progress {
    is_told: AtomicBool,
    next_stop: AtomicU32,
}

impl Default for Progress {
    fn default() -> Progress {
        Progress { is_told: AtomicBool::new(false), next_stop: AtomicU32::new(Switch::AS_LONG_AS_IT_CAN) }
    }
}

impl Progress {
    /// A schedule begins to be followed.
    pub fn begin(&self, replay: &Replay) {
        self.is_told.store(replay.tells_progress(), Ordering::Relaxed);
        self.expect(replay);
    }

    /// A schedule has been followed up to its next switch.
    pub fn expect(&self, replay: &Replay) {
        self.next_stop.store(replay.next_stop(), Ordering::Relaxed);
    }

    /// Is it told in the recording?
    pub fn is_told(&self) -> bool {
        self.is_told.load(Ordering::Relaxed)
    }
}

impl Scheduler {
    /// Is the calling thread, which has come so far, to lose the token here?
    pub fn is_due(&self, seat: &Seat) -> bool {
        seat.progress >= self.counting.next_stop.load(Ordering::Relaxed)
    }

    /// The calling thread does something that counts.
    pub fn goes_on(&self, seat: &mut Seat) {
        seat.progress += 1;
    }

    pub(super) fn note(&self, state: &mut State, seat: &Seat, is_at_point: bool) {
        if self.counting.is_told() {
            state.note(seat.id, Come { progress: seat.progress, is_at_point });
        }
    }
}
