//! Halves of words whose bytes are described one by one.

use core::sync::atomic::{AtomicPtr, AtomicU32, Ordering};

use crate::cell::{BYTES, ID, Masks, SHARED, SPLIT, exchange};
use crate::shadow::Line;
use crate::thread::Thread;
use crate::{log, mapping, spin};

/// The description of one byte of a split half.
#[repr(C)]
pub struct ByteCell {
    pub owner: u32,
    pub read: u32,
    pub write: u32,
    pub read_stamp: u16,
    pub write_stamp: u16,
}

/// Split halves have room for this many times four bytes: 16 MiB. Beyond it neighbours' older accesses are
/// forgotten instead, and counted.
const SPLITS: usize = 1 << 18;
/// Address space for them.
pub const SPLIT_BYTES: usize = SPLITS * size_of::<[ByteCell; 4]>();
static TABLE: AtomicPtr<[ByteCell; 4]> = AtomicPtr::new(core::ptr::null_mut());
static USED: AtomicU32 = AtomicU32::new(1);
/// Head of the list of free records that no thread has, linked through their first owner field.
static FREE: AtomicU32 = AtomicU32::new(0);
static LOCK: AtomicU32 = AtomicU32::new(0);

/// Free records that a thread keeps for itself.
const KEPT: usize = 128;

/// A thread's free records.
pub struct Pool {
    records: [u32; KEPT],
    count: usize,
}

pub unsafe fn start() -> bool {
    let table = mapping::reserve(SPLIT_BYTES).cast();
    TABLE.store(table, Ordering::Release);
    !table.is_null()
}

#[inline(always)]
pub unsafe fn table(index: u32) -> *mut [ByteCell; 4] {
    TABLE.load(Ordering::Relaxed).add(index as usize)
}

/// Gives each byte of a half its own cell; false if there is no room for that. With the word's lock held.
pub unsafe fn split(thread: &mut Thread, line: *mut Line, half: usize) -> bool {
    let Some(index) = allocate(thread) else {
        log::count(&raw mut (*mapping::header()).forgotten);
        return false;
    };
    loop {
        let owner = (&raw const (*line).owner[half]).read_volatile();
        describe(&mut *table(index), line, half, owner);
        if exchange(&raw mut (*line).owner[half], owner, SPLIT | index) {
            return true;
        }
    }
}

unsafe fn describe(cells: &mut [ByteCell; 4], line: *const Line, half: usize, owner: u32) {
    let (read, write) = ((*line).read[half], (*line).write[half]);
    if owner & SHARED != 0 {
        // Of a location, or read by many: all four alike.
        for cell in cells {
            *cell = ByteCell { owner, read, write, read_stamp: 0, write_stamp: 0 };
        }
        return;
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
    let [first, rest @ ..] = &*table(owner & !SPLIT);
    let alike =
        |cell: &ByteCell| cell.owner == first.owner && cell.read == first.read && cell.write == first.write;
    if first.owner == 0 || first.owner & BYTES != 0 || !rest.iter().all(alike) {
        return;
    }
    (*line).read[half] = first.read;
    (*line).write[half] = first.write;
    (*line).read_stamp[half] = first.read_stamp;
    (*line).write_stamp[half] = first.write_stamp;
    AtomicU32::from_ptr(&raw mut (*line).owner[half]).store(first.owner, Ordering::Release);
    free(thread, owner & !SPLIT);
}

unsafe fn allocate(thread: &mut Thread) -> Option<u32> {
    if thread.splits.count == 0 {
        refill(&mut thread.splits);
    }
    thread.splits.count = thread.splits.count.checked_sub(1)?;
    Some(thread.splits.records[thread.splits.count])
}

#[cold]
unsafe fn refill(pool: &mut Pool) {
    if !spin::lock(&LOCK) {
        return;
    }
    while pool.count < KEPT / 2 {
        let free = FREE.load(Ordering::Relaxed);
        let index = if free != 0 {
            FREE.store((*table(free))[0].owner, Ordering::Relaxed);
            free
        } else {
            let next = USED.load(Ordering::Relaxed);
            if next as usize >= SPLITS {
                break;
            }
            USED.store(next + 1, Ordering::Relaxed);
            next
        };
        pool.records[pool.count] = index;
        pool.count += 1;
    }
    spin::unlock(&LOCK);
}

pub unsafe fn free(thread: &mut Thread, index: u32) {
    if thread.splits.count == KEPT {
        give_back(&mut thread.splits, KEPT / 2);
    }
    if thread.splits.count < KEPT {
        thread.splits.records[thread.splits.count] = index;
        thread.splits.count += 1;
    }
}

/// Leaves a thread this many of its free records.
#[cold]
unsafe fn give_back(pool: &mut Pool, kept: usize) {
    if !spin::lock(&LOCK) {
        return;
    }
    while pool.count > kept {
        pool.count -= 1;
        let index = pool.records[pool.count];
        (*table(index))[0].owner = FREE.load(Ordering::Relaxed);
        FREE.store(index, Ordering::Relaxed);
    }
    spin::unlock(&LOCK);
}

/// The thread ends.
pub unsafe fn give_back_all(thread: &mut Thread) {
    if thread.splits.count > 0 {
        give_back(&mut thread.splits, 0);
    }
}

/// In a forked child, whose shadow is empty.
pub fn restart(thread: &mut Thread) {
    USED.store(1, Ordering::Relaxed);
    FREE.store(0, Ordering::Relaxed);
    thread.splits.count = 0;
}

pub fn lock_before_fork() {
    spin::lock(&LOCK);
}

pub fn unlock_after_fork() {
    LOCK.store(0, Ordering::Relaxed);
}
