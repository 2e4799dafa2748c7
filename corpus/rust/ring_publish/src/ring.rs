//! A ring of samples that one thread fills and another empties, without a lock.

use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

use crate::work::compute;

const CONVERT_ROUNDS: u32 = 50;
const SLOTS: usize = 16;

pub struct Ring {
    slots: [AtomicU32; SLOTS],
    /// Samples that were ever put in.
    filled: AtomicUsize,
    /// Samples that were ever taken out.
    emptied: AtomicUsize,
}

impl Ring {
    pub fn new() -> Ring {
        Ring {
            slots: [const { AtomicU32::new(0) }; SLOTS],
            filled: AtomicUsize::new(0),
            emptied: AtomicUsize::new(0),
        }
    }

    /// Only one thread may put samples in. There must be room.
    #[cfg(not(fixed))]
    #[inline(never)]
    pub fn put(&self, sample: u32) {
        let at = self.filled.load(Ordering::Relaxed);
        self.filled.store(at + 1, Ordering::SeqCst); // truth:A1
        self.slots[at % SLOTS].store(converted(sample), Ordering::SeqCst); // truth:A4
    }

    /// Only one thread may put samples in. There must be room.
    #[cfg(fixed)]
    #[inline(never)]
    pub fn put(&self, sample: u32) {
        let at = self.filled.load(Ordering::Relaxed);
        self.slots[at % SLOTS].store(converted(sample), Ordering::SeqCst);
        self.filled.store(at + 1, Ordering::SeqCst);
    }

    /// The next sample, if there is one. Only one thread may take samples out.
    #[inline(never)]
    pub fn take(&self) -> Option<u32> {
        let at = self.emptied.load(Ordering::Relaxed);
        let filled = self.filled.load(Ordering::SeqCst); // truth:A2
        if filled == at {
            return None;
        }
        let sample = self.slots[at % SLOTS].load(Ordering::SeqCst); // truth:A3
        self.emptied.store(at + 1, Ordering::Relaxed);
        Some(sample)
    }
}

/// A sample in the unit of the display; never zero.
fn converted(sample: u32) -> u32 {
    compute(sample, CONVERT_ROUNDS) | 1
}
