//! The threads, mutexes and conditions of C11, whose functions in the C library do not go through those of POSIX.
//! The objects are the same.

use core::ffi::c_int;

use recording::EventKind;

use super::condition::around_wait;
use super::threads;
use crate::real::{real, with_caller};
use crate::sync;

const SUCCESS: c_int = 0;

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
    threads::joined(handle, pc, || real!(thrd_join(libc::pthread_t, usize) -> c_int)(handle, out))
}

unsafe fn taken(mutex: usize, result: c_int, pc: usize) -> c_int {
    sync::after_waiting();
    if result == SUCCESS {
        sync::acquired(mutex, pc);
    }
    result
}

unsafe extern "C" fn lock(mutex: usize, pc: usize) -> c_int {
    sync::before_waiting(EventKind::Acquire, mutex, pc);
    taken(mutex, real!(mtx_lock(usize) -> c_int)(mutex), pc)
}

unsafe extern "C" fn try_lock(mutex: usize, pc: usize) -> c_int {
    sync::disturb();
    taken(mutex, real!(mtx_trylock(usize) -> c_int)(mutex), pc)
}

unsafe extern "C" fn timed_lock(mutex: usize, time: usize, pc: usize) -> c_int {
    sync::before_waiting(EventKind::Acquire, mutex, pc);
    taken(mutex, real!(mtx_timedlock(usize, usize) -> c_int)(mutex, time), pc)
}

unsafe extern "C" fn unlock(mutex: usize, pc: usize) -> c_int {
    sync::releasing(mutex, pc);
    let result = real!(mtx_unlock(usize) -> c_int)(mutex);
    sync::released();
    result
}

unsafe extern "C" fn wait(condition: usize, mutex: usize, pc: usize) -> c_int {
    around_wait(condition, mutex, pc, || real!(cnd_wait(usize, usize) -> c_int)(condition, mutex))
}

unsafe extern "C" fn timed_wait(condition: usize, mutex: usize, time: usize, pc: usize) -> c_int {
    around_wait(condition, mutex, pc, || {
        real!(cnd_timedwait(usize, usize, usize) -> c_int)(condition, mutex, time)
    })
}

unsafe extern "C" fn signal(condition: usize, pc: usize) -> c_int {
    sync::disturb();
    sync::happened(EventKind::Signal, condition, 0, pc);
    real!(cnd_signal(usize) -> c_int)(condition)
}

unsafe extern "C" fn broadcast(condition: usize, pc: usize) -> c_int {
    sync::disturb();
    sync::happened(EventKind::Broadcast, condition, 0, pc);
    real!(cnd_broadcast(usize) -> c_int)(condition)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn mtx_destroy(mutex: usize) {
    sync::destroyed(mutex);
    real!(mtx_destroy(usize))(mutex);
}
