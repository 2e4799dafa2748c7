//! What is ordered by synchronization, and what only by luck.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::run::{LocationId, Run, ThreadId};
use crate::synchronization::{ObjectId, SyncKind, SyncTarget};

/// Work beyond this many comparisons of clocks takes longer than anybody wants to wait for one run.
const MOST_WORK: usize = 100_000_000;

/// The happens-before relation between some accesses of a run.
///
/// An edge is assumed wherever there may be one: every access to a location that is ever accessed atomically is taken
/// to synchronize, whatever its memory order. (The access that ends a turn is on record without saying that it is atomic.)
/// So what is unordered here is unordered indeed, while what is ordered may be so by luck.
#[derive(Clone, Debug, Default)]
pub struct HappensBefore {
    /// By the index of the access.
    stamps: FxHashMap<usize, Stamp>,
}

#[derive(Clone, Debug)]
struct Stamp {
    thread: ThreadId,
    clock: Clock,
}

/// How far each thread had come, by [`ThreadId`]; missing entries are zero.
type Clock = Vec<u32>;

impl HappensBefore {
    /// Computes it for the accesses with these indices; `atomics` are the locations that are accessed atomically. In a
    /// run with very many threads and events nothing is known, nor in one whose atomic accesses were left out.
    pub fn of(run: &Run, atomics: &FxHashSet<LocationId>, accesses: &[usize]) -> Self {
        let threads = run.accesses.iter().map(|access| access.thread.0).max().unwrap_or(0) as usize + 1;
        let events = run.accesses.iter().filter(|access| atomics.contains(&access.location)).count();
        if run.sampled.is_some() || threads.saturating_mul(run.synchronization.len() + events) > MOST_WORK {
            return Self::default();
        }
        let mut wanted: Vec<usize> = accesses.to_vec();
        wanted.sort_unstable();
        wanted.dedup();
        let mut clocks = Clocks::default();
        let mut stamps = FxHashMap::default();
        let mut events = run.synchronization.iter().peekable();
        for (index, access) in run.accesses.iter().enumerate() {
            while let Some(event) = events.next_if(|event| event.before <= index) {
                clocks.synchronize(event.thread, event.kind, event.target);
            }
            let is_atomic = atomics.contains(&access.location);
            if is_atomic {
                clocks.acquire(access.thread, Channel::Atomic(access.location));
            }
            if wanted.binary_search(&index).is_ok() {
                let clock = clocks.of(access.thread).clone();
                stamps.insert(index, Stamp { thread: access.thread, clock });
            }
            if is_atomic && access.kind.writes() {
                clocks.release(access.thread, Channel::Atomic(access.location));
            }
        }
        Self { stamps }
    }

    /// The same, but by nothing else than the creation and the end of threads: what these order can never be the other way
    /// round.
    pub(crate) fn by_threads(run: &Run, accesses: impl IntoIterator<Item = usize>) -> Self {
        let mut events = run.synchronization.iter().filter(|event| event.kind.concerns_thread()).peekable();
        let mut wanted: Vec<usize> = accesses.into_iter().collect();
        wanted.sort_unstable();
        wanted.dedup();
        let threads =
            wanted.iter().map(|&index| run.accesses[index].thread.0).max().unwrap_or(0) as usize + 1;
        if events.peek().is_none() || threads.saturating_mul(wanted.len() + threads) > MOST_WORK {
            return Self::default();
        }
        let mut clocks = Clocks::default();
        let mut stamps = FxHashMap::default();
        for index in wanted {
            while let Some(event) = events.next_if(|event| event.before <= index) {
                clocks.synchronize(event.thread, event.kind, event.target);
            }
            let thread = run.accesses[index].thread;
            stamps.insert(index, Stamp { thread, clock: clocks.of(thread).clone() });
        }
        Self { stamps }
    }

    /// Whether synchronization made the access `first` happen before `second`; none if that is not known.
    pub fn orders(&self, first: usize, second: usize) -> Option<bool> {
        let (first, second) = (self.stamps.get(&first)?, self.stamps.get(&second)?);
        let thread = first.thread.0 as usize;
        let reached = |clock: &Clock| clock.get(thread).copied().unwrap_or(0);
        Some(first.thread == second.thread || reached(&first.clock) <= reached(&second.clock))
    }
}

/// What one thread can learn from another by.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Channel {
    Object(ObjectId),
    Atomic(LocationId),
    /// The creation or the end of a thread.
    Thread(ThreadId),
}

#[derive(Default)]
struct Clocks {
    threads: FxHashMap<ThreadId, Clock>,
    channels: FxHashMap<Channel, Clock>,
}

impl Clocks {
    fn of(&mut self, thread: ThreadId) -> &mut Clock {
        self.threads.entry(thread).or_insert_with(|| {
            let mut clock = vec![0; thread.0 as usize + 1];
            clock[thread.0 as usize] = 1;
            clock
        })
    }

    fn release(&mut self, thread: ThreadId, channel: Channel) {
        let own = self.of(thread).clone();
        join(self.channels.entry(channel).or_default(), &own);
        self.of(thread)[thread.0 as usize] += 1;
    }

    fn acquire(&mut self, thread: ThreadId, channel: Channel) {
        if let Some(known) = self.channels.get(&channel).cloned() {
            join(self.of(thread), &known);
        }
    }

    fn synchronize(&mut self, thread: ThreadId, kind: SyncKind, target: SyncTarget) {
        let channel = match target {
            SyncTarget::Object(object) => Channel::Object(object),
            // A start hears from the creation of its own thread.
            SyncTarget::Thread(_) if kind == SyncKind::Start => Channel::Thread(thread),
            SyncTarget::Thread(other) => Channel::Thread(other),
        };
        match kind {
            SyncKind::Release
            | SyncKind::ReleaseShared
            | SyncKind::Signal
            | SyncKind::Broadcast
            | SyncKind::Post
            | SyncKind::Arrive
            | SyncKind::Create
            | SyncKind::End => self.release(thread, channel),
            SyncKind::Acquire
            | SyncKind::AcquireShared
            | SyncKind::WaitEnd
            | SyncKind::Lower
            | SyncKind::Leave
            | SyncKind::Start
            | SyncKind::Join => self.acquire(thread, channel),
            SyncKind::WaitBegin => {}
        }
    }
}

fn join(clock: &mut Clock, other: &Clock) {
    if clock.len() < other.len() {
        clock.resize(other.len(), 0);
    }
    for (own, other) in clock.iter_mut().zip(other) {
        *own = (*own).max(*other);
    }
}
