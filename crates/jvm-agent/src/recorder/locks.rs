//! Locks that threads hold, and the events of synchronization, by the same rules as in the native recorder: what
//! counts is that a lock changes hands.

use recording::{Event, EventKind, RegionId, ThreadRecord};
use rustc_hash::FxHashMap;

use super::file::RecordingFile;
use super::log::{Log, ThreadLog};

/// The locks that a thread holds, in the order in which it took them.
#[derive(Clone, Debug, Default)]
pub struct Held {
    locks: Vec<HeldLock>,
}

#[derive(Clone, Copy, Debug)]
struct HeldLock {
    address: u64,
    taken_at: u32,
    /// The set up to and with this lock.
    set: u32,
    /// How often the thread has taken it without giving it back.
    depth: u32,
}

impl Held {
    /// The id of the whole set, zero if empty.
    pub fn set(&self) -> u32 {
        self.locks.last().map_or(0, |lock| lock.set)
    }
}

/// Who gave a lock back last, and when.
#[derive(Clone, Copy, Debug)]
struct LastHolder {
    thread: u32,
    leaf: u32,
    tick: u64,
}

/// All locks of one recording.
#[derive(Default)]
pub struct Locks {
    last_holders: FxHashMap<u64, LastHolder>,
    /// By the set without its last lock, that lock, and where it was taken.
    sets: FxHashMap<(u32, u64, u32), u32>,
}

impl Locks {
    /// A lock was taken, `times` times at once; `kind` is `Acquire` or `AcquireShared`. Taking it again while holding it
    /// says nothing.
    pub fn acquired(
        &mut self,
        (file, log): (&mut RecordingFile, &Log),
        thread: &mut ThreadLog,
        held: &mut Held,
        (kind, times): (EventKind, u32),
        (address, leaf): (u64, u32),
    ) {
        if let Some(lock) = held.locks.iter_mut().find(|lock| lock.address == address) {
            lock.depth += times;
            return;
        }
        let last = self.last_holders.get(&address).copied();
        let changed_hands = last.is_none_or(|last| last.thread != thread.id);
        if changed_hands && !log.is_over_budget(file) {
            if let Some(last) = last {
                let event = Event {
                    kind: EventKind::Release as u8,
                    flags: 0,
                    size: 0,
                    reserved: 0,
                    leaf: last.leaf,
                    tick: last.tick,
                    object: 0,
                    other: last.thread,
                    value: address,
                };
                log.emit(file, thread, event);
            }
            log.emit_sync(file, thread, kind, leaf, (0, thread.id, address));
        }
        let set = self.set_with((file, log), thread, held.set(), address, leaf);
        held.locks.push(HeldLock { address, taken_at: leaf, set, depth: times });
        file.record::<ThreadRecord>(RegionId::Threads, thread.id).locks = held.set();
    }

    /// A lock is about to be given back, wholly if `wholly`, as waiting does. How often the thread had taken it.
    pub fn released(
        &mut self,
        (file, log): (&mut RecordingFile, &Log),
        thread: &mut ThreadLog,
        held: &mut Held,
        (address, leaf): (u64, u32),
        wholly: bool,
    ) -> u32 {
        let Some(position) = held.locks.iter().rposition(|lock| lock.address == address) else { return 0 };
        let times = held.locks[position].depth;
        if !wholly && times > 1 {
            held.locks[position].depth -= 1;
            return times;
        }
        let later = held.locks.split_off(position);
        for lock in later.into_iter().skip(1) {
            // Locks taken after it now belong to other sets.
            let set = self.set_with((file, log), thread, held.set(), lock.address, lock.taken_at);
            held.locks.push(HeldLock { set, ..lock });
        }
        file.record::<ThreadRecord>(RegionId::Threads, thread.id).locks = held.set();
        self.last_holders.insert(address, LastHolder { thread: thread.id, leaf, tick: thread.last_tick });
        times
    }

    fn set_with(
        &mut self,
        (file, log): (&mut RecordingFile, &Log),
        thread: &mut ThreadLog,
        parent: u32,
        address: u64,
        taken_at: u32,
    ) -> u32 {
        if let Some(&known) = self.sets.get(&(parent, address, taken_at)) {
            return known;
        }
        let id = self.sets.len() as u32 + 1;
        self.sets.insert((parent, address, taken_at), id);
        log.emit_sync(file, thread, EventKind::Lockset, taken_at, (id, parent, address));
        id
    }
}
