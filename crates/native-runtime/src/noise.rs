//! Seeded disturbance of the schedule: short delays and yields where threads meet.
//!
//! After ConTest (survey §7): random choice of places, random choice of how. Delays grow rarer as a thread has
//! had many, so that a test with millions of shared accesses is not drowned in them.

use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use recording::Noise;

use crate::thread::Thread;
use crate::{control, kernel, planned};

static SEED: AtomicU64 = AtomicU64::new(0);
/// Mean number of accesses, and of synchronizations, between two delays; zero for none.
static ACCESS_GAP: AtomicU32 = AtomicU32::new(0);
static SYNC_GAP: AtomicU32 = AtomicU32::new(0);

/// Delays a thread has before they become half as frequent.
const DELAYS_PER_STEP: u32 = 200;

pub fn start(seed: u64, noise: Noise) {
    // Low costs next to nothing; high makes nearly every meeting of threads an interesting one.
    let (access, sync) = match noise {
        Noise::Off => (0, 0),
        Noise::Low => (500, 60),
        Noise::Medium => (60, 12),
        Noise::High => (10, 3),
    };
    // Delays at the plan's sites take the place of those at any access.
    let access = if planned::any() { 0 } else { access };
    SEED.store(seed, Ordering::Relaxed);
    ACCESS_GAP.store(access, Ordering::Relaxed);
    SYNC_GAP.store(sync, Ordering::Relaxed);
}

/// One thread's share of the noise.
pub struct State {
    random: u64,
    /// Accesses and synchronizations until the next delay.
    accesses_left: u32,
    syncs_left: u32,
    delays: u32,
}

impl State {
    pub fn new(thread: u32) -> State {
        // The splitmix64 step: neighbouring threads and seeds get unrelated streams.
        let mut mixed = SEED.load(Ordering::Relaxed) ^ (thread as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        let mut state = State { random: mixed | 1, accesses_left: 0, syncs_left: 0, delays: 0 };
        state.accesses_left = state.gap(&ACCESS_GAP);
        state.syncs_left = state.gap(&SYNC_GAP);
        state
    }

    fn next(&mut self) -> u64 {
        // xorshift64*
        self.random ^= self.random >> 12;
        self.random ^= self.random << 25;
        self.random ^= self.random >> 27;
        self.random.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 16
    }

    /// Uniform from 0 to below `bound`.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    /// Uniform from 1 to twice the mean, the mean doubling with every so many delays.
    fn gap(&mut self, mean: &AtomicU32) -> u32 {
        let mean = mean.load(Ordering::Relaxed) as u64;
        if mean == 0 {
            // No access may slip through without a look.
            return if control::looks_at_all() { 1 } else { u32::MAX };
        }
        let mean = mean << (self.delays / DELAYS_PER_STEP).min(16);
        (1 + self.next() % (2 * mean)).min(u32::MAX as u64) as u32
    }
}

/// Is it time for a delay at the next access?
#[inline]
pub fn is_due_at_access(thread: &Thread) -> bool {
    thread.noise.accesses_left == 1
}

/// Counts an access at which it was not.
#[inline]
pub fn pass_access(thread: &mut Thread) {
    thread.noise.accesses_left -= 1;
}

/// Will it be at one of the next so many accesses?
#[inline]
pub fn is_due_within(thread: &Thread, accesses: u32) -> bool {
    thread.noise.accesses_left <= accesses
}

/// Counts that many at which it was not.
#[inline]
pub fn pass_accesses(thread: &mut Thread, accesses: u32) {
    thread.noise.accesses_left -= accesses;
}

/// Before an access to bytes that several threads use.
#[inline]
pub unsafe fn at_access(thread: &mut Thread) {
    thread.noise.accesses_left -= 1;
    if thread.noise.accesses_left == 0 {
        thread.noise.accesses_left = thread.noise.gap(&ACCESS_GAP);
        delay(thread, &ACCESS_GAP);
    }
}

/// Before or after a synchronization.
#[inline]
pub unsafe fn at_sync(thread: &mut Thread) {
    thread.noise.syncs_left -= 1;
    if thread.noise.syncs_left == 0 {
        thread.noise.syncs_left = thread.noise.gap(&SYNC_GAP);
        delay(thread, &SYNC_GAP);
    }
}

/// Delays at the plan's sites that a thread has before they become half as frequent.
const SITE_DELAYS_PER_STEP: u32 = 8;

/// Before an access or atomic operation of a free run: every other time it is one of the plan's sites, other threads
/// get the time to come first.
#[inline]
pub unsafe fn at_site(thread: &mut Thread, site: usize) {
    if planned::contains(site) {
        wait_at_site(thread);
    }
}

#[cold]
unsafe fn wait_at_site(thread: &mut Thread) {
    let rarity = (thread.noise.delays / SITE_DELAYS_PER_STEP).min(16);
    let (choice, amount) = (thread.noise.next(), thread.noise.next());
    if choice % (2 << rarity) != 0 || crate::sandbox::is_closed() {
        return;
    }
    thread.noise.delays += 1;
    let _errno = crate::errno::keep();
    (*thread.tls).busy = 0;
    // From what a critical section takes to what starting a thread takes, each magnitude equally often.
    kernel::sleep(20_000 << (amount % 8));
    (*thread.tls).busy = 1;
}

#[cold]
unsafe fn delay(thread: &mut Thread, mean: &AtomicU32) {
    // Without noise the countdown starts at the highest number, and reaches zero all the same one day.
    if mean.load(Ordering::Relaxed) == 0 {
        return;
    }
    // A signal handler that runs during the delay is the target's own business again.
    (*thread.tls).busy = 0;
    thread.noise.delays += 1;
    let _errno = crate::errno::keep();
    let choice = thread.noise.next();
    let amount = thread.noise.next();
    match choice % 8 {
        0..=2 => {
            kernel::pass();
        }
        _ if crate::sandbox::is_closed() => {
            kernel::pass();
        }
        3..=4 => {
            // A few microseconds: enough for a running thread to pass a short critical section.
            for _ in 0..amount % 4000 {
                core::hint::spin_loop();
            }
        }
        _ => {
            // Long enough for other threads to be scheduled in our place, even on one core.
            kernel::sleep(10_000 + amount % 300_000);
        }
    }
    (*thread.tls).busy = 1;
}
