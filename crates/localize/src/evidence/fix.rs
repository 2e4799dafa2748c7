//! A change to the program, in terms of a finding.

use crate::run::{Access, Run, StackId};
use crate::synchronization::ObjectId;

/// What kind of change a finding asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Action {
    /// Keep a lock that is held already, instead of giving it back in between.
    ExtendLock,
    /// Take a lock that others take for the same data.
    TakeLock,
    /// Guard the accesses by one lock; there is none yet that all could use.
    AddLock,
    /// Guard the accesses by the same lock, instead of each by another.
    UseOneLock,
    /// Make a load and a store one atomic operation.
    AtomicOperation,
    /// Read once and keep what was found, instead of looking again.
    ReadOnce,
    /// Wait for the end of a thread first.
    Join,
    /// Construct what is destroyed when the process ends before what waits for a thread that uses it.
    ConstructFirst,
    /// Create a thread only when all is ready for it.
    CreateLater,
    /// Make something known to other threads only when all is ready for them.
    PublishLater,
    /// Wait until another thread has done its part.
    Wait,
    /// Take locks in the same order everywhere.
    LockOrder,
    /// Test a condition in a loop around the wait for it, without giving the lock back in between.
    WaitInLoop,
    /// Test anew after a wait what was tested before it.
    TestAgain,
    /// Look whether another thread has changed it before it is written over, since a lock was given back.
    LookAgain,
    /// Look once more after a lock was given back that others do not wait for, since they leave their part to its holder.
    LookAfterUnlock,
    /// Signal a condition only when what it is about was done.
    SignalLater,
    /// Wait for a number of rounds to change, not for what is so for a moment.
    CountRounds,
    /// Give a lock back on every way out.
    Unlock,
    /// Do not take a lock that the thread holds already.
    TakeOnce,
    /// Do not wait for what another thread does only with the lock that the waiting one holds.
    WaitUnlocked,
    /// Wake all who wait for a condition.
    WakeAll,
    /// Signal a condition after each change that somebody waits for.
    SignalEach,
}

/// A change, in terms of the finding's accesses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fix {
    /// What to do.
    pub action: Action,
    /// The locks that it is about.
    pub locks: Vec<ObjectId>,
    /// Where: the first for the thread that must change.
    pub spans: Vec<Span>,
    /// The creation of a thread that it is about, by its place in [`Run::synchronization`](crate::Run::synchronization).
    pub creation: Option<usize>,
    /// An access that is not part of the finding, by its global index: spans count it as the one behind the last. It is
    /// what a thread wrote back, or what it looked at before all others.
    pub further: Option<usize>,
    /// What the other thread read before its access, by its global index: a lock over that access is to be taken before
    /// it, or what was read is outdated all the same.
    pub read_before: Option<usize>,
    /// Locks that are held already where another one is to be taken.
    pub held: Vec<ObjectId>,
    /// The calls of a thread that waits with a lock in its hand, or sleeps where it should wait.
    pub waits_at: Option<StackId>,
}

impl Fix {
    /// One of which nothing is known but what to do, with which locks and where.
    pub fn plain(action: Action, locks: Vec<ObjectId>, spans: Vec<Span>) -> Self {
        Self {
            action,
            locks,
            spans,
            creation: None,
            further: None,
            read_before: None,
            held: Vec::new(),
            waits_at: None,
        }
    }

    /// Whether a lock that it asks to be held longer was taken at the same place both times: who comes there again is in another round.
    pub fn is_of_two_rounds(&self, run: &Run, accesses: &[usize]) -> bool {
        let all: Vec<usize> = accesses.iter().copied().chain(self.further).collect();
        let taken_at = |place: usize| {
            let locks = all.get(place).and_then(|&index| run.held(&run.accesses[index])).unwrap_or_default();
            locks.iter().find(|lock| self.locks.contains(&lock.object)).map(|lock| lock.taken_at)
        };
        let is_same = |span: &Span| taken_at(span.from).is_some() && taken_at(span.from) == taken_at(span.to);
        self.action == Action::ExtendLock && self.spans.iter().any(is_same)
    }

    /// Whether its locks, which are held for reading now, have to be held for writing; `accesses` are those of the finding. Who only reads, and
    /// whom nobody breaks in on but under the lock for writing, need only hold it longer.
    pub fn is_for_writing(&self, run: &Run, accesses: &[usize]) -> bool {
        let all: Vec<&Access> =
            accesses.iter().copied().chain(self.further).map(|at| &run.accesses[at]).collect();
        let held = |access: &Access, shared: bool| {
            let locks = run.held(access).unwrap_or_default();
            locks.iter().any(|lock| lock.shared == shared && self.locks.contains(&lock.object))
        };
        let ends = self.spans.iter().flat_map(|span| [span.from, span.to]);
        let own: Vec<&Access> = ends.filter_map(|at| all.get(at).copied()).collect();
        if !own.iter().any(|access| held(access, true)) {
            return false;
        }
        let is_own = |access: &Access| own.iter().any(|own| own.thread == access.thread);
        let is_right = |access: &&Access| match is_own(access) {
            true => !access.kind.writes() && held(access, true),
            false => held(access, false),
        };
        self.action != Action::ExtendLock || !all.iter().all(is_right)
    }
}

/// From one access of a thread to another of its own, or the same one; both are places in the finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// The first access.
    pub from: usize,
    /// The last access.
    pub to: usize,
}

pub(super) fn distinct(mut locks: Vec<ObjectId>) -> Vec<ObjectId> {
    locks.sort_unstable();
    locks.dedup();
    locks
}
