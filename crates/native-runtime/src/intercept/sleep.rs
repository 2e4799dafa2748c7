//! Sleeping and yielding: in controlled runs, whoever has nothing to do lets others run.

use core::ffi::{c_int, c_uint};

use crate::control::{self, Deadline, Time};
use crate::kernel;
use crate::real::real;

#[unsafe(no_mangle)]
pub unsafe extern "C" fn sched_yield() -> c_int {
    control::yielded();
    kernel::pass();
    0
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nanosleep(time: Time, left: *mut libc::timespec) -> c_int {
    if slept(Deadline::after(time)) {
        return 0;
    }
    real!(nanosleep(Time, *mut libc::timespec) -> c_int)(time, left)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn clock_nanosleep(
    clock: c_int,
    flags: c_int,
    time: Time,
    left: *mut libc::timespec,
) -> c_int {
    let is_absolute = flags & libc::TIMER_ABSTIME != 0;
    if slept(if is_absolute { Deadline::at(clock, time) } else { Deadline::after(time) }) {
        return 0;
    }
    real!(clock_nanosleep(c_int, c_int, Time, *mut libc::timespec) -> c_int)(clock, flags, time, left)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn usleep(microseconds: c_uint) -> c_int {
    if slept(Some(Deadline::in_nanoseconds(u64::from(microseconds) * 1000))) {
        return 0;
    }
    real!(usleep(c_uint) -> c_int)(microseconds)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn sleep(seconds: c_uint) -> c_uint {
    if slept(Some(Deadline::in_nanoseconds(u64::from(seconds) * 1_000_000_000))) {
        return 0;
    }
    real!(sleep(c_uint) -> c_uint)(seconds)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn thrd_sleep(time: Time, left: *mut libc::timespec) -> c_int {
    if slept(Deadline::after(time)) {
        return 0;
    }
    real!(thrd_sleep(Time, *mut libc::timespec) -> c_int)(time, left)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn thrd_yield() {
    sched_yield();
}

unsafe fn slept(deadline: Option<Deadline>) -> bool {
    deadline.is_some_and(|deadline| control::sleep(deadline))
}
