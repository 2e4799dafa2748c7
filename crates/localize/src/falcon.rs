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

use crate::occurrences::Occurrences;
use crate::options::Options;
use crate::pattern::PatternId;
use crate::run::Run;
use crate::window::{self, Slot};

/// The patterns that `run` shows.
pub(crate) fn occurrences(run: &Run, options: &Options) -> Occurrences {
    let mut found = Occurrences::of(run);
    window::slide(run, options.window, |oldest, later| {
        if !add_triples(run, oldest, later, &mut found) {
            add_pairs(run, oldest, later, &mut found);
        }
    });
    found
}

/// Adds the unserializable triples that begin with `oldest`, and says whether there are any.
fn add_triples(run: &Run, oldest: &Slot, later: &[Slot], found: &mut Occurrences) -> bool {
    let mut any = false;
    for (nth, middle) in later.iter().enumerate().filter(|(_, middle)| middle.thread != oldest.thread) {
        for last in later[nth + 1..].iter().filter(|last| last.thread == oldest.thread) {
            if let Some(id) = PatternId::triple(oldest.kind, middle.kind, last.kind) {
                found.add(run, id, &[oldest.index, middle.index, last.index]);
                any = true;
            }
        }
    }
    any
}

fn add_pairs(run: &Run, oldest: &Slot, later: &[Slot], found: &mut Occurrences) {
    for other in later.iter().filter(|other| other.thread != oldest.thread) {
        if let Some(id) = PatternId::pair(oldest.kind, other.kind) {
            found.add(run, id, &[oldest.index, other.index]);
        }
    }
}
