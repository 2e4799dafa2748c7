//! What a thread is doing: the methods that it is in, where it stands in the order of events, and how long it may go on.

use std::mem::offset_of;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

use super::{reserve, sites};
use crate::recorder::ROOT;

/// Methods that are told apart; deeper ones count as part of the last.
const MOST_FRAMES: usize = 1 << 16;
/// Calls that are remembered.
const ENTERED_BITS: u32 = 15;
/// Desks by the last bits of their threads' ids. Of two threads that differ in more only, one has its hooks in Java.
static DESKS: [AtomicU64; 1 << 10] = [const { AtomicU64::new(0) }; 1 << 10];

/// A method that the thread is in.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct Frame {
    /// Its context.
    pub context: u32,
    /// The leaf of its first instruction.
    pub leaf: u32,
    /// Its site, by which its end names it.
    pub site: i32,
    /// The site of the call in the method around it plus one, zero if that did not announce it.
    pub call: u32,
    /// The lock that it holds while it runs, zero for none.
    pub lock: u64,
}

/// A call that was made before: from which context, at which site plus one, of which method's site; what it leads to.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
struct Entered {
    from: u32,
    call: u32,
    site: i32,
    context: u32,
    leaf: u32,
}

impl std::fmt::Debug for Desk {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Desk").field("id", &self.id).finish_non_exhaustive()
    }
}

/// All of it. The other threads look at `left` alone.
#[repr(C)]
pub struct Desk {
    tid: AtomicU64,
    id: AtomicU32,
    /// Hooks left before somebody else gets a chance.
    left: AtomicU32,
    /// See [`When`].
    when: AtomicU64,
    leaf: AtomicU32,
    call: AtomicU32,
    depth: AtomicU32,
    context: AtomicU32,
    /// Has the thread given a lock back since its last point?
    gave_back: AtomicU32,
    frames: AtomicU64,
    entered: AtomicU64,
}

// As the hook class has it.
const _: () = assert!(
    offset_of!(Desk, id) == 8
        && offset_of!(Desk, left) == 12
        && offset_of!(Desk, when) == 16
        && offset_of!(Desk, leaf) == 24
        && offset_of!(Desk, call) == 28
        && offset_of!(Desk, depth) == 32
        && offset_of!(Desk, context) == 36
        && offset_of!(Desk, gave_back) == 40
        && offset_of!(Desk, frames) == 48
        && offset_of!(Desk, entered) == 56
        && size_of::<Frame>() == 24
        && size_of::<Entered>() == 20
);

/// When an access without an event happened, and the set of locks that its thread held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct When {
    /// The thread's newest tick.
    pub tick: u64,
    /// The set's id.
    pub locks: u32,
}

impl When {
    const LOCKS_BITS: u32 = 24;

    /// As one number whose last bit is free. There are no more sets of locks than the log has room for.
    pub fn to_bits(self) -> u64 {
        let locks = u64::from(self.locks) & ((1 << Self::LOCKS_BITS) - 1);
        (self.tick << Self::LOCKS_BITS | locks) << 1
    }

    /// From such a number.
    pub fn from_bits(bits: u64) -> When {
        let bits = bits >> 1;
        When { tick: bits >> Self::LOCKS_BITS, locks: bits as u32 & ((1 << Self::LOCKS_BITS) - 1) }
    }
}

/// Where the hook class finds desks.
pub fn table() -> u64 {
    DESKS.as_ptr() as u64
}

impl Desk {
    /// A desk for the calling thread. Stays for good, but for what takes room.
    pub fn new() -> Option<&'static Desk> {
        let frames = reserve(MOST_FRAMES * size_of::<Frame>())?;
        let entered = reserve(size_of::<Entered>() << ENTERED_BITS)?;
        Some(Box::leak(Box::new(Desk {
            tid: AtomicU64::new(0),
            id: AtomicU32::new(0),
            left: AtomicU32::new(0),
            when: AtomicU64::new(0),
            leaf: AtomicU32::new(0),
            call: AtomicU32::new(0),
            depth: AtomicU32::new(0),
            context: AtomicU32::new(ROOT),
            gave_back: AtomicU32::new(0),
            frames: AtomicU64::new(frames as u64),
            entered: AtomicU64::new(entered as u64),
        })))
    }

    /// Shows the desk to the hook class.
    pub fn show(&self, tid: u64, id: u32) {
        self.tid.store(tid, Relaxed);
        self.id.store(id, Relaxed);
        if sites::are_there() {
            DESKS[tid as usize % DESKS.len()].store(std::ptr::from_ref(self) as u64, Relaxed);
        }
    }

    /// The thread is over.
    pub fn clear(&self) {
        let own = std::ptr::from_ref(self) as u64;
        let place = &DESKS[self.tid.load(Relaxed) as usize % DESKS.len()];
        let _ = place.compare_exchange(own, 0, Relaxed, Relaxed);
        self.depth.store(0, Relaxed);
        for (memory, bytes) in [
            (&self.frames, MOST_FRAMES * size_of::<Frame>()),
            (&self.entered, size_of::<Entered>() << ENTERED_BITS),
        ] {
            // SAFETY: reserved when the desk was made, and only its own thread, which runs no more hooks, uses it.
            unsafe { libc::munmap(memory.swap(0, Relaxed) as *mut _, bytes) };
        }
    }

    /// Hooks left before somebody else gets a chance.
    pub fn left(&self) -> u32 {
        self.left.load(Relaxed)
    }

    /// Sets their number.
    pub fn set_left(&self, left: u32) {
        self.left.store(left, Relaxed);
    }

    /// Notes that the thread has given a lock back, so that its next hook is a point; or that this is dealt with.
    pub fn set_gave_back(&self, gave_back: bool) {
        self.gave_back.store(gave_back.into(), Relaxed);
    }

    /// The thread's newest tick.
    pub fn set_tick(&self, tick: u64) {
        let locks = When::from_bits(self.when.load(Relaxed)).locks;
        self.when.store(When { tick, locks }.to_bits(), Relaxed);
    }

    /// The locks that the thread holds.
    pub fn set_locks(&self, locks: u32) {
        let tick = When::from_bits(self.when.load(Relaxed)).tick;
        self.when.store(When { tick, locks }.to_bits(), Relaxed);
    }

    /// In how many methods the thread is.
    pub fn depth(&self) -> usize {
        self.depth.load(Relaxed) as usize
    }

    /// The innermost method's context.
    pub fn context(&self) -> u32 {
        self.context.load(Relaxed)
    }

    /// The site of the call that the innermost method has announced.
    pub fn call(&self) -> Option<i32> {
        self.call.load(Relaxed).checked_sub(1).map(|site| site as i32)
    }

    /// Announces a call, or none.
    pub fn set_call(&self, site: Option<i32>) {
        self.call.store(site.map_or(0, |site| site as u32 + 1), Relaxed);
    }

    fn place(&self, number: usize) -> *mut Frame {
        // SAFETY: callers stay within the depth, which is within the frames' memory.
        unsafe { (self.frames.load(Relaxed) as *mut Frame).add(number) }
    }

    /// The methods that the thread is in, innermost first.
    pub fn frames(&self) -> impl Iterator<Item = Frame> + '_ {
        // SAFETY: that many frames were written.
        (0..self.depth()).rev().map(|number| unsafe { self.place(number).read() })
    }

    /// The thread is in a method from now on.
    pub fn push(&self, frame: Frame) {
        let depth = self.depth();
        if depth == MOST_FRAMES {
            return;
        }
        // SAFETY: there is room for it, and only the desk's own thread comes here.
        unsafe { self.place(depth).write(frame) };
        self.cut(depth + 1);
    }

    /// The thread is in so many methods only, or the one more that was just added.
    pub fn cut(&self, depth: usize) {
        self.depth.store(depth as u32, Relaxed);
        let last = self.frames().next().unwrap_or(Frame { context: ROOT, ..Frame::default() });
        self.context.store(last.context, Relaxed);
        self.leaf.store(last.leaf, Relaxed);
        self.call.store(0, Relaxed);
    }

    /// Lets the hook class do the same for another call of this kind.
    pub fn remember(&self, from: u32, frame: &Frame) {
        let mix = from.wrapping_mul(31).wrapping_add(frame.call).wrapping_mul(31);
        let hash = mix.wrapping_add(frame.site as u32).wrapping_mul(0x9e37_79b1) >> (32 - ENTERED_BITS);
        let &Frame { context, leaf, site, call, .. } = frame;
        // SAFETY: the hash has no more bits than the table has entries, and only the desk's own thread comes here.
        unsafe {
            let entered = (self.entered.load(Relaxed) as *mut Entered).add(hash as usize);
            entered.write(Entered { from, call, site, context, leaf });
        }
    }
}
