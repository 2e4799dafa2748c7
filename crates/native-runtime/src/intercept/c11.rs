//! The threads, mutexes and conditions of C11, whose functions in the C library do not go through those of POSIX.
//! The objects are the same.

use core::ffi::c_int;

use recording::EventKind;

use super::condition::around_wait;
use super::mutex::{leaving, take, tried};
use super::threads;
use crate::control::{self, Deadline, Time};
use crate::real::{real, with_caller};
use crate::sync;

// As the C library's header has them.
const SUCCESS: c_int = 0;
const BUSY: c_int = 1;
const TIMED_OUT: c_int = 4;

with_caller! {
    thrd_create => 3, create;
    thrd_join => 2, join;
    mtx_lock => 1, lock;
    mtx_trylock => 1, try_lock;
    mtx_timedlock => 2, timed_lock;
    mtx_unlock => 1, unlock;
    cnd_wait => 2, wait;
    cnd_timedwait => 3, timed_wait;
    cnd_signal => 1, signal;
    cnd_broadcast => 1, broadcast;
}

/// A start function returns an int here; where it is a pointer's low half nobody looks at the rest.
unsafe extern "C" fn create(
    handle: *mut libc::pthread_t,
    routine: usize,
    argument: usize,
    pc: usize,
) -> c_int {
    let start = real!(thrd_create(*mut libc::pthread_t, usize, usize) -> c_int);
    threads::create_by(handle, routine, argument, pc, |routine, argument| start(handle, routine, argument))
}

unsafe extern "C" fn join(handle: libc::pthread_t, out: usize, pc: usize) -> c_int {
    threads::joined(handle, None, pc, || real!(thrd_join(libc::pthread_t, usize) -> c_int)(handle, out))
}

unsafe fn taken(mutex: usize, result: c_int, pc: usize) -> c_int {
    sync::after_waiting();
    if result == SUCCESS {
        sync::acquired(mutex, pc);
    }
    result
}

unsafe fn attempt(mutex: usize) -> c_int {
    real!(mtx_trylock(usize) -> c_int)(mutex)
}

/// Results are translated to those of POSIX and back, but for an error that has no name of its own there.
unsafe fn take_by(mutex: usize, deadline: Option<Deadline>, block: impl FnOnce() -> c_int) -> c_int {
    let posix = |result| if result == BUSY { libc::EBUSY } else { result };
    match take(mutex, true, deadline, || posix(attempt(mutex)), block) {
        libc::ETIMEDOUT => TIMED_OUT,
        result => result,
    }
}

unsafe extern "C" fn lock(mutex: usize, pc: usize) -> c_int {
    sync::before_waiting(EventKind::Acquire, mutex, pc);
    taken(mutex, take_by(mutex, None, || real!(mtx_lock(usize) -> c_int)(mutex)), pc)
}

unsafe extern "C" fn try_lock(mutex: usize, pc: usize) -> c_int {
    sync::disturb(mutex, pc);
    taken(mutex, tried(mutex, pc, || attempt(mutex)), pc)
}

unsafe extern "C" fn timed_lock(mutex: usize, time: Time, pc: usize) -> c_int {
    sync::before_waiting(EventKind::Acquire, mutex, pc);
    let block = || real!(mtx_timedlock(usize, Time) -> c_int)(mutex, time);
    taken(mutex, take_by(mutex, Deadline::at(libc::CLOCK_REALTIME, time), block), pc)
}

unsafe extern "C" fn unlock(mutex: usize, pc: usize) -> c_int {
    leaving(mutex, pc);
    sync::releasing(mutex, pc);
    let result = real!(mtx_unlock(usize) -> c_int)(mutex);
    sync::released(mutex, pc);
    result
}

unsafe extern "C" fn wait(condition: usize, mutex: usize, pc: usize) -> c_int {
    around_wait(condition, mutex, None, pc, || real!(cnd_wait(usize, usize) -> c_int)(condition, mutex))
}

unsafe extern "C" fn timed_wait(condition: usize, mutex: usize, time: Time, pc: usize) -> c_int {
    let deadline = Deadline::at(libc::CLOCK_REALTIME, time);
    let result = around_wait(condition, mutex, deadline, pc, || {
        real!(cnd_timedwait(usize, usize, Time) -> c_int)(condition, mutex, time)
    });
    if result == libc::ETIMEDOUT { TIMED_OUT } else { result }
}

unsafe extern "C" fn signal(condition: usize, pc: usize) -> c_int {
    sync::disturb(condition, pc);
    sync::happened(EventKind::Signal, condition, 0, pc);
    control::condition_wake(condition, false);
    real!(cnd_signal(usize) -> c_int)(condition)
}

unsafe extern "C" fn broadcast(condition: usize, pc: usize) -> c_int {
    sync::disturb(condition, pc);
    sync::happened(EventKind::Broadcast, condition, 0, pc);
    control::condition_wake(condition, true);
    real!(cnd_broadcast(usize) -> c_int)(condition)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn mtx_destroy(mutex: usize) {
    sync::destroyed(mutex);
    real!(mtx_destroy(usize))(mutex);
}
