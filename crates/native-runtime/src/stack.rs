//! Stack slots that other threads use too: once their function has returned, the next call that takes their place is
//! a new life.
//!
//! Function exits cost nothing for this. A thread one of whose slots became shared *arms* its frames: their context is
//! set to one that does not exist, so that the next call from an armed frame takes the slow way in. There all shared
//! slots below the new call's frame are forgotten: whatever is there belongs to functions that have returned.
//! Armed are always the outermost frames up to some depth, since a call pushes a frame that is not.

use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::context::{self, ARMED};
use crate::rebirth;
use crate::thread::Thread;
use crate::tls::{Frame, Tls};

/// A thread's stack.
pub struct Stack {
    low: AtomicUsize,
    /// Zero if this entry is free.
    high: AtomicUsize,
    /// Lowest and highest slot that several threads use, or used.
    lowest: AtomicUsize,
    highest: AtomicUsize,
    /// Another thread has shared a slot: the stack's own thread has to arm its frames.
    wanted: AtomicBool,
}

impl Stack {
    const fn none() -> Stack {
        Stack {
            low: AtomicUsize::new(0),
            high: AtomicUsize::new(0),
            lowest: AtomicUsize::new(usize::MAX),
            highest: AtomicUsize::new(0),
            wanted: AtomicBool::new(false),
        }
    }

    fn holds(&self, address: usize) -> bool {
        address < self.high.load(Ordering::Acquire) && address >= self.low.load(Ordering::Relaxed)
    }

    /// One past its last address, if this address lies in it.
    pub fn end_if_it_holds(&self, address: usize) -> Option<usize> {
        self.holds(address).then(|| self.high.load(Ordering::Relaxed))
    }

    /// Has a slot been shared since the frames were armed?
    #[inline]
    pub fn is_wanted(&self) -> bool {
        self.wanted.load(Ordering::Relaxed)
    }
}

/// More stacks than this at a time are not told apart from other memory.
const STACKS: usize = 1024;
static TABLE: [Stack; STACKS] = [const { Stack::none() }; STACKS];
/// Entries beyond this were never used.
static USED: AtomicUsize = AtomicUsize::new(0);
/// The stack of threads that found no entry.
static NONE: Stack = Stack::none();

/// Enters the stack of a new thread.
pub fn enter(low: usize, high: usize) -> &'static Stack {
    if high <= low {
        return &NONE;
    }
    for (index, stack) in TABLE.iter().enumerate() {
        // Until its highest address is set the entry holds nothing, and while it is one, nobody else takes it.
        if stack.high.compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed).is_ok() {
            stack.low.store(low, Ordering::Relaxed);
            stack.lowest.store(usize::MAX, Ordering::Relaxed);
            stack.highest.store(0, Ordering::Relaxed);
            stack.wanted.store(false, Ordering::Relaxed);
            stack.high.store(high, Ordering::Release);
            USED.fetch_max(index + 1, Ordering::Release);
            return stack;
        }
    }
    &NONE
}

pub fn leave(stack: &'static Stack) {
    stack.high.store(0, Ordering::Release);
}

/// A slot at this address, if it is on a stack, is used by several threads from now on.
pub unsafe fn shared(thread: &mut Thread, address: usize) {
    let used = &TABLE[..USED.load(Ordering::Acquire)];
    let Some(stack) = used.iter().find(|stack| stack.holds(address)) else { return };
    stack.lowest.fetch_min(address, Ordering::Relaxed);
    stack.highest.fetch_max(address, Ordering::Relaxed);
    if core::ptr::eq(stack, thread.stack) {
        arm(thread);
    } else {
        stack.wanted.store(true, Ordering::Release);
    }
}

/// Arms all frames of the calling thread.
#[cold]
pub unsafe fn arm(thread: &mut Thread) {
    (*thread.stack).wanted.store(false, Ordering::Relaxed);
    let bottom = &raw mut thread.frames[0];
    let mut frame: *mut Frame = (*thread.tls).top;
    (*thread.tls).frame.context = ARMED;
    while (*frame).context != ARMED {
        (*frame).context = ARMED;
        if frame == bottom {
            break;
        }
        frame = frame.sub(1);
    }
}

/// A function was called from an armed frame: `call` is where it will return to, `sp` the lowest address of its frame.
/// Forgets what functions that have returned left there.
#[cold]
pub unsafe fn reuse(tls: *mut Tls, call: usize, sp: usize) {
    let real = context::current(tls);
    (*tls).frame.context = real;
    (*(*tls).top).context = real;
    let stack = &*(*(*tls).thread).stack;
    let (lowest, highest) = (stack.lowest.load(Ordering::Relaxed), stack.highest.load(Ordering::Relaxed));
    // On a signal's stack of its own, or a fiber's, nothing is known about this one.
    if lowest > highest || !stack.holds(sp) {
        return;
    }
    let end = frame_end(call, sp, highest);
    if lowest < end {
        rebirth::forget(lowest, end);
        if end > highest {
            stack.highest.store(0, Ordering::Relaxed);
            stack.lowest.store(usize::MAX, Ordering::Relaxed);
        } else {
            stack.lowest.store(end, Ordering::Relaxed);
        }
    }
}

/// The end of the frame that begins at `sp`: where its return address is, or beyond `highest` if that comes first.
#[cfg(target_arch = "x86_64")]
unsafe fn frame_end(call: usize, sp: usize, highest: usize) -> usize {
    let mut at = sp;
    while at <= highest && *(at as *const usize) != call {
        at += size_of::<usize>();
    }
    at
}

/// Return addresses lie anywhere in a frame here; up to `sp`, its record of frame pointer and return address, all is
/// free for reuse at any rate.
#[cfg(target_arch = "aarch64")]
unsafe fn frame_end(_call: usize, sp: usize, _highest: usize) -> usize {
    sp
}
