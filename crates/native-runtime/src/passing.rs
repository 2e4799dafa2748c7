//! Handovers that have been seen many times already: the bytes just change their user.

use core::sync::atomic::{AtomicU32, Ordering};

use crate::cell::{BYTES, Cell, ID, READ_BY_MANY, SHARED, SPLIT};
use crate::cells::{Touch, byte_mask};
use crate::shadow::Line;
use crate::split::{self, split};
use crate::thread::Thread;
use crate::{handovers, log, own};

/// Takes over bytes whose handover is no news. False if there is something to record, or to
/// cut: what was not taken over yet is as before then. With the word's lock held.
pub unsafe fn take_over(
    thread: &mut Thread,
    line: *mut Line,
    address: usize,
    size: usize,
    touch: Touch,
) -> bool {
    let mask = byte_mask(address, size) as u32;
    (mask & 15 == 0 || take_over_half(thread, line, 0, mask & 15, touch))
        && (mask >> 4 == 0 || take_over_half(thread, line, 1, mask >> 4, touch))
}

unsafe fn take_over_half(thread: &mut Thread, line: *mut Line, half: usize, mask: u32, touch: Touch) -> bool {
    let cell = Cell::half(line, half);
    let owner = *cell.owner;
    if owner & SHARED != 0 {
        return owner == READ_BY_MANY && !touch.writes();
    }
    if mask == 15 && owner != 0 && owner & (SPLIT | BYTES) == 0 && owner & ID != thread.id {
        return take_over_cell(thread, cell, touch);
    }
    if owner & SPLIT == 0 {
        if own::note_half(line, half, mask, thread.who(), touch) {
            return true;
        }
        if *cell.owner & ID != thread.id && !handovers::is_no_news(thread, cell.newest(), touch.leaf) {
            return false;
        }
        if !split(thread, line, half) {
            return false;
        }
    }
    for byte in (0..4).filter(|byte| mask >> byte & 1 != 0) {
        let cell = Cell::byte(line, half, byte);
        let user = *cell.owner;
        let done = if user == READ_BY_MANY {
            !touch.writes()
        } else if user == 0 || user == thread.id {
            own::note_half(line, half, 1 << byte, thread.who(), touch)
        } else {
            user & SHARED == 0 && take_over_cell(thread, cell, touch)
        };
        if !done {
            return false;
        }
    }
    // Whoever goes through a buffer byte by byte has now been everywhere.
    if mask & 8 != 0 {
        split::join(thread, line, half);
    }
    true
}

/// Takes a cell from the one thread that has used it so far.
unsafe fn take_over_cell(thread: &mut Thread, cell: Cell, touch: Touch) -> bool {
    if !handovers::is_no_news(thread, cell.newest(), touch.leaf) {
        return false;
    }
    log::count_thinned(thread);
    if *cell.write == 0 && !touch.writes() {
        // From reader to reader and back, for as long as nobody writes: no thread's bytes any more.
        *cell.write = *cell.owner & ID;
        AtomicU32::from_ptr(cell.owner).store(READ_BY_MANY, Ordering::Release);
    } else {
        cell.take(thread, touch);
    }
    true
}
