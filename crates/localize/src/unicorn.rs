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

use crate::gathering::Gathering;
use crate::numbering::Numbering;
use crate::occurrences::Occurrences;
use crate::pattern::{Crossing, PatternId};
use crate::run::{LocationId, Run, SiteId, ThreadId};
use crate::scan::Scan;
use crate::window::{Slot, Window};

/// The patterns that a run shows.
pub(crate) fn occurrences(scan: &Scan) -> Occurrences {
    scan.unicorn().clone()
}

/// Finds them.
pub(crate) fn find(scan: &Scan) -> Occurrences {
    let mut on_one_variable = Gathering::new();
    let pairs = conflicting_pairs(scan, &mut on_one_variable);
    let mut found = on_one_variable.into_occurrences(scan.run);
    combine(scan.run, &pairs, scan.options.distance, &mut found);
    found
}

/// Two accesses of different threads to one location, at least one of them a write.
#[derive(Clone, Copy)]
struct Pair {
    /// Global index of the earlier access.
    first: u32,
    /// Global index of the later access.
    second: u32,
    location: LocationId,
    /// P1, P2 or P3.
    id: PatternId,
    class: u32,
    lane: u32,
}

/// The pairs of a run.
struct Pairs {
    /// By ascending index of their first access, then of their second.
    sorted: Vec<Pair>,
    /// Pairs of one class have the same kinds and sites. There are so many classes.
    classes: usize,
    /// Pairs of one lane have the same kinds and run from the same thread to the same thread.
    lanes: Vec<Lane>,
}

#[derive(Default)]
struct Lane {
    /// The places of its pairs in the sorted list, ascending.
    members: Vec<u32>,
    /// The lane with whose pairs its own can make quadruples: all of these, in the table, run in opposite
    /// directions and have opposite kinds.
    opposite: Option<u32>,
}

/// Step 1, and of step 2 what is about one variable: pairs and triples are added to what is `found`.
fn conflicting_pairs(scan: &Scan, found: &mut Gathering) -> Pairs {
    let mut pairs: Vec<Pair> = Vec::new();
    let mut classes: Numbering<(PatternId, SiteId, SiteId)> = Numbering::new();
    let mut lane_of: Numbering<(PatternId, ThreadId, ThreadId)> = Numbering::new();
    let mut window = Window::default();
    // Those of one location.
    let mut emitted: Vec<Emitted> = Vec::new();
    for stretch in scan.histories.stretches() {
        let location = scan.run.accesses[stretch[0].index as usize].location;
        emitted.clear();
        window.slide(stretch, scan.options.window, |oldest, later| {
            for other in later.iter().filter(|other| other.thread != oldest.thread) {
                if let Some(id) = PatternId::pair(oldest.kind, other.kind) {
                    emitted.push(Emitted { ends: [*oldest, *other], id });
                }
            }
        });
        for (nth, pair) in emitted.iter().enumerate() {
            let Emitted { ends: [first, second], id } = *pair;
            found.add(id, &[first, second].map(|slot| (slot.index, slot.site)), first.index);
            add_triples(pair, &emitted[nth + 1..], found);
            pairs.push(Pair {
                first: first.index,
                second: second.index,
                location,
                id,
                class: classes.number((id, first.site, second.site)).0,
                lane: lane_of.number((id, first.thread, second.thread)).0,
            });
        }
    }
    let sorted = sort_by_first(&pairs, scan.run.accesses.len());
    let mut lanes: Vec<Lane> = Vec::new();
    lanes.resize_with(lane_of.len(), Lane::default);
    for (place, pair) in (0u32..).zip(&sorted) {
        lanes[pair.lane as usize].members.push(place);
    }
    for ((id, from, to), lane) in lane_of.iter() {
        lanes[lane as usize].opposite = lane_of.find((opposite(id), to, from));
    }
    Pairs { sorted, classes: classes.len(), lanes }
}

/// A pair, as it leaves the window.
struct Emitted {
    ends: [Slot; 2],
    id: PatternId,
}

/// Adds the pairs (a, b) and (b, c) as (a, b, c), if a and c are by one thread. `later` are the pairs of the location
/// that were emitted after `one`, by ascending first access: those of b soon follow.
fn add_triples(one: &Emitted, later: &[Emitted], found: &mut Gathering) {
    let [first, middle] = one.ends;
    let not_after = later.iter().take_while(|other| other.ends[0].index <= middle.index);
    for Emitted { ends: [again, last], .. } in not_after {
        if again.index == middle.index
            && last.thread == first.thread
            && let Some(id) = PatternId::triple(first.kind, middle.kind, last.kind)
        {
            found.add(id, &[first, middle, *last].map(|slot| (slot.index, slot.site)), first.index);
        }
    }
}

/// The pairs by ascending first access. Counting beats comparing, since all pairs of one first access are together and
/// in the order of their second.
fn sort_by_first(pairs: &[Pair], accesses: usize) -> Vec<Pair> {
    let mut places = vec![0u32; accesses + 1];
    for pair in pairs {
        places[pair.first as usize + 1] += 1;
    }
    let mut before = 0;
    for place in &mut places {
        before += *place;
        *place = before;
    }
    let mut sorted = pairs.to_vec();
    for pair in pairs {
        let place = &mut places[pair.first as usize];
        sorted[*place as usize] = *pair;
        *place += 1;
    }
    sorted
}

fn opposite(pair: PatternId) -> PatternId {
    match pair {
        PatternId::P1 => PatternId::P2,
        PatternId::P2 => PatternId::P1,
        same => same,
    }
}

/// Step 2 for two variables. Looks only at those of the next pairs that can be part of a pattern: there are far fewer of them.
fn combine(run: &Run, pairs: &Pairs, distance: usize, found: &mut Occurrences) {
    let mut seen = Seen::new(pairs.classes);
    // How many members of each lane are not after the pair at hand.
    let mut passed = vec![0; pairs.lanes.len()];
    for (place, one) in pairs.sorted.iter().enumerate() {
        let end = pairs.sorted.len().min((place + 1).saturating_add(distance));
        if let Some(opposite) = pairs.lanes[one.lane as usize].opposite {
            let members = &pairs.lanes[opposite as usize].members;
            let passed = &mut passed[opposite as usize];
            while members.get(*passed).is_some_and(|&member| member as usize <= place) {
                *passed += 1;
            }
            for &member in members[*passed..].iter().take_while(|&&member| (member as usize) < end) {
                add_quadruple(run, one, &pairs.sorted[member as usize], &mut seen, found);
            }
        }
    }
}

/// Adds two pairs of opposite lanes, if they are on different variables.
fn add_quadruple(run: &Run, one: &Pair, other: &Pair, seen: &mut Seen, found: &mut Occurrences) {
    let (crossing, combination) = if one.second < other.first {
        (Crossing::Apart, Seen::APART)
    } else if one.second < other.second {
        (Crossing::Overlapping, Seen::CROSSING)
    } else {
        (Crossing::Nested, Seen::CROSSING)
    };
    if one.location == other.location || !seen.is_new(one, other, combination) {
        return;
    }
    if let Some(id) = PatternId::quadruple(one.id, other.id, crossing) {
        let mut accesses = [one.first, one.second, other.first, other.second];
        accesses.sort_unstable();
        found.add(run, id, &accesses);
    }
}

/// Which classes of pairs have been combined already, and how. Most combinations in a long run repeat earlier
/// ones; [`Occurrences::add`] would find that out too, but slower.
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

    /// Whether this may be the first such combination of two pairs of their classes.
    fn is_new(&mut self, one: &Pair, other: &Pair, combination: usize) -> bool {
        let bit =
            (one.class as usize * self.classes + other.class as usize) * Self::COMBINATIONS + combination;
        let Some(word) = self.bits.get_mut(bit / 64) else { return true };
        let mask = 1 << (bit % 64);
        let is_new = *word & mask == 0;
        *word |= mask;
        is_new
    }
}
