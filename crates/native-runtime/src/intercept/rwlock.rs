//! Read-write locks.

use core::ffi::c_int;

use recording::EventKind;

use super::mutex::take;
use super::patience::{Holders, soon};
use crate::control::{Deadline, Time};
use crate::real::{real, with_caller};
use crate::sync;

with_caller! {
    pthread_rwlock_rdlock => 1, read_lock;
    pthread_rwlock_tryrdlock => 1, try_read_lock;
    pthread_rwlock_timedrdlock => 2, timed_read_lock;
    pthread_rwlock_clockrdlock => 3, clock_read_lock;
    pthread_rwlock_wrlock => 1, write_lock;
    pthread_rwlock_trywrlock => 1, try_write_lock;
    pthread_rwlock_timedwrlock => 2, timed_write_lock;
    pthread_rwlock_clockwrlock => 3, clock_write_lock;
    pthread_rwlock_unlock => 1, unlock;
}

unsafe fn taken(kind: EventKind, lock: usize, result: c_int, pc: usize) -> c_int {
    sync::after_waiting();
    if result == 0 {
        sync::shared_lock(kind, lock, pc);
    }
    result
}

unsafe fn attempt_read(lock: usize) -> c_int {
    real!(pthread_rwlock_tryrdlock(usize) -> c_int)(lock)
}

unsafe fn attempt_write(lock: usize) -> c_int {
    real!(pthread_rwlock_trywrlock(usize) -> c_int)(lock)
}

unsafe fn read(lock: usize, deadline: Option<Deadline>, block: impl FnOnce() -> c_int, pc: usize) -> c_int {
    sync::before_waiting(EventKind::AcquireShared, lock, pc);
    taken(EventKind::AcquireShared, lock, take(lock, false, deadline, || attempt_read(lock), block), pc)
}

unsafe fn write(lock: usize, deadline: Option<Deadline>, block: impl FnOnce() -> c_int, pc: usize) -> c_int {
    sync::before_waiting(EventKind::Acquire, lock, pc);
    taken(EventKind::Acquire, lock, take(lock, true, deadline, || attempt_write(lock), block), pc)
}

// The C library looks at a read-write lock before it tries to change it.
unsafe extern "C" fn read_lock(lock: usize, pc: usize) -> c_int {
    let block = || real!(pthread_rwlock_rdlock(usize) -> c_int)(lock);
    read(
        lock,
        None,
        || soon(lock, Holders::Readers, || true, || attempt_read(lock)).unwrap_or_else(block),
        pc,
    )
}

unsafe extern "C" fn try_read_lock(lock: usize, pc: usize) -> c_int {
    sync::disturb(lock, pc);
    taken(EventKind::AcquireShared, lock, attempt_read(lock), pc)
}

unsafe extern "C" fn timed_read_lock(lock: usize, time: Time, pc: usize) -> c_int {
    let block = || real!(pthread_rwlock_timedrdlock(usize, Time) -> c_int)(lock, time);
    read(lock, Deadline::at(libc::CLOCK_REALTIME, time), block, pc)
}

unsafe extern "C" fn clock_read_lock(lock: usize, clock: c_int, time: Time, pc: usize) -> c_int {
    let block = || real!(pthread_rwlock_clockrdlock(usize, c_int, Time) -> c_int)(lock, clock, time);
    read(lock, Deadline::at(clock, time), block, pc)
}

unsafe extern "C" fn write_lock(lock: usize, pc: usize) -> c_int {
    let block = || real!(pthread_rwlock_wrlock(usize) -> c_int)(lock);
    write(
        lock,
        None,
        || soon(lock, Holders::Readers, || true, || attempt_write(lock)).unwrap_or_else(block),
        pc,
    )
}

unsafe extern "C" fn try_write_lock(lock: usize, pc: usize) -> c_int {
    sync::disturb(lock, pc);
    taken(EventKind::Acquire, lock, attempt_write(lock), pc)
}

unsafe extern "C" fn timed_write_lock(lock: usize, time: Time, pc: usize) -> c_int {
    let block = || real!(pthread_rwlock_timedwrlock(usize, Time) -> c_int)(lock, time);
    write(lock, Deadline::at(libc::CLOCK_REALTIME, time), block, pc)
}

unsafe extern "C" fn clock_write_lock(lock: usize, clock: c_int, time: Time, pc: usize) -> c_int {
    let block = || real!(pthread_rwlock_clockwrlock(usize, c_int, Time) -> c_int)(lock, clock, time);
    write(lock, Deadline::at(clock, time), block, pc)
}

/// One function gives back both kinds; that of the matching `Acquire` event counts.
unsafe extern "C" fn unlock(lock: usize, pc: usize) -> c_int {
    sync::shared_lock(EventKind::Release, lock, pc);
    let result = real!(pthread_rwlock_unlock(usize) -> c_int)(lock);
    sync::released(lock, pc);
    result
}
