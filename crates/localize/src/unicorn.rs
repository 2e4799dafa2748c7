//! Unicorn: patterns on one and on two variables, put together from conflicting pairs.
//!
//! Sangmin Park: *Effective Fault Localization Techniques for Concurrent Software* (thesis, Georgia Institute
//! of Technology, 2014), chapter 4, Algorithm 2.
//!
//! **Finds** all rows of the table in `pattern.rs`. Step 1: each slot that leaves its window (see `window.rs`)
//! forms a pair with each later slot that it conflicts with; these are P1–P3. Step 2: the pairs are sorted by
//! their first access, and each is combined with the next few. Two pairs that run between the same two threads
//! in opposite directions make a triple (P4–P8) if the second begins with the access that ends the first, and
//! may make a quadruple (P9–P17) if they are on different variables and not too far apart.
//!
//! **Misses** patterns of three variables or three threads; pairs wider than the window; pairs on two variables
//! further apart in the sorted list than the distance; reads that follow a write of the same turn.
//!
//! Deviations, with why:
//!
//! 1. Those of the window.
//! 2. Rows that are the same partial order count as one pattern (see [`Pattern`](crate::Pattern)): which of
//!    two unordered accesses came first is chance, and would split the evidence. An example has its own row.
//! 3. Pairs with the same first access are sorted by their second, which the thesis leaves open.
//! 4. The distance limits quadruples only. A triple's pairs share an access, so that finding them costs nothing
//!    however far apart they are, and a thread that is held up for long between its two accesses is just what
//!    an atomicity violation looks like.
//! 5. A pattern's sites stand for its accesses, and stacks do not, as for Falcon.

use std::hash::{Hash, Hasher};
use std::ops::Range;

use crate::gathering::Gathering;
use crate::histories::Moment;
use crate::numbering::Numbering;
use crate::occurrences::{Occurrence, Occurrences};
use crate::pattern::{Crossing, Pattern, PatternId};
use crate::run::{SiteId, ThreadId};
use crate::scan::Scan;
use crate::spare;
use crate::views::{Code, Views};
use crate::window::Slot;

/// The patterns that a run shows.
pub(crate) fn occurrences(scan: &Scan) -> Occurrences {
    scan.unicorn().clone()
}

/// Finds them, by way of what the run's windows show.
pub(crate) fn find(scan: &Scan) -> (Occurrences, Views) {
    let mut conflicts = Conflicts::new(scan.histories.moments().len());
    let views = Views::of(scan, |view, codes, slots| conflicts.leave(view, codes, slots));
    let mut found = Occurrences::of(scan.run);
    conflicts.add_on_one_variable(&views, &mut found);
    combine(scan, &conflicts.into_pairs(), scan.options.distance, &mut found);
    (found, views)
}

/// Two accesses of different threads to one location, at least one of them a write.
#[derive(Clone, Copy)]
struct Pair {
    /// Global index of the earlier access.
    first: u32,
    /// Global index of the later access.
    second: u32,
    class: u32,
    lane: u32,
}

/// What pairs of one class have in common: their kinds (P1, P2 or P3) and sites.
type Class = (PatternId, [SiteId; 2]);

/// The pairs of a run.
struct Pairs {
    /// By ascending index of their first access, then of their second.
    sorted: Vec<Pair>,
    /// Their classes by number.
    classes: Vec<Class>,
    /// Pairs of one lane have the same kinds and run from the same thread to the same thread.
    lanes: Vec<Lane>,
    /// The places of the pairs in the sorted list, lane by lane, and ascending in each.
    members: Vec<u32>,
}

struct Lane {
    /// Its part of all members.
    members: Range<usize>,
    /// The lane with whose pairs its own can make quadruples: all of these, in the table, run in opposite
    /// directions and have opposite kinds.
    opposite: Option<u32>,
}

/// Step 1, and of step 2 what is about one variable.
struct Conflicts {
    classes: Numbering<Class>,
    lanes: Numbering<LaneKey>,
    /// The pairs of which the views consist: where each view's begin, by its number, and the end.
    in_view: Vec<InView>,
    view_starts: Vec<u32>,
    /// All pairs, by the upper bits of the index of their first access. Those with the same first access are together, and
    /// by ascending second.
    buckets: Vec<Vec<Pair>>,
    /// How many there are in each lane.
    lane_sizes: Vec<usize>,
    /// Two pairs, (a, b) and (b, c), with a and c by one thread.
    triples: Gathering<u64, 3>,
    /// Pairs of the location at hand whose first slot has left and whose second has not.
    ending: Vec<Ending>,
}

/// What pairs of one lane have in common.
#[derive(Clone, Copy, PartialEq, Eq)]
struct LaneKey {
    id: PatternId,
    threads: [ThreadId; 2],
}

impl Hash for LaneKey {
    /// In words as wide as the machine's, as few as there can be.
    fn hash<H: Hasher>(&self, state: &mut H) {
        let [from, to] = self.threads.map(|thread| u64::from(thread.0));
        state.write_u64(from << 2 ^ to << 33 ^ self.id as u64);
    }
}

/// A pair of a view's oldest slot with a later one.
#[derive(Clone, Copy)]
struct InView {
    slot: u32,
    id: PatternId,
    class: u32,
}

/// A pair, as its second slot sees it.
#[derive(Clone, Copy)]
struct Ending {
    first: u32,
    thread: ThreadId,
    class: u32,
    /// One more than the place of the next that ends with the same slot.
    next: u32,
}

impl Conflicts {
    fn new(accesses: usize) -> Self {
        let mut buckets = Vec::new();
        buckets.resize_with(accesses.div_ceil(BUCKET), Vec::new);
        Self {
            classes: Numbering::new(),
            lanes: Numbering::new(),
            in_view: Vec::new(),
            view_starts: vec![0],
            buckets,
            lane_sizes: Vec::new(),
            triples: Gathering::new(),
            ending: Vec::new(),
        }
    }

    /// The first of the slots leaves, in a view with this number.
    fn leave(&mut self, view: usize, codes: &[Code], slots: &mut [Slot]) {
        if view + 1 == self.view_starts.len() {
            self.add_view(codes);
        }
        let Some((oldest, later)) = slots.split_first_mut() else { return };
        if later.is_empty() {
            self.ending.clear();
            return;
        }
        let in_view = self.view_starts[view] as usize..self.view_starts[view + 1] as usize;
        let bucket = &mut self.buckets[oldest.index as usize / BUCKET];
        for &InView { slot, id, class } in &self.in_view[in_view] {
            let other = &mut later[slot as usize - 1];
            let mut place = oldest.note;
            while let Some(nth) = place.checked_sub(1) {
                let ending = self.ending[nth as usize];
                if ending.thread == other.thread {
                    let accesses = [ending.first, oldest.index, other.index];
                    let classes = u64::from(ending.class) << 32 | u64::from(class);
                    self.triples.add(classes, [ending.first, 0], accesses);
                }
                place = ending.next;
            }
            self.ending.push(Ending { first: oldest.index, thread: oldest.thread, class, next: other.note });
            other.note = self.ending.len() as u32;
            let (lane, is_new) = self.lanes.number(LaneKey { id, threads: [oldest.thread, other.thread] });
            if is_new {
                self.lane_sizes.push(0);
            }
            self.lane_sizes[lane as usize] += 1;
            bucket.push(Pair { first: oldest.index, second: other.index, class, lane });
        }
    }

    fn add_view(&mut self, codes: &[Code]) {
        let (oldest, later) = (codes[0], (1..).zip(&codes[1..]));
        for (slot, other) in later.filter(|(_, other)| !other.is_own()) {
            if let Some(id) = PatternId::pair(oldest.kind(), other.kind()) {
                let class = self.classes.number((id, [oldest.site(), other.site()])).0;
                self.in_view.push(InView { slot, id, class });
            }
        }
        self.view_starts.push(self.in_view.len() as u32);
    }

    /// Adds pairs and triples to what is `found`.
    fn add_on_one_variable(&self, views: &Views, found: &mut Occurrences) {
        let mut pairs: Gathering<Class, 2> = Gathering::new();
        for (ends, (_, indices)) in self.view_starts.windows(2).zip(views.iter()) {
            for &InView { slot, class, .. } in &self.in_view[ends[0] as usize..ends[1] as usize] {
                let accesses = [indices[0], indices[slot as usize]];
                pairs.add(self.classes.keys()[class as usize], [indices[0], 0], accesses);
            }
        }
        for ((id, sites), accesses) in pairs.iter() {
            found.push(id, &sites, &accesses);
        }
        for (classes, accesses) in self.triples.iter() {
            let [(one, [first, middle]), (other, [_, last])] = [classes >> 32, classes & u64::from(u32::MAX)]
                .map(|class| self.classes.keys()[class as usize]);
            let [kinds, later] = [one, other].map(|id| id.steps().iter().map(|step| step.kind));
            let kinds: Vec<_> = kinds.chain(later.skip(1)).collect();
            if let Some(id) = PatternId::triple(kinds[0], kinds[1], kinds[2]) {
                found.push(id, &[first, middle, last], &accesses);
            }
        }
    }

    /// Sorts the pairs by their first access.
    fn into_pairs(self) -> Pairs {
        let mut lanes: Vec<Lane> = Vec::new();
        let mut before = 0;
        for (&LaneKey { id, threads: [from, to] }, size) in self.lanes.keys().iter().zip(&self.lane_sizes) {
            let opposite = self.lanes.find(LaneKey { id: opposite(id), threads: [to, from] });
            lanes.push(Lane { members: before..before + size, opposite });
            before += size;
        }
        let mut next: Vec<usize> = lanes.iter().map(|lane| lane.members.start).collect();
        let mut members: Vec<u32> = spare::take();
        members.resize(before, 0);
        let mut sorted: Vec<Pair> = spare::take();
        sorted.reserve(before);
        for bucket in self.buckets {
            let sorted_before = sorted.len();
            sort_bucket(&bucket, &mut sorted);
            for (place, pair) in (sorted_before as u32..).zip(&sorted[sorted_before..]) {
                let next = &mut next[pair.lane as usize];
                members[*next] = place;
                *next += 1;
            }
        }
        Pairs { sorted, classes: self.classes.keys().to_vec(), lanes, members }
    }
}

/// Pairs of so many first accesses are sorted at a time: as many as a processor's cache has room for.
const BUCKET: usize = 1 << 12;

/// Adds the pairs of a bucket to `sorted`, by ascending first access. Counting beats comparing.
fn sort_bucket(bucket: &[Pair], sorted: &mut Vec<Pair>) {
    let Some(&any) = bucket.first() else { return };
    let mut places = [0u32; BUCKET + 1];
    for pair in bucket {
        places[pair.first as usize % BUCKET + 1] += 1;
    }
    for first in 0..BUCKET {
        places[first + 1] += places[first];
    }
    let before = sorted.len();
    sorted.resize(before + bucket.len(), any);
    for pair in bucket {
        let place = &mut places[pair.first as usize % BUCKET];
        sorted[before + *place as usize] = *pair;
        *place += 1;
    }
}

impl Drop for Pairs {
    fn drop(&mut self) {
        spare::give(std::mem::take(&mut self.sorted));
        spare::give(std::mem::take(&mut self.members));
    }
}

fn opposite(pair: PatternId) -> PatternId {
    match pair {
        PatternId::P1 => PatternId::P2,
        PatternId::P2 => PatternId::P1,
        same => same,
    }
}

/// Step 2 for two variables. Looks only at those of the next pairs that can be part of a pattern: there are far fewer of them.
fn combine(scan: &Scan, pairs: &Pairs, distance: usize, found: &mut Occurrences) {
    let mut quadruples = Quadruples {
        moments: scan.histories.moments(),
        pairs,
        seen: Seen::new(pairs.classes.len()),
        numbers: Numbering::new(),
        earliest: Vec::new(),
    };
    // How many members of each lane are not after the pair at hand.
    let mut passed = vec![0; pairs.lanes.len()];
    for (place, one) in pairs.sorted.iter().enumerate() {
        let end = pairs.sorted.len().min((place + 1).saturating_add(distance));
        if let Some(opposite) = pairs.lanes[one.lane as usize].opposite {
            let members = &pairs.members[pairs.lanes[opposite as usize].members.clone()];
            let passed = &mut passed[opposite as usize];
            while members.get(*passed).is_some_and(|&member| member as usize <= place) {
                *passed += 1;
            }
            for &member in members[*passed..].iter().take_while(|&&member| (member as usize) < end) {
                quadruples.add(one, &pairs.sorted[member as usize]);
            }
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
    /// Adds two pairs of opposite lanes, if they are on different variables.
    fn add(&mut self, one: &Pair, other: &Pair) {
        let (crossing, combination) = if one.second < other.first {
            (Crossing::Apart, Seen::APART)
        } else if one.second < other.second {
            (Crossing::Overlapping, Seen::CROSSING)
        } else {
            (Crossing::Nested, Seen::CROSSING)
        };
        if self.seen.is_new(one, other, combination) {
            self.add_new(one, other, crossing, combination);
        }
    }

    #[cold]
    fn add_new(&mut self, one: &Pair, other: &Pair, crossing: Crossing, combination: usize) {
        let [location, other_location] = [one, other].map(|pair| self.moments[pair.first as usize].location);
        if location == other_location {
            return;
        }
        self.seen.note(one, other, combination);
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
    classes: usize,
    /// One bit for each two classes and way to combine them; none if there are too many classes.
    bits: Vec<u64>,
}

impl Seen {
    const APART: usize = 0;
    const CROSSING: usize = 1;
    const COMBINATIONS: usize = 2;

    /// With so many classes the bits take 16 MiB. Programs have fewer; beyond, memory matters more than time.
    const MAX_CLASSES: usize = 8192;

    fn new(classes: usize) -> Self {
        let bits = if classes <= Self::MAX_CLASSES { classes * classes * Self::COMBINATIONS } else { 0 };
        Self { classes, bits: vec![0; bits.div_ceil(64)] }
    }

    fn bit(&self, one: &Pair, other: &Pair, combination: usize) -> usize {
        (one.class as usize * self.classes + other.class as usize) * Self::COMBINATIONS + combination
    }

    /// Whether this may be the first such combination of two pairs of their classes.
    fn is_new(&self, one: &Pair, other: &Pair, combination: usize) -> bool {
        let bit = self.bit(one, other, combination);
        self.bits.get(bit / 64).is_none_or(|word| word >> (bit % 64) & 1 == 0)
    }

    fn note(&mut self, one: &Pair, other: &Pair, combination: usize) {
        let bit = self.bit(one, other, combination);
        if let Some(word) = self.bits.get_mut(bit / 64) {
            *word |= 1 << (bit % 64);
        }
    }
}
