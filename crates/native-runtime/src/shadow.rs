//! From an address to the line that describes its aligned 8-byte word.
//!
//! Two levels instead of one linear mapping, so that no address range of the target is special and any
//! layout works: the root has one entry per 4 MiB of address space; an entry points to that range's lines,
//! or is null while nobody touched the range. Where bytes of a range are described one by one, it has room for that,
//! too ([`crate::split`]).

#[cfg(target_arch = "x86_64")]
use core::mem::offset_of;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, AtomicU32, AtomicUsize, Ordering};

use crate::mapping::{self, reserve};
use crate::residency::{PAGE, Pages};
use crate::split::ByteCell;
use crate::{errno, sandbox};

/// log2 of the bytes of address space that one root entry describes.
pub const RANGE_BITS: usize = 22;
pub const RANGE_MASK: usize = (1 << RANGE_BITS) - 1;
/// Width of user space: addresses above it need five-level paging, which programs must ask for.
const ADDRESS_BITS: usize = if cfg!(target_arch = "x86_64") { 47 } else { 48 };
const ROOT_ENTRIES: usize = 1 << (ADDRESS_BITS - RANGE_BITS);
pub const ROOT_MASK: usize = ROOT_ENTRIES - 1;
/// Shadow bytes per byte of the target.
pub const SCALE: usize = size_of::<Line>() / 8;
const RANGE_SHADOW: usize = SCALE << RANGE_BITS;
/// Bytes of cells for each line.
const CELLS_PER_LINE: usize = 8 * size_of::<ByteCell>();
const RANGE_CELLS: usize = RANGE_SHADOW / size_of::<Line>() * CELLS_PER_LINE;

/// What is known about one aligned 8-byte word: two halves of four bytes, field by field, so that an access
/// of eight bytes compares and stores both at once. See [`crate::cells`] for what the fields mean.
#[repr(C, align(32))]
pub struct Line {
    pub owner: [u32; 2],
    pub read: [u32; 2],
    pub write: [u32; 2],
    pub read_stamp: [u16; 2],
    pub write_stamp: [u16; 2],
}

static ROOT: AtomicPtr<*mut u8> = AtomicPtr::new(null_mut());
static GROWING: AtomicU32 = AtomicU32::new(0);
/// All blocks, for [`clear`]; room for those of 256 GiB.
static BLOCKS: [AtomicPtr<u8>; 1 << 16] = [const { AtomicPtr::new(null_mut()) }; 1 << 16];
static BLOCK_COUNT: AtomicUsize = AtomicUsize::new(0);

/// Makes the root; false if there is no address space for it.
pub unsafe fn start() -> bool {
    let root = reserve(ROOT_BYTES).cast::<*mut u8>();
    ROOT.store(root, Ordering::Release);
    !root.is_null()
}

pub fn root() -> *const *mut u8 {
    ROOT.load(Ordering::Acquire)
}

/// The block of lines that an address belongs to, null if nobody touched its range yet.
#[inline(always)]
pub unsafe fn block(root: *const *mut u8, address: usize) -> *mut u8 {
    *root.add((address >> RANGE_BITS) & ROOT_MASK)
}

/// The line of an address within its block.
#[inline(always)]
pub unsafe fn line_in(block: *mut u8, address: usize) -> *mut Line {
    block.add((address & RANGE_MASK & !7) * SCALE).cast()
}

/// The line of an address, null if nobody touched its range yet.
pub unsafe fn line_if_mapped(address: usize) -> *mut Line {
    let block = block(root(), address);
    if block.is_null() { null_mut() } else { line_in(block, address) }
}

/// The line of an address, made if need be; null if there is no memory for it.
pub unsafe fn line(address: usize) -> *mut Line {
    let root = root().cast_mut();
    let entry = AtomicPtr::from_ptr(root.add((address >> RANGE_BITS) & ROOT_MASK));
    if entry.load(Ordering::Acquire).is_null() && !grow(entry) {
        return null_mut();
    }
    line_in(block(root, address), address)
}

/// Address space for the root.
pub const ROOT_BYTES: usize = ROOT_ENTRIES * size_of::<*mut u8>();

#[cold]
unsafe fn grow(entry: &AtomicPtr<u8>) -> bool {
    let _errno = errno::keep();
    if !crate::spin::lock(&GROWING) {
        return false;
    }
    let mut present = !entry.load(Ordering::Acquire).is_null();
    if !present {
        let block = reserve_block();
        present = !block.is_null();
        if present {
            let count = BLOCK_COUNT.load(Ordering::Relaxed);
            if count < BLOCKS.len() {
                BLOCKS[count].store(block, Ordering::Relaxed);
                BLOCK_COUNT.store(count + 1, Ordering::Relaxed);
            }
            entry.store(block, Ordering::Release);
        } else {
            crate::log::fault(recording::fault::MEMORY, errno::get() as u32);
        }
    }
    crate::spin::unlock(&GROWING);
    present
}

/// What is behind a range's lines.
#[repr(C)]
struct Behind {
    /// Its bytes' cells; null at first.
    cells: *mut u8,
    /// Pages of its lines and of these cells.
    line_pages: Pages<{ RANGE_SHADOW / PAGE / 64 }>,
    cell_pages: Pages<{ RANGE_CELLS / PAGE / 64 }>,
    /// For each of these pages, how many halves that would have cells there have them elsewhere.
    elsewhere: [u8; RANGE_CELLS / PAGE],
}
/// Bytes of that, in whole pages.
const BEHIND: usize = size_of::<Behind>().next_multiple_of(PAGE);

/// Address space for a range's lines, which begin at a multiple of their size, and for what is behind them.
unsafe fn reserve_block() -> *mut u8 {
    let all = reserve(2 * RANGE_SHADOW);
    if all.is_null() {
        return null_mut();
    }
    let before = (all as usize).next_multiple_of(RANGE_SHADOW) - all as usize;
    let block = all.add(before);
    let behind = RANGE_SHADOW - BEHIND - before;
    for (part, bytes) in [(all, before), (block.add(RANGE_SHADOW + BEHIND), behind)] {
        if bytes > 0 {
            mapping::unmap(part, bytes);
        }
    }
    block
}

/// The block of a line, its offset there, and what is behind the block.
#[inline(always)]
fn place_of(line: *mut Line) -> (*mut u8, usize, *mut Behind) {
    let offset = line as usize & !BLOCK_MASK as usize;
    let block = (line as usize - offset) as *mut u8;
    (block, offset, block.wrapping_add(RANGE_SHADOW).cast())
}

/// Has the page of a line been brought in?
#[inline(always)]
pub unsafe fn is_in_memory(line: *mut Line) -> bool {
    let (_, offset, behind) = place_of(line);
    (*behind).line_pages.has(offset)
}

/// The bits of a line's address that tell its block.
pub const BLOCK_MASK: isize = -(RANGE_SHADOW as isize);
/// Where a block says where its cells are.
#[cfg(target_arch = "x86_64")]
pub const CELLS_AT: usize = RANGE_SHADOW + offset_of!(Behind, cells);

/// Cells' bytes for each byte of lines.
pub const CELLS_SCALE: usize = CELLS_PER_LINE / size_of::<Line>();

/// A line is about to be changed for the first time: if its page has to be brought in, so are those of the other lines of the target's
/// page.
#[inline(always)]
pub unsafe fn before_first_change(line: *mut Line) {
    let (block, offset, behind) = place_of(line);
    (*behind).line_pages.bring(block, offset, SCALE);
}

/// The cells of the bytes of a word. Only if [`has_bytes`].
#[inline(always)]
pub unsafe fn bytes(line: *mut Line) -> *mut ByteCell {
    let (_, offset, behind) = place_of(line);
    (*behind).cells.add(offset * CELLS_SCALE).cast()
}

/// Makes sure that the bytes of a word have cells, which are about to be filled; false if there is no memory for them.
#[inline]
pub unsafe fn has_bytes(line: *mut Line) -> bool {
    let (_, offset, behind) = place_of(line);
    let pointer = AtomicPtr::from_ptr(&raw mut (*behind).cells);
    if pointer.load(Ordering::Acquire).is_null() && !make_bytes(pointer) {
        return false;
    }
    (*behind).cell_pages.bring((*behind).cells, offset * CELLS_SCALE, CELL_PAGES_TOGETHER);
    true
}

/// May one more half have its cells elsewhere, so that a page of them is not brought in for a few? It is counted then. With the word's
/// lock held, which all words with cells in the same page share.
#[inline]
pub unsafe fn has_few_cells(line: *mut Line) -> bool {
    let (_, offset, behind) = place_of(line);
    let offset = offset * CELLS_SCALE;
    if (*behind).cell_pages.has(offset) || (*behind).elsewhere[offset / PAGE] == FEW {
        return false;
    }
    (*behind).elsewhere[offset / PAGE] += 1;
    true
}

/// A half has its cells elsewhere no more.
#[inline]
pub unsafe fn has_fewer_cells(line: *mut Line) {
    let (_, offset, behind) = place_of(line);
    let count = &mut (*behind).elsewhere[offset * CELLS_SCALE / PAGE];
    *count = count.saturating_sub(1);
}

/// A page has the cells of 64 halves.
const FEW: u8 = 8;

/// There are many pages of cells for one of the target, of which but a few bytes may be described so.
const CELL_PAGES_TOGETHER: usize = 2;

#[cold]
unsafe fn make_bytes(pointer: &AtomicPtr<u8>) -> bool {
    let _errno = errno::keep();
    if !crate::spin::lock(&GROWING) {
        return false;
    }
    if pointer.load(Ordering::Acquire).is_null() {
        pointer.store(reserve(RANGE_CELLS), Ordering::Release);
    }
    crate::spin::unlock(&GROWING);
    !pointer.load(Ordering::Acquire).is_null()
}

/// One past the last address described by the same root entry.
pub fn range_end(address: usize) -> usize {
    (address | RANGE_MASK).saturating_add(1)
}

/// Bytes of the target that one page of shadow describes.
const BYTES_PER_PAGE: usize = PAGE / SCALE;

/// Calls `visit` with the parts of a mapped range whose shadow is in memory, up to `end` or the end of the range,
/// and returns where it stopped.
pub unsafe fn each_resident_part(start: usize, end: usize, visit: &mut dyn FnMut(usize, usize)) -> usize {
    const PAGES: usize = 256;
    let _errno = errno::keep();
    let end = end.min(range_end(start));
    let mut resident = [0u8; PAGES];
    let mut at = start;
    while at < end {
        let first = at & !(BYTES_PER_PAGE - 1);
        let last = end.min(first + PAGES * BYTES_PER_PAGE);
        let pages = (last - first).div_ceil(BYTES_PER_PAGE);
        let known = !sandbox::is_closed()
            && libc::mincore(line_if_mapped(first).cast(), pages * PAGE, resident.as_mut_ptr()) == 0;
        for (page, state) in resident.iter().enumerate().take(pages) {
            let from = first + page * BYTES_PER_PAGE;
            if !known || state & 1 != 0 {
                visit(from.max(at), (from + BYTES_PER_PAGE).min(last));
            }
        }
        at = last;
    }
    end
}

/// Gives back the memory of the shadow of bytes that nothing is known about any more. Worthwhile only where there is
/// much of it.
pub unsafe fn discard(start: usize, end: usize) {
    const WORTHWHILE: usize = 256 << 10;
    let mut at = start.next_multiple_of(8);
    while at < end && end - at >= WORTHWHILE {
        let to = end.min(range_end(at));
        let line = line_if_mapped(at);
        if !line.is_null() {
            let size = (to - at) / 8 * size_of::<Line>();
            let (block, offset, behind) = place_of(line);
            discard_pages(&(*behind).line_pages, block, offset, size);
            if !(*behind).cells.is_null() {
                let (offset, size) = (offset * CELLS_SCALE, size * CELLS_SCALE);
                discard_pages(&(*behind).cell_pages, (*behind).cells, offset, size);
            }
        }
        at = to;
    }
}

/// The pages that lie within.
unsafe fn discard_pages<const WORDS: usize>(
    pages: &Pages<WORDS>,
    first: *mut u8,
    offset: usize,
    bytes: usize,
) {
    let start = offset.next_multiple_of(PAGE);
    let size = (offset + bytes).saturating_sub(start) & !(PAGE - 1);
    pages.forget(start, size);
    let _errno = errno::keep();
    libc::madvise(first.add(start).cast(), size, libc::MADV_DONTNEED);
}

/// In a forked child: whoever touched memory so far did so in the parent.
pub unsafe fn clear() {
    for block in &BLOCKS[..BLOCK_COUNT.load(Ordering::Relaxed)] {
        let block = block.load(Ordering::Relaxed);
        let behind = place_of(block.cast()).2;
        discard_pages(&(*behind).line_pages, block, 0, RANGE_SHADOW);
        for count in (*behind).elsewhere.iter_mut().filter(|count| **count != 0) {
            *count = 0;
        }
    }
}

pub fn lock_before_fork() {
    crate::spin::lock(&GROWING);
}

pub fn unlock_after_fork() {
    GROWING.store(0, Ordering::Relaxed);
}
