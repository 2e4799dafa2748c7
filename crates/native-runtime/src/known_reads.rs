//! Reads that a thread's turn has on record where its first slot has no room for further sites: remembered so that each is
//! found without a walk through the thread's further slots. Loops that a compiler has unrolled read so.

use recording::Slot;

/// A direct-mapped cache. All zero at first; no location has that number.
pub type KnownReads = [KnownRead; PLACES];
const PLACES: usize = 8192;

/// A read on record in the version of a location that a thread's slot belongs to.
#[derive(Clone, Copy)]
pub struct KnownRead {
    location: u32,
    version: u32,
    leaf: u32,
}

#[inline(always)]
fn place(location: u32, leaf: u32) -> usize {
    ((location ^ leaf.rotate_left(16)).wrapping_mul(0x9e37_79b1) >> 16) as usize % PLACES
}

/// Has the turn of this slot a read at this leaf on record, as far as is remembered?
#[inline(always)]
pub unsafe fn has(known: &KnownReads, slot: *const Slot, leaf: u32) -> bool {
    let read = &known[place((*slot).location, leaf)];
    (read.leaf ^ leaf) | (read.location ^ (*slot).location) | (read.version ^ (*slot).version) == 0
}

pub unsafe fn remember(known: &mut KnownReads, slot: *const Slot, leaf: u32) {
    let (location, version) = ((*slot).location, (*slot).version);
    known[place(location, leaf)] = KnownRead { location, version, leaf };
}

/// In a forked child, which has no locations yet.
pub fn forget(known: &mut KnownReads) {
    known.iter_mut().for_each(|read| read.location = 0);
}
