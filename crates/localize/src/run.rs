//! What every technique reads: one run as the accesses of its threads to shared locations, in time order, and how
//! the threads synchronized.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::synchronization::{Holding, Lock, Nesting, Sleep, SyncEvent, Wait};

/// A static place in code, the same number in every run of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SiteId(pub u32);

/// A call stack, the same number in every run of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StackId(pub u32);

/// A thread of one run. Means nothing in another run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ThreadId(pub u32);

/// A location of one run. Means nothing in another run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LocationId(pub u32);

/// The set of locks a thread holds at an access. Means nothing in another run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LocksetId(pub u32);

/// A run of the session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RunId(pub u32);

/// What an access does to its location.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AccessKind {
    /// Reads the location.
    Read,
    /// Writes the location.
    Write,
    /// An atomic read-modify-write: a read and then a write, by one thread at one site, with nobody in between.
    Update,
}

impl AccessKind {
    /// Whether the location may hold another value afterwards.
    pub fn writes(self) -> bool {
        self != Self::Read
    }

    /// Read or write: an update is a write.
    pub(crate) fn as_written(self) -> Self {
        if self.writes() { Self::Write } else { Self::Read }
    }
}

/// One access. Its position in [`Run::accesses`] is its global index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// The thread that made it.
    pub thread: ThreadId,
    /// The location it touched.
    pub location: LocationId,
    /// Where in the code it was made: the same for all copies that a compiler made of one place.
    pub site: SiteId,
    /// The calls that led there, with the very place as the innermost.
    pub stack: StackId,
    /// What it did.
    pub kind: AccessKind,
    /// Its place in the order is a guess: it raced with its neighbour while the program ran freely.
    pub uncertain: bool,
    /// The value read, or written, where it is known.
    pub value: Option<u64>,
    /// The value that a write found before it, where that is known.
    pub before: Option<u64>,
    /// The locks held by the thread, where that is known.
    pub locks: Option<LocksetId>,
    /// Where in the innermost loop around it, where that is known.
    pub iteration: Option<LoopPosition>,
    /// An atomic operation, which other threads may rely on.
    pub atomic: bool,
    /// This write is the freeing of the memory.
    pub frees: bool,
}

/// A place in the course of a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LoopPosition {
    /// Which execution of which loop: a number that the thread uses for nothing else in this run.
    pub entry: u32,
    /// How often its body was begun before.
    pub iteration: u32,
}

/// A site that was executed just after its own thread, or just after another, had accessed the location.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Observation {
    /// The site.
    pub site: SiteId,
    /// At least once after its own thread.
    pub local: bool,
    /// At least once after another thread.
    pub remote: bool,
}

/// How a run ended. A damaged run has no outcome and never gets here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Outcome {
    /// The test passed.
    Pass,
    /// The test failed.
    Fail,
    /// The test did not end in time.
    Hang,
}

impl Outcome {
    /// Whether the run counts as failing.
    pub fn is_failing(self) -> bool {
        self != Self::Pass
    }
}

/// A place where accesses to a location are missing, so that nothing may be concluded across it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gap {
    /// The location whose accesses are missing.
    pub location: LocationId,
    /// They are missing before the access with this global index.
    pub before: usize,
}

/// For sites within libraries, one of the sites of the same call by the program's own code.
pub type Calls = FxHashMap<SiteId, SiteId>;

/// One execution of the test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// Which run of the session this is.
    pub id: RunId,
    /// How it ended.
    pub outcome: Outcome,
    /// All recorded accesses, in time order.
    pub accesses: Vec<Access>,
    /// All gaps, by ascending [`Gap::before`].
    pub gaps: Vec<Gap>,
    /// How it was scheduled, by some number: outcomes are compared among runs of the same way.
    pub way: u32,
    /// How many of a million accesses were looked at, if not all.
    pub sampled: Option<u64>,
    /// What was observed at sites besides what the accesses show, each site at most once. The sites of both are
    /// all that touched shared memory.
    pub observations: Vec<Observation>,
    /// The sites that freed memory which threads share, ascending. A free that nobody's access follows is no access.
    pub free_sites: Vec<SiteId>,
    /// The sets of locks that threads held, by [`LocksetId`]; the first is the empty set. Locks are in the order in
    /// which they were taken.
    pub locksets: Vec<Vec<Lock>>,
    /// What threads did at locks, conditions and the like, and to each other, in time order.
    pub synchronization: Vec<SyncEvent>,
    /// Which thread took a lock while it held others: each combination at least once.
    pub nestings: Vec<Nesting>,
    /// The threads that waited when the run ended.
    pub waits: Vec<Wait>,
    /// The threads that still held locks.
    pub holdings: Vec<Holding>,
    /// Where threads slept, in time order. Who does so again and again is told of once.
    pub sleeps: Vec<Sleep>,
    /// Of these sites and others, as far as it is known. What is known later includes what was known before.
    pub calls: Arc<Calls>,
}

impl Run {
    /// The locks held at an access, in the order in which they were taken; none if that is not known.
    pub fn held(&self, access: &Access) -> Option<&[Lock]> {
        self.locksets.get(access.locks?.0 as usize).map(Vec::as_slice)
    }

    /// Has what is known of sites in order, and of each once.
    pub(crate) fn sort_sites(&mut self) {
        self.free_sites.sort_unstable();
        self.free_sites.dedup();
        self.observations.sort_unstable_by_key(|seen| seen.site);
        self.observations.dedup_by(|next, kept| {
            let is_same = next.site == kept.site;
            kept.local |= is_same && next.local;
            kept.remote |= is_same && next.remote;
            is_same
        });
    }

    /// A run in which nothing happened yet.
    pub fn new(id: RunId, outcome: Outcome) -> Self {
        Self {
            id,
            outcome,
            accesses: Vec::new(),
            gaps: Vec::new(),
            way: 0,
            sampled: None,
            observations: Vec::new(),
            free_sites: Vec::new(),
            locksets: vec![Vec::new()],
            synchronization: Vec::new(),
            nestings: Vec::new(),
            waits: Vec::new(),
            holdings: Vec::new(),
            sleeps: Vec::new(),
            calls: Arc::default(),
        }
    }
}
