//! Methods of the Java library that mean something: locks, waiting, atomic variables. What counts is what they mean
//! to their caller, not what they are made of.
//!
//! Adding a method is one line in [`TABLE`].

use crate::accesses::Phase;
use Meaning::*;
use When::*;

/// What a call of an intercepted method means. `this` is the object meant, if nothing else is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// A lock is about to be taken, or waited for.
    Wants,
    /// A lock was taken.
    Acquired,
    /// A lock was taken if the result is true.
    AcquiredIfTrue,
    /// A lock is given back.
    Released,
    /// A lock was taken for reading.
    AcquiredShared,
    /// The same if the result is true.
    AcquiredSharedIfTrue,
    /// A read lock is given back.
    ReleasedShared,
    /// A lock was given back if the result is true.
    ReleasedIfTrue,
    /// A lock that may have been taken in another way was taken if the result is true.
    ConvertedIfTrue,
    /// The same for reading.
    ConvertedSharedIfTrue,
    /// The thread is about to wait in a way that the virtual machine does not tell us about.
    Blocks,
    /// The thread is about to park.
    Parks,
    /// The same, for some time at most.
    ParksForTime,
    /// It has parked.
    Parked,
    /// Another thread, which is passed in place of `this`, is about to be woken.
    Wakes,
    /// A wait for a condition begins.
    WaitBegins,
    /// It is over.
    WaitEnds,
    /// One waiting thread is woken.
    Signals,
    /// All waiting threads are woken.
    SignalsAll,
    /// A semaphore was lowered.
    SemaphoreTaken,
    /// It was if the result is true.
    SemaphoreTakenIfTrue,
    /// A semaphore is raised.
    SemaphoreGiven,
    /// A thread is about to be started.
    Starts,
    /// A thread was started.
    Started,
    /// A thread is about to be waited for.
    Joins,
    /// A thread was waited for.
    Joined,
    /// The thread is about to end by an exception that nobody has caught.
    Dies,
    /// An atomic variable is read.
    Reads,
    /// An atomic variable is written.
    Writes,
    /// An atomic variable is read and written in one step.
    Updates,
    /// The same, when it is done.
    WillUpdate,
    /// It was updated.
    Updated,
    /// It was updated if the result is true; only read if not.
    UpdatedIfTrue,
    /// As above, for the element of an atomic array whose number is the first argument.
    ReadsElement,
    /// See above.
    WritesElement,
    /// See above.
    UpdatesElement,
}

impl Meaning {
    /// Is it an access to the object's one value or to an element?
    pub fn is_access(self) -> bool {
        self.takes_element()
            || matches!(self, Reads | Writes | Updates | WillUpdate | Updated | UpdatedIfTrue)
    }

    /// Is the thread about to park?
    pub fn is_park(self) -> bool {
        matches!(self, Parks | ParksForTime)
    }

    /// How much of an access it tells.
    pub fn phase(self) -> Phase {
        match self {
            WillUpdate => Phase::Approach,
            Updated | UpdatedIfTrue => Phase::Done,
            _ => Phase::Whole,
        }
    }

    /// Is the number of an element passed to the hook?
    pub fn takes_element(self) -> bool {
        matches!(self, ReadsElement | WritesElement | UpdatesElement)
    }

    /// Is it about a condition, which belongs to a lock and is not that lock?
    pub fn is_about_condition(self) -> bool {
        matches!(self, WaitBegins | WaitEnds | Signals | SignalsAll)
    }

    /// Is it the beginning or the end of a wait?
    pub fn is_wait(self) -> bool {
        matches!(self, WaitBegins | WaitEnds)
    }

    /// Has it happened by then?
    pub fn has_happened(self) -> bool {
        self.takes_result() || matches!(self, Acquired | AcquiredShared | SemaphoreTaken | Joined)
    }

    /// Is the method's result passed to the hook? One other than zero counts as true.
    pub fn takes_result(self) -> bool {
        matches!(
            self,
            AcquiredIfTrue
                | AcquiredSharedIfTrue
                | ReleasedIfTrue
                | ConvertedIfTrue
                | ConvertedSharedIfTrue
                | SemaphoreTakenIfTrue
                | UpdatedIfTrue
        )
    }
}

/// When the hook is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// At the method's start.
    Entry,
    /// Before it returns.
    Return,
}

/// The methods of one class.
pub struct Intercepted {
    /// As in `java/lang/Thread`.
    pub class: &'static str,
    /// Name, when, and what it means; all methods of that name.
    pub methods: &'static [(&'static str, When, Meaning)],
}

const THREAD: &[(&str, When, Meaning)] = &[
    ("start", Entry, Starts),
    ("start", Return, Started),
    ("join", Entry, Joins),
    ("join", Return, Joined),
    ("interrupt", Entry, Wakes),
    ("dispatchUncaughtException", Entry, Dies),
];

const LOCK: &[(&str, When, Meaning)] = &[
    ("lock", Entry, Wants),
    ("lock", Return, Acquired),
    ("lockInterruptibly", Entry, Wants),
    ("lockInterruptibly", Return, Acquired),
    ("tryLock", Return, AcquiredIfTrue),
    ("unlock", Entry, Released),
];

const READ_LOCK: &[(&str, When, Meaning)] = &[
    ("lock", Entry, Wants),
    ("lock", Return, AcquiredShared),
    ("lockInterruptibly", Entry, Wants),
    ("lockInterruptibly", Return, AcquiredShared),
    ("tryLock", Return, AcquiredSharedIfTrue),
    ("unlock", Entry, ReleasedShared),
];

const ATOMIC: &[(&str, When, Meaning)] = &[
    ("get", Entry, Reads),
    ("getPlain", Entry, Reads),
    ("getAcquire", Entry, Reads),
    ("getOpaque", Entry, Reads),
    ("intValue", Entry, Reads),
    ("longValue", Entry, Reads),
    ("set", Entry, Writes),
    ("lazySet", Entry, Writes),
    ("setPlain", Entry, Writes),
    ("setRelease", Entry, Writes),
    ("setOpaque", Entry, Writes),
    ("getAndSet", Entry, Updates),
    ("getAndIncrement", Entry, Updates),
    ("getAndDecrement", Entry, Updates),
    ("getAndAdd", Entry, Updates),
    ("incrementAndGet", Entry, Updates),
    ("decrementAndGet", Entry, Updates),
    ("addAndGet", Entry, Updates),
    // The function that computes the new value runs first, and may be run again: the last step counts.
    ("getAndUpdate", Entry, WillUpdate),
    ("getAndUpdate", Return, Updated),
    ("updateAndGet", Entry, WillUpdate),
    ("updateAndGet", Return, Updated),
    ("getAndAccumulate", Entry, WillUpdate),
    ("getAndAccumulate", Return, Updated),
    ("accumulateAndGet", Entry, WillUpdate),
    ("accumulateAndGet", Return, Updated),
    ("compareAndSet", Entry, WillUpdate),
    ("compareAndSet", Return, UpdatedIfTrue),
    ("weakCompareAndSet", Entry, WillUpdate),
    ("weakCompareAndSet", Return, UpdatedIfTrue),
    ("weakCompareAndSetPlain", Entry, WillUpdate),
    ("weakCompareAndSetPlain", Return, UpdatedIfTrue),
    ("weakCompareAndSetVolatile", Entry, WillUpdate),
    ("weakCompareAndSetVolatile", Return, UpdatedIfTrue),
    ("weakCompareAndSetAcquire", Entry, WillUpdate),
    ("weakCompareAndSetAcquire", Return, UpdatedIfTrue),
    ("weakCompareAndSetRelease", Entry, WillUpdate),
    ("weakCompareAndSetRelease", Return, UpdatedIfTrue),
    // Whether it succeeds is seen by a comparison that no hook makes.
    ("compareAndExchange", Entry, Updates),
    ("compareAndExchangeAcquire", Entry, Updates),
    ("compareAndExchangeRelease", Entry, Updates),
];

const ATOMIC_ARRAY: &[(&str, When, Meaning)] = &[
    ("get", Entry, ReadsElement),
    ("getPlain", Entry, ReadsElement),
    ("getAcquire", Entry, ReadsElement),
    ("getOpaque", Entry, ReadsElement),
    ("set", Entry, WritesElement),
    ("lazySet", Entry, WritesElement),
    ("setPlain", Entry, WritesElement),
    ("setRelease", Entry, WritesElement),
    ("setOpaque", Entry, WritesElement),
    ("getAndSet", Entry, UpdatesElement),
    ("getAndIncrement", Entry, UpdatesElement),
    ("getAndDecrement", Entry, UpdatesElement),
    ("getAndAdd", Entry, UpdatesElement),
    ("incrementAndGet", Entry, UpdatesElement),
    ("decrementAndGet", Entry, UpdatesElement),
    ("addAndGet", Entry, UpdatesElement),
    ("getAndUpdate", Entry, UpdatesElement),
    ("updateAndGet", Entry, UpdatesElement),
    ("getAndAccumulate", Entry, UpdatesElement),
    ("accumulateAndGet", Entry, UpdatesElement),
    // Whether it succeeds is not told to the hook, which has room for one number: the element's.
    ("compareAndSet", Entry, UpdatesElement),
    ("weakCompareAndSet", Entry, UpdatesElement),
    ("weakCompareAndSetPlain", Entry, UpdatesElement),
    ("weakCompareAndSetVolatile", Entry, UpdatesElement),
    ("weakCompareAndSetAcquire", Entry, UpdatesElement),
    ("weakCompareAndSetRelease", Entry, UpdatesElement),
    ("compareAndExchange", Entry, UpdatesElement),
    ("compareAndExchangeAcquire", Entry, UpdatesElement),
    ("compareAndExchangeRelease", Entry, UpdatesElement),
];

/// All intercepted methods.
pub const TABLE: &[Intercepted] = &[
    Intercepted { class: "java/lang/Thread", methods: THREAD },
    Intercepted {
        class: "java/util/concurrent/locks/LockSupport",
        methods: &[
            ("park", Entry, Parks),
            ("park", Return, Parked),
            ("parkNanos", Entry, ParksForTime),
            ("parkNanos", Return, Parked),
            ("parkUntil", Entry, ParksForTime),
            ("parkUntil", Return, Parked),
            ("unpark", Entry, Wakes),
        ],
    },
    Intercepted { class: "java/util/concurrent/TimeUnit", methods: &[("sleep", Entry, Blocks)] },
    Intercepted { class: "java/util/concurrent/locks/ReentrantLock", methods: LOCK },
    Intercepted { class: "java/util/concurrent/locks/ReentrantReadWriteLock$WriteLock", methods: LOCK },
    Intercepted { class: "java/util/concurrent/locks/ReentrantReadWriteLock$ReadLock", methods: READ_LOCK },
    Intercepted {
        class: "java/util/concurrent/locks/AbstractQueuedSynchronizer$ConditionObject",
        methods: &[
            ("await", Entry, WaitBegins),
            ("await", Return, WaitEnds),
            ("awaitUninterruptibly", Entry, WaitBegins),
            ("awaitUninterruptibly", Return, WaitEnds),
            ("awaitNanos", Entry, WaitBegins),
            ("awaitNanos", Return, WaitEnds),
            ("awaitUntil", Entry, WaitBegins),
            ("awaitUntil", Return, WaitEnds),
            ("signal", Entry, Signals),
            ("signalAll", Entry, SignalsAll),
        ],
    },
    Intercepted {
        class: "java/util/concurrent/locks/StampedLock",
        methods: &[
            ("writeLock", Entry, Wants),
            ("writeLock", Return, Acquired),
            ("writeLockInterruptibly", Entry, Wants),
            ("writeLockInterruptibly", Return, Acquired),
            ("tryWriteLock", Return, AcquiredIfTrue),
            ("unlockWrite", Entry, Released),
            ("tryUnlockWrite", Return, ReleasedIfTrue),
            ("readLock", Entry, Wants),
            ("readLock", Return, AcquiredShared),
            ("readLockInterruptibly", Entry, Wants),
            ("readLockInterruptibly", Return, AcquiredShared),
            ("tryReadLock", Return, AcquiredSharedIfTrue),
            ("unlockRead", Entry, ReleasedShared),
            ("tryUnlockRead", Return, ReleasedIfTrue),
            ("unlock", Entry, Released),
            ("tryConvertToWriteLock", Return, ConvertedIfTrue),
            ("tryConvertToReadLock", Return, ConvertedSharedIfTrue),
            ("tryConvertToOptimisticRead", Return, ReleasedIfTrue),
        ],
    },
    Intercepted {
        class: "java/util/concurrent/Semaphore",
        methods: &[
            ("acquire", Return, SemaphoreTaken),
            ("acquireUninterruptibly", Return, SemaphoreTaken),
            ("tryAcquire", Return, SemaphoreTakenIfTrue),
            ("release", Entry, SemaphoreGiven),
        ],
    },
    Intercepted { class: "java/util/concurrent/atomic/AtomicInteger", methods: ATOMIC },
    Intercepted { class: "java/util/concurrent/atomic/AtomicLong", methods: ATOMIC },
    Intercepted { class: "java/util/concurrent/atomic/AtomicBoolean", methods: ATOMIC },
    Intercepted { class: "java/util/concurrent/atomic/AtomicReference", methods: ATOMIC },
    Intercepted { class: "java/util/concurrent/atomic/AtomicIntegerArray", methods: ATOMIC_ARRAY },
    Intercepted { class: "java/util/concurrent/atomic/AtomicLongArray", methods: ATOMIC_ARRAY },
    Intercepted { class: "java/util/concurrent/atomic/AtomicReferenceArray", methods: ATOMIC_ARRAY },
];

/// The methods of a class that are intercepted.
pub fn of_class(class: &str) -> Option<&'static Intercepted> {
    TABLE.iter().find(|intercepted| intercepted.class == class)
}

/// In place of such a number: a collection of the library, which may be made of intercepted classes.
pub const COLLECTION: u16 = u16::MAX;

/// A number for each intercepted class, zero for all others.
pub fn class_number(class: &str) -> u16 {
    TABLE.iter().position(|intercepted| intercepted.class == class).map_or(0, |index| index as u16 + 1)
}
