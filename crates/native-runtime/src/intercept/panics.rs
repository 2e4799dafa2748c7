//! The begin of Rust's panics. The linker puts this in front of the unwinder in programs that cargo builds.

use core::ffi::c_int;

use recording::EventKind;

use super::jumps::marking;
use crate::real::real;
use crate::{log, thread};

/// What Rust marks its exceptions by, in their first word.
const RUST: u64 = u64::from_ne_bytes(*b"MOZ\0RUST");

marking! {
    __wrap__Unwind_RaiseException, mark_panic, _Unwind_RaiseException, begin;
}

unsafe fn begin(exception: usize) {
    if (exception as *const u64).read() == RUST
        && let Some(thread) = thread::enter()
    {
        log::emit_sync(thread, EventKind::Panic, 0, 0, 0, 0);
        thread::leave(thread);
    }
}
