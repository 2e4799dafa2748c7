//! Leaves at which memory is given back. A cell or slot keeps the leaf of its last write and no more; nothing but giving memory
//! back is done at the leaf of a call that does so, so that the leaf tells.

use recording::flag;

use crate::leaves::{Found, Leaves};

/// 16 KiB. What is done at a leaf that finds no room counts as a write later on.
static KNOWN: Leaves<{ 1 << 12 }> = Leaves::new();

/// Memory is given back at this leaf.
pub fn remember(leaf: u32) {
    if KNOWN.find(leaf) == Found::Absent {
        KNOWN.add(leaf);
    }
}

/// [`flag::FREE`] for the leaf of a last write at which memory was given back, else nothing.
pub fn flag_of(leaf: u32) -> u8 {
    if KNOWN.find(leaf) == Found::Here { flag::FREE } else { 0 }
}
