//! What the windows of a run show when a slot leaves them. Long runs repeat a few views very often, so that each
//! different one is looked at only once.

use crate::run::{AccessKind, SiteId};
use crate::scan::Scan;
use crate::window::{Slot, Window};

/// Each different view with its earliest occurrence.
pub(crate) struct Views {
    /// Of all views, one after another.
    codes: Vec<Code>,
    /// The global indices of the accesses in the occurrence whose oldest slot comes first.
    indices: Vec<u32>,
    /// Where each view begins in these two, and the end.
    starts: Vec<u32>,
    /// One more than the number of a view, where its hash says or behind; 0 where there is none. Its size is a power of
    /// two, and at least half of it is free.
    table: Vec<u32>,
}

/// A slot as the oldest one sees it: its site, whether it is a write, and whether it is by the same thread.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Code(u64);

impl Code {
    const WRITES: u64 = 1 << 32;
    const OWN: u64 = 1 << 33;

    fn new(slot: &Slot, oldest: &Slot) -> Self {
        let writes = if slot.kind.writes() { Self::WRITES } else { 0 };
        let own = if slot.thread == oldest.thread { Self::OWN } else { 0 };
        Self(u64::from(slot.site.0) | writes | own)
    }

    pub fn site(self) -> SiteId {
        SiteId(self.0 as u32)
    }

    pub fn kind(self) -> AccessKind {
        if self.0 & Self::WRITES != 0 { AccessKind::Write } else { AccessKind::Read }
    }

    /// Whether it is by the thread of the oldest slot.
    pub fn is_own(self) -> bool {
        self.0 & Self::OWN != 0
    }
}

impl Views {
    /// Those of a run. `leaving` is told the slots, oldest first, each time that the first of them leaves, with the
    /// number of the view and of what it consists.
    pub fn of(scan: &Scan, mut leaving: impl FnMut(usize, &[Code], &mut [Slot])) -> Self {
        let mut views =
            Self { codes: Vec::new(), indices: Vec::new(), starts: vec![0], table: vec![0; 1 << 10] };
        let mut window = Window::default();
        let mut codes = Vec::with_capacity(scan.options.window.get());
        for stretch in scan.histories.stretches() {
            window.slide(stretch, scan.options.window, |slots| {
                codes.clear();
                codes.extend(slots.iter().map(|slot| Code::new(slot, &slots[0])));
                leaving(views.add(&codes, slots), &codes, slots);
            });
        }
        views
    }

    /// Each different view, by number, with the indices of its accesses where it comes first.
    pub fn iter(&self) -> impl Iterator<Item = (&[Code], &[u32])> {
        self.starts.windows(2).map(|ends| {
            let range = ends[0] as usize..ends[1] as usize;
            (&self.codes[range.clone()], &self.indices[range])
        })
    }

    fn codes_of(&self, view: usize) -> &[Code] {
        &self.codes[self.starts[view] as usize..self.starts[view + 1] as usize]
    }

    /// Notes an occurrence of a view, and gives its number.
    fn add(&mut self, codes: &[Code], slots: &[Slot]) -> usize {
        let place = self.place(codes);
        let Some(view) = self.table[place].checked_sub(1) else {
            self.codes.extend_from_slice(codes);
            self.indices.extend(slots.iter().map(|slot| slot.index));
            self.starts.push(self.codes.len() as u32);
            let views = self.starts.len() - 1;
            self.table[place] = views as u32;
            if views * 2 > self.table.len() {
                self.grow();
            }
            return views - 1;
        };
        let start = self.starts[view as usize] as usize;
        if slots[0].index < self.indices[start] {
            for (index, slot) in self.indices[start..].iter_mut().zip(slots) {
                *index = slot.index;
            }
        }
        view as usize
    }

    /// Where in the table a view is, or would be.
    fn place(&self, codes: &[Code]) -> usize {
        // The multiplier of SplitMix64; the upper half of a product is the one that all bits reach.
        let mix =
            |hash: u64, code: &Code| (hash.rotate_left(26) ^ code.0).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let hash = codes.iter().fold(codes.len() as u64, mix);
        let mut place = (hash >> 32) as usize & (self.table.len() - 1);
        while let Some(view) = self.table[place].checked_sub(1)
            && self.codes_of(view as usize) != codes
        {
            place = (place + 1) & (self.table.len() - 1);
        }
        place
    }

    #[cold]
    fn grow(&mut self) {
        self.table = vec![0; self.table.len() * 4];
        for view in 0..self.starts.len() - 1 {
            let place = self.place(self.codes_of(view));
            self.table[place] = view as u32 + 1;
        }
    }
}
