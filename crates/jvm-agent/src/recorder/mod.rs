//! The recording of one process. One lock guards it all: threads run one at a time anyway.

mod contexts;
mod file;
mod locks;
mod log;
mod loops;
mod object;
mod schedule;
mod turns;

use std::io;
use std::path::Path;

use recording::{Block, EventKind, Location, NameKind, RegionId, RunPlan, ThreadRecord, fault};
use rustc_hash::{FxHashMap, FxHashSet};

use self::contexts::Contexts;
use self::file::RecordingFile;
use self::locks::{Held, Locks};
use self::log::{Log, ThreadLog};
use self::object::Object;
use self::turns::{Cell, Turns};
use crate::memory::block::Blocks;
use crate::memory::desk::{Desk, When};
use crate::places::Places;

pub use self::contexts::ROOT;
pub use self::turns::{Kind, Touch};

/// An object as a lock, condition or semaphore.
pub fn lock_address(tag: i64) -> u64 {
    recording::object_address(tag as u64)
}

/// The object with this address as a lock.
pub fn object_of(address: u64) -> i64 {
    recording::object_number(address) as i64
}

/// How a thread came to be.
#[derive(Clone, Copy, Debug, Default)]
pub struct Origin {
    /// Its id, if its creator reserved one.
    pub id: u32,
    /// Its creator.
    pub parent: u32,
    /// Where.
    pub created_at: u32,
}

/// A name for a location: as people write it, and the first letter of its type.
#[derive(Clone, Debug)]
pub struct LocationName {
    /// The name.
    pub text: String,
    /// The type.
    pub value_type: u8,
}

/// Does an access add nothing to what is on record?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeats {
    /// It is something new.
    No,
    /// It does not.
    Yes,
    /// Nor does any other of this thread to the object, as long as that is its own: they are noted in this block.
    AsOwn(u64),
}

#[derive(Default)]
struct Thread {
    log: ThreadLog,
    held: Held,
}

/// The recording of one process.
pub struct Recorder {
    file: RecordingFile,
    log: Log,
    contexts: Contexts,
    turns: Turns,
    locks: Locks,
    /// By id; threads whose id was only reserved are empty.
    threads: Vec<Thread>,
    /// What is known about each object.
    objects: FxHashMap<i64, Object>,
    blocks: Blocks,
    named_locks: FxHashSet<u64>,
    /// Records of how often a thread came to a place, by both.
    visits: FxHashMap<(u64, u32), u32>,
    /// Choices between threads that are on record.
    decisions: u32,
    every_access: bool,
}

impl Recorder {
    /// Begins a recording in this folder, with an event for what changes hands or for every access.
    pub fn create(folder: &Path, plan: &RunPlan, every_access: bool) -> io::Result<Recorder> {
        let mut file = RecordingFile::create(folder, plan)?;
        let contexts = Contexts::new(&mut file).ok_or(io::ErrorKind::StorageFull)?;
        Ok(Recorder {
            file,
            log: Log::new(plan.budget_bytes),
            contexts,
            turns: Turns::default(),
            locks: Locks::default(),
            threads: Vec::new(),
            objects: FxHashMap::default(),
            blocks: Blocks::default(),
            named_locks: FxHashSet::default(),
            visits: FxHashMap::default(),
            decisions: 0,
            every_access,
        })
    }

    /// Can nothing more be recorded?
    pub fn is_full(&self) -> bool {
        self.file.is_full()
    }

    /// Notes that the recorder itself is at fault, and ends the recording.
    pub fn fail(&mut self) {
        self.file.fail(fault::INTERNAL, 0);
    }

    /// Reserves the id of a thread that is about to be started.
    pub fn reserve_thread(&mut self, parent: u32, leaf: u32) -> Option<Origin> {
        let id = self.file.new_record::<ThreadRecord>(RegionId::Threads)?;
        let origin = Origin { id, parent, created_at: leaf };
        self.event(parent, EventKind::ThreadCreate, leaf, (id, 0, 0));
        Some(origin)
    }

    /// A thread runs code under test for the first time. Gives its id.
    pub fn begin_thread(&mut self, origin: Origin, name: &str, desk: &'static Desk) -> Option<u32> {
        let id = match origin.id {
            0 => self.file.new_record::<ThreadRecord>(RegionId::Threads)?,
            reserved => reserved,
        };
        if self.threads.len() <= id as usize {
            self.threads.resize_with(id as usize + 1, Thread::default);
        }
        let log = &mut self.threads[id as usize].log;
        (log.id, log.desk) = (id, Some(desk));
        let record = self.file.record::<ThreadRecord>(RegionId::Threads, id);
        // SAFETY: has no preconditions.
        record.os_id = unsafe { libc::gettid() } as u32;
        (record.parent, record.created_at) = (origin.parent, origin.created_at);
        let mut short = name.len().min(record.name.len());
        while !name.is_char_boundary(short) {
            short -= 1;
        }
        record.name[..short].copy_from_slice(&name.as_bytes()[..short]);
        if short < name.len() {
            self.file.add_name(NameKind::Thread, id.into(), 0, (name, ""), &[]);
        }
        self.event(id, EventKind::ThreadStart, 0, (id, origin.parent, 0));
        Some(id)
    }

    /// A thread is over.
    pub fn end_thread(&mut self, id: u32) {
        self.event(id, EventKind::ThreadEnd, 0, (id, 0, 0));
        let record = self.file.record::<ThreadRecord>(RegionId::Threads, id);
        (record.waits_for, record.ended) = (0, 1);
    }

    /// The process is about to end in an orderly way.
    pub fn end(&mut self) {
        self.file.header().ended = 1;
    }

    /// The context of a method and its first leaf: see [`Contexts::enter`].
    pub fn enter(&mut self, places: &Places, parent: u32, call: Option<u16>, method: u32) -> Option<u32> {
        self.contexts.enter(&mut self.file, places, parent, call, method)
    }

    /// The leaf of an instruction in a context.
    pub fn leaf(&self, context: u32, position: u16) -> u32 {
        self.contexts.leaf(context, position)
    }

    /// An event about synchronization: `object`, `other` and `value` as its kind wants them.
    pub fn event(&mut self, thread: u32, kind: EventKind, leaf: u32, about: (u32, u32, u64)) {
        let Some(thread) = self.threads.get_mut(thread as usize) else { return };
        if thread.log.id != 0 && !self.log.is_over_budget(&mut self.file) {
            self.log.emit_sync(&mut self.file, &mut thread.log, kind, leaf, about);
        }
    }

    /// A thread is at a place of the method that is `frame` methods deep.
    pub fn visit(&mut self, thread: u32, frame: usize, block: Block) {
        let log = &mut self.threads[thread as usize].log;
        self.log.loops(&mut self.file, log, |loops| loops.visit(frame, block));
    }

    /// A thread has left all methods but so many.
    pub fn leave_loops(&mut self, thread: u32, frame: usize) {
        let log = &mut self.threads[thread as usize].log;
        self.log.loops(&mut self.file, log, |loops| loops.leave(frame));
    }

    /// Does it matter to this access what other threads do before or after it?
    pub fn is_contested(&mut self, thread: u32, (object, part): (i64, u32), kind: Kind) -> bool {
        let object = self.objects.entry(object).or_default();
        // Before it gets there, so that those who come first take care.
        object.used_by(&mut self.blocks, thread);
        match object.parts.get(&part) {
            Some(cell) if cell.is_shared(thread) => cell.is_contested(&mut self.file, kind),
            // Nobody else has used this part so far, but others know the object.
            _ => object.maker != 0 && object.may_be_shared(thread),
        }
    }

    /// Was it seen how this object was made?
    pub fn is_born(&self, object: i64) -> bool {
        self.objects.get(&object).is_some_and(|object| object.maker != 0)
    }

    /// A thread makes an object.
    pub fn born(&mut self, thread: u32, object: i64, leaf: u32) {
        let object = self.objects.entry(object).or_default();
        (object.maker, object.made_at) = (thread, leaf);
        object.used_by(&mut self.blocks, thread);
    }

    /// Does any thread but this one know the object, as far as can be told? This one does from now on.
    pub fn is_known_to_others(&mut self, thread: u32, object: i64) -> bool {
        let object = self.objects.entry(object).or_default();
        object.used_by(&mut self.blocks, thread);
        object.may_be_shared(thread)
    }

    /// Was this part, which is written but once, written before any other thread has come to it? Then it makes no
    /// difference to anybody who reads it when, and to whom.
    pub fn is_settled(&mut self, thread: u32, (object, part): (i64, u32)) -> bool {
        let object = self.objects.entry(object).or_default();
        object.used_by(&mut self.blocks, thread);
        !self.every_access && object.parts.get(&part).is_some_and(Cell::was_written_by_one)
    }

    /// Has another thread written to this part since this one has used it last?
    pub fn is_new_to(&mut self, thread: u32, (object, part): (i64, u32)) -> bool {
        let cell = self.objects.get(&object).and_then(|object| object.parts.get(&part));
        cell.is_some_and(|cell| cell.location != 0 && !self.turns.is_used_by(&mut self.file, cell, thread))
    }

    /// Is this access one more of the kind that is on record? Then it is noted, and nothing more is to be done. `room` is
    /// how many parts the object has, if that is known.
    pub fn repeats(&mut self, thread: u32, (object, part): (i64, u32), touch: Touch, room: u32) -> Repeats {
        let object = self.objects.entry(object).or_default();
        object.used_by(&mut self.blocks, thread);
        if self.every_access {
            return Repeats::No;
        }
        let Thread { log, held } = &self.threads[thread as usize];
        if let Some(block) = object.own(&mut self.blocks, thread, part, room) {
            let when = When { tick: log.last_tick, locks: held.set() };
            let cell = &mut block.cells()[part as usize];
            if touch.kind != Kind::Write {
                cell.read(touch.leaf, when);
            }
            if touch.kind != Kind::Read {
                cell.write(touch.leaf, when);
            }
            return Repeats::AsOwn(block.address());
        }
        let cell = object.parts.entry(part).or_default();
        let touch = Touch { locks: held.set(), ..touch };
        match self.turns.repeats(&mut self.file, log, cell, touch) {
            true => Repeats::Yes,
            false => Repeats::No,
        }
    }

    /// Records an access that is not a repetition. A field that was one thread's alone until now gets a name.
    pub fn access(
        &mut self,
        thread: u32,
        (object, part): (i64, u32),
        touch: Touch,
        (before, size): (Option<u64>, u32),
        name: impl FnOnce() -> LocationName,
    ) {
        let number = u32::try_from(object).unwrap_or(0);
        let object = self.objects.entry(object).or_default();
        let cell = object.parts.entry(part).or_default();
        let was_shared = cell.location != 0;
        let Thread { log, held } = &mut self.threads[thread as usize];
        let touch = Touch { locks: held.set(), ..touch };
        self.turns.begin(&mut self.file, &self.log, log, cell, (touch, before, size));
        if !was_shared && cell.location != 0 {
            let location = self.file.record::<Location>(RegionId::Locations, cell.location);
            (location.allocated_at, location.object) = (object.made_at, number);
            let name = name();
            let key = cell.location.into();
            self.file.add_name(NameKind::Location, key, name.value_type.into(), (&name.text, ""), &[]);
        }
    }

    /// The parts of an object that have been accessed, from this one on, in order.
    pub fn parts_from(&self, object: i64, first: u32) -> Vec<u32> {
        let parts = self.objects.get(&object).into_iter().flat_map(|object| object.parts.keys());
        let mut parts: Vec<u32> = parts.copied().filter(|&part| part >= first).collect();
        parts.sort_unstable();
        parts
    }

    /// These objects are no more.
    pub fn forget(&mut self, objects: impl IntoIterator<Item = i64>) {
        for object in objects {
            if let Some(object) = self.objects.remove(&object) {
                object.end(&mut self.blocks);
            }
        }
    }

    /// A lock was taken.
    pub fn acquired(&mut self, thread: u32, kind: EventKind, lock: u64, leaf: u32) {
        self.acquired_again(thread, (kind, 1), lock, leaf);
    }

    /// A lock was taken so many times at once: a wait is over.
    pub fn acquired_again(&mut self, thread: u32, how: (EventKind, u32), lock: u64, leaf: u32) {
        let Thread { log, held } = &mut self.threads[thread as usize];
        self.locks.acquired((&mut self.file, &self.log), log, held, how, (lock, leaf));
        log.note_locks(held.set());
    }

    /// A lock is about to be given back. How often the thread had taken it.
    pub fn released(&mut self, thread: u32, lock: u64, leaf: u32, wholly: bool) -> u32 {
        let Thread { log, held } = &mut self.threads[thread as usize];
        let times = self.locks.released((&mut self.file, &self.log), log, held, (lock, leaf), wholly);
        log.note_locks(held.set());
        times
    }

    /// Has this lock a name?
    pub fn is_lock_named(&self, lock: u64) -> bool {
        self.named_locks.contains(&lock)
    }

    /// Names a lock.
    pub fn name_lock(&mut self, lock: u64, name: &str) {
        self.named_locks.insert(lock);
        self.file.add_name(NameKind::Lock, lock, 0, (name, ""), &[]);
    }

    /// What a thread waits for from now on: an object or thread, in which operation; zero for nothing.
    pub fn waits_for(&mut self, thread: u32, what: u64, kind: EventKind, leaf: u32) {
        let record = self.file.record::<ThreadRecord>(RegionId::Threads, thread);
        (record.waits_for, record.waits_at, record.waits_in) = (what, leaf, kind as u32);
    }

    /// The same, unless it is known already what the thread waits for.
    pub fn waits_for_also(&mut self, thread: u32, what: u64, kind: EventKind, leaf: u32) {
        if self.file.record::<ThreadRecord>(RegionId::Threads, thread).waits_for == 0 {
            self.waits_for(thread, what, kind, leaf);
        }
    }

    /// A wait of this kind is over.
    pub fn waits_no_more(&mut self, thread: u32, kind: EventKind) {
        let record = self.file.record::<ThreadRecord>(RegionId::Threads, thread);
        if record.waits_in == kind as u32 {
            record.waits_for = 0;
        }
    }
}
