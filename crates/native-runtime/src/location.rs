//! The turns of bytes that several threads use.
//!
//! Rules (the design's "turns, not accesses"): a thread that has written and is alone since owns the location;
//! what it does then is noted in its slot. Another thread's read ends that, and the readers share the location:
//! each is recorded at its first read and once per further site, and its slot keeps the last. A write by
//! another thread than the owner closes all slots, which records the last accesses they hold, and begins a
//! new version with that thread as owner.
//!
//! Deviations: of a thread that reads at more than [`slots::MOST_SITES`] sites within one turn, the further ones are
//! known only if one is the last. The first read after the first write of a turn is recorded even if the turn
//! has read there before that write. Beyond the budget, of many threads that have read and ended before the next write, the
//! newest are kept.

use core::mem::offset_of;
use core::sync::atomic::{AtomicU32, Ordering};

use recording::{EventKind, Location, RegionId, Slot, flag};

use crate::cell::{SHARED, SPLIT};
use crate::cells::{Kind, Touch};
use crate::shadow::{self, Line};
use crate::split::ByteCell;
use crate::thread::{CACHED_SLOTS, CachedSlot, Thread};
use crate::tls::Tls;
use crate::{contested, fetch, known_reads, log, mapping, sites, slots, spin, split, turns};

#[inline]
pub unsafe fn at(index: u32) -> *mut Location {
    mapping::record(RegionId::Locations, index)
}

/// A location's lock while a thread changes its record.
pub const HELD: u32 = 1;

#[inline]
pub unsafe fn lock_of(location: *mut Location) -> &'static AtomicU32 {
    AtomicU32::from_ptr(&raw mut (*location).lock)
}

/// A location for these bytes; `parent` is the one it is a piece of, or zero.
pub unsafe fn new(address: usize, size: usize, parent: u32) -> Option<u32> {
    let index = mapping::allocate_record::<Location>(RegionId::Locations)?;
    let location = at(index);
    (*location).address = address as u64;
    (*location).size = size as u32;
    (*location).parent = parent;
    if parent != 0 {
        let whole = at(parent);
        (*location).allocated_at = (*whole).allocated_at;
        (*location).block_offset = (*whole).block_offset + (address as u64 - (*whole).address) as u32;
    }
    (*location).born = log::next_tick();
    (*location).version = 1;
    Some(index)
}

/// Is this location exactly these bytes?
#[inline]
pub unsafe fn is(index: u32, address: usize, size: usize) -> bool {
    let location = at(index);
    (*location).address == address as u64 && (*location).size == size as u32
}

/// Records an access to a location. False if the location has ended in the meantime.
#[inline]
pub unsafe fn touch(thread: &mut Thread, index: u32, touch: Touch) -> bool {
    if repeats(thread, index, touch) {
        return true;
    }
    begin_turn(thread, index, touch)
}

/// Is this access one more of the kind that this thread's turn has recorded already? Then it is noted in the slot.
#[inline]
pub unsafe fn repeats(thread: &mut Thread, index: u32, touch: Touch) -> bool {
    let location = at(index);
    match cached(thread, location, index).or_else(|| slots::at_hand(location, index, thread.id)) {
        Some(slot) => note_repetition(thread, location, slot, touch),
        None => false,
    }
}

#[inline]
unsafe fn cached(thread: &Thread, location: *const Location, index: u32) -> Option<*mut Slot> {
    last_slot(thread, location, index).filter(|&slot| (*slot).location == index)
}

/// The slot that the thread had last at this location, if it is in its list still; it may be without a turn.
#[inline]
pub unsafe fn last_slot(thread: &Thread, location: *const Location, index: u32) -> Option<*mut Slot> {
    let cached = &thread.cache[index as usize % CACHED_SLOTS];
    let version = (&raw const (*location).version).read_volatile();
    (cached.location == index && cached.version == version).then_some(cached.slot)
}

/// Notes the access in the thread's slot of the current version, if it only repeats what is on record.
#[inline]
pub unsafe fn note_repetition(
    thread: &mut Thread,
    location: *mut Location,
    slot: *mut Slot,
    touch: Touch,
) -> bool {
    // Where there is no room for further sites, one more of them changes nothing either; nor does it where it would leave no event.
    let read_on_record = || {
        slots::has_read_at(slot, touch.leaf)
            || is_thinned(location) && sites::is_noted(touch.leaf)
            || slots::knows_site(slot, touch.leaf)
            || sites::is_noted(touch.leaf) && slots::has_all_sites(slot)
    };
    let write_on_record = || {
        (&raw const (*location).owner).read_volatile() == thread.id
            && ((*slot).write == touch.leaf || sites::is_noted(touch.leaf))
    };
    let on_record = match touch.kind {
        Kind::Read => read_on_record(),
        Kind::Write => write_on_record(),
        Kind::Update => write_on_record() && read_on_record(),
    };
    if on_record {
        slots::note(slot, touch, thread);
        if touch.kind == Kind::Read
            && !slots::has_among_first(slot, touch.leaf)
            && !(is_thinned(location) && slots::adds_among_first(slot, touch.leaf))
        {
            known_reads::remember(&mut thread.known_reads, slot, touch.leaf);
        }
    }
    on_record
}

/// Is the budget used up, and has the location's history its gap? Then there is nothing to record of a turn but how it ends.
#[inline]
unsafe fn is_thinned(location: *const Location) -> bool {
    log::over_budget() && (*location).gapped != 0
}

/// Records an access that is not a repetition. False, with nothing done, if the location has ended in the meantime.
#[inline(never)]
pub unsafe fn begin_turn(thread: &mut Thread, index: u32, mut touch: Touch) -> bool {
    let location = at(index);
    let lock = lock_of(location);
    if let Err(now) = lock.compare_exchange(0, HELD, Ordering::Acquire, Ordering::Relaxed) {
        if now == HELD {
            touch.flags |= flag::UNCERTAIN;
        }
        if !self::lock(index) {
            return true;
        }
    }
    let alive = (*location).ended == 0;
    if alive {
        let before = content((*location).address as usize, (*location).size as usize);
        turns::begin(thread, index, touch, before);
    }
    spin::unlock(lock);
    alive
}

/// Takes the lock of a location, which is not contested then; false if its holder seems to be gone for good.
pub unsafe fn lock(index: u32) -> bool {
    let lock = lock_of(at(index));
    loop {
        match take_lock(lock) {
            Ok(is_held) => return is_held,
            Err(turn) if contested::leave(index, turn) => return true,
            Err(_) if !log::is_active() => return false,
            Err(_) => {}
        }
    }
}

/// Takes a location's lock; false if its holder seems to be gone for good. If it is contested, the error is its turn.
unsafe fn take_lock(lock: &AtomicU32) -> Result<bool, *mut Slot> {
    loop {
        match lock.compare_exchange(0, HELD, Ordering::Acquire, Ordering::Relaxed) {
            Ok(_) => return Ok(true),
            Err(now) => match contested::turn(now) {
                Some(turn) => return Err(turn),
                None if !spin::wait_while(lock, HELD, 1) => return Ok(false),
                None => {}
            },
        }
    }
}

/// Gives the lock back, unless the location has become contested.
#[inline]
pub unsafe fn unlock(index: u32) {
    let lock = lock_of(at(index));
    if lock.load(Ordering::Relaxed) == HELD {
        spin::unlock(lock);
    }
}

/// Does an atomic operation on exactly this location. False, with nothing done, if the location has ended.
pub unsafe fn operate(
    thread: &mut Thread,
    index: u32,
    flags: u8,
    leaf: u32,
    operate: &mut dyn FnMut() -> Kind,
) -> bool {
    let location = at(index);
    loop {
        match take_lock(lock_of(location)) {
            Ok(true) => break,
            Ok(false) => {
                operate();
                return true;
            }
            Err(turn) => {
                let mut operate = || ((), operate());
                if contested::operate(thread, index, turn, (flags, leaf), &mut operate).is_some() {
                    return true;
                }
            }
        }
    }
    let alive = (*location).ended == 0;
    if alive {
        let before = content((*location).address as usize, (*location).size as usize);
        let kind = operate();
        touch_locked(thread, index, Touch { kind, flags, leaf }, before);
    }
    unlock(index);
    alive
}

/// Does a repeated atomic read without the lock: right if no turn began in the meantime. `read` may be called in vain.
#[inline]
pub unsafe fn read_again(thread: &mut Thread, index: u32, leaf: u32, read: &mut dyn FnMut() -> Kind) -> bool {
    let location = at(index);
    let version = AtomicU32::from_ptr(&raw mut (*location).version);
    let before = version.load(Ordering::Acquire);
    if lock_of(location).load(Ordering::Acquire) != 0 {
        return false;
    }
    read();
    core::sync::atomic::fence(Ordering::Acquire);
    lock_of(location).load(Ordering::Acquire) == 0
        && version.load(Ordering::Acquire) == before
        && repeats(thread, index, Touch { kind: Kind::Read, flags: 0, leaf })
}

/// With the location locked: an atomic access that has just been done. `before` is the content it found. [`unlock`] must follow.
pub unsafe fn touch_locked(thread: &mut Thread, index: u32, touch: Touch, before: u64) {
    if !repeats(thread, index, touch) {
        turns::begin(thread, index, touch, before);
        contested::enter_if_due(thread, at(index), index);
    }
}

/// What slots say of earlier versions is no longer so. With the location locked, which makes this one store.
pub unsafe fn begin_version(location: *mut Location) {
    let version = AtomicU32::from_ptr(&raw mut (*location).version);
    version.store((*location).version.wrapping_add(1), Ordering::Relaxed);
}

/// Makes the slot easy to find until the turn ends, or others' slots need the place.
pub unsafe fn cache(thread: &mut Thread, location: *const Location, index: u32, slot: *mut Slot) {
    let version = (*location).version;
    thread.cache[index as usize % CACHED_SLOTS] = CachedSlot { location: index, version, slot };
    let (address, size) = ((*location).address as usize, (*location).size as usize);
    let line = shadow::line_if_mapped(address);
    let number = slot.offset_from(slots::at(0)) as u32;
    if line.is_null() || number >= 1 << SIZE_AT {
        return;
    }
    let owner = (*line).owner[(address >> 2) & 1];
    let hint = if owner == SHARED | index {
        // Where there was no room to split a half, it may be a location of fewer bytes.
        if !address.is_multiple_of(4) || size < 4 {
            return;
        }
        hint(line, address, thread.id)
    } else if owner & (SHARED | SPLIT) == SPLIT
        && (*split::cell(owner, line, address)).owner == SHARED | index
    {
        hint_at_byte(split::cell(owner, line, address), thread.id)
    } else {
        return;
    };
    // Threads that take turns use the same slots again and again, and must not fight for the line of their hints.
    let new = (size as u32) << SIZE_AT | number;
    if *hint != new {
        *hint = new;
    }
}

/// In a hint, above the number of a slot: how many bytes its location has. It begins where the half or the byte does beside whose owner
/// field the hint is.
const SIZE_AT: u32 = 24;

/// How many bytes the location has that a hint tells of; none if it tells of nothing.
#[inline(always)]
pub fn size_in_hint(hint: u32) -> usize {
    (hint >> SIZE_AT) as usize
}

/// The fields that describe bytes of one thread are free once several threads use them: they tell where one
/// thread's slot is, one for threads with an even id and one for the others. A slot that has become another
/// location's, or nobody's, tells that itself.
#[inline(always)]
pub unsafe fn hint(line: *mut Line, address: usize, thread: u32) -> *mut u32 {
    let fields = if thread & 1 == 0 { &raw mut (*line).read } else { &raw mut (*line).write };
    fields.cast::<u32>().add((address >> 2) & 1)
}

/// The same for a byte of a split half.
#[inline(always)]
pub unsafe fn hint_at_byte(cell: *mut ByteCell, thread: u32) -> *mut u32 {
    if thread & 1 == 0 { &raw mut (*cell).read } else { &raw mut (*cell).write }
}

/// How far a thread's hints are from the owner fields of halves.
pub fn distance_of_hint(thread: u32) -> usize {
    if thread & 1 == 0 { offset_of!(Line, read) } else { offset_of!(Line, write) }
}

const _: () = assert!(
    offset_of!(Line, owner) == 0
        && offset_of!(ByteCell, owner) == 0
        && offset_of!(ByteCell, read) * 2 == offset_of!(Line, read)
        && offset_of!(ByteCell, write) * 2 == offset_of!(Line, write)
);

/// The current thread's hint beside the owner field of half a word.
#[inline(always)]
pub unsafe fn own_hint(tls: *const Tls, owner: *const u32) -> u32 {
    *owner.byte_add((*tls).hint_at)
}

/// The same beside that of a byte of a split half.
#[inline(always)]
pub unsafe fn own_hint_at_byte(tls: *const Tls, owner: *const u32) -> u32 {
    *owner.byte_add((*tls).hint_at / 2)
}

/// What [`repeats`] does in the most frequent cases: by the hint alone, for a read without a look at the
/// location itself, and without a call.
#[inline(always)]
pub unsafe fn repeats_at_hint(thread: &mut Thread, hint: u32, index: u32, size: usize, touch: Touch) -> bool {
    match slot_at_hint(thread, hint, index, size) {
        Some(slot) => repeats_in_slot(thread, slot, index, touch),
        None => false,
    }
}

/// The thread's slot of the location that is exactly so many bytes from where the hint belongs to, if that says where it is.
#[inline(always)]
pub unsafe fn slot_at_hint(thread: &Thread, hint: u32, index: u32, size: usize) -> Option<*mut Slot> {
    let found = hint ^ (size as u32) << SIZE_AT;
    if found >> SIZE_AT != 0 {
        return None;
    }
    let slot = slots::at(found);
    // At once: neither is more likely to be wrong.
    (((*slot).thread ^ thread.id) | ((*slot).location ^ index) == 0).then_some(slot)
}

/// Is the thread's slot where its hint says, but without a turn, since another thread has ended it? Then asks for all that
/// [`begin_turn`] will look at and change.
#[inline(always)]
pub unsafe fn fetch_for_handover(thread: &Thread, index: u32, address: usize, size: usize) -> bool {
    let line = shadow::line_in(shadow::block((*thread.tls).root, address), address);
    // Of a word that is split, the hints are elsewhere.
    let number = |thread: u32| *hint(line, address, thread) ^ (size as u32) << SIZE_AT;
    let own = number(thread.id);
    let is_split = (*line).owner[(address >> 2) & 1] != SHARED | index;
    if is_split || own >> SIZE_AT != 0 {
        return false;
    }
    let slot = slots::at(own);
    let changes_hands = (*slot).thread == thread.id && (*slot).location == 0;
    if changes_hands {
        fetch::to_change(at(index));
        fetch::to_change(slots::at(number(thread.id ^ 1) & ((1 << SIZE_AT) - 1)));
        fetch::to_change(&raw mut (*mapping::header()).tick);
    }
    changes_hands
}

/// Notes an access in the thread's slot if it only repeats what is on record, as far as can be told without a call.
#[inline(always)]
pub unsafe fn repeats_in_slot(thread: &mut Thread, slot: *mut Slot, index: u32, touch: Touch) -> bool {
    let on_record = match touch.kind {
        Kind::Read => has_read(thread, slot, touch.leaf),
        Kind::Write => has_written(thread, slot, index, touch.leaf),
        Kind::Update => has_written(thread, slot, index, touch.leaf) && has_read(thread, slot, touch.leaf),
    };
    if on_record {
        slots::note(slot, touch, thread);
    }
    on_record
}

/// Has the turn a read at this leaf on record?
#[inline(always)]
unsafe fn has_read(thread: &mut Thread, slot: *const Slot, leaf: u32) -> bool {
    if slots::has_room_for_site(slot) {
        return slots::has_read_at(slot, leaf);
    }
    if known_reads::has(&thread.known_reads, slot, leaf) {
        return true;
    }
    let on_record = slots::has_read_at(slot, leaf);
    if on_record {
        // So that it is always known by the same, which the processor foresees then.
        known_reads::remember(&mut thread.known_reads, slot, leaf);
    }
    on_record
}

/// Is it the thread's turn, with a write at this leaf on record?
#[inline(always)]
unsafe fn has_written(thread: &Thread, slot: *const Slot, index: u32, leaf: u32) -> bool {
    (&raw const (*at(index)).owner).read_volatile() == thread.id
        && ((*slot).write == leaf || sites::is_noted_first(leaf))
}

/// The bytes of this location begin a new life, or it is cut into pieces.
pub unsafe fn end(thread: &mut Thread, index: u32) {
    let location = at(index);
    if !lock(index) {
        return;
    }
    if (*location).ended == 0 {
        turns::close_all(thread, location, index, None);
        slots::give_back_all(thread, location);
        begin_version(location);
        (*location).ended = 1;
    }
    unlock(index);
}

/// What follows in this location's history will not be all that happens: what was open is closed, with a gap after it.
pub unsafe fn pause(thread: &mut Thread, index: u32) {
    let location = at(index);
    if !lock(index) {
        return;
    }
    if (*location).ended == 0 && (*location).slots != 0 {
        turns::close_all(thread, location, index, None);
        begin_version(location);
        AtomicU32::from_ptr(&raw mut (*location).owner).store(0, Ordering::Relaxed);
        (*location).gapped = 1;
        log::emit_sync(thread, EventKind::Gap, 0, index, 0, 0);
    }
    unlock(index);
}

/// Up to eight bytes of the target's memory, which it is about to access itself.
pub unsafe fn content(address: usize, size: usize) -> u64 {
    let pointer = address as *const u8;
    match size {
        // No page is mapped this low: let the target itself run into the fault.
        _ if address < 4096 => 0,
        8 => pointer.cast::<u64>().read_unaligned(),
        4 => pointer.cast::<u32>().read_unaligned() as u64,
        2 => pointer.cast::<u16>().read_unaligned() as u64,
        1 => pointer.read() as u64,
        _ => (0..size.min(8)).rev().fold(0, |value, byte| value << 8 | pointer.add(byte).read() as u64),
    }
}

/// In a forked child, which has no locations yet.
pub fn forget_cache(thread: &mut Thread) {
    for cached in &mut thread.cache {
        cached.location = 0;
    }
    known_reads::forget(&mut thread.known_reads);
}
