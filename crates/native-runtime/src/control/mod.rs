//! Controlled runs: one thread runs at a time between scheduling points, and a seeded policy says which.
//!
//! The thread that runs holds the *token*. Points come before every access to bytes that are not the thread's own,
//! before every atomic operation and around synchronization; there the [`policy`] may pass the token on. A thread
//! without the token is parked. So the order of accesses in the record is exact, and the same seed gives the same
//! run of a program that is nondeterministic in nothing but its schedule.
//!
//! - [`seats`]: what is known about each controlled thread, under one lock.
//! - [`token`]: points, passing the token on, parking.
//! - [`watch`]: a holder that blocks where nobody sees it loses the token within milliseconds.
//! - [`counts`]: what later plans need to know of this run.
//! - [`replay`]: a schedule that was recorded before, followed switch by switch; [`progress`]: how far a thread has come, whatever
//!   others did; [`debugger`]: a place to stop on the way.
//! - [`trial`]: an interleaving that the run is to bring about or to avoid.
//! - [`waiting`]: locks, semaphores, conditions, barriers, joining: a wait becomes an attempt that is repeated
//!   when somebody has given back what it waits for.
//! - [`clock`]: sleeps and time-outs in logical time, which passes with points, and jumps when all wait.
//!
//! Invariants: control only ever delays a thread. A parked thread is let go when the recorder switches off. No lock
//! of the target is held by the recorder on a thread's behalf, so whoever leaves (end, cancellation, a jump) leaves
//! nothing behind but its seat. Code that is not instrumented runs as always, between two points of its thread.
//!
//! What it misses: bytes that only one thread has used so far have a point at their first use only, but for the plan's
//! sites.

mod clock;
mod counts;
mod debugger;
mod policy;
mod progress;
mod replay;
mod seats;
mod token;
mod trial;
mod waiting;
mod watch;

use core::ffi::c_char;
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use recording::{RunPlan, Schedule};

use crate::cell::{SHARED, SPLIT};
use crate::cells::Kind;
use crate::intercept::hash_keys;
use crate::thread::Thread;
use crate::{context, log, modules, noise, planned, shadow, thread};

pub use clock::{Deadline, Time, sleep};
pub use seats::{lock_before_fork, restart, unlock_after_fork};
pub use token::{abandon, announce, attach, begin, begun, cancelled, ended, yielded};
pub use waiting::{
    TimedOut, Wait, barrier_of, barrier_wait, condition_wait, condition_wake, futex_wait, futex_wake, join,
    until, wake,
};

static ON: AtomicBool = AtomicBool::new(false);
static FIRST_STACK_END: AtomicUsize = AtomicUsize::new(0);

unsafe extern "C" {
    static environ: *const *const c_char;
}

/// Is this a controlled run?
#[inline]
pub fn is_on() -> bool {
    ON.load(Ordering::Relaxed) && log::is_active()
}

pub unsafe fn start(plan: &RunPlan) {
    if plan.schedule != Schedule::Free {
        hash_keys::start(plan.seed);
        seats::start(plan);
        clock::start(plan.skip_sleeps);
        FIRST_STACK_END.store(environ as usize, Ordering::Relaxed);
        ON.store(true, Ordering::Relaxed);
    }
}

/// Lets all threads go: the target is about to give up the system calls that parking takes.
pub unsafe fn end() {
    if ON.swap(false, Ordering::Relaxed) {
        token::ring_all();
    }
}

/// Are accesses of this function points even if the bytes are the thread's own?
pub fn is_watched(function: modules::Function) -> bool {
    ON.load(Ordering::Relaxed) && trial::has_step(function)
}

/// What a thread is about to do at a point.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Operation {
    pub kind: Kind,
    /// Of the bytes, lock or other object; zero if it concerns none.
    pub address: usize,
    /// Bytes that are accessed; zero if it is no access.
    pub size: u32,
    pub leaf: u32,
    /// Where its hook returns to; zero where that is not known.
    pub site: usize,
    /// Where the function that does it returns to.
    pub caller: usize,
}

/// Must first uses and repetitions be looked at, too? They are points, or sites where the plan wants delays.
#[inline]
pub fn looks_at_all() -> bool {
    is_on() || planned::any()
}

/// Before a plain access of any length: a point, unless all bytes are the thread's own.
#[inline(always)]
pub unsafe fn before_access(
    thread: &mut Thread,
    address: usize,
    size: usize,
    kind: Kind,
    leaf: u32,
    site: usize,
) {
    if looks_at_all() {
        look_at_access(thread, address, size, kind, leaf, site);
    }
}

#[inline(never)]
unsafe fn look_at_access(
    thread: &mut Thread,
    address: usize,
    size: usize,
    kind: Kind,
    leaf: u32,
    site: usize,
) {
    if !is_on() {
        noise::at_site(thread, site);
        return;
    }
    let counts = progress::counts(site);
    let is_due = counts && progress::is_due(thread.progress);
    if is_due || planned::contains(site) || !is_own(thread, address, size) || trial::is_step(site) {
        token::point(
            thread,
            Operation { kind, address, size: size as u32, leaf, site, caller: caller(thread) },
        );
    }
    if counts {
        step_on(thread);
    }
}

/// One more step of a thread's progress. Accesses without an event are stamped with the one before, which leaves them in no order among
/// themselves; where progress is told, that order is what is asked about.
#[inline]
unsafe fn step_on(thread: &mut Thread) {
    thread.progress += 1;
    if progress::is_told() {
        thread.set_tick(log::next_tick());
    }
}

/// Before a block of memory is given back: a point, unless nobody but this thread has used it.
pub unsafe fn before_release(thread: &mut Thread, block: usize, size: usize, leaf: u32, site: usize) {
    if !is_on() {
        noise::at_site(thread, site);
        return;
    }
    let counts = progress::counts(site);
    let is_due = counts && progress::is_due(thread.progress);
    if is_due || planned::contains(site) || trial::is_step(site) || has_others(thread, block, size) {
        let operation = Operation {
            kind: Kind::Write,
            address: block,
            size: size as u32,
            leaf,
            site,
            caller: caller(thread),
        };
        token::point(thread, operation);
    }
    if counts {
        step_on(thread);
    }
}

/// Before an atomic operation: programs use them where threads meet.
#[inline(always)]
pub unsafe fn before_atomic(thread: &mut Thread, address: usize, kind: Kind, leaf: u32, site: usize) {
    if looks_at_all() {
        look_at_atomic(thread, address, kind, leaf, site);
    }
}

#[inline(never)]
unsafe fn look_at_atomic(thread: &mut Thread, address: usize, kind: Kind, leaf: u32, site: usize) {
    if is_on() {
        token::point(thread, Operation { kind, address, size: 1, leaf, site, caller: caller(thread) });
        step_on(thread);
    } else {
        noise::at_site(thread, site);
    }
}

/// Where the thread's current function was called.
unsafe fn caller(thread: &Thread) -> usize {
    (*context::table().add(context::current(thread.tls) as usize)).call as usize
}

/// Before or after a synchronization.
#[inline]
pub unsafe fn at_sync(thread: &mut Thread, address: usize, leaf: u32, site: usize) {
    if is_on() {
        token::point(
            thread,
            Operation { kind: Kind::Update, address, size: 0, leaf, site, caller: caller(thread) },
        );
        thread.progress += 1;
    }
}

/// Has nobody but this thread used these bytes? What it touches for the first time is not its own yet, unless it
/// lies on its stack.
unsafe fn is_own(thread: &Thread, address: usize, size: usize) -> bool {
    let on_stack = is_on_stack(thread, address);
    let end = address.saturating_add(size.max(1));
    let mut at = address & !3;
    while at < end {
        let line = shadow::line_if_mapped(at);
        let owner = if line.is_null() { 0 } else { (*line).owner[(at >> 2) & 1] };
        let own = if owner == 0 {
            on_stack
        } else {
            owner & (SHARED | SPLIT) == 0 && owner & crate::cell::ID == thread.id
        };
        if !own {
            return false;
        }
        at += 4;
    }
    true
}

/// Has anybody but this thread used some of these bytes?
unsafe fn has_others(thread: &Thread, address: usize, size: usize) -> bool {
    (address..address + size).step_by(4).any(|at| {
        let line = shadow::line_if_mapped(at);
        let owner = if line.is_null() { 0 } else { (*line).owner[(at >> 2) & 1] };
        owner & (SHARED | SPLIT) != 0 || owner != 0 && owner & crate::cell::ID != thread.id
    })
}

unsafe fn is_on_stack(thread: &Thread, address: usize) -> bool {
    let here = 0u8;
    match (*thread.record).stack {
        // The first thread's stack grows as needed, and ends where the environment was put for it.
        [0, 0] => (&raw const here as usize..FIRST_STACK_END.load(Ordering::Relaxed)).contains(&address),
        [low, high] => (low as usize..high as usize).contains(&address),
    }
}

/// The calling thread, if it is one that can be controlled now.
unsafe fn seated() -> Option<&'static mut Thread> {
    if !is_on() || thread::is_inside() {
        return None;
    }
    let thread = thread::enter()?;
    if thread.seat == 0 {
        thread::leave(thread);
        return None;
    }
    Some(thread)
}
