//! Patterns on two variables: each pair is combined with the next few.

use std::collections::VecDeque;
use std::ops::Range;

use crate::histories::Histories;
use crate::numbering::Numbering;
use crate::occurrences::{Occurrence, Occurrences};
use crate::pattern::{Crossing, Pattern, PatternId};
use crate::scan::Scan;

use super::conflicts::{Class, Conflicts, Pair};
use super::rounds::{Again, Rounds};

/// Step 2 for two variables. Looks only at those of the next pairs that can be part of a pattern: there are far fewer of them. Pairs are
/// made when they are near and forgotten at once: all of a run would not fit into any cache.
pub(super) fn combine(scan: &Scan, conflicts: &Conflicts, found: &mut Occurrences) {
    let opposites = conflicts.opposite_lanes();
    if opposites.iter().all(Option::is_none) {
        return;
    }
    let mut rounds = Rounds::of(&scan.histories);
    let mut quadruples = Quadruples {
        histories: &scan.histories,
        classes: conflicts.classes(),
        seen: Seen::new(conflicts.classes().len()),
        numbers: Numbering::new(),
        earliest: Vec::new(),
    };
    let mut lanes = vec![Lane::default(); opposites.len()];
    // Until all that are near enough have come.
    let mut waiting: VecDeque<Pair> = VecDeque::new();
    let mut combine_first = |lanes: &mut [Lane], waiting: &mut VecDeque<Pair>| {
        let Some(one) = waiting.pop_front() else { return };
        lanes[one.lane as usize].forget_first();
        if let Some(opposite) = opposites[one.lane as usize] {
            quadruples.combine(&one, lanes[opposite as usize].near(), &mut rounds);
        }
    };
    conflicts.each_pair(|pair| {
        lanes[pair.lane as usize].pairs.push(pair);
        waiting.push_back(pair);
        if waiting.len() > scan.options.distance {
            combine_first(&mut lanes, &mut waiting);
        }
    });
    while !waiting.is_empty() {
        combine_first(&mut lanes, &mut waiting);
    }
    let known = quadruples.numbers.keys().iter().zip(quadruples.earliest);
    found.suspects.extend(known.map(|(&pattern, occurrence)| (pattern.into(), occurrence)));
}

/// The pairs of a lane that are near.
#[derive(Clone, Default)]
struct Lane {
    /// Behind some that are not any more.
    pairs: Vec<Pair>,
    forgotten: usize,
}

impl Lane {
    /// Fewer are not worth moving the others.
    const WORTH: usize = 8;

    fn near(&self) -> &[Pair] {
        &self.pairs[self.forgotten..]
    }

    fn forget_first(&mut self) {
        self.forgotten += 1;
        if self.forgotten >= Self::WORTH && 2 * self.forgotten >= self.pairs.len() {
            self.pairs.drain(..self.forgotten);
            self.forgotten = 0;
        }
    }
}

/// Two pairs each, on different variables.
struct Quadruples<'r> {
    histories: &'r Histories,
    classes: &'r [Class],
    seen: Seen,
    numbers: Numbering<Pattern>,
    /// Of several occurrences, the one that begins first.
    earliest: Vec<Occurrence>,
}

impl Quadruples<'_> {
    /// Adds what a pair makes with later ones of the opposite lane.
    #[inline]
    fn combine(&mut self, one: &Pair, mut rest: &[Pair], rounds: &mut Rounds) {
        let mut again: Option<Again> = None;
        while let Some(nth) = self.first_new(one, rest) {
            let other = &rest[nth];
            let again = *again.get_or_insert_with(|| rounds.again(one.first));
            // The second access of the other pair is by the thread of this one's first, and comes later than its own first.
            if again <= Again(other.first) {
                break;
            }
            if rounds.is_in_round(one.first, again, other.second) && rounds.are_one(one.second, other.first) {
                self.add(one, other);
            }
            rest = &rest[nth + 1..];
        }
    }

    /// The first of the pairs on another variable that may combine with `one` as no two pairs of these classes have
    /// before.
    #[inline]
    fn first_new(&self, one: &Pair, pairs: &[Pair]) -> Option<usize> {
        let row = &self.seen.bits[self.seen.row(one)];
        let location_of = |pair: &Pair| self.histories.moments()[pair.first as usize].location;
        pairs.iter().position(|other| {
            let [word, bit] = place(one, other);
            row.get(word).is_none_or(|word| word >> bit & 1 == 0) && location_of(other) != location_of(one)
        })
    }

    /// Adds two pairs of opposite lanes on different variables.
    #[cold]
    fn add(&mut self, one: &Pair, other: &Pair) {
        let crossing = if one.second < other.first {
            Crossing::Apart
        } else if one.second < other.second {
            Crossing::Overlapping
        } else {
            Crossing::Nested
        };
        self.seen.note(one, other);
        let [(id, sites), (other_id, other_sites)] =
            [one, other].map(|pair| self.classes[pair.class as usize]);
        let Some(id) = PatternId::quadruple(id, other_id, crossing) else { return };
        let mut steps = [
            (one.first, sites[0]),
            (one.second, sites[1]),
            (other.first, other_sites[0]),
            (other.second, other_sites[1]),
        ];
        steps.sort_unstable();
        let pattern = Pattern::new(id, &steps.map(|(_, site)| site));
        let accesses = steps.map(|(index, _)| index);
        let occurrence = Occurrence::new(id, &accesses);
        let (number, is_new) = self.numbers.number(pattern);
        if is_new {
            self.earliest.push(occurrence);
        } else if accesses[0] < self.earliest[number as usize].accesses()[0] {
            self.earliest[number as usize] = occurrence;
        }
    }
}

/// Which classes of pairs have been combined already, and how: most combinations in a long run repeat earlier ones.
struct Seen {
    /// So many words for each class of the first pair; none if there are too many classes.
    width: usize,
    /// Two bits for each class of the second pair: the first pair is over before the second begins, or is not.
    bits: Vec<u64>,
}

impl Seen {
    /// With so many classes the bits take 16 MiB. Programs have fewer; beyond, memory matters more than time.
    const MAX_CLASSES: usize = 8192;

    fn new(classes: usize) -> Self {
        let width = if classes <= Self::MAX_CLASSES { (2 * classes).div_ceil(64) } else { 0 };
        Self { width, bits: vec![0; classes * width] }
    }

    /// The bits of a first pair's class.
    fn row(&self, one: &Pair) -> Range<usize> {
        let start = one.class as usize * self.width;
        start..start + self.width
    }

    fn note(&mut self, one: &Pair, other: &Pair) {
        let row = self.row(one);
        let [word, bit] = place(one, other);
        if let Some(word) = self.bits[row].get_mut(word) {
            *word |= 1 << bit;
        }
    }
}

/// Word and bit for two pairs.
#[inline]
fn place(one: &Pair, other: &Pair) -> [usize; 2] {
    let bit = 2 * other.class as usize + usize::from(one.second >= other.first);
    [bit / 64, bit % 64]
}
