//! Leaves of accesses in the midst of a turn, which leave no record but as the turn's last: each is noted once in a
//! run, so that a reader knows every site that touched shared bytes.

use core::sync::atomic::{AtomicU32, Ordering};

use recording::{Event, EventKind};

use crate::log;
use crate::thread::Thread;

/// A hash table of leaves, 256 KiB, of which a program touches what it needs.
const PLACES: usize = 1 << 16;
static NOTED: [AtomicU32; PLACES] = [const { AtomicU32::new(0) }; PLACES];
/// Places a leaf can be at. One that finds all of them taken counts as noted, and is lost.
const PROBES: usize = 8;

fn places(leaf: u32) -> impl Iterator<Item = &'static AtomicU32> {
    let first = (leaf.wrapping_mul(0x9e37_79b1) >> 16) as usize;
    (0..PROBES).map(move |probe| &NOTED[(first + probe) % PLACES])
}

/// Is there nothing left to note about this leaf?
#[inline]
pub fn is_noted(leaf: u32) -> bool {
    for place in places(leaf) {
        match place.load(Ordering::Relaxed) {
            found if found == leaf => return true,
            0 => return false,
            _ => {}
        }
    }
    true
}

/// The same for a leaf that is where it is looked for first, as most are.
#[inline(always)]
pub fn is_noted_first(leaf: u32) -> bool {
    NOTED[(leaf.wrapping_mul(0x9e37_79b1) >> 16) as usize % PLACES].load(Ordering::Relaxed) == leaf
}

/// Notes an access to a location in the midst of this thread's turn there.
pub unsafe fn note(thread: &mut Thread, location: u32, leaf: u32) {
    for place in places(leaf) {
        match place.compare_exchange(0, leaf, Ordering::Relaxed, Ordering::Relaxed) {
            Ok(_) => break,
            Err(found) if found == leaf => return,
            Err(_) => {}
        }
    }
    let event = Event {
        kind: EventKind::Within as u8,
        flags: 0,
        size: 0,
        reserved: 0,
        leaf,
        tick: thread.last_tick,
        object: location,
        other: 0,
        value: 0,
    };
    log::emit(thread, event);
}

/// In a forked child, whose file has no events yet.
pub fn restart() {
    for place in &NOTED {
        if place.load(Ordering::Relaxed) != 0 {
            place.store(0, Ordering::Relaxed);
        }
    }
}
