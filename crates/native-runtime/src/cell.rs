//! One description of bytes, in private memory: of a half of a word, or of a byte of a split half.
//!
//! Each half of a [`Line`] describes four bytes. Its `owner` says how:
//!
//! - 0: untouched.
//! - a thread's id: only this thread has touched them, always all four at once (or neighbours that were
//!   touched together); `read` and `write` hold the leaves of its last read and write, the stamps their times.
//! - [`BYTES`] | masks | id: only this thread, but parts of it: `read` holds for the bytes in the mask from bit
//!   [`READS_AT`], `write` for those in the mask from bit [`WRITES_AT`].
//! - [`SPLIT`], with a number or without: too different to share one description: each byte has a cell, see [`crate::split`].
//! - [`READ_BY_MANY`]: several threads have read them, and their handovers are no news: `read` is the leaf of one
//!   read, `write` the id of its thread.
//! - an id that no thread has: one thread goes through the whole word byte by byte: see [`crate::passages`].
//! - [`SHARED`] | index: several threads have used them: [`crate::location`] knows the rest.
//!
//! A thread claims untouched bytes, and adds to its own, without a lock. So whoever takes bytes from another
//! thread changes `owner` by an exchange that fails if it is no longer what the new description was made from.

use core::sync::atomic::{AtomicU32, Ordering};

use crate::cells::Touch;
use crate::shadow::Line;
use crate::thread::Thread;
use crate::{passages, split};

pub const SHARED: u32 = 1 << 31;
pub const SPLIT: u32 = 1 << 30;
pub const BYTES: u32 = 1 << 29;
pub const WRITES_AT: u32 = 25;
pub const READS_AT: u32 = 21;
/// The bits of a thread's id.
pub const ID: u32 = (1 << READS_AT) - 1;
/// There is no location with this index.
pub const READ_BY_MANY: u32 = SHARED;

/// Which of a half's four bytes the reads and the writes of its only thread concern.
#[derive(Clone, Copy)]
pub struct Masks {
    pub reads: u32,
    pub writes: u32,
}

impl Masks {
    /// Of a half that one thread has touched.
    #[inline(always)]
    pub unsafe fn of(line: *const Line, half: usize, owner: u32) -> Masks {
        if owner & BYTES != 0 {
            return Masks { reads: owner >> READS_AT & 15, writes: owner >> WRITES_AT & 15 };
        }
        let whole = |leaf: u32| if leaf != 0 { 15 } else { 0 };
        Masks { reads: whole((*line).read[half]), writes: whole((*line).write[half]) }
    }

    /// The owner field that says so.
    #[inline(always)]
    pub fn owner(self, thread: u32) -> u32 {
        let whole = |mask: u32| mask == 0 || mask == 15;
        if whole(self.reads) && whole(self.writes) {
            thread
        } else {
            BYTES | self.writes << WRITES_AT | self.reads << READS_AT | thread
        }
    }
}

/// Changes the owner field if it is still `from`.
#[inline(always)]
pub unsafe fn exchange(owner: *mut u32, from: u32, to: u32) -> bool {
    AtomicU32::from_ptr(owner).compare_exchange(from, to, Ordering::AcqRel, Ordering::Relaxed).is_ok()
}

/// One cell: a half, or a byte of a split half.
#[derive(Clone, Copy)]
pub struct Cell {
    pub owner: *mut u32,
    pub read: *mut u32,
    pub write: *mut u32,
    pub read_stamp: *mut u16,
    pub write_stamp: *mut u16,
    /// First byte within the word, and number of bytes.
    pub offset: usize,
    pub bytes: usize,
}

impl Cell {
    #[inline(always)]
    pub unsafe fn half(line: *mut Line, half: usize) -> Cell {
        Cell {
            owner: &raw mut (*line).owner[half],
            read: &raw mut (*line).read[half],
            write: &raw mut (*line).write[half],
            read_stamp: &raw mut (*line).read_stamp[half],
            write_stamp: &raw mut (*line).write_stamp[half],
            offset: half * 4,
            bytes: 4,
        }
    }

    /// A byte of a half with this owner field, which is split.
    #[inline(always)]
    pub unsafe fn byte(owner: u32, line: *mut Line, half: usize, byte: usize) -> Cell {
        let cell = split::cells(owner, line, half).cast::<split::ByteCell>().add(byte);
        Cell {
            owner: &raw mut (*cell).owner,
            read: &raw mut (*cell).read,
            write: &raw mut (*cell).write,
            read_stamp: &raw mut (*cell).read_stamp,
            write_stamp: &raw mut (*cell).write_stamp,
            offset: half * 4 + byte,
            bytes: 1,
        }
    }

    pub unsafe fn clear(&self) {
        *self.owner = 0;
        *self.read = 0;
        *self.write = 0;
        *self.read_stamp = 0;
        *self.write_stamp = 0;
    }

    /// Notes an access by the cell's only thread to all of its bytes. The cell is its own already.
    #[inline(always)]
    pub unsafe fn note(&self, stamp: u16, touch: Touch) {
        if touch.reads() {
            *self.read = touch.leaf;
            *self.read_stamp = stamp;
        }
        if touch.writes() {
            *self.write = touch.leaf;
            *self.write_stamp = stamp;
        }
    }

    /// Gives the cell, whose last user's accesses are of no more interest, to this thread.
    #[inline(always)]
    pub unsafe fn take(&self, thread: &Thread, touch: Touch) {
        self.take_as(thread, thread.id, touch);
    }

    /// The same with an owner field that tells more of it.
    #[inline(always)]
    pub unsafe fn take_as(&self, thread: &Thread, owner: u32, touch: Touch) {
        let stamp = thread.last_tick as u16;
        let (read, write) = (touch.reads(), touch.writes());
        *self.read = if read { touch.leaf } else { 0 };
        *self.read_stamp = if read { stamp } else { 0 };
        *self.write = if write { touch.leaf } else { 0 };
        *self.write_stamp = if write { stamp } else { 0 };
        AtomicU32::from_ptr(self.owner).store(owner, Ordering::Release);
    }

    /// Has one thread alone used it?
    pub unsafe fn has_one_user(&self) -> bool {
        *self.owner != 0 && *self.owner & (SHARED | SPLIT) == 0
    }

    /// Has one other thread alone used it, and always all of its bytes?
    #[inline(always)]
    pub unsafe fn is_whole_of_another(&self, thread: &Thread) -> bool {
        let owner = self.owner.read_volatile();
        owner != 0
            && owner & (SHARED | SPLIT | BYTES) == 0
            && owner <= passages::LAST_THREAD
            && owner != thread.id
    }

    /// What its last user did last, as far as it matters to others.
    #[inline(always)]
    pub unsafe fn newest(&self) -> u32 {
        if *self.write != 0 { *self.write } else { *self.read }
    }

    /// Are these two described alike, so that they can become one location?
    pub unsafe fn continues(&self, previous: &Cell) -> bool {
        self.offset == previous.offset + previous.bytes
            && *self.owner == *previous.owner
            && *self.read == *previous.read
            && *self.write == *previous.write
    }
}

/// Calls `visit` for each cell that the masked bytes touch, in order.
pub unsafe fn each_cell(line: *mut Line, mask: u16, visit: &mut dyn FnMut(Cell)) {
    for half in 0..2 {
        let mask = mask >> (half * 4) & 15;
        if mask == 0 {
            continue;
        }
        let owner = (*line).owner[half];
        if owner & (SHARED | SPLIT) == SPLIT {
            for byte in (0..4).filter(|byte| mask >> byte & 1 != 0) {
                visit(Cell::byte(owner, line, half, byte));
            }
        } else {
            visit(Cell::half(line, half));
        }
    }
}
