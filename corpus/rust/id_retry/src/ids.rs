//! Numbers for the orders of a shop.

use std::sync::atomic::{AtomicU32, Ordering};

use crate::work::compute;

const DIGIT_ROUNDS: u32 = 40;

pub struct Ids {
    latest: AtomicU32,
}

impl Ids {
    pub fn new() -> Ids {
        Ids { latest: AtomicU32::new(0) }
    }

    /// A number that no order of the shop had before.
    #[inline(never)]
    pub fn take(&self) -> u32 {
        let mut seen = self.latest.load(Ordering::SeqCst); // truth:A1
        #[cfg_attr(not(fixed), expect(unused_mut))]
        let mut id = next(seen);
        while let Err(latest) = self.replace(seen, id) {
            seen = latest;
            #[cfg(fixed)]
            {
                id = next(seen);
            }
        }
        id
    }

    fn replace(&self, seen: u32, id: u32) -> Result<u32, u32> {
        self.latest.compare_exchange(seen, id, Ordering::SeqCst, Ordering::SeqCst) // truth:A2
    }
}

/// Numbers end in a digit that tells typing errors.
fn next(id: u32) -> u32 {
    let plain = id / 10 + 1;
    plain * 10 + compute(plain, DIGIT_ROUNDS) % 10
}
