//! A set of leaves that threads fill in together, without locks: a hash table, of which a program touches what it needs.

use core::sync::atomic::{AtomicU32, Ordering};

/// Places a leaf can be at.
const PROBES: usize = 8;

pub struct Leaves<const PLACES: usize>([AtomicU32; PLACES]);

#[derive(PartialEq, Eq)]
pub enum Found {
    Here,
    Absent,
    /// All its places are taken by others.
    NoRoom,
}

impl<const PLACES: usize> Leaves<PLACES> {
    pub const fn new() -> Leaves<PLACES> {
        Leaves([const { AtomicU32::new(0) }; PLACES])
    }

    #[inline(always)]
    fn first_place(leaf: u32) -> usize {
        (leaf.wrapping_mul(0x9e37_79b1) >> 16) as usize % PLACES
    }

    fn places(&self, leaf: u32) -> impl Iterator<Item = &AtomicU32> {
        (0..PROBES).map(move |probe| &self.0[(Self::first_place(leaf) + probe) % PLACES])
    }

    #[inline]
    pub fn find(&self, leaf: u32) -> Found {
        for place in self.places(leaf) {
            match place.load(Ordering::Relaxed) {
                found if found == leaf => return Found::Here,
                0 => return Found::Absent,
                _ => {}
            }
        }
        Found::NoRoom
    }

    /// Is it where it is looked for first, as most are?
    #[inline(always)]
    pub fn has_first(&self, leaf: u32) -> bool {
        self.0[Self::first_place(leaf)].load(Ordering::Relaxed) == leaf
    }

    /// Adds a leaf and says what was there before.
    pub fn add(&self, leaf: u32) -> Found {
        for place in self.places(leaf) {
            match place.compare_exchange(0, leaf, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => return Found::Absent,
                Err(found) if found == leaf => return Found::Here,
                Err(_) => {}
            }
        }
        Found::NoRoom
    }

    pub fn clear(&self) {
        for place in self.0.iter().filter(|place| place.load(Ordering::Relaxed) != 0) {
            place.store(0, Ordering::Relaxed);
        }
    }
}
