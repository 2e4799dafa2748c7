//! Falcon: patterns on a single variable.
//!
//! Sangmin Park, Richard Vuduc, Mary Jean Harrold: *Falcon: Fault Localization in Concurrent Programs* (ICSE
//! 2010), section 3, and chapter 3 of Park's thesis.
//!
//! **Finds** order violations (P1–P3) and atomicity violations (P4–P8) on one variable, whether or not the
//! accesses race. Each slot that leaves its window (see `window.rs`) is looked at as the first access: all
//! unserializable triples that begin with it count and, only if there is none, all conflicting pairs. Any slots
//! may lie between the accesses of a pattern.
//!
//! **Misses** patterns on several variables; patterns wider than the window; reads that follow a write of the
//! same turn, since a turn's slot is its last write; and a pair whose first access also begins a triple.
//!
//! Deviations, with why:
//!
//! 1. Those of the window.
//! 2. A pattern's sites stand for its accesses, and stacks do not: findings of one place in the code do not
//!    split up by caller. An example occurrence has its stacks.

use crate::gathering::Gathering;
use crate::occurrences::Occurrences;
use crate::pattern::PatternId;
use crate::scan::Scan;
use crate::window::{Slot, Window};

/// The patterns that a run shows.
pub(crate) fn occurrences(scan: &Scan) -> Occurrences {
    let mut found = Gathering::new();
    let mut window = Window::default();
    for stretch in scan.histories.stretches() {
        window.slide(stretch, scan.options.window, |oldest, later| {
            if !add_triples(oldest, later, &mut found) {
                add_pairs(oldest, later, &mut found);
            }
        });
    }
    found.into_occurrences(scan.run)
}

/// Adds the unserializable triples that begin with `oldest`, and says whether there are any.
fn add_triples(oldest: &Slot, later: &[Slot], found: &mut Gathering) -> bool {
    let mut any = false;
    for (nth, middle) in later.iter().enumerate().filter(|(_, middle)| middle.thread != oldest.thread) {
        for last in later[nth + 1..].iter().filter(|last| last.thread == oldest.thread) {
            if let Some(id) = PatternId::triple(oldest.kind, middle.kind, last.kind) {
                add(id, &[oldest, middle, last], found);
                any = true;
            }
        }
    }
    any
}

fn add_pairs(oldest: &Slot, later: &[Slot], found: &mut Gathering) {
    for other in later.iter().filter(|other| other.thread != oldest.thread) {
        if let Some(id) = PatternId::pair(oldest.kind, other.kind) {
            add(id, &[oldest, other], found);
        }
    }
}

fn add<const LENGTH: usize>(id: PatternId, slots: &[&Slot; LENGTH], found: &mut Gathering) {
    found.add(id, &slots.map(|slot| (slot.index, slot.site)), slots[0].index);
}
