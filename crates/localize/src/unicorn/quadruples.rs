//! Patterns on two variables: each pair is combined with the next few.

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
    if opposites.iter().all(|opposite| *opposite == [None; 2]) {
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
    let mut near = Near::new(opposites.len(), scan.options.distance.min(conflicts.pair_count()));
    let mut combine_first = |near: &mut Near| {
        let one = near.take_first();
        for opposite in opposites[one.lane as usize].into_iter().flatten() {
            quadruples.combine(&one, near.of_lane(opposite), &mut rounds);
        }
    };
    conflicts.each_pair(|pair| {
        near.add(pair);
        if near.count > scan.options.distance {
            combine_first(&mut near);
        }
    });
    while near.count > 0 {
        combine_first(&mut near);
    }
    let known = quadruples.numbers.keys().iter().zip(quadruples.earliest);
    found.suspects.extend(known.map(|(&pattern, occurrence)| (pattern.into(), occurrence)));
}

/// Pairs that are near each other: as many of those that came last as the distance says, and one.
struct Near {
    /// Each at its place, modulo their number. Its size is a power of two.
    pairs: Vec<Link>,
    /// Where the first is.
    first: usize,
    count: usize,
    /// Where the first and the last pair of each lane are; if there are none, the first is nowhere.
    lanes: Vec<[u32; 2]>,
}

#[derive(Clone, Copy)]
struct Link {
    pair: Pair,
    /// Where the next pair of its lane is, or nowhere.
    next: u32,
}

impl Near {
    const NOWHERE: u32 = u32::MAX;

    fn new(lanes: usize, distance: usize) -> Self {
        let nothing = Link { pair: Pair { first: 0, second: 0, class: 0, lane: 0 }, next: Self::NOWHERE };
        let pairs = vec![nothing; (distance + 1).next_power_of_two()];
        Self { pairs, first: 0, count: 0, lanes: vec![[Self::NOWHERE; 2]; lanes] }
    }

    /// There must be room: no more than the distance.
    #[inline]
    fn add(&mut self, pair: Pair) {
        let place = (self.first + self.count) & (self.pairs.len() - 1);
        self.pairs[place] = Link { pair, next: Self::NOWHERE };
        self.count += 1;
        let [first, last] = &mut self.lanes[pair.lane as usize];
        if *first == Self::NOWHERE {
            *first = place as u32;
        } else {
            self.pairs[*last as usize].next = place as u32;
        }
        *last = place as u32;
    }

    /// Removes the first of all, which is the first of its lane. There must be one.
    #[inline]
    fn take_first(&mut self) -> Pair {
        let Link { pair, next } = self.pairs[self.first];
        self.lanes[pair.lane as usize][0] = next;
        self.first = (self.first + 1) & (self.pairs.len() - 1);
        self.count -= 1;
        pair
    }

    /// The pairs of a lane.
    #[inline]
    fn of_lane(&self, lane: u32) -> impl Iterator<Item = &Pair> {
        let link = |place: u32| self.pairs.get(place as usize);
        let first = link(self.lanes[lane as usize][0]);
        std::iter::successors(first, move |known| link(known.next)).map(|link| &link.pair)
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
    fn combine<'p>(&mut self, one: &Pair, later: impl Iterator<Item = &'p Pair>, rounds: &mut Rounds) {
        let mut again: Option<Again> = None;
        for other in later {
            if self.seen.is_noted(one, other) || self.is_on_one_variable(one, other) {
                continue;
            }
            let again = *again.get_or_insert_with(|| rounds.again(one.first));
            // The second access of the other pair is by the thread of this one's first, and comes later than its own first.
            if again <= Again(other.first) {
                break;
            }
            if rounds.is_in_round(one.first, again, other.second) && rounds.are_one(one.second, other.first) {
                self.add(one, other);
            }
        }
    }

    fn is_on_one_variable(&self, one: &Pair, other: &Pair) -> bool {
        let [location, other] =
            [one, other].map(|pair| self.histories.moments()[pair.first as usize].location);
        location == other
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

    #[inline]
    fn is_noted(&self, one: &Pair, other: &Pair) -> bool {
        let [word, bit] = self.place(one, other);
        self.bits.get(word).is_some_and(|word| word >> bit & 1 == 1)
    }

    fn note(&mut self, one: &Pair, other: &Pair) {
        let [word, bit] = self.place(one, other);
        if let Some(word) = self.bits.get_mut(word) {
            *word |= 1 << bit;
        }
    }

    /// Word and bit for two pairs.
    #[inline]
    fn place(&self, one: &Pair, other: &Pair) -> [usize; 2] {
        let bit = 2 * other.class as usize + usize::from(one.second >= other.first);
        [one.class as usize * self.width + bit / 64, bit % 64]
    }
}
