//! Modules that are unloaded.

use core::ffi::{c_int, c_void};

use crate::modules;
use crate::real::real;

/// Before, since its memory may soon be another's; and after, since it was still listed in between.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dlclose(handle: *mut c_void) -> c_int {
    modules::unloading();
    let result = real!(dlclose(*mut c_void) -> c_int)(handle);
    modules::unloaded();
    result
}
