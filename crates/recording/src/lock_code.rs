//! Which instructions of a program are the inside of a lock: told to the recorder by the runner, who can read debug
//! info. Locks that are compiled into the program, as Rust's are, are nothing but atomic operations otherwise.
//!
//! The file is a sequence of modules, each a [`LockModule`] followed by its [`LockCode`]s in ascending order.

use crate::layout::Pod;

/// Environment variable naming the file.
pub const ENV_LOCKS: &str = "UNSNARL_LOCKS";

/// What an atomic operation is to the lock that its code belongs to. The numbers are part of the format.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LockRole {
    /// Whatever the caller is: atomic types and other small change.
    Callers = 1,
    /// Part of a lock, a queue of waiting threads or the like, but no operation on the lock itself.
    Inside = 2,
    /// Takes a mutex, or waits until it can.
    Lock = 3,
    /// Takes a mutex if it is free.
    TryLock = 4,
    /// Gives a mutex back.
    Unlock = 5,
    /// Takes a read-write lock for writing, or waits until it can.
    LockExclusive = 6,
    /// Takes a read-write lock for writing if it is free.
    TryLockExclusive = 7,
    /// Takes a read-write lock for reading, or waits until it can.
    LockShared = 8,
    /// Takes a read-write lock for reading if nobody writes.
    TryLockShared = 9,
    /// Gives a read-write lock back, taken either way.
    UnlockEither = 10,
    /// Gives a mutex back to wait for a condition, after which the thread has it again.
    UnlockToWait = 11,
}

impl LockRole {
    /// All roles, by number from one on.
    pub const ALL: [LockRole; 11] = [
        LockRole::Callers,
        LockRole::Inside,
        LockRole::Lock,
        LockRole::TryLock,
        LockRole::Unlock,
        LockRole::LockExclusive,
        LockRole::TryLockExclusive,
        LockRole::LockShared,
        LockRole::TryLockShared,
        LockRole::UnlockEither,
        LockRole::UnlockToWait,
    ];

    /// The role with this number.
    pub fn from_number(number: u32) -> Option<LockRole> {
        LockRole::ALL.get((number as usize).checked_sub(1)?).copied()
    }
}

/// A module with code of locks in it.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LockModule {
    /// Its build id, padded with zeros.
    pub build_id: [u8; 32],
    /// Number of [`LockCode`]s that follow.
    pub count: u32,
}

/// A range of code. Ranges do not overlap.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LockCode {
    /// First address, as in the file.
    pub start: u32,
    /// One past the last.
    pub end: u32,
    /// [`LockRole`] as a number.
    pub role: u32,
}

// SAFETY: repr(C), no padding, every bit pattern is valid.
unsafe impl Pod for LockModule {}
// SAFETY: as above.
unsafe impl Pod for LockCode {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_roles_agree() {
        for (index, role) in LockRole::ALL.into_iter().enumerate() {
            assert_eq!(role as usize, index + 1);
            assert_eq!(LockRole::from_number(role as u32), Some(role));
        }
        assert_eq!(LockRole::from_number(0), None);
        assert_eq!(LockRole::from_number(12), None);
        assert_eq!(size_of::<LockModule>(), 36);
        assert_eq!(size_of::<LockCode>(), 12);
    }
}
