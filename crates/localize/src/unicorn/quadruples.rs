//! Patterns on two variables: each pair is combined with the next few.

use std::ops::Range;

use crate::histories::Moment;
use crate::numbering::Numbering;
use crate::occurrences::{Occurrence, Occurrences};
use crate::pattern::{Crossing, Pattern, PatternId};
use crate::scan::Scan;

use super::conflicts::{Member, Pair, Pairs};
use super::rounds::Rounds;

/// Step 2 for two variables. Looks only at those of the next pairs that can be part of a pattern: there are far fewer of them.
pub(super) fn combine(scan: &Scan, pairs: &Pairs, found: &mut Occurrences) {
    if pairs.lanes.iter().all(|lane| lane.opposite.is_none()) {
        return;
    }
    let mut rounds = Rounds::of(&scan.histories);
    let mut quadruples = Quadruples {
        moments: scan.histories.moments(),
        pairs,
        seen: Seen::new(pairs.classes.len()),
        numbers: Numbering::new(),
        earliest: Vec::new(),
    };
    // Which members of each lane come within the distance after the pair at hand: from one place up to another.
    let mut near: Vec<[usize; 2]> =
        pairs.lanes.iter().map(|lane| [lane.members.start, lane.members.start]).collect();
    let mut coming = pairs.sorted.iter();
    let mut enter = |near: &mut Vec<[usize; 2]>| {
        if let Some(pair) = coming.next() {
            near[pair.lane as usize][1] += 1;
        }
    };
    (0..scan.options.distance.min(pairs.sorted.len())).for_each(|_| enter(&mut near));
    for one in &pairs.sorted {
        enter(&mut near);
        near[one.lane as usize][0] += 1;
        let Some(opposite) = pairs.lanes[one.lane as usize].opposite else { continue };
        let [from, to] = near[opposite as usize];
        let mut rest = &pairs.members[from..to];
        while let Some(nth) = quadruples.first_new(one, rest) {
            let other = &pairs.sorted[rest[nth].place as usize];
            // The second access of the other pair is by the thread of this one's first, and comes later than its own first.
            if rounds.is_repeated(one.first, other.first + 1) {
                break;
            }
            if rounds.are_one(one.first, other.second) && rounds.are_one(one.second, other.first) {
                quadruples.add(one, other);
            }
            rest = &rest[nth + 1..];
        }
    }
    let known = quadruples.numbers.keys().iter().zip(quadruples.earliest);
    found.suspects.extend(known.map(|(&pattern, occurrence)| (pattern.into(), occurrence)));
}

/// Two pairs each, on different variables.
struct Quadruples<'r> {
    moments: &'r [Moment],
    pairs: &'r Pairs,
    seen: Seen,
    numbers: Numbering<Pattern>,
    /// Of several occurrences, the one that begins first.
    earliest: Vec<Occurrence>,
}

impl Quadruples<'_> {
    /// The first of the members on another variable that may combine with `one` as no two pairs of these classes have
    /// before.
    #[inline]
    fn first_new(&self, one: &Pair, members: &[Member]) -> Option<usize> {
        let row = &self.seen.bits[self.seen.row(one)];
        let location_of = |first: u32| self.moments[first as usize].location;
        members.iter().position(|member| {
            let [word, bit] = place(one, member.class, member.first);
            row.get(word).is_none_or(|word| word >> bit & 1 == 0)
                && location_of(member.first) != location_of(one.first)
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
            [one, other].map(|pair| self.pairs.classes[pair.class as usize]);
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
        let [word, bit] = place(one, other.class, other.first);
        if let Some(word) = self.bits[row].get_mut(word) {
            *word |= 1 << bit;
        }
    }
}

/// Word and bit for `one` and a second pair with this class and first access.
#[inline]
fn place(one: &Pair, class: u32, first: u32) -> [usize; 2] {
    let bit = 2 * class as usize + usize::from(one.second >= first);
    [bit / 64, bit % 64]
}
