//! Accesses that break into the same stretch of code count together.
//!
//! Where a thread looks twice and must see the same, it does not matter which of the others' accesses comes in between: each
//! of them is seen in a part of the failing runs only, and a pair that is half of them all may be seen in more. That the
//! stretch is broken into is one hypothesis, for or against which all that breaks into it speaks: the best clue stands for it.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use crate::pattern::{Pattern, PatternId};
use crate::run::{AccessKind, SiteId};
use crate::shape::Shape;

use super::evidence::Seen;
use super::scale::Clue;

/// A stretch of code: what kind of triple or quadruple breaks into it, and where it begins and ends.
type Region = (Shape, [SiteId; 2]);

fn region(pattern: &Pattern) -> Option<Region> {
    let steps = pattern.shape().steps().zip(pattern.sites());
    let mut own = steps.filter(|(step, _)| step.thread == 1).map(|(_, &site)| site);
    Some((pattern.shape(), [own.next()?, own.next()?]))
}

/// Has the best clue of each region count for all of them, if these explain more together. `evidence` tells how well some
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
    for clue in &mut *clues {
        let Some(region) = region(&clue.pattern) else { continue };
        let is_better = |other: &&mut Clue| {
            clue.weight.total_cmp(&other.weight).then(other.pattern.cmp(&clue.pattern)).is_gt()
        };
        if best.get(&region).is_none_or(is_better) {
            best.insert(region, clue);
        }
    }
    for (region, clue) in best {
        let mut union = runs.remove(&region).unwrap_or_default();
        union.resize(union.len().max(clue.runs().len()), 0);
        union.iter_mut().zip(clue.runs()).for_each(|(union, runs)| *union |= runs);
        let more = evidence(&union) - evidence(clue.runs());
        if more > 0.0 {
            clue.weight += more;
            clue.region = Some(union);
        }
    }
    count_entered(clues, &evidence);
    take_in_parts(clues, evidence);
}

/// What is published too early, or looked up and used too late, does harm by whatever is used first: the best of the windows that one pair opens counts
/// for all of them, and what comes about in them stands for nothing else.
fn count_entered(clues: &mut [Clue], evidence: impl Fn(&[u64]) -> f64) {
    let mut opened: BTreeMap<Region, (Vec<u64>, Pattern, f64)> = BTreeMap::new();
    for clue in clues.iter().filter(|clue| clue.is_entered) {
        let (union, best, weight) =
            opened.entry(door(clue)).or_insert_with(|| (Vec::new(), clue.pattern, clue.weight));
        union.resize(union.len().max(clue.runs().len()), 0);
        union.iter_mut().zip(clue.runs()).for_each(|(union, runs)| *union |= runs);
        if clue.weight.total_cmp(weight).then((*best).cmp(&clue.pattern)).is_gt() {
            (*best, *weight) = (clue.pattern, clue.weight);
        }
    }
    let mut within: FxHashMap<Pattern, Vec<u64>> = FxHashMap::default();
    for clue in clues.iter_mut().filter(|clue| clue.is_entered) {
        let Some((union, best, _)) = opened.get(&door(clue)) else { continue };
        let more = evidence(union) - evidence(clue.runs());
        if more <= 0.0 {
            continue;
        }
        clue.weight += if clue.pattern == *best { more } else { 0.0 };
        clue.region = Some(union.clone());
        within.extend(parts(&clue.pattern).nth(1).map(|pair| (pair, union.clone())));
    }
    for clue in clues.iter_mut().filter(|clue| clue.region.is_none()) {
        clue.region = within.get(&clue.pattern).cloned();
    }
}

/// The pair that opens a window.
fn door(window: &Clue) -> Region {
    let sites = window.pattern.sites();
    (window.pattern.shape(), [sites[0], sites[1]])
}

/// A pair that explains no more than the triples of a region whose part it is does not stand for anything else.
fn take_in_parts(clues: &mut [Clue], evidence: impl Fn(&[u64]) -> f64) {
    let mut wholes: FxHashMap<Pattern, (f64, Vec<u64>)> = FxHashMap::default();
    let triples = clues.iter().filter(|clue| clue.pattern.sites().len() == 3);
    for (pattern, runs) in triples.filter_map(|clue| Some((clue.pattern, clue.region.as_ref()?))) {
        let explained = evidence(runs);
        for part in parts(&pattern) {
            let known = wholes.entry(part).or_insert_with(|| (explained, runs.clone()));
            if (explained, runs) > (known.0, &known.1) {
                *known = (explained, runs.clone());
            }
        }
    }
    for clue in clues.iter_mut().filter(|clue| clue.region.is_none()) {
        let whole = wholes.get(&clue.pattern).filter(|(explained, _)| *explained >= evidence(clue.runs()));
        clue.region = whole.map(|(_, runs)| runs.clone());
    }
}

/// The pairs of which a triple or quadruple consists.
pub(super) fn parts(whole: &Pattern) -> impl Iterator<Item = Pattern> + Clone {
    let pair = |([head, tail], sites): ([AccessKind; 2], [SiteId; 2])| {
        PatternId::pair(head, tail).map(|id| Pattern::new(id, &sites))
    };
    whole.conflicts().filter_map(pair)
}
