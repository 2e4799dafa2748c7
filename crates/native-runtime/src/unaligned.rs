//! Plain accesses of a few bytes that may lie anywhere, within one word or two: compressors and hashes read text so, from many
//! sites at the same bytes. What is this thread's own, or nobody's yet, is noted without the long way in.

use core::ops::Range;

use crate::access::{any, look_closer};
use crate::cell::{ID, READ_BY_MANY, SHARED, SPLIT};
use crate::cells::{self, Kind, Touch};
use crate::own::{self, Who};
use crate::shadow::{self, Line};
use crate::split::{self, ByteCell};
use crate::tls::{self, Tls};
use crate::{control, in_turn, lock_code, log};

/// Accesses that are longer go the way of all others, see [`crate::access::range`].
const SHORT: usize = 16;

/// An access of any length at any address, from the instruction before `pc`.
#[inline(always)]
pub unsafe fn access<const WRITE: bool>(address: usize, size: usize, pc: usize) {
    let tls = tls::current();
    let kind = if WRITE { Kind::Write } else { Kind::Read };
    let distance = (pc as u32).wrapping_sub((*tls).frame.function);
    if (*tls).root.is_null() || distance >= (*tls).frame.size || size > SHORT || control::looks_at_all() {
        return any(address, size, kind, pc);
    }
    let touch = Touch { kind, flags: 0, leaf: (*tls).frame.first_leaf + distance };
    let end = address + size;
    let mut at = address;
    while at < end {
        let next = ((at | 7) + 1).min(end);
        let block = shadow::block((*tls).root, at);
        if block.is_null() || !note::<WRITE>(tls, shadow::line_in(block, at), at & 7, next - at, touch.leaf) {
            part(tls, at, next - at, touch, pc);
        }
        at = next;
    }
}

/// Notes an access to so many bytes of a word, from this one on, if they are just the thread's own, or read by many. False if it needs a
/// closer look; parts of it may have been noted then, which does no harm.
#[inline(always)]
pub unsafe fn note<const WRITE: bool>(
    tls: *const Tls,
    line: *mut Line,
    first: usize,
    bytes: usize,
    leaf: u32,
) -> bool {
    let end = first + bytes;
    let mut at = first;
    while at < end {
        let (half, next) = (at / 4, end.min((at | 3) + 1));
        let owner = (&raw const (*line).owner).cast::<u32>().add(half).read_volatile();
        if owner & SPLIT != 0 {
            if !note_bytes::<WRITE>(tls, split::cells(owner, line, half).cast(), at..next, leaf) {
                return false;
            }
        } else if owner == (*tls).id() {
            let leaves = if WRITE { &raw mut (*line).write } else { &raw mut (*line).read };
            let leaves = leaves.cast::<u32>().add(half);
            if next - at < 4 && leaves.read() != leaf {
                return false;
            }
            leaves.write(leaf);
            let stamps = if WRITE { &raw mut (*line).write_stamp } else { &raw mut (*line).read_stamp };
            stamps.cast::<u16>().add(half).write((*tls).stamp());
        } else if WRITE || owner != READ_BY_MANY {
            return false;
        }
        at = next;
    }
    true
}

/// The same for bytes of a split half.
#[inline(always)]
unsafe fn note_bytes<const WRITE: bool>(
    tls: *const Tls,
    cells: *mut ByteCell,
    bytes: Range<usize>,
    leaf: u32,
) -> bool {
    for byte in bytes {
        let cell = cells.add(byte & 3);
        let owner = (&raw const (*cell).owner).read_volatile();
        if owner == (*tls).id() {
            split::note::<WRITE>(cell, leaf, (*tls).stamp());
        } else if WRITE || owner != READ_BY_MANY {
            return false;
        }
    }
    true
}

/// An access to bytes of one word.
#[inline(never)]
unsafe fn part(tls: *const Tls, address: usize, size: usize, touch: Touch, pc: usize) {
    let block = shadow::block((*tls).root, address);
    if block.is_null() {
        return any(address, size, touch.kind, pc);
    }
    let line = shadow::line_in(block, address);
    let who = Who { id: (*tls).id(), stamp: (*tls).stamp() };
    let mask = cells::byte_mask(address, size) as u32;
    let is_noted = |half: usize| {
        let part = mask >> (half * 4) & 15;
        part == 0
            || own::note_half(line, half, part, who, touch)
            || note_in_own_half(line, address, half, part, touch, pc)
    };
    if !(is_noted(0) && is_noted(1)) {
        look_closer(line, address, size, touch, pc);
    }
}

/// Notes an access to a part of a half of the word at `address` that is this thread's own: each of its bytes gets a cell, if
/// there is room for that. False, with nothing done, if it needs a closer look.
#[inline(always)]
pub unsafe fn note_in_own_half(
    line: *mut Line,
    address: usize,
    half: usize,
    mask: u32,
    touch: Touch,
    pc: usize,
) -> bool {
    let tls = tls::current();
    let owner = (&raw const (*line).owner[half]).read_volatile();
    let is_own = owner & (SHARED | SPLIT) == 0 && owner & ID == (*tls).id();
    if !is_own || (*tls).busy != 0 || !log::is_active() {
        return false;
    }
    let thread = &mut *(*tls).thread;
    if (*thread.stack).is_wanted() || lock_code::is_present() && in_turn::concerns_lock(thread, pc) {
        return false;
    }
    let Some(lock) = cells::try_lock(thread, address) else { return false };
    let is_still_own = (&raw const (*line).owner[half]).read_volatile() == owner;
    if is_still_own {
        cells::note_own_half(thread, line, half, mask, touch);
    }
    cells::unlock(thread, lock);
    is_still_own
}
