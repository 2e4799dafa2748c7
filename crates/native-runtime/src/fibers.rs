//! The call stacks of fibers: contexts that the C library switches between, and fibers that a program announces.
//!
//! A thread's shadow call stack is that of the fiber it runs. A switch puts it aside and brings back the other's.

use core::sync::atomic::{AtomicUsize, Ordering};

use crate::thread::Thread;
use crate::tls::Frame;
use crate::{context, mapping, thread};

/// Fibers that are told apart at a time; further ones keep the stack of whoever switches to them.
const FIBERS: usize = 4096;
const PROBES: usize = 64;

/// A fiber's frames while it does not run.
struct Fiber {
    /// Zero if this entry was never used.
    key: AtomicUsize,
    frames: AtomicUsize,
    room: AtomicUsize,
    count: AtomicUsize,
}

static TABLE: [Fiber; FIBERS] = [const {
    Fiber {
        key: AtomicUsize::new(0),
        frames: AtomicUsize::new(0),
        room: AtomicUsize::new(0),
        count: AtomicUsize::new(0),
    }
}; FIBERS];

/// The key of an ended fiber's entry: free for another.
const ENDED: usize = usize::MAX;

fn find(key: usize, insert: bool) -> Option<&'static Fiber> {
    let start = key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
    let entries = || (0..PROBES).map(|probe| &TABLE[(start + probe) % FIBERS]);
    let known = entries().find(|fiber| fiber.key.load(Ordering::Acquire) == key);
    known.or_else(|| {
        entries().filter(|_| insert).find(|fiber| {
            let found = fiber.key.load(Ordering::Relaxed);
            matches!(found, 0 | ENDED)
                && fiber.key.compare_exchange(found, key, Ordering::AcqRel, Ordering::Relaxed).is_ok()
        })
    })
}

/// A key for a fiber that the program announces: odd, so that it is no context's address.
pub fn new_key() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(1);
    NEXT.fetch_add(2, Ordering::Relaxed)
}

/// The fiber that the calling thread runs.
pub unsafe fn current() -> usize {
    let thread = (*crate::tls::current()).thread;
    thread.as_ref().map_or(0, key_of)
}

fn key_of(thread: &Thread) -> usize {
    if thread.fiber == 0 { &raw const *thread as usize } else { thread.fiber }
}

/// The context with this key is to begin with no calls.
pub unsafe fn begin(key: usize) {
    if let Some(fiber) = find(key, true) {
        fiber.count.store(0, Ordering::Relaxed);
    }
}

/// The context with this key goes on from here one day.
pub unsafe fn mark(key: usize) {
    let Some(thread) = thread::enter() else { return };
    save(thread, key);
    thread::leave(thread);
}

/// The calling thread leaves its fiber, to be known by `from`, for another.
pub unsafe fn switch(from: usize, to: usize) {
    let Some(thread) = thread::enter() else { return };
    save(thread, from);
    load(thread, to);
    thread::leave(thread);
}

/// The calling thread leaves its fiber for good.
pub unsafe fn jump(to: usize) {
    let Some(thread) = thread::enter() else { return };
    load(thread, to);
    thread::leave(thread);
}

/// The calling thread runs this fiber. Its stack is brought back if another fiber ended in it, which nobody sees.
pub unsafe fn back_in(key: usize) {
    if current() != key {
        jump(key);
    }
}

pub unsafe fn end(key: usize) {
    if let Some(fiber) = find(key, false) {
        fiber.count.store(0, Ordering::Relaxed);
        fiber.key.store(ENDED, Ordering::Release);
    }
}

unsafe fn save(thread: &Thread, key: usize) {
    let Some(fiber) = find(key, true) else { return };
    let bottom = &raw const thread.frames[0];
    let count = (*thread.tls).top.cast_const().offset_from(bottom) as usize + 1;
    if fiber.room.load(Ordering::Relaxed) < count {
        const LEAST: usize = 256;
        let room = count.next_power_of_two().max(LEAST);
        let frames = mapping::reserve(room * size_of::<Frame>());
        if frames.is_null() {
            return end(key);
        }
        let old = fiber.frames.swap(frames as usize, Ordering::Relaxed);
        let old_room = fiber.room.swap(room, Ordering::Relaxed);
        if old != 0 {
            mapping::unmap(old as *mut u8, old_room * size_of::<Frame>());
        }
    }
    let frames = fiber.frames.load(Ordering::Relaxed) as *mut Frame;
    core::ptr::copy_nonoverlapping(bottom, frames, count);
    fiber.count.store(count, Ordering::Release);
}

unsafe fn load(thread: &mut Thread, key: usize) {
    let Some(fiber) = find(key, false) else { return };
    let count = fiber.count.load(Ordering::Acquire);
    let frames = fiber.frames.load(Ordering::Relaxed) as *const Frame;
    thread.frames[0] = context::root_frame();
    core::ptr::copy_nonoverlapping(frames, &raw mut thread.frames[0], count);
    let tls = thread.tls;
    (*tls).top = (&raw mut thread.frames[0]).add(count.saturating_sub(1));
    (*tls).frame = *(*tls).top;
    thread.too_deep = 0;
    thread.fiber = key;
}
