//! Looking at some of the program's accesses only, for tests that take too long otherwise.
//!
//! The choice is bursty and global, as in CCI (Jin and others, OOPSLA 2010): now and then a thread begins a burst, and
//! every access of every thread is recorded until the burst has its length. In between, hooks return at once.
//! Locks, threads and the heap are recorded at all times.
//!
//! Nothing may be concluded across the time between two bursts. So a burst notes which bytes it touched, and whoever is
//! the last to leave it closes their histories with a gap, and makes bytes of one thread untouched again.
//!
//! In a sampled process `root` of [`Tls`] stays null, which sends every access past the fast path: hooks of processes
//! that are not sampled pay nothing.

use core::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};

use crate::thread::Thread;
use crate::tls::{self, Tls};
use crate::{mapping, rebirth};

/// Accesses in the shortest bursts. Each further length is twice the one before and half as frequent, so that each takes
/// up as many accesses: nobody knows how much that concerns one thread alone lies between what threads do together.
const SHORTEST: usize = 128;
const LENGTHS: u32 = 8;
const LONGEST: usize = SHORTEST << (LENGTHS - 1);
/// Of the random choice: all lengths but the longest contribute half of the shortest, and that twice as much.
const MEAN: u64 = (LENGTHS as u64 + 1) * SHORTEST as u64 / 2;

/// What hooks are to do with an access.
pub static PHASE: AtomicU32 = AtomicU32::new(EVERYTHING);
/// The process is not sampled.
const EVERYTHING: u32 = 0;
/// Between bursts, or in a process that is not recorded at all.
pub const QUIET: u32 = 1;
const BURST: u32 = 2;

/// Zero if there is no burst; else [`OPEN`] or [`CLOSING`], and how many accesses are being recorded, in steps of
/// [`ONE`]. A thread may be stopped in the midst of one for long, so what is [`CLOSING`] is quiet for all others.
static STATE: AtomicU32 = AtomicU32::new(0);
const OPEN: u32 = 1;
const CLOSING: u32 = 2;
const STATES: u32 = 3;
const ONE: u32 = 4;

/// Mean number of accesses between two bursts.
static MEAN_GAP: AtomicU64 = AtomicU64::new(0);

/// What the burst touched: address and size.
static TOUCHED: [[AtomicUsize; 2]; LONGEST] = [const { [const { AtomicUsize::new(0) }; 2] }; LONGEST];
static USED: AtomicUsize = AtomicUsize::new(0);
/// How long the burst is to be.
static LENGTH: AtomicUsize = AtomicUsize::new(0);

/// Before any access; `per_million` accesses are to be looked at, all if zero.
pub fn start(per_million: u32) {
    if per_million != 0 {
        let left_out = 1_000_000u64.saturating_sub(per_million.into());
        MEAN_GAP.store(MEAN * left_out / u64::from(per_million), Ordering::Relaxed);
        // SAFETY: the header is mapped by now.
        unsafe { (*mapping::header()).sample = per_million.into() };
        PHASE.store(QUIET, Ordering::Release);
    }
}

/// This process is not recorded: hooks are to cost as little as possible.
pub fn leave_out_everything() {
    PHASE.store(QUIET, Ordering::Release);
}

/// Is this process sampled?
pub fn is_on() -> bool {
    PHASE.load(Ordering::Relaxed) != EVERYTHING
}

/// Is it sampled, and between bursts?
#[inline(always)]
pub fn is_quiet() -> bool {
    PHASE.load(Ordering::Relaxed) == QUIET
}

/// Is this access one of those that are not looked at? Counts it; the last one begins a burst.
#[inline(always)]
pub unsafe fn leaves_out() -> bool {
    is_quiet() && counts_down()
}

#[inline(always)]
unsafe fn counts_down() -> bool {
    let tls = tls::current();
    (*tls).unseen -= 1;
    if (*tls).unseen > 0 {
        return true;
    }
    begin(tls)
}

/// Begins a burst; true if this thread is not recorded any more, or not at all.
#[cold]
#[inline(never)]
unsafe fn begin(tls: *mut Tls) -> bool {
    let Some(thread) = (*tls).thread.as_mut() else {
        (*tls).unseen = i64::MAX;
        return true;
    };
    begin_counting(thread);
    // Another thread may have been faster, or is still busy with the last one.
    if STATE.compare_exchange(0, CLOSING, Ordering::AcqRel, Ordering::Relaxed).is_ok() {
        let doublings = thread.noise.below(1 << (LENGTHS - 1)).trailing_zeros().min(LENGTHS - 1);
        LENGTH.store(SHORTEST << doublings, Ordering::Relaxed);
        STATE.store(OPEN, Ordering::Release);
        PHASE.store(BURST, Ordering::Release);
    }
    false
}

/// Decides when this thread is to begin a burst.
pub unsafe fn begin_counting(thread: &mut Thread) {
    let mean = MEAN_GAP.load(Ordering::Relaxed);
    (*thread.tls).unseen = 1 + thread.noise.below(2 * mean + 1) as i64;
}

/// Must be called before an access is recorded, and if it says true, [`leave`] afterwards.
#[inline]
pub unsafe fn enter(thread: &mut Thread, address: usize, size: usize) -> bool {
    !is_on() || enter_burst(thread, address, size)
}

#[cold]
unsafe fn enter_burst(thread: &mut Thread, address: usize, size: usize) -> bool {
    let one_more = |state: u32| (state & STATES == OPEN).then_some(state + ONE);
    if STATE.fetch_update(Ordering::AcqRel, Ordering::Acquire, one_more).is_err() {
        return false;
    }
    let at = USED.fetch_add(1, Ordering::Relaxed);
    let length = LENGTH.load(Ordering::Relaxed);
    if at >= length {
        // The last one has closed the burst, or will in a moment.
        leave_burst(thread);
        return false;
    }
    let [start, bytes] = &TOUCHED[at];
    start.store(address, Ordering::Relaxed);
    bytes.store(size, Ordering::Relaxed);
    if at == length - 1 {
        STATE.fetch_xor(OPEN | CLOSING, Ordering::AcqRel);
        PHASE.store(QUIET, Ordering::Release);
    }
    true
}

#[inline]
pub unsafe fn leave(thread: &mut Thread) {
    if is_on() {
        leave_burst(thread);
    }
}

#[cold]
unsafe fn leave_burst(thread: &mut Thread) {
    if STATE.fetch_sub(ONE, Ordering::AcqRel) == CLOSING + ONE {
        close(thread);
    }
}

/// Nobody is in the burst any more, and nobody can enter it.
unsafe fn close(thread: &mut Thread) {
    for [start, bytes] in &TOUCHED[..LENGTH.load(Ordering::Relaxed)] {
        let start = start.load(Ordering::Relaxed);
        rebirth::pause(thread, start, start.saturating_add(bytes.load(Ordering::Relaxed)));
    }
    USED.store(0, Ordering::Relaxed);
    STATE.store(0, Ordering::Release);
}

/// In a forked child, whose shadow is empty, and whose other threads are gone with what they were doing.
pub fn restart() {
    if is_on() {
        USED.store(0, Ordering::Relaxed);
        STATE.store(0, Ordering::Release);
        PHASE.store(QUIET, Ordering::Release);
    }
}
