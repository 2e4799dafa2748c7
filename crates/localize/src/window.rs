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

use crate::histories::Entry;
use crate::run::{AccessKind, SiteId, ThreadId};

/// What is left of a turn: its last write, else its last read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slot {
    /// The global index of the access.
    pub index: u32,
    /// Whatever is to be remembered of the slot until it leaves; 0 at first.
    pub note: u32,
}

/// The access of a slot as others see it: its site, whether it is a write, and the number of its thread.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Code(u64);

impl Code {
    const WRITES: u64 = 1 << 32;
    const THREAD: u32 = 33;

    fn new(access: &Entry, thread: u32) -> Self {
        let writes = u64::from(access.kind.writes()) * Self::WRITES;
        Self(u64::from(access.site.0) | writes | u64::from(thread) << Self::THREAD)
    }

    pub fn site(self) -> SiteId {
        SiteId(self.0 as u32)
    }

    /// Read or Write.
    pub fn kind(self) -> AccessKind {
        if self.writes() { AccessKind::Write } else { AccessKind::Read }
    }

    pub fn thread(self) -> u32 {
        (self.0 >> Self::THREAD) as u32
    }

    fn writes(self) -> bool {
        self.0 & Self::WRITES != 0
    }
}

impl From<Code> for u64 {
    fn from(code: Code) -> Self {
        code.0
    }
}

/// The slots of one location, oldest first.
#[derive(Default)]
pub(crate) struct Window {
    /// Those that have left, and behind them those in the window.
    slots: Vec<Slot>,
    /// The same for their codes.
    codes: Vec<Code>,
    /// How many have left.
    left: usize,
}

impl Window {
    /// Slots that have left are removed so many at a time, since the others have to move then.
    const MOST_LEFT: usize = 64;

    /// Slides a window of `size` slots over the accesses to a location. `leaving` is told the slots, oldest first, each
    /// time that the first of them is about to leave. `number` gives the numbers of threads.
    pub fn slide(
        &mut self,
        stretch: &[Entry],
        size: NonZeroUsize,
        mut number: impl FnMut(ThreadId) -> u32,
        mut leaving: impl FnMut(&[Code], &mut [Slot]),
    ) {
        for access in stretch {
            let code = Code::new(access, number(access.thread));
            self.take(Slot { index: access.index, note: 0 }, code, size, &mut leaving);
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
        size: NonZeroUsize,
        leaving: &mut impl FnMut(&[Code], &mut [Slot]),
    ) {
        if self.slots.len() > self.left
            && let (Some(slot), Some(last)) = (self.slots.last_mut(), self.codes.last_mut())
        {
            if last.thread() == code.thread() {
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
