//! The turns of fields and array elements, by the same rules as in the native recorder (`location.rs` there): a
//! thread that has written and is alone since owns the location; readers share it, each recorded at its first read
//! and once per further site; a write by another thread closes all slots and begins a new version.
//!
//! As long as one thread alone uses a field, its last read and last write are kept outside of the file.
//!
//! Deviation: of a thread that reads at more than [`SLOT_SITES`] sites within one turn, further ones are recorded
//! each time they are not the last.

use recording::{Event, EventKind, Location, RegionId, SLOT_SITES, Slot, flag};

use super::file::RecordingFile;
use super::log::{Log, ThreadLog};
use crate::memory::block::BlockCell;
use crate::memory::desk::When;

/// What is done to a location.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Read,
    Write,
    Update,
}

/// An access.
#[derive(Clone, Copy, Debug)]
pub struct Touch {
    pub kind: Kind,
    pub leaf: u32,
    /// [`flag`] bits for the event, should there be one.
    pub flags: u8,
    /// The set of locks that the thread holds.
    pub locks: u32,
}

/// An access that has no event: where and when.
#[derive(Clone, Copy, Debug, Default)]
struct Last {
    leaf: u32,
    tick: u64,
    locks: u32,
}

/// One field of one object, or one element of one array.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cell {
    /// Its location in the file, zero while one thread alone uses it.
    pub location: u32,
    /// That thread.
    owner: u32,
    read: Option<Last>,
    write: Option<Last>,
    /// Was the last read after the last write?
    read_is_later: bool,
}

impl Cell {
    /// What one thread did while it was alone, if it did anything.
    pub fn of_one_thread(owner: u32, cell: &BlockCell) -> Option<Cell> {
        let last = |(leaf, when): (u32, When)| Last { leaf, tick: when.tick, locks: when.locks };
        let (read, write) = (cell.last_read().map(last), cell.last_write().map(last));
        let read_is_later = cell.read_is_later();
        (read.is_some() || write.is_some()).then_some(Cell { location: 0, owner, read, write, read_is_later })
    }

    /// The last read and write of the one thread that uses it, and whether the read came later.
    #[cfg(test)]
    pub fn last(&self) -> ([Option<(u32, When)>; 2], bool) {
        let told = |last: Last| (last.leaf, When { tick: last.tick, locks: last.locks });
        ([self.read.map(told), self.write.map(told)], self.read_is_later)
    }

    /// Has one thread written to it, and no other one used it?
    pub fn was_written_by_one(&self) -> bool {
        self.location == 0 && self.write.is_some()
    }

    /// Has any other thread used it?
    pub fn is_shared(&self, thread: u32) -> bool {
        self.location != 0 || self.owner != 0 && self.owner != thread
    }

    /// Does it matter to an access what other threads, with which it is shared, do before or after it? Not if all of
    /// them only read, once they all know the value.
    pub fn is_contested(&self, file: &mut RecordingFile, kind: Kind) -> bool {
        if self.location == 0 {
            return true;
        }
        let location = file.record::<Location>(RegionId::Locations, self.location);
        kind != Kind::Read || location.version > 1 || location.owner != 0
    }
}

/// In [`Slot::reread`] and [`Slot::rewritten`]: an access not recorded yet, and the later one if both are.
const EARLIER: u16 = 1;
const LATER: u16 = 2;

/// Synthetic addresses of locations, which never lie in a module.
const FIRST_ADDRESS: u64 = 1 << 62;

/// Slots that nobody uses.
#[derive(Default)]
pub struct Turns {
    free_slots: Vec<u32>,
}

impl Turns {
    /// Has the thread used a shared location since another one has written to it?
    pub fn is_used_by(&self, file: &mut RecordingFile, cell: &Cell, thread: u32) -> bool {
        self.slot_of(file, cell.location, thread).is_some()
    }

    /// Does the access add nothing to what is on record? Then it is noted, and that is all.
    pub fn repeats(
        &mut self,
        file: &mut RecordingFile,
        thread: &ThreadLog,
        cell: &mut Cell,
        touch: Touch,
    ) -> bool {
        if cell.location == 0 {
            if cell.owner != 0 && cell.owner != thread.id {
                return false;
            }
            cell.owner = thread.id;
            let last = Some(Last { leaf: touch.leaf, tick: thread.last_tick, locks: touch.locks });
            if touch.kind != Kind::Write {
                (cell.read, cell.read_is_later) = (last, true);
            }
            if touch.kind != Kind::Read {
                (cell.write, cell.read_is_later) = (last, false);
            }
            return true;
        }
        let owner = file.record::<Location>(RegionId::Locations, cell.location).owner;
        let Some(slot) = self.slot_of(file, cell.location, thread.id) else { return false };
        let slot = file.record::<Slot>(RegionId::Slots, slot);
        let on_record = match touch.kind {
            Kind::Read => slot.read == touch.leaf || slot.sites.contains(&touch.leaf),
            _ => owner == thread.id,
        };
        if on_record {
            note(slot, touch, thread.last_tick);
        }
        on_record
    }

    /// Records an access that does not repeat what is on record. `before` is the content it finds, `size` its bytes.
    pub fn begin(
        &mut self,
        file: &mut RecordingFile,
        log: &Log,
        thread: &mut ThreadLog,
        cell: &mut Cell,
        (touch, before, size): (Touch, Option<u64>, u32),
    ) -> Option<()> {
        if cell.location == 0 {
            self.share(file, cell, size)?;
        }
        let index = cell.location;
        let owner = file.record::<Location>(RegionId::Locations, index).owner;
        if touch.kind == Kind::Read {
            if owner != 0 && owner != thread.id {
                if let Some(slot) = self.slot_of(file, index, owner) {
                    self.close(file, log, thread, slot);
                }
                file.record::<Location>(RegionId::Locations, index).owner = 0;
            }
        } else if owner != thread.id {
            self.close_all(file, log, thread, index);
            let location = file.record::<Location>(RegionId::Locations, index);
            location.version += 1;
            location.owner = thread.id;
        }
        let known = self.slot_of(file, index, thread.id);
        let recorded = self.record(file, log, thread, index, (touch, before));
        let slot = match known {
            Some(slot) => slot,
            None => self.take(file, index, thread.id)?,
        };
        let slot = file.record::<Slot>(RegionId::Slots, slot);
        note(slot, touch, thread.last_tick);
        if touch.kind != Kind::Write {
            if let Some(free) = slot.sites.iter_mut().find(|site| **site == 0) {
                *free = touch.leaf;
            }
            if recorded {
                slot.reread = 0;
            }
        }
        if touch.kind != Kind::Read && recorded {
            slot.rewritten = 0;
        }
        Some(())
    }

    /// A second thread is about to use the cell: what the first did becomes the location's first turn.
    fn share(&mut self, file: &mut RecordingFile, cell: &mut Cell, size: u32) -> Option<()> {
        let index = file.new_record::<Location>(RegionId::Locations)?;
        let born = file.next_tick();
        *file.record::<Location>(RegionId::Locations, index) = Location {
            address: FIRST_ADDRESS + 8 * u64::from(index),
            size,
            lock: 0,
            version: 1,
            owner: if cell.write.is_some() { cell.owner } else { 0 },
            slots: 0,
            parent: 0,
            born,
            allocated_at: 0,
            block_offset: 0,
            ended: 0,
            gapped: 0,
            kept: 0,
            object: 0,
        };
        if cell.owner != 0 {
            let slot = self.take(file, index, cell.owner)?;
            let slot = file.record::<Slot>(RegionId::Slots, slot);
            if let Some(read) = cell.read {
                (slot.read, slot.read_tick, slot.read_locks) = (read.leaf, read.tick, read.locks);
                slot.reread = if cell.read_is_later { LATER } else { EARLIER };
            }
            if let Some(write) = cell.write {
                (slot.write, slot.write_tick, slot.write_locks) = (write.leaf, write.tick, write.locks);
                slot.rewritten = if cell.read_is_later { EARLIER } else { LATER };
            }
        }
        cell.location = index;
        Some(())
    }

    fn slot_of(&self, file: &mut RecordingFile, location: u32, thread: u32) -> Option<u32> {
        let mut number = file.record::<Location>(RegionId::Locations, location).slots;
        while number != 0 {
            let slot = file.record::<Slot>(RegionId::Slots, number);
            if slot.thread == thread {
                return Some(number);
            }
            number = slot.next;
        }
        None
    }

    fn take(&mut self, file: &mut RecordingFile, location: u32, thread: u32) -> Option<u32> {
        let number = match self.free_slots.pop() {
            Some(number) => number,
            None => file.new_record::<Slot>(RegionId::Slots)?,
        };
        let Location { slots: next, version, .. } = *file.record(RegionId::Locations, location);
        *file.record::<Slot>(RegionId::Slots, number) = Slot {
            location,
            thread,
            next,
            version,
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
        file.record::<Location>(RegionId::Locations, location).slots = number;
        Some(number)
    }

    /// False if the budget does not allow it.
    fn record(
        &mut self,
        file: &mut RecordingFile,
        log: &Log,
        thread: &mut ThreadLog,
        index: u32,
        (touch, before): (Touch, Option<u64>),
    ) -> bool {
        let tick = log.tick(file, thread);
        let is_over_budget = log.is_over_budget(file);
        let location = file.record::<Location>(RegionId::Locations, index);
        let size = location.size as u8;
        let event = |kind: EventKind, flags: u8, value: u64| Event {
            kind: kind as u8,
            flags,
            size,
            reserved: 0,
            leaf: touch.leaf,
            tick,
            object: index,
            other: touch.locks,
            value,
        };
        if is_over_budget {
            let gap = location.gapped == 0;
            location.gapped = 1;
            file.header().thinned += 1;
            if gap {
                log.emit(file, thread, Event { leaf: 0, other: 0, ..event(EventKind::Gap, 0, 0) });
            }
            return false;
        }
        let kind = match touch.kind {
            Kind::Read => EventKind::Read,
            Kind::Write => EventKind::Write,
            Kind::Update => EventKind::Update,
        };
        let known = if before.is_some() { flag::VALUE } else { 0 };
        log.emit(file, thread, event(kind, touch.flags | known, before.unwrap_or(0)));
        true
    }

    /// Records the last accesses of a turn, if they are not recorded yet. The slot stays.
    fn close(&mut self, file: &mut RecordingFile, log: &Log, thread: &mut ThreadLog, number: u32) {
        if log.is_over_budget(file) {
            return;
        }
        let slot = *file.record::<Slot>(RegionId::Slots, number);
        let size = file.record::<Location>(RegionId::Locations, slot.location).size as u8;
        let read = (slot.reread, EventKind::LastRead, slot.read, slot.read_tick, slot.read_locks);
        let write = (slot.rewritten, EventKind::LastWrite, slot.write, slot.write_tick, slot.write_locks);
        // Both may have the time of the same event; then readers rely on this order.
        let in_order = if read.0 == LATER { [write, read] } else { [read, write] };
        for (done, kind, leaf, tick, locks) in in_order {
            if done != 0 {
                let event = Event {
                    kind: kind as u8,
                    flags: flag::LOCKS,
                    size,
                    reserved: 0,
                    leaf,
                    tick,
                    object: slot.location,
                    other: slot.thread,
                    value: locks.into(),
                };
                log.emit(file, thread, event);
            }
        }
        let slot = file.record::<Slot>(RegionId::Slots, number);
        (slot.reread, slot.rewritten) = (0, 0);
    }

    fn close_all(&mut self, file: &mut RecordingFile, log: &Log, thread: &mut ThreadLog, index: u32) {
        let location = file.record::<Location>(RegionId::Locations, index);
        let mut number = std::mem::take(&mut location.slots);
        while number != 0 {
            let next = file.record::<Slot>(RegionId::Slots, number).next;
            self.close(file, log, thread, number);
            self.free_slots.push(number);
            number = next;
        }
    }
}

/// Notes an access that has no event, for the one that will close the turn.
fn note(slot: &mut Slot, touch: Touch, tick: u64) {
    if touch.kind != Kind::Write {
        (slot.read, slot.read_tick, slot.read_locks) = (touch.leaf, tick, touch.locks);
        slot.reread = LATER;
        slot.rewritten = slot.rewritten.min(EARLIER);
    }
    if touch.kind != Kind::Read {
        (slot.write, slot.write_tick, slot.write_locks) = (touch.leaf, tick, touch.locks);
        slot.rewritten = LATER;
        slot.reread = slot.reread.min(EARLIER);
    }
}
