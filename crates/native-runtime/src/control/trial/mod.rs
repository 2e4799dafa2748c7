//! An interleaving brought about, or avoided: before the policy chooses, threads that would spoil it are held back, as
//! long as another one can run.
//!
//! Nobody knows which occurrence of a step matters, so every one of them can begin an [`instance`]: from then on it is
//! known which threads and variables the other steps are about, and whoever has done its part waits until the others
//! have done theirs. Several instances are followed at the same time, of several threads. Where all that could
//! run are held back, one of them is let go (it may have the lock that the others need) until another can run again. An
//! instance that takes too long is given up, unless others come to places where they have not been ([`news`]).
//!
//! - To enforce it: threads wait that have done their part, or are about to do a step too early. Whoever has another step
//!   to do waits at once; where that was for nothing, from then on right before that step, or before the lock that
//!   guards it: what it does in between may be what the others wait for.
//! - To forbid it: what a thread does from its first to its last step is kept whole ([`regions`]). Where each thread
//!   has a single step, the first waits until another thread has done the second; once the first is done
//!   nevertheless, the second waits until the first one's thread has touched the variable again.
//! - To delay for no purpose: threads are held back for a while at the places where steps are done. So are
//!   they where it is forbidden: what differs is the order alone.
//!
//! What it misses: modules loaded later than the recorder.

mod instance;
mod news;
mod regions;

use core::sync::atomic::{AtomicUsize, Ordering};

use recording::{Interleaving, MOST_STEPS, Treatment};

use self::instance::{Bytes, Instance, Pattern};
use self::news::News;
use self::regions::Regions;
use super::Operation;
use super::policy::{Candidate, Random};
use super::seats::{Locks, SEATS};
use crate::cells::Kind;
use crate::modules::Function;

/// Points for which a thread is held back at most. Each time that it was for nothing, half as long is enough.
const MOST_PATIENCE: u32 = 4000;
/// But no less than one of these, drawn for each run: a thread that often comes to a step must not be held back for long
/// each time, and where the others sleep in between, a short while is too short.
const LEAST_PATIENCE: [u32; 2] = [60, 500];
/// Instances that are followed at the same time.
const MOST_INSTANCES: usize = 32;
/// How often a step begins an instance, of this many, is chosen for each run.
const ONE_IN_ALL: u64 = 8;
/// Longest delay without purpose, in points.
const LONGEST_DELAY: u64 = 200;
/// Places where the second of two steps was done, by address.
const MOST_SECONDS: usize = 256;
/// What it costs, in points, to have a sleeping thread wake before its time.
const WAKING: u32 = 50;

pub struct Trial {
    treatment: Treatment,
    pattern: Option<Pattern>,
    random: Random,
    points: u32,
    instances: [Instance; MOST_INSTANCES],
    regions: Regions,
    /// Instances that came to their end.
    completed: u64,
    /// The first of two steps is being done, and nobody has done the second.
    is_at_first: bool,
    patience: u32,
    least_patience: u32,
    news: News,
    /// When each thread came to its point.
    arrived_at: [u32; SEATS],
    /// Whether each thread holds a lock there, and where it synchronized last.
    holds_locks: [bool; SEATS],
    synchronized: [usize; SEATS],
    /// Until when threads are delayed, by seat.
    delayed_until: [u32; SEATS],
    /// Enforce: whether to hold back what comes too early, in this run.
    waits_for_first: bool,
    /// Enforce: whether whoever has done a step waits at once, or only before its next one.
    waits_at_once: bool,
    /// How often a step begins an instance in this run, of [`ONE_IN_ALL`].
    begins: u64,
    /// The thread that was let go though it is held back; zero if there is none.
    let_go: usize,
    /// Of two steps: who has done the second to what. More than one thread is [`SEVERAL`].
    seconds: [(usize, usize); MOST_SECONDS],
}

const SEVERAL: usize = usize::MAX;

/// Where steps are done, for those who do not have the lock.
static SITES: [AtomicUsize; MOST_STEPS] = [const { AtomicUsize::new(0) }; MOST_STEPS];

/// Is a step done in this function?
pub fn has_step(function: Function) -> bool {
    let code = function.start as usize..function.start as usize + function.size as usize;
    SITES.iter().any(|site| code.contains(&site.load(Ordering::Relaxed)))
}

/// Is a step done here? Such accesses are points even if the bytes are the thread's own so far.
pub fn is_step(site: usize) -> bool {
    let sites = SITES.iter().map(|site| site.load(Ordering::Relaxed));
    sites.take_while(|&known| known != 0).any(|known| known == site)
}

impl Trial {
    pub const fn new() -> Trial {
        Trial {
            treatment: Treatment::Delay,
            pattern: None,
            random: Random::with_seed(0),
            points: 0,
            instances: [Instance::NONE; MOST_INSTANCES],
            regions: Regions::new(),
            completed: 0,
            is_at_first: false,
            patience: MOST_PATIENCE,
            least_patience: LEAST_PATIENCE[0],
            news: News::new(),
            arrived_at: [0; SEATS],
            holds_locks: [false; SEATS],
            synchronized: [0; SEATS],
            delayed_until: [0; SEATS],
            waits_for_first: false,
            waits_at_once: true,
            begins: ONE_IN_ALL,
            let_go: 0,
            seconds: [(0, 0); MOST_SECONDS],
        }
    }

    pub unsafe fn start(&mut self, seed: u64, interleaving: Option<Interleaving>) {
        let Some(interleaving) = interleaving else { return };
        self.treatment = interleaving.treatment;
        self.random = Random::with_seed(!seed);
        let pattern = Pattern::new(interleaving);
        for (watched, step) in SITES.iter().zip(pattern.steps()) {
            watched.store(pattern.site(step), Ordering::Relaxed);
        }
        self.waits_for_first = pattern.is_pair() || self.random.below(4) > 0;
        if self.treatment == Treatment::Enforce {
            self.begins = ONE_IN_ALL >> if self.random.below(4) == 0 { 2 } else { 0 };
            self.least_patience = LEAST_PATIENCE[(seed >> 32) as usize % LEAST_PATIENCE.len()];
        }
        self.pattern = Some(pattern);
    }

    /// The thread of this seat did this, holding these locks, and has come to its next point.
    pub fn done(&mut self, seat: usize, operation: Operation, locks: &Locks) {
        let Some(pattern) = &self.pattern else { return };
        self.points += 1;
        self.is_at_first = false;
        if self.treatment == Treatment::Forbid {
            let now = (self.points, self.patience);
            self.regions.done(pattern, seat, operation, locks, now);
        }
        if pattern.is_pair() && pattern.is_at(1, operation) {
            let entry = &mut self.seconds[place_of(operation.address)];
            let is_first = entry.0 != operation.address || entry.1 == seat;
            *entry = (operation.address, if is_first { seat } else { SEVERAL });
        }
        let bytes = Bytes::of(operation);
        for instance in self.instances.iter_mut().filter(|instance| instance.is_active()) {
            if let Some(step) = instance.next_step(pattern, seat, operation) {
                instance.advance(pattern, step, seat, operation, locks);
                if instance.is_complete(pattern) {
                    self.completed += u64::from(!instance.is_counted);
                    self.patience = (self.patience * 2).min(MOST_PATIENCE);
                    *instance = Instance::NONE;
                }
            } else if instance.is_too_early(pattern, seat, operation)
                || instance.is_elsewhere(pattern, seat, operation)
                || pattern.is_pair()
                    && instance.role_of(seat).is_some()
                    && operation.size != 0
                    && operation.kind != Kind::Read
                    && instance.is_about(bytes)
            {
                *instance = Instance::NONE;
            } else if is_over(self.points, instance.begun_at, self.patience, &self.news) {
                if self.treatment == Treatment::Enforce {
                    self.patience = (self.patience / 2).max(self.least_patience);
                    self.waits_at_once = false;
                }
                *instance = Instance::NONE;
            }
        }
        self.begin(seat, operation, locks);
    }

    /// The thread of this seat does this now. It may be the last that it does: what takes all steps but this one has come
    /// about, even if nobody comes to the next point. So has the first of two: whatever ends the run now comes before the second.
    pub fn goes_on(&mut self, seat: usize, operation: Operation) {
        let Some(pattern) = &self.pattern else { return };
        self.is_at_first =
            pattern.is_pair() && pattern.is_at(0, operation) && !self.is_second_done(seat, operation);
        for instance in self.instances.iter_mut().filter(|instance| instance.is_active()) {
            let step = instance.next_step(pattern, seat, operation);
            if step.is_some_and(|step| instance.lacks_only(pattern, step)) && !instance.is_counted {
                instance.is_counted = true;
                self.completed += 1;
            }
        }
    }

    /// How often the interleaving has come about, as far as is known if the run ends here.
    pub fn come_about(&self) -> u64 {
        self.completed + u64::from(self.is_at_first)
    }

    fn begin(&mut self, seat: usize, operation: Operation, locks: &Locks) {
        let Some(pattern) = &self.pattern else { return };
        let Some(step) = Instance::NONE.next_step(pattern, seat, operation) else { return };
        if self.random.below(ONE_IN_ALL) >= self.begins {
            return;
        }
        let bytes = Bytes::of(operation);
        let is_again = |instance: &Instance| instance.is_only_of(seat) && instance.is_about(bytes);
        let place = self.instances.iter().position(is_again);
        let place = place.or_else(|| self.instances.iter().position(|instance| !instance.is_active()));
        let oldest = || {
            let own = (0..MOST_INSTANCES).filter(|&at| self.instances[at].is_only_of(seat));
            own.min_by_key(|&at| self.instances[at].begun_at)
        };
        if let Some(place) = place.or_else(oldest).and_then(|at| self.instances.get_mut(at)) {
            *place = Instance::NONE;
            place.begun_at = self.points;
            place.advance(pattern, step, seat, operation, locks);
        }
    }

    /// The thread of this seat is about to do this, holding these locks.
    pub fn arrives(&mut self, seat: usize, operation: Operation, locks: &[usize]) {
        self.arrived_at[seat] = self.points;
        self.delayed_until[seat] = 0;
        let Some(pattern) = &mut self.pattern else { return };
        self.news.visit(seat, operation.leaf, self.points);
        self.holds_locks[seat] = locks.iter().any(|&lock| lock != 0);
        self.regions.arrives(pattern, seat, operation);
        if operation.size == 0 && operation.site != 0 {
            self.synchronized[seat] = operation.site;
        }
        if pattern.is_at_any(operation) {
            if self.holds_locks[seat] {
                pattern.learn_guard(operation, self.synchronized[seat]);
            }
            if self.treatment != Treatment::Enforce {
                self.delayed_until[seat] = self.points + self.random.below(LONGEST_DELAY) as u32;
            }
        }
    }

    /// The thread of this seat begins to wait in the midst of an operation. It may never come to its next point: where a
    /// step is the last of its thread, waiting is what it is about.
    pub fn waits(&mut self, seat: usize, operation: Operation, locks: &Locks) {
        let Some(pattern) = &self.pattern else { return };
        let is_wait = |step: usize| {
            pattern.is_at(step, operation)
                && !pattern.is_ready(step, 0)
                && pattern.steps_of(pattern.role(step)).next_back() == Some(step)
        };
        if pattern.steps().any(is_wait) {
            self.done(seat, operation, locks);
        }
    }

    /// The thread of this seat is gone.
    pub fn left(&mut self, seat: usize) {
        self.regions.left(seat);
        let Some(pattern) = &self.pattern else { return };
        for instance in self.instances.iter_mut().filter(|instance| instance.is_active()) {
            instance.leave(pattern, seat);
        }
    }

    /// Moves those who may run to the front and returns how many these are: all if there is no trial, and one of
    /// those held back if there is no other.
    pub fn hold_back(&mut self, candidates: &mut [Candidate]) -> usize {
        if self.pattern.is_none() {
            return candidates.len();
        }
        let mut free = self.to_front(candidates, |trial, candidate| {
            !trial.is_delayed(candidate.seat) && !trial.is_held_back(candidate)
        });
        if free == 0 {
            // A delay that is shorter does no harm; going ahead might.
            free = self.to_front(candidates, |trial, candidate| !trial.is_held_back(candidate));
        }
        if free > 0 {
            self.let_go = 0;
        }
        free
    }

    /// Those in front stay in order, since policies count on it.
    fn to_front(&self, candidates: &mut [Candidate], is_free: impl Fn(&Trial, Candidate) -> bool) -> usize {
        let mut free = 0;
        for index in 0..candidates.len() {
            if is_free(self, candidates[index]) {
                candidates[free..=index].rotate_right(1);
                free += 1;
            }
        }
        free
    }

    fn is_delayed(&self, seat: usize) -> bool {
        self.delayed_until[seat] > self.points
    }

    /// All are held back: moves the one that runs nevertheless to the front. It does until another can.
    pub fn let_go_one(&mut self, candidates: &mut [Candidate]) {
        let known = candidates.iter().position(|candidate| candidate.seat == self.let_go);
        let chosen = known.unwrap_or_else(|| {
            // Rather one that does no harm yet.
            let harms = |candidate: &Candidate| {
                self.pattern.as_ref().is_some_and(|pattern| pattern.is_at_any(candidate.operation))
            };
            let harmless = candidates.iter().filter(|candidate| !harms(candidate)).count();
            let wanted = if harmless == 0 { candidates.len() } else { harmless };
            let nth = self.random.below(wanted as u64) as usize;
            let mut fitting = (0..candidates.len()).filter(|&at| harmless == 0 || !harms(&candidates[at]));
            fitting.nth(nth).unwrap_or(0)
        });
        self.let_go = candidates[chosen].seat;
        candidates.swap(0, chosen);
    }

    /// Is it better to wake a thread that sleeps than to let go one that is held back?
    pub fn rather_wakes(&mut self) -> bool {
        let wakes = self.pattern.is_some() && self.treatment != Treatment::Delay;
        self.points += if wakes { WAKING } else { 0 };
        wakes
    }

    fn is_held_back(&self, candidate: Candidate) -> bool {
        let Candidate { seat, operation } = candidate;
        let Some(pattern) = &self.pattern else { return false };
        if is_over(self.points, self.arrived_at[seat], self.patience, &self.news) {
            return false;
        }
        let mut active = self.instances.iter().filter(|instance| instance.is_active());
        let brings_on = |instance: &Instance| instance.next_step(pattern, seat, operation).is_some();
        match self.treatment {
            Treatment::Delay => false,
            Treatment::Forbid if pattern.is_pair() => {
                let comes_first = pattern.is_at(0, operation) && !self.is_second_done(seat, operation);
                comes_first || active.any(brings_on)
            }
            Treatment::Forbid => self.regions.is_closed_to(pattern, seat, operation),
            Treatment::Enforce => {
                // Whoever has the lock under which a step is done would keep the others from theirs.
                let comes_early = |step: usize| {
                    let is_there = !self.holds_locks[seat] && pattern.is_at(step, operation);
                    !pattern.is_ready(step, 0) && (is_there || pattern.is_at_guard(step, operation))
                };
                let leads_on = |instance: &Instance| instance.leads_on(pattern, seat, operation);
                let keeps_waiting = |instance: &Instance| {
                    instance.keeps_waiting(pattern, seat, operation, self.waits_at_once)
                };
                !active.clone().any(brings_on)
                    && (active.clone().any(keeps_waiting)
                        || self.waits_for_first && pattern.steps().any(comes_early) && !active.any(leads_on))
            }
        }
    }

    /// Has another thread done the second step to this before?
    fn is_second_done(&self, seat: usize, operation: Operation) -> bool {
        let (address, by) = self.seconds[place_of(operation.address)];
        address == operation.address && by != seat
    }
}

/// Has it been waited for long enough since this point? Longer only as long as there are news, and never for ever.
fn is_over(now: u32, since: u32, patience: u32, news: &News) -> bool {
    let waited = now.wrapping_sub(since);
    waited > patience && (now.wrapping_sub(news.at) > patience || waited > 2 * MOST_PATIENCE)
}

fn place_of(address: usize) -> usize {
    (address as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) as usize >> 56
}
