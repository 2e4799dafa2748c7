//! Sleeping and yielding: in controlled runs, whoever has nothing to do lets others run. Where threads sleep is told, since
//! some do so in place of waiting for one another.

use core::ffi::{c_int, c_uint};

use crate::control::{self, Deadline, Time};
use crate::real::{real, with_place};
use crate::unwind::Place;
use crate::{kernel, sync};

with_place! {
    nanosleep => 2, sleep_for;
    clock_nanosleep => 4, sleep_by_clock;
    usleep => 1, sleep_for_microseconds;
    sleep => 1, sleep_for_seconds;
    thrd_sleep => 2, sleep_for_c11;
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn sched_yield() -> c_int {
    if control::yielded() {
        kernel::pass();
    }
    0
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn thrd_yield() {
    sched_yield();
}

unsafe extern "C" fn sleep_for(time: Time, left: *mut libc::timespec, frame: usize, fp: usize) -> c_int {
    if slept(Deadline::after(time), Place::of_call(frame, fp)) {
        return 0;
    }
    real!(nanosleep(Time, *mut libc::timespec) -> c_int)(time, left)
}

unsafe extern "C" fn sleep_by_clock(
    clock: c_int,
    flags: c_int,
    time: Time,
    left: *mut libc::timespec,
    frame: usize,
    fp: usize,
) -> c_int {
    let is_absolute = flags & libc::TIMER_ABSTIME != 0;
    let deadline = if is_absolute { Deadline::at(clock, time) } else { Deadline::after(time) };
    if slept(deadline, Place::of_call(frame, fp)) {
        return 0;
    }
    real!(clock_nanosleep(c_int, c_int, Time, *mut libc::timespec) -> c_int)(clock, flags, time, left)
}

unsafe extern "C" fn sleep_for_microseconds(microseconds: c_uint, frame: usize, fp: usize) -> c_int {
    if slept(Some(Deadline::in_nanoseconds(u64::from(microseconds) * 1000)), Place::of_call(frame, fp)) {
        return 0;
    }
    real!(usleep(c_uint) -> c_int)(microseconds)
}

unsafe extern "C" fn sleep_for_seconds(seconds: c_uint, frame: usize, fp: usize) -> c_uint {
    if slept(Some(Deadline::in_nanoseconds(u64::from(seconds) * 1_000_000_000)), Place::of_call(frame, fp)) {
        return 0;
    }
    real!(sleep(c_uint) -> c_uint)(seconds)
}

unsafe extern "C" fn sleep_for_c11(time: Time, left: *mut libc::timespec, frame: usize, fp: usize) -> c_int {
    if slept(Deadline::after(time), Place::of_call(frame, fp)) {
        return 0;
    }
    real!(thrd_sleep(Time, *mut libc::timespec) -> c_int)(time, left)
}

/// Tells of the sleep. Whether it is over then, because the run is controlled.
unsafe fn slept(deadline: Option<Deadline>, place: Place) -> bool {
    let Some(deadline) = deadline else { return false };
    sync::sleeps(deadline.length(), place);
    control::sleep(deadline)
}
