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
    let mut repeats = |thread: &mut Thread, half: usize, part: u16, owner: u32| {
        if owner & SHARED == 0 || owner == READ_BY_MANY {
            return own::note_half(line, half, part.into(), thread.who(), touch);
        }
        let index = owner & !SHARED;
        if index != noted {
            let location: *const Location = mapping::record(RegionId::Locations, index);
            let whole = byte_mask((*location).address as usize, (*location).size as usize);
            if whole & !mask != 0 || !location::repeats(thread, index, touch) {
                return false;
            }
            noted = index;
        }
        true
    };
    for half in 0..2 {
        let part = mask >> (half * 4) & 15;
        let owner = (&raw const (*line).owner[half]).read_volatile();
        let done = if part == 0 {
            true
        } else if owner & (SHARED | SPLIT) == SPLIT {
            (0..4).filter(|byte| part >> byte & 1 != 0).all(|byte| {
                let owner = Cell::byte(line, half, byte).owner.read_volatile();
                repeats(thread, half, 1 << byte, owner)
            })
        } else {
            repeats(thread, half, part, owner)
        };
        if !done {
            return false;
        }
    }
    true
}
