//! What the windows of a run show when a slot leaves them. Long runs repeat a few views very often, so that each
//! different one is looked at only once.

use crate::codes::Code;
use crate::scan::Scan;
use crate::sequences::Sequences;
use crate::window::{Slot, Window};

/// Each different view with its earliest occurrence.
pub(crate) struct Views {
    /// The codes of each view.
    sequences: Sequences<Code>,
    /// The global indices of the accesses in the occurrence whose oldest slot comes first, of all views one after
    /// another.
    indices: Vec<u32>,
}

impl Views {
    /// Those of a run. `leaving` is told the slots, oldest first, each time that the first of them leaves, with the
    /// number of the view and of what it consists.
    pub fn of(scan: &Scan, mut leaving: impl FnMut(usize, &[Code], &mut [Slot])) -> Self {
        let mut views = Self { sequences: Sequences::default(), indices: Vec::new() };
        let mut window = Window::default();
        for stretch in scan.histories.stretches() {
            window.slide(stretch, scan.histories.codes(), scan.options.window, |codes, slots| {
                leaving(views.add(codes, slots), codes, slots);
            });
        }
        views
    }

    /// Each different view, by number, with the indices of its accesses where it comes first.
    pub fn iter(&self) -> impl Iterator<Item = (&[Code], &[u32])> {
        let starts = (0..).map(|view| self.sequences.start(view));
        self.sequences
            .iter()
            .zip(starts)
            .map(|(codes, start)| (codes, &self.indices[start..start + codes.len()]))
    }

    /// Notes an occurrence of a view, and gives its number.
    #[inline]
    fn add(&mut self, codes: &[Code], slots: &[Slot]) -> usize {
        let (view, is_new) = self.sequences.number(codes);
        let start = self.sequences.start(view);
        if is_new {
            self.indices.extend(slots.iter().map(|slot| slot.index));
        } else if slots[0].index < self.indices[start] {
            for (index, slot) in self.indices[start..].iter_mut().zip(slots) {
                *index = slot.index;
            }
        }
        view
    }
}
