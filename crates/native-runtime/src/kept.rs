//! Beyond the budget: of each distinct handover the first and the newest occurrences are kept.
//!
//! Each pair of sites, of each thread that makes it, has three groups of events in chunks of their own: one for its first handover beyond the budget,
//! two for the newest, written in turn so that one is whole when the process dies in the midst of writing the other.
//! A group begins with a gap that carries the handover's number among those of its location, by which readers know
//! which groups follow each other without one.

use core::sync::atomic::{AtomicU8, AtomicU32, AtomicUsize, Ordering};

use recording::{CHUNK_BYTES, ChunkHeader, Event, EventKind, Location, RegionId, Slot, flag};

use crate::cells::{Kind, Touch};
use crate::thread::Thread;
use crate::{handovers, log, mapping, slots, spin};

/// The gap, the last read and write of the one turn, and the first access of the next, with its thread.
const EVENTS: usize = 5;
const GROUP_BYTES: usize = EVENTS * size_of::<Event>();
/// The first, and two for the newest.
const GROUPS: usize = 3;
/// More are not kept: 5 MiB of groups.
const MOST: u32 = 8192;

/// The access that ends others' turns at a location.
pub struct Next {
    pub touch: Touch,
    /// The content it finds.
    pub before: u64,
    /// Its time if the budget is used up, otherwise zero.
    pub tick: u64,
    /// Which of its location's handovers beyond the budget it is.
    pub number: u32,
}

impl Next {
    /// With the location locked.
    pub unsafe fn new(location: *mut Location, touch: Touch, before: u64) -> Next {
        if !log::over_budget() {
            return Next { touch, before, tick: 0, number: 0 };
        }
        (*location).kept += 1;
        Next { touch, before, tick: log::next_tick(), number: (*location).kept }
    }
}

/// What is kept of a pair of sites. One thread at a time uses it, so that threads do not fight for its memory; a pair
/// has as many as threads have used at once.
struct Kept {
    /// The address of its groups.
    groups: AtomicUsize,
    /// The group to be written next, as of when nobody uses it.
    place: AtomicU32,
    /// The thread, zero if none.
    user: AtomicU32,
    /// The pair's next one, zero if none.
    next: AtomicU32,
}

static ALL: [Kept; MOST as usize] = [const {
    Kept {
        groups: AtomicUsize::new(0),
        place: AtomicU32::new(0),
        user: AtomicU32::new(0),
        next: AtomicU32::new(0),
    }
}; MOST as usize];

/// Those that a thread uses: a direct-mapped cache.
pub type Used = [UsedPair; USED];
const USED: usize = 128;

/// What a thread uses for a pair of sites.
#[derive(Clone, Copy)]
pub struct UsedPair {
    from: u32,
    to: u32,
    /// Its number in [`ALL`], zero if none.
    kept: u32,
    /// The group to be written next.
    place: u32,
}

/// Keeps the handover from the turn that `slot` describes to the next access. With the location locked.
pub unsafe fn keep(
    thread: &mut Thread,
    location: *const Location,
    index: u32,
    slot: *const Slot,
    next: &Next,
) {
    let read_is_later = (*slot).reread == slots::LATER || (*slot).write == 0;
    let from = if read_is_later { (*slot).read } else { (*slot).write };
    let to = next.touch.leaf;
    let place = (from ^ to.rotate_left(16)).wrapping_mul(0x9e37_79b1) >> 16;
    let used = &mut thread.kept[place as usize % USED];
    if used.kept == 0 || used.from != from || used.to != to {
        give_back(used);
        let kept = take(from, to, thread.id);
        *used = UsedPair { from, to, kept, place: ALL[kept as usize].place.load(Ordering::Relaxed) };
    }
    let number = used.kept;
    if number == 0 {
        return;
    }
    // The first is written once, the other two in turn.
    let place = used.place;
    used.place = if place == 1 { 2 } else { 1 };
    let groups = ALL[number as usize].groups.load(Ordering::Relaxed) as *mut Event;
    write(groups.add(place as usize * EVENTS), thread, location, index, slot, next);
}

fn give_back(used: &mut UsedPair) {
    if used.kept != 0 {
        let kept = &ALL[used.kept as usize];
        kept.place.store(used.place, Ordering::Relaxed);
        kept.user.store(0, Ordering::Release);
        used.kept = 0;
    }
}

/// The thread ends.
pub fn give_back_all(thread: &mut Thread) {
    thread.kept.iter_mut().for_each(give_back);
}

/// The number of one that this thread may use, zero if there is no room for it.
#[cold]
unsafe fn take(from: u32, to: u32, thread: u32) -> u32 {
    let Some(first) = handovers::kept(from, to) else { return 0 };
    let mut number = first.load(Ordering::Acquire);
    while number != 0 {
        let kept = &ALL[number as usize];
        if kept.user.compare_exchange(0, thread, Ordering::Acquire, Ordering::Relaxed).is_ok() {
            return number;
        }
        number = kept.next.load(Ordering::Acquire);
    }
    if !spin::lock(&ALLOCATING) {
        return 0;
    }
    let groups = new_groups();
    let mut number = 0;
    if !groups.is_null() {
        number = COUNT.fetch_add(1, Ordering::Relaxed);
        let kept = &ALL[number as usize];
        kept.groups.store(groups as usize, Ordering::Relaxed);
        kept.place.store(0, Ordering::Relaxed);
        kept.user.store(thread, Ordering::Relaxed);
        kept.next.store(first.load(Ordering::Relaxed), Ordering::Relaxed);
        first.store(number, Ordering::Release);
    }
    spin::unlock(&ALLOCATING);
    number
}

/// Whatever is cut short by the end of the process leaves a gap and accesses that follow it, never one without the
/// gap before it.
unsafe fn write(
    group: *mut Event,
    thread: &Thread,
    location: *const Location,
    index: u32,
    slot: *const Slot,
    next: &Next,
) {
    for at in 1..EVENTS {
        set_kind(group.add(at), EventKind::Nothing);
    }
    let Slot { read, write, read_tick, write_tick, read_locks, write_locks, .. } = *slot;
    let blank = Event {
        kind: EventKind::Nothing as u8,
        flags: 0,
        size: (*location).size as u8,
        reserved: 0,
        leaf: 0,
        tick: 0,
        object: index,
        other: (*slot).thread,
        value: 0,
    };
    let first_tick = if read == 0 {
        write_tick
    } else if write == 0 {
        read_tick
    } else {
        read_tick.min(write_tick)
    };
    group.write(Event { kind: EventKind::Gap as u8, tick: first_tick, value: next.number.into(), ..blank });
    let last_read =
        Event { flags: flag::LOCKS, leaf: read, tick: read_tick, value: read_locks.into(), ..blank };
    let last_write = Event { leaf: write, tick: write_tick, value: write_locks.into(), ..last_read };
    let later_is_read = (*slot).reread == slots::LATER;
    let [one, other] = if later_is_read { [last_write, last_read] } else { [last_read, last_write] };
    let [one_kind, other_kind] = if later_is_read {
        [EventKind::LastWrite, EventKind::LastRead]
    } else {
        [EventKind::LastRead, EventKind::LastWrite]
    };
    group.add(1).write(one);
    group.add(2).write(other);
    group.add(3).write(Event { other: thread.id, ..blank });
    let kind = match next.touch.kind {
        Kind::Read => EventKind::Read,
        Kind::Write => EventKind::Write,
        Kind::Update => EventKind::Update,
    };
    group.add(4).write(Event {
        flags: next.touch.flags | flag::VALUE,
        leaf: next.touch.leaf,
        tick: next.tick,
        other: thread.held.set,
        value: next.before,
        ..blank
    });
    set_kind(group.add(3), EventKind::Owner);
    set_kind(group.add(4), kind);
    for (at, kind, leaf) in [(1, one_kind, one.leaf), (2, other_kind, other.leaf)] {
        if leaf != 0 {
            set_kind(group.add(at), kind);
        }
    }
}

unsafe fn set_kind(event: *mut Event, kind: EventKind) {
    AtomicU8::from_ptr(&raw mut (*event).kind).store(kind as u8, Ordering::Release);
}

static ALLOCATING: AtomicU32 = AtomicU32::new(0);
/// Where the next groups go, and how many fit there.
static NEXT: AtomicUsize = AtomicUsize::new(0);
static LEFT: AtomicU32 = AtomicU32::new(0);
/// The next of [`ALL`]; the first is none.
static COUNT: AtomicU32 = AtomicU32::new(1);

/// Groups for one more; null if there is no room for them. With [`ALLOCATING`] held.
unsafe fn new_groups() -> *mut Event {
    if COUNT.load(Ordering::Relaxed) >= MOST {
        return core::ptr::null_mut();
    }
    if LEFT.load(Ordering::Relaxed) == 0
        && let Some(offset) = mapping::allocate(RegionId::Chunks, CHUNK_BYTES as u64)
    {
        let region = (*mapping::header()).regions[RegionId::Chunks as usize].offset;
        let chunk = mapping::base().add((region + offset) as usize);
        (*chunk.cast::<ChunkHeader>()).used = size_of::<ChunkHeader>() as u32;
        NEXT.store(chunk as usize, Ordering::Relaxed);
        let room = CHUNK_BYTES - size_of::<ChunkHeader>();
        LEFT.store((room / (GROUPS * GROUP_BYTES)) as u32, Ordering::Relaxed);
    }
    if LEFT.load(Ordering::Relaxed) == 0 {
        return core::ptr::null_mut();
    }
    let header = NEXT.load(Ordering::Relaxed) as *mut ChunkHeader;
    let groups = header.cast::<u8>().add((*header).used as usize).cast::<Event>();
    for at in 0..GROUPS * EVENTS {
        set_kind(groups.add(at), EventKind::Nothing);
    }
    let used = AtomicU32::from_ptr(&raw mut (*header).used);
    used.fetch_add((GROUPS * GROUP_BYTES) as u32, Ordering::Release);
    LEFT.fetch_sub(1, Ordering::Relaxed);
    groups
}

pub fn lock_before_fork() {
    spin::lock(&ALLOCATING);
}

pub fn unlock_after_fork() {
    ALLOCATING.store(0, Ordering::Relaxed);
}

/// In a forked child: the chunks are the parent's.
pub fn restart() {
    LEFT.store(0, Ordering::Relaxed);
    COUNT.store(1, Ordering::Relaxed);
    handovers::restart();
}

/// The same for its only thread.
pub fn forget_used(thread: &mut Thread) {
    thread.kept.iter_mut().for_each(|used| used.kept = 0);
}
