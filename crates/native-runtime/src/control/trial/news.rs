//! Does anything new happen, or do threads go round in circles? Holding a thread back is for nothing where the others
//! merely repeat what they have done before; as long as they come to new places, what is waited for may still happen.

/// Bits for threads at places, of which some share one.
const BITS: usize = 4096;

pub struct News {
    seen: [u64; BITS / 64],
    /// The newest point at which something was new.
    pub at: u32,
}

impl News {
    pub const fn new() -> News {
        News { seen: [0; BITS / 64], at: 0 }
    }

    /// The thread of this seat comes to a place, with all calls that led there.
    pub fn visit(&mut self, seat: usize, leaf: u32, point: u32) {
        let mixed = ((seat as u64) << 32 | u64::from(leaf)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let bit = mixed as usize >> (usize::BITS - BITS.ilog2());
        let word = &mut self.seen[bit / 64];
        if *word & 1 << (bit % 64) == 0 {
            *word |= 1 << (bit % 64);
            self.at = point;
        }
    }
}
