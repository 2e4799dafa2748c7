//! An interleaving brought about, or avoided: before the policy chooses, threads that would spoil it are held back, as
//! long as another one can run.
//!
//! Every occurrence of a first step can begin an instance of it ([`followed`]): whoever has done its part waits until the
//! others have done theirs. Where all that could run are held back, one of them is let go (it may have the lock that the
//! others need) until another can run again. An instance that takes too long is given up, unless others come to places
//! where they have not been ([`news`]).
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
//! Besides, a second interleaving can be avoided, whatever is done about the first: once somebody has begun it, no other
//! thread does its part. That is less than to forbid it: what else could happen in between still can.
//!
//! What it misses: modules loaded later than the recorder.

mod followed;
mod instance;
mod news;
mod regions;

use core::sync::atomic::{AtomicUsize, Ordering};

use recording::{MOST_COPIES, MOST_STEPS, RunPlan, Treatment};

use self::followed::{Followed, Time};
use self::instance::Instance;
use self::news::News;
use self::regions::Regions;
use super::Operation;
use super::policy::{Candidate, Random};
use super::seats::{Locks, SEATS};
use crate::modules::Function;

/// Points for which a thread is held back at most. Each time that it was for nothing, half as long is enough.
const MOST_PATIENCE: u32 = 4000;
/// But no less than one of these, drawn for each run: a thread that often comes to a step must not be held back for long
/// each time, and where the others sleep in between, a short while is too short.
const LEAST_PATIENCE: [u32; 2] = [60, 500];
/// How often a step begins an instance, of this many, is chosen for each run.
const ONE_IN_ALL: u64 = 8;
/// Two to this power is how often a second step is let pass, at most.
const MOST_DOUBLINGS: u64 = 9;
/// Longest delay without purpose, in points.
const LONGEST_DELAY: u64 = 200;
/// What it costs, in points, to have a sleeping thread wake before its time.
const WAKING: u32 = 50;
/// The same for a thread that has nothing to do but wait for others: it may be for those that are held back that it waits.
const PASSING: u32 = 40;

pub struct Trial {
    treatment: Treatment,
    /// What the run is about.
    wanted: Followed,
    /// What is not to happen besides.
    avoided: Followed,
    random: Random,
    points: u32,
    regions: Regions,
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
    /// Of two steps: how often the second is let pass before it waits for the first.
    spared: u64,
    /// The thread that was let go though it is held back; zero if there is none.
    let_go: usize,
}

/// Where steps are done, for those who do not have the lock.
static SITES: [AtomicUsize; MOST_WATCHED] = [const { AtomicUsize::new(0) }; MOST_WATCHED];
/// Of two interleavings.
const MOST_WATCHED: usize = 2 * MOST_STEPS * (1 + MOST_COPIES);

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
            wanted: Followed::new(),
            avoided: Followed::new(),
            random: Random::with_seed(0),
            points: 0,
            regions: Regions::new(),
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
            spared: 0,
            let_go: 0,
        }
    }

    pub unsafe fn start(&mut self, plan: &RunPlan) {
        let Some(interleaving) = plan.interleaving else { return };
        self.treatment = interleaving.treatment;
        self.random = Random::with_seed(!plan.seed);
        // What is to be forbidden is forbidden however it comes about.
        let is_exact = self.treatment == Treatment::Enforce;
        let pattern = self.wanted.start(interleaving, is_exact);
        self.waits_for_first = pattern.is_pair() || self.random.below(4) > 0;
        if let Some(avoided) = plan.avoided {
            self.avoided.start(avoided, true);
        }
        if self.treatment == Treatment::Enforce {
            self.begins = ONE_IN_ALL >> if self.random.below(4) == 0 { 2 } else { 0 };
            self.least_patience = LEAST_PATIENCE[(plan.seed >> 32) as usize % LEAST_PATIENCE.len()];
        }
        if plan.directed {
            // Nobody knows which time matters. The first does in half of the runs, in the others any order of
            // magnitude is as likely.
            let doublings = self.random.below(2) * self.random.below(MOST_DOUBLINGS);
            self.spared = self.random.below(1 << doublings);
        }
    }

    /// From now on, own accesses at the steps' places are points too.
    pub fn watch(&self) {
        let patterns = [&self.wanted, &self.avoided].into_iter().filter_map(|one| one.pattern.as_ref());
        let sites = patterns.flat_map(|pattern| pattern.steps().flat_map(|step| pattern.sites(step)));
        for (watched, site) in SITES.iter().zip(sites) {
            watched.store(site, Ordering::Relaxed);
        }
    }

    /// The thread of this seat did this, holding these locks, and has come to its next point.
    pub fn done(&mut self, seat: usize, operation: Operation, locks: &Locks) {
        if self.wanted.pattern.is_none() {
            return;
        }
        self.points += 1;
        self.follow_avoided(seat, operation, locks);
        self.follow_wanted(seat, operation, locks);
    }

    /// The same while a schedule is followed: what is to be forbidden may have begun by the time that it can be.
    pub fn followed(&mut self, seat: usize, operation: Operation, locks: &Locks) {
        if self.treatment == Treatment::Forbid {
            self.done(seat, operation, locks);
            self.wanted.forget_completed();
        }
    }

    fn follow_avoided(&mut self, seat: usize, operation: Operation, locks: &Locks) {
        // However late it is completed, it was not avoided.
        let time = Time { points: self.points, patience: u32::MAX, news: &self.news };
        self.avoided.done(seat, operation, locks, time);
        self.avoided.begin(seat, operation, locks, self.points);
    }

    fn follow_wanted(&mut self, seat: usize, operation: Operation, locks: &Locks) {
        let Some(pattern) = &self.wanted.pattern else { return };
        if self.treatment == Treatment::Forbid {
            let now = (self.points, self.patience);
            self.regions.done(pattern, seat, operation, locks, now);
        }
        let is_first = Instance::NONE.next_step(pattern, seat, operation).is_some();
        let time = Time { points: self.points, patience: self.patience, news: &self.news };
        let ended = self.wanted.done(seat, operation, locks, time);
        for _ in 0..ended.complete {
            self.patience = (self.patience * 2).min(MOST_PATIENCE);
        }
        if self.treatment == Treatment::Enforce {
            for _ in 0..ended.late {
                self.patience = (self.patience / 2).max(self.least_patience);
                self.waits_at_once = false;
            }
        }
        if is_first && self.random.below(ONE_IN_ALL) < self.begins {
            self.wanted.begin(seat, operation, locks, self.points);
        }
    }

    /// The thread of this seat does this now.
    pub fn goes_on(&mut self, seat: usize, operation: Operation) {
        if self.wanted.pattern.as_ref().is_some_and(|pattern| pattern.is_at(1, operation)) {
            self.spared = self.spared.saturating_sub(1);
        }
        self.wanted.goes_on(seat, operation);
        self.avoided.goes_on(seat, operation);
    }

    /// How often the interleaving has come about, as far as is known if the run ends here. Not at all if the avoided one has.
    pub fn come_about(&self) -> u64 {
        if self.avoided.come_about() > 0 { 0 } else { self.wanted.come_about() }
    }

    /// The thread of this seat is about to do this, holding these locks.
    pub fn arrives(&mut self, seat: usize, operation: Operation, locks: &[usize]) {
        self.arrived_at[seat] = self.points;
        self.delayed_until[seat] = 0;
        let Some(pattern) = &self.wanted.pattern else { return };
        self.news.visit(seat, operation.leaf, self.points);
        self.holds_locks[seat] = locks.iter().any(|&lock| lock != 0);
        self.regions.arrives(pattern, seat, operation);
        if operation.size == 0 && operation.site != 0 {
            self.synchronized[seat] = operation.site;
        }
        if self.treatment != Treatment::Enforce && pattern.is_at_any(operation) {
            self.delayed_until[seat] = self.points + self.random.below(LONGEST_DELAY) as u32;
        }
        if self.holds_locks[seat] {
            let patterns = [&mut self.wanted, &mut self.avoided].into_iter().flat_map(|one| &mut one.pattern);
            patterns.for_each(|pattern| pattern.learn_guard(operation, self.synchronized[seat]));
        }
    }

    /// The thread of this seat begins to wait in the midst of an operation.
    pub fn waits(&mut self, seat: usize, operation: Operation, locks: &Locks) {
        if self.avoided.ends_in_waiting(operation) {
            self.follow_avoided(seat, operation, locks);
        }
        if self.wanted.ends_in_waiting(operation) {
            self.points += 1;
            self.follow_wanted(seat, operation, locks);
        }
    }

    /// The thread of this seat is gone.
    pub fn left(&mut self, seat: usize) {
        self.regions.left(seat);
        self.wanted.left(seat);
        self.avoided.left(seat);
    }

    /// Moves those who may run to the front and returns how many these are: all if there is no trial, and one of
    /// those held back if there is no other.
    pub fn hold_back(&mut self, candidates: &mut [Candidate]) -> usize {
        if self.wanted.pattern.is_none() {
            return candidates.len();
        }
        let may_run =
            |trial: &Trial, candidate| !trial.is_held_back(candidate) && !trial.is_avoided(candidate);
        let mut free = self.to_front(candidates, |trial, candidate| {
            !trial.is_delayed(candidate.seat) && may_run(trial, candidate)
        });
        if free == 0 {
            // A delay that is shorter does no harm; going ahead might.
            free = self.to_front(candidates, may_run);
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

    /// Is one of these held back, and not merely delayed?
    pub fn holds_any(&self, candidates: &[Candidate]) -> bool {
        candidates.iter().any(|&candidate| self.is_held_back(candidate) || self.is_avoided(candidate))
    }

    /// A thread has nothing to do but wait, while others are held back.
    pub fn passes(&mut self) {
        self.points += PASSING;
    }

    fn is_delayed(&self, seat: usize) -> bool {
        self.delayed_until[seat] > self.points
    }

    /// All are held back: moves the one that runs nevertheless to the front. It does until another can, and as long as it is
    /// none that others are to do their part for.
    pub fn let_go_one(&mut self, candidates: &mut [Candidate]) {
        let mut allowed = self.to_front(candidates, |trial, candidate| !trial.is_avoided(candidate));
        allowed = if allowed == 0 { candidates.len() } else { allowed };
        let idle = self.to_front(&mut candidates[..allowed], |trial, one| !trial.waits_for_others(one));
        let candidates = &mut candidates[..if idle == 0 { allowed } else { idle }];
        let known = candidates.iter().position(|candidate| candidate.seat == self.let_go);
        let chosen = known.unwrap_or_else(|| {
            // Rather one that does no harm yet.
            let harms = |candidate: &Candidate| {
                self.wanted.pattern.as_ref().is_some_and(|pattern| pattern.is_at_any(candidate.operation))
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

    /// Enforce: has this thread done its part, and would go on before the others have done theirs?
    fn waits_for_others(&self, Candidate { seat, operation }: Candidate) -> bool {
        let Some(pattern) = self.wanted.pattern.as_ref().filter(|_| self.treatment == Treatment::Enforce)
        else {
            return false;
        };
        let keeps_waiting =
            |instance: &Instance| instance.keeps_waiting(pattern, seat, operation, self.waits_at_once);
        self.wanted.active().any(keeps_waiting)
    }

    /// Is it better to wake a thread that sleeps than to let go one that is held back?
    pub fn rather_wakes(&mut self) -> bool {
        let wakes = self.wanted.pattern.is_some() && self.treatment != Treatment::Delay;
        self.points += if wakes { WAKING } else { 0 };
        wakes
    }

    fn is_avoided(&self, Candidate { seat, operation }: Candidate) -> bool {
        let time = Time { points: self.points, patience: MOST_PATIENCE, news: &self.news };
        !is_over(time, self.arrived_at[seat]) && self.avoided.keeps_out(seat, operation)
    }

    fn is_held_back(&self, candidate: Candidate) -> bool {
        let Candidate { seat, operation } = candidate;
        let Some(pattern) = &self.wanted.pattern else { return false };
        let time = Time { points: self.points, patience: self.patience, news: &self.news };
        if is_over(time, self.arrived_at[seat]) {
            return false;
        }
        match self.treatment {
            Treatment::Delay => false,
            Treatment::Forbid if pattern.is_pair() => self.wanted.keeps_order(pattern, seat, operation),
            Treatment::Forbid => self.regions.is_closed_to(pattern, seat, operation),
            Treatment::Enforce => {
                let mut active = self.wanted.active();
                let brings_on = |instance: &Instance| instance.next_step(pattern, seat, operation).is_some();
                // Whoever has the lock under which a step is done would keep the others from theirs.
                let comes_early = |step: usize| {
                    let is_there = !self.holds_locks[seat] && pattern.is_at(step, operation);
                    !pattern.is_ready(step, 0) && (is_there || pattern.is_at_guard(step, operation))
                };
                let leads_on = |instance: &Instance| instance.leads_on(pattern, seat, operation);
                !active.clone().any(brings_on)
                    && (self.waits_for_others(candidate)
                        || self.waits_for_first
                            && self.spared == 0
                            && pattern.steps().any(comes_early)
                            && !active.any(leads_on))
            }
        }
    }
}

/// Has it been waited for long enough since this point? Longer only as long as there are news, and never for ever.
fn is_over(Time { points, patience, news }: Time, since: u32) -> bool {
    let waited = points.wrapping_sub(since);
    waited > patience && (points.wrapping_sub(news.at) > patience || waited > 2 * MOST_PATIENCE)
}
