//! Semaphores.

use core::ffi::c_int;

use recording::EventKind;

use crate::real::{real, with_caller};
use crate::sync;

with_caller! {
    sem_post => 1, post;
    sem_wait => 1, wait;
    sem_trywait => 1, try_wait;
    sem_timedwait => 2, timed_wait;
    sem_clockwait => 3, clock_wait;
}

unsafe extern "C" fn post(semaphore: usize, pc: usize) -> c_int {
    sync::disturb();
    sync::happened(EventKind::SemaphorePost, semaphore, 0, pc);
    real!(sem_post(usize) -> c_int)(semaphore)
}

unsafe fn lowered(semaphore: usize, result: c_int, pc: usize) -> c_int {
    sync::after_waiting();
    if result == 0 {
        sync::happened(EventKind::SemaphoreWait, semaphore, 0, pc);
    }
    result
}

unsafe extern "C" fn wait(semaphore: usize, pc: usize) -> c_int {
    sync::before_waiting(EventKind::SemaphoreWait, semaphore, pc);
    lowered(semaphore, real!(sem_wait(usize) -> c_int)(semaphore), pc)
}

unsafe extern "C" fn try_wait(semaphore: usize, pc: usize) -> c_int {
    lowered(semaphore, real!(sem_trywait(usize) -> c_int)(semaphore), pc)
}

unsafe extern "C" fn timed_wait(semaphore: usize, time: usize, pc: usize) -> c_int {
    sync::before_waiting(EventKind::SemaphoreWait, semaphore, pc);
    lowered(semaphore, real!(sem_timedwait(usize, usize) -> c_int)(semaphore, time), pc)
}

unsafe extern "C" fn clock_wait(semaphore: usize, clock: c_int, time: usize, pc: usize) -> c_int {
    sync::before_waiting(EventKind::SemaphoreWait, semaphore, pc);
    lowered(semaphore, real!(sem_clockwait(usize, c_int, usize) -> c_int)(semaphore, clock, time), pc)
}
