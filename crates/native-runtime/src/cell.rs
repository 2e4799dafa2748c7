//! One description of bytes, in private memory: of a half of a word, or of a byte of a split half.
//!
//! Each half of a [`Line`] describes four bytes. Its `owner` says how:
//!
//! - 0: untouched.
//! - a thread's id: only this thread has touched them, always all four at once (or neighbours that were
//!   touched together); `read` and `write` hold the leaves of its last read and write, the stamps their times.
//! - id | [`BYTES`]: only this thread, but parts of it. `read` holds for the bytes in the low four bits of
//!   `read_stamp`, `write` for those in the next four; `write_stamp` is the time of both.
//! - [`SPLIT`] | index: too different to share one description: each byte has a [`ByteCell`].
//! - [`SHARED`] | index: several threads have used them: [`crate::location`] knows the rest.

use core::sync::atomic::{AtomicPtr, AtomicU32, Ordering};

use crate::cells::Touch;
use crate::shadow::Line;
use crate::thread::Thread;
use crate::{log, mapping, spin};

pub const SHARED: u32 = 1 << 31;
pub const SPLIT: u32 = 1 << 30;
pub const BYTES: u32 = 1 << 29;
/// The bits of a thread's id.
pub const ID: u32 = BYTES - 1;

/// One cell: a half, or a byte of a split half.
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

    /// A byte of a half whose owner is `SPLIT` | index.
    pub unsafe fn byte(owner: u32, half: usize, byte: usize) -> Cell {
        let cell = &raw mut (*split_table(owner & !SPLIT))[byte];
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

    /// Notes an access by the cell's only thread to all of its bytes.
    pub unsafe fn note(&self, thread: &Thread, touch: Touch) {
        *self.owner = thread.id;
        let stamp = thread.last_tick as u16;
        if touch.reads() {
            *self.read = touch.leaf;
            *self.read_stamp = stamp;
        }
        if touch.writes() {
            *self.write = touch.leaf;
            *self.write_stamp = stamp;
        }
    }

    /// Are these two described alike, so that they can become one location?
    pub unsafe fn continues(&self, previous: &Cell) -> bool {
        self.offset == previous.offset + previous.bytes
            && *self.owner == *previous.owner
            && *self.read == *previous.read
            && *self.write == *previous.write
    }
}

unsafe fn split_table(index: u32) -> *mut [ByteCell; 4] {
    SPLIT_TABLE.load(Ordering::Acquire).add(index as usize)
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
                visit(Cell::byte(owner, half, byte));
            }
        } else {
            visit(Cell::half(line, half));
        }
    }
}

/// The description of one byte of a split half.
#[repr(C)]
struct ByteCell {
    owner: u32,
    read: u32,
    write: u32,
    read_stamp: u16,
    write_stamp: u16,
}

/// Split halves have room for this many times four bytes: 16 MiB. Beyond it neighbours' older accesses are
/// forgotten instead, and counted.
const SPLITS: usize = 1 << 18;
/// Address space for them.
pub const SPLIT_BYTES: usize = SPLITS * size_of::<[ByteCell; 4]>();
static SPLIT_TABLE: AtomicPtr<[ByteCell; 4]> = AtomicPtr::new(core::ptr::null_mut());
static SPLITS_USED: AtomicU32 = AtomicU32::new(1);
/// Head of the list of free split records, linked through their first owner field.
static SPLITS_FREE: AtomicU32 = AtomicU32::new(0);
static SPLITS_LOCK: AtomicU32 = AtomicU32::new(0);

pub unsafe fn start() -> bool {
    let table = mapping::reserve(SPLIT_BYTES).cast();
    SPLIT_TABLE.store(table, Ordering::Release);
    !table.is_null()
}

/// Gives each byte of a half its own cell; false if there is no room for that.
pub unsafe fn split(line: *mut Line, half: usize) -> bool {
    let owner = (*line).owner[half];
    let Some(index) = allocate_split() else {
        log::count(&raw mut (*mapping::header()).forgotten);
        return false;
    };
    let table = split_table(index);
    let (read_mask, write_mask) = if owner & SHARED != 0 {
        (0, 0)
    } else if owner & BYTES != 0 {
        let masks = (*line).read_stamp[half];
        (masks & 15, masks >> 4 & 15)
    } else {
        (15, 15)
    };
    let read_stamp = if owner & BYTES != 0 { (*line).write_stamp[half] } else { (*line).read_stamp[half] };
    for byte in 0..4 {
        let reads = read_mask >> byte & 1 != 0 && (*line).read[half] != 0;
        let writes = write_mask >> byte & 1 != 0 && (*line).write[half] != 0;
        (*table)[byte] = ByteCell {
            owner: if owner & SHARED != 0 {
                owner
            } else if reads || writes {
                owner & ID
            } else {
                0
            },
            read: if reads { (*line).read[half] } else { 0 },
            write: if writes { (*line).write[half] } else { 0 },
            read_stamp: if reads { read_stamp } else { 0 },
            write_stamp: if writes { (*line).write_stamp[half] } else { 0 },
        };
    }
    (*line).owner[half] = SPLIT | index;
    true
}

unsafe fn allocate_split() -> Option<u32> {
    if !spin::lock(&SPLITS_LOCK) {
        return None;
    }
    let free = SPLITS_FREE.load(Ordering::Relaxed);
    let index = if free != 0 {
        SPLITS_FREE.store((*split_table(free))[0].owner, Ordering::Relaxed);
        Some(free)
    } else {
        let next = SPLITS_USED.load(Ordering::Relaxed);
        ((next as usize) < SPLITS).then(|| {
            SPLITS_USED.store(next + 1, Ordering::Relaxed);
            next
        })
    };
    spin::unlock(&SPLITS_LOCK);
    index
}

pub unsafe fn free_split(index: u32) {
    if spin::lock(&SPLITS_LOCK) {
        (*split_table(index))[0].owner = SPLITS_FREE.load(Ordering::Relaxed);
        SPLITS_FREE.store(index, Ordering::Relaxed);
        spin::unlock(&SPLITS_LOCK);
    }
}

/// In a forked child, whose shadow is empty.
pub fn restart() {
    SPLITS_USED.store(1, Ordering::Relaxed);
    SPLITS_FREE.store(0, Ordering::Relaxed);
}

pub fn lock_before_fork() {
    spin::lock(&SPLITS_LOCK);
}

pub fn unlock_after_fork() {
    SPLITS_LOCK.store(0, Ordering::Relaxed);
}
