//! Locks that threads hold, and the events of synchronization.
//!
//! A mutex is recorded like a location: what counts is that it changes hands. Taking a lock that the same
//! thread gave back last tells nothing about order, so it leaves no event, only the set of held locks changes.

use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use recording::{Event, EventKind, UNKNOWN_LOCKS, flag};

use crate::thread::Thread;
use crate::unwind::Place;
use crate::{atomic_locks, bridges, context, control, log, mapping, noise, spin, thread};

/// Locks one thread can hold at a time; further ones are not tracked.
const HELD: usize = 32;

/// More changes of a thread's set than this are not told: what it initializes, it does not do in the midst of work.
const CHANGES_TOLD: u32 = 256;

/// The locks that a thread holds, in the order in which it took them.
pub struct Held {
    /// The id of the whole set, zero if empty.
    pub set: u32,
    count: u32,
    /// How many changes of the set have got an event.
    changes_told: u32,
    /// The lock that the thread takes or leaves without waiting for it; zero if it waits.
    tried: u64,
    locks: [HeldLock; HELD],
    /// Read-write locks that this thread has taken for reading, by address.
    read_locks: [ReadLock; READ_LOCKS],
}

const READ_LOCKS: usize = 16;

/// A read lock on record: taken again while the lock has had as many writers, it tells nothing new.
#[derive(Clone, Copy)]
struct ReadLock {
    address: u64,
    writes: u32,
    reading: Reading,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Reading {
    No,
    /// Since it was taken on record.
    First,
    /// As before.
    Again,
}

#[derive(Clone, Copy)]
struct HeldLock {
    address: u64,
    taken_at: u32,
    /// The set up to and with this lock.
    set: u32,
    /// Taken without waiting for it.
    is_tried: bool,
}

/// Who gave a mutex back last, and when. None is in two cache lines.
#[repr(align(32))]
struct LastHolder {
    address: AtomicU64,
    thread: AtomicU32,
    leaf: AtomicU32,
    tick: AtomicU64,
    /// How often it was taken for writing, if it is a read-write lock.
    writes: AtomicU32,
}

/// Untouched entries cost nothing; a program with a lock per object has many.
const LOCKS: usize = 1 << 16;
static LAST_HOLDERS: [LastHolder; LOCKS] = [const {
    LastHolder {
        address: AtomicU64::new(0),
        thread: AtomicU32::new(0),
        leaf: AtomicU32::new(0),
        tick: AtomicU64::new(0),
        writes: AtomicU32::new(0),
    }
}; LOCKS];

/// Sets of locks by (set without the last lock, that lock, where it was taken). None is in two cache lines.
#[repr(align(32))]
struct SetEntry {
    address: AtomicU64,
    parent: AtomicU32,
    taken_at: AtomicU32,
    id: AtomicU32,
    /// One bit for each thread (modulo 64) that was told of with it.
    threads: AtomicU64,
}

const SETS: usize = 1 << 17;
static SET_TABLE: [SetEntry; SETS] = [const {
    SetEntry {
        address: AtomicU64::new(0),
        parent: AtomicU32::new(0),
        taken_at: AtomicU32::new(0),
        id: AtomicU32::new(0),
        threads: AtomicU64::new(0),
    }
}; SETS];
static NEXT_SET: AtomicU32 = AtomicU32::new(1);
static SETS_LOCK: AtomicU32 = AtomicU32::new(0);
/// Longest search in either table.
const PROBES: usize = 32;

fn mix(a: u64, b: u64) -> usize {
    ((a ^ b.rotate_left(29)).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as usize
}

/// In a forked child: the events that describe the sets are the parent's, so they are made anew, as are those of
/// the locks that the forking thread holds.
pub unsafe fn restart(thread: &mut Thread) {
    for entry in &SET_TABLE {
        if entry.id.load(Ordering::Relaxed) != 0 {
            entry.id.store(0, Ordering::Relaxed);
            entry.threads.store(0, Ordering::Relaxed);
        }
    }
    let mut set = 0;
    for at in 0..thread.held.count as usize {
        let HeldLock { address, taken_at, is_tried, .. } = thread.held.locks[at];
        set = set_with(thread, set, address, taken_at, is_tried);
        thread.held.locks[at].set = set;
    }
    thread.held.changes_told = 0;
    Held::change(thread, set);
}

pub fn lock_before_fork() {
    spin::lock(&SETS_LOCK);
}

pub fn unlock_after_fork() {
    SETS_LOCK.store(0, Ordering::Relaxed);
}

/// The last holder of a lock; none if the table has no room for it.
fn last_holder(address: u64) -> Option<&'static LastHolder> {
    let start = mix(address, 0);
    for probe in 0..PROBES {
        let entry = &LAST_HOLDERS[(start + probe) % LOCKS];
        let found = entry.address.load(Ordering::Relaxed);
        if found == address
            || found == 0
                && match entry.address.compare_exchange(0, address, Ordering::Relaxed, Ordering::Relaxed) {
                    Ok(_) => true,
                    Err(now) => now == address,
                }
        {
            return Some(entry);
        }
    }
    None
}

/// The id of a set of locks. A new one gets an event that describes it; where locks nest, so does each further
/// thread, since only locks of different threads can be in each other's way.
unsafe fn set_with(thread: &mut Thread, parent: u32, address: u64, taken_at: u32, is_tried: bool) -> u32 {
    if parent == UNKNOWN_LOCKS {
        return UNKNOWN_LOCKS;
    }
    // A call that waits for its lock does so each time, so that one leaf has one flag.
    let flags = if is_tried { flag::TRIED } else { 0 };
    let start = mix(address, (parent as u64) << 32 | taken_at as u64);
    let find = || {
        for probe in 0..PROBES {
            let entry = &SET_TABLE[(start + probe) % SETS];
            let id = entry.id.load(Ordering::Acquire);
            if id == 0 {
                return Err(Some(entry));
            }
            if entry.address.load(Ordering::Relaxed) == address
                && entry.parent.load(Ordering::Relaxed) == parent
                && entry.taken_at.load(Ordering::Relaxed) == taken_at
            {
                return Ok((id, entry));
            }
        }
        Err(None)
    };
    let own_bit = 1u64 << (thread.id % u64::BITS);
    let is_news = |entry: &SetEntry| {
        parent != 0
            && entry.threads.load(Ordering::Relaxed) & own_bit == 0
            && entry.threads.fetch_or(own_bit, Ordering::Relaxed) & own_bit == 0
    };
    if let Ok((id, entry)) = find() {
        if is_news(entry) {
            log::emit_flagged(thread, EventKind::Lockset, flags, taken_at, [id, parent], address);
        }
        return id;
    }
    if !spin::lock(&SETS_LOCK) {
        return UNKNOWN_LOCKS;
    }
    let (id, new) = match find() {
        Ok((id, entry)) => (id, is_news(entry)),
        Err(Some(entry)) => {
            let id = NEXT_SET.fetch_add(1, Ordering::Relaxed);
            entry.address.store(address, Ordering::Relaxed);
            entry.parent.store(parent, Ordering::Relaxed);
            entry.taken_at.store(taken_at, Ordering::Relaxed);
            entry.threads.store(own_bit, Ordering::Relaxed);
            entry.id.store(id, Ordering::Release);
            (id, true)
        }
        Err(None) => (UNKNOWN_LOCKS, false),
    };
    spin::unlock(&SETS_LOCK);
    if new {
        log::emit_flagged(thread, EventKind::Lockset, flags, taken_at, [id, parent], address);
    }
    id
}

/// Does the thread hold this lock?
pub fn holds(thread: &Thread, address: u64) -> bool {
    thread.held.locks[..thread.held.count as usize].iter().any(|lock| lock.address == address)
}

/// The lock that the thread took last of those it holds, and where.
pub fn newest_held(thread: &Thread) -> Option<(u64, u32)> {
    let newest = &thread.held.locks[(thread.held.count as usize).checked_sub(1)?];
    Some((newest.address, newest.taken_at))
}

/// The first locks that the thread took of those it holds; zero where there are no more.
pub fn outermost_held(thread: &Thread) -> [usize; 4] {
    let held = &thread.held.locks[..thread.held.count as usize];
    core::array::from_fn(|at| held.get(at).map_or(0, |lock| lock.address as usize))
}

/// Is this a word of a lock? Rust's read-write lock has a second one, for writers to wait at.
pub fn is_part_of_lock(word: u64) -> bool {
    known_holder(word).is_some()
        || known_holder(word.wrapping_sub(4)).is_some_and(|lock| lock.writes.load(Ordering::Relaxed) > 0)
}

/// Was this thread the last to give the lock back?
pub fn gave_back_last(thread: &Thread, address: u64) -> bool {
    known_holder(address).is_some_and(|last| last.thread.load(Ordering::Relaxed) == thread.id)
}

fn known_holder(address: u64) -> Option<&'static LastHolder> {
    let start = mix(address, 0);
    let entries = (0..PROBES).map(|probe| &LAST_HOLDERS[(start + probe) % LOCKS]);
    let mut used = entries.take_while(|entry| entry.address.load(Ordering::Relaxed) != 0);
    used.find(|entry| entry.address.load(Ordering::Relaxed) == address)
}

impl Held {
    unsafe fn push(thread: &mut Thread, address: u64, taken_at: u32) {
        let count = thread.held.count as usize;
        if count < HELD {
            let is_tried = thread.held.tried == address;
            let set = set_with(thread, thread.held.set, address, taken_at, is_tried);
            thread.held.locks[count] = HeldLock { address, taken_at, set, is_tried };
            thread.held.count += 1;
            Held::change(thread, set);
        }
    }

    /// Tells of the first changes with a time of their own: then it is known which locks a thread held at bytes that
    /// it alone has used so far.
    unsafe fn change(thread: &mut Thread, set: u32) {
        thread.held.set = set;
        (*thread.record).locks = set;
        if thread.held.changes_told < CHANGES_TOLD {
            thread.held.changes_told += 1;
            let told = if thread.held.changes_told == CHANGES_TOLD { UNKNOWN_LOCKS } else { set };
            log::emit_sync(thread, EventKind::Held, 0, told, 0, 0);
        }
    }

    unsafe fn remove(thread: &mut Thread, address: u64) {
        let count = thread.held.count as usize;
        let Some(position) = thread.held.locks[..count].iter().rposition(|lock| lock.address == address)
        else {
            return;
        };
        thread.held.count -= 1;
        for at in position..count - 1 {
            // Locks taken after it now belong to other sets.
            let HeldLock { address, taken_at, is_tried, .. } = thread.held.locks[at + 1];
            let parent = if at == 0 { 0 } else { thread.held.locks[at - 1].set };
            let set = set_with(thread, parent, address, taken_at, is_tried);
            thread.held.locks[at] = HeldLock { address, taken_at, set, is_tried };
        }
        let top = thread.held.count as usize;
        let set = if top == 0 { 0 } else { thread.held.locks[top - 1].set };
        Held::change(thread, set);
    }
}

/// The current thread, if it is recorded, outside of all lock code.
unsafe fn enter() -> Option<&'static mut Thread> {
    let thread = thread::enter()?;
    atomic_locks::settle(thread);
    Some(thread)
}

/// Does the calling thread hold this lock?
pub unsafe fn is_held(address: usize) -> bool {
    let thread = (*crate::tls::current()).thread;
    !thread.is_null() && holds(&*thread, address as u64)
}

/// Does the calling thread hold this lock since it took it without waiting?
pub unsafe fn is_tried(address: usize) -> bool {
    let Some(thread) = (*crate::tls::current()).thread.as_ref() else { return false };
    let held = &thread.held.locks[..thread.held.count as usize];
    held.iter().any(|lock| lock.is_tried && lock.address == address as u64)
}

/// Before an operation that may block: tells what the thread waits for, and disturbs the schedule.
pub unsafe fn before_waiting(operation: EventKind, address: usize, pc: usize) {
    if let Some(thread) = enter() {
        let leaf = context::leaf(thread.tls, pc);
        noise::at_sync(thread);
        control::at_sync(thread, address, leaf, pc);
        thread.held.tried = 0;
        note_wait(thread, operation, address as u64, leaf);
        thread::leave(thread);
    }
}

/// Tells what the thread waits for from now on.
pub unsafe fn note_wait(thread: &mut Thread, operation: EventKind, address: u64, leaf: u32) {
    (*thread.record).waits_at = leaf;
    (*thread.record).waits_in = operation as u32;
    AtomicU64::from_ptr(&raw mut (*thread.record).waits_for).store(address, Ordering::Release);
}

/// It waits no more.
pub unsafe fn end_wait(thread: &mut Thread) {
    AtomicU64::from_ptr(&raw mut (*thread.record).waits_for).store(0, Ordering::Relaxed);
}

/// The thread got what it waited for, or gave up.
pub unsafe fn after_waiting() {
    let tls = crate::tls::current();
    // A forked child that could not get a file of its own still has its parent's mapped.
    if !log::is_active() {
        return;
    }
    if let Some(thread) = (*tls).thread.as_mut() {
        end_wait(thread);
    }
}

/// A mutex was taken.
pub unsafe fn acquired(address: usize, pc: usize) {
    let Some(thread) = enter() else { return };
    let leaf = context::leaf(thread.tls, pc);
    take(thread, address as u64, leaf);
    thread::leave(thread);
}

/// The thread took a mutex.
pub unsafe fn take(thread: &mut Thread, address: u64, leaf: u32) {
    let over_budget = log::over_budget();
    let (changed_hands, given_back) = match last_holder(address) {
        Some(last) => {
            let holder = last.thread.load(Ordering::Relaxed);
            let tick = last.tick.load(Ordering::Relaxed);
            if holder != 0 && holder != thread.id && !over_budget {
                let event = Event {
                    kind: EventKind::Release as u8,
                    flags: 0,
                    size: 0,
                    reserved: 0,
                    leaf: last.leaf.load(Ordering::Relaxed),
                    tick,
                    object: 0,
                    other: holder,
                    value: address,
                };
                log::emit(thread, event);
            }
            (holder != thread.id, tick)
        }
        None => (true, log::next_tick()),
    };
    if changed_hands && !over_budget {
        log::emit_sync(thread, EventKind::Acquire, leaf, 0, thread.id, address);
    } else if changed_hands {
        // What is done with the lock now comes after what was done with it before. All that this thread does comes after what it
        // has done itself.
        thread.set_tick(log::tick_after(thread.last_tick.max(given_back)));
    }
    Held::push(thread, address, leaf);
}

/// A mutex is about to be given back.
pub unsafe fn releasing(address: usize, pc: usize) {
    let Some(thread) = enter() else { return };
    let leaf = context::leaf(thread.tls, pc);
    give_back(thread, address as u64, leaf);
    thread::leave(thread);
}

/// The thread is about to give a mutex back.
pub unsafe fn give_back(thread: &mut Thread, address: u64, leaf: u32) {
    Held::remove(thread, address);
    match last_holder(address) {
        Some(last) => {
            last.thread.store(thread.id, Ordering::Relaxed);
            last.leaf.store(leaf, Ordering::Relaxed);
            last.tick.store(thread.last_tick, Ordering::Relaxed);
        }
        None if log::over_budget() => {}
        None => log::emit_sync(thread, EventKind::Release, leaf, 0, thread.id, address),
    }
}

/// After a lock was given back: the gap between two critical sections is where atomicity breaks.
pub unsafe fn released(address: usize, pc: usize) {
    control::wake(address);
    if let Some(thread) = thread::enter() {
        noise::at_sync(thread);
        let leaf = context::leaf(thread.tls, pc);
        control::at_sync(thread, 0, leaf, 0);
        thread::leave(thread);
    }
}

/// A lock at this address is no more; the next one there has no history.
pub unsafe fn destroyed(address: usize) {
    if let Some(last) = last_holder(address as u64) {
        last.thread.store(0, Ordering::Relaxed);
    }
}

/// Does taking or giving back a read-write lock tell anything about order? Reading again does not, as long as
/// nobody has written in between.
unsafe fn is_news(thread: &mut Thread, kind: EventKind, address: u64) -> bool {
    let Some(last) = last_holder(address) else { return true };
    let cached = &mut thread.held.read_locks[mix(address, 0) % READ_LOCKS];
    match kind {
        EventKind::Acquire => {
            last.writes.fetch_add(1, Ordering::Relaxed);
            true
        }
        EventKind::AcquireShared => {
            let writes = last.writes.load(Ordering::Relaxed);
            let known = cached.address == address && cached.writes == writes;
            *cached =
                ReadLock { address, writes, reading: if known { Reading::Again } else { Reading::First } };
            !known
        }
        // One function gives back both kinds.
        EventKind::Release if cached.address == address => {
            core::mem::replace(&mut cached.reading, Reading::No) != Reading::Again
        }
        _ => true,
    }
}

/// A read or write lock was taken or is given back; each is an event, since readers overlap.
pub unsafe fn shared_lock(kind: EventKind, address: usize, pc: usize) {
    let Some(thread) = enter() else { return };
    let leaf = context::leaf(thread.tls, pc);
    share(thread, kind, address as u64, leaf);
    thread::leave(thread);
}

/// The thread took a read or write lock or is about to give it back.
pub unsafe fn share(thread: &mut Thread, kind: EventKind, address: u64, leaf: u32) {
    if is_news(thread, kind, address) && !log::over_budget() {
        log::emit_sync(thread, kind, leaf, 0, thread.id, address);
    }
    match kind {
        EventKind::Acquire | EventKind::AcquireShared => Held::push(thread, address, leaf),
        _ => Held::remove(thread, address),
    }
}

/// Something happened at an object that is not a lock.
pub unsafe fn happened(kind: EventKind, address: usize, object: u32, pc: usize) {
    let Some(thread) = enter() else { return };
    let leaf = context::leaf(thread.tls, pc);
    if !log::over_budget() {
        log::emit_sync(thread, kind, leaf, object, thread.held.set, address as u64);
    }
    thread::leave(thread);
}

/// The thread is about to sleep for so many nanoseconds. Who does so again and again, and nothing else that is on record,
/// is told of once.
pub unsafe fn sleeps(nanoseconds: u64, place: Place) {
    let Some(thread) = enter() else { return };
    let leaf = context::leaf(thread.tls, bridges::call_behind(thread, place));
    if thread.slept != (thread.last_tick, leaf) && !log::over_budget() {
        log::emit_sync(thread, EventKind::Sleep, leaf, 0, thread.held.set, nanoseconds);
        thread.slept = (thread.last_tick, leaf);
    }
    thread::leave(thread);
}

/// The thread takes this lock if it is free, and does not wait for it otherwise.
pub unsafe fn tries(address: usize) {
    if let Some(thread) = thread::enter() {
        thread.held.tried = address as u64;
        thread::leave(thread);
    }
}

/// Disturbs the schedule before an operation that does not block.
pub unsafe fn disturb(address: usize, pc: usize) {
    if let Some(thread) = thread::enter() {
        thread.held.tried = address as u64;
        noise::at_sync(thread);
        let leaf = context::leaf(thread.tls, pc);
        control::at_sync(thread, address, leaf, pc);
        thread::leave(thread);
    }
}

/// The newest thread with this handle.
pub unsafe fn thread_with_handle(handle: u64) -> u32 {
    use recording::{RegionId, ThreadRecord};
    // A program that makes a hundred thousand threads joins each soon after; no need to search them all.
    const NEWEST: u32 = 4096;
    let count = mapping::record_count::<ThreadRecord>(RegionId::Threads);
    (count.saturating_sub(NEWEST).max(1)..count)
        .rev()
        .find(|&id| (*mapping::record::<ThreadRecord>(RegionId::Threads, id)).handle == handle)
        .unwrap_or(0)
}
