//! Leaves at which memory is given back. A cell or slot keeps the leaf of its last write and no more; nothing but giving memory
//! back is done at the leaf of a call that does so, so that the leaf tells.

use core::sync::atomic::{AtomicU32, Ordering};

use recording::flag;

/// A hash table, 16 KiB, of which a program touches what it needs.
const PLACES: usize = 1 << 12;
static KNOWN: [AtomicU32; PLACES] = [const { AtomicU32::new(0) }; PLACES];
/// Places a leaf can be at. What is done at one that finds all of them taken counts as a write later on.
const PROBES: usize = 8;

fn places(leaf: u32) -> impl Iterator<Item = &'static AtomicU32> {
    let first = (leaf.wrapping_mul(0x9e37_79b1) >> 16) as usize;
    (0..PROBES).map(move |probe| &KNOWN[(first + probe) % PLACES])
}

/// Memory is given back at this leaf.
pub fn remember(leaf: u32) {
    for place in places(leaf) {
        match place.load(Ordering::Relaxed) {
            found if found == leaf => return,
            0 => match place.compare_exchange(0, leaf, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => return,
                Err(found) if found == leaf => return,
                Err(_) => {}
            },
            _ => {}
        }
    }
}

/// [`flag::FREE`] for the leaf of a last write at which memory was given back, else nothing.
pub fn flag_of(leaf: u32) -> u8 {
    let mut taken = places(leaf).map(|place| place.load(Ordering::Relaxed)).take_while(|&found| found != 0);
    if taken.any(|found| found == leaf) { flag::FREE } else { 0 }
}
