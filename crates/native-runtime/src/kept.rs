//! Beyond the budget: of each distinct handover the first and the newest occurrences are kept.
//!
//! Each pair of sites has three groups of events in chunks of their own: one for its first handover beyond the budget,
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
/// Distinct handovers beyond this many are not kept: 4 MiB of groups.
const MOST_PAIRS: u32 = 8192;

/// The access that ends others' turns at a location.
pub struct Next {
    pub touch: Touch,
    /// The content it finds.
    pub before: u64,
    tick: u64,
    number: u32,
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

/// What is kept of a pair of sites.
pub struct Kept {
    /// Zero, or the address of its groups.
    groups: AtomicUsize,
    times: AtomicU32,
    busy: AtomicU32,
}

impl Kept {
    pub const fn none() -> Kept {
        Kept { groups: AtomicUsize::new(0), times: AtomicU32::new(0), busy: AtomicU32::new(0) }
    }

    /// In a forked child, whose file has no groups yet.
    pub fn restart(&self) {
        self.groups.store(0, Ordering::Relaxed);
        self.times.store(0, Ordering::Relaxed);
        self.busy.store(0, Ordering::Relaxed);
    }
}

/// Keeps the handover from the turn that `slot` describes to the next access. With the location locked.
pub unsafe fn keep(thread: &Thread, location: *const Location, index: u32, slot: *const Slot, next: &Next) {
    let read_is_later = (*slot).reread == slots::LATER || (*slot).write == 0;
    let from = if read_is_later { (*slot).read } else { (*slot).write };
    let Some(kept) = handovers::kept(from, next.touch.leaf) else { return };
    // Whoever is busy with the same pair keeps one that is just as new.
    if kept.busy.swap(1, Ordering::Acquire) != 0 {
        return;
    }
    let groups = match kept.groups.load(Ordering::Relaxed) {
        0 => new_groups(),
        known => known as *mut Event,
    };
    if !groups.is_null() {
        kept.groups.store(groups as usize, Ordering::Relaxed);
        let times = kept.times.fetch_add(1, Ordering::Relaxed) as usize;
        let place = if times == 0 { 0 } else { 1 + times % 2 };
        write(groups.add(place * EVENTS), thread, location, index, slot, next);
    }
    kept.busy.store(0, Ordering::Release);
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
static PAIRS: AtomicU32 = AtomicU32::new(0);

/// Groups for one more pair of sites; null if there is no room for them.
#[cold]
unsafe fn new_groups() -> *mut Event {
    if PAIRS.load(Ordering::Relaxed) >= MOST_PAIRS || !spin::lock(&ALLOCATING) {
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
    let mut groups = core::ptr::null_mut();
    if LEFT.load(Ordering::Relaxed) > 0 {
        let header = NEXT.load(Ordering::Relaxed) as *mut ChunkHeader;
        groups = header.cast::<u8>().add((*header).used as usize).cast::<Event>();
        for at in 0..GROUPS * EVENTS {
            set_kind(groups.add(at), EventKind::Nothing);
        }
        let used = AtomicU32::from_ptr(&raw mut (*header).used);
        used.fetch_add((GROUPS * GROUP_BYTES) as u32, Ordering::Release);
        LEFT.fetch_sub(1, Ordering::Relaxed);
        PAIRS.fetch_add(1, Ordering::Relaxed);
    }
    spin::unlock(&ALLOCATING);
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
    PAIRS.store(0, Ordering::Relaxed);
    handovers::restart();
}
