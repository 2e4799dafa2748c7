//! Read-write locks.

use core::ffi::c_int;

use recording::EventKind;

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

unsafe extern "C" fn read_lock(lock: usize, pc: usize) -> c_int {
    sync::before_waiting(EventKind::AcquireShared, lock, pc);
    taken(EventKind::AcquireShared, lock, real!(pthread_rwlock_rdlock(usize) -> c_int)(lock), pc)
}

unsafe extern "C" fn try_read_lock(lock: usize, pc: usize) -> c_int {
    taken(EventKind::AcquireShared, lock, real!(pthread_rwlock_tryrdlock(usize) -> c_int)(lock), pc)
}

unsafe extern "C" fn timed_read_lock(lock: usize, time: usize, pc: usize) -> c_int {
    sync::before_waiting(EventKind::AcquireShared, lock, pc);
    taken(
        EventKind::AcquireShared,
        lock,
        real!(pthread_rwlock_timedrdlock(usize, usize) -> c_int)(lock, time),
        pc,
    )
}

unsafe extern "C" fn clock_read_lock(lock: usize, clock: c_int, time: usize, pc: usize) -> c_int {
    sync::before_waiting(EventKind::AcquireShared, lock, pc);
    let result = real!(pthread_rwlock_clockrdlock(usize, c_int, usize) -> c_int)(lock, clock, time);
    taken(EventKind::AcquireShared, lock, result, pc)
}

unsafe extern "C" fn write_lock(lock: usize, pc: usize) -> c_int {
    sync::before_waiting(EventKind::Acquire, lock, pc);
    taken(EventKind::Acquire, lock, real!(pthread_rwlock_wrlock(usize) -> c_int)(lock), pc)
}

unsafe extern "C" fn try_write_lock(lock: usize, pc: usize) -> c_int {
    taken(EventKind::Acquire, lock, real!(pthread_rwlock_trywrlock(usize) -> c_int)(lock), pc)
}

unsafe extern "C" fn timed_write_lock(lock: usize, time: usize, pc: usize) -> c_int {
    sync::before_waiting(EventKind::Acquire, lock, pc);
    taken(EventKind::Acquire, lock, real!(pthread_rwlock_timedwrlock(usize, usize) -> c_int)(lock, time), pc)
}

unsafe extern "C" fn clock_write_lock(lock: usize, clock: c_int, time: usize, pc: usize) -> c_int {
    sync::before_waiting(EventKind::Acquire, lock, pc);
    let result = real!(pthread_rwlock_clockwrlock(usize, c_int, usize) -> c_int)(lock, clock, time);
    taken(EventKind::Acquire, lock, result, pc)
}

/// One function gives back both kinds; that of the matching `Acquire` event counts.
unsafe extern "C" fn unlock(lock: usize, pc: usize) -> c_int {
    sync::shared_lock(EventKind::Release, lock, pc);
    let result = real!(pthread_rwlock_unlock(usize) -> c_int)(lock);
    sync::released();
    result
}
