//! What is known about each controlled thread. One lock protects it all; it is held for the length of one decision,
//! and only by threads that are inside the recorder, so that no signal handler can want it of its own thread.

use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicU32, Ordering};

use recording::{RunPlan, Switch};

use super::counts::Counts;
use super::policy::{Candidate, Policies};
use super::replay::Replay;
use super::trial::Trial;
use super::{Operation, clock};
use crate::cells::Kind;
use crate::thread::Thread;
use crate::{kernel, planned, spin};

/// Threads that can be controlled at the same time; further ones run freely. Seat 0 stays empty.
pub const SEATS: usize = 1024;

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// The seat is empty.
    Empty,
    /// Could run if it had the token.
    Ready,
    /// Has the token.
    Running,
    /// Waits for something that somebody has to give back first.
    Waiting,
    /// Blocks or computes where nobody sees it; asks for the token at its next point.
    Away,
}

/// Addresses of locks.
pub type Locks = [usize; 4];

#[derive(Clone, Copy)]
pub struct Seat {
    pub thread: u32,
    /// The operating system's id, zero until the thread has begun.
    pub os_id: u32,
    pub standing: Standing,
    /// What it does when it runs next.
    pub operation: Operation,
    /// The object it waits for.
    pub waits_for: usize,
    /// Logical time at which its wait is over.
    pub deadline: u64,
    /// The same by the clock of the system.
    pub real_deadline: u64,
    /// Order of arrival among those that wait.
    pub arrival: u64,
    pub woken: bool,
    pub timed_out: bool,
    /// What it waits for may come from a signal handler, and so at any time.
    pub ends_by_signal: bool,
    /// Somebody asked it to end.
    pub cancelled: bool,
    /// Holds the token and sleeps: no sign of trouble.
    pub sleeps: bool,
    /// Places where it could have lost the token so far: points, waits, its end.
    pub stops: u32,
    /// How far it had come at the latest of these.
    pub progress: u32,
    /// That was a point, and it has not gone on yet.
    pub is_at_point: bool,
    /// It took the token though nobody gave it, to see whether what it waits for has come about.
    pub helped_itself: bool,
    /// How it got the token, until it has recorded that.
    pub handed: Option<Switch>,
    /// The locks that it held when it came to its point, outermost first; zero where there are no more.
    pub locks: Locks,
    /// Its latest sites, and how often it has been at one of them again without another in between.
    recent: [u32; 2],
    repetitions: u32,
    /// Points at which others could have run in its place, since it waited or let others run. That one of them did for a moment,
    /// because its time was over, is no help to the rest.
    pub stretch: u32,
}

/// No deadline.
pub const NEVER: u64 = u64::MAX;
/// Points at the same one or two sites after which a thread is taken to be spinning.
const SPINNING: u32 = 200;
/// Points after which a thread is taken to be waiting in a way that nobody sees if others could have run at each of them: it
/// looks again and again whether there is something to do, at many sites. Some milliseconds, and far longer than what a thread
/// of a small test does at a stretch.
const LONGEST_STRETCH: u32 = 20_000;

impl Seat {
    const EMPTY: Seat = Seat {
        thread: 0,
        os_id: 0,
        standing: Standing::Empty,
        operation: Operation { kind: Kind::Update, address: 0, size: 0, leaf: 0, site: 0, caller: 0 },
        waits_for: 0,
        deadline: NEVER,
        real_deadline: NEVER,
        arrival: 0,
        woken: false,
        timed_out: false,
        ends_by_signal: false,
        cancelled: false,
        sleeps: false,
        stops: 0,
        progress: 0,
        is_at_point: false,
        helped_itself: false,
        handed: None,
        locks: [0; 4],
        recent: [0; 2],
        repetitions: 0,
        stretch: 0,
    };

    /// Notes where the thread is; true if it seems to spin.
    fn spins_at(&mut self, leaf: u32) -> bool {
        if self.recent.contains(&leaf) {
            self.repetitions += 1;
        } else {
            self.recent = [self.recent[1], leaf];
            self.repetitions = 0;
        }
        let spins = self.repetitions >= SPINNING;
        if spins {
            self.repetitions = 0;
        }
        spins
    }
}

pub struct State {
    pub seats: [Seat; SEATS],
    /// One more than the highest seat ever taken.
    pub end: usize,
    /// Logical time in nanoseconds.
    pub clock: u64,
    /// No wait is over before this.
    pub earliest_deadline: u64,
    pub arrivals: u64,
    pub barriers: super::waiting::Barriers,
    policies: Policies,
    pub trial: Trial,
    /// Whether a thread that could run was held back when it was last chosen who runs.
    pub holds_back: bool,
    counts: Counts,
    pub replay: Replay,
    /// The highest id of a thread that ever had a seat.
    pub newest_thread: u32,
    candidates: [Candidate; SEATS],
}

/// Scheduling points so far.
pub static POINTS: AtomicU32 = AtomicU32::new(0);
/// The seat that has the token, zero if nobody has.
pub static HOLDER: AtomicU32 = AtomicU32::new(0);
/// What each seat's thread sleeps on while it is parked.
pub static BELLS: [AtomicU32; SEATS] = [const { AtomicU32::new(0) }; SEATS];

struct Shared(UnsafeCell<State>);
// SAFETY: reached through `lock` only.
unsafe impl Sync for Shared {}

static LOCK: AtomicU32 = AtomicU32::new(0);
static STATE: Shared = Shared(UnsafeCell::new(State {
    seats: [Seat::EMPTY; SEATS],
    end: 1,
    clock: 0,
    earliest_deadline: NEVER,
    arrivals: 0,
    barriers: super::waiting::Barriers::new(),
    policies: Policies::new(),
    trial: Trial::new(),
    holds_back: false,
    counts: Counts::new(),
    replay: Replay::new(),
    newest_thread: 0,
    candidates: [Candidate { seat: 0, operation: Seat::EMPTY.operation }; SEATS],
}));

/// The state, locked while this lives.
pub struct Locked {
    /// The seat that got the token, whose thread is woken when the lock is given back: it would have to wait for that, and
    /// the system likes to run who was woken in the place of who wakes. Zero if there is none.
    pub rings_for: usize,
}

/// None only if the recorder is switched off.
pub fn lock() -> Option<Locked> {
    spin::lock(&LOCK).then_some(Locked { rings_for: 0 })
}

impl core::ops::Deref for Locked {
    type Target = State;
    fn deref(&self) -> &State {
        // SAFETY: the lock is held.
        unsafe { &*STATE.0.get() }
    }
}

impl core::ops::DerefMut for Locked {
    fn deref_mut(&mut self) -> &mut State {
        // SAFETY: the lock is held.
        unsafe { &mut *STATE.0.get() }
    }
}

impl Drop for Locked {
    fn drop(&mut self) {
        spin::unlock(&LOCK);
        if self.rings_for != 0 {
            // SAFETY: the bells stay where they are.
            unsafe { kernel::wake(BELLS[self.rings_for].as_ptr(), 1) };
        }
    }
}

pub unsafe fn start(plan: &RunPlan) {
    if let Some(mut state) = lock() {
        state.policies.start(plan, planned::sites());
        state.trial.start(plan);
        state.replay.start();
        if !state.replay.follows() {
            state.trial.watch();
        }
    }
}

impl State {
    /// A seat for a thread that can run; zero if there is none.
    pub fn take(&mut self, thread: u32) -> usize {
        let free = (1..self.end).find(|&seat| self.seats[seat].standing == Standing::Empty);
        let seat = free.unwrap_or(self.end);
        if seat == SEATS {
            return 0;
        }
        self.end = self.end.max(seat + 1);
        self.seats[seat] = Seat { thread, standing: Standing::Ready, ..Seat::EMPTY };
        self.newest_thread = self.newest_thread.max(thread);
        self.policies.chosen().seated(seat);
        seat
    }

    /// The thread comes to a point before an operation. True if it should let others run.
    pub fn arrive(&mut self, seat: usize, operation: Operation, locks: &Locks, passes_on: bool) -> bool {
        self.clock += clock::POINT;
        let arriving = &mut self.seats[seat];
        // Rather without a lock, which others may need to get any further.
        let longest = LONGEST_STRETCH * if locks[0] == 0 { 1 } else { 2 };
        let passes_on = arriving.spins_at(operation.leaf) || arriving.stretch >= longest || passes_on;
        if passes_on {
            arriving.stretch = 0;
        }
        let done = core::mem::replace(&mut arriving.operation, operation);
        arriving.standing = Standing::Ready;
        arriving.stops += 1;
        arriving.is_at_point = true;
        arriving.helped_itself = false;
        let held = core::mem::replace(&mut arriving.locks, *locks);
        self.policies.chosen().done(seat, done);
        self.done(seat, done, &held);
        self.trial.arrives(seat, operation, locks);
        if operation.size != 0 && operation.site != 0 {
            // SAFETY: the seats are locked, as for all of this.
            unsafe { self.counts.visit(seat, operation.site) };
        }
        if passes_on {
            self.policies.chosen().passes(seat);
        }
        passes_on
    }

    pub fn of_thread(&self, thread: u32) -> usize {
        (1..self.end)
            .find(|&seat| self.seats[seat].standing != Standing::Empty && self.seats[seat].thread == thread)
            .unwrap_or(0)
    }

    pub fn any(&self, standing: Standing) -> bool {
        self.seats[1..self.end].iter().any(|seat| seat.standing == standing)
    }

    /// Do all wait for something that only another of them could give back?
    pub fn stands_still(&self) -> bool {
        self.others_wait(0, NEVER)
    }

    /// The same of all but one, at least until this time of the system's monotonic clock.
    pub fn others_wait(&self, one: usize, until: u64) -> bool {
        let others = (1..self.end).filter(|&seat| seat != one).map(|seat| &self.seats[seat]);
        let mut seated = others.filter(|seat| seat.standing != Standing::Empty);
        seated.all(|seat| seat.standing == Standing::Waiting && seat.real_deadline >= until)
    }

    /// Does one wait for what a signal handler may give back?
    pub fn may_be_raised(&self) -> bool {
        self.seats[1..self.end].iter().any(|seat| seat.standing == Standing::Waiting && seat.ends_by_signal)
    }

    /// Lists all that can run, but for `except` if there are others.
    fn list_candidates(&mut self, except: Option<usize>) -> usize {
        let mut count = 0;
        for seat in 1..self.end {
            let Seat { standing, operation, .. } = self.seats[seat];
            if standing == Standing::Ready && Some(seat) != except {
                self.candidates[count] = Candidate { seat, operation };
                count += 1;
            }
        }
        if count == 0 && except.is_some() { self.list_candidates(None) } else { count }
    }

    /// Who runs next: one of those that are ready, others than the current one if that passes the token on, or the one whose wait is over first if nobody is. Zero if all
    /// wait for something that nobody here will give back.
    pub fn choose(&mut self, current: Option<usize>, passes_on: bool) -> usize {
        let running = current;
        self.end_waits();
        if !self.any(Standing::Ready) && !self.any(Standing::Away) {
            self.jump_to_deadline();
        }
        let mut count = self.list_candidates(if passes_on { current } else { None });
        let follows = self.replay.follows();
        let mut free = if follows { count } else { self.trial.hold_back(&mut self.candidates[..count]) };
        self.holds_back = free < count;
        if passes_on && self.trial.holds_any(&self.candidates[free..count]) {
            self.trial.passes();
        }
        if free == 0 && passes_on {
            // Rather the one that seems to spin than one that is held back: it may be at work on what that one is to wait for.
            count = self.list_candidates(None);
            free = self.trial.hold_back(&mut self.candidates[..count]);
        }
        if free == 0 && self.trial.rather_wakes() && self.jump_to_near_deadline() {
            count = self.list_candidates(None);
            free = self.trial.hold_back(&mut self.candidates[..count]);
        }
        if free == 0 && count > 0 {
            self.trial.let_go_one(&mut self.candidates[..count]);
            free = 1;
        }
        count = free;
        let chosen = match count {
            0 => 0,
            1 => self.candidates[0].seat,
            _ => {
                let candidates = &self.candidates[..count];
                let current = current.filter(|&seat| candidates.iter().any(|one| one.seat == seat));
                let chosen = self.policies.chosen().choose(candidates, current);
                if self.policies.enumerates() {
                    // SAFETY: as in `arrive`.
                    unsafe { self.counts.decide(count, current.is_some()) };
                }
                candidates[chosen.min(count - 1)].seat
            }
        };
        let again = count > 1 && running == Some(chosen);
        self.seats[chosen].stretch += u32::from(again);
        // The policy is asked all the same, to know what it needs to know when there is no more to follow.
        if !follows {
            return chosen;
        }
        let next = self.follow(current, chosen, passes_on);
        if !self.replay.follows() {
            self.trial.watch();
        }
        next
    }

    /// The thread of this seat did this, holding these locks.
    pub fn done(&mut self, seat: usize, operation: Operation, locks: &Locks) {
        if self.replay.follows() {
            self.trial.followed(seat, operation, locks);
        } else {
            self.trial.done(seat, operation, locks);
        }
    }

    /// The trial, once there is no schedule to follow any more: until then, what happens is what happened before.
    pub fn begun_trial(&mut self) -> Option<&mut Trial> {
        (!self.replay.follows()).then_some(&mut self.trial)
    }
}

pub fn lock_before_fork() {
    spin::lock(&LOCK);
}

pub fn unlock_after_fork() {
    LOCK.store(0, Ordering::Relaxed);
}

/// In a forked child: its only thread is the only one to control.
pub unsafe fn restart(thread: &Thread) {
    let Some(mut state) = lock() else { return };
    state.counts = Counts::new();
    for seat in 1..state.end {
        if state.seats[seat].thread != thread.id {
            state.seats[seat].standing = Standing::Empty;
        }
    }
    state.replay.restart();
    if let Some(own) = state.seats.get_mut(thread.seat as usize).filter(|_| thread.seat != 0) {
        own.standing = Standing::Running;
        own.os_id = kernel::thread_id();
    }
    HOLDER.store(thread.seat, Ordering::Relaxed);
}
