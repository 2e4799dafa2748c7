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

use crate::codes::{Code, Codes};
use crate::gathering::Gathering;
use crate::occurrences::Occurrences;
use crate::pattern::PatternId;
use crate::run::SiteId;
use crate::scan::Scan;

type Patterns = Gathering<(PatternId, [SiteId; 3]), 3>;

/// The patterns that a run shows.
pub(crate) fn occurrences(scan: &Scan) -> Occurrences {
    let mut found = Patterns::new();
    let known = scan.histories.codes();
    for (codes, indices) in scan.views().iter() {
        if !add_triples(known, codes, indices, &mut found) {
            add_pairs(known, codes, indices, &mut found);
        }
    }
    let mut occurrences = Occurrences::of(scan.run);
    for ((id, sites), accesses) in found.iter() {
        occurrences.push(id, &sites, &accesses);
    }
    occurrences
}

/// Adds the unserializable triples that begin with the oldest slot, and says whether there are any.
fn add_triples(known: &Codes, codes: &[Code], indices: &[u32], found: &mut Patterns) -> bool {
    let mut any = false;
    let places = || 1..codes.len();
    let is_own = |slot: usize| known.thread_number(codes[slot]) == known.thread_number(codes[0]);
    for middle in places().filter(|&middle| !is_own(middle)) {
        for last in places().skip(middle).filter(|&last| is_own(last)) {
            if let Some(id) = PatternId::triple(codes[0].kind(), codes[middle].kind(), codes[last].kind()) {
                let slots = [0, middle, last];
                found.add(
                    (id, slots.map(|slot| known.site(codes[slot]))),
                    [indices[0], 0],
                    slots.map(|slot| indices[slot]),
                );
                any = true;
            }
        }
    }
    any
}

fn add_pairs(known: &Codes, codes: &[Code], indices: &[u32], found: &mut Patterns) {
    let is_own = |slot: usize| known.thread_number(codes[slot]) == known.thread_number(codes[0]);
    for other in (1..codes.len()).filter(|&other| !is_own(other)) {
        if let Some(id) = PatternId::pair(codes[0].kind(), codes[other].kind()) {
            let sites = [known.site(codes[0]), known.site(codes[other]), SiteId(0)];
            found.add((id, sites), [indices[0], 0], [indices[0], indices[other], 0]);
        }
    }
}
