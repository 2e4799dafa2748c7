//! What threads did last at a location, and at which sites they have read: lists of [`Slot`]s in the file.
//!
//! A thread has one slot per location and version, and further ones behind it for more reading sites.

use core::mem::offset_of;
use core::sync::atomic::{AtomicU32, Ordering};

use recording::{Location, RegionId, SLOT_SITES, Slot, ThreadRecord};

use crate::cells::{Kind, Touch};
use crate::thread::Thread;
use crate::{mapping, new_slots};

/// Slots that one thread can have at one location: the first holds its last accesses, all hold reading sites.
const MOST_SLOTS: usize = 16;
pub const MOST_SITES: usize = MOST_SLOTS * SLOT_SITES;

/// In [`Slot::reread`] and [`Slot::rewritten`]: an access not recorded yet, and the later one if both are.
const EARLIER: u16 = 1;
pub const LATER: u16 = 2;

#[inline]
pub unsafe fn at(index: u32) -> *mut Slot {
    mapping::record(RegionId::Slots, index)
}

/// Slots of past versions that may stay in a location's list: their threads are likely to come back.
const LEFT_IN_LIST: usize = 4;

/// The slot of a thread in the location's current version.
pub unsafe fn of_thread(location: *mut Location, thread: u32) -> Option<*mut Slot> {
    in_list(location, thread).filter(|&slot| (*slot).location != 0)
}

/// The first slot of a thread in the location's list, of the current version or without one.
unsafe fn in_list(location: *mut Location, thread: u32) -> Option<*mut Slot> {
    let mut index = (*location).slots;
    while index != 0 {
        let slot = at(index);
        if (*slot).thread == thread {
            return Some(slot);
        }
        index = (*slot).next;
    }
    None
}

/// What a look through a location's list has found.
pub struct Listed {
    /// The thread's slot, of the current version or without one.
    pub own: Option<*mut Slot>,
    /// The owner's slot of the current version.
    pub of_owner: Option<*mut Slot>,
    /// The thread has no slot, and the list is so long that it is worth a look whose slots these are: each thread that comes to
    /// the location walks through all of it.
    pub are_many: bool,
}

/// Looks through a location's list for the slots of a thread and of the owner, if there is one.
#[inline(always)]
pub unsafe fn find(location: *const Location, thread: u32, owner: u32) -> Listed {
    let mut listed = Listed { own: None, of_owner: None, are_many: false };
    let (mut count, mut number) = (0, (*location).slots);
    while number != 0 && (listed.own.is_none() || owner != 0 && listed.of_owner.is_none()) {
        let slot = at(number);
        if (*slot).thread == thread && listed.own.is_none() {
            listed.own = Some(slot);
        }
        if (*slot).thread == owner && (*slot).location != 0 && listed.of_owner.is_none() {
            listed.of_owner = Some(slot);
        }
        number = (*slot).next;
        count += 1;
    }
    listed.are_many = listed.own.is_none() && count >= 2 * ENDED_IN_LIST;
    listed
}

/// Takes the current version from all slots of a location; `visit` sees each that has it before that. Returns the thread's, if
/// there is one in the list still.
#[inline(always)]
pub unsafe fn release_all(
    thread: &mut Thread,
    location: *mut Location,
    mut visit: impl FnMut(&mut Thread, *mut Slot),
) -> Option<*mut Slot> {
    let (mut own, mut count) = (None, 0);
    let mut number = (*location).slots;
    while number != 0 {
        let slot = at(number);
        number = (*slot).next;
        if (*slot).thread == thread.id && own.is_none() {
            own = Some(slot);
        }
        if (*slot).location != 0 {
            visit(thread, slot);
            (*slot).location = 0;
        }
        count += 1;
    }
    if count > LEFT_IN_LIST {
        give_back_all(thread, location);
        own = None;
    }
    own
}

/// Visits all slots of the current version.
pub unsafe fn each(location: *const Location, index: u32, visit: &mut dyn FnMut(*mut Slot)) {
    let mut number = (*location).slots;
    while number != 0 {
        let slot = at(number);
        number = (*slot).next;
        if (*slot).location == index {
            visit(slot);
        }
    }
}

/// Gives the thread of this description a slot that says the same. With the location locked, and while that thread does nothing there
/// without the lock.
pub unsafe fn describe(location: *mut Location, index: u32, described: &Slot) {
    let known = in_list(location, described.thread);
    let Some(number) = known
        .map(|slot| slot.offset_from(at(0)) as u32)
        .or_else(|| mapping::allocate_record::<Slot>(RegionId::Slots))
    else {
        return;
    };
    let slot = at(number);
    let next = if known.is_some() { (*slot).next } else { (*location).slots };
    let version = (*location).version;
    *slot = Slot { location: index, next, version, sites: [0; SLOT_SITES], ..*described };
    if known.is_none() {
        AtomicU32::from_ptr(&raw mut (*location).slots).store(number, Ordering::Release);
    }
}

/// Slots of threads that have ended which stay in a long list, the newest: what they did last may be all there is to tell
/// of them when somebody writes.
const ENDED_IN_LIST: usize = 64;

unsafe fn are_many(location: *const Location) -> bool {
    let mut number = (*location).slots;
    for _ in 0..2 * ENDED_IN_LIST {
        if number == 0 {
            return false;
        }
        number = (*at(number)).next;
    }
    true
}

/// Takes all but the newest slots of threads that have ended out of a location's list, for the calling thread to use again;
/// `visit` sees each that has the current version before that. With the location locked.
pub unsafe fn release_ended(
    thread: &mut Thread,
    location: *mut Location,
    visit: &mut dyn FnMut(&mut Thread, *mut Slot),
) {
    let mut ended = 0;
    let mut link = &raw mut (*location).slots;
    while *link != 0 {
        let number = *link;
        let slot = at(number);
        let has_ended = has_ended((*slot).thread);
        ended += usize::from(has_ended);
        if !has_ended || ended <= ENDED_IN_LIST {
            link = &raw mut (*slot).next;
            continue;
        }
        if (*slot).location != 0 {
            visit(thread, slot);
        }
        // Others walk without the lock, and find their way from a slot that is no longer in the list, too: none of those that
        // they may come to is theirs, unless it says so.
        AtomicU32::from_ptr(link).store((*slot).next, Ordering::Release);
        (*slot).location = 0;
        (*slot).next = thread.free_slots;
        thread.free_slots = number;
    }
}

unsafe fn has_ended(thread: u32) -> bool {
    let record: *mut ThreadRecord = mapping::record(RegionId::Threads, thread);
    AtomicU32::from_ptr(&raw mut (*record).ended).load(Ordering::Acquire) != 0
}

/// Gives all slots of a location back to their threads.
pub unsafe fn give_back_all(thread: &mut Thread, location: *mut Location) {
    let mut number = (*location).slots;
    (*location).slots = 0;
    while number != 0 {
        let next = (*at(number)).next;
        give_back(thread, number);
        number = next;
    }
}

/// Gives all slots of a location but one back to their threads if there are many; false if not. None of them has the current version.
pub unsafe fn give_back_many(thread: &mut Thread, location: *mut Location, one: *mut Slot) -> bool {
    let are_many = are_many(location);
    if are_many {
        let mut number = (*location).slots;
        (*location).slots = one.offset_from(at(0)) as u32;
        while number != 0 {
            let next = (*at(number)).next;
            if at(number) != one {
                give_back(thread, number);
            }
            number = next;
        }
        (*one).next = 0;
    }
    are_many
}

/// The slot of a thread if it is among the first of the location's list. Without the lock the list may be on its
/// way back to its threads, which location or version then tell: only its own thread changes these.
#[inline]
pub unsafe fn at_hand(location: *const Location, index: u32, thread: u32) -> Option<*mut Slot> {
    const LOOKED_AT: usize = 3;
    let version = (&raw const (*location).version).read_volatile();
    let mut number = (&raw const (*location).slots).read_volatile();
    for _ in 0..LOOKED_AT {
        if number == 0 {
            break;
        }
        let slot = at(number);
        if (*slot).thread == thread {
            return ((*slot).location == index && (*slot).version == version).then_some(slot);
        }
        number = (&raw const (*slot).next).read_volatile();
    }
    None
}

/// A slot of this thread, put in front of the location's list, or behind another of its slots there.
pub unsafe fn take(
    thread: &mut Thread,
    location: *mut Location,
    index: u32,
    behind: Option<*mut Slot>,
) -> Option<*mut Slot> {
    if behind.is_none()
        && let Some(slot) = in_list(location, thread.id)
    {
        // Of a past version.
        return begin_anew(slot, thread, location, index);
    }
    add(thread, location, index, behind)
}

/// The same where the thread has no other slot that it could use.
pub unsafe fn add(
    thread: &mut Thread,
    location: *mut Location,
    index: u32,
    behind: Option<*mut Slot>,
) -> Option<*mut Slot> {
    if thread.free_slots == 0 {
        let returned = AtomicU32::from_ptr(&raw mut (*thread.record).free_slots);
        thread.free_slots = returned.swap(0, Ordering::Acquire);
    }
    if thread.free_slots == 0 {
        thread.free_slots = LEFT_BEHIND.swap(0, Ordering::Acquire);
    }
    let number = if thread.free_slots != 0 {
        let number = thread.free_slots;
        thread.free_slots = (*at(number)).next;
        number
    } else {
        new_slots::take(thread)?
    };
    let slot = at(number);
    let link = match behind {
        Some(other) => &raw mut (*other).next,
        None => &raw mut (*location).slots,
    };
    begin(slot, thread, location, index, *link);
    AtomicU32::from_ptr(link).store(number, Ordering::Release);
    Some(slot)
}

/// The same for a slot of this thread that is in the location's list.
pub unsafe fn begin_anew(
    slot: *mut Slot,
    thread: &Thread,
    location: *const Location,
    index: u32,
) -> Option<*mut Slot> {
    begin(slot, thread, location, index, (*slot).next);
    Some(slot)
}

unsafe fn begin(slot: *mut Slot, thread: &Thread, location: *const Location, index: u32, next: u32) {
    *slot = Slot {
        location: index,
        thread: thread.id,
        next,
        version: (*location).version,
        read: 0,
        write: 0,
        read_tick: 0,
        write_tick: 0,
        read_locks: 0,
        write_locks: 0,
        reread: 0,
        rewritten: 0,
        sites: [0; SLOT_SITES],
    };
}

/// Notes an access that has no event, for the one that will close the turn.
#[inline(always)]
pub unsafe fn note(slot: *mut Slot, touch: Touch, thread: &Thread) {
    if touch.kind != Kind::Write {
        (*slot).read = touch.leaf;
        (*slot).read_tick = thread.last_tick;
        (*slot).read_locks = thread.held.set;
    }
    if touch.kind != Kind::Read {
        (*slot).write = touch.leaf;
        (*slot).write_tick = thread.last_tick;
        (*slot).write_locks = thread.held.set;
    }
    // Most often it is already so, and what is not stored need not be waited for.
    let (reread, rewritten) = ((*slot).reread, (*slot).rewritten);
    let (is_so, new) = match touch.kind {
        Kind::Read => (reread == LATER, (LATER, rewritten.min(EARLIER))),
        Kind::Write => (rewritten == LATER, (reread.min(EARLIER), LATER)),
        Kind::Update => ((reread, rewritten) == (EARLIER, LATER), (EARLIER, LATER)),
    };
    if !is_so {
        ((*slot).reread, (*slot).rewritten) = new;
    }
}

/// Is the leaf that of the slot's last read, or one of its own sites?
///
/// In assembly, since compilers make a jump of each of these conditions: which of them it is differs from access to
/// access where a loop has been unrolled, and the processor cannot foresee that. One site after the other, since a wider
/// load would have to wait until what was last stored beside them has left the processor.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub unsafe fn has_read_at(slot: *const Slot, leaf: u32) -> bool {
    const _: () = assert!(SLOT_SITES == 3);
    let found: usize;
    core::arch::asm!(
        "xor {found:e}, {found:e}",
        "cmp {leaf:e}, [{slot} + {read}]",
        "cmove {found}, {slot}",
        "cmp {leaf:e}, [{slot} + {sites}]",
        "cmove {found}, {slot}",
        "cmp {leaf:e}, [{slot} + {sites} + 4]",
        "cmove {found}, {slot}",
        "cmp {leaf:e}, [{slot} + {sites} + 8]",
        "cmove {found}, {slot}",
        slot = in(reg) slot,
        leaf = in(reg) leaf,
        read = const offset_of!(Slot, read),
        sites = const offset_of!(Slot, sites),
        found = out(reg) found,
        options(pure, readonly, nostack),
    );
    found != 0
}

#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
pub unsafe fn has_read_at(slot: *const Slot, leaf: u32) -> bool {
    ((*slot).read == leaf) | (*slot).sites.contains(&leaf)
}

/// The next slot of the same thread at the same location. Without the lock the list may be on its way back to
/// the thread, which the location or version then tells.
unsafe fn further_slot(slot: *mut Slot) -> Option<*mut Slot> {
    let next = (*slot).next;
    let further = at(next);
    (next != 0
        && (*further).thread == (*slot).thread
        && (*further).location == (*slot).location
        && (*further).version == (*slot).version)
        .then_some(further)
}

/// The slots of a thread at a location, given the first.
unsafe fn slots_from(first: *mut Slot) -> impl Iterator<Item = *mut Slot> {
    core::iter::successors(Some(first), |&slot| further_slot(slot)).take(MOST_SLOTS)
}

/// Stands for a site that is on record, but not noted yet ([`crate::sites`]): no instruction ends so close behind another,
/// so that it is no other's leaf. Only the first site of a turn can be one of these.
pub fn not_noted(leaf: u32) -> u32 {
    leaf.wrapping_add(1)
}

/// The leaf has been noted. With the location locked.
pub unsafe fn set_noted(slot: *mut Slot, leaf: u32) {
    if (*slot).sites[0] == not_noted(leaf) {
        (*slot).sites[0] = leaf;
    }
}

/// Is the site one of those in a turn's first slot, noted or not?
pub unsafe fn has_among_first(slot: *const Slot, leaf: u32) -> bool {
    (*slot).sites.contains(&leaf) || (*slot).sites[0] == not_noted(leaf)
}

/// Has the first slot of a turn room for one more site? Then it knows all of the turn's.
#[inline(always)]
pub unsafe fn has_room_for_site(slot: *const Slot) -> bool {
    (*slot).sites[SLOT_SITES - 1] == 0
}

/// Puts a site among those in a turn's first slot, if there is room. Without the lock: only the slot's own thread looks at its sites.
pub unsafe fn adds_among_first(slot: *mut Slot, leaf: u32) -> bool {
    let free = (*slot).sites.iter_mut().find(|site| **site == 0);
    free.map(|free| *free = leaf).is_some()
}

#[inline(never)]
pub unsafe fn knows_site(slot: *mut Slot, leaf: u32) -> bool {
    (*slot).sites.contains(&leaf) || slots_from(slot).skip(1).any(|slot| (*slot).sites.contains(&leaf))
}

pub unsafe fn has_all_sites(first: *mut Slot) -> bool {
    slots_from(first).map(|slot| (*slot).sites.iter().filter(|&&site| site != 0).count()).sum::<usize>()
        == MOST_SITES
}

/// With the location locked: this thread's turn has a read at this leaf on record.
pub unsafe fn remember_site(
    thread: &mut Thread,
    location: *mut Location,
    index: u32,
    first: *mut Slot,
    leaf: u32,
) {
    let mut last = first;
    for slot in slots_from(first) {
        let sites = &mut (*slot).sites;
        if sites.contains(&leaf) {
            return;
        }
        if let Some(free) = sites.iter_mut().find(|site| **site == 0) {
            *free = leaf;
            return;
        }
        last = slot;
    }
    if let Some(further) = take(thread, location, index, Some(last)) {
        (*further).sites[0] = leaf;
    }
}

/// Only its own thread uses a slot again as long as it lives, since it may be in the midst of a store to it now.
unsafe fn give_back(thread: &mut Thread, number: u32) {
    let slot = at(number);
    (*slot).location = 0;
    if (*slot).thread == thread.id || has_ended((*slot).thread) {
        (*slot).next = thread.free_slots;
        thread.free_slots = number;
        return;
    }
    let record: *mut ThreadRecord = mapping::record(RegionId::Threads, (*slot).thread);
    put_in_front(AtomicU32::from_ptr(&raw mut (*record).free_slots), number, slot);
}

/// Free slots of threads that have ended: the first of them.
static LEFT_BEHIND: AtomicU32 = AtomicU32::new(0);

/// The thread ends: others may use what it has not used.
pub unsafe fn leave_behind(thread: &mut Thread) {
    new_slots::give_back_all(thread);
    let first = core::mem::take(&mut thread.free_slots);
    if first != 0 {
        let mut last = at(first);
        while (*last).next != 0 {
            last = at((*last).next);
        }
        put_in_front(&LEFT_BEHIND, first, last);
    }
}

/// In a forked child, which has no slots yet.
pub fn restart() {
    LEFT_BEHIND.store(0, Ordering::Relaxed);
}

/// Puts some slots that hang together in front of a list that is taken as a whole.
unsafe fn put_in_front(head: &AtomicU32, first: u32, last: *mut Slot) {
    let mut next = head.load(Ordering::Relaxed);
    loop {
        (*last).next = next;
        match head.compare_exchange_weak(next, first, Ordering::Release, Ordering::Relaxed) {
            Ok(_) => return,
            Err(now) => next = now,
        }
    }
}
