//! Handovers that have been seen many times already: the bytes just change their user.

use core::sync::atomic::{AtomicU32, Ordering};

use crate::cell::{Cell, ID, Masks, READ_BY_MANY, SHARED, SPLIT};
use crate::cells::{Kind, Touch, byte_mask, remember_reader, try_lock, unlock};
use crate::shadow::Line;
use crate::split::{self, split};
use crate::thread::Thread;
use crate::{handovers, log, noise, own, passages, trails};

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
    let word = address & !7;
    if touch.writes() {
        remember_reader(line, mask as u16);
    }
    (mask & 15 == 0 || take_over_half(thread, line, word, 0, mask & 15, touch))
        && (mask >> 4 == 0 || take_over_half(thread, line, word, 1, mask >> 4, touch))
}

unsafe fn take_over_half(
    thread: &mut Thread,
    line: *mut Line,
    word: usize,
    half: usize,
    mask: u32,
    touch: Touch,
) -> bool {
    let cell = Cell::half(line, half);
    let owner = *cell.owner;
    if owner & SHARED != 0 {
        return owner == READ_BY_MANY && !touch.writes();
    }
    if mask == 15 && cell.is_whole_of_another(thread) {
        return take_over_cell(thread, word, cell, touch);
    }
    if owner & SPLIT == 0 {
        if own::note_half(line, half, mask, thread.who(), touch) {
            return true;
        }
        if *cell.owner & ID != thread.id && !is_no_news(thread, word, &cell, touch) {
            return false;
        }
        if !split(thread, line, half) {
            let is_own = *cell.owner & ID == thread.id;
            if !is_own {
                take_over_part(thread, cell, mask, touch);
            }
            return !is_own;
        }
    }
    for byte in (0..4).filter(|byte| mask >> byte & 1 != 0) {
        let cell = Cell::byte((*line).owner[half], line, half, byte);
        let user = *cell.owner;
        let done = if user == READ_BY_MANY {
            !touch.writes()
        } else if user == 0 || user == thread.id {
            own::note_half(line, half, 1 << byte, thread.who(), touch)
        } else {
            user & SHARED == 0 && take_over_cell(thread, word, cell, touch)
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

/// Gives these bytes of a half to this thread where there is no room to describe each: what another did to its neighbours is forgotten.
/// It would take up more room as a location.
unsafe fn take_over_part(thread: &mut Thread, cell: Cell, mask: u32, touch: Touch) {
    log::count_thinned(thread, 1);
    let masks =
        Masks { reads: if touch.reads() { mask } else { 0 }, writes: if touch.writes() { mask } else { 0 } };
    cell.take_as(thread, masks.owner(thread.id), touch);
}

/// Takes over a byte of a split half, if that is no more news than the last that this thread took over: whoever goes
/// through a buffer byte by byte does so nearly all the time. False, with nothing done, if it needs a closer look.
#[inline(always)]
pub unsafe fn take_over_byte_of_split<const WRITE: bool>(
    thread: &mut Thread,
    line: *mut Line,
    address: usize,
    leaf: u32,
) -> bool {
    let (half, byte) = ((address >> 2) & 1, address & 3);
    let owner = (&raw const (*line).owner[half]).read_volatile();
    if owner & (SHARED | SPLIT) != SPLIT {
        return false;
    }
    let cell = Cell::byte(owner, line, half, byte);
    if !is_last_again::<WRITE>(thread, &cell, leaf) {
        return false;
    }
    let Some(lock) = try_lock(thread, address) else { return false };
    let done =
        (*line).owner[half] == owner && cell.has_one_user() && is_last_again::<WRITE>(thread, &cell, leaf);
    if done {
        take_byte::<WRITE>(thread, line, address, leaf);
    }
    unlock(thread, lock);
    done
}

/// The same for a byte of a half that is another thread's as a whole.
#[inline(always)]
pub unsafe fn take_over_first_byte<const WRITE: bool>(
    thread: &mut Thread,
    line: *mut Line,
    address: usize,
    leaf: u32,
) -> bool {
    let half = (address >> 2) & 1;
    let cell = Cell::half(line, half);
    if !is_last_again::<WRITE>(thread, &cell, leaf) {
        return false;
    }
    let Some(lock) = try_lock(thread, address) else { return false };
    let mut done = cell.is_whole_of_another(thread) && is_last_again::<WRITE>(thread, &cell, leaf);
    if done && address.is_multiple_of(8) && passages::begin_to_take_over::<WRITE>(thread, line, address, leaf)
    {
        // What is left out is counted when the word is passed.
    } else if done {
        done = split(thread, line, half);
        if done {
            take_byte::<WRITE>(thread, line, address, leaf);
        }
    }
    unlock(thread, lock);
    done
}

/// Would taking over these bytes be no more news than the last time, and be no matter of a delay? A read of what was only
/// read is one: it makes the bytes nobody's.
#[inline(always)]
unsafe fn is_last_again<const WRITE: bool>(thread: &Thread, cell: &Cell, leaf: u32) -> bool {
    thread.no_news == (cell.newest(), leaf) && (WRITE || *cell.write != 0) && !noise::is_due_at_access(thread)
}

/// Gives a byte of a split half to this thread.
#[inline(always)]
unsafe fn take_byte<const WRITE: bool>(thread: &mut Thread, line: *mut Line, address: usize, leaf: u32) {
    let (half, byte) = ((address >> 2) & 1, address & 3);
    noise::pass_access(thread);
    log::count_thinned(thread, 1);
    let kind = if WRITE { Kind::Write } else { Kind::Read };
    Cell::byte((*line).owner[half], line, half, byte).take(thread, Touch { kind, flags: 0, leaf });
    if byte == 3 {
        split::join(thread, line, half);
    }
}

/// Is it no news that this thread takes over the cell, or a part of it? What is only read, by one thread after the other and word after
/// word, is a buffer that nobody changes: there is nothing to tell until somebody does.
unsafe fn is_no_news(thread: &mut Thread, word: usize, cell: &Cell, touch: Touch) -> bool {
    let is_reader_after_reader = *cell.write == 0 && !touch.writes();
    let is_on_trail = is_reader_after_reader && trails::goes_on(&mut thread.trails, touch.leaf, word);
    handovers::is_no_news(thread, word, cell.newest(), touch.leaf, is_on_trail)
}

/// Takes a cell from the one thread that has used it so far.
unsafe fn take_over_cell(thread: &mut Thread, word: usize, cell: Cell, touch: Touch) -> bool {
    if !is_no_news(thread, word, &cell, touch) {
        return false;
    }
    log::count_thinned(thread, 1);
    if *cell.write == 0 && !touch.writes() {
        // From reader to reader and back, for as long as nobody writes: no thread's bytes any more.
        *cell.write = *cell.owner & ID;
        AtomicU32::from_ptr(cell.owner).store(READ_BY_MANY, Ordering::Release);
    } else {
        cell.take(thread, touch);
    }
    true
}
