//! Condition variables and barriers.

use core::ffi::c_int;

use recording::EventKind;

use super::mutex;
use crate::control::{self, Deadline, Time};
use crate::real::{real, with_caller};
use crate::sync;

with_caller! {
    pthread_cond_wait => 2, wait;
    pthread_cond_timedwait => 3, timed_wait;
    pthread_cond_clockwait => 4, clock_wait;
    pthread_cond_signal => 1, signal;
    pthread_cond_broadcast => 1, broadcast;
    pthread_barrier_wait => 1, barrier_wait;
}

/// A wait gives the mutex back and takes it again.
pub unsafe fn around_wait(
    condition: usize,
    mutex: usize,
    deadline: Option<Deadline>,
    pc: usize,
    wait: impl FnOnce() -> c_int,
) -> c_int {
    sync::happened(EventKind::WaitBegin, condition, 0, pc);
    sync::releasing(mutex, pc);
    sync::before_waiting(EventKind::WaitBegin, condition, pc);
    let (unlock, relock) = (|| mutex::plain_unlock(mutex), || mutex::relock(mutex));
    let result = control::condition_wait(condition, mutex, deadline, unlock, relock).unwrap_or_else(wait);
    sync::after_waiting();
    sync::acquired(mutex, pc);
    sync::happened(EventKind::WaitEnd, condition, 0, pc);
    result
}

// The C library keeps the conditions of long ago, of another size, under the same names.
#[cfg(target_arch = "x86_64")]
macro_rules! condition_version {
    () => {
        c"GLIBC_2.3.2"
    };
}
#[cfg(target_arch = "aarch64")]
macro_rules! condition_version {
    () => {
        c"GLIBC_2.17"
    };
}

macro_rules! real_condition {
    ($name:ident($($argument:ty),*)) => {{
        static REAL: crate::real::Real = {
            // SAFETY: the literal ends in its only zero.
            let name = unsafe {
                core::ffi::CStr::from_bytes_with_nul_unchecked(concat!(stringify!($name), "\0").as_bytes())
            };
            crate::real::Real::versioned(name, condition_version!(), crate::real::linked!($name))
        };
        core::mem::transmute::<*mut core::ffi::c_void, unsafe extern "C" fn($($argument),*) -> c_int>(REAL.address())
    }};
}

unsafe extern "C" fn wait(condition: usize, mutex: usize, pc: usize) -> c_int {
    around_wait(condition, mutex, None, pc, || {
        real_condition!(pthread_cond_wait(usize, usize))(condition, mutex)
    })
}

unsafe extern "C" fn timed_wait(condition: usize, mutex: usize, time: Time, pc: usize) -> c_int {
    // Of the two clocks that a condition can be made for, the one in which the time is not long past.
    let deadline = Deadline::at_some_clock(time);
    around_wait(condition, mutex, deadline, pc, || {
        real_condition!(pthread_cond_timedwait(usize, usize, Time))(condition, mutex, time)
    })
}

unsafe extern "C" fn clock_wait(
    condition: usize,
    mutex: usize,
    clock: c_int,
    time: Time,
    pc: usize,
) -> c_int {
    around_wait(condition, mutex, Deadline::at(clock, time), pc, || {
        real!(pthread_cond_clockwait(usize, usize, c_int, Time) -> c_int)(condition, mutex, clock, time)
    })
}

unsafe extern "C" fn signal(condition: usize, pc: usize) -> c_int {
    sync::disturb(condition, pc);
    sync::happened(EventKind::Signal, condition, 0, pc);
    control::condition_wake(condition, false);
    real_condition!(pthread_cond_signal(usize))(condition)
}

unsafe extern "C" fn broadcast(condition: usize, pc: usize) -> c_int {
    sync::disturb(condition, pc);
    sync::happened(EventKind::Broadcast, condition, 0, pc);
    control::condition_wake(condition, true);
    real_condition!(pthread_cond_broadcast(usize))(condition)
}

unsafe extern "C" fn barrier_wait(barrier: usize, pc: usize) -> c_int {
    sync::happened(EventKind::BarrierEnter, barrier, 0, pc);
    sync::before_waiting(EventKind::BarrierEnter, barrier, pc);
    let result = control::barrier_wait(barrier)
        .unwrap_or_else(|| real!(pthread_barrier_wait(usize) -> c_int)(barrier));
    sync::after_waiting();
    sync::happened(EventKind::BarrierLeave, barrier, 0, pc);
    result
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_barrier_init(barrier: usize, attributes: usize, count: u32) -> c_int {
    let result = real!(pthread_barrier_init(usize, usize, u32) -> c_int)(barrier, attributes, count);
    if result == 0 {
        control::barrier_of(barrier, count);
    }
    result
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_barrier_destroy(barrier: usize) -> c_int {
    control::barrier_of(barrier, 0);
    real!(pthread_barrier_destroy(usize) -> c_int)(barrier)
}
