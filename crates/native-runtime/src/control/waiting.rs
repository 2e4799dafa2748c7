//! Waiting for one another. What would block becomes an attempt; where it fails the thread waits without the token,
//! and tries again when somebody has given back what it waits for. The object itself stays the truth: who gets a
//! lock is decided by the attempts, and locks that the recorder has not seen change are respected all the same.

use core::ffi::c_int;
use core::sync::atomic::Ordering;

use super::clock::{self, Deadline};
use super::seats::{HOLDER, NEVER, Seat, Standing, State, lock};
use super::{is_on, seated, token};
use crate::thread::{self, Thread};
use crate::{kernel, mapping};

/// The wait took too long.
pub struct TimedOut;

unsafe extern "C" {
    fn pthread_testcancel();
}

/// Where POSIX lets a thread end that was asked to.
pub unsafe fn test_cancellation() {
    pthread_testcancel();
}

/// A wait for an object.
#[derive(Clone, Copy)]
pub struct Wait {
    pub object: usize,
    pub deadline: Option<Deadline>,
    pub can_be_cancelled: bool,
    /// Once one thread has it, no other can.
    pub is_exclusive: bool,
    /// Signal handlers may give it back.
    pub ends_by_signal: bool,
}

/// Repeats `attempt`, which is none as long as it cannot be done. Outside of controlled runs, `block` is all.
pub unsafe fn until(
    wait_for: Wait,
    mut attempt: impl FnMut() -> Option<c_int>,
    block: impl FnOnce() -> c_int,
) -> Result<c_int, TimedOut> {
    if !is_on() {
        return Ok(block());
    }
    loop {
        if wait_for.can_be_cancelled {
            test_cancellation();
        }
        if let Some(result) = attempt() {
            if wait_for.is_exclusive {
                with_state(|state| state.taken(wait_for.object));
            }
            return Ok(result);
        }
        let Some(thread) = seated() else { return Ok(block()) };
        enlist(thread, wait_for.object);
        if wait_for.ends_by_signal {
            with_own_seat(thread, |seat| seat.ends_by_signal = true);
        }
        let timed_out = wait_enlisted(thread, wait_for.deadline);
        thread::leave(thread);
        if timed_out {
            return Err(TimedOut);
        }
    }
}

/// Waits until somebody wakes the waiters of this object, or for no reason. True if the time is over.
pub unsafe fn wait(thread: &mut Thread, object: usize, deadline: Option<Deadline>) -> bool {
    enlist(thread, object);
    wait_enlisted(thread, deadline)
}

/// From here on, whoever wakes waiters of this object wakes this thread too.
unsafe fn enlist(thread: &Thread, object: usize) {
    if let Some(mut state) = lock() {
        state.arrivals += 1;
        let arrival = state.arrivals;
        let seat = &mut state.seats[thread.seat as usize];
        seat.waits_for = object;
        seat.arrival = arrival;
        seat.woken = false;
        seat.timed_out = false;
        seat.ends_by_signal = false;
    }
}

unsafe fn with_own_seat(thread: &Thread, change: impl FnOnce(&mut Seat)) {
    if let Some(mut state) = lock() {
        change(&mut state.seats[thread.seat as usize]);
    }
}

unsafe fn wait_enlisted(thread: &mut Thread, deadline: Option<Deadline>) -> bool {
    let own = thread.seat as usize;
    {
        let Some(mut state) = lock() else { return false };
        if state.seats[own].woken {
            state.seats[own].waits_for = 0;
            return false;
        }
        let logical = deadline.map_or(NEVER, |deadline| deadline.logical(&state));
        state.earliest_deadline = state.earliest_deadline.min(logical);
        let seat = &mut state.seats[own];
        seat.progress = thread.progress;
        seat.is_at_point = false;
        seat.deadline = logical;
        seat.real_deadline = deadline.map_or(NEVER, |deadline| deadline.real);
        seat.standing = Standing::Waiting;
        seat.stretch = 0;
        // Trying again for no reason is no stop of its own, since it depends on time how often that happens.
        if !core::mem::take(&mut seat.helped_itself) {
            seat.stops += 1;
        }
        let (operation, locks) = (seat.operation, seat.locks);
        if let Some(trial) = state.begun_trial() {
            trial.waits(own, operation, &locks);
        }
        (*mapping::header()).interleavings = state.trial.come_about();
        let holder = HOLDER.load(Ordering::Relaxed) as usize;
        if holder == own || holder == 0 {
            let next = state.choose(None, false);
            token::give(&mut state, next, own);
        }
    }
    token::park(thread);
    let timed_out = match lock() {
        Some(mut state) => {
            let seat = &mut state.seats[own];
            seat.waits_for = 0;
            seat.timed_out && !seat.woken
        }
        None => false,
    };
    if let Some(deadline) = deadline.filter(|_| timed_out) {
        clock::sleep_off(thread, &deadline);
    }
    timed_out
}

impl State {
    /// All waiters of an object can try again.
    pub fn wake(&mut self, object: usize) {
        for seat in &mut self.seats[1..self.end] {
            if object != 0 && seat.standing != Standing::Empty && seat.waits_for == object {
                seat.woken = true;
                if seat.standing == Standing::Waiting {
                    seat.standing = Standing::Ready;
                }
            }
        }
    }

    /// Those who could have tried again need not: another thread was faster.
    fn taken(&mut self, object: usize) {
        for seat in &mut self.seats[1..self.end] {
            if seat.standing == Standing::Ready && seat.waits_for == object && seat.woken {
                seat.woken = false;
                seat.standing = Standing::Waiting;
            }
        }
    }

    /// The waiter of an object that came first, if any.
    fn wake_first(&mut self, object: usize) -> bool {
        let waiters = self.seats[1..self.end].iter_mut().filter(|seat| {
            seat.standing != Standing::Empty && seat.waits_for == object && !seat.woken && !seat.timed_out
        });
        let Some(first) = waiters.min_by_key(|seat| seat.arrival) else { return false };
        first.woken = true;
        if first.standing == Standing::Waiting {
            first.standing = Standing::Ready;
        }
        true
    }
}

/// An object was given back.
pub unsafe fn wake(object: usize) {
    with_state(|state| state.wake(object));
}

/// Does something to the state, also on behalf of a thread that is not controlled.
unsafe fn with_state<T>(change: impl FnOnce(&mut State) -> T) -> Option<T> {
    if !is_on() || thread::is_inside() {
        return None;
    }
    let thread = thread::enter()?;
    let result = lock().map(|mut state| change(&mut state));
    thread::leave(thread);
    result
}

/// Waits on a condition: `unlock` and `relock` are for its mutex. None if the thread is not controlled.
pub unsafe fn condition_wait(
    condition: usize,
    mutex: usize,
    deadline: Option<Deadline>,
    unlock: impl Fn() -> c_int,
    relock: impl Fn() -> c_int,
) -> Option<c_int> {
    let thread = seated()?;
    enlist(thread, condition);
    thread::leave(thread);
    let refused = unlock();
    if refused != 0 {
        return Some(refused);
    }
    wake(mutex);
    let timed_out = loop {
        let Some(thread) = seated() else { break false };
        let timed_out = wait_enlisted(thread, deadline);
        let (woken, cancelled) = match lock() {
            Some(state) => {
                let seat = &state.seats[thread.seat as usize];
                (seat.woken, seat.cancelled)
            }
            None => (true, false),
        };
        if !woken && !timed_out && !cancelled {
            enlist(thread, condition);
        }
        thread::leave(thread);
        if cancelled {
            // Cleanup handlers count on the mutex.
            relock();
            test_cancellation();
            return Some(0);
        }
        if woken || timed_out {
            break timed_out;
        }
    };
    relock();
    Some(if timed_out { libc::ETIMEDOUT } else { 0 })
}

/// Wakes waiters of a condition.
pub unsafe fn condition_wake(condition: usize, all: bool) {
    with_state(|state| {
        if all {
            state.wake(condition);
        } else {
            state.wake_first(condition);
        }
    });
}

/// What a thread that joins this one waits for: no address of the target's.
pub fn thread_object(id: u32) -> usize {
    usize::MAX - id as usize
}

/// Waits until a thread has ended, so that joining it does not block.
pub unsafe fn join(id: u32, deadline: Option<Deadline>) -> Result<(), TimedOut> {
    let is_over = || (id == 0 || lock().is_none_or(|state| state.of_thread(id) == 0)).then_some(0);
    let wait_for = Wait {
        object: thread_object(id),
        deadline,
        can_be_cancelled: true,
        is_exclusive: false,
        ends_by_signal: false,
    };
    until(wait_for, is_over, || 0).map(|_| ())
}

/// Waits on a word as the kernel's futex does. None if the thread is not controlled.
pub unsafe fn futex_wait(word: usize, expected: u32, deadline: Option<Deadline>) -> Option<c_int> {
    let thread = seated()?;
    enlist(thread, word);
    // With the token in hand nobody changes it in between.
    let result = if (word as *const u32).read_volatile() != expected {
        // Or the next to be woken would be a thread that does not wait, in the place of one that does.
        with_own_seat(thread, |seat| seat.waits_for = 0);
        libc::EAGAIN
    } else if wait_enlisted(thread, deadline) {
        libc::ETIMEDOUT
    } else {
        0
    };
    thread::leave(thread);
    Some(result)
}

/// Wakes so many of the threads that wait on a word, and says how many.
pub unsafe fn futex_wake(word: usize, most: u32) -> u32 {
    let count = |state: &mut State| (0..most).take_while(|_| state.wake_first(word)).count();
    with_state(count).unwrap_or(0) as u32
}

/// Barriers that the program has made, with how many threads they wait for.
pub struct Barriers([Barrier; Barriers::ROOM]);

#[derive(Clone, Copy)]
struct Barrier {
    address: usize,
    count: u32,
    arrived: u32,
    round: u32,
}

impl Barriers {
    const ROOM: usize = 256;

    pub const fn new() -> Barriers {
        Barriers([Barrier { address: 0, count: 0, arrived: 0, round: 0 }; Barriers::ROOM])
    }

    fn find(&mut self, address: usize) -> Option<&mut Barrier> {
        self.0.iter_mut().find(|barrier| barrier.address == address)
    }
}

/// A barrier for so many threads was made, or, for none, is no more.
pub unsafe fn barrier_of(address: usize, count: u32) {
    with_state(|state| {
        let known = state.barriers.find(address).is_some();
        if let Some(barrier) = state.barriers.find(if known { address } else { 0 }) {
            *barrier = Barrier { address: if count == 0 { 0 } else { address }, count, arrived: 0, round: 0 };
        }
    });
}

/// Waits at a barrier. None if it is not known.
pub unsafe fn barrier_wait(address: usize) -> Option<c_int> {
    let (round, is_last) = with_state(|state| {
        let barrier = state.barriers.find(address)?;
        barrier.arrived += 1;
        let round = barrier.round;
        let is_last = barrier.arrived == barrier.count;
        if is_last {
            barrier.arrived = 0;
            barrier.round += 1;
            state.wake(address);
        }
        Some((round, is_last))
    })??;
    while !is_last && is_on() && !with_state(|state| state.is_past(address, round)).unwrap_or(true) {
        match seated() {
            Some(thread) => {
                wait(thread, address, None);
                thread::leave(thread);
            }
            None => kernel::sleep(A_WHILE),
        }
    }
    Some(if is_last { libc::PTHREAD_BARRIER_SERIAL_THREAD } else { 0 })
}

/// How often a thread without a seat looks again.
const A_WHILE: u64 = 1_000_000;

impl State {
    fn is_past(&mut self, address: usize, round: u32) -> bool {
        self.barriers.find(address).is_none_or(|barrier| barrier.round != round)
    }
}
