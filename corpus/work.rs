//! Computation that shares nothing: work.h for the corpus's Rust programs.

use std::hint::black_box;

/// Scrambles `seed` for the given number of rounds, a nanosecond or two each.
pub fn compute(seed: u32, rounds: u32) -> u32 {
    let mut state = seed | 1;
    for _ in 0..rounds {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
    }
    black_box(state)
}
