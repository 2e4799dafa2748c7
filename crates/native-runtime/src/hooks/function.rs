//! Start, function entry and exit.

use crate::real::with_caller;
use crate::{context, start};

/// Called by the constructor of each instrumented module.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tsan_init() {
    start::ensure();
    if let Some(thread) = crate::thread::enter() {
        crate::thread::leave(thread);
    }
}

with_caller! {
    __tsan_func_entry => 1 with frame, enter;
}

unsafe extern "C" fn enter(call: usize, entry: usize, sp: usize, fp: usize) {
    context::enter(call, entry, sp, fp);
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tsan_func_exit() {
    context::exit();
}
