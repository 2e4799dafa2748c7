//! An interleaving brought about, or avoided: before the policy chooses, threads that would spoil it are held back, as
//! long as another one can run.
//!
//! One instance of the interleaving is followed at a time. It begins when a thread has done the first step; from then
//! on it is known which threads and variables the others are about. A thread that had to be let go, since nobody
//! else could run (it may hold the lock that the others need), is held back again at its next point. An instance
//! that takes too long is given up, and so is one whose threads touch its variables in another way.
//!
//! - To enforce it: threads whose turn it is not are held back, from the moment they have done their part. So are,
//!   before an instance, threads that are about to do the second step too early, now and then.
//! - To forbid it: of an order, the first step is held back until another thread has done the second; of what is to
//!   be atomic, a thread that has begun its part runs alone until it has finished it.
//! - To delay for no purpose: threads about to do a step are held back for a while.
//!
//! What it misses: accesses to bytes that are a thread's own, which are no points, and modules loaded later than the
//! recorder.

use recording::{Interleaving, MOST_STEPS, Treatment};

use super::Operation;
use super::policy::{Candidate, Random};
use super::seats::SEATS;
use crate::modules;

/// Points after which an instance is given up.
const LONGEST_INSTANCE: u32 = 3000;
const ONE_IN_ALL: u64 = 8;
/// Longest time without an instance after one that was given up, in points.
const LONGEST_REST: u64 = 100;
/// Longest delay without purpose, in points.
const LONGEST_DELAY: u64 = 200;

pub struct Trial {
    interleaving: Option<Interleaving>,
    /// Where the steps' hooks return to; zero while the module is not loaded.
    sites: [usize; MOST_STEPS],
    random: Random,
    points: u32,
    instance: Instance,
    /// Instances that came to their end.
    pub completed: u64,
    /// Delay: until when threads are held back, by seat.
    held_until: [u32; SEATS],
    /// Enforce: whether to hold back what comes too early, in this run.
    waits_for_first: bool,
    /// How often the first step begins an instance in this run, of [`ONE_IN_ALL`]: which of its occurrences
    /// matters, nobody knows.
    begins: u64,
    /// The point before which no instance begins.
    rests_until: u32,
}

#[derive(Clone, Copy)]
struct Instance {
    /// Steps done.
    done: usize,
    /// The seats of threads 1 and 2, zero where not known yet.
    seats: [usize; 2],
    /// The addresses of the variables, zero where not known yet.
    variables: [usize; 2],
    begun_at: u32,
}

const NONE: Instance = Instance { done: 0, seats: [0; 2], variables: [0; 2], begun_at: 0 };

impl Trial {
    pub const fn new() -> Trial {
        Trial {
            interleaving: None,
            sites: [0; MOST_STEPS],
            random: Random::with_seed(0),
            points: 0,
            instance: NONE,
            completed: 0,
            held_until: [0; SEATS],
            waits_for_first: false,
            begins: ONE_IN_ALL,
            rests_until: 0,
        }
    }

    pub unsafe fn start(&mut self, seed: u64, interleaving: Option<Interleaving>) {
        self.interleaving = interleaving;
        self.random = Random::with_seed(!seed);
        self.waits_for_first = self.steps() == 2 || self.random.below(2) == 0;
        let enforces = interleaving.is_some_and(|all| all.treatment == Treatment::Enforce);
        self.begins = if enforces { 1 << self.random.below(4) } else { ONE_IN_ALL };
        self.find_sites();
    }

    unsafe fn find_sites(&mut self) {
        let Some(interleaving) = self.interleaving else { return };
        for (site, step) in self.sites.iter_mut().zip(interleaving.steps()) {
            if let Some(module) = modules::with_build_id(&step.build_id) {
                *site = module.bias.wrapping_add(step.address) as usize;
            }
        }
    }

    fn steps(&self) -> usize {
        self.interleaving.map_or(0, |interleaving| interleaving.steps().len())
    }

    /// Would this operation of this thread be the step with this number of the current instance?
    fn is_step(&self, number: usize, seat: usize, operation: Operation) -> bool {
        let Some(step) = self.interleaving.as_ref().and_then(|all| all.steps().get(number)) else {
            return false;
        };
        let own_role = self.instance.seats[usize::from(step.thread - 1)];
        let other_role = self.instance.seats[usize::from(2 - step.thread)];
        let variable = self.instance.variables[usize::from(step.variable)];
        operation.site != 0
            && operation.site == self.sites[number]
            && (own_role == seat || own_role == 0 && other_role != seat)
            && (variable == 0 || variable == operation.address)
    }

    /// The thread of this seat did this and has come to its next point.
    pub fn done(&mut self, seat: usize, operation: Operation) {
        let Some(interleaving) = self.interleaving else { return };
        self.points += 1;
        self.held_until[seat] = 0;
        if self.instance.done > 0 {
            let is_late = self.points - self.instance.begun_at > LONGEST_INSTANCE;
            if self.is_step(self.instance.done, seat, operation) {
                return self.advance(&interleaving, seat, operation);
            }
            // Another access of its threads to its variables: it will not come about this way.
            let breaks = self.instance.seats.contains(&seat)
                && operation.site != 0
                && self.instance.variables.contains(&operation.address);
            if !is_late && !breaks {
                return;
            }
            self.give_up();
        }
        if self.points >= self.rests_until
            && self.is_step(0, seat, operation)
            && self.random.below(ONE_IN_ALL) < self.begins
        {
            self.instance.begun_at = self.points;
            self.advance(&interleaving, seat, operation);
        }
    }

    /// A thread that tries again and again would have the others wait for ever.
    fn give_up(&mut self) {
        self.instance = NONE;
        self.rests_until = self.points + self.random.below(LONGEST_REST) as u32;
    }

    /// The next step of the current instance was done.
    fn advance(&mut self, interleaving: &Interleaving, seat: usize, operation: Operation) {
        let step = interleaving.steps()[self.instance.done];
        self.instance.seats[usize::from(step.thread - 1)] = seat;
        self.instance.variables[usize::from(step.variable)] = operation.address;
        self.instance.done += 1;
        if self.instance.done == interleaving.steps().len() {
            self.completed += 1;
            self.instance = NONE;
        }
    }

    /// The thread of this seat is about to do this.
    pub fn arrives(&mut self, seat: usize, operation: Operation) {
        let is_delayed = self.interleaving.is_some_and(|all| all.treatment == Treatment::Delay);
        if is_delayed && operation.site != 0 && self.sites.contains(&operation.site) {
            self.held_until[seat] = self.points + self.random.below(LONGEST_DELAY) as u32;
        }
    }

    /// The thread of this seat is gone.
    pub fn left(&mut self, seat: usize) {
        if self.instance.seats.contains(&seat) {
            self.instance = NONE;
        }
    }

    /// Moves those who may run to the front and returns how many these are.
    pub fn hold_back(&mut self, candidates: &mut [Candidate]) -> usize {
        let Some(interleaving) = self.interleaving else { return candidates.len() };
        let mut free = 0;
        for index in 0..candidates.len() {
            if !self.is_held_back(&interleaving, candidates[index]) {
                // Those in front stay in order, since policies count on it.
                candidates.swap(free, index);
                free += 1;
            }
        }
        free
    }

    /// Is it better to wake a thread that sleeps than to let go one that is held back?
    pub fn rather_wakes(&self) -> bool {
        self.interleaving.is_some_and(|all| all.treatment == Treatment::Enforce)
    }

    fn is_held_back(&self, interleaving: &Interleaving, candidate: Candidate) -> bool {
        let Candidate { seat, operation } = candidate;
        let steps = interleaving.steps();
        let Instance { done, seats, .. } = self.instance;
        match interleaving.treatment {
            Treatment::Enforce if done == 0 => self.waits_for_first && operation.site == self.sites[1],
            Treatment::Enforce => {
                let turn = usize::from(steps[done].thread - 1);
                // Whoever is known to be next runs; else all but the one who has done its part.
                if seats[turn] != 0 { seats[turn] != seat } else { seats[1 - turn] == seat }
            }
            Treatment::Forbid if steps.len() == 2 => {
                // The second step first; and once the first is done, the second as late as possible.
                let (first, second) = (operation.site == self.sites[0], self.is_step(1, seat, operation));
                if done == 0 { first } else { second }
            }
            Treatment::Forbid => {
                let runs_alone = |role: usize| {
                    let known = seats[role] != 0;
                    known && steps[done..].iter().any(|step| usize::from(step.thread - 1) == role)
                };
                done > 0 && (0..2).any(|role| runs_alone(role) && seats[role] != seat && seats[1 - role] == 0)
            }
            Treatment::Delay => self.held_until[seat] > self.points,
        }
    }
}
