//! The access window of Falcon, which Unicorn shares: per location, the last few turns as one slot each.
//!
//! The rule of the papers: an access by another thread than the last slot's takes a new slot; an access by the
//! same thread replaces the last slot, except that a read never replaces a write. When a full window must take
//! a new slot, its oldest slot leaves. At the end of the run all slots leave, oldest first.
//!
//! Deviations, with why:
//!
//! 1. A turn that read at the same site as an earlier turn of its thread, with no write since, takes the
//!    earlier one's place: a reader counts once per write. The recorder leaves out reading what was read
//!    before, so how often readers alternate is not known. It would say nothing new (a pattern has the site,
//!    not the count) but push the write that they read out of the window.
//! 2. An update is a read and then a write by one thread with nobody in between, so its slot is a write.
//! 3. At a gap, the location's window is drained as at the end of the run: nothing may be concluded across it.

use std::num::NonZeroUsize;

use crate::codes::{Code, Codes};
use crate::histories::Spot;

/// What is left of a turn: its last write, else its last read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slot {
    /// The global index of the access.
    pub index: u32,
    /// Whatever is to be remembered of the slot until it leaves; 0 at first.
    pub note: u32,
}

/// The slots of one location, oldest first.
#[derive(Default)]
pub(crate) struct Window {
    /// Those that have left, and behind them those in the window.
    slots: Vec<Slot>,
    /// What their accesses do. An update is a write.
    codes: Vec<Code>,
    /// How many have left.
    left: usize,
    /// The number of the last slot's thread.
    last_thread: u32,
}

impl Window {
    /// Slots that have left are removed so many at a time, since the others have to move then.
    const MOST_LEFT: usize = 64;

    /// Slides a window of `size` slots over the accesses to a location. `leaving` is told the slots, oldest first, each
    /// time that the first of them is about to leave.
    pub fn slide(
        &mut self,
        stretch: &[Spot],
        codes: &Codes,
        size: NonZeroUsize,
        mut leaving: impl FnMut(&[Code], &mut [Slot]),
    ) {
        for &Spot { index, code } in stretch {
            let thread = codes.thread_number(code);
            self.take(Slot { index, note: 0 }, code.as_written(), thread, size, &mut leaving);
        }
        for oldest in self.left..self.slots.len() {
            leaving(&self.codes[oldest..], &mut self.slots[oldest..]);
        }
        self.slots.clear();
        self.codes.clear();
        self.left = 0;
    }

    #[inline]
    fn take(
        &mut self,
        new: Slot,
        code: Code,
        thread: u32,
        size: NonZeroUsize,
        leaving: &mut impl FnMut(&[Code], &mut [Slot]),
    ) {
        if self.slots.len() > self.left
            && let (Some(slot), Some(last)) = (self.slots.last_mut(), self.codes.last_mut())
        {
            if self.last_thread == thread {
                if code.writes() || !last.writes() {
                    (*slot, *last) = (new, code);
                }
                return;
            }
            if !last.writes() {
                self.forget_earlier_turn_like_last();
            }
        }
        if self.slots.len() - self.left == size.get() {
            leaving(&self.codes[self.left..], &mut self.slots[self.left..]);
            self.left += 1;
            if self.left == Self::MOST_LEFT {
                self.slots.drain(..self.left);
                self.codes.drain(..self.left);
                self.left = 0;
            }
        }
        self.slots.push(new);
        self.codes.push(code);
        self.last_thread = thread;
    }

    /// Removes the slot that the last one, a read, makes needless, if there is one.
    fn forget_earlier_turn_like_last(&mut self) {
        let Some((last, earlier)) = self.codes[self.left..].split_last() else { return };
        let readers = earlier.iter().rposition(|code| code.writes()).map_or(0, |write| write + 1);
        if let Some(nth) = earlier[readers..].iter().position(|code| code == last) {
            self.slots.remove(self.left + readers + nth);
            self.codes.remove(self.left + readers + nth);
        }
    }
}
