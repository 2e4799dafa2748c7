//! Conflicting pairs, and the patterns on one variable.

use std::hash::{Hash, Hasher};

use crate::codes::{Code, Codes};
use crate::gathering::Gathering;
use crate::histories::Histories;
use crate::numbering::Numbering;
use crate::occurrences::Occurrences;
use crate::pattern::PatternId;
use crate::run::SiteId;
use crate::spare;
use crate::views::Views;
use crate::window::Slot;

/// Two accesses of different threads to one location, at least one of them a write.
#[derive(Clone, Copy)]
pub(super) struct Pair {
    /// Global index of the earlier access.
    pub first: u32,
    /// Global index of the later access.
    pub second: u32,
    pub class: u32,
    /// Pairs of one lane run from the same thread to the same thread, and in all or none of them both accesses write. The two pairs of a
    /// quadruple, in the table, are of lanes that are alike in that and run in opposite directions.
    pub lane: u32,
}

/// What pairs of one class have in common: their kinds (P1, P2 or P3) and sites.
pub(super) type Class = (PatternId, [SiteId; 2]);

/// Step 1, and of step 2 what is about one variable.
pub(super) struct Conflicts<'h> {
    codes: &'h Codes,
    classes: Numbering<Class>,
    lanes: Numbering<LaneKey>,
    /// The pairs of which the views consist: where each view's begin, by its number, and the end.
    in_view: Vec<InView>,
    view_starts: Vec<u32>,
    /// The slots that left and are part of pairs, by the upper bits of their index: the lower bits with the number of pairs in the view,
    /// the view, and the second access of each of these pairs.
    buckets: Vec<Vec<u32>>,
    pair_count: usize,
    /// Two pairs, (a, b) and (b, c), with a and c by one thread.
    triples: Gathering<u64, 3>,
    recent: Recent,
    /// Pairs of the location at hand whose first slot has left and whose second has not.
    ending: Vec<Ending>,
}

/// What pairs of one lane have in common. Threads are told by number.
#[derive(Clone, Copy, PartialEq, Eq)]
struct LaneKey {
    /// Both of their accesses write.
    overwrites: bool,
    threads: [u32; 2],
}

impl Hash for LaneKey {
    /// In words as wide as the machine's, as few as there can be.
    fn hash<H: Hasher>(&self, state: &mut H) {
        let [from, to] = self.threads.map(u64::from);
        state.write_u64(from << 1 ^ to << 33 ^ u64::from(self.overwrites));
    }
}

/// A pair of a view's oldest slot with a later one.
#[derive(Clone, Copy)]
struct InView {
    slot: u32,
    /// The number of that one's thread.
    thread: u32,
    class: u32,
    lane: u32,
}

/// A pair, as its second slot sees it.
#[derive(Clone, Copy)]
struct Ending {
    first: u32,
    thread: u32,
    class: u32,
    /// One more than the place of the next that ends with the same slot.
    next: u32,
}

impl<'h> Conflicts<'h> {
    pub fn new(histories: &'h Histories) -> Self {
        let mut buckets = Vec::new();
        buckets.resize_with(histories.moments().len().div_ceil(BUCKET), spare::take);
        Self {
            codes: histories.codes(),
            classes: Numbering::new(),
            lanes: Numbering::new(),
            in_view: Vec::new(),
            view_starts: vec![0],
            buckets,
            pair_count: 0,
            triples: Gathering::new(),
            recent: Recent::new(),
            ending: Vec::new(),
        }
    }

    /// The first of the slots leaves, in a view with this number.
    pub fn leave(&mut self, view: usize, codes: &[Code], slots: &mut [Slot]) {
        if view + 1 == self.view_starts.len() {
            self.add_view(codes);
        }
        let Some((oldest, later)) = slots.split_first_mut() else { return };
        if later.is_empty() {
            self.ending.clear();
            return;
        }
        let in_view = &self.in_view[self.view_starts[view] as usize..self.view_starts[view + 1] as usize];
        if in_view.is_empty() {
            return;
        }
        let mut place = oldest.note;
        while let Some(nth) = place.checked_sub(1) {
            let Ending { first, thread, class, next } = self.ending[nth as usize];
            place = next;
            if !self.recent.is_earlier([class, thread, view as u32], first) {
                continue;
            }
            for pair in in_view.iter().filter(|pair| pair.thread == thread) {
                let classes = u64::from(class) << 32 | u64::from(pair.class);
                let accesses = [first, oldest.index, later[pair.slot as usize - 1].index];
                self.triples.add(classes, [first, 0], accesses);
            }
        }
        let bucket = &mut self.buckets[oldest.index as usize / BUCKET];
        let seconds = in_view.iter().map(|pair| later[pair.slot as usize - 1].index);
        bucket.extend_from_slice(&[head(oldest.index, in_view.len()), self.view_starts[view]]);
        bucket.extend(seconds);
        self.pair_count += in_view.len();
        let thread = self.codes.thread_number(codes[0]);
        for &InView { slot, class, .. } in in_view {
            let other = &mut later[slot as usize - 1];
            self.ending.push(Ending { first: oldest.index, thread, class, next: other.note });
            other.note = self.ending.len() as u32;
        }
    }

    #[cold]
    fn add_view(&mut self, codes: &[Code]) {
        let oldest = codes[0];
        for (slot, &other) in (1..).zip(&codes[1..]) {
            let threads @ [own, thread] = [oldest, other].map(|code| self.codes.thread_number(code));
            let id = PatternId::pair(oldest.kind(), other.kind()).filter(|_| own != thread);
            if let Some(id) = id {
                let sites = [oldest, other].map(|code| self.codes.site(code));
                let class = self.classes.number((id, sites)).0;
                let lane = self.lanes.number(LaneKey { overwrites: id == PatternId::P3, threads }).0;
                self.in_view.push(InView { slot, thread, class, lane });
            }
        }
        self.view_starts.push(self.in_view.len() as u32);
    }

    fn pairs_in(&self, view: usize) -> &[InView] {
        &self.in_view[self.view_starts[view] as usize..self.view_starts[view + 1] as usize]
    }

    /// Adds pairs and triples to what is `found`.
    pub fn add_on_one_variable(&self, views: &Views, found: &mut Occurrences) {
        let mut pairs: Gathering<Class, 2> = Gathering::new();
        for (view, (_, indices)) in views.iter().enumerate() {
            for &InView { slot, class, .. } in self.pairs_in(view) {
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

    /// What pairs of each class have in common.
    pub fn classes(&self) -> &[Class] {
        self.classes.keys()
    }

    /// For each lane, the one with whose pairs its own can make quadruples, if there are any.
    pub fn opposite_lanes(&self) -> Vec<Option<u32>> {
        let opposite_of = |&LaneKey { overwrites, threads: [from, to] }: &LaneKey| {
            self.lanes.find(LaneKey { overwrites, threads: [to, from] })
        };
        self.lanes.keys().iter().map(opposite_of).collect()
    }

    /// How many pairs there are.
    pub fn pair_count(&self) -> usize {
        self.pair_count
    }

    /// Tells `found` all pairs, by ascending index of their first access, then of their second.
    pub fn each_pair(&self, mut found: impl FnMut(Pair)) {
        for (start, bucket) in (0..).step_by(BUCKET).zip(&self.buckets) {
            self.each_by_first(start, bucket, &mut found);
        }
    }

    /// Tells `found` the pairs of a bucket, by ascending first access.
    fn each_by_first(&self, start: u32, bucket: &[u32], found: &mut impl FnMut(Pair)) {
        // Which accesses are first ones, and where in the bucket their views are.
        let mut is_first = [0u64; BUCKET / 64];
        let mut places = [0u32; BUCKET];
        let mut place = 0;
        while let Some(&[head, view]) = bucket.get(place..).and_then(|rest| rest.first_chunk()) {
            let lower = head as usize % BUCKET;
            is_first[lower / 64] |= 1 << (lower % 64);
            places[lower] = place as u32;
            place += 2 + self.pairs_from(head, view).len();
        }
        for (word, mut bits) in is_first.into_iter().enumerate() {
            while bits != 0 {
                let lower = word * 64 + bits.trailing_zeros() as usize;
                bits &= bits - 1;
                let Some((&[head, view], seconds)) = bucket[places[lower] as usize..].split_first_chunk()
                else {
                    break;
                };
                let first = start + lower as u32;
                for (&InView { class, lane, .. }, &second) in self.pairs_from(head, view).iter().zip(seconds)
                {
                    found(Pair { first, second, class, lane });
                }
            }
        }
    }

    /// The pairs in a view that begins there, which are as many as the head says.
    #[inline]
    fn pairs_from(&self, head: u32, start: u32) -> &[InView] {
        let pairs = match head as usize / BUCKET {
            MANY => self.many_from(start),
            pairs => pairs,
        };
        &self.in_view[start as usize..start as usize + pairs]
    }

    #[cold]
    fn many_from(&self, start: u32) -> usize {
        let next = self.view_starts.partition_point(|&known| known <= start);
        (self.view_starts[next] - start) as usize
    }
}

/// The lower bits of an index, and above them how many pairs there are: many if they are too many to be told.
fn head(index: u32, pairs: usize) -> u32 {
    index % BUCKET as u32 + BUCKET as u32 * pairs.min(MANY) as u32
}

const MANY: usize = u32::MAX as usize / BUCKET;

/// Pairs of so many first accesses are sorted at a time: as many as a processor's cache has room for.
const BUCKET: usize = 1 << 12;

impl Drop for Conflicts<'_> {
    fn drop(&mut self) {
        self.buckets.drain(..).rev().for_each(spare::give);
    }
}

/// What middle accesses came with lately: most repeat, and this is quicker than to look all of their triples up.
struct Recent {
    /// Class and first thread of a pair, and the view of its second access; with the index of the first in the earliest
    /// occurrence.
    middles: Vec<([u32; 3], u32)>,
}

impl Recent {
    const BITS: u32 = 11;

    fn new() -> Self {
        Self { middles: vec![([u32::MAX; 3], 0); 1 << Self::BITS] }
    }

    /// Whether this may not have come with a first access as early as that.
    #[inline]
    fn is_earlier(&mut self, middle: [u32; 3], first: u32) -> bool {
        let [class, thread, view] = middle.map(u64::from);
        let hash = (class << 32 ^ thread << 20 ^ view).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let (known, earliest) = &mut self.middles[(hash >> (u64::BITS - Self::BITS)) as usize];
        if *known == middle && *earliest <= first {
            return false;
        }
        (*known, *earliest) = (middle, first);
        true
    }
}
