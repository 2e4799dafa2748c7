//! An interleaving brought about, or avoided: before the policy chooses, threads that would spoil it are held back, as
//! long as another one can run. The rules are the native recorder's (`control/trial.rs` there).
//!
//! - To enforce it: threads whose turn it is not are held back, from the moment they have done their part; before an
//!   instance, now and then, those who are about to do the second step too early.
//! - To forbid it: of an order, the first step is held back until another thread has done the second; of what is to
//!   be atomic, a thread that has begun its part runs alone until it has finished it.
//! - To delay for no purpose: threads about to do a step are held back for a while.

use recording::{Interleaving, Treatment};
use rustc_hash::FxHashMap;

use super::policy::{Candidate, Random};
use super::{Operation, What};

/// Points after which an instance is given up.
const LONGEST_INSTANCE: u64 = 3000;
const ONE_IN_ALL: u64 = 8;
/// Longest time without an instance after one that was given up, in points.
const LONGEST_REST: u64 = 100;
/// Longest delay without purpose, in points.
const LONGEST_DELAY: u64 = 200;

pub struct Trial {
    interleaving: Interleaving,
    random: Random,
    points: u64,
    instance: Instance,
    /// Instances that came to their end.
    pub completed: u64,
    /// Delay: until when threads are held back.
    held_until: FxHashMap<u32, u64>,
    /// Enforce: whether to hold back what comes too early, in this run.
    waits_for_first: bool,
    /// How often the first step begins an instance in this run, of [`ONE_IN_ALL`]: which of its occurrences
    /// matters, nobody knows.
    begins: u64,
    /// The point before which no instance begins.
    rests_until: u64,
}

#[derive(Clone, Copy, Default)]
struct Instance {
    /// Steps done.
    done: usize,
    /// Threads 1 and 2, where they are known.
    threads: [Option<u32>; 2],
    /// The variables, where they are known.
    variables: [Option<What>; 2],
    begun_at: u64,
}

impl Trial {
    pub fn new(seed: u64, interleaving: Interleaving) -> Trial {
        let mut random = Random::with_seed(!seed);
        let waits_for_first = interleaving.steps().len() == 2 || random.below(2) == 0;
        let enforces = interleaving.treatment == Treatment::Enforce;
        let begins = if enforces { 1 << random.below(4) } else { ONE_IN_ALL };
        Trial {
            interleaving,
            random,
            points: 0,
            instance: Instance::default(),
            completed: 0,
            held_until: FxHashMap::default(),
            waits_for_first,
            begins,
            rests_until: 0,
        }
    }

    /// Would this operation of this thread be the step with this number of the current instance?
    fn is_step(&self, number: usize, thread: u32, operation: Operation) -> bool {
        let Some(step) = self.interleaving.steps().get(number) else { return false };
        let own_role = self.instance.threads[usize::from(step.thread - 1)];
        let other_role = self.instance.threads[usize::from(2 - step.thread)];
        let variable = self.instance.variables[usize::from(step.variable)];
        operation.is_step(number)
            && (own_role == Some(thread) || own_role.is_none() && other_role != Some(thread))
            && (variable.is_none() || variable == operation.what)
    }

    /// The thread did this and has come to its next point.
    pub fn done(&mut self, thread: u32, operation: Operation) {
        self.points += 1;
        self.held_until.remove(&thread);
        if self.instance.done > 0 {
            let is_late = self.points - self.instance.begun_at > LONGEST_INSTANCE;
            if self.is_step(self.instance.done, thread, operation) {
                return self.advance(thread, operation);
            }
            // Another access of its threads to its variables: it will not come about this way.
            let breaks = self.instance.threads.contains(&Some(thread))
                && operation.is_access
                && self.instance.variables.contains(&operation.what);
            if self.finishes_alone(thread, operation) {
                self.instance = Instance::default();
            } else if is_late || breaks {
                self.give_up();
            } else {
                return;
            }
        }
        if self.points >= self.rests_until
            && self.is_step(0, thread, operation)
            && self.random.below(ONE_IN_ALL) < self.begins
        {
            self.instance.begun_at = self.points;
            self.advance(thread, operation);
        }
    }

    /// Has the thread finished its part with nobody in between, as it should where that is forbidden?
    fn finishes_alone(&self, thread: u32, operation: Operation) -> bool {
        let role = self.instance.threads.iter().position(|&known| known == Some(thread));
        let later = self.interleaving.steps().iter().enumerate().skip(self.instance.done);
        let own = later.filter(|(_, step)| Some(usize::from(step.thread - 1)) == role);
        let last = own.map(|(number, _)| number).next_back();
        self.interleaving.treatment == Treatment::Forbid
            && last.is_some_and(|number| operation.is_step(number))
    }

    /// A thread that tries again and again would have the others wait for ever.
    fn give_up(&mut self) {
        self.instance = Instance::default();
        self.rests_until = self.points + self.random.below(LONGEST_REST);
    }

    /// The next step of the current instance was done.
    fn advance(&mut self, thread: u32, operation: Operation) {
        let steps = self.interleaving.steps();
        let step = steps[self.instance.done];
        self.instance.threads[usize::from(step.thread - 1)] = Some(thread);
        self.instance.variables[usize::from(step.variable)] = operation.what;
        self.instance.done += 1;
        if self.instance.done == steps.len() {
            self.completed += 1;
            self.instance = Instance::default();
        }
    }

    /// The thread is about to do this.
    pub fn arrives(&mut self, thread: u32, operation: Operation) {
        if self.interleaving.treatment == Treatment::Delay && operation.is_any_step() {
            let until = self.points + self.random.below(LONGEST_DELAY);
            self.held_until.insert(thread, until);
        }
    }

    /// The thread is gone.
    pub fn left(&mut self, thread: u32) {
        if self.instance.threads.contains(&Some(thread)) {
            self.instance = Instance::default();
        }
    }

    /// Those who may run; none if all are held back.
    pub fn let_through(&self, candidates: &[Candidate]) -> Vec<Candidate> {
        candidates.iter().filter(|&&candidate| !self.is_held_back(candidate)).copied().collect()
    }

    fn is_held_back(&self, Candidate { thread, operation }: Candidate) -> bool {
        let steps = self.interleaving.steps();
        let Instance { done, threads, .. } = self.instance;
        match self.interleaving.treatment {
            Treatment::Enforce if done == 0 => self.waits_for_first && operation.is_step(1),
            Treatment::Enforce => {
                let turn = usize::from(steps[done].thread - 1);
                // Whoever is known to be next runs; else all but the one who has done its part.
                match threads[turn] {
                    Some(next) => next != thread,
                    None => threads[1 - turn] == Some(thread),
                }
            }
            Treatment::Forbid if steps.len() == 2 => {
                // The second step first; and once the first is done, the second as late as possible.
                if done == 0 { operation.is_step(0) } else { self.is_step(1, thread, operation) }
            }
            Treatment::Forbid => {
                let runs_alone = |role: usize| {
                    let is_left = steps[done..].iter().any(|step| usize::from(step.thread - 1) == role);
                    threads[role].is_some() && is_left
                };
                let is_outside = |role: usize| threads[role] != Some(thread) && threads[1 - role].is_none();
                done > 0 && (0..2).any(|role| runs_alone(role) && is_outside(role))
            }
            Treatment::Delay => self.held_until.get(&thread).is_some_and(|&until| until > self.points),
        }
    }
}
