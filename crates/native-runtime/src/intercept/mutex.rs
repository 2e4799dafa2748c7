//! Mutexes, spin locks and one-time initialisation.

use core::ffi::c_int;

use recording::EventKind;

use super::patience::{Holders, soon};
use crate::cells::Kind;
use crate::control::{self, Deadline, Time, Wait};
use crate::hooks::atomic;
use crate::real::{real, with_caller};
use crate::sync;

/// Result of locking a robust mutex whose holder died: the lock is held.
const HOLDER_DIED: c_int = libc::EOWNERDEAD;

/// Bytes of a lock's first word.
const WORD: usize = 4;

with_caller! {
    pthread_mutex_lock => 1, lock;
    pthread_mutex_trylock => 1, try_lock;
    pthread_mutex_timedlock => 2, timed_lock;
    pthread_mutex_clocklock => 3, clock_lock;
    pthread_mutex_unlock => 1, unlock;
    pthread_spin_lock => 1, spin_lock;
    pthread_spin_trylock => 1, spin_try_lock;
    pthread_spin_unlock => 1, spin_unlock;
}

unsafe fn taken(mutex: usize, result: c_int, pc: usize) -> c_int {
    sync::after_waiting();
    if result == 0 || result == HOLDER_DIED {
        sync::acquired(mutex, pc);
    }
    result
}

/// Takes a lock by `block`; in a controlled run by `attempt`, again and again, while others give it back.
pub unsafe fn take(
    lock: usize,
    is_exclusive: bool,
    deadline: Option<Deadline>,
    attempt: impl Fn() -> c_int,
    block: impl FnOnce() -> c_int,
) -> c_int {
    // Its own lock: what that means depends on the lock, which knows best.
    if !control::is_on() || sync::is_held(lock) {
        return block();
    }
    let try_once = || match attempt() {
        libc::EBUSY => None,
        result => Some(result),
    };
    let wait = Wait { object: lock, deadline, can_be_cancelled: false, is_exclusive, ends_by_signal: false };
    control::until(wait, try_once, block).unwrap_or(libc::ETIMEDOUT)
}

unsafe fn attempt(mutex: usize) -> c_int {
    real!(pthread_mutex_trylock(usize) -> c_int)(mutex)
}

unsafe extern "C" fn lock(mutex: usize, pc: usize) -> c_int {
    sync::before_waiting(EventKind::Acquire, mutex, pc);
    taken(mutex, relock(mutex), pc)
}

/// Without a record.
pub unsafe fn relock(mutex: usize) -> c_int {
    if control::is_on() && sync::is_held(mutex) {
        return retake(mutex);
    }
    // The C library has a mutex's state in its first word. Should another not, that only tells when to try again.
    let looks_free = || (mutex as *const u32).read_volatile() == 0;
    let wait = || real!(pthread_mutex_lock(usize) -> c_int)(mutex);
    let block = || soon(mutex, Holders::One, looks_free, || attempt(mutex)).unwrap_or_else(wait);
    take(mutex, true, None, || attempt(mutex), block)
}

/// In a controlled run, a mutex that the thread holds already: depending on its kind it is held once more, refused, or never to be had. Asked
/// for until a time that is over, it tells which at once, so that a thread that waits for itself is known to wait.
unsafe fn retake(mutex: usize) -> c_int {
    let over = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    let try_once = || match real!(pthread_mutex_timedlock(usize, Time) -> c_int)(mutex, &over) {
        libc::ETIMEDOUT => None,
        result => Some(result),
    };
    let wait = Wait {
        object: mutex,
        deadline: None,
        can_be_cancelled: false,
        is_exclusive: true,
        ends_by_signal: false,
    };
    let block = || real!(pthread_mutex_lock(usize) -> c_int)(mutex);
    control::until(wait, try_once, block).unwrap_or(libc::ETIMEDOUT)
}

/// Without a record.
pub unsafe fn plain_unlock(mutex: usize) -> c_int {
    real!(pthread_mutex_unlock(usize) -> c_int)(mutex)
}

unsafe extern "C" fn try_lock(mutex: usize, pc: usize) -> c_int {
    sync::disturb(mutex, pc);
    taken(mutex, tried(mutex, pc, || attempt(mutex)), pc)
}

/// A lock that is not waited for tells by its being taken what another thread is doing: who finds it so goes another way. So an attempt is an atomic access to
/// the lock's first word, which reads it in vain or changes it, and to give back what was taken so is a write. What threads wait for in
/// turn is no communication of theirs.
pub unsafe fn tried(lock: usize, pc: usize, attempt: impl Fn() -> c_int) -> c_int {
    let mut result = 0;
    atomic::recorded_in_any_case(lock, WORD, pc, None, &mut || {
        result = attempt();
        if result == 0 || result == HOLDER_DIED { Kind::Update } else { Kind::Read }
    });
    result
}

/// Before a lock is given back.
pub unsafe fn leaving(lock: usize, pc: usize) {
    if sync::is_tried(lock) {
        atomic::recorded_in_any_case(lock, WORD, pc, None, &mut || Kind::Write);
    }
}

unsafe extern "C" fn timed_lock(mutex: usize, time: Time, pc: usize) -> c_int {
    sync::before_waiting(EventKind::Acquire, mutex, pc);
    let block = || real!(pthread_mutex_timedlock(usize, Time) -> c_int)(mutex, time);
    taken(mutex, take(mutex, true, Deadline::at(libc::CLOCK_REALTIME, time), || attempt(mutex), block), pc)
}

unsafe extern "C" fn clock_lock(mutex: usize, clock: c_int, time: Time, pc: usize) -> c_int {
    sync::before_waiting(EventKind::Acquire, mutex, pc);
    let block = || real!(pthread_mutex_clocklock(usize, c_int, Time) -> c_int)(mutex, clock, time);
    taken(mutex, take(mutex, true, Deadline::at(clock, time), || attempt(mutex), block), pc)
}

unsafe extern "C" fn unlock(mutex: usize, pc: usize) -> c_int {
    leaving(mutex, pc);
    sync::releasing(mutex, pc);
    let result = plain_unlock(mutex);
    sync::released(mutex, pc);
    result
}

unsafe extern "C" fn spin_lock(lock: usize, pc: usize) -> c_int {
    sync::before_waiting(EventKind::Acquire, lock, pc);
    let attempt = || real!(pthread_spin_trylock(usize) -> c_int)(lock);
    taken(lock, take(lock, true, None, attempt, || real!(pthread_spin_lock(usize) -> c_int)(lock)), pc)
}

unsafe extern "C" fn spin_try_lock(lock: usize, pc: usize) -> c_int {
    sync::disturb(lock, pc);
    taken(lock, tried(lock, pc, || real!(pthread_spin_trylock(usize) -> c_int)(lock)), pc)
}

unsafe extern "C" fn spin_unlock(lock: usize, pc: usize) -> c_int {
    leaving(lock, pc);
    sync::releasing(lock, pc);
    let result = real!(pthread_spin_unlock(usize) -> c_int)(lock);
    sync::released(lock, pc);
    result
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_mutex_destroy(mutex: usize) -> c_int {
    sync::destroyed(mutex);
    real!(pthread_mutex_destroy(usize) -> c_int)(mutex)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_spin_destroy(lock: usize) -> c_int {
    sync::destroyed(lock);
    real!(pthread_spin_destroy(usize) -> c_int)(lock)
}

with_caller! {
    pthread_once => 2, once;
}

/// Whoever returns from it knows that the routine has run: waiting on a condition in all but name.
unsafe extern "C" fn once(control: usize, routine: usize, pc: usize) -> c_int {
    let result = real!(pthread_once(usize, usize) -> c_int)(control, routine);
    sync::happened(EventKind::SemaphorePost, control, 0, pc);
    sync::happened(EventKind::SemaphoreWait, control, 0, pc);
    result
}
