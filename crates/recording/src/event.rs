//! One event: 32 bytes, appended by one thread to its current chunk.

use crate::layout::Pod;

/// What happened. The numbers are part of the format.
#[repr(u8)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EventKind {
    /// A thread's first read of a location in its turn, or its first at a further site.
    Read = 1,
    /// The first write of a turn.
    Write = 2,
    /// An atomic read-modify-write that opens a turn.
    Update = 3,
    /// Closes a turn: its last read. `other` is the thread whose read it was, `tick` that thread's time.
    LastRead = 4,
    /// Closes a turn: its last write, likewise.
    LastWrite = 5,
    /// Windows of this location end here: events were thinned after this point. `value` is zero, or this begins a
    /// group of events about one handover of those left out, and it is its number at the location.
    Gap = 6,
    /// A mutex or write lock was taken. `value` is the lock's address in this and the following.
    Acquire = 10,
    /// A mutex or write lock is about to be given back.
    Release = 11,
    /// A read lock was taken.
    AcquireShared = 12,
    /// A read lock is about to be given back.
    ReleaseShared = 13,
    /// A wait on a condition variable begins. `value` is the condition's address.
    WaitBegin = 14,
    /// The wait is over.
    WaitEnd = 15,
    /// One waiter is woken.
    Signal = 16,
    /// All waiters are woken.
    Broadcast = 17,
    /// A semaphore is raised.
    SemaphorePost = 18,
    /// A semaphore was lowered.
    SemaphoreWait = 19,
    /// A thread arrives at a barrier.
    BarrierEnter = 20,
    /// A thread leaves a barrier.
    BarrierLeave = 21,
    /// A thread is about to be created. `object` is its id.
    ThreadCreate = 22,
    /// The first event of a thread. `other` is its creator.
    ThreadStart = 23,
    /// The last event of a thread.
    ThreadEnd = 24,
    /// A thread was joined. `object` is its id.
    ThreadJoin = 25,
    /// Heap memory that became shared was allocated here. `object` is the location.
    Allocated = 26,
    /// The process forked. `value` is the child's pid.
    Fork = 28,
    /// A set of held locks: `object` is its id, `other` the set without its last lock, `value` that lock's address.
    Lockset = 29,
    /// From here on the chunk belongs to thread `other`.
    Owner = 30,
    /// The process is ending in an orderly way. `value` is the exit status where known.
    Exit = 31,
    /// In a controlled run, thread `other` ran until here (zero if none did), at the latest until its stop with number
    /// `object`; `leaf` is where this one goes on, `value` counts points. See [`crate::Switch`].
    Switch = 32,
    /// An access in the midst of its thread's turn at `object`, noted once per leaf: such accesses leave no
    /// other record unless they are the last.
    Within = 40,
    /// From `tick` on the innermost loop that thread `other` is in is the one entered as its `object`th, in the
    /// iteration with number `value`.
    Iteration = 41,
    /// The set of locks that the thread holds is `object` from here on. Only the first changes of each thread are told:
    /// the last one says [`UNKNOWN_LOCKS`].
    Held = 42,
    /// No event: room for one that is overwritten now and then.
    Nothing = 43,
    /// The thread began to panic, as Rust calls it: what it does next is to clean up.
    Panic = 44,
    /// The thread is about to sleep for `value` nanoseconds.
    Sleep = 45,
}

impl EventKind {
    /// The kind with this number.
    pub fn from_number(number: u8) -> Option<EventKind> {
        use EventKind::*;
        const ALL: [EventKind; 34] = [
            Read,
            Write,
            Update,
            LastRead,
            LastWrite,
            Gap,
            Acquire,
            Release,
            AcquireShared,
            ReleaseShared,
            WaitBegin,
            WaitEnd,
            Signal,
            Broadcast,
            SemaphorePost,
            SemaphoreWait,
            BarrierEnter,
            BarrierLeave,
            ThreadCreate,
            ThreadStart,
            ThreadEnd,
            ThreadJoin,
            Allocated,
            Fork,
            Lockset,
            Owner,
            Exit,
            Switch,
            Within,
            Iteration,
            Held,
            Nothing,
            Panic,
            Sleep,
        ];
        ALL.into_iter().find(|&kind| kind as u8 == number)
    }

    /// Is this one of the accesses to a location?
    pub fn is_access(self) -> bool {
        matches!(
            self,
            EventKind::Read
                | EventKind::Write
                | EventKind::Update
                | EventKind::LastRead
                | EventKind::LastWrite
        )
    }
}

/// Bits of [`Event::flags`].
pub mod flag {
    /// An atomic operation: its order is the true one.
    pub const ATOMIC: u8 = 1;
    /// `value` is known.
    pub const VALUE: u8 = 2;
    /// This write is the freeing of the memory.
    pub const FREE: u8 = 4;
    /// Another thread was at the same location at the same time: the order may be wrong.
    pub const UNCERTAIN: u8 = 8;
    /// `value` is the set of locks that was held, for closing accesses.
    pub const LOCKS: u8 = 16;
    /// A switch: the one that ran was blocked where nobody saw it, or computed for long.
    pub const AWAY: u8 = 32;
    /// A switch: the one that runs now had waited until its time was over.
    pub const BY_TIME: u8 = 64;
    /// A set of locks: the last of them was taken without waiting for it.
    pub const TRIED: u8 = 64;
    /// The time of a closing access is that of its thread's newest event before it for certain.
    pub const EXACT_TIME: u8 = 32;
    /// The access was made in a loop: where, the newest [`super::EventKind::Iteration`] of its thread says.
    pub const ITERATION: u8 = 128;
}

/// Stands for a set of locks that the recorder had no room to describe.
pub const UNKNOWN_LOCKS: u32 = u32::MAX;

/// One event. The meaning of `object`, `other` and `value` depends on the kind.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// [`EventKind`] as a number.
    pub kind: u8,
    /// [`flag`] bits.
    pub flags: u8,
    /// Bytes accessed, for accesses.
    pub size: u8,
    /// Zero.
    pub reserved: u8,
    /// Where in which calling context: see [`crate::Context`].
    pub leaf: u32,
    /// Position in the process's total order of events.
    pub tick: u64,
    /// Accesses: the location.
    pub object: u32,
    /// Accesses: the set of locks held, [`crate::UNKNOWN_LOCKS`] where that is unknown. Closing accesses: the thread.
    pub other: u32,
    /// Accesses: the content of memory before the access. Closing accesses: the set of locks held, if the flags say
    /// so. Synchronization: the object's address.
    pub value: u64,
}

// SAFETY: repr(C), no padding (4 × u8, u32, u64, 2 × u32, u64), and every bit pattern is valid.
unsafe impl Pod for Event {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_kinds_agree() {
        let mut known = 0;
        for number in 0..=255 {
            if let Some(kind) = EventKind::from_number(number) {
                assert_eq!(kind as u8, number);
                known += 1;
            }
        }
        assert_eq!(known, 34);
        assert_eq!(size_of::<Event>(), 32);
    }
}
