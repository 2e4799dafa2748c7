//! An interleaving brought about, or avoided: before the policy chooses, threads that would spoil it are held back, as
//! long as another one can run. What is forced and forbidden is the same as in the native recorder (`control/trial` there).
//!
//! - To enforce it: threads whose turn it is not are held back, from the moment they have done their part; before an
//!   instance, now and then, those who are about to do too early what comes after another's step, or to take the lock for it.
//! - To forbid it: of an order, the first step is held back, or who is about to take the lock for it, until another
//!   thread has done the second; of what is to be atomic, a thread that has begun its part runs alone until it has
//!   finished it.
//! - To delay for no purpose: threads about to do a step are held back for a while.
//!
//! Accesses are steps of a thread once it has come to its next point. What is done to locks and conditions is told at
//! once, since the thread may never come to another point: it has a lock, and may wait for the next for ever.

use recording::{Interleaving, MOST_ROLES, Treatment};
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
    /// How often an access begins an instance in this run, of [`ONE_IN_ALL`]: which of its occurrences
    /// matters, nobody knows.
    begins: u64,
    /// The point before which no instance begins.
    rests_until: u64,
}

#[derive(Clone, Copy, Default)]
struct Instance {
    /// A bit for each step that was done.
    done: u16,
    /// Threads by role, and variables, where they are known.
    threads: [Option<u32>; MOST_ROLES],
    variables: [Option<What>; MOST_ROLES],
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

    fn is_pair(&self) -> bool {
        self.interleaving.steps().len() == 2
    }

    /// From zero.
    fn role(&self, step: usize) -> usize {
        usize::from(self.interleaving.steps()[step].thread - 1)
    }

    fn steps_of(&self, role: usize) -> impl DoubleEndedIterator<Item = usize> + '_ {
        (0..self.interleaving.steps().len()).filter(move |&step| self.role(step) == role)
    }

    /// What is next for a thread.
    fn next_of(&self, role: usize) -> Option<usize> {
        self.steps_of(role).find(|&step| self.instance.done & 1 << step == 0)
    }

    /// May this step be done now?
    fn is_ready(&self, step: usize) -> bool {
        self.interleaving.before(step) & !self.instance.done == 0
            && self.next_of(self.role(step)) == Some(step)
    }

    /// Does this step come after another thread's, and after none of its own?
    fn comes_second(&self, step: usize) -> bool {
        self.interleaving.before(step) != 0 && self.steps_of(self.role(step)).next() == Some(step)
    }

    fn role_of(&self, thread: u32) -> Option<usize> {
        self.instance.threads.iter().position(|&known| known == Some(thread))
    }

    /// The step of the current instance that this operation of this thread would be, if it is the step's turn.
    fn next_step(&self, thread: u32, operation: Operation) -> Option<usize> {
        let Instance { threads, variables, .. } = &self.instance;
        (0..self.interleaving.steps().len()).find(|&step| {
            let is_thread = match threads[self.role(step)] {
                Some(known) => known == thread,
                None => self.role_of(thread).is_none(),
            };
            let is_variable = match variables[usize::from(self.interleaving.steps()[step].variable)] {
                Some(known) => operation.what == Some(known),
                None => operation.what.is_none() || !variables.contains(&operation.what),
            };
            operation.is_step(step) && self.is_ready(step) && is_thread && is_variable
        })
    }

    /// The thread did this and has come to its next point.
    pub fn done(&mut self, thread: u32, operation: Operation) {
        self.points += 1;
        self.held_until.remove(&thread);
        if !operation.is_told {
            self.step(thread, operation);
        }
    }

    /// The thread did this.
    pub fn step(&mut self, thread: u32, operation: Operation) {
        if self.instance.done != 0 {
            let is_late = self.points - self.instance.begun_at > LONGEST_INSTANCE;
            if let Some(step) = self.next_step(thread, operation) {
                return self.advance(step, thread, operation);
            }
            // Another access of its threads to its variables: it will not come about this way.
            let breaks = self.role_of(thread).is_some()
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
            && let Some(step) = self.next_step(thread, operation)
            && (!operation.is_access || self.random.below(ONE_IN_ALL) < self.begins)
        {
            self.instance.begun_at = self.points;
            self.advance(step, thread, operation);
        }
    }

    /// The thread begins to wait in the midst of this. Where a step is the last of its thread and comes after another's,
    /// waiting is what it is about.
    pub fn waits(&mut self, thread: u32, mut operation: Operation) {
        for step in 0..self.interleaving.steps().len() {
            let is_last = self.steps_of(self.role(step)).next_back() == Some(step);
            if !is_last || self.interleaving.before(step) == 0 {
                operation.marks.steps &= !(1 << step);
            }
        }
        if operation.marks.steps != 0 {
            self.step(thread, operation);
        }
    }

    /// Has the thread finished its part with nobody in between, as it should where that is forbidden?
    fn finishes_alone(&self, thread: u32, operation: Operation) -> bool {
        let last = self.role_of(thread).and_then(|role| self.steps_of(role).next_back());
        self.interleaving.treatment == Treatment::Forbid
            && last.is_some_and(|step| self.instance.done & 1 << step == 0 && operation.is_step(step))
    }

    /// A thread that tries again and again would have the others wait for ever.
    fn give_up(&mut self) {
        self.instance = Instance::default();
        self.rests_until = self.points + self.random.below(LONGEST_REST);
    }

    /// This step of the current instance was done.
    fn advance(&mut self, step: usize, thread: u32, operation: Operation) {
        let steps = self.interleaving.steps();
        let (role, variable) = (self.role(step), usize::from(steps[step].variable));
        self.instance.threads[role] = Some(thread);
        self.instance.variables[variable] = operation.what;
        self.instance.done |= 1 << step;
        if usize::from(self.instance.done.count_ones() as u8) == steps.len() {
            self.completed += 1;
            self.instance = Instance::default();
        }
    }

    /// The thread is about to do this.
    pub fn arrives(&mut self, thread: u32, operation: Operation) {
        if self.interleaving.treatment == Treatment::Delay && operation.marks.steps != 0 {
            let until = self.points + self.random.below(LONGEST_DELAY);
            self.held_until.insert(thread, until);
        }
    }

    /// The thread is gone. What it did stays done; what it has not done never will be.
    pub fn left(&mut self, thread: u32) {
        if self.role_of(thread).is_some_and(|role| self.next_of(role).is_some()) {
            self.instance = Instance::default();
        }
    }

    /// Those who may run; none if all are held back.
    pub fn let_through(&self, candidates: &[Candidate]) -> Vec<Candidate> {
        candidates.iter().filter(|&&candidate| !self.is_held_back(candidate)).copied().collect()
    }

    fn is_held_back(&self, Candidate { thread, operation }: Candidate) -> bool {
        let begun = self.instance.done != 0;
        match self.interleaving.treatment {
            Treatment::Enforce if !begun => {
                let mut steps = 0..self.interleaving.steps().len();
                self.waits_for_first && steps.any(|step| self.comes_second(step) && operation.leads_to(step))
            }
            Treatment::Enforce => self.is_kept_waiting(thread),
            // The second step first; and once the first is done, the second as late as possible.
            Treatment::Forbid if self.is_pair() => match begun {
                true => self.next_step(thread, operation) == Some(1),
                false => operation.leads_to(0),
            },
            Treatment::Forbid => {
                let is_inside =
                    |role: usize| self.instance.threads[role].is_some() && self.next_of(role).is_some();
                begun && !self.role_of(thread).is_some_and(is_inside) && (0..MOST_ROLES).any(is_inside)
            }
            Treatment::Delay => self.held_until.get(&thread).is_some_and(|&until| until > self.points),
        }
    }

    /// Enforce: is it others' turn? If those are known who are next, they alone run; else all but those who have
    /// done their part.
    fn is_kept_waiting(&self, thread: u32) -> bool {
        let is_next = |role: usize| {
            self.instance.threads[role].is_some()
                && self.next_of(role).is_some_and(|step| self.is_ready(step))
        };
        match self.role_of(thread) {
            Some(role) => !is_next(role),
            None => (0..MOST_ROLES).any(is_next),
        }
    }
}

#[cfg(test)]
mod tests;
