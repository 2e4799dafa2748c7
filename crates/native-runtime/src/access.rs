//! Plain accesses. The common case, an access to bytes that only this thread has used since they came to
//! life, is decided here by one comparison and noted by two stores; everything else is in [`crate::cells`].

use core::sync::atomic::{Ordering, compiler_fence};

use crate::cell::{BYTES, Cell, ID, Masks, READ_BY_MANY, READS_AT, SHARED, SPLIT, WRITES_AT, exchange};
use crate::cells::{self, Kind, Touch};
use crate::own::{self, Who};
use crate::passages::{self, Step};
use crate::shadow::{self, Line};
use crate::split::{self, ByteCell};
use crate::thread::Thread;
use crate::tls::{self, Tls};
use crate::{
    atomic_locks, buffers, context, control, handovers, location, lock_code, log, noise, passing, sampling,
    thread, unaligned,
};

/// An access of 1, 2, 4 or 8 bytes that the compiler knows to be aligned, from the instruction before `pc`.
#[inline(always)]
pub unsafe fn aligned<const SIZE: usize, const WRITE: bool>(address: usize, pc: usize) {
    let tls = tls::current();
    let root = (*tls).root;
    if !root.is_null() {
        let block = shadow::block(root, address);
        if !block.is_null() && address.is_multiple_of(SIZE) {
            let line = shadow::line_in(block, address);
            let distance = (pc as u32).wrapping_sub((*tls).frame.function);
            if distance < (*tls).frame.size {
                let leaf = (*tls).frame.first_leaf + distance;
                if !own::<SIZE, WRITE>(line, tls, address, leaf) {
                    not_just_own::<SIZE, WRITE>(address, pc, line, leaf);
                }
                return;
            }
        }
    }
    any(address, SIZE, if WRITE { Kind::Write } else { Kind::Read }, pc);
}

/// An access to bytes that are not this thread's own, or only in parts. What is not frequent is behind one further
/// jump, so that no registers have to be saved for it here.
pub unsafe extern "C" fn not_just_own<const SIZE: usize, const WRITE: bool>(
    address: usize,
    pc: usize,
    line: *mut Line,
    leaf: u32,
) {
    core::hint::assert_unchecked(address.is_multiple_of(SIZE));
    let owner_at = (&raw const (*line).owner).cast::<u32>().add((address >> 2) & 1);
    let owner = owner_at.read();
    if owner & SHARED != 0 {
        let tls = tls::current();
        shared::<SIZE, WRITE>(tls, location::own_hint(tls, owner_at), owner & !SHARED, address, leaf, pc);
    } else if SIZE == 1 && owner & SPLIT != 0 {
        // Buffers that are read byte by byte from several places are split all over.
        let tls = tls::current();
        let cell = split::cell(owner, line, address);
        if (&raw const (*cell).owner).read_volatile() == (*tls).id() {
            split::note::<WRITE>(cell, leaf, (*tls).stamp());
        } else {
            byte_of_others::<WRITE>(address, pc, line, leaf, cell);
        }
    } else if SIZE == 2
        && owner & SPLIT != 0
        && (own_bytes_of_split::<SIZE, WRITE>(owner, line, address, leaf)
            || location_of_split::<SIZE, WRITE>(owner, line, address, leaf, pc))
    {
        // So are those that are used in units of different sizes, and small fields of records.
    } else if SIZE == 1 {
        byte_of_half::<WRITE>(address, pc, line, leaf);
    } else {
        in_parts::<SIZE, WRITE>(address, pc, line, leaf);
    }
}

/// An access to one byte of a half that is not split: most often one more of a buffer that is being filled.
#[inline(never)]
unsafe fn byte_of_half<const WRITE: bool>(address: usize, pc: usize, line: *mut Line, leaf: u32) {
    let owner = (&raw const (*line).owner).cast::<u32>().add((address >> 2) & 1).read();
    match passages::goes_on(owner, line, address, leaf) {
        Step::Noted => {}
        Step::Last => last_byte::<WRITE>(address, pc, line, leaf),
        Step::Elsewhere => byte_elsewhere::<WRITE>(address, pc, line, leaf),
    }
}

/// The last byte of a word that this thread goes through.
#[inline(never)]
unsafe fn last_byte<const WRITE: bool>(address: usize, pc: usize, line: *mut Line, leaf: u32) {
    if !passages::end::<WRITE>((*line).owner[1], line) {
        in_parts::<1, WRITE>(address, pc, line, leaf);
    }
}

/// The same where the word is not being gone through.
#[inline(never)]
unsafe fn byte_elsewhere<const WRITE: bool>(address: usize, pc: usize, line: *mut Line, leaf: u32) {
    let owner = (&raw const (*line).owner).cast::<u32>().add((address >> 2) & 1).read();
    if !one_more_byte::<WRITE>(owner, line, address, leaf) {
        in_parts::<1, WRITE>(address, pc, line, leaf);
    }
}

/// Notes an access to one more byte of a half that is nobody's yet, or of which this thread alone has accessed bytes,
/// at the same site; false if it needs a closer look. What [`own::note_half`] does, in the most frequent cases.
#[inline(always)]
unsafe fn one_more_byte<const WRITE: bool>(owner: u32, line: *mut Line, address: usize, leaf: u32) -> bool {
    let tls = tls::current();
    let (half, id) = ((address >> 2) & 1, (*tls).id());
    let cell = Cell::half(line, half);
    let (last, stamp, masks_at) = if WRITE {
        (cell.write, cell.write_stamp, WRITES_AT)
    } else {
        (cell.read, cell.read_stamp, READS_AT)
    };
    let is_own = owner & (SHARED | SPLIT | BYTES | ID) == BYTES | id && *last == leaf;
    if !(owner == 0 && shadow::is_in_memory(line) || is_own) || control::looks_at_all() {
        return false;
    }
    if owner == 0 && passages::begin_to_fill::<WRITE>(tls, line, address, leaf) {
        return true;
    }
    let masks = owner | 1 << masks_at << (address & 3);
    let masks = Masks { reads: masks >> READS_AT & 15, writes: masks >> WRITES_AT & 15 };
    let done = exchange(cell.owner, owner, masks.owner(id));
    if done {
        *last = leaf;
        *stamp = (*tls).stamp();
    }
    done
}

/// An access to one byte of a split half that is not this thread's alone: most often one that several have read.
#[inline(always)]
pub unsafe extern "C" fn byte_of_others<const WRITE: bool>(
    address: usize,
    pc: usize,
    line: *mut Line,
    leaf: u32,
    cell: *mut ByteCell,
) {
    let owner = (&raw const (*cell).owner).read_volatile();
    if owner & SHARED != 0 {
        let tls = tls::current();
        let hint = location::own_hint_at_byte(tls, &raw const (*cell).owner);
        shared::<1, WRITE>(tls, hint, owner & !SHARED, address, leaf, pc);
    } else {
        byte_of_another::<WRITE>(address, pc, line, leaf);
    }
}

/// An access to one byte of a split half that is another thread's: most often one that it has handed on.
#[inline(never)]
unsafe fn byte_of_another<const WRITE: bool>(address: usize, pc: usize, line: *mut Line, leaf: u32) {
    let tls = tls::current();
    if (*tls).busy != 0
        || !passing::take_over_byte_of_split::<WRITE>(&mut *(*tls).thread, line, address, leaf)
    {
        in_parts::<1, WRITE>(address, pc, line, leaf);
    }
}

/// An access to bytes that are this thread's own in parts, or nobody's, or another thread's.
#[inline(never)]
unsafe fn in_parts<const SIZE: usize, const WRITE: bool>(
    address: usize,
    pc: usize,
    line: *mut Line,
    leaf: u32,
) {
    let owner = (&raw const (*line).owner).cast::<u32>().add((address >> 2) & 1).read();
    if SIZE == 1 && take_over_first_byte::<WRITE>(owner, line, address, leaf) {
        // Buffers are handed on so.
    } else if SIZE == 4 && owner & SPLIT != 0 && own_bytes_of_split::<SIZE, WRITE>(owner, line, address, leaf)
    {
        // Buffers that are read in units of different sizes are split, too.
    } else if SIZE < 4 && own_part::<SIZE, WRITE>(line, address, leaf) {
        // Buffers are filled so.
    } else if SIZE < 4 && split_own::<SIZE, WRITE>(line, address, leaf, pc) {
        // Buffers that are filled anew in smaller units, or read in part from elsewhere.
    } else {
        unusual::<SIZE, WRITE>(line, address, leaf, pc);
    }
}

/// Notes the access if its bytes are this thread's own; false if it needs a closer look.
#[inline(always)]
unsafe fn own<const SIZE: usize, const WRITE: bool>(
    line: *mut Line,
    tls: *const Tls,
    address: usize,
    leaf: u32,
) -> bool {
    if SIZE == 8 {
        if (&raw const (*line).owner).cast::<u64>().read() != (*tls).owner_pair {
            return false;
        }
        let pair = leaf as u64 | (leaf as u64) << 32;
        let (leaves, stamps) = if WRITE {
            (&raw mut (*line).write, &raw mut (*line).write_stamp)
        } else {
            (&raw mut (*line).read, &raw mut (*line).read_stamp)
        };
        leaves.cast::<u64>().write(pair);
        stamps.cast::<u32>().write((*tls).stamp_pair);
        return true;
    }
    let half = (address >> 2) & 1;
    let owner = (&raw const (*line).owner).cast::<u32>().add(half).read();
    let leaves = if WRITE { &raw mut (*line).write } else { &raw mut (*line).read }.cast::<u32>().add(half);
    if SIZE == 4 {
        if owner != (*tls).id() {
            return false;
        }
        leaves.write(leaf);
    } else {
        // Smaller than half a word: only the repetition of what the half says of these bytes already.
        let mask = (cells::byte_mask(address, SIZE) >> (half * 4)) as u32;
        let masks = mask << if WRITE { WRITES_AT } else { READS_AT };
        // Zero for a half that is the thread's as a whole.
        let difference = owner ^ (*tls).id();
        let is_part = difference & (SHARED | SPLIT | BYTES | ID | masks) == BYTES | masks;
        if !(difference == 0 || is_part) || leaves.read() != leaf {
            return false;
        }
    }
    let stamps = if WRITE { &raw mut (*line).write_stamp } else { &raw mut (*line).read_stamp };
    stamps.cast::<u16>().add(half).write((*tls).stamp());
    true
}

/// Notes the access if all its bytes, of a split half with this owner field, are this thread's own; false if it needs a closer look.
#[inline(always)]
unsafe fn own_bytes_of_split<const SIZE: usize, const WRITE: bool>(
    owner: u32,
    line: *mut Line,
    address: usize,
    leaf: u32,
) -> bool {
    let tls = tls::current();
    let first = split::cell(owner, line, address);
    let is_own = |byte: usize| (&raw const (*first.add(byte)).owner).read_volatile() == (*tls).id();
    if !(0..SIZE).all(is_own) {
        return false;
    }
    for byte in 0..SIZE {
        split::note::<WRITE>(first.add(byte), leaf, (*tls).stamp());
    }
    true
}

/// Notes the access if it is to a part of a half that is nobody's yet or this thread's own; false if it needs a closer
/// look.
#[inline(always)]
unsafe fn own_part<const SIZE: usize, const WRITE: bool>(line: *mut Line, address: usize, leaf: u32) -> bool {
    let tls = tls::current();
    let half = (address >> 2) & 1;
    let mask = (cells::byte_mask(address, SIZE) >> (half * 4)) as u32;
    let who = Who { id: (*tls).id(), stamp: (*tls).stamp() };
    let kind = if WRITE { Kind::Write } else { Kind::Read };
    !control::looks_at_all() && own::note_half(line, half, mask, who, Touch { kind, flags: 0, leaf })
}

/// Notes an access to a part of a half that is this thread's own, and whose other bytes it accessed otherwise last: so each of
/// them gets a cell. False, with nothing lost, if it needs a closer look.
#[inline(always)]
unsafe fn split_own<const SIZE: usize, const WRITE: bool>(
    line: *mut Line,
    address: usize,
    leaf: u32,
    pc: usize,
) -> bool {
    let half = (address >> 2) & 1;
    let mask = (cells::byte_mask(address, SIZE) >> (half * 4)) as u32;
    let kind = if WRITE { Kind::Write } else { Kind::Read };
    !control::looks_at_all()
        && unaligned::note_in_own_half(line, address, half, mask, Touch { kind, flags: 0, leaf }, pc)
}

/// An access to bytes of a split half with this owner field that are one location, most often; false if it needs a closer look.
#[inline(always)]
unsafe fn location_of_split<const SIZE: usize, const WRITE: bool>(
    owner: u32,
    line: *mut Line,
    address: usize,
    leaf: u32,
    pc: usize,
) -> bool {
    let tls = tls::current();
    let cell = split::cell(owner, line, address);
    let owner = (&raw const (*cell).owner).read_volatile();
    // The other bytes need not be read by many if the first is.
    if owner & SHARED == 0 || owner == READ_BY_MANY {
        return false;
    }
    let hint = location::own_hint_at_byte(tls, &raw const (*cell).owner);
    shared::<SIZE, WRITE>(tls, hint, owner & !SHARED, address, leaf, pc);
    true
}

/// An access to the first byte of a half that another thread has handed on as a whole, with this owner field; false if it
/// needs a closer look.
#[inline(always)]
unsafe fn take_over_first_byte<const WRITE: bool>(
    owner: u32,
    line: *mut Line,
    address: usize,
    leaf: u32,
) -> bool {
    let tls = tls::current();
    owner != 0
        && owner & (SHARED | SPLIT | BYTES) == 0
        && owner != (*tls).id()
        && (*tls).busy == 0
        && passing::take_over_first_byte::<WRITE>(&mut *(*tls).thread, line, address, leaf)
}

/// An access for which there is no quicker way.
#[inline(never)]
unsafe fn unusual<const SIZE: usize, const WRITE: bool>(
    line: *mut Line,
    address: usize,
    leaf: u32,
    pc: usize,
) {
    let tls = tls::current();
    let kind = if WRITE { Kind::Write } else { Kind::Read };
    if control::looks_at_all() {
        return any(address, SIZE, kind, pc);
    }
    let who = Who { id: (*tls).id(), stamp: (*tls).stamp() };
    let touch = Touch { kind, flags: 0, leaf };
    if !own::note(line, who, address, SIZE, touch) {
        look_closer(line, address, SIZE, touch, pc);
    }
}

/// An access within a word, not all of whose bytes are just this thread's own.
#[inline(never)]
pub unsafe fn look_closer(line: *mut Line, address: usize, size: usize, touch: Touch, pc: usize) {
    let Some(thread) = thread::enter() else { return };
    if lock_code::role(thread, pc).is_none() {
        atomic_locks::settle(thread);
        cells::touch_others(thread, line, address, size, touch);
    }
    thread::leave(thread);
}

/// An access to bytes that several threads use: most often one more of those that the turn has on record.
#[inline(always)]
unsafe fn shared<const SIZE: usize, const WRITE: bool>(
    tls: *const Tls,
    hint: u32,
    index: u32,
    address: usize,
    leaf: u32,
    pc: usize,
) {
    if index == 0 && !WRITE {
        // Read by many: see `cell`.
        return;
    }
    let thread = &mut *(*tls).thread;
    let kind = if WRITE { Kind::Write } else { Kind::Read };
    let touch = Touch { kind, flags: 0, leaf };
    // What the slot holds is this thread's alone, so that nothing has to be locked or announced; but a signal
    // handler must not do this in the midst of the recorder's own doings.
    if (*tls).busy == 0
        && !noise::is_due_at_access(thread)
        && location::repeats_at_hint(thread, hint, index, SIZE, touch)
    {
        noise::pass_access(thread);
        return;
    }
    shared_without_hint::<SIZE, WRITE>(index, address, leaf, pc);
}

#[inline(never)]
unsafe fn shared_without_hint<const SIZE: usize, const WRITE: bool>(
    index: u32,
    address: usize,
    leaf: u32,
    pc: usize,
) {
    let tls = tls::current();
    let thread = &mut *(*tls).thread;
    // What has to be looked at then is in another thread's processor, so that all of it is asked for at once.
    let changes_hands = location::fetch_for_handover(thread, index, address, SIZE);
    let kind = if WRITE { Kind::Write } else { Kind::Read };
    let touch = Touch { kind, flags: 0, leaf };
    if (*tls).busy == 0
        && !noise::is_due_at_access(thread)
        && location::is(index, address, SIZE)
        && (!changes_hands && location::repeats(thread, index, touch)
            || begins_turn(thread, index, touch, pc))
    {
        noise::pass_access(thread);
        return;
    }
    any(address, SIZE, kind, pc);
}

/// Records an access to a location that is exactly its bytes, where it does not only repeat what is on record: what
/// threads use under a lock changes hands so. False, with nothing done, if it needs a closer look.
#[inline(always)]
unsafe fn begins_turn(thread: &mut Thread, index: u32, touch: Touch, pc: usize) -> bool {
    if control::looks_at_all() || !log::is_active() || (*thread.stack).is_wanted() {
        return false;
    }
    // From here on a signal handler's accesses are left out.
    (*thread.tls).busy = 1;
    compiler_fence(Ordering::SeqCst);
    let concerns_lock = thread.awaited.address != 0 || lock_code::role(thread, pc).is_some();
    let done = !concerns_lock && location::begin_turn(thread, index, touch);
    thread::leave(thread);
    done
}

/// Any access: unaligned, of any length, or not this thread's own.
#[cold]
#[inline(never)]
pub unsafe fn any(address: usize, size: usize, kind: Kind, pc: usize) {
    range(address, size, kind, 0, pc);
}

/// An access with event flags; `size` may be large.
pub unsafe fn range(address: usize, size: usize, kind: Kind, flags: u8, pc: usize) {
    if sampling::leaves_out() {
        return;
    }
    let Some(thread) = thread::enter() else { return };
    // What locks do among themselves is not the program's communication.
    if lock_code::role(thread, pc).is_none() {
        atomic_locks::settle(thread);
        let leaf = context::leaf(thread.tls, pc);
        control::before_access(thread, address, size, kind, leaf, pc);
        touch_range(thread, address, size, Touch { kind, flags, leaf });
    }
    thread::leave(thread);
}

/// A further part of what the access before it has begun: in a controlled run nobody comes in between.
pub unsafe fn further(address: usize, size: usize, kind: Kind, pc: usize) {
    if sampling::is_quiet() {
        return;
    }
    let Some(thread) = thread::enter() else { return };
    let leaf = context::leaf(thread.tls, pc);
    touch_range(thread, address, size, Touch { kind, flags: 0, leaf });
    thread::leave(thread);
}

/// Notes a plain access within one word if its bytes are just this thread's own, or read by many; false if it needs a closer look.
#[inline(always)]
unsafe fn own_in_word<const WRITE: bool>(tls: *const Tls, address: usize, size: usize, leaf: u32) -> bool {
    let block = shadow::block(shadow::root(), address);
    if block.is_null() {
        return false;
    }
    let line = shadow::line_in(block, address);
    size == 8 && own::<8, WRITE>(line, tls, address, leaf)
        || unaligned::note::<WRITE>(tls, line, address & 7, size, leaf)
}

/// With the thread already in the recorder.
pub unsafe fn touch_range(thread: &mut Thread, address: usize, size: usize, touch: Touch) {
    if !sampling::enter(thread, address, size) {
        return;
    }
    thread.in_buffer = size >= handovers::BUFFER;
    if thread.in_buffer {
        buffers::remember(touch.leaf);
    }
    let end = address.saturating_add(size);
    let mut at = address;
    while at < end {
        let next = ((at | 7) + 1).min(end);
        let is_noted = match touch.kind {
            Kind::Read => own_in_word::<false>(thread.tls, at, next - at, touch.leaf),
            Kind::Write => own_in_word::<true>(thread.tls, at, next - at, touch.leaf),
            Kind::Update => false,
        };
        if !is_noted {
            cells::touch(thread, at, next - at, touch);
        }
        at = next;
    }
    thread.in_buffer = false;
    sampling::leave(thread);
}
