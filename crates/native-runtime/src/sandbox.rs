//! A target that is about to give up system calls for good (seccomp) may be killed for one that only the recorder
//! makes. So the recorder asks for its storage beforehand, and from then on makes do with that.
//!
//! What is left are calls that every program with threads must be allowed: mmap, munmap, madvise, sched_yield.

use core::sync::atomic::{AtomicBool, Ordering};

use crate::{control, errno, log, mapping};

static CLOSED: AtomicBool = AtomicBool::new(false);

/// Are system calls to be avoided?
#[inline]
pub fn is_closed() -> bool {
    CLOSED.load(Ordering::Relaxed)
}

/// The target is about to restrict itself.
pub unsafe fn close() {
    if log::is_active() && !CLOSED.swap(true, Ordering::Relaxed) {
        let _errno = errno::keep();
        mapping::back_ahead();
        control::end();
    }
}
