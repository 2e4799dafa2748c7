//! Logical time: each point takes a while, and when all threads wait, time jumps to the first deadline.
//!
//! So a sleep or a time-out ends after the same number of points in every run with the same seed, whatever the
//! machine is busy with. Where the run is not to skip sleeps, the rest of the real time is slept then.

use core::sync::atomic::{AtomicBool, Ordering};

use super::seats::{NEVER, POINTS, Seat, Standing, State, lock};
use super::{seated, waiting};
use crate::thread::Thread;
use crate::{errno, kernel, mapping, thread};

/// Logical nanoseconds per point: about what a shared access and the work around it take.
pub const POINT: u64 = 1000;
/// Coarser spans of time do not depend on the last microseconds. A time in whole microseconds was written down by
/// somebody, and is taken as it is: a short sleep must not let others do a thousand things.
const GRAIN: u64 = 1_000_000;
const WRITTEN_DOWN: u64 = 1_000;

/// Longer sleeps are not waited for where somebody could run that is only held back.
const NEAR: u64 = 500_000_000;

static SKIP_SLEEPS: AtomicBool = AtomicBool::new(false);

pub fn start(skip_sleeps: bool) {
    SKIP_SLEEPS.store(skip_sleeps, Ordering::Relaxed);
}

/// A time as C passes it.
pub type Time = *const libc::timespec;

/// The end of a wait.
#[derive(Clone, Copy)]
pub struct Deadline {
    /// Logical nanoseconds from now.
    left: u64,
    /// By the system's monotonic clock.
    pub real: u64,
}

impl Deadline {
    /// Seen from now. None for no time.
    pub unsafe fn after(time: Time) -> Option<Deadline> {
        time.as_ref().map(|&time| Deadline::in_nanoseconds(nanoseconds(time)))
    }

    /// By a clock of the system's. None for no time.
    pub unsafe fn at(clock: libc::clockid_t, time: Time) -> Option<Deadline> {
        time.as_ref().map(|&time| {
            let left = nanoseconds(time).saturating_sub(read(clock));
            Deadline { left: in_round_numbers(left), ..Deadline::in_nanoseconds(left) }
        })
    }

    /// By one of the two clocks that a condition can be made for: the time since the system's start is far smaller.
    pub unsafe fn at_some_clock(time: Time) -> Option<Deadline> {
        const YEAR: i64 = 365 * 24 * 3600;
        let is_date = time.as_ref().is_some_and(|time| time.tv_sec > 30 * YEAR);
        Deadline::at(if is_date { libc::CLOCK_REALTIME } else { libc::CLOCK_MONOTONIC }, time)
    }

    pub fn in_nanoseconds(left: u64) -> Deadline {
        let real = now().saturating_add(left);
        let is_exact = left.is_multiple_of(WRITTEN_DOWN);
        Deadline { left: if is_exact { left } else { left.next_multiple_of(GRAIN) }, real }
    }

    /// In nanoseconds, as a program would write it down.
    pub fn length(&self) -> u64 {
        self.left
    }

    pub fn logical(&self, state: &State) -> u64 {
        state.clock.saturating_add(self.left)
    }
}

/// What is left of a span of time of which some has passed already, while the program made a deadline of it: programs
/// wait for 50 or 1500 milliseconds, and what they wait for must not depend on how long that took.
fn in_round_numbers(left: u64) -> u64 {
    let mut grain = GRAIN;
    while left / grain >= 100 {
        grain *= 10;
    }
    left.next_multiple_of(grain)
}

fn nanoseconds(time: libc::timespec) -> u64 {
    (time.tv_sec.max(0) as u64).saturating_mul(1_000_000_000).saturating_add(time.tv_nsec.max(0) as u64)
}

fn read(clock: libc::clockid_t) -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: fills the structure.
    unsafe { libc::clock_gettime(clock, &mut time) };
    nanoseconds(time)
}

pub fn now() -> u64 {
    read(libc::CLOCK_MONOTONIC)
}

impl State {
    /// Waits whose time has come are over.
    pub fn end_waits(&mut self) {
        if self.clock < self.earliest_deadline {
            return;
        }
        let mut earliest = NEVER;
        for seat in &mut self.seats[1..self.end] {
            if seat.standing != Standing::Waiting {
                continue;
            }
            if seat.deadline <= self.clock {
                seat.timed_out = true;
                seat.standing = Standing::Ready;
            } else {
                earliest = earliest.min(seat.deadline);
            }
        }
        self.earliest_deadline = earliest;
    }

    /// Waits whose time is over by the system's clock are over. False if there are none.
    pub fn end_waits_that_are_over(&mut self, now: u64) -> bool {
        let over = |seat: &&mut Seat| seat.standing == Standing::Waiting && seat.real_deadline <= now;
        let mut any = false;
        for seat in self.seats[1..self.end].iter_mut().filter(over) {
            (seat.timed_out, seat.standing, any) = (true, Standing::Ready, true);
        }
        any
    }

    /// Nobody can run: the time until the first deadline passes. False if there is none.
    pub fn jump_to_deadline(&mut self) -> bool {
        self.jump_up_to(NEVER - 1)
    }

    /// The same where somebody could run that is held back: false too if that would take too long.
    pub fn jump_to_near_deadline(&mut self) -> bool {
        self.jump_up_to(self.clock.saturating_add(NEAR))
    }

    /// Would one rather wait for this deadline than let somebody run that is held back?
    pub fn is_near(&self, deadline: u64) -> bool {
        deadline <= self.clock.saturating_add(NEAR)
    }

    fn jump_up_to(&mut self, last: u64) -> bool {
        let waiting = self.seats[1..self.end].iter().filter(|seat| seat.standing == Standing::Waiting);
        let first = waiting.map(|seat| seat.deadline).min().unwrap_or(NEVER);
        if first <= last {
            self.clock = self.clock.max(first);
            self.earliest_deadline = 0;
            self.end_waits();
        }
        first <= last
    }
}

/// The rest of the real time that a wait should have taken.
pub unsafe fn sleep_off(thread: &mut Thread, deadline: &Deadline) {
    let left = deadline.real.saturating_sub(now());
    if left == 0 || SKIP_SLEEPS.load(Ordering::Relaxed) {
        return;
    }
    let _errno = errno::keep();
    note_sleep(thread, Some(deadline.real));
    (*thread.tls).busy = 0;
    kernel::sleep(left);
    (*thread.tls).busy = 1;
    note_sleep(thread, None);
}

/// Notes until when the thread sleeps. If all others wait for one another, nothing happens until then.
unsafe fn note_sleep(thread: &Thread, until: Option<u64>) {
    let Some(mut state) = lock() else { return };
    let own = thread.seat as usize;
    state.seats[own].sleeps = until.is_some();
    let header = mapping::header();
    (*header).standstill_until = until.unwrap_or(0);
    let stands_still = until.is_some_and(|until| state.others_wait(own, until));
    (*header).standstill = if stands_still { u64::from(POINTS.load(Ordering::Relaxed)) + 1 } else { 0 };
}

/// A sleep of the target's. False if it has to be slept in the usual way.
pub unsafe fn sleep(deadline: Deadline) -> bool {
    if !super::is_on() {
        return false;
    }
    waiting::test_cancellation();
    let Some(thread) = seated() else { return false };
    let timed_out = waiting::wait(thread, 0, Some(deadline));
    thread::leave(thread);
    waiting::test_cancellation();
    // A thread that control let go has not slept yet.
    timed_out
}
