//! The token: who has it, who gets it next, and threads' coming and going.

use core::sync::atomic::Ordering;

use recording::{Event, EventKind, Switch, flag};

use super::seats::{BELLS, HOLDER, Locked, POINTS, Standing, State, lock};
use super::waiting::thread_object;
use super::{Operation, debugger, progress, seated, watch};
use crate::thread::Thread;
use crate::{errno, kernel, log, mapping, sync, thread, tls};

/// A scheduling point: the policy decides whether this thread goes on or another one runs first.
pub unsafe fn point(thread: &mut Thread, operation: Operation) {
    pass(thread, operation, false);
}

/// The thread says that it has nothing to do: whoever else can run goes first. True if nobody else of this process can, so that it may be another
/// one that it waits for.
pub unsafe fn yielded() -> bool {
    let Some(thread) = seated() else { return true };
    let operation = Operation { address: 0, size: 0, site: 0, ..own_operation(thread) };
    pass(thread, operation, true);
    thread.progress += 1;
    let is_alone = lock().is_none_or(|state| !state.any(Standing::Ready));
    thread::leave(thread);
    is_alone
}

unsafe fn own_operation(thread: &Thread) -> Operation {
    match lock() {
        Some(state) => state.seats[thread.seat as usize].operation,
        None => {
            Operation { kind: crate::cells::Kind::Update, address: 0, size: 0, leaf: 0, site: 0, caller: 0 }
        }
    }
}

unsafe fn pass(thread: &mut Thread, operation: Operation, passes_on: bool) {
    let own = thread.seat as usize;
    if own == 0 {
        return;
    }
    let points = POINTS.fetch_add(1, Ordering::Relaxed) + 1;
    (*mapping::header()).points = u64::from(points);
    {
        let Some(mut state) = lock() else { return };
        state.seats[own].progress = thread.progress;
        let passes_on = state.arrive(own, operation, &sync::outermost_held(thread), passes_on);
        (*mapping::header()).interleavings = state.trial.come_about();
        let holder = HOLDER.load(Ordering::Relaxed) as usize;
        if holder == own || holder == 0 {
            let next = state.choose(Some(own), passes_on);
            (*mapping::header()).held += u64::from(state.holds_back);
            give(&mut state, next, own);
            if next == own && state.seats[own].handed.is_none() {
                return;
            }
        }
    }
    park(thread);
}

/// Passes the token to a seat, or to nobody. `own` is the caller's seat.
pub unsafe fn give(state: &mut Locked, next: usize, own: usize) {
    let holder = HOLDER.load(Ordering::Relaxed) as usize;
    if next == 0 {
        if state.stands_still() {
            let header = mapping::header();
            (*header).standstill_until = if state.may_be_raised() { u64::MAX } else { 0 };
            (*header).standstill = u64::from(POINTS.load(Ordering::Relaxed)) + 1;
        }
    } else {
        state.seats[next].standing = Standing::Running;
        let operation = state.seats[next].operation;
        if let Some(trial) = state.begun_trial() {
            trial.goes_on(next, operation);
        }
        (*mapping::header()).interleavings = state.trial.come_about();
        if next != holder {
            state.seats[next].handed = Some(state.handing_over(holder, next));
        }
    }
    HOLDER.store(next as u32, Ordering::Release);
    if next != 0 && next != own {
        BELLS[next].fetch_add(1, Ordering::Release);
        state.rings_for = next;
    }
}

impl State {
    /// What there is to record when the token goes from one seat to another.
    fn handing_over(&self, from: usize, to: usize) -> Switch {
        let (giver, taker) = (&self.seats[from], &self.seats[to]);
        // One that is away does not stop: it will be parked at its next one.
        let is_away = giver.standing == Standing::Away;
        let by_time = if taker.timed_out && !taker.woken { flag::BY_TIME } else { 0 };
        let away = if is_away { flag::AWAY } else { 0 };
        let number = if progress::is_told() { giver.progress } else { giver.stops };
        Switch {
            to: taker.thread,
            from: giver.thread,
            stop: number + u32::from(is_away),
            flags: u32::from(by_time | away),
        }
    }
}

/// Wakes all that are parked, to see that control is over.
pub unsafe fn ring_all() {
    for bell in &BELLS {
        bell.fetch_add(1, Ordering::Release);
        kernel::wake(bell.as_ptr(), 1);
    }
}

/// Waits for the token, if this thread does not have it, and records that it goes on.
pub unsafe fn park(thread: &mut Thread) {
    let own = thread.seat as usize;
    if HOLDER.load(Ordering::Acquire) as usize != own {
        let _errno = errno::keep();
        // A signal handler that runs now is the target's own business: it asks for the token itself if need be.
        (*thread.tls).busy = 0;
        watch::until_given(own);
        (*thread.tls).busy = 1;
    }
    let Some(mut state) = lock() else { return };
    let leaf = state.seats[own].operation.leaf;
    let handed = state.seats[own].handed.take();
    drop(state);
    if let Some(switch) = handed {
        record_switch(thread, leaf, switch);
        debugger::handed(thread);
    }
}

unsafe fn record_switch(thread: &mut Thread, leaf: u32, switch: Switch) {
    if log::over_budget() {
        return;
    }
    let tick = log::next_tick();
    thread.set_tick(tick);
    log::emit(
        thread,
        Event {
            kind: EventKind::Switch as u8,
            flags: switch.flags as u8,
            size: 0,
            reserved: 0,
            leaf,
            tick,
            object: switch.stop,
            other: switch.from,
            value: u64::from(POINTS.load(Ordering::Relaxed)),
        },
    );
}

/// Records that a new thread runs for the first time.
pub unsafe fn begun(thread: &mut Thread) {
    if thread.seat != 0 {
        let handed = lock().and_then(|mut state| state.seats[thread.seat as usize].handed.take());
        record_switch(thread, 0, handed.unwrap_or_default());
        debugger::handed(thread);
    }
}

/// A thread is about to be created. It can run from now on, though it may take a while until it gets there.
pub unsafe fn announce(id: u32) {
    if super::is_on()
        && let Some(mut state) = lock()
    {
        state.take(id);
    }
}

/// It was not created after all.
pub unsafe fn abandon(id: u32) {
    if super::is_on()
        && let Some(mut state) = lock()
    {
        let seat = state.of_thread(id);
        state.seats[seat].standing = Standing::Empty;
    }
}

/// The first thing that a new thread does: it waits for the token before anything of it is recorded.
pub unsafe fn begin(id: u32) {
    if !super::is_on() {
        return;
    }
    let tls = tls::current();
    let was_busy = core::mem::replace(&mut (*tls).busy, 1);
    let seat = sit_down(id, false);
    if seat != 0 {
        watch::until_given(seat);
    }
    (*tls).busy = was_busy;
}

/// The seat of a thread that is being attached, zero if it is not controlled. One that nobody saw start waits here
/// for the token.
pub unsafe fn attach(id: u32) -> u32 {
    if !super::is_on() {
        return 0;
    }
    let seat = sit_down(id, true);
    if seat != 0 {
        watch::until_given(seat);
    }
    seat as u32
}

unsafe fn sit_down(id: u32, unannounced: bool) -> usize {
    let Some(mut state) = lock() else { return 0 };
    let mut own = state.of_thread(id);
    if own == 0 && unannounced {
        own = state.take(id);
    }
    if own != 0 {
        state.seats[own].os_id = kernel::thread_id();
        if HOLDER.load(Ordering::Relaxed) == 0 {
            let next = state.choose(Some(own), false);
            give(&mut state, next, own);
        }
    }
    own
}

/// The thread is done: its hooks will do nothing any more.
pub unsafe fn ended(thread: &mut Thread) {
    let own = core::mem::replace(&mut thread.seat, 0) as usize;
    if own != 0
        && let Some(mut state) = lock()
    {
        state.seats[own].progress = thread.progress;
        vacate(&mut state, own);
        if HOLDER.load(Ordering::Relaxed) as usize == own {
            let next = state.choose(None, false);
            give(&mut state, next, own);
        }
    }
}

/// Whoever waits for the thread of this seat has waited long enough.
pub unsafe fn vacate(state: &mut Locked, seat: usize) {
    let object = thread_object(state.seats[seat].thread);
    let (last, locks) = (state.seats[seat].operation, state.seats[seat].locks);
    state.seats[seat].stops += 1;
    state.seats[seat].progress += 1;
    state.seats[seat].standing = Standing::Empty;
    state.done(seat, last, &locks);
    state.trial.left(seat);
    state.wake(object);
}

/// A thread is asked to end: if it waits where that is possible, it must find out.
pub unsafe fn cancelled(id: u32) {
    if let Some(thread) = seated() {
        if let Some(mut state) = lock() {
            let seat = state.of_thread(id);
            state.seats[seat].cancelled = true;
            if state.seats[seat].standing == Standing::Waiting {
                state.seats[seat].standing = Standing::Ready;
            }
        }
        thread::leave(thread);
    }
}
