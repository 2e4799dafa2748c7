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

use crate::numbering::Numbering;
use crate::occurrences::Occurrences;
use crate::pattern::{Crossing, PatternId};
use crate::run::{LocationId, Run, SiteId, ThreadId};
use crate::scan::Scan;
use crate::window::{self, Slot};

/// The patterns that a run shows.
pub(crate) fn occurrences(scan: &Scan) -> Occurrences {
    scan.unicorn().clone()
}

/// Finds them.
pub(crate) fn find(scan: &Scan) -> Occurrences {
    let mut found = Occurrences::of(scan.run);
    let pairs = conflicting_pairs(scan, &mut found);
    combine(scan.run, &pairs, scan.options.distance, &mut found);
    found
}

/// Two accesses of different threads to one location, at least one of them a write.
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
    /// For each access, and for the end, the place of the first pair that does not begin before it.
    places: Vec<u32>,
    /// Pairs of one class have the same kinds and sites. There are so many classes.
    classes: usize,
    /// Pairs of one lane have the same kinds and run from the same thread to the same thread.
    lanes: Vec<Lane>,
}

struct Lane {
    from: ThreadId,
    to: ThreadId,
    /// The places of its pairs in the sorted list, ascending.
    members: Vec<u32>,
    /// The lane with whose pairs its own can make quadruples: all of these, in the table, run in opposite
    /// directions and have opposite kinds.
    opposite: Option<u32>,
}

/// Step 1. Adds the pairs themselves to what is `found`.
fn conflicting_pairs(scan: &Scan, found: &mut Occurrences) -> Pairs {
    let run = scan.run;
    let mut emitted = Vec::new();
    window::slide(&scan.histories, scan.options.window, |oldest, later| {
        for other in later.iter().filter(|other| other.thread != oldest.thread) {
            if let Some(id) = PatternId::pair(oldest.kind, other.kind) {
                emitted.push(Emitted { first: oldest.index, second: *other, id });
            }
        }
    });
    let (emitted, places) = sort_by_first(emitted, run.accesses.len());

    let mut sorted = Vec::with_capacity(emitted.len());
    let mut classes: Numbering<(PatternId, SiteId, SiteId)> = Numbering::new();
    let mut lane_of: Numbering<(PatternId, ThreadId, ThreadId)> = Numbering::new();
    let mut lanes: Vec<Lane> = Vec::new();
    for (place, Emitted { first, second: to, id }) in (0u32..).zip(emitted) {
        let from = &run.accesses[first as usize];
        let (class, is_new) = classes.number((id, from.site, to.site));
        if is_new {
            found.add(run, id, &[first, to.index]);
        }
        let (lane, is_new) = lane_of.number((id, from.thread, to.thread));
        if is_new {
            lanes.push(Lane { from: from.thread, to: to.thread, members: Vec::new(), opposite: None });
        }
        lanes[lane as usize].members.push(place);
        sorted.push(Pair { first, second: to.index, location: from.location, id, class, lane });
    }
    for ((id, from, to), lane) in lane_of.iter() {
        lanes[lane as usize].opposite = lane_of.find((opposite(id), to, from));
    }
    Pairs { sorted, places, classes: classes.len(), lanes }
}

/// A pair, as it leaves the window.
#[derive(Clone, Copy)]
struct Emitted {
    first: u32,
    second: Slot,
    id: PatternId,
}

/// The pairs by ascending first access, and where those of each access begin. Counting beats comparing, since
/// all pairs of one first access are emitted together and in the order of their second.
fn sort_by_first(emitted: Vec<Emitted>, accesses: usize) -> (Vec<Emitted>, Vec<u32>) {
    let mut places = vec![0; accesses + 1];
    for pair in &emitted {
        places[pair.first as usize + 1] += 1;
    }
    let mut before = 0;
    for place in &mut places {
        before += *place;
        *place = before;
    }
    let mut next = places.clone();
    let mut sorted = emitted.clone();
    for pair in emitted {
        let place = &mut next[pair.first as usize];
        sorted[*place as usize] = pair;
        *place += 1;
    }
    (sorted, places)
}

fn opposite(pair: PatternId) -> PatternId {
    match pair {
        PatternId::P1 => PatternId::P2,
        PatternId::P2 => PatternId::P1,
        same => same,
    }
}

/// Step 2. Looks only at those of the next pairs that can be part of a pattern: there are far fewer of them.
fn combine(run: &Run, pairs: &Pairs, distance: usize, found: &mut Occurrences) {
    let mut seen = Seen::new(pairs.classes);
    // How many members of each lane are not after the pair at hand.
    let mut passed = vec![0; pairs.lanes.len()];
    for (place, one) in pairs.sorted.iter().enumerate() {
        let end = pairs.sorted.len().min((place + 1).saturating_add(distance));
        let [from, to] = [one.second, one.second + 1].map(|access| pairs.places[access as usize] as usize);
        let lane = |pair: &Pair| &pairs.lanes[pair.lane as usize];
        for other in &pairs.sorted[from..to] {
            if lane(one).from == lane(other).to {
                add_triple(run, one, other, &mut seen, found);
            }
        }
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

/// Adds the pairs (a, b) and (b, c) as (a, b, c), where a and c are by one thread.
fn add_triple(run: &Run, one: &Pair, other: &Pair, seen: &mut Seen, found: &mut Occurrences) {
    if !seen.is_new(one, other, Seen::TRIPLE) {
        return;
    }
    let [first, middle, last] = [one.id.steps()[0], one.id.steps()[1], other.id.steps()[1]].map(|s| s.kind);
    if let Some(id) = PatternId::triple(first, middle, last) {
        found.add(run, id, &[one.first, one.second, other.second]);
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
    const TRIPLE: usize = 0;
    const APART: usize = 1;
    const CROSSING: usize = 2;
    const COMBINATIONS: usize = 3;

    /// With so many classes the bits take 24 MiB. Programs have fewer; beyond, memory matters more than time.
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
