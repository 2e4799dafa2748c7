//! How the threads of a run wait for each other: locks, conditions, semaphores, barriers, and other threads.

use recording::EventKind;

use crate::run::{LocksetId, SiteId, StackId, ThreadId};

/// A lock, condition, semaphore or barrier of one run. Means nothing in another run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectId(pub u32);

/// What a thread did to an object or to another thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SyncKind {
    /// Took a mutex, or a lock for writing.
    Acquire,
    /// Gave it back.
    Release,
    /// Took a lock for reading.
    AcquireShared,
    /// Gave it back.
    ReleaseShared,
    /// Began to wait for a condition.
    WaitBegin,
    /// Waits no longer.
    WaitEnd,
    /// Woke one waiter.
    Signal,
    /// Woke all waiters.
    Broadcast,
    /// Raised a semaphore.
    Post,
    /// Lowered it.
    Lower,
    /// Came to a barrier.
    Arrive,
    /// Left it.
    Leave,
    /// Created a thread.
    Create,
    /// Began.
    Start,
    /// Ended.
    End,
    /// Saw another thread's end.
    Join,
}

/// Whom or what a synchronization is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SyncTarget {
    /// A lock, condition, semaphore or barrier.
    Object(ObjectId),
    /// A thread: the created or joined one; of a start the creator; of an end itself.
    Thread(ThreadId),
}

/// One synchronization. Mutexes are on record only where they change hands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SyncEvent {
    /// It came before the access with this global index, and after those with smaller ones.
    pub before: usize,
    /// The thread that did it.
    pub thread: ThreadId,
    /// What it did.
    pub kind: SyncKind,
    /// To what.
    pub target: SyncTarget,
    /// Where in the code.
    pub site: SiteId,
    /// The calls that led there.
    pub stack: StackId,
}

/// A lock that a thread held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Lock {
    /// Which.
    pub object: ObjectId,
    /// Where in the code it was taken.
    pub taken_in: SiteId,
    /// The calls that led there.
    pub taken_at: StackId,
    /// Others may hold it at the same time: it was taken for reading.
    pub shared: bool,
    /// It was taken because it was free: had it not been, nobody would have waited for it.
    pub tried: bool,
}

/// A thread once held these locks at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Nesting {
    /// The thread.
    pub thread: ThreadId,
    /// The locks, the one taken last at the end.
    pub locks: LocksetId,
}

/// The locks that a thread still held when the run ended, or when it ended itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Holding {
    /// The thread.
    pub thread: ThreadId,
    /// The locks.
    pub locks: LocksetId,
}

/// What a thread waited for when the run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wait {
    /// The thread.
    pub thread: ThreadId,
    /// The operation that did not return.
    pub kind: SyncKind,
    /// For what.
    pub target: SyncTarget,
    /// Where in the code.
    pub site: SiteId,
    /// The calls that led there.
    pub stack: StackId,
    /// The locks that it held meanwhile.
    pub locks: LocksetId,
}

/// A thread slept: whatever others did meanwhile, it did not wait for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sleep {
    /// It began before the access with this global index, and after those with smaller ones.
    pub before: usize,
    /// So many of the run's synchronizations came before.
    pub synchronized: usize,
    /// The thread.
    pub thread: ThreadId,
    /// For how long it meant to.
    pub nanoseconds: u64,
    /// The calls that led there.
    pub stack: StackId,
}

impl SyncKind {
    /// The kind of a recorded event, if it is a synchronization.
    pub(crate) fn of(kind: EventKind) -> Option<Self> {
        Some(match kind {
            EventKind::Acquire => Self::Acquire,
            EventKind::Release => Self::Release,
            EventKind::AcquireShared => Self::AcquireShared,
            EventKind::ReleaseShared => Self::ReleaseShared,
            EventKind::WaitBegin => Self::WaitBegin,
            EventKind::WaitEnd => Self::WaitEnd,
            EventKind::Signal => Self::Signal,
            EventKind::Broadcast => Self::Broadcast,
            EventKind::SemaphorePost => Self::Post,
            EventKind::SemaphoreWait => Self::Lower,
            EventKind::BarrierEnter => Self::Arrive,
            EventKind::BarrierLeave => Self::Leave,
            EventKind::ThreadCreate => Self::Create,
            EventKind::ThreadStart => Self::Start,
            EventKind::ThreadEnd => Self::End,
            EventKind::ThreadJoin => Self::Join,
            _ => return None,
        })
    }

    /// Does it concern a thread rather than an object in memory?
    pub(crate) fn concerns_thread(self) -> bool {
        matches!(self, Self::Create | Self::Start | Self::End | Self::Join)
    }
}
