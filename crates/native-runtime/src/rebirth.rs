//! Memory that begins a new life: its history ends. And memory that is not watched for a while: its history has a gap.

use crate::cell::{Cell, READ_BY_MANY, SHARED, SPLIT, each_cell};
use crate::cells::stripe;
use crate::shadow::{self, Line};
use crate::thread::Thread;
use crate::{location, spin, split};

/// Above this size only the shadow pages that are in memory are looked at.
const LARGE: usize = 32 << 10;

/// The bytes from `start` to `end` begin a new life: whole words, since blocks and stacks are aligned.
pub unsafe fn forget(start: usize, end: usize) {
    let Some(thread) = crate::tls::current().as_ref().and_then(|tls| tls.thread.as_mut()) else { return };
    each_part(start, end, &mut |from, to| forget_lines(thread, from, to));
    shadow::discard(start, end);
}

/// Nobody looks at the bytes from `start` to `end` for a while: locations get a gap, all else is untouched again. No
/// thread is recording an access to them.
pub unsafe fn pause(thread: &mut Thread, start: usize, end: usize) {
    each_part(start, end, &mut |from, to| {
        for address in (from & !7..to).step_by(8) {
            let line = shadow::line_if_mapped(address);
            let [low, high] = (*line).owner;
            if (low | high) & (SHARED | SPLIT) != 0 {
                pause_line(thread, line, address);
            } else if low | high != 0 {
                Cell::half(line, 0).clear();
                Cell::half(line, 1).clear();
            }
        }
    });
}

/// Calls `visit` for the parts of a range that have lines, as far as these may be other than untouched.
unsafe fn each_part(start: usize, end: usize, visit: &mut dyn FnMut(usize, usize)) {
    let mut at = start & !7;
    while at < end {
        if shadow::line_if_mapped(at).is_null() {
            at = shadow::range_end(at);
        } else if end - at >= LARGE {
            at = shadow::each_resident_part(at, end, visit);
        } else {
            let to = end.min(shadow::range_end(at));
            visit(at, to);
            at = to;
        }
    }
}

unsafe fn forget_lines(thread: &mut Thread, from: usize, to: usize) {
    let mut line = shadow::line_if_mapped(from);
    for address in (from..to).step_by(8) {
        let [low, high] = (*line).owner;
        if (low | high) & (SHARED | SPLIT) != 0 {
            forget_line(thread, line, address);
        } else if low | high != 0 {
            // One thread's alone: nothing depends on it.
            Cell::half(line, 0).clear();
            Cell::half(line, 1).clear();
        } else if (*line).read[0] != 0 {
            // Where a block began in an earlier life: see [`crate::blocks`].
            (*line).read = [0, 0];
            (*line).write = [0, 0];
        }
        line = line.add(1);
    }
}

unsafe fn forget_line(thread: &mut Thread, line: *mut Line, address: usize) {
    let lock = stripe(address);
    if !spin::lock(lock) {
        return;
    }
    each_cell(line, 0xff, &mut |cell| {
        if *cell.owner & SHARED != 0 && *cell.owner != READ_BY_MANY {
            location::end(thread, *cell.owner & !SHARED);
        }
    });
    for half in 0..2 {
        let owner = (*line).owner[half];
        Cell::half(line, half).clear();
        if owner & (SHARED | SPLIT) == SPLIT {
            split::free(thread, owner, line);
        }
    }
    spin::unlock(lock);
}

unsafe fn pause_line(thread: &mut Thread, line: *mut Line, address: usize) {
    let lock = stripe(address);
    if !spin::lock(lock) {
        return;
    }
    for half in 0..2 {
        let mut has_location = false;
        each_cell(line, 15 << (half * 4), &mut |cell| {
            if *cell.owner & SHARED == 0 || *cell.owner == READ_BY_MANY {
                cell.clear();
            } else {
                location::pause(thread, *cell.owner & !SHARED);
                has_location = true;
            }
        });
        let owner = (*line).owner[half];
        if !has_location && owner & (SHARED | SPLIT) == SPLIT {
            Cell::half(line, half).clear();
            split::free(thread, owner, line);
        }
    }
    spin::unlock(lock);
}
