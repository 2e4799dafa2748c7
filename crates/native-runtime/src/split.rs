//! Halves of words whose bytes are described one by one.
//!
//! The owner field of such a half says where its four cells are ([`crate::groups`]); splitting it is a matter of filling these in.

use core::sync::atomic::{AtomicU32, Ordering};

use crate::cell::{BYTES, ID, Masks, READ_BY_MANY, SHARED, SPLIT, exchange};
use crate::shadow::Line;
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

/// Gives each byte of a half its own cell; false if there is no room for that. With the word's lock held.
pub unsafe fn split(thread: &mut Thread, line: *mut Line, half: usize) -> bool {
    let Some(group) = group(thread) else { return false };
    loop {
        let owner = (&raw const (*line).owner[half]).read_volatile();
        describe(&mut *groups::at(group), line, half, owner);
        if exchange(&raw mut (*line).owner[half], owner, SPLIT | group) {
            return true;
        }
    }
}

/// Room for the cells of a half, to be filled in; if there is none, its neighbours' older accesses are forgotten, which is counted.
#[inline]
pub unsafe fn group(thread: &mut Thread) -> Option<u32> {
    let group = groups::take(thread);
    if group.is_none() {
        log::count_forgotten(thread);
    }
    group
}

/// The cell of a byte of a word, in the half that has this owner field.
#[inline(always)]
pub unsafe fn cell(owner: u32, address: usize) -> *mut ByteCell {
    groups::at(owner).cast::<ByteCell>().add(address & 3)
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
    let [first, rest @ ..] = &*groups::at(owner);
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
    groups::give_back(thread, owner);
}
