//! Patterns on two variables: each pair is combined with the next few.

use std::slice;

use crate::histories::{At, Histories};
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
    // One more lane, which never has a pair, stands for none.
    let none = opposites.len() as u32;
    let opposites: Vec<u32> = opposites.into_iter().map(|lane| lane.unwrap_or(none)).collect();
    let mut quadruples = Quadruples {
        histories: &scan.histories,
        rounds: Rounds::of(&scan.histories),
        classes: conflicts.classes(),
        seen: Seen::new(conflicts.classes()),
        waiting: Vec::with_capacity(WAITING),
        numbers: Numbering::new(),
        earliest: Vec::new(),
    };
    let mut near = Near::new(opposites.len() + 1, scan.options.distance.min(conflicts.pair_count()));
    let mut combine_first = |near: &mut Near| {
        let (lane, one) = near.take_first();
        quadruples.combine(&one, near.of_lane(opposites[lane as usize]));
    };
    let moments = scan.histories.moments();
    conflicts.each_pair(|Pair { first, second, class, lane }| {
        near.add(lane, NearPair { first, second, class, location: moments[first as usize].location });
        if near.count > scan.options.distance {
            combine_first(&mut near);
        }
    });
    while near.count > 0 {
        combine_first(&mut near);
    }
    quadruples.settle();
    let known = quadruples.numbers.keys().iter().zip(quadruples.earliest);
    found.suspects.extend(known.map(|(&pattern, occurrence)| (pattern.into(), occurrence)));
}

/// A pair that is near others, with its location.
#[derive(Clone, Copy)]
struct NearPair {
    first: u32,
    second: u32,
    class: u32,
    location: u32,
}

impl NearPair {
    /// Its first and its second access.
    fn accesses(&self) -> [At; 2] {
        [self.first, self.second].map(|index| At { index, location: self.location })
    }
}

/// Pairs that are near each other: as many of those that came last as the distance says, and one.
struct Near {
    /// The lanes of all of them, each at its place, modulo their number, which is a power of two.
    order: Vec<u32>,
    /// Where the first is.
    first: usize,
    count: usize,
    lanes: Vec<Lane>,
}

/// The pairs of one lane, in order.
#[derive(Clone, Default)]
struct Lane {
    /// Those that have been taken, and behind them those that are left.
    pairs: Vec<NearPair>,
    taken: usize,
}

impl Near {
    /// Those that have been taken are removed so many at a time, since the others have to move then. The more there are, the less of what
    /// is needed fits into a processor's nearest cache.
    const MOST_TAKEN: usize = 8;

    fn new(lanes: usize, distance: usize) -> Self {
        let order = vec![0; (distance + 1).next_power_of_two()];
        Self { order, first: 0, count: 0, lanes: vec![Lane::default(); lanes] }
    }

    /// There must be room: no more than the distance.
    #[inline]
    fn add(&mut self, lane: u32, pair: NearPair) {
        let place = (self.first + self.count) & (self.order.len() - 1);
        self.order[place] = lane;
        self.count += 1;
        self.lanes[lane as usize].pairs.push(pair);
    }

    /// Removes the first of all, which is the first of its lane. There must be one.
    #[inline]
    fn take_first(&mut self) -> (u32, NearPair) {
        let number = self.order[self.first];
        self.first = (self.first + 1) & (self.order.len() - 1);
        self.count -= 1;
        let lane = &mut self.lanes[number as usize];
        let pair = lane.pairs[lane.taken];
        lane.taken += 1;
        if lane.taken == Self::MOST_TAKEN {
            lane.pairs.drain(..lane.taken);
            lane.taken = 0;
        }
        (number, pair)
    }

    /// The pairs of a lane.
    #[inline]
    fn of_lane(&self, lane: u32) -> &[NearPair] {
        let Lane { pairs, taken } = &self.lanes[lane as usize];
        &pairs[*taken..]
    }
}

/// So many combinations are looked at together. All that is fetched for them fits into a processor's nearest cache.
const WAITING: usize = 48;

/// Two pairs each, on different variables.
struct Quadruples<'r> {
    histories: &'r Histories,
    rounds: Rounds<'r>,
    classes: &'r [Class],
    seen: Seen,
    /// Two pairs each of which it is not known yet whether they belong to one round.
    waiting: Vec<[NearPair; 2]>,
    numbers: Numbering<Pattern>,
    /// Of several occurrences, the one that begins first.
    earliest: Vec<Occurrence>,
}

impl Quadruples<'_> {
    /// Adds what a pair makes with later ones of the opposite lane, though perhaps not at once.
    #[inline]
    fn combine(&mut self, one: &NearPair, later: &[NearPair]) {
        let mut later = later.iter();
        while let Some(last) = self.wait(one, &mut later) {
            self.settle();
            // The second access of a pair comes later than its first, and so would those of all that follow.
            if self.rounds.again(one.accesses()[0]) <= Again(last.first) {
                break;
            }
        }
    }

    /// Has combinations of a pair wait that may be new. Gives the last of the later ones if no more can wait.
    #[inline]
    fn wait<'p>(&mut self, one: &NearPair, later: &mut slice::Iter<'p, NearPair>) -> Option<&'p NearPair> {
        let noted = self.seen.of(one);
        for other in later {
            // Hardly one is new: one decision on both, which the processor can guess, is quicker than one on each.
            if !noted.includes(other) & (other.location != one.location) {
                self.waiting.push([*one, *other]);
                if self.waiting.len() == WAITING {
                    return Some(other);
                }
            }
        }
        None
    }

    /// Adds what waits and belongs to one round. The memory that tells is anywhere: it is fetched for many at a time, so that the
    /// processor need not wait for one before it goes for the next.
    #[inline(never)]
    fn settle(&mut self) {
        let waiting = std::mem::take(&mut self.waiting);
        self.histories.fetch(waiting.iter().map(|[one, other]| [one.accesses()[0], other.accesses()[1]]));
        let mut known: Option<(u32, Again)> = None;
        for [one, other] in &waiting {
            // What came before may have been the same.
            if self.seen.of(one).includes(other) {
                continue;
            }
            let ([first, second], [third, last]) = (one.accesses(), other.accesses());
            let again = match known {
                Some((known, again)) if known == one.first => again,
                _ => self.rounds.again(first),
            };
            known = Some((one.first, again));
            // The second access of the other pair is by the thread of this one's first, and comes later than its own first.
            if again > Again(other.first)
                && self.rounds.is_in_round(one.first, again, last)
                && self.rounds.are_one(second, third)
            {
                self.add(one, other);
            }
        }
        self.waiting = waiting;
        self.waiting.clear();
    }

    /// Adds two pairs of opposite lanes on different variables.
    #[cold]
    fn add(&mut self, one: &NearPair, other: &NearPair) {
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

    fn new(classes: &[Class]) -> Self {
        let width = if classes.len() <= Self::MAX_CLASSES { (2 * classes.len()).div_ceil(64) } else { 0 };
        let mut seen = Self { width, bits: vec![0; classes.len() * width] };
        // Of a lane with both, a write that is read makes nothing with another one: as if that had come before.
        let reads = || (0..).zip(classes).filter(|(_, (id, _))| *id == PatternId::P2).map(|(class, _)| class);
        let mut row = vec![0; width];
        reads().filter(|_| width > 0).for_each(|class: usize| row[class / 32] |= 0b11 << (class % 32 * 2));
        reads().for_each(|class| seen.bits[class * width..(class + 1) * width].copy_from_slice(&row));
        seen
    }

    /// What a pair has been combined with.
    #[inline]
    fn of(&self, one: &NearPair) -> Noted<'_> {
        let row = one.class as usize * self.width..(one.class as usize + 1) * self.width;
        Noted { bits: &self.bits[row], second: one.second }
    }

    fn note(&mut self, one: &NearPair, other: &NearPair) {
        let [word, bit] = self.of(one).place(other);
        if let Some(word) = self.bits[one.class as usize * self.width..].get_mut(word) {
            *word |= 1 << bit;
        }
    }
}

/// What a pair with this second access has been combined with.
struct Noted<'s> {
    /// None if there are too many classes.
    bits: &'s [u64],
    second: u32,
}

impl Noted<'_> {
    #[inline]
    fn includes(&self, other: &NearPair) -> bool {
        let [word, bit] = self.place(other);
        self.bits.get(word).is_some_and(|word| word >> bit & 1 == 1)
    }

    /// Word and bit for another pair.
    #[inline]
    fn place(&self, other: &NearPair) -> [usize; 2] {
        let bit = 2 * other.class as usize + usize::from(self.second >= other.first);
        [bit / 64, bit % 64]
    }
}
