//! Accesses that only repeat what is on record, at more than one piece of memory that is described by itself. Without a
//! lock.

use recording::{Location, RegionId};

use crate::cell::{Cell, READ_BY_MANY, SHARED, SPLIT};
use crate::cells::{Touch, byte_mask};
use crate::shadow::Line;
use crate::thread::Thread;
use crate::{location, mapping, own};

/// Notes an access whose bytes are this thread's own, or of locations, covered as wholes, where its turn has such an
/// access on record: a buffer that was handed on once, and is filled and read in units of other sizes since. False if
/// it needs a closer look; parts of it may have been noted then, which does no harm.
pub unsafe fn in_parts(
    thread: &mut Thread,
    line: *mut Line,
    address: usize,
    size: usize,
    touch: Touch,
) -> bool {
    let mask = byte_mask(address, size);
    // One location may be both halves, or several bytes of one.
    let mut noted = 0;
    let mut repeats = |thread: &mut Thread, cell: Cell, part: u16, hint: u32| {
        let owner = cell.owner.read_volatile();
        if owner & SHARED == 0 || owner == READ_BY_MANY {
            return own::note_half(line, cell.offset / 4, part.into(), thread.who(), touch);
        }
        let index = owner & !SHARED;
        if index != noted {
            let size = location::size_in_hint(hint);
            let is_covered = size != 0 && byte_mask(cell.offset, size) & !mask == 0;
            let repeats = is_covered && location::repeats_at_hint(thread, hint, index, size, touch)
                || covers(mask, index) && location::repeats(thread, index, touch);
            if !repeats {
                return false;
            }
            noted = index;
        }
        true
    };
    for half in 0..2 {
        let part = mask >> (half * 4) & 15;
        let owner = (&raw const (*line).owner[half]).read_volatile();
        let tls = thread.tls;
        let done = if part == 0 {
            true
        } else if owner & (SHARED | SPLIT) == SPLIT {
            (0..4).filter(|byte| part >> byte & 1 != 0).all(|byte| {
                let cell = Cell::byte(owner, line, half, byte);
                repeats(thread, cell, 1 << byte, location::own_hint_at_byte(tls, cell.owner))
            })
        } else {
            let cell = Cell::half(line, half);
            repeats(thread, cell, part, location::own_hint(tls, cell.owner))
        };
        if !done {
            return false;
        }
    }
    true
}

/// Are all bytes of this location among those of the word that the mask has?
unsafe fn covers(mask: u16, index: u32) -> bool {
    let location: *const Location = mapping::record(RegionId::Locations, index);
    byte_mask((*location).address as usize, (*location).size as usize) & !mask == 0
}
