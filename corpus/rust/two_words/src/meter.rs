//! A count of bytes in two words, for machines whose words are short: a low one, and a high one that its overflows go to.

#[cfg(fixed)]
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::work::compute;

const PARITY_ROUNDS: u32 = 40;

pub struct Meter {
    low: AtomicU32,
    high: AtomicU32,
    #[cfg(fixed)]
    lock: Mutex<()>,
}

impl Meter {
    pub fn new(low: u32) -> Meter {
        Meter {
            low: AtomicU32::new(low),
            high: AtomicU32::new(0),
            #[cfg(fixed)]
            lock: Mutex::new(()),
        }
    }

    /// Only one thread may add.
    #[inline(never)]
    pub fn add(&self, bytes: u32) {
        #[cfg(fixed)]
        let _guard = self.lock.lock().unwrap();
        let before = self.low.load(Ordering::Relaxed);
        let (low, overflows) = before.overflowing_add(bytes);
        let high = self.high.load(Ordering::Relaxed) + u32::from(overflows);
        self.low.store(low, Ordering::SeqCst); // truth:A2
        self.high.store(high, Ordering::SeqCst); // truth:A3
    }

    #[inline(never)]
    pub fn total(&self) -> u64 {
        #[cfg(fixed)]
        let _guard = self.lock.lock().unwrap();
        let low = self.low.load(Ordering::SeqCst); // truth:A1
        let low = checked(low);
        let high = self.high.load(Ordering::SeqCst); // truth:A4
        u64::from(high) << 32 | u64::from(low)
    }
}

/// Stands for comparing a word with its parity.
fn checked(word: u32) -> u32 {
    if compute(word, PARITY_ROUNDS) == 0 { 0 } else { word }
}
