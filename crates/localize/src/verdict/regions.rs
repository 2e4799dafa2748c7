//! Accesses that break into the same stretch of code count together.
//!
//! Where a thread looks twice and must see the same, it does not matter which of the others' accesses comes in between: each
//! of them is seen in a part of the failing runs only, and a pair that is half of them all may be seen in more. That the
//! stretch is broken into is one hypothesis, for or against which all of its triples speak: the best of them stands for it.

use std::collections::BTreeMap;

use crate::pattern::Pattern;
use crate::run::SiteId;
use crate::shape::Shape;

use super::causes::Clue;
use super::evidence::Seen;

/// A stretch of code: what kind of triple breaks into it, and where it begins and ends.
type Region = (Shape, SiteId, SiteId);

fn region(pattern: &Pattern) -> Option<Region> {
    match *pattern.sites() {
        [first, _, last] => Some((pattern.shape(), first, last)),
        _ => None,
    }
}

/// Has the best triple of each region count for all of them, if these explain more together. `evidence` tells how well some
/// runs, as bits, explain which runs fail; `all` is what was seen, whether it speaks for anything or not.
pub(super) fn count_together<'e>(
    clues: &mut [Clue],
    all: impl Iterator<Item = (&'e Pattern, &'e Seen)>,
    evidence: impl Fn(&[u64]) -> f64,
) {
    let mut runs: BTreeMap<Region, Vec<u64>> = BTreeMap::new();
    for (pattern, seen) in all {
        if let Some(region) = region(pattern) {
            let union = runs.entry(region).or_default();
            union.resize(union.len().max(seen.runs.len()), 0);
            union.iter_mut().zip(&seen.runs).for_each(|(union, runs)| *union |= runs);
        }
    }
    let mut best: BTreeMap<Region, &mut Clue> = BTreeMap::new();
    for clue in clues {
        let Some(region) = region(&clue.pattern) else { continue };
        let is_better = |other: &&mut Clue| {
            clue.weight.total_cmp(&other.weight).then(other.pattern.cmp(&clue.pattern)).is_gt()
        };
        if best.get(&region).is_none_or(is_better) {
            best.insert(region, clue);
        }
    }
    for (region, clue) in best {
        let more = evidence(&runs[&region]) - evidence(&clue.seen.runs);
        if more > 0.0 {
            clue.weight += more;
            clue.region = Some(runs.remove(&region).unwrap_or_default());
        }
    }
}
