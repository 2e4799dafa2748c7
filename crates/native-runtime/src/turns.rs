//! How turns begin and end, and what is recorded of that: the rules that [`crate::location`] tells.

use core::sync::atomic::{AtomicU32, Ordering};

use recording::{Event, EventKind, Location, Slot, flag};

use crate::cells::{Kind, Touch};
use crate::kept::{self, Next};
use crate::location::{at, begin_version, cache, note_repetition};
use crate::slots::Listed;
use crate::thread::Thread;
use crate::{log, loops, releases, sites, slots};

/// With the location locked: an access that is not a repetition.
#[inline]
pub unsafe fn begin(thread: &mut Thread, index: u32, touch: Touch, before: u64) {
    let location = at(index);
    let owner = (*location).owner;
    let mut tick = 0;
    let listed;
    if touch.kind != Kind::Read && owner != thread.id {
        let next = Next::new(location, touch, before);
        tick = next.tick;
        let own = close_all(thread, location, index, Some(&next));
        begin_version(location);
        AtomicU32::from_ptr(&raw mut (*location).owner).store(thread.id, Ordering::Relaxed);
        listed = Listed { own, of_owner: None, are_many: false };
    } else {
        listed = slots::find(location, thread.id, owner);
        if touch.kind == Kind::Read && owner != 0 && owner != thread.id {
            if let Some(slot) = listed.of_owner {
                let next = Next::new(location, touch, before);
                tick = next.tick;
                close(thread, location, index, slot, Some(&next));
            }
            AtomicU32::from_ptr(&raw mut (*location).owner).store(0, Ordering::Relaxed);
        }
        if let Some(slot) = listed.own.filter(|&slot| (*slot).location != 0) {
            return go_on(thread, index, slot, touch, before, tick);
        }
    }
    let recorded = record(thread, location, index, touch, before, tick);
    if listed.are_many {
        slots::release_ended(thread, location, &mut |thread, slot| {
            close(thread, location, index, slot, None)
        });
    }
    let slot = match listed.own {
        Some(slot) => slots::begin_anew(slot, thread, location, index),
        None => slots::add(thread, location, index, None),
    };
    let Some(slot) = slot else { return };
    slots::note(slot, touch, thread);
    if touch.kind != Kind::Write {
        (*slot).sites[0] = site_of(touch.leaf);
    }
    if recorded {
        ((*slot).reread, (*slot).rewritten) = (0, 0);
    }
    cache(thread, location, index, slot);
}

/// The same in the midst of the turn that the slot describes, which has no such access on record yet, or none that was
/// found at once.
#[inline(never)]
unsafe fn go_on(thread: &mut Thread, index: u32, slot: *mut Slot, touch: Touch, before: u64, tick: u64) {
    let location = at(index);
    // The cache has room for some locations only.
    cache(thread, location, index, slot);
    if !sites::is_noted(touch.leaf) {
        sites::note(thread, index, touch.leaf);
    }
    slots::set_noted(slot, touch.leaf);
    if note_repetition(thread, location, slot, touch) {
        return;
    }
    if touch.kind != Kind::Write && slots::has_all_sites(slot) {
        slots::note(slot, touch, thread);
        return;
    }
    let recorded = record(thread, location, index, touch, before, tick);
    slots::note(slot, touch, thread);
    if touch.kind != Kind::Write {
        slots::remember_site(thread, location, index, slot, site_of(touch.leaf));
        if recorded {
            (*slot).reread = 0;
        }
    }
    if touch.kind != Kind::Read && recorded {
        (*slot).rewritten = 0;
    }
}

/// How a slot remembers a read on record.
unsafe fn site_of(leaf: u32) -> u32 {
    if sites::is_noted(leaf) { leaf } else { slots::not_noted(leaf) }
}

/// Records an access that begins a turn or has a site of its own; false if the budget does not allow it. `tick` is
/// its time, or zero.
#[inline]
unsafe fn record(
    thread: &mut Thread,
    location: *mut Location,
    index: u32,
    touch: Touch,
    before: u64,
    tick: u64,
) -> bool {
    // Also without an event: what the slot keeps of this turn must be later than the last one's.
    let tick = if tick != 0 { tick } else { log::next_tick() };
    thread.set_tick(tick);
    if log::over_budget() {
        thin(thread, location, index, tick);
        return false;
    }
    let kind = match touch.kind {
        Kind::Read => EventKind::Read,
        Kind::Write => EventKind::Write,
        Kind::Update => EventKind::Update,
    };
    let iteration = loops::flag_at(thread, thread.id, tick);
    let event = Event {
        kind: kind as u8,
        flags: touch.flags | flag::VALUE | iteration,
        size: (*location).size as u8,
        reserved: 0,
        leaf: touch.leaf,
        tick,
        object: index,
        other: thread.held.set,
        value: before,
    };
    log::emit(thread, event);
    true
}

/// Marks, once, that this location's history has a gap from here on.
#[cold]
unsafe fn thin(thread: &mut Thread, location: *mut Location, index: u32, tick: u64) {
    log::count_thinned(thread, 1);
    if (*location).gapped == 0 {
        (*location).gapped = 1;
        let event = Event {
            kind: EventKind::Gap as u8,
            flags: 0,
            size: 0,
            reserved: 0,
            leaf: 0,
            tick,
            object: index,
            other: 0,
            value: 0,
        };
        log::emit(thread, event);
    }
}

/// Records the last accesses of a turn, if they are not recorded yet. The slot stays. `next` is the access that ends
/// the turn.
#[inline(always)]
unsafe fn close(
    thread: &mut Thread,
    location: *mut Location,
    index: u32,
    slot: *mut Slot,
    next: Option<&Next>,
) {
    if log::over_budget() {
        if let Some(next) = next.filter(|_| (*slot).thread != thread.id) {
            kept::keep(thread, location, index, slot, next);
        }
    } else if (*slot).reread | (*slot).rewritten != 0 {
        record_last(thread, (*location).size as u8, index, slot);
    }
}

#[inline(never)]
unsafe fn record_last(thread: &mut Thread, size: u8, index: u32, slot: *mut Slot) {
    let Slot { reread, rewritten, .. } = *slot;
    let actor = (*slot).thread;
    let event = |kind: EventKind| {
        let Slot { read, write, read_tick, write_tick, read_locks, write_locks, .. } = *slot;
        let is_read = kind == EventKind::LastRead;
        let (leaf, tick, locks) =
            if is_read { (read, read_tick, read_locks) } else { (write, write_tick, write_locks) };
        let (kind, flags) = (kind as u8, flag::LOCKS | releases::flag_of(leaf));
        Event { kind, flags, size, reserved: 0, leaf, tick, object: index, other: actor, value: locks.into() }
    };
    let mut record = |mut event: Event| {
        event.flags |= loops::flag_at(thread, actor, event.tick);
        log::emit(thread, event);
    };
    // Both may have the time of the same event; then readers rely on this order.
    let is_read_later = reread == slots::LATER;
    if reread != 0 && !is_read_later {
        record(event(EventKind::LastRead));
    }
    if rewritten != 0 {
        record(event(EventKind::LastWrite));
    }
    if is_read_later {
        record(event(EventKind::LastRead));
    }
    // Not before they are on record: of a process that is killed, what slots still have to tell is read from them.
    ((*slot).reread, (*slot).rewritten) = (0, 0);
}

/// Closes all slots. Returns this thread's, if there is one in the list still.
#[inline]
pub unsafe fn close_all(
    thread: &mut Thread,
    location: *mut Location,
    index: u32,
    next: Option<&Next>,
) -> Option<*mut Slot> {
    slots::release_all(thread, location, |thread, slot| close(thread, location, index, slot, next))
}
