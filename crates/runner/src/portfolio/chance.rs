//! What the bandit draws.

/// Random numbers (splitmix64).
pub(super) struct Chance(pub u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    /// Above 0, at most 1.
    pub fn share(&mut self) -> f64 {
        ((self.next() >> 11) + 1) as f64 / (1u64 << 53) as f64
    }

    /// From the gamma distribution with this whole number as its shape: a sum of exponential ones.
    fn gamma(&mut self, shape: u64) -> f64 {
        (0..shape).map(|_| -self.share().ln()).sum()
    }

    /// From the beta distribution.
    pub fn beta(&mut self, one: u64, other: u64) -> f64 {
        let (one, other) = (self.gamma(one), self.gamma(other));
        one / (one + other)
    }
}
