//! Puts clues together that say the same.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use crate::run::RunId;

use super::regions;
use super::scale::Clue;

/// Groups of `clues`, which count for the same runs: in one group are those that have an access in common in their
/// example, those of which one is part of the other, and those whose order follows from another's, which is marked as
/// predicting it.
pub(super) fn folded(mut clues: Vec<Clue>) -> Vec<Vec<Clue>> {
    let mut groups = Groups::new(clues.len());
    let mut with_access: FxHashMap<(RunId, u32), usize> = FxHashMap::default();
    for (nth, clue) in clues.iter().enumerate() {
        for &access in clue.sighting.accesses() {
            groups.join(nth, *with_access.entry((clue.run, access)).or_insert(nth));
        }
    }
    for one in 0..clues.len() {
        for other in 0..clues.len() {
            if predicts(&clues[one], &clues[other]) {
                clues[one].is_predicting = true;
                groups.join(one, other);
            }
            if is_part(&clues[other], &clues[one]) {
                groups.join(one, other);
            }
        }
    }
    let mut folded: BTreeMap<usize, Vec<Clue>> = BTreeMap::new();
    for (nth, clue) in clues.into_iter().enumerate() {
        folded.entry(groups.root(nth)).or_default().push(clue);
    }
    folded.into_values().collect()
}

/// Each clue by itself.
pub(super) fn apart(clues: Vec<Clue>) -> Vec<Vec<Clue>> {
    clues.into_iter().map(|clue| vec![clue]).collect()
}

/// Whether a pair is part of a triple that counts for its whole region.
fn is_part(pair: &Clue, triple: &Clue) -> bool {
    triple.region.is_some()
        && pair.pattern.sites().len() == 2
        && triple.pattern.sites().len() == 3
        && regions::parts(&triple.pattern).any(|part| part == pair.pattern)
}

/// Whether an order of `other` follows from one of `one`, and none the other way round. Quadruples are told apart by
/// how far they reach instead: of two pairs, one may enclose another's by chance.
fn predicts(one: &Clue, other: &Clue) -> bool {
    let any = |inner: &Clue, outer: &Clue| {
        let follows =
            |outer: super::clues::Order| inner.sighting.orders().any(|inner| outer.is_predicted_by(&inner));
        outer.sighting.orders().any(follows)
    };
    let on_one_variable = |clue: &Clue| clue.pattern.sites().len() < 4;
    one.run == other.run
        && on_one_variable(one)
        && on_one_variable(other)
        && any(one, other)
        && !any(other, one)
}

/// Disjoint sets.
struct Groups {
    parents: Vec<usize>,
}

impl Groups {
    fn new(members: usize) -> Self {
        Self { parents: (0..members).collect() }
    }

    fn root(&mut self, mut member: usize) -> usize {
        while self.parents[member] != member {
            self.parents[member] = self.parents[self.parents[member]];
            member = self.parents[member];
        }
        member
    }

    fn join(&mut self, one: usize, other: usize) {
        let [one, other] = [one, other].map(|member| self.root(member));
        self.parents[one.max(other)] = one.min(other);
    }
}
