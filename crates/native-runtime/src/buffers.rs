//! Leaves at which buffers are accessed as wholes. A cell keeps the leaf of its bytes' last access and no more; so the leaf
//! tells whether they are a buffer's, to whoever takes them over piece by piece.

use crate::leaves::{Found, Leaves};

/// 16 KiB. What is accessed at a leaf that finds no room counts as items of their own.
static KNOWN: Leaves<{ 1 << 12 }> = Leaves::new();

/// A buffer is accessed at this leaf.
pub fn remember(leaf: u32) {
    if !KNOWN.has_first(leaf) && KNOWN.find(leaf) == Found::Absent {
        KNOWN.add(leaf);
    }
}

/// Are buffers accessed at this leaf?
pub fn are_accessed_at(leaf: u32) -> bool {
    KNOWN.find(leaf) == Found::Here
}
