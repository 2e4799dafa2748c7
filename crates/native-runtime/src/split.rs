//! Halves of words whose bytes are described one by one.
//!
//! Each byte of the target has its place for that, next to the lines of its range ([`crate::shadow`]), so that
//! splitting a half is a matter of filling in four cells. Where few halves near by are split, it is a matter of space as well: such
//! have their cells in [`crate::groups`]. The owner field tells which: [`SPLIT`], or with a group's number.

use core::sync::atomic::{AtomicU32, Ordering};

use crate::cell::{BYTES, ID, Masks, READ_BY_MANY, SHARED, SPLIT, exchange};
use crate::groups::{Group, NUMBER};
use crate::shadow::{self, Line};
use crate::thread::Thread;
use crate::{groups, log};

/// The description of one byte of a split half.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ByteCell {
    pub owner: u32,
    pub read: u32,
    pub write: u32,
    pub read_stamp: u16,
    pub write_stamp: u16,
}

/// Notes an access to a byte by its only thread. Others may look at the cell meanwhile.
#[inline(always)]
pub unsafe fn note<const WRITE: bool>(cell: *mut ByteCell, leaf: u32, stamp: u16) {
    if WRITE {
        ((*cell).write, (*cell).write_stamp) = (leaf, stamp);
    } else {
        ((*cell).read, (*cell).read_stamp) = (leaf, stamp);
    }
}

/// Halves that may be split at a time: 32 MiB of cells. Beyond it neighbours' older accesses are forgotten instead,
/// and counted.
const MOST: u32 = 1 << 19;
/// How many more there may be, besides those that threads have put by.
static LEFT: AtomicU32 = AtomicU32::new(MOST);

/// Splits that a thread takes from, or gives back to, the others at once.
const PUT_BY: u32 = 128;

/// The cells of a half with this owner field, which is split.
#[inline(always)]
pub unsafe fn cells(owner: u32, line: *mut Line, half: usize) -> *mut Group {
    if owner & NUMBER == 0 { shadow::bytes(line).cast::<Group>().add(half) } else { groups::at(owner) }
}

/// The cell of the byte at this address, in a half with this owner field.
#[inline(always)]
pub unsafe fn cell(owner: u32, line: *mut Line, address: usize) -> *mut ByteCell {
    cells(owner, line, (address >> 2) & 1).cast::<ByteCell>().add(address & 3)
}

/// Gives each byte of a half its own cell; false if there is no room for that. With the word's lock held.
pub unsafe fn split(thread: &mut Thread, line: *mut Line, half: usize) -> bool {
    let Some(new) = room(thread, line) else { return false };
    loop {
        let owner = (&raw const (*line).owner[half]).read_volatile();
        describe(&mut *cells(new, line, half), line, half, owner);
        if exchange(&raw mut (*line).owner[half], owner, new) {
            return true;
        }
    }
}

/// The owner field for a half that is to be split, and is counted among those that are; or, if there is no room, that its neighbours'
/// older accesses are forgotten. With the word's lock held.
#[inline]
pub unsafe fn room(thread: &mut Thread, line: *mut Line) -> Option<u32> {
    if has_room(thread) {
        let group = if shadow::has_few_cells(line) { groups::take(thread) } else { None };
        if group.is_some() || shadow::has_bytes(line) {
            thread.splits -= 1;
            return Some(SPLIT | group.unwrap_or(0));
        }
    }
    log::count_forgotten(thread);
    None
}

unsafe fn describe(cells: &mut [ByteCell; 4], line: *const Line, half: usize, owner: u32) {
    let (read, write) = ((*line).read[half], (*line).write[half]);
    if owner & SHARED != 0 {
        // Of a location, or read by many: all four alike.
        return cells.fill(ByteCell { owner, read, write, read_stamp: 0, write_stamp: 0 });
    }
    if owner & BYTES == 0 {
        // Of one thread, always as a whole: likewise. If it is about to note its first access, that has not been yet.
        let owner = if read | write != 0 { owner } else { 0 };
        let read_stamp = if read != 0 { (*line).read_stamp[half] } else { 0 };
        let write_stamp = if write != 0 { (*line).write_stamp[half] } else { 0 };
        return cells.fill(ByteCell { owner, read, write, read_stamp, write_stamp });
    }
    let masks = Masks::of(line, half, owner);
    for (byte, cell) in cells.iter_mut().enumerate() {
        let reads = masks.reads >> byte & 1 != 0 && read != 0;
        let writes = masks.writes >> byte & 1 != 0 && write != 0;
        *cell = ByteCell {
            owner: if reads || writes { owner & ID } else { 0 },
            read: if reads { read } else { 0 },
            write: if writes { write } else { 0 },
            read_stamp: if reads { (*line).read_stamp[half] } else { 0 },
            write_stamp: if writes { (*line).write_stamp[half] } else { 0 },
        };
    }
}

/// Describes a half as one again if its bytes are all alike. With the word's lock held.
pub unsafe fn join(thread: &mut Thread, line: *mut Line, half: usize) {
    let owner = (*line).owner[half];
    if owner & (SHARED | SPLIT) != SPLIT {
        return;
    }
    let [first, rest @ ..] = &*cells(owner, line, half);
    // Of a location there is nothing else to say.
    let is_location = first.owner & SHARED != 0 && first.owner != READ_BY_MANY;
    let alike = |cell: &ByteCell| {
        cell.owner == first.owner && (is_location || cell.read == first.read && cell.write == first.write)
    };
    if first.owner == 0 || first.owner & BYTES != 0 || !rest.iter().all(alike) {
        return;
    }
    (*line).read[half] = first.read;
    (*line).write[half] = first.write;
    (*line).read_stamp[half] = first.read_stamp;
    (*line).write_stamp[half] = first.write_stamp;
    AtomicU32::from_ptr(&raw mut (*line).owner[half]).store(first.owner, Ordering::Release);
    free(thread, owner, line);
}

/// May this thread split one more half?
#[inline]
pub fn has_room(thread: &mut Thread) -> bool {
    if thread.splits == 0 && LEFT.load(Ordering::Relaxed) != 0 {
        let take = |left: u32| Some(left.saturating_sub(PUT_BY));
        let left = LEFT.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).unwrap_or(0);
        thread.splits = left.min(PUT_BY);
    }
    thread.splits != 0
}

/// A half that had this owner field is no longer split. With the word's lock held.
pub unsafe fn free(thread: &mut Thread, owner: u32, line: *mut Line) {
    if owner & NUMBER != 0 {
        shadow::has_fewer_cells(line);
        groups::give_back(thread, owner);
    }
    thread.splits += 1;
    if thread.splits > 2 * PUT_BY {
        thread.splits -= PUT_BY;
        LEFT.fetch_add(PUT_BY, Ordering::Relaxed);
    }
}

/// The thread ends.
pub unsafe fn give_back_all(thread: &mut Thread) {
    groups::give_back_all(thread);
    LEFT.fetch_add(thread.splits, Ordering::Relaxed);
    thread.splits = 0;
}

/// In a forked child, whose shadow is empty.
pub unsafe fn restart(thread: &mut Thread) {
    groups::restart(thread);
    LEFT.store(MOST, Ordering::Relaxed);
    thread.splits = 0;
}
