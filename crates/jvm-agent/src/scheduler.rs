//! Lets one thread run at a time between hooks, so that the order in which hooks are called is the order in which
//! accesses happen. Who runs next, and for how many hooks, is drawn from the run's seed.
//!
//! Only threads that have run code under test take part. One that is about to wait gives the turn away first; where
//! that cannot be seen (reading from a socket, waiting for a class to be initialized), a watchdog notices that the
//! operating system has put the running thread to sleep, and lets another one go on.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use recording::Noise;
use rustc_hash::FxHashMap;

/// How long threads wait at most for one that was started or woken to arrive.
const ARRIVAL_WAIT: Duration = Duration::from_millis(10);
/// How often the watchdog looks. A thread found asleep twice in a row, with no hook in between, is taken to wait.
const WATCH_EVERY: Duration = Duration::from_millis(2);

/// A thread's part in the scheduling; touched by that thread alone.
pub struct Seat {
    id: u32,
    os_id: u32,
    called: Arc<Condvar>,
    /// Hooks left before somebody else may run.
    left: u32,
}

struct Waiting {
    id: u32,
    os_id: u32,
    called: Arc<Condvar>,
}

struct State {
    waiting: Vec<Waiting>,
    /// Threads that wait for something else than their turn, and what for.
    away: FxHashMap<u32, u64>,
    /// The running thread has not noticed yet that it is its turn.
    is_called: bool,
    /// The operating system's id of the running thread.
    running_os_id: u32,
    random: u64,
}

/// The scheduler of one process.
pub struct Scheduler {
    state: Mutex<State>,
    /// Tells those who expect a new thread that one has arrived.
    arrived: Condvar,
    /// The thread whose turn it is, zero if nobody's.
    running: AtomicU32,
    /// Threads that were started or woken and have not arrived.
    expected: AtomicU32,
    /// Counts hooks of whoever runs.
    progress: AtomicU64,
    free: AtomicBool,
    noise: Noise,
}

impl Scheduler {
    /// Draws from this seed.
    pub fn new(seed: u64, noise: Noise) -> Scheduler {
        let state = State {
            waiting: Vec::new(),
            away: FxHashMap::default(),
            is_called: false,
            running_os_id: 0,
            random: seed,
        };
        Scheduler {
            state: Mutex::new(state),
            arrived: Condvar::new(),
            running: AtomicU32::new(0),
            expected: AtomicU32::new(0),
            progress: AtomicU64::new(0),
            free: AtomicBool::new(false),
            noise,
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A seat for the calling thread.
    pub fn seat(&self, id: u32) -> Seat {
        // SAFETY: has no preconditions.
        let os_id = unsafe { libc::gettid() } as u32;
        self.arrive(&self.lock());
        Seat { id, os_id, called: Arc::new(Condvar::new()), left: 0 }
    }

    fn arrive(&self, _: &State) {
        let one_less = |expected: u32| Some(expected.saturating_sub(1));
        let _ = self.expected.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_less);
        self.arrived.notify_all();
    }

    /// The calling thread is at a hook: it waits for its turn, or gives it to another one if it had its share.
    pub fn pass(&self, seat: &mut Seat) {
        if self.running.load(Ordering::Acquire) == seat.id {
            self.progress.fetch_add(1, Ordering::Relaxed);
            if self.expected.load(Ordering::Relaxed) > 0 {
                self.await_arrival(seat);
            }
            if seat.left > 0 {
                seat.left -= 1;
                return;
            }
        }
        self.pass_slowly(seat);
    }

    fn pass_slowly(&self, seat: &mut Seat) {
        if self.free.load(Ordering::Relaxed) {
            return;
        }
        let mut state = self.lock();
        if state.away.remove(&seat.id).is_some() {
            self.arrive(&state);
        }
        let running = self.running.load(Ordering::Relaxed);
        if running == seat.id {
            if !state.waiting.is_empty() {
                self.give(&mut state);
                state = self.wait(state, seat);
            }
        } else if running == 0 {
            self.running.store(seat.id, Ordering::Release);
            state.running_os_id = seat.os_id;
        } else {
            state = self.wait(state, seat);
        }
        seat.left = self.share(&mut state);
    }

    /// Waits until it is the calling thread's turn.
    fn wait<'a>(&'a self, mut state: MutexGuard<'a, State>, seat: &Seat) -> MutexGuard<'a, State> {
        state.waiting.push(Waiting { id: seat.id, os_id: seat.os_id, called: Arc::clone(&seat.called) });
        while self.running.load(Ordering::Relaxed) != seat.id && !self.free.load(Ordering::Relaxed) {
            state = seat.called.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.is_called = false;
        state
    }

    /// Makes it another thread's turn, or nobody's.
    fn give(&self, state: &mut State) {
        if state.waiting.is_empty() {
            self.running.store(0, Ordering::Release);
            state.running_os_id = 0;
            return;
        }
        let chosen = (random(&mut state.random) % state.waiting.len() as u64) as usize;
        let next = state.waiting.swap_remove(chosen);
        self.running.store(next.id, Ordering::Release);
        state.running_os_id = next.os_id;
        state.is_called = true;
        next.called.notify_one();
    }

    /// The number of hooks that a thread may pass before another one is drawn, however little happens at them: a
    /// thread may be waiting in a loop for what another one does.
    fn share(&self, state: &mut State) -> u32 {
        let most = match self.noise {
            Noise::Off => return 5_000,
            Noise::Low => 4_000,
            Noise::Medium => 1_000,
            Noise::High => 300,
        };
        (random(&mut state.random) % most) as u32
    }

    /// The calling thread is about to do something that is told from outside: to access what another thread has
    /// changed, or to change what another one has seen. So are the moments after a lock was taken or given
    /// back. Failures hang on who comes first here, so now and then another thread is drawn.
    pub fn contest(&self, seat: &mut Seat) {
        let one_in = match self.noise {
            Noise::Off => return,
            Noise::Low => 16,
            Noise::Medium => 5,
            Noise::High => 2,
        };
        let mut state = self.lock();
        let is_drawn = random(&mut state.random).is_multiple_of(one_in);
        drop(state);
        if is_drawn {
            self.pass_slowly(seat);
        }
    }

    /// The calling thread is about to wait for something else than its turn: an object, or zero.
    pub fn leave(&self, seat: &mut Seat, what: u64) {
        let mut state = self.lock();
        state.away.insert(seat.id, what);
        if self.running.load(Ordering::Relaxed) == seat.id {
            self.give(&mut state);
        }
    }

    /// A thread is about to be started. Whoever runs waits for it to arrive: starting and waking threads takes longer
    /// than most of what is done next, and those who run would hardly ever meet those who come.
    pub fn expect_another(&self) {
        self.expected.fetch_add(1, Ordering::Relaxed);
    }

    /// A thread is about to be woken.
    pub fn expect(&self, id: u32) {
        if self.lock().away.contains_key(&id) {
            self.expect_another();
        }
    }

    /// A thread that waits for this object, if there is one, is about to get what it waits for.
    pub fn expect_one_of(&self, what: u64) {
        if self.lock().away.values().any(|&other| other == what) {
            self.expect_another();
        }
    }

    fn await_arrival(&self, seat: &mut Seat) {
        let is_expected =
            |_: &mut State| self.expected.load(Ordering::Relaxed) > 0 && !self.free.load(Ordering::Relaxed);
        let waited = self.arrived.wait_timeout_while(self.lock(), ARRIVAL_WAIT, is_expected);
        let mut state = match waited {
            Ok((state, _)) => state,
            Err(poisoned) => poisoned.into_inner().0,
        };
        // A thread that runs no code under test never arrives.
        self.expected.store(0, Ordering::Relaxed);
        seat.left = self.share(&mut state);
    }

    /// From here on, nobody waits for anybody.
    pub fn set_free(&self) {
        let state = self.lock();
        self.free.store(true, Ordering::Relaxed);
        state.waiting.iter().for_each(|waiting| waiting.called.notify_one());
        self.arrived.notify_all();
    }

    /// Watches the running thread until everybody is free.
    pub fn watch(&self) {
        let mut last = None;
        while !self.free.load(Ordering::Relaxed) {
            std::thread::sleep(WATCH_EVERY);
            let now = (self.running.load(Ordering::Relaxed), self.progress.load(Ordering::Relaxed));
            let mut state = self.lock();
            if state.waiting.is_empty() || state.is_called || now.0 == 0 {
                last = None;
                continue;
            }
            let asleep = is_asleep(state.running_os_id);
            if asleep && last == Some(now) && self.running.load(Ordering::Relaxed) == now.0 {
                self.give(&mut state);
                last = None;
            } else {
                last = asleep.then_some(now);
            }
        }
    }
}

/// Has the operating system put this thread of ours to sleep, or is it gone?
fn is_asleep(os_id: u32) -> bool {
    let Ok(status) = std::fs::read_to_string(format!("/proc/self/task/{os_id}/stat")) else { return true };
    // The state follows the name, which may contain anything.
    let state = status.rsplit_once(')').and_then(|(_, rest)| rest.trim_start().chars().next());
    !matches!(state, Some('R'))
}

/// splitmix64.
fn random(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut bits = *state;
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}
