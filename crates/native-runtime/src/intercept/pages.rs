//! Pages that the target unmaps: whatever is mapped there next is new.

use core::ffi::c_int;

use crate::{mapping, rebirth, thread};

#[unsafe(no_mangle)]
pub unsafe extern "C" fn munmap(start: usize, bytes: usize) -> c_int {
    // Before, since afterwards the range may be another thread's.
    let thread = if thread::is_inside() { None } else { thread::enter() };
    if let Some(thread) = thread {
        rebirth::forget(start, start.saturating_add(bytes));
        thread::leave(thread);
    }
    mapping::unmap(start as *mut u8, bytes)
}
