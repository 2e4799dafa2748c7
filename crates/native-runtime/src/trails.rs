//! Handovers that follow one another through memory: a site at which a thread takes over one word after the other goes through
//! a buffer, as one access to all of it would.

use crate::handovers::ALWAYS_RECORDED;

/// The last handover to a thread at a site, and how many before it were near the one before them.
#[derive(Clone, Copy)]
pub struct Trail {
    leaf: u32,
    length: u32,
    word: usize,
}

/// A direct-mapped table: of two sites that want the same place neither is known to follow anything. All zero at first.
pub type Trails = [Trail; PLACES];
const PLACES: usize = 256;

/// Bytes from one handover to the next: a cache line, as loops that were unrolled have several sites that take turns.
const NEAR: usize = 64;

/// Notes a handover of this word, or part of it, to the thread at the site with this leaf. Have so many words followed one another there
/// that they are a buffer's?
pub fn goes_on(trails: &mut Trails, leaf: u32, word: usize) -> bool {
    let trail = &mut trails[(leaf.wrapping_mul(0x9e37_79b1) >> 16) as usize % PLACES];
    let distance = word.abs_diff(trail.word);
    if trail.leaf != leaf || distance > NEAR {
        trail.length = 0;
    } else if distance != 0 {
        trail.length = trail.length.saturating_add(1);
    }
    (trail.leaf, trail.word) = (leaf, word);
    trail.length >= ALWAYS_RECORDED
}
