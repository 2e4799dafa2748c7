//! Locks that are made of atomic operations in the program's own code: those of Rust's standard library and of
//! parking_lot. [`lock_code`] knows which operations these are; here they become what they mean.
//!
//! An operation that takes a lock at once is seen. Where it has to wait, how it gets the lock in the end may not be:
//! the standard library's waiting is not instrumented, and a lock may be handed over without any operation on it.
//! But it does not go on without the lock. So the lock is *awaited* from then on, and taken when the thread is
//! next seen to do anything outside of lock code.
//!
//! An *attempt* may come to nothing. One with a time limit has the lock without any operation on it if it was woken
//! from its last wait: woken for nothing, it takes the lock by an operation or waits again. parking_lot tells a thread that
//! it is woken by setting a word to zero that the thread has set before it waits.

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
    /// None if it is certain that the thread will have it.
    attempt: Option<Attempt>,
}

/// How far an attempt has come.
#[derive(Clone, Copy, Default)]
struct Attempt {
    /// The word that says whether its last wait is over; null if it has not waited.
    parker: *const u32,
    /// No other writer can come, but there are readers still, for whom it waits.
    keeps_writers_out: bool,
}

impl Attempt {
    unsafe fn has_succeeded(&self) -> bool {
        match self.parker.as_ref() {
            Some(parker) => core::ptr::read_volatile(parker) == 0,
            None => self.keeps_writers_out,
        }
    }
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
            if operate() == Kind::Write {
                note_parker(thread, operation);
            }
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
    let goes_on = thread.awaited.address == address && thread.awaited.attempt.is_none() == waits;
    if !goes_on {
        settle(thread);
    }
    if !goes_on || !waits {
        noise::at_sync(thread);
        control::at_sync(thread, operation.address, leaf, operation.pc);
    }
    // Taking a lock can take several operations: where the first one is, it is taken, and has its scheduling point.
    let is_begun = goes_on && !thread.awaited.after_condition;
    let leaf = if is_begun { thread.awaited.leaf } else { leaf };
    let taken = Awaited { address, leaf, kind, after_condition: false, attempt: None };
    if !goes_on {
        thread.awaited = taken;
        if waits {
            sync::note_wait(thread, taken.event_kind(), address, leaf);
        } else {
            thread.awaited.attempt = Some(Attempt::default());
        }
    }
    let changes = operate() == Kind::Update;
    let Some((old, new)) = operation.exchange.filter(|_| changes) else { return };
    match takes(kind, waits, operation.size, old, new) {
        Taking::Done => {
            thread.awaited = taken;
            settle(thread);
        }
        Taking::FromReaders if !waits => {
            thread.awaited.attempt = Some(Attempt { keeps_writers_out: true, ..Attempt::default() });
        }
        Taking::FromReaders | Taking::Nothing => {}
    }
}

/// An attempt is about to wait: its thread sets the word that will tell it that it was woken.
unsafe fn note_parker(thread: &mut Thread, operation: &Operation) {
    let Awaited { address, leaf, attempt, .. } = thread.awaited;
    let word = operation.address as *const u32;
    // Those of others are set to zero.
    let is_own = address != 0 && operation.size == size_of::<u32>() && word.read_volatile() != 0;
    if let Some(attempt) = attempt.filter(|_| is_own) {
        thread.awaited.attempt = Some(Attempt { parker: word, ..attempt });
        sync::note_wait(thread, thread.awaited.event_kind(), address, leaf);
    }
}

/// What a change of a lock's word means.
enum Taking {
    Nothing,
    Done,
    /// Once all readers are gone.
    FromReaders,
}

/// Does this change of its word take the lock? The bits are those of std 1.62 to 1.95 and parking_lot 0.11 to 0.13. Other bits
/// would only delay what is noticed, except for attempts that do not wait.
fn takes(kind: LockKind, waits: bool, size: usize, old: u64, new: u64) -> Taking {
    const LOCKED: u64 = 1;
    const UPGRADABLE: u64 = 4;
    const WRITER: u64 = 8;
    const READER: u64 = 16;
    let gained = new & !old;
    let is_done = match (kind, size) {
        (LockKind::Mutex, _) => gained & LOCKED != 0,
        // The standard library's functions change the word for nothing else.
        (_, 4) => true,
        (LockKind::Shared, _) => new / READER > old / READER || gained & UPGRADABLE != 0,
        _ if gained & WRITER == 0 => false,
        // A writer who waits goes on to wait for readers, there or not.
        _ if waits || new / READER != 0 => return Taking::FromReaders,
        _ => true,
    };
    if is_done { Taking::Done } else { Taking::Nothing }
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
        thread.awaited = Awaited { after_condition: true, ..Awaited::mutex(address, leaf) };
    }
    operate();
    if held {
        noise::at_sync(thread);
        control::at_sync(thread, 0, leaf, 0);
    }
}

impl Awaited {
    fn mutex(address: u64, leaf: u32) -> Awaited {
        Awaited { address, leaf, kind: LockKind::Mutex, after_condition: false, attempt: None }
    }

    /// Does the thread wait for nothing but the lock when it waits on this word?
    pub fn is_waited_for_on(&self, word: usize) -> bool {
        let for_lock = self.attempt.is_none_or(|attempt| attempt.parker as usize == word);
        self.address != 0 && !self.after_condition && for_lock
    }

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
    let is_vain = awaited.attempt.is_some_and(|attempt| !attempt.has_succeeded());
    // Should it have been taken for taken too early, it is not held twice.
    if is_vain || sync::holds(thread, awaited.address) {
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
        Awaited::mutex(address, leaf)
    })
}

/// Has nobody taken the mutex since this thread gave it back? No if there is none.
pub unsafe fn is_as_left(thread: &Thread, mutex: &Awaited) -> bool {
    mutex.address != 0
        && sync::gave_back_last(thread, mutex.address)
        && AtomicU32::from_ptr(mutex.address as *mut u32).load(Ordering::Relaxed) == 0
}
