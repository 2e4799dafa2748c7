//! Events, and the recorder's own faults.

use core::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use recording::{CHUNK_BYTES, ChunkHeader, Event, EventKind, RegionId};

use crate::mapping;
use crate::thread::Thread;

/// Set while the recorder records; unset before start, after a fault, and in programs run without the runner.
static ACTIVE: AtomicBool = AtomicBool::new(false);
static BUDGET: AtomicU64 = AtomicU64::new(0);

#[inline]
pub fn is_active() -> bool {
    ACTIVE.load(Ordering::Relaxed)
}

pub fn activate(budget_bytes: u64) {
    BUDGET.store(budget_bytes, Ordering::Relaxed);
    ACTIVE.store(true, Ordering::Release);
}

/// Stops recording for a reason that cannot be noted in the file.
pub fn deactivate() {
    ACTIVE.store(false, Ordering::Release);
}

/// Notes the recorder's own trouble in the file, unless there was some before, and switches it off.
#[cold]
pub fn fault(code: u32, detail: u32) {
    ACTIVE.store(false, Ordering::Release);
    // SAFETY: the header stays mapped once it is.
    unsafe {
        if !mapping::base().is_null() {
            let header = mapping::header();
            let word = AtomicU32::from_ptr(&raw mut (*header).fault);
            if word.compare_exchange(0, code, Ordering::Relaxed, Ordering::Relaxed).is_ok() {
                (*header).fault_detail = detail;
            }
        }
    }
}

/// The next position in the total order. Taken while holding what protects the event's object.
#[inline]
pub unsafe fn next_tick() -> u64 {
    AtomicU64::from_ptr(&raw mut (*mapping::header()).tick).fetch_add(1, Ordering::Relaxed) + 1
}

/// A position behind this one, for what happens beyond the budget, where threads must not fight for the counter: no more than one
/// in so many moves that on. Other objects' events may have the same, but none that comes before or after.
#[inline]
pub unsafe fn tick_after(tick: u64) -> u64 {
    const STEP: u64 = 64;
    let counter = AtomicU64::from_ptr(&raw mut (*mapping::header()).tick);
    if tick >= counter.load(Ordering::Relaxed) {
        counter.fetch_max(tick + STEP, Ordering::Relaxed);
    }
    tick + 1
}

/// Adds to one of the header's counters.
pub unsafe fn count(counter: *mut u64) {
    AtomicU64::from_ptr(counter).fetch_add(1, Ordering::Relaxed);
}

/// Counts what was left out.
pub unsafe fn count_thinned(thread: &mut Thread, count: u32) {
    count_now_and_then(&mut thread.thinned, &raw mut (*mapping::header()).thinned, count);
}

/// Counts bytes whose last access was forgotten.
pub unsafe fn count_forgotten(thread: &mut Thread) {
    count_now_and_then(&mut thread.forgotten, &raw mut (*mapping::header()).forgotten, 1);
}

/// Adds to one of the header's counters what the thread has counted, the first at once: where this counts, all threads count at once.
#[inline]
unsafe fn count_now_and_then(counted: &mut u32, counter: *mut u64, count: u32) {
    const STEP: u32 = 64;
    let before = *counted;
    *counted = before.wrapping_add(count);
    if before == 0 || before / STEP != *counted / STEP {
        let step = if before == 0 { count } else { STEP };
        AtomicU64::from_ptr(counter).fetch_add(step.into(), Ordering::Relaxed);
    }
}

/// The run's budget of event bytes.
pub fn budget() -> u64 {
    BUDGET.load(Ordering::Relaxed)
}

/// Has the run used up its budget of event bytes?
#[inline]
pub unsafe fn over_budget() -> bool {
    let used = AtomicU64::from_ptr(&raw mut (*mapping::header()).regions[RegionId::Chunks as usize].used);
    used.load(Ordering::Relaxed) > BUDGET.load(Ordering::Relaxed)
}

/// Appends an event to the thread's chunk. A reader sees it whole or not at all.
pub unsafe fn emit(thread: &mut Thread, event: Event) {
    if thread.chunk_left < size_of::<Event>() as u32 && !begin_chunk(thread) {
        return;
    }
    let chunk = thread.chunk;
    let header = chunk.cast::<ChunkHeader>();
    let offset = CHUNK_BYTES as u32 - thread.chunk_left;
    chunk.add(offset as usize).cast::<Event>().write(event);
    thread.chunk_left -= size_of::<Event>() as u32;
    AtomicU32::from_ptr(&raw mut (*header).used).store(offset + size_of::<Event>() as u32, Ordering::Release);
}

/// An event of this thread about a synchronization object; takes its own tick.
pub unsafe fn emit_sync(
    thread: &mut Thread,
    kind: EventKind,
    leaf: u32,
    object: u32,
    other: u32,
    value: u64,
) {
    emit_flagged(thread, kind, 0, leaf, [object, other], value);
}

/// The same with flags.
pub unsafe fn emit_flagged(
    thread: &mut Thread,
    kind: EventKind,
    flags: u8,
    leaf: u32,
    [object, other]: [u32; 2],
    value: u64,
) {
    let tick = next_tick();
    thread.set_tick(tick);
    emit(thread, Event { kind: kind as u8, flags, size: 0, reserved: 0, leaf, tick, object, other, value });
}

/// Chunks of ended threads that still have room, as a stack of file offsets; its lock.
static SPARE_LOCK: AtomicU32 = AtomicU32::new(0);
static SPARE: [AtomicU64; SPARE_CHUNKS] = [const { AtomicU64::new(0) }; SPARE_CHUNKS];
static SPARE_COUNT: AtomicU32 = AtomicU32::new(0);
const SPARE_CHUNKS: usize = 64;

/// Full chunks are taken out of this process's memory, so many at a time; the file keeps them.
const DROPPED_BYTES: u64 = 1 << 20;

#[cold]
unsafe fn begin_chunk(thread: &mut Thread) -> bool {
    if let Some((chunk, left)) = take_spare() {
        thread.chunk = chunk;
        thread.chunk_left = left;
        let owner = Event {
            kind: EventKind::Owner as u8,
            flags: 0,
            size: 0,
            reserved: 0,
            leaf: 0,
            tick: 0,
            object: 0,
            other: thread.id,
            value: 0,
        };
        emit(thread, owner);
        return true;
    }
    let Some(offset) = mapping::allocate(RegionId::Chunks, CHUNK_BYTES as u64) else { return false };
    let region = (*mapping::header()).regions[RegionId::Chunks as usize].offset;
    let chunk = mapping::base().add((region + offset) as usize);
    if offset.is_multiple_of(DROPPED_BYTES) && offset > DROPPED_BYTES {
        // The newest ones may still be in use, here or by other threads, which then just find them again.
        let _errno = crate::errno::keep();
        let old = chunk.sub(2 * DROPPED_BYTES as usize);
        libc::madvise(old.cast(), DROPPED_BYTES as usize, libc::MADV_DONTNEED);
    }
    let header = chunk.cast::<ChunkHeader>();
    (*header).thread = thread.id;
    AtomicU32::from_ptr(&raw mut (*header).used).store(size_of::<ChunkHeader>() as u32, Ordering::Release);
    thread.chunk = chunk;
    thread.chunk_left = (CHUNK_BYTES - size_of::<ChunkHeader>()) as u32;
    true
}

/// Lets another thread use the rest of an ended thread's chunk.
pub unsafe fn give_back_chunk(thread: &mut Thread) {
    // Less room than an owner mark and an event is not worth the trouble.
    if thread.chunk_left < 2 * size_of::<Event>() as u32 || !crate::spin::lock(&SPARE_LOCK) {
        return;
    }
    let count = SPARE_COUNT.load(Ordering::Relaxed) as usize;
    if count < SPARE_CHUNKS {
        SPARE[count].store(thread.chunk as u64, Ordering::Relaxed);
        SPARE_COUNT.store(count as u32 + 1, Ordering::Relaxed);
    }
    crate::spin::unlock(&SPARE_LOCK);
    thread.chunk_left = 0;
}

unsafe fn take_spare() -> Option<(*mut u8, u32)> {
    if SPARE_COUNT.load(Ordering::Relaxed) == 0 || !crate::spin::lock(&SPARE_LOCK) {
        return None;
    }
    let count = SPARE_COUNT.load(Ordering::Relaxed) as usize;
    let spare = count.checked_sub(1).map(|last| {
        SPARE_COUNT.store(last as u32, Ordering::Relaxed);
        let chunk = SPARE[last].load(Ordering::Relaxed) as *mut u8;
        (chunk, CHUNK_BYTES as u32 - (*chunk.cast::<ChunkHeader>()).used)
    });
    crate::spin::unlock(&SPARE_LOCK);
    spare
}

pub fn lock_before_fork() {
    crate::spin::lock(&SPARE_LOCK);
}

pub fn unlock_after_fork() {
    SPARE_LOCK.store(0, Ordering::Relaxed);
}

/// In a forked child: chunks belong to the parent's file.
pub fn forget_chunks() {
    SPARE_COUNT.store(0, Ordering::Relaxed);
}
