//! What programs tell a race detector about synchronization of their own making.

use core::ffi::{c_char, c_int, c_void};

use recording::EventKind;

use crate::intercept::name_thread;
use crate::real::with_caller;
use crate::{fibers, sync};

with_caller! {
    __tsan_acquire => 1, acquire;
    __tsan_release => 1, release;
    __tsan_mutex_post_lock => 3, post_lock;
    __tsan_mutex_pre_unlock => 2, pre_unlock;
    AnnotateHappensAfter => 3, annotate_happens_after;
    AnnotateHappensBefore => 3, annotate_happens_before;
    AnnotateRWLockAcquired => 4, annotate_acquired;
    AnnotateRWLockReleased => 4, annotate_released;
}

/// Flags of `__tsan_mutex_*`.
const READ_LOCK: u32 = 1 << 3;
const TRY_LOCK: u32 = 1 << 4;
const TRY_LOCK_FAILED: u32 = 1 << 5;

unsafe extern "C" fn acquire(address: usize, pc: usize) {
    sync::happened(EventKind::SemaphoreWait, address, 0, pc);
}

unsafe extern "C" fn release(address: usize, pc: usize) {
    sync::happened(EventKind::SemaphorePost, address, 0, pc);
}

unsafe extern "C" fn annotate_happens_after(_: *const c_char, _: c_int, address: usize, pc: usize) {
    acquire(address, pc);
}

unsafe extern "C" fn annotate_happens_before(_: *const c_char, _: c_int, address: usize, pc: usize) {
    release(address, pc);
}

unsafe extern "C" fn post_lock(address: usize, flags: u32, _recursion: c_int, pc: usize) {
    if flags & TRY_LOCK_FAILED == 0 {
        let kind = if flags & READ_LOCK != 0 { EventKind::AcquireShared } else { EventKind::Acquire };
        if flags & TRY_LOCK != 0 {
            sync::tries(address);
        }
        sync::shared_lock(kind, address, pc);
    }
}

unsafe extern "C" fn pre_unlock(address: usize, flags: u32, pc: usize) -> c_int {
    let kind = if flags & READ_LOCK != 0 { EventKind::ReleaseShared } else { EventKind::Release };
    sync::shared_lock(kind, address, pc);
    0
}

unsafe extern "C" fn annotate_acquired(
    _: *const c_char,
    _: c_int,
    address: usize,
    for_writing: usize,
    pc: usize,
) {
    let kind = if for_writing != 0 { EventKind::Acquire } else { EventKind::AcquireShared };
    sync::shared_lock(kind, address, pc);
}

unsafe extern "C" fn annotate_released(
    _: *const c_char,
    _: c_int,
    address: usize,
    for_writing: usize,
    pc: usize,
) {
    let kind = if for_writing != 0 { EventKind::Release } else { EventKind::ReleaseShared };
    sync::shared_lock(kind, address, pc);
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tsan_mutex_destroy(address: usize, _flags: u32) {
    sync::destroyed(address);
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn AnnotateRWLockDestroy(_: *const c_char, _: c_int, address: usize) {
    sync::destroyed(address);
}

// What the annotations' header asks before it uses them.
#[unsafe(no_mangle)]
pub extern "C" fn ThreadSanitizerQuery(_: *const c_char) -> *const c_char {
    c"".as_ptr()
}

#[unsafe(no_mangle)]
pub extern "C" fn RunningOnValgrind() -> c_int {
    0
}

#[unsafe(no_mangle)]
pub extern "C" fn ValgrindSlowdown() -> f64 {
    1.0
}

with_caller! {
    WTFAnnotateHappensAfter => 3, annotate_happens_after;
    WTFAnnotateHappensBefore => 3, annotate_happens_before;
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn AnnotateThreadName(_: *const c_char, _: c_int, name: *const c_char) {
    name_thread(name);
}

macro_rules! ignored {
    ($($name:ident($($argument:ty),*);)*) => {
        $(
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name($(_: $argument),*) {}
        )*
    };
}

// Creation tells nothing that the first use does not; the time around a lock or signal is its own affair.
ignored! {
    WTFAnnotateBenignRaceSized(*const c_char, c_int, usize, usize, *const c_char);
    AnnotateRWLockCreate(*const c_char, c_int, usize);
    __tsan_mutex_create(usize, u32);
    __tsan_mutex_pre_lock(usize, u32);
    __tsan_mutex_post_unlock(usize, u32);
    __tsan_mutex_pre_signal(usize, u32);
    __tsan_mutex_post_signal(usize, u32);
    __tsan_mutex_pre_divert(usize, u32);
    __tsan_mutex_post_divert(usize, u32);
}

// Unaligned loads and stores of the sanitizers' common interface: the access is recorded and done.
macro_rules! unaligned {
    ($load:ident, $recorded_load:ident, $store:ident, $recorded_store:ident, $value:ty) => {
        with_caller! {
            $load => 1, $recorded_load;
            $store => 2, $recorded_store;
        }

        unsafe extern "C" fn $recorded_load(address: usize, pc: usize) -> $value {
            crate::access::any(address, size_of::<$value>(), crate::cells::Kind::Read, pc);
            (address as *const $value).read_unaligned()
        }

        unsafe extern "C" fn $recorded_store(address: usize, value: $value, pc: usize) {
            crate::access::any(address, size_of::<$value>(), crate::cells::Kind::Write, pc);
            (address as *mut $value).write_unaligned(value);
        }
    };
}

unaligned!(__sanitizer_unaligned_load16, load16, __sanitizer_unaligned_store16, store16, u16);
unaligned!(__sanitizer_unaligned_load32, load32, __sanitizer_unaligned_store32, store32, u32);
unaligned!(__sanitizer_unaligned_load64, load64, __sanitizer_unaligned_store64, store64, u64);

// Fibers have call stacks of their own, but are not threads: one runs after another on theirs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tsan_get_current_fiber() -> *mut c_void {
    core::ptr::without_provenance_mut(fibers::current())
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tsan_create_fiber(_flags: u32) -> *mut c_void {
    let key = fibers::new_key();
    fibers::begin(key);
    core::ptr::without_provenance_mut(key)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tsan_switch_to_fiber(fiber: *mut c_void, _flags: u32) {
    fibers::switch(fibers::current(), fiber as usize);
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tsan_destroy_fiber(fiber: *mut c_void) {
    fibers::end(fiber as usize);
}

ignored! {
    __tsan_set_fiber_name(*mut c_void, *const c_char);
}
