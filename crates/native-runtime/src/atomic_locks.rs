//! Locks that are made of atomic operations in the program's own code: those of Rust's standard library and of
//! parking_lot. [`lock_code`] knows which operations these are; here they become what they mean.
//!
//! An operation that takes a lock at once is seen. Where it has to wait, how it gets the lock in the end may not be:
//! the standard library's waiting is not instrumented, and a lock may be handed over without any operation on it.
//! But it does not go on without the lock. So the lock is *awaited* from then on, and taken when the thread is
//! next seen to do anything outside of lock code.

use core::sync::atomic::{AtomicU32, Ordering};

use recording::{EventKind, LockRole};

use crate::cells::Kind;
use crate::thread::Thread;
use crate::{context, control, lock_code, noise, sync};

/// The lock that a thread will have when it goes on.
#[derive(Clone, Copy)]
pub struct Awaited {
    /// Zero if there is none.
    pub address: u64,
    leaf: u32,
    kind: LockKind,
    /// Something else comes first, for which it was given back.
    pub after_condition: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum LockKind {
    Mutex,
    Exclusive,
    Shared,
}

/// An atomic operation on a lock's word.
pub struct Operation {
    pub address: usize,
    pub size: usize,
    /// Where it returns to.
    pub pc: usize,
    /// What it replaces by what, if the former is there.
    pub exchange: Option<(u64, u64)>,
}

/// Does an operation that has a role in a lock. `operate` is called exactly once.
pub unsafe fn operate(
    thread: &mut Thread,
    role: LockRole,
    operation: &Operation,
    operate: &mut dyn FnMut() -> Kind,
) {
    let (kind, waits) = match role {
        LockRole::Callers | LockRole::Inside => {
            operate();
            return;
        }
        LockRole::Unlock | LockRole::UnlockEither | LockRole::UnlockToWait => {
            return give_back(thread, role, operation, operate);
        }
        LockRole::Lock => (LockKind::Mutex, true),
        LockRole::TryLock => (LockKind::Mutex, false),
        LockRole::LockExclusive => (LockKind::Exclusive, true),
        LockRole::TryLockExclusive => (LockKind::Exclusive, false),
        LockRole::LockShared => (LockKind::Shared, true),
        LockRole::TryLockShared => (LockKind::Shared, false),
    };
    let address = operation.address as u64;
    let leaf = context::leaf(thread.tls, operation.pc);
    if thread.awaited.address != address {
        settle(thread);
        noise::at_sync(thread);
        control::at_sync(thread, operation.address, leaf, operation.pc);
    }
    let awaited = Awaited { address, leaf, kind, after_condition: false };
    if waits && thread.awaited.address != address {
        thread.awaited = awaited;
        sync::note_wait(thread, awaited.event_kind(), address, leaf);
    }
    let changes = operate() == Kind::Update;
    let takes = |(old, new)| takes(kind, waits, operation.size, old, new);
    if changes && operation.exchange.is_some_and(takes) {
        thread.awaited = awaited;
        settle(thread);
    }
}

/// Does this change of its word take the lock? The bits are those of std 1.62 to 1.95 and parking_lot 0.11 to 0.12. Other bits
/// would only delay what is noticed, except for attempts that do not wait.
fn takes(kind: LockKind, waits: bool, size: usize, old: u64, new: u64) -> bool {
    const LOCKED: u64 = 1;
    let gained = new & !old;
    match (kind, size) {
        (LockKind::Mutex, _) => gained & LOCKED != 0,
        // The standard library's functions change the word for nothing else.
        (_, 4) => true,
        _ => {
            const UPGRADABLE: u64 = 4;
            const WRITER: u64 = 8;
            const READER: u64 = 16;
            match kind {
                LockKind::Shared => new / READER > old / READER || gained & UPGRADABLE != 0,
                // A writer who waits goes on to wait for readers, there or not.
                _ => gained & WRITER != 0 && !waits,
            }
        }
    }
}

unsafe fn give_back(
    thread: &mut Thread,
    role: LockRole,
    operation: &Operation,
    operate: &mut dyn FnMut() -> Kind,
) {
    let leaf = context::leaf(thread.tls, operation.pc);
    let address = operation.address as u64;
    if !(role == LockRole::UnlockToWait && thread.awaited.address == address) {
        settle(thread);
    }
    // Giving back can take several operations, of which the first is taken for all.
    let held = sync::holds(thread, address);
    if held && role == LockRole::UnlockEither {
        sync::share(thread, EventKind::Release, address, leaf);
    } else if held {
        sync::give_back(thread, address, leaf);
    }
    if role == LockRole::UnlockToWait {
        thread.awaited = Awaited { address, leaf, kind: LockKind::Mutex, after_condition: true };
    }
    operate();
    if held {
        noise::at_sync(thread);
        control::at_sync(thread, 0, leaf, 0);
    }
}

impl Awaited {
    fn event_kind(&self) -> EventKind {
        match self.kind {
            LockKind::Shared => EventKind::AcquireShared,
            _ => EventKind::Acquire,
        }
    }
}

/// The thread goes on outside of lock code: it has the lock that it awaited.
#[inline]
pub unsafe fn settle(thread: &mut Thread) {
    if thread.awaited.address != 0 {
        take_awaited(thread);
    }
}

#[cold]
unsafe fn take_awaited(thread: &mut Thread) {
    let awaited = thread.awaited;
    thread.awaited.address = 0;
    sync::end_wait(thread);
    // Should it have been taken for taken too early, it is not held twice.
    if sync::holds(thread, awaited.address) {
        return;
    }
    match awaited.kind {
        LockKind::Mutex => sync::take(thread, awaited.address, awaited.leaf),
        _ => sync::share(thread, awaited.event_kind(), awaited.address, awaited.leaf),
    }
}

/// A thread is about to wait for something that is not a lock. The standard library's condition variables give
/// their mutex back before, unseen: it is free then, unless somebody took it meanwhile.
pub unsafe fn give_back_unseen(thread: &mut Thread) -> Option<Awaited> {
    let (address, leaf) = sync::newest_held(thread)?;
    let is_free = lock_code::is_present()
        && address.is_multiple_of(4)
        && AtomicU32::from_ptr(address as *mut u32).load(Ordering::Relaxed) == 0;
    is_free.then(|| {
        sync::give_back(thread, address, leaf);
        Awaited { address, leaf, kind: LockKind::Mutex, after_condition: false }
    })
}
