//! Locks that are held for a few dozen instructions, in private memory or in the mapping.

use core::sync::atomic::{AtomicU32, Ordering};

/// Spins before each yield to the scheduler; a holder that is running is done long before.
const SPINS_BEFORE_YIELD: u32 = 200;
/// But not before so many looks.
const LOOKS_BEFORE_YIELD: u32 = 6;
/// Yields after which the holder must have vanished (left by a jump out of a signal handler): give up.
const YIELDS_BEFORE_GIVING_UP: u32 = 5_000_000;

/// Pauses between two looks at a lock that many want: whoever looks takes the line away from whoever is to change it, and who has
/// what changes with it at hand can take it again meanwhile.
const PAUSES: u32 = 256;

/// Takes the lock; false if its holder seems to be gone for good.
#[inline]
pub fn lock(word: &AtomicU32) -> bool {
    word.compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed).is_ok() || contended(word, 1)
}

/// The same for a lock beside what it protects, that threads fight for.
#[inline]
pub fn lock_wanted(word: &AtomicU32) -> bool {
    word.compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed).is_ok() || contended(word, PAUSES)
}

#[cold]
#[inline(never)]
fn contended(word: &AtomicU32, pauses: u32) -> bool {
    while wait_while(word, 1, pauses) {
        if word.compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed).is_ok() {
            return true;
        }
    }
    false
}

/// Waits as long as the word has this value, with so many pauses between two looks; false if that seems to be for good.
pub fn wait_while(word: &AtomicU32, value: u32, pauses: u32) -> bool {
    for _ in 0..YIELDS_BEFORE_GIVING_UP {
        for _ in 0..(SPINS_BEFORE_YIELD / pauses).max(LOOKS_BEFORE_YIELD) {
            if word.load(Ordering::Relaxed) != value {
                return true;
            }
            (0..pauses).for_each(|_| core::hint::spin_loop());
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
