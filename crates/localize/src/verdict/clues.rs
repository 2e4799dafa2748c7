//! What one run shows that may be a cause: pairs, triples and quadruples of accesses.
//!
//! Pairs are immediate dependencies (`dependencies.rs`) and triples are AVIO's, WWW included: both look at turns
//! by role, so that the read of a looping lost update shows although a write of the same turn follows it.
//! The third access of a triple depends on the second: whatever was overwritten in between is no cause of what it
//! finds. Quadruples are Unicorn's. Its pairs and triples are noted as well, not as clues of their own but to tell
//! whether a part of a quadruple says as much as the whole.
//!
//! An update counts as a write in a triple: all four of AVIO's cases stay unserializable with it.

use std::sync::Arc;

use rustc_hash::FxHashSet;

use crate::evidence::HappensBefore;
use crate::locon;
use crate::occurrences::Occurrence;
use crate::pattern::Pattern;
use crate::retest::tests_again;
use crate::run::{Access, AccessKind, Calls, LocationId, Outcome, Run, RunId, SiteId, ThreadId};
use crate::scan::Scan;
use crate::shape::Shape;
use crate::standstill::{self, Standstill};
use crate::suspect::Suspect;
use crate::synchronization::{ObjectId, SyncEvent, SyncKind, SyncTarget};

use super::crossings;
use super::orders::{self, Orders};
use super::unfinished::Reach;
use super::values::{self, Value, Values};

/// The clues of a run.
#[derive(Clone, Debug)]
pub(crate) struct Clues {
    pub run: RunId,
    pub outcome: Outcome,
    pub way: u32,
    /// How probable it is that the run makes some accesses and does not show it: bursts of accesses are looked at, so
    /// that those of a clue are all in one or in none.
    pub overlooked: f64,
    /// Each once.
    pub seen: Vec<Clue>,
    /// Reads that another thread's write follows, with what the reader saw of that thread before; each once.
    pub(super) crossings: Vec<Clue>,
    /// Triples by what their first two accesses read or wrote; each once.
    pub(super) valued: Vec<(Values, Clue)>,
    /// What is read and written where; empty for a failing run.
    pub(super) usual_values: FxHashSet<(SiteId, Value)>,
    /// Empty for a failing run: what that shows is no proof of anything.
    pub(super) orders: Orders,
    /// How far the run came.
    pub(super) reach: Arc<Reach>,
    /// Which sites belong to the same calls, as far as that was known.
    pub(super) calls: Arc<Calls>,
    /// Where the run frees memory that threads share.
    pub(super) free_sites: Vec<SiteId>,
    pub(super) pairs: locon::Pairs,
    pub(super) standstills: Vec<Standstill>,
}

/// A pattern that a run shows.
#[derive(Clone, Debug)]
pub(crate) struct Clue {
    pub pattern: Pattern,
    /// Whether it may be a cause by itself.
    pub is_clue: bool,
    /// Where the run shows it first; nothing for a passing run, which is no example.
    pub sighting: Option<Sighting>,
}

/// Where a run shows a clue first.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sighting {
    /// The shape in which it shows itself here.
    pub shape: Shape,
    /// Global indices in time order; as many as the shape has steps.
    indices: [u32; Pattern::MAX_ACCESSES],
    threads: [ThreadId; Pattern::MAX_ACCESSES],
    locations: [LocationId; Pattern::MAX_ACCESSES],
    /// Which of its accesses are updates.
    updates: [bool; Pattern::MAX_ACCESSES],
    /// Whether all of its accesses are updates.
    pub is_atomic: bool,
    /// Whether all of them are to what is only ever counted (`tallies.rs`).
    pub is_tally: bool,
    /// Whether an access but the last frees the memory that a later one, by another thread, still uses.
    pub uses_freed: bool,
    /// The same, where it is no guess which of the two came first.
    pub surely_uses_freed: bool,
    /// Which of its accesses are the very first to their location, and write.
    sets_up: [bool; Pattern::MAX_ACCESSES],
    /// Whether the creation or the end of a thread keeps one of its two variables in order; of a pair or a triple, all of it.
    pub is_kept_in_order: bool,
    /// Whether each of two threads does its steps in close succession.
    pub is_close: bool,
    /// Whether the thread of its first access has created that of its second, if it is close.
    pub is_by_creator: bool,
    /// Whether it begins with a look after which the thread waits and then goes on without another one, though it is not as it was.
    pub is_tested_once: bool,
}

/// So many accesses after the one that changes what a thread had tested before it waited, it has gone on.
const GOES_ON: usize = 1024;

/// So many shared accesses of a thread, and so many of all threads, may come in between two that are close.
const CLOSE: usize = 8;
const CLOSE_OF_ALL: u32 = 64;

/// One thread's access before another's on the same location.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Order {
    pub threads: [ThreadId; 2],
    pub accesses: [u32; 2],
}

impl Order {
    /// Whether this order follows from `other`, and not the other way round (see Locon's `prediction.rs`).
    pub fn is_predicted_by(&self, other: &Self) -> bool {
        let ([head, tail], [other_head, other_tail]) = (self.accesses, other.accesses);
        self != other && self.threads == other.threads && head <= other_head && other_tail <= tail
    }
}

impl Sighting {
    pub(super) fn new(scan: &Scan, occurrence: &Occurrence) -> Self {
        let (run, accesses) = (scan.run, occurrence.accesses());
        let mut sighting = Self {
            shape: occurrence.shape,
            indices: [0; Pattern::MAX_ACCESSES],
            threads: [ThreadId(0); Pattern::MAX_ACCESSES],
            locations: [LocationId(0); Pattern::MAX_ACCESSES],
            updates: [false; Pattern::MAX_ACCESSES],
            is_atomic: accesses.iter().all(|&index| run.accesses[index as usize].kind == AccessKind::Update),
            is_tally: scan.tallies().have_all(&scan.histories, accesses),
            uses_freed: false,
            surely_uses_freed: false,
            sets_up: [false; Pattern::MAX_ACCESSES],
            is_kept_in_order: false,
            is_close: false,
            is_by_creator: false,
            is_tested_once: false,
        };
        for (nth, &index) in accesses.iter().enumerate() {
            let access = &run.accesses[index as usize];
            sighting.indices[nth] = index;
            sighting.threads[nth] = access.thread;
            sighting.locations[nth] = access.location;
            sighting.updates[nth] = access.kind == AccessKind::Update;
            sighting.sets_up[nth] = access.kind.writes() && scan.histories.is_first(index);
        }
        let ends = |order: Order| order.accesses.map(|index| &run.accesses[index as usize]);
        let uses_freed = sighting.orders().map(ends).any(|[head, _]| head.frees);
        let is_sure = |[head, tail]: [&Access; 2]| head.frees && !head.uncertain && !tail.uncertain;
        let surely_uses_freed = sighting.orders().map(ends).any(is_sure);
        let is_close = sighting.span() <= CLOSE_OF_ALL && sighting.are_own_steps_close(run);
        let is_by_creator = is_close && sighting.is_by_creator(run);
        let is_tested_once = sighting.is_tested_once(run);
        Self { uses_freed, surely_uses_freed, is_close, is_by_creator, is_tested_once, ..sighting }
    }

    fn is_tested_once(&self, run: &Run) -> bool {
        let [test, change] = [self.indices[0] as usize, self.indices[1] as usize];
        let [tested, changed] = [test, change].map(|index| &run.accesses[index]);
        if self.shape.len() == Shape::MAX_STEPS
            || tested.kind != AccessKind::Read
            || !changed.kind.writes()
            || changed.thread == tested.thread
        {
            return false;
        }
        let own = |index: &usize| {
            (run.accesses[*index].thread, run.accesses[*index].location) == (tested.thread, tested.location)
        };
        let until = run.accesses.len().min(change + GOES_ON);
        let waits = |event: &&SyncEvent| event.thread == tested.thread && event.kind == SyncKind::WaitBegin;
        let from = run.synchronization.partition_point(|event| event.before <= test);
        let Some(begun) = run.synchronization[from..].iter().position(|event| waits(&event)) else {
            return false;
        };
        let wait = run.synchronization[from + begun];
        // Who waits for something else, as a pool's thread for its next task, has not looked at whether it has to.
        let lock = standstill::given_back_by(run, &run.synchronization[from + begun..]);
        let is_held = |lock: ObjectId| {
            run.held(tested).is_none_or(|held| held.iter().any(|known| known.object == lock))
        };
        if wait.before >= until || !lock.is_none_or(is_held) {
            return false;
        }
        let next = (test + 1..until).find(own);
        next.is_some_and(|next| {
            change < next
                && wait.before <= next
                && run.accesses[next].site != tested.site
                && !tests_again(run, &wait, next)
        })
    }

    fn is_by_creator(&self, run: &Run) -> bool {
        let &[creator, created, ..] = self.threads() else { return false };
        let mut events = run.synchronization.iter();
        events.any(|event| {
            event.thread == creator
                && event.kind == SyncKind::Create
                && event.target == SyncTarget::Thread(created)
        })
    }

    /// Whether no thread does much else, on what threads share, between its steps.
    fn are_own_steps_close(&self, run: &Run) -> bool {
        let steps = self.accesses().iter().zip(self.threads());
        let mut both_ends: Vec<(ThreadId, [u32; 2])> = Vec::with_capacity(Pattern::MAX_ACCESSES);
        for (&index, &thread) in steps {
            match both_ends.iter_mut().find(|(known, _)| *known == thread) {
                Some((_, [first, last])) => (*first, *last) = (index.min(*first), index.max(*last)),
                None => both_ends.push((thread, [index; 2])),
            }
        }
        both_ends.iter().all(|&(thread, [first, last])| {
            let between = &run.accesses[first as usize..last as usize];
            between.iter().filter(|access| access.thread == thread).count() <= CLOSE
        })
    }

    /// Global indices of the accesses, in time order.
    pub fn accesses(&self) -> &[u32] {
        &self.indices[..self.shape.len()]
    }

    /// The threads of the accesses.
    pub fn threads(&self) -> &[ThreadId] {
        &self.threads[..self.shape.len()]
    }

    /// Where it updates, of the sites of its pattern.
    pub fn updates<'p>(&'p self, pattern: &'p Pattern) -> impl Iterator<Item = SiteId> + 'p {
        pattern.sites().iter().zip(&self.updates).filter(|(_, updates)| **updates).map(|(&site, _)| site)
    }

    /// Whether the access at this place is the very first to its location, a write.
    pub fn sets_up(&self, place: usize) -> bool {
        self.sets_up[place]
    }

    /// The accesses, by their place in it, of another thread to what one of its own accesses set up; with the place of that.
    pub fn uses_of_what_it_sets_up(&self) -> impl Iterator<Item = [usize; 2]> + '_ {
        self.conflicts().filter(|&[head, _]| self.sets_up[head])
    }

    /// How many accesses it spans.
    pub fn span(&self) -> u32 {
        let first = self.accesses().iter().copied().min().unwrap_or(0);
        self.completed() - first + 1
    }

    /// When it is complete.
    pub fn completed(&self) -> u32 {
        self.accesses().iter().copied().max().unwrap_or(0)
    }

    /// When all of its orders have made a difference: one in which a read comes too early, an update's included, does so at that read, any
    /// other when the later access finds, or overwrites, what the earlier one left.
    pub fn felt(&self) -> u32 {
        let is_read =
            |place: usize| self.shape.steps().nth(place).is_some_and(|step| step.kind == AccessKind::Read);
        let reads = |place: usize| self.updates[place] || is_read(place);
        let felt = self.conflicts().map(|[head, tail]| self.indices[if reads(head) { head } else { tail }]);
        felt.max().unwrap_or_else(|| self.completed())
    }

    /// Which accesses come before which: one order for a pair, two for triples and quadruples.
    pub(super) fn orders(&self) -> impl Iterator<Item = Order> + '_ {
        self.conflicts().map(|ends| Order {
            threads: ends.map(|end| self.threads[end]),
            accesses: ends.map(|end| self.indices[end]),
        })
    }

    /// The same, by their places in it.
    fn conflicts(&self) -> impl Iterator<Item = [usize; 2]> + '_ {
        let is_conflict = |&[head, tail]: &[usize; 2]| {
            self.locations[head] == self.locations[tail] && self.threads[head] != self.threads[tail]
        };
        let steps = self.shape.len();
        (0..steps).flat_map(move |tail| (0..tail).map(move |head| [head, tail])).filter(is_conflict)
    }
}

impl Clues {
    /// Makes them those of another run.
    pub fn rename(&mut self, run: RunId) {
        self.run = run;
        self.pairs.run = run;
    }
}

/// The clues that a run shows.
pub(crate) fn clues(scan: &Scan) -> Clues {
    let run = scan.run;
    let mut seen: Vec<Clue> = Vec::new();
    let mut add = |(suspect, occurrence): &(Suspect, Occurrence), is_clue| {
        let sighting = run.outcome.is_failing().then(|| Sighting::new(scan, occurrence));
        seen.push(Clue { pattern: suspect.pattern, is_clue, sighting });
    };
    let mut known: FxHashSet<Pattern> = FxHashSet::default();
    for suspect in pairs_and_triples(scan) {
        known.insert(suspect.0.pattern);
        add(&suspect, true);
    }
    for suspect in &scan.unicorn().suspects {
        let is_clue = suspect.0.pattern.shape().len() == Shape::MAX_STEPS;
        if known.insert(suspect.0.pattern) || is_clue {
            add(suspect, is_clue);
        }
    }
    // The same code may read at one time and update at another.
    for (pattern, occurrence) in crossings::with_updates(scan) {
        if known.insert(pattern) {
            add(&(pattern.into(), occurrence), true);
        }
    }
    let mut valued = values::valued(scan);
    let noted = |(pattern, occurrence): (Pattern, Occurrence)| {
        let sighting = run.outcome.is_failing().then(|| Sighting::new(scan, &occurrence));
        Clue { pattern, is_clue: false, sighting }
    };
    let crossings = crossings::crossings(scan).into_iter().map(noted).collect();
    let valued_too = valued.iter_mut().map(|(_, clue)| clue);
    let sightings = seen.iter_mut().chain(valued_too).filter_map(|clue| clue.sighting.as_mut());
    note_what_threads_keep_in_order(run, sightings.collect());
    let mut orders = Orders::default();
    if !run.outcome.is_failing() {
        orders = orders::orders(&scan.histories);
        orders.visit(scan.sites().keys().copied());
        orders.visit(run.observations.iter().map(|observation| observation.site));
        orders.visit(run.free_sites.iter().copied());
    }
    Clues {
        reach: Reach::of(scan),
        run: run.id,
        outcome: run.outcome,
        way: run.way,
        overlooked: run.sampled.map_or(0.0, |sampled| 1.0 - sampled as f64 / 1e6),
        seen,
        valued,
        usual_values: if run.outcome.is_failing() { FxHashSet::default() } else { values::at_sites(run) },
        crossings,
        orders,
        calls: Arc::clone(&run.calls),
        free_sites: run.free_sites.clone(),
        pairs: scan.pairs().clone(),
        // A crash may come while threads wait for what would have come.
        standstills: if run.outcome == Outcome::Fail { Vec::new() } else { standstill::standstills(run) },
    }
}

/// Of a quadruple, what is left of it if one of its variables is kept in order is said by the other. A pair or a triple is kept in order as a whole or not at all.
fn note_what_threads_keep_in_order(run: &Run, mut sightings: Vec<&mut Sighting>) {
    let accesses = sightings.iter().flat_map(|sighting| sighting.accesses()).map(|&index| index as usize);
    let order = HappensBefore::by_threads(run, accesses);
    for sighting in &mut sightings {
        let is_kept =
            |of: Order| order.orders(of.accesses[0] as usize, of.accesses[1] as usize) == Some(true);
        sighting.is_kept_in_order = match sighting.shape.len() {
            Shape::MAX_STEPS => sighting.orders().any(is_kept),
            _ => sighting.orders().next().is_some() && sighting.orders().all(is_kept),
        };
    }
}

fn pairs_and_triples(scan: &Scan) -> impl Iterator<Item = (Suspect, Occurrence)> {
    let digest = scan.digest();
    let pairs = digest.pairs(scan, |known| known.is_immediate.then_some(known.id));
    let triples = digest.triples(scan, |known| known.depends.then(|| known.written.unwrap_or(known.id)));
    pairs.suspects.into_iter().chain(triples.suspects)
}
