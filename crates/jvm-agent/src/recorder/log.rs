//! Events, in chunks of one thread each.

use std::cell::RefCell;

use recording::{CHUNK_BYTES, ChunkHeader, Event, EventKind, RegionId, ThreadRecord, flag};

use super::file::RecordingFile;
use super::loops::ThreadLoops;
use crate::memory::desk::Desk;

/// What the recorder knows about a thread besides its record in the file.
#[derive(Clone, Debug, Default)]
pub struct ThreadLog {
    /// Index of its record.
    pub id: u32,
    /// Time of its newest event.
    pub last_tick: u64,
    /// Where it stands for the hook class.
    pub desk: Option<&'static Desk>,
    /// Where its current chunk begins in the file, and how much of it is used.
    chunk: u64,
    used: u32,
}

impl ThreadLog {
    /// The thread holds another set of locks.
    pub fn note_locks(&self, locks: u32) {
        self.desk.iter().for_each(|desk| desk.set_locks(locks));
    }
}

/// The log of one recording.
pub struct Log {
    budget_bytes: u64,
    /// By thread, if loops are looked at.
    loops: RefCell<Vec<ThreadLoops>>,
}

impl Log {
    /// A log that leaves out repeated handovers once it has this many bytes.
    pub fn new(budget_bytes: u64) -> Log {
        Log { budget_bytes, loops: RefCell::default() }
    }

    /// Is the budget used up?
    pub fn is_over_budget(&self, file: &mut RecordingFile) -> bool {
        file.header().regions[RegionId::Chunks as usize].used > self.budget_bytes
    }

    /// Tells where in its loops a thread is: `change` says whether that is another position now.
    pub fn loops(
        &self,
        file: &mut RecordingFile,
        thread: &mut ThreadLog,
        change: impl FnOnce(&mut ThreadLoops) -> bool,
    ) {
        let mut loops = self.loops.borrow_mut();
        if loops.len() <= thread.id as usize {
            loops.resize_with(thread.id as usize + 1, ThreadLoops::default);
        }
        let own = &mut loops[thread.id as usize];
        if change(own) {
            own.note(self.tick(file, thread));
        }
    }

    /// Appends an event of this thread. An access that was made in a loop says so.
    pub fn emit(&self, file: &mut RecordingFile, thread: &mut ThreadLog, mut event: Event) {
        if let Some(kind) = EventKind::from_number(event.kind).filter(|kind| kind.is_access()) {
            let is_late = matches!(kind, EventKind::LastRead | EventKind::LastWrite);
            let actor = if is_late { event.other } else { thread.id };
            let position = self.loops.borrow_mut().get_mut(actor as usize).and_then(|own| own.at(event.tick));
            if let Some((position, is_new)) = position {
                event.flags |= flag::ITERATION;
                if is_new {
                    let iteration = Event {
                        kind: EventKind::Iteration as u8,
                        flags: 0,
                        size: 0,
                        reserved: 0,
                        leaf: 0,
                        tick: position.since,
                        object: position.entry,
                        other: actor,
                        value: position.iteration.into(),
                    };
                    self.append(file, thread, iteration);
                }
            }
        }
        self.append(file, thread, event);
    }

    fn append(&self, file: &mut RecordingFile, thread: &mut ThreadLog, event: Event) {
        const EVENT: u32 = size_of::<Event>() as u32;
        const HEADER: u32 = size_of::<ChunkHeader>() as u32;
        if thread.used == 0 || thread.used + EVENT > CHUNK_BYTES as u32 {
            let Some(chunk) = file.allocate(RegionId::Chunks, CHUNK_BYTES as u64) else { return };
            (thread.chunk, thread.used) = (chunk, HEADER);
        }
        file.write(thread.chunk + u64::from(thread.used), event);
        thread.used += EVENT;
        // Last, so that a reader sees an event whole or not at all.
        file.write(thread.chunk, ChunkHeader { thread: thread.id, used: thread.used, reserved: [0; 3] });
    }

    /// Begins a new moment in the total order for this thread.
    pub fn tick(&self, file: &mut RecordingFile, thread: &mut ThreadLog) -> u64 {
        let tick = file.next_tick();
        thread.last_tick = tick;
        thread.desk.iter().for_each(|desk| desk.set_tick(tick));
        file.record::<ThreadRecord>(RegionId::Threads, thread.id).last_tick = tick;
        tick
    }

    /// An event about synchronization, with a tick of its own.
    pub fn emit_sync(
        &self,
        file: &mut RecordingFile,
        thread: &mut ThreadLog,
        kind: EventKind,
        leaf: u32,
        (object, other, value): (u32, u32, u64),
    ) {
        let tick = self.tick(file, thread);
        let event =
            Event { kind: kind as u8, flags: 0, size: 0, reserved: 0, leaf, tick, object, other, value };
        self.emit(file, thread, event);
    }
}
