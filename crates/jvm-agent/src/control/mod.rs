//! Lets one thread run at a time between hooks, so that the order in which hooks are called is the order in which
//! accesses happen. Who runs next is the [`policy`]'s choice, from the run's seed.
//!
//! The thread that runs holds the *token*. It may lose it at *points*: before accesses to what other threads use too,
//! and around synchronization. Waits are known beforehand, so that the token never goes to a thread that would only
//! wait on: whoever finds a monitor taken stays in the virtual machine's own event until its holder has left it;
//! parked, waiting and starting threads are expected back by those who wake them, before anybody is chosen.
//! So the same seed makes the same run of a program that is nondeterministic in nothing but its schedule.
//!
//! - [`clock`]: sleeps and time-outs.
//! - [`state`]: what is known about each thread and monitor, under one lock.
//! - [`replay`]: the schedule of an earlier run, followed; [`progress`]: how far a thread has come, whatever others did.
//! - [`trial`]: an interleaving that the run is to bring about or to avoid.
//! - [`watch`]: a thread that waits where nobody sees it (reading from a socket, waiting for a class to be
//!   initialized) loses the token within milliseconds.
//!
//! Invariant: control only ever delays a thread.

mod clock;
mod operation;
mod policy;
mod progress;
mod replay;
mod state;
mod trial;
mod waits;
mod watch;

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use recording::{Decision, ENV_SCHEDULE, Noise, RunPlan, Schedule};

pub use self::operation::{Marks, Operation, Variable, What};
use self::policy::Random;
use self::progress::Progress;
use self::replay::Replay;
pub use self::state::Predecessor;
use self::state::{Newcomer, Standing, State};
use crate::memory::desk::Desk;

/// How long threads wait at most for one that was started or woken to arrive; longer where a run is to be repeatable
/// on a busy machine.
const ARRIVAL_WAIT: Duration = Duration::from_millis(20);
const ARRIVAL_WAIT_CONTROLLED: Duration = Duration::from_millis(500);
/// Longer time-outs are not waited for.
const LONGEST_TIME_OUT: Duration = Duration::from_millis(50);
/// Hooks that a thread may pass before another one gets a chance, however little happens at them: it may be waiting
/// in a loop for what another one does.
const SHARE: u32 = 2_000;
/// A thread's part in the scheduling; touched by that thread alone.
pub struct Seat {
    id: u32,
    called: Arc<Condvar>,
    /// Has the hooks left before somebody else gets a chance.
    desk: &'static Desk,
    /// What it has given to others since its last point: a lock, or something that it has put where they find it.
    gave_back: Option<Operation>,
    /// Was its last point before an access?
    has_accessed: bool,
    /// How far it has come.
    progress: u32,
}

impl Seat {
    /// Has its thread accessed something since its last point?
    pub fn has_accessed(&self) -> bool {
        self.has_accessed
    }

    /// Has its thread given others something since its last point?
    pub fn has_given_back(&self) -> bool {
        self.gave_back.is_some()
    }
}

/// The scheduler of one process.
pub struct Scheduler {
    state: Mutex<State>,
    /// Tells those who expect a thread that one has arrived.
    arrived: Condvar,
    /// The thread that has the token, zero if nobody.
    running: AtomicU32,
    /// Counts hooks of whoever runs.
    progress: AtomicU64,
    free: AtomicBool,
    /// Is the schedule of an earlier run followed?
    follows: AtomicBool,
    /// Whether it counts how far threads have come.
    counting: Progress,
    /// What chance begins with: as long as another run is followed, that one's seed.
    seed: AtomicU64,
    plan: RunPlan,
}

impl Scheduler {
    /// Decides as the plan says.
    pub fn new(plan: &RunPlan) -> Scheduler {
        Scheduler {
            state: Mutex::new(State::new(plan)),
            arrived: Condvar::new(),
            running: AtomicU32::new(0),
            progress: AtomicU64::new(0),
            free: AtomicBool::new(false),
            follows: AtomicBool::new(false),
            counting: Progress::default(),
            seed: AtomicU64::new(plan.seed),
            plan: *plan,
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Is the order of events to be the same for the same seed?
    pub fn is_controlled(&self) -> bool {
        self.plan.schedule != Schedule::Free
    }

    /// Do threads lose the token only where they wait?
    fn is_quiet(&self) -> bool {
        self.plan.schedule == Schedule::Free && self.plan.noise == Noise::Off
    }

    /// The calling thread takes part from now on.
    pub fn seat(&self, id: u32, is_daemon: bool, desk: &'static Desk) -> Seat {
        let called = Arc::new(Condvar::new());
        // SAFETY: has no preconditions.
        let os_id = unsafe { libc::gettid() } as u32;
        self.lock().sit_down(Newcomer { id, os_id, is_daemon, desk }, Arc::clone(&called));
        desk.set_left(SHARE);
        // Every access is counted, so that none is noted without a call.
        desk.set_gave_back(self.counting.is_told());
        Seat { id, called, desk, gave_back: None, has_accessed: false, progress: 0 }
    }

    /// Where the hook class sees who has the token.
    pub fn running(&self) -> &AtomicU32 {
        &self.running
    }

    /// Points so far, and interleavings that came about.
    pub fn counts(&self) -> (u64, u64) {
        self.lock().counts()
    }

    /// The process begins to be recorded: if it is to follow the schedule of an earlier one, it takes that now.
    pub fn begins(&self) {
        if let Some(path) = std::env::var_os(ENV_SCHEDULE).filter(|_| self.is_controlled()) {
            let replay = Replay::take_part(Path::new(&path));
            self.follows.store(replay.follows(), Ordering::Relaxed);
            self.counting.begin(&replay);
            if replay.follows() {
                self.seed.store(replay.seed, Ordering::Relaxed);
            }
            self.lock().replay = replay;
        }
    }

    /// Is the schedule of an earlier run followed? Then points are where they were in that one.
    pub fn follows(&self) -> bool {
        self.follows.load(Ordering::Relaxed)
    }

    /// Chance for the calling thread, the same for each number as long as the same run is followed.
    pub fn chance(&self, seat: &Seat, number: u64) -> Random {
        let of_thread = u64::from(seat.id) << 32;
        Random::with_seed(self.seed.load(Ordering::Relaxed) ^ of_thread ^ number)
    }

    /// Who had the token before the calling thread, and at which of its stops it lost it.
    pub fn predecessor(&self) -> Predecessor {
        self.lock().predecessor
    }

    /// Choices between threads that were made since this was asked last, if later runs are to make others.
    pub fn take_decisions(&self) -> Vec<Decision> {
        if self.plan.schedule == Schedule::Bounded { self.lock().take_decisions() } else { Vec::new() }
    }

    /// The calling thread is at a hook: waits for the token if it does not have it. True if others ran meanwhile.
    pub fn arrive(&self, seat: &mut Seat) -> bool {
        if self.running.load(Ordering::Acquire) == seat.id {
            self.progress.fetch_add(1, Ordering::Relaxed);
            if let Some(given) = seat.gave_back
                && !self.is_quiet()
            {
                return self.take_turn(seat, Standing::Ready, given, false);
            }
            let left = seat.desk.left();
            if left > 0 {
                seat.desk.set_left(left - 1);
                return false;
            }
            return self.take_turn(seat, Standing::Ready, Operation::NONE, true);
        }
        self.take_turn(seat, Standing::Ready, Operation::NONE, false)
    }

    /// A point: the calling thread, which has the token, goes on or another one runs first. True if others ran.
    pub fn point(&self, seat: &mut Seat, operation: Operation) -> bool {
        !self.is_quiet() && self.take_turn(seat, Standing::Ready, operation, false)
    }

    /// The calling thread has done this, or begins to wait in the midst of it: the plan's steps that is are done. Gives
    /// how far the run has come if the plan's interleaving came about by that.
    pub fn did(&self, seat: &Seat, operation: Operation, waits: bool) -> Option<(u64, u64)> {
        self.lock().did(seat.id, operation, waits)
    }

    /// The calling thread has taken the lock under which it may do steps of the plan.
    pub fn took_guard(&self, seat: &Seat, operation: Operation) {
        self.lock().took_guard(seat.id, operation);
    }

    /// The calling thread has nothing to do: whoever else can run goes first.
    pub fn yields(&self, seat: &mut Seat) -> bool {
        self.take_turn(seat, Standing::Ready, Operation::NONE, true)
    }

    fn set_gave_back(&self, seat: &mut Seat, given: Option<Operation>) {
        seat.gave_back = given;
        seat.desk.set_gave_back(given.is_some() && !self.is_quiet() || self.counting.is_told());
    }

    /// The calling thread puts something where others find it: the next hook is a point, whatever it is about.
    pub fn publishes(&self, seat: &mut Seat, operation: Operation) {
        self.set_gave_back(seat, Some(operation));
    }

    fn take_turn(&self, seat: &mut Seat, standing: Standing, operation: Operation, passes: bool) -> bool {
        if self.free.load(Ordering::Relaxed) {
            return false;
        }
        let mut state = self.lock();
        let ran_last = state.ran_last(seat.id);
        state.settle(seat.id);
        let is_at_point = standing == Standing::Ready && self.holder() == seat.id;
        self.note(&mut state, seat, is_at_point);
        self.set_gave_back(seat, None);
        seat.has_accessed = operation.is_access;
        seat.desk.set_left(SHARE);
        if state.arrive(seat.id, standing, operation) {
            self.arrived.notify_all();
        }
        if matches!(self.holder(), 0) || self.holder() == seat.id {
            state = self.await_expected(state);
            // While it waited, the watchdog may have found that somebody else could run.
            if matches!(self.holder(), 0) || self.holder() == seat.id {
                if passes {
                    state.pass(seat.id);
                }
                self.give(&mut state, seat.id, passes);
            }
        }
        let stays = self.holder() == seat.id;
        while self.holder() != seat.id && !self.free.load(Ordering::Relaxed) {
            state = seat.called.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.goes_on(seat.id);
        !(stays && ran_last)
    }

    fn holder(&self) -> u32 {
        self.running.load(Ordering::Relaxed)
    }

    /// Passes the token on. `own` is the calling thread, which need not be able to run.
    fn give(&self, state: &mut State, own: u32, passes: bool) {
        let next = state.choose(own, passes);
        self.counting.expect(&state.replay);
        if self.follows() && !state.replay.follows() {
            self.follows.store(false, Ordering::Relaxed);
            self.seed.store(self.plan.seed, Ordering::Relaxed);
        }
        self.running.store(next, Ordering::Release);
        if next != own {
            state.call(next);
        }
    }

    /// Waits for threads that were started or woken and are on their way.
    fn await_expected<'a>(&'a self, mut state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        let begin = Instant::now();
        state.watched.awaits_arrivals = true;
        while state.is_anybody_expected() && !self.free.load(Ordering::Relaxed) {
            let most = match self.is_controlled() {
                _ if state.is_by_the_clock() => LONGEST_TIME_OUT,
                true => ARRIVAL_WAIT_CONTROLLED,
                false => ARRIVAL_WAIT,
            };
            let left = most.saturating_sub(begin.elapsed());
            if left.is_zero() {
                state.expect_no_more();
                continue;
            }
            state = match self.arrived.wait_timeout(state, left) {
                Ok((state, _)) => state,
                Err(poisoned) => poisoned.into_inner().0,
            };
        }
        state.watched.awaits_arrivals = false;
        state
    }

    /// The calling thread is about to wait for something else than the token. `then` knows whom that wakes.
    fn leave(&self, seat: &mut Seat, standing: Standing, then: impl FnOnce(&mut State)) {
        let mut state = self.lock();
        state.settle(seat.id);
        self.note(&mut state, seat, false);
        self.set_gave_back(seat, None);
        if self.holder() == seat.id {
            state = self.await_expected(state);
        }
        state.finish(seat.id, Operation::NONE);
        state.stand(seat.id, standing);
        then(&mut state);
        if self.holder() == seat.id {
            self.give(&mut state, seat.id, false);
        }
    }

    /// The calling thread is about to wait where nobody can tell for how long.
    pub fn leaves(&self, seat: &mut Seat) {
        self.leave(seat, Standing::Away, |_| {});
    }

    /// The calling thread is over. Those who wait to join it wait for its object.
    pub fn ends(&self, seat: &mut Seat, own_object: u64) {
        let id = seat.id;
        self.leave(seat, Standing::Away, |state| {
            state.notify(own_object, true);
            state.expect_notified(own_object);
            state.stand_up(id);
        });
    }

    /// A thread of Java has come that takes no part, or one of them is gone or takes part now.
    pub fn stranger(&self, has_come: bool) {
        let mut state = self.lock();
        state.strangers = if has_come { state.strangers + 1 } else { state.strangers.saturating_sub(1) };
    }

    /// The calling thread is about to end by an exception that nobody has caught.
    pub fn dies(&self) {
        self.lock().has_anybody_died = true;
    }

    /// A thread is about to be started.
    pub fn starts(&self, id: u32, object: u64) {
        self.lock().announce(id, object);
    }

    /// The calling thread has entered a monitor.
    pub fn entered(&self, seat: &Seat, monitor: u64) {
        self.lock().enter(seat.id, monitor, 1);
    }

    /// The calling thread is about to leave a monitor, which is a point if others know it.
    pub fn leaves_monitor(&self, seat: &mut Seat, monitor: u64, is_known: bool) {
        let given = is_known.then(|| Operation::about(monitor)).or(seat.gave_back);
        self.set_gave_back(seat, given);
        self.lock().will_exit(seat.id, monitor);
    }

    /// The calling thread is about to take a lock of the library.
    pub fn wants_lock(&self, seat: &Seat, lock: u64) {
        self.lock().locks.wants(seat.id, lock);
    }

    /// The calling thread has taken a lock of the library; nobody else has it unless it is shared.
    pub fn took_lock(&self, seat: &Seat, lock: u64, is_shared: bool) {
        self.lock().locks.took(seat.id, lock, is_shared);
    }

    /// The calling thread gives a lock of the library back, which is a point if its own code does that.
    pub fn gives_back(&self, seat: &mut Seat, lock: u64, is_point: bool) {
        self.lock().locks.gave_back(seat.id, lock);
        if is_point {
            self.set_gave_back(seat, Some(Operation::about(lock)));
        }
    }

    /// From here on, nobody waits for anybody.
    pub fn set_free(&self) {
        let state = self.lock();
        self.free.store(true, Ordering::Relaxed);
        state.call_all();
        self.arrived.notify_all();
    }
}
