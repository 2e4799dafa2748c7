//! Locks that are held for a few dozen instructions, in private memory or in the mapping.

use core::sync::atomic::{AtomicU32, Ordering};

/// Spins before each yield to the scheduler; a holder that is running is done long before.
const SPINS_BEFORE_YIELD: u32 = 200;
/// Yields after which the holder must have vanished (left by a jump out of a signal handler): give up.
const YIELDS_BEFORE_GIVING_UP: u32 = 5_000_000;

/// Takes the lock; false if its holder seems to be gone for good.
#[inline]
pub fn lock(word: &AtomicU32) -> bool {
    word.compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed).is_ok() || contended(word)
}

#[cold]
#[inline(never)]
fn contended(word: &AtomicU32) -> bool {
    for _ in 0..YIELDS_BEFORE_GIVING_UP {
        for _ in 0..SPINS_BEFORE_YIELD {
            if word.load(Ordering::Relaxed) == 0
                && word.compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed).is_ok()
            {
                return true;
            }
            core::hint::spin_loop();
        }
        // After a fault nobody has to give a lock back.
        if !crate::log::is_active() {
            return false;
        }
        // SAFETY: no arguments.
        unsafe { crate::kernel::pass() };
    }
    crate::log::fault(recording::fault::INTERNAL, recording::fault::LOCK_LOST);
    false
}

#[inline]
pub fn unlock(word: &AtomicU32) {
    word.store(0, Ordering::Release);
}
