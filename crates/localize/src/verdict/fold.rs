//! Puts clues together that say the same.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use crate::pattern::Pattern;
use crate::run::{RunId, ThreadId};

use super::calls::CalledPair;
use super::clues::{Order, Sighting};
use super::regions;
use super::scale::Clue;

/// Groups of `clues`, which count for the same runs: in one group are those that have an access in common in their
/// example, those of which one is part of the other, pairs at places of the same calls, and those whose order follows from another's, which is marked as
/// predicting it; of two triples with one stretch of code within another it may be the other way round, `by_stretch`.
pub(super) fn folded(mut clues: Vec<Clue>, by_stretch: bool) -> Vec<Vec<Clue>> {
    let mut groups = Groups::new(clues.len());
    let mut with_access: FxHashMap<(RunId, u32), usize> = FxHashMap::default();
    for (nth, clue) in clues.iter().enumerate() {
        for &access in clue.sighting.accesses() {
            groups.join(nth, *with_access.entry((clue.run, access)).or_insert(nth));
        }
    }
    let mut of_calls: FxHashMap<CalledPair, usize> = FxHashMap::default();
    for (nth, clue) in clues.iter().enumerate() {
        if let Some((pair, _)) = clue.calls {
            groups.join(nth, *of_calls.entry(pair).or_insert(nth));
        }
    }
    let orders = Ordered::all(&clues);
    for one in &orders {
        for other in orders.iter().filter(|other| one.predicts(other)) {
            let is_enough =
                by_stretch && one.is_within(other) && says_no_less(&clues[one.clue], &clues[other.clue]);
            clues[if is_enough { other.clue } else { one.clue }].is_predicting = true;
            groups.join(one.clue, other.clue);
        }
    }
    for (whole, part) in wholes_and_parts(&clues) {
        groups.join(whole, part);
    }
    let mut folded: BTreeMap<usize, Vec<Clue>> = BTreeMap::new();
    for (nth, clue) in clues.into_iter().enumerate() {
        folded.entry(groups.root(nth)).or_default().push(clue);
    }
    folded.into_values().collect()
}

/// Whether a clue is about data, and about what passing runs do, too, if the other is.
fn says_no_less(clue: &Clue, other: &Clue) -> bool {
    let rank = |clue: &Clue| (clue.standing, clue.sighting.is_tally, clue.sighting.is_atomic);
    rank(clue) <= rank(other)
}

/// Each clue by itself.
pub(super) fn apart(clues: Vec<Clue>) -> Vec<Vec<Clue>> {
    clues.into_iter().map(|clue| vec![clue]).collect()
}

/// The triples that count for their whole region, and the windows in which a pair comes about, with the pairs that are part of them.
fn wholes_and_parts(clues: &[Clue]) -> Vec<(usize, usize)> {
    let of_length =
        |length| clues.iter().enumerate().filter(move |(_, clue)| clue.pattern.sites().len() == length);
    let pairs: FxHashMap<Pattern, usize> = of_length(2).map(|(nth, clue)| (clue.pattern, nth)).collect();
    let triples = of_length(3).filter(|(_, clue)| clue.region.is_some());
    let wholes = triples.chain(of_length(4).filter(|(_, clue)| clue.is_window));
    wholes
        .flat_map(|(whole, clue)| regions::parts(&clue.pattern).map(move |part| (whole, part)))
        .filter_map(|(whole, part)| Some((whole, *pairs.get(&part)?)))
        .collect()
}

/// The orders of a clue on one variable. Quadruples are told apart by how far they reach instead: of two pairs, one may
/// enclose another's by chance.
struct Ordered {
    clue: usize,
    run: RunId,
    orders: Vec<Order>,
    /// What a triple breaks into.
    stretch: Option<Stretch>,
}

/// From one access of a thread to another.
#[derive(Clone, Copy)]
struct Stretch {
    thread: ThreadId,
    ends: [u32; 2],
}

impl Stretch {
    fn of(sighting: &Sighting) -> Option<Self> {
        match (sighting.threads(), sighting.accesses()) {
            (&[thread, _, _], &[first, _, last]) => Some(Self { thread, ends: [first, last] }),
            _ => None,
        }
    }

    fn is_within(&self, other: &Self) -> bool {
        let [[first, last], [other_first, other_last]] = [self.ends, other.ends];
        self.thread == other.thread && other_first <= first && last <= other_last && self.ends != other.ends
    }
}

impl Ordered {
    fn all(clues: &[Clue]) -> Vec<Self> {
        let on_one_variable = clues.iter().enumerate().filter(|(_, clue)| clue.pattern.sites().len() < 4);
        on_one_variable
            .map(|(nth, clue)| Self {
                clue: nth,
                run: clue.run,
                orders: clue.sighting.orders().collect(),
                stretch: Stretch::of(clue.sighting),
            })
            .collect()
    }

    /// Whether an order of `other` follows from one of this, and none the other way round.
    fn predicts(&self, other: &Self) -> bool {
        let any = |inner: &Self, outer: &Self| {
            outer.orders.iter().any(|outer| inner.orders.iter().any(|inner| outer.is_predicted_by(inner)))
        };
        self.run == other.run && any(self, other) && !any(other, self)
    }

    /// Whether both are triples and this one's stretch is a part of the other's, so that it is enough to keep it whole.
    fn is_within(&self, other: &Self) -> bool {
        self.stretch.zip(other.stretch).is_some_and(|(stretch, other)| stretch.is_within(&other))
    }
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
