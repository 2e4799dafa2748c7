//! Leaves of accesses in the midst of a turn, which leave no record but as the turn's last: each is noted once in a
//! run, so that a reader knows every site that touched shared bytes.

use recording::{Event, EventKind};

use crate::leaves::{Found, Leaves};
use crate::log;
use crate::thread::Thread;

/// 256 KiB. A leaf that finds no room counts as noted, and is lost.
static NOTED: Leaves<{ 1 << 16 }> = Leaves::new();

/// Is there nothing left to note about this leaf?
#[inline]
pub fn is_noted(leaf: u32) -> bool {
    NOTED.has_first(leaf) || NOTED.find(leaf) != Found::Absent
}

/// The same for a leaf that is where it is looked for first, as most are.
#[inline(always)]
pub fn is_noted_first(leaf: u32) -> bool {
    NOTED.has_first(leaf)
}

/// Notes an access to a location in the midst of this thread's turn there.
pub unsafe fn note(thread: &mut Thread, location: u32, leaf: u32) {
    if NOTED.add(leaf) == Found::Here {
        return;
    }
    let event = Event {
        kind: EventKind::Within as u8,
        flags: 0,
        size: 0,
        reserved: 0,
        leaf,
        tick: thread.last_tick,
        object: location,
        other: 0,
        value: 0,
    };
    log::emit(thread, event);
}

/// In a forked child, whose file has no events yet.
pub fn restart() {
    NOTED.clear();
}
