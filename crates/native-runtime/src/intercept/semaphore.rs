//! Semaphores.

use core::ffi::c_int;

use recording::EventKind;

use crate::control::{self, Deadline, Time, Wait};
use crate::real::{real, with_caller};
use crate::{errno, sync};

with_caller! {
    sem_post => 1, post;
    sem_wait => 1, wait;
    sem_trywait => 1, try_wait;
    sem_timedwait => 2, timed_wait;
    sem_clockwait => 3, clock_wait;
}

unsafe extern "C" fn post(semaphore: usize, pc: usize) -> c_int {
    sync::disturb(semaphore, pc);
    sync::happened(EventKind::SemaphorePost, semaphore, 0, pc);
    let result = real!(sem_post(usize) -> c_int)(semaphore);
    control::wake(semaphore);
    result
}

unsafe fn lowered(semaphore: usize, result: c_int, pc: usize) -> c_int {
    sync::after_waiting();
    if result == 0 {
        sync::happened(EventKind::SemaphoreWait, semaphore, 0, pc);
    }
    result
}

unsafe fn attempt(semaphore: usize) -> c_int {
    real!(sem_trywait(usize) -> c_int)(semaphore)
}

/// Lowers it by `block`; in a controlled run by attempts, while others raise it.
unsafe fn lower(
    semaphore: usize,
    deadline: Option<Deadline>,
    block: impl FnOnce() -> c_int,
    pc: usize,
) -> c_int {
    sync::before_waiting(EventKind::SemaphoreWait, semaphore, pc);
    let kept = errno::get();
    let try_once = || match attempt(semaphore) {
        0 => Some(0),
        _ if errno::get() == libc::EAGAIN => {
            errno::set(kept);
            None
        }
        failed => Some(failed),
    };
    let wait = Wait {
        object: semaphore,
        deadline,
        can_be_cancelled: true,
        is_exclusive: false,
        ends_by_signal: true,
    };
    let result = control::until(wait, try_once, block).unwrap_or_else(|_| {
        errno::set(libc::ETIMEDOUT);
        -1
    });
    lowered(semaphore, result, pc)
}

unsafe extern "C" fn wait(semaphore: usize, pc: usize) -> c_int {
    lower(semaphore, None, || real!(sem_wait(usize) -> c_int)(semaphore), pc)
}

unsafe extern "C" fn try_wait(semaphore: usize, pc: usize) -> c_int {
    sync::disturb(semaphore, pc);
    lowered(semaphore, attempt(semaphore), pc)
}

unsafe extern "C" fn timed_wait(semaphore: usize, time: Time, pc: usize) -> c_int {
    let block = || real!(sem_timedwait(usize, Time) -> c_int)(semaphore, time);
    lower(semaphore, Deadline::at(libc::CLOCK_REALTIME, time), block, pc)
}

unsafe extern "C" fn clock_wait(semaphore: usize, clock: c_int, time: Time, pc: usize) -> c_int {
    let block = || real!(sem_clockwait(usize, c_int, Time) -> c_int)(semaphore, clock, time);
    lower(semaphore, Deadline::at(clock, time), block, pc)
}
