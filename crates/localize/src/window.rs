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
    pub thread: ThreadId,
    pub site: SiteId,
    /// Read or Write.
    pub kind: AccessKind,
    /// Whatever is to be remembered of the slot until it leaves; 0 at first.
    pub note: u32,
}

/// The slots of one location, oldest first.
#[derive(Default)]
pub(crate) struct Window {
    slots: Vec<Slot>,
}

impl Slot {
    fn new(access: &Entry) -> Self {
        let &Entry { index, thread, site, kind } = access;
        Self { index, thread, site, kind: kind.as_written(), note: 0 }
    }
}

impl Window {
    /// Slides a window of `size` slots over the accesses to a location. `leaving` is told the slots, oldest first, each
    /// time that the first of them is about to leave.
    pub fn slide(&mut self, stretch: &[Entry], size: NonZeroUsize, mut leaving: impl FnMut(&mut [Slot])) {
        for access in stretch {
            self.take(Slot::new(access), size, &mut leaving);
        }
        for oldest in 0..self.slots.len() {
            leaving(&mut self.slots[oldest..]);
        }
        self.slots.clear();
    }

    fn take(&mut self, new: Slot, size: NonZeroUsize, leaving: &mut impl FnMut(&mut [Slot])) {
        match self.slots.last() {
            Some(last) if last.thread != new.thread => self.forget_earlier_turn_like_last(),
            Some(last) if last.kind.writes() && !new.kind.writes() => return,
            Some(_) => drop(self.slots.pop()),
            None => {}
        }
        if self.slots.len() == size.get() {
            leaving(&mut self.slots);
            self.slots.remove(0);
        }
        self.slots.push(new);
    }

    /// Removes the slot that the last one makes needless, if it is a read and there is one.
    fn forget_earlier_turn_like_last(&mut self) {
        let Some((last, earlier)) = self.slots.split_last() else { return };
        if last.kind.writes() {
            return;
        }
        let readers = earlier.iter().rposition(|slot| slot.kind.writes()).map_or(0, |write| write + 1);
        let alike = |slot: &Slot| slot.thread == last.thread && slot.site == last.site;
        if let Some(nth) = earlier[readers..].iter().position(alike) {
            self.slots.remove(readers + nth);
        }
    }
}
