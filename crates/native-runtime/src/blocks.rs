//! Where heap blocks were allocated, for the locations in them.
//!
//! The C library keeps a block's length in the eight bytes before it, which no program touches. The line that describes
//! these in the shadow is free to say where the block was allocated: it has no owner, but a leaf and a length where
//! those of reads would be, and how many locations the block has where those of writes would. Large blocks are in a table besides, since the way back from their end is long.

use core::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

use recording::Location;

use crate::shadow::{self, Line};
use crate::thread::Thread;

/// Blocks from this length on are in the table; how far the way back to a block's start can be.
const LARGE: usize = 64 << 10;
/// Blocks begin at multiples of this.
const ALIGNMENT: usize = 16;
/// The bytes before a block that hold its length.
const LENGTH: usize = 8;

/// Lowest and highest address in any block so far.
static LOWEST: AtomicUsize = AtomicUsize::new(usize::MAX);
static HIGHEST: AtomicUsize = AtomicUsize::new(0);

#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Block {
    start: usize,
    end: usize,
    allocated_at: u32,
}

impl Block {
    fn holds(&self, address: usize) -> bool {
        (self.start..self.end).contains(&address)
    }
}

/// A block of the C library's heap was handed out.
pub unsafe fn born(start: usize, bytes: usize, allocated_at: u32) {
    let line = shadow::line(start - LENGTH);
    if line.is_null() {
        return;
    }
    shadow::before_first_change(line);
    if (*line).owner != [0, 0] {
        return;
    }
    let block = Block { start, end: start + bytes, allocated_at };
    (*line).read = [allocated_at, words(bytes)];
    (*line).write = [0; 2];
    if start < LOWEST.load(Ordering::Relaxed) {
        LOWEST.fetch_min(start, Ordering::Relaxed);
    }
    if block.end > HIGHEST.load(Ordering::Relaxed) {
        HIGHEST.fetch_max(block.end, Ordering::Relaxed);
    }
    if bytes >= LARGE {
        enter(block);
    }
}

/// A block has another length now.
pub unsafe fn resized(start: usize, bytes: usize) {
    let line = shadow::line_if_mapped(start - LENGTH);
    if !line.is_null() && noted(line) {
        let allocated_at = (*line).read[0];
        dead(start);
        born(start, bytes, allocated_at);
    }
}

/// A block is given back. Its line stays as it is: a use after free wants to know.
pub fn dead(start: usize) {
    for large in &TABLE {
        if large.start.load(Ordering::Relaxed) == start {
            large.end.store(0, Ordering::Relaxed);
            large.start.store(0, Ordering::Release);
        }
    }
}

/// Tells a new location where its block was allocated, if it lies in one, and counts it there.
pub unsafe fn describe(thread: &mut Thread, location: *mut Location) -> bool {
    let Some(block) = containing(thread, (*location).address as usize) else { return false };
    let count = locations_in(&block);
    // A lost increment does no harm.
    *count = (*count).saturating_add(1);
    (*location).allocated_at = block.allocated_at;
    (*location).block_offset = ((*location).address as usize - block.start) as u32;
    true
}

/// Have this many pieces of the block at this address become locations?
pub unsafe fn has_locations(thread: &mut Thread, address: usize, count: u32) -> bool {
    containing(thread, address).is_some_and(|block| *locations_in(&block) >= count)
}

/// Where a block's locations are counted.
unsafe fn locations_in(block: &Block) -> *mut u32 {
    let line = shadow::line_if_mapped(block.start - LENGTH);
    &raw mut (*line).write[0]
}

unsafe fn containing(thread: &mut Thread, address: usize) -> Option<Block> {
    if address < LOWEST.load(Ordering::Relaxed) || address >= HIGHEST.load(Ordering::Relaxed) {
        return None;
    }
    // Neighbours are often handed over one after another.
    let recent = thread.recent_block;
    let found = if recent.holds(address) && still_there(&recent) {
        recent
    } else {
        in_table(address).or_else(|| on_the_way_back(address))?
    };
    thread.recent_block = found;
    Some(found)
}

unsafe fn still_there(block: &Block) -> bool {
    let line = shadow::line_if_mapped(block.start - LENGTH);
    !line.is_null() && noted(line) && (*line).read == [block.allocated_at, words(block.end - block.start)]
}

unsafe fn noted(line: *const Line) -> bool {
    (*line).owner == [0, 0] && (*line).read[0] != 0
}

fn words(bytes: usize) -> u32 {
    u32::try_from(bytes / 8).unwrap_or(u32::MAX)
}

unsafe fn on_the_way_back(address: usize) -> Option<Block> {
    let mut start = address & !(ALIGNMENT - 1);
    for _ in 0..LARGE / ALIGNMENT {
        let line = shadow::line_if_mapped(start - LENGTH);
        if line.is_null() {
            return None;
        }
        if noted(line) {
            let [allocated_at, words] = (*line).read;
            // The last word of a block is used in part only.
            let block = Block { start, end: start + words as usize * 8, allocated_at };
            return block.holds(address).then_some(block);
        }
        start -= ALIGNMENT;
    }
    None
}

struct Large {
    start: AtomicUsize,
    end: AtomicUsize,
    allocated_at: AtomicU32,
}

/// More large blocks than this at a time are not told apart from other memory.
const TABLE_ROOM: usize = 256;
static TABLE: [Large; TABLE_ROOM] = [const {
    Large { start: AtomicUsize::new(0), end: AtomicUsize::new(0), allocated_at: AtomicU32::new(0) }
}; TABLE_ROOM];

fn enter(block: Block) {
    for large in &TABLE {
        let taken = large.start.compare_exchange(0, block.start, Ordering::Acquire, Ordering::Relaxed);
        if taken.is_ok() {
            large.allocated_at.store(block.allocated_at, Ordering::Relaxed);
            // Last: an entry without end holds nothing.
            large.end.store(block.end, Ordering::Release);
            return;
        }
    }
}

fn in_table(address: usize) -> Option<Block> {
    TABLE.iter().find_map(|large| {
        let block = Block {
            end: large.end.load(Ordering::Acquire),
            start: large.start.load(Ordering::Relaxed),
            allocated_at: large.allocated_at.load(Ordering::Relaxed),
        };
        (block.start != 0 && block.holds(address)).then_some(block)
    })
}

/// In a forked child: the blocks it inherits have lost their lines.
pub fn restart() {
    TABLE.iter().for_each(|large| large.start.store(0, Ordering::Relaxed));
}
