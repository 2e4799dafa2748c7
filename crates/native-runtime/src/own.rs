//! Accesses to bytes that are the thread's own, or nobody's yet, in all forms that the fast path leaves out.
//! Without a lock.

use crate::cell::{Cell, ID, Masks, READ_BY_MANY, SHARED, SPLIT, exchange};
use crate::cells::{Touch, byte_mask};
use crate::shadow::{self, Line};

/// Who accesses, and when.
#[derive(Clone, Copy)]
pub struct Who {
    pub id: u32,
    pub stamp: u16,
}

/// Notes an access within a word if it concerns no other thread and is no trouble to describe. Otherwise it has
/// to be looked at closely; parts of it may have been noted then, which does no harm.
#[inline]
pub unsafe fn note(line: *mut Line, who: Who, address: usize, size: usize, touch: Touch) -> bool {
    let mask = byte_mask(address, size) as u32;
    (mask & 15 == 0 || note_half(line, 0, mask & 15, who, touch))
        && (mask >> 4 == 0 || note_half(line, 1, mask >> 4, who, touch))
}

#[inline(always)]
pub unsafe fn note_half(line: *mut Line, half: usize, mask: u32, who: Who, touch: Touch) -> bool {
    // Each turn is for one change by another thread in between.
    for _ in 0..4 {
        let owner = (&raw const (*line).owner[half]).read_volatile();
        if owner & SHARED != 0 {
            return owner == READ_BY_MANY && !touch.writes();
        }
        if owner & SPLIT != 0 {
            return note_bytes(owner, line, half, mask, who, touch);
        }
        let mut masks = Masks::of(line, half, owner);
        if owner != 0 {
            // The access overwrites the description of its own bytes; will other bytes lose theirs?
            let loses = |described: u32, leaf: u32| described & !mask != 0 && leaf != touch.leaf;
            if owner & ID != who.id
                || touch.reads() && loses(masks.reads, (*line).read[half])
                || touch.writes() && loses(masks.writes, (*line).write[half])
            {
                return false;
            }
        } else {
            masks = Masks { reads: 0, writes: 0 };
            shadow::before_first_change(line);
        }
        masks.reads |= if touch.reads() { mask } else { 0 };
        masks.writes |= if touch.writes() { mask } else { 0 };
        let new = masks.owner(who.id);
        if new == owner || exchange(&raw mut (*line).owner[half], owner, new) {
            Cell::half(line, half).note(who.stamp, touch);
            return true;
        }
    }
    false
}

#[inline(never)]
unsafe fn note_bytes(owner: u32, line: *mut Line, half: usize, mask: u32, who: Who, touch: Touch) -> bool {
    for byte in (0..4).filter(|byte| mask >> byte & 1 != 0) {
        let cell = Cell::byte(owner, line, half, byte);
        let user = cell.owner.read_volatile();
        if user == READ_BY_MANY && !touch.writes() {
            continue;
        }
        if user != who.id && (user != 0 || !exchange(cell.owner, 0, who.id)) {
            return false;
        }
        cell.note(who.stamp, touch);
    }
    true
}
