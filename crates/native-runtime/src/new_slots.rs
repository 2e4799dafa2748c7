//! Slots that nobody has used yet, some for each thread, one behind the other.
//!
//! Threads that use a location store to their slots of it all the time, and processors fetch cache lines two by two: of slots that
//! are neighbours, each thread would take the other's away. So a thread's slots lie among its own.

use recording::{RegionId, Slot};

use crate::thread::Thread;
use crate::{mapping, slots};

/// Those of one thread.
#[derive(Default)]
pub struct NewSlots {
    first: u32,
    left: u32,
    /// How many there were the last time.
    taken: u32,
}

/// At first, since many threads need but a few; then twice as many each time, up to a page of them.
const FEWEST: u32 = 8;
const MOST: u32 = 64;

/// The number of one of them.
pub unsafe fn take(thread: &mut Thread) -> Option<u32> {
    let new = &mut thread.new_slots;
    if new.left == 0 {
        let count = (2 * new.taken).clamp(FEWEST, MOST);
        let first = mapping::allocate_records::<Slot>(RegionId::Slots, count)?;
        *new = NewSlots { first, left: count, taken: count };
    }
    new.first += 1;
    new.left -= 1;
    Some(new.first - 1)
}

/// Puts those that the thread has not used among its free ones.
pub unsafe fn give_back_all(thread: &mut Thread) {
    let NewSlots { first, left, .. } = core::mem::take(&mut thread.new_slots);
    for number in (first..first + left).rev() {
        (*slots::at(number)).next = thread.free_slots;
        thread.free_slots = number;
    }
}
