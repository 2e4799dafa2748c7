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
use crate::run::SiteId;
use crate::scan::Scan;
use crate::window::Code;

type Patterns = Gathering<(PatternId, [SiteId; 3]), 3>;

/// The patterns that a run shows.
pub(crate) fn occurrences(scan: &Scan) -> Occurrences {
    let mut found = Patterns::new();
    for (codes, indices) in scan.views().iter() {
        if !add_triples(codes, indices, &mut found) {
            add_pairs(codes, indices, &mut found);
        }
    }
    let mut occurrences = Occurrences::of(scan.run);
    for ((id, sites), accesses) in found.iter() {
        occurrences.push(id, &sites, &accesses);
    }
    occurrences
}

/// Adds the unserializable triples that begin with the oldest slot, and says whether there are any.
fn add_triples(codes: &[Code], indices: &[u32], found: &mut Patterns) -> bool {
    let mut any = false;
    let places = || 1..codes.len();
    let is_own = |slot: usize| codes[slot].thread() == codes[0].thread();
    for middle in places().filter(|&middle| !is_own(middle)) {
        for last in places().skip(middle).filter(|&last| is_own(last)) {
            if let Some(id) = PatternId::triple(codes[0].kind(), codes[middle].kind(), codes[last].kind()) {
                let slots = [0, middle, last];
                found.add(
                    (id, slots.map(|slot| codes[slot].site())),
                    [indices[0], 0],
                    slots.map(|slot| indices[slot]),
                );
                any = true;
            }
        }
    }
    any
}

fn add_pairs(codes: &[Code], indices: &[u32], found: &mut Patterns) {
    let is_own = |slot: usize| codes[slot].thread() == codes[0].thread();
    for other in (1..codes.len()).filter(|&other| !is_own(other)) {
        if let Some(id) = PatternId::pair(codes[0].kind(), codes[other].kind()) {
            let sites = [codes[0].site(), codes[other].site(), SiteId(0)];
            found.add((id, sites), [indices[0], 0], [indices[0], indices[other], 0]);
        }
    }
}
