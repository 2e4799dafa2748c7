//! Locations that threads fight for by atomic operations, once the budget is used up.
//!
//! What such threads wait for is cache lines that go from processor to processor: the location's, those of both turns' slots and
//! the counter of ticks, besides the target's own. So a *contested* location has one slot for whoever's turn it is, which holds
//! the lock of its turns, too, and is all that an operation changes; times count from the newest that it follows.
//! What is kept is the same as without it ([`crate::kept`]).
//!
//! The location's lock tells the number of that slot as long as it is contested. Plain accesses, and whatever
//! else needs the location itself, end this for good. Threads that read between two turns have slots of their own, as always.

use core::sync::atomic::{AtomicU32, Ordering, fence};

use recording::{CONTESTED, Location, RegionId, Slot};

use crate::cells::{Kind, Touch};
use crate::kept::{self, Next};
use crate::thread::Thread;
use crate::{control, location, log, mapping, sampling, sites, slots, spin};

/// Places in [`Slot::sites`] of a contested location's slot: its lock, whether other threads have read since its thread wrote, and
/// the number of handovers.
const LOCK: usize = 0;
const OTHERS_READ: usize = 1;
const NUMBER: usize = 2;

/// [`Location::gapped`] of a location that has been contested.
const ONCE_CONTESTED: u32 = 2;

/// So many handovers beyond the budget are worth it.
const HANDOVERS: u32 = 16;

/// The slot of a contested location, given its lock's value; none if it is not contested.
#[inline(always)]
pub unsafe fn turn(lock: u32) -> Option<*mut Slot> {
    (lock & CONTESTED != 0).then(|| slots::at(lock & !CONTESTED))
}

#[inline(always)]
pub unsafe fn lock_of(turn: *mut Slot) -> &'static AtomicU32 {
    AtomicU32::from_ptr(&raw mut (*turn).sites[LOCK])
}

/// Makes a location contested if it is time for that: it is this thread's turn then, by an atomic operation. With the location
/// locked, which it is no longer afterwards if so.
pub unsafe fn enter_if_due(thread: &Thread, location: *mut Location, index: u32) {
    let is_due = (*location).owner == thread.id
        && (*location).gapped == 1
        && (*location).kept >= HANDOVERS
        && log::over_budget()
        && !control::looks_at_all()
        && !sampling::is_on();
    if is_due {
        enter(thread, location, index);
    }
}

#[cold]
unsafe fn enter(thread: &Thread, location: *mut Location, index: u32) {
    let Some(own) = slots::of_thread(location, thread.id) else { return };
    // Never used for anything else, since others may still wait for its lock when the location is no longer contested.
    let Some(number) = mapping::allocate_record::<Slot>(RegionId::Slots) else { return };
    let turn = slots::at(number);
    let (location_field, next) = (CONTESTED | index, (*location).slots);
    *turn = Slot { location: location_field, next, sites: [0, 0, (*location).kept], ..*own };
    slots::each(location, index, &mut |slot| (*slot).location = 0);
    AtomicU32::from_ptr(&raw mut (*location).slots).store(number, Ordering::Release);
    (*location).gapped = ONCE_CONTESTED;
    AtomicU32::from_ptr(&raw mut (*location).owner).store(0, Ordering::Relaxed);
    location::lock_of(location).store(CONTESTED | number, Ordering::Release);
}

/// Makes a location an ordinary one again, with its lock held. False if somebody else was faster.
#[cold]
pub unsafe fn leave(index: u32, turn: *mut Slot) -> bool {
    let location = location::at(index);
    let lock = lock_of(turn);
    if !spin::lock(lock) {
        return false;
    }
    let is_contested = (*turn).location == CONTESTED | index;
    if is_contested {
        let user = (*turn).thread;
        (*location).kept = (*turn).sites[NUMBER];
        let owner = if (*turn).sites[OTHERS_READ] == 0 { user } else { 0 };
        AtomicU32::from_ptr(&raw mut (*location).owner).store(owner, Ordering::Relaxed);
        let described = *turn;
        // Nobody's from now on.
        ((*turn).location, (*turn).thread) = (0, 0);
        slots::describe(location, index, &described);
        location::lock_of(location).store(location::HELD, Ordering::Relaxed);
    }
    spin::unlock(lock);
    is_contested
}

/// Does an operation on a contested location. None, with nothing done, if it is so no longer.
#[inline(always)]
pub unsafe fn operate<Result>(
    thread: &mut Thread,
    index: u32,
    turn: *mut Slot,
    (flags, leaf): (u8, u32),
    operate: &mut impl FnMut() -> (Result, Kind),
) -> Option<Result> {
    let lock = lock_of(turn);
    if !spin::lock_wanted(lock) {
        return Some(operate().0);
    }
    if (*turn).location != CONTESTED | index {
        spin::unlock(lock);
        return None;
    }
    let location = location::at(index);
    let before = location::content((*location).address as usize, (*location).size as usize);
    let (result, kind) = operate();
    let touch = Touch { kind, flags, leaf };
    if (*turn).thread == thread.id && (kind == Kind::Read || (*turn).sites[OTHERS_READ] == 0) {
        slots::note(turn, touch, thread);
        spin::unlock(lock);
        note_site(thread, index, leaf);
    } else if kind == Kind::Read {
        begin_reading(thread, index, turn, touch, before);
    } else {
        begin(thread, index, turn, touch, before);
    }
    Some(result)
}

#[inline(always)]
unsafe fn note_site(thread: &mut Thread, index: u32, leaf: u32) {
    if !sites::is_noted_first(leaf) && !sites::is_noted(leaf) {
        sites::note(thread, index, leaf);
    }
}

/// An operation that changes the location, by another thread than the one whose turn it was, or after others have read. Gives the
/// lock back.
#[inline(never)]
unsafe fn begin(thread: &mut Thread, index: u32, turn: *mut Slot, touch: Touch, before: u64) {
    let location = location::at(index);
    let ended = *turn;
    let mut newest = ended.read_tick.max(ended.write_tick);
    let others_read = ended.sites[OTHERS_READ] != 0;
    if others_read {
        slots::each(location, index, &mut |slot| newest = newest.max((*slot).read_tick));
    }
    let next = next(thread, turn, touch, before, newest);
    if others_read {
        slots::each(location, index, &mut |slot| {
            if (*slot).thread != thread.id {
                kept::keep(thread, location, index, slot, &next);
            }
            (*slot).location = 0;
        });
        if slots::give_back_many(thread, location, turn) {
            location::begin_version(location);
            (*turn).version = (*location).version;
        }
    }
    change_hands(turn, thread, touch);
    (*turn).sites[OTHERS_READ] = 0;
    // What follows is this thread's own business.
    spin::unlock(lock_of(turn));
    if ended.thread != thread.id {
        kept::keep(thread, location, index, &ended, &next);
    }
    log::count_thinned(thread, 1);
}

/// Makes it this thread's turn, by this access. The process may end in the midst of it: then the slot tells of no access rather than of
/// one thread's as another's.
#[inline(always)]
unsafe fn change_hands(turn: *mut Slot, thread: &Thread, touch: Touch) {
    let mut begun = Slot { read: 0, write: 0, reread: 0, rewritten: 0, ..*turn };
    slots::note(&mut begun, touch, thread);
    ((*turn).reread, (*turn).rewritten) = (0, 0);
    fence(Ordering::Release);
    (*turn).thread = thread.id;
    ((*turn).read, (*turn).read_tick, (*turn).read_locks) = (begun.read, begun.read_tick, begun.read_locks);
    ((*turn).write, (*turn).write_tick, (*turn).write_locks) =
        (begun.write, begun.write_tick, begun.write_locks);
    fence(Ordering::Release);
    ((*turn).reread, (*turn).rewritten) = (begun.reread, begun.rewritten);
}

/// A read by another thread than the one whose turn it is. Gives the lock back.
#[inline(never)]
unsafe fn begin_reading(thread: &mut Thread, index: u32, turn: *mut Slot, touch: Touch, before: u64) {
    let location = location::at(index);
    // Found without a walk through the list, in which others' slots are.
    let own = location::last_slot(thread, location, index).or_else(|| slots::of_thread(location, thread.id));
    let is_new = own.is_none_or(|slot| (*slot).location == 0);
    let mut ended = None;
    if is_new {
        let newest = (*turn).read_tick.max((*turn).write_tick);
        if (*turn).sites[OTHERS_READ] == 0 {
            ended = Some((*turn, next(thread, turn, touch, before, newest)));
            (*turn).sites[OTHERS_READ] = 1;
        } else {
            thread.set_tick(log::tick_after(thread.last_tick.max(newest)));
        }
    }
    let slot = match own {
        Some(slot) if is_new => slots::begin_anew(slot, thread, location, index),
        Some(slot) => Some(slot),
        None => slots::take(thread, location, index, None),
    };
    if let Some(slot) = slot {
        slots::note(slot, touch, thread);
        if slots::has_room_for_site(slot) {
            slots::remember_site(thread, location, index, slot, touch.leaf);
        }
        location::cache(thread, location, index, slot);
    }
    spin::unlock(lock_of(turn));
    if let Some((ended, next)) = ended {
        kept::keep(thread, location, index, &ended, &next);
    }
    if is_new {
        log::count_thinned(thread, 1);
    }
    note_site(thread, index, touch.leaf);
}

/// The access that ends a turn whose newest time is this.
#[inline(always)]
unsafe fn next(thread: &mut Thread, turn: *mut Slot, touch: Touch, before: u64, newest: u64) -> Next {
    let tick = log::tick_after(thread.last_tick.max(newest));
    thread.set_tick(tick);
    (*turn).sites[NUMBER] += 1;
    Next { touch, before, tick, number: (*turn).sites[NUMBER] }
}
