//! An interleaving brought about, or avoided: before the policy chooses, threads that would spoil it are held back, as
//! long as another one can run. What is forced and forbidden is the same as in the native recorder (`control/trial` there).
//!
//! - To enforce it: threads whose turn it is not are held back, from the moment they have done their part; before an
//!   instance, now and then, those who are about to do too early what comes after another's step, or to take the lock for it.
//! - To forbid it: of an order, the first step is held back, or who is about to take the lock for it, until another
//!   thread has done the second; what is to be atomic is done by one thread at a time ([`alone`]).
//! - To delay for no purpose: threads about to do a step are held back for a while.
//!
//! Besides, a second interleaving can be avoided, whatever is done about the first: once a thread has begun it, no other
//! does a step of it. If it comes about all the same, the first counts as not having come about.
//!
//! Accesses are steps of a thread once it has come to its next point. What is done to locks and conditions is told at
//! once, since the thread may never come to another point: it has a lock, and may wait for the next for ever.

mod alone;
mod followed;
mod instance;

use recording::{Interleaving, MOST_ROLES, Treatment};
use rustc_hash::FxHashMap;

use self::alone::Alone;
use self::followed::Followed;
use self::instance::{Instance, is_pair, role, steps_of};
use super::Operation;
use super::policy::{Candidate, Random};

/// Points after which an instance is given up.
const LONGEST_INSTANCE: u64 = 3000;
const ONE_IN_ALL: u64 = 8;
/// Longest time without an instance after one that was given up, in points.
const LONGEST_REST: u64 = 100;
/// An instance outlasts less than two to the power of this many steps that others do to other variables.
const MOST_PATIENCE: u64 = 8;
/// Longest delay without purpose, in points.
const LONGEST_DELAY: u64 = 200;

pub struct Trial {
    interleaving: Interleaving,
    random: Random,
    points: u64,
    /// The occurrence that threads are held back for.
    instance: Instance,
    /// How often others may yet do steps of it to other variables, before those turn out to be the ones that matter.
    patience: u32,
    /// All of them.
    followed: Followed,
    /// What is not to come about meanwhile.
    avoided: Option<(Interleaving, Followed)>,
    /// When each thread came to where it is, in points.
    arrived_at: FxHashMap<u32, u64>,
    /// Forbid, of more than two steps: who runs alone.
    alone: Alone,
    /// Delay: until when threads are held back.
    held_until: FxHashMap<u32, u64>,
    /// Enforce: whether to hold back what comes too early, in this run.
    waits_for_first: bool,
    /// Whether that is held back already where its lock is about to be taken, in this run: if the first step is done under a lock
    /// too, in all of them, and else in half. Who has the lock may be in the way of the first step; but before it has it, it may not
    /// yet have done what leads others there.
    waits_at_guard: bool,
    /// How often an access begins an instance in this run, of [`ONE_IN_ALL`]: which of its occurrences
    /// matters, nobody knows.
    begins: u64,
    /// How patient instances are at most, in this run: which of the variables matters, nobody knows either.
    most_patience: u64,
    /// The point before which no instance begins.
    rests_until: u64,
}

impl Trial {
    pub fn new(seed: u64, interleaving: Interleaving, avoided: Option<Interleaving>) -> Trial {
        let mut random = Random::with_seed(!seed);
        let waits_for_first = is_pair(&interleaving) || random.below(4) > 0;
        let enforces = interleaving.treatment == Treatment::Enforce;
        let begins = if enforces { 1 << random.below(4) } else { ONE_IN_ALL };
        let most_patience = 1 << random.below(MOST_PATIENCE);
        let waits_at_guard = interleaving.steps()[0].guard != 0 || random.below(2) == 0;
        Trial {
            interleaving,
            random,
            points: 0,
            instance: Instance::default(),
            patience: 0,
            followed: Followed::default(),
            avoided: avoided.map(|avoided| (avoided, Followed::default())),
            arrived_at: FxHashMap::default(),
            alone: Alone::default(),
            held_until: FxHashMap::default(),
            waits_for_first,
            waits_at_guard,
            begins,
            most_patience,
            rests_until: 0,
        }
    }

    /// Does this step come after another thread's, and after none of its own?
    fn comes_second(&self, step: usize) -> bool {
        let own = role(&self.interleaving, step);
        self.interleaving.before(step) != 0 && steps_of(&self.interleaving, own).next() == Some(step)
    }

    /// How often the interleaving has come about; not at all if the avoided one has.
    pub fn completed(&self) -> u64 {
        let is_spoilt = self.avoided.as_ref().is_some_and(|(_, followed)| followed.completed > 0);
        if is_spoilt { 0 } else { self.followed.completed }
    }

    /// The thread did this and has come to its next point.
    pub fn done(&mut self, thread: u32, operation: Operation) {
        self.points += 1;
        self.held_until.remove(&thread);
        if !operation.is_told {
            self.step(thread, operation);
        }
    }

    /// Takes note of what happens while a schedule is followed: what is to be forbidden may have begun by the time that it can be.
    pub fn followed(&mut self, note: impl FnOnce(&mut Trial)) {
        if self.interleaving.treatment == Treatment::Forbid {
            note(self);
            self.followed.completed = 0;
        }
    }

    /// Is what breaks into a thread's accesses to be kept out?
    fn keeps_whole(&self) -> bool {
        self.interleaving.treatment == Treatment::Forbid && !is_pair(&self.interleaving)
    }

    /// Counts what comes about by what the thread did.
    fn follow(&mut self, thread: u32, operation: Operation) {
        if let Some((avoided, followed)) = &mut self.avoided {
            followed.step(avoided, thread, operation.as_avoided());
        }
        self.followed.step(&self.interleaving, thread, operation);
    }

    /// The thread did this.
    pub fn step(&mut self, thread: u32, operation: Operation) {
        self.follow(thread, operation);
        if self.keeps_whole() {
            return self.alone.step(&self.interleaving, self.points, thread, operation);
        }
        if self.instance.done != 0 {
            let is_late = self.points - self.instance.begun_at > LONGEST_INSTANCE;
            if let Some(step) = self.instance.next_step(&self.interleaving, thread, operation) {
                return self.advance(step, thread, operation);
            }
            if is_late || self.instance.is_broken_by(thread, operation) {
                self.give_up();
            } else if self.is_about_others(thread, operation) && self.patience > 1 {
                self.patience -= 1;
                return;
            } else if self.is_about_others(thread, operation) {
                self.instance = Instance::default();
            } else {
                return;
            }
        }
        if self.points >= self.rests_until
            && let Some(step) = self.instance.next_step(&self.interleaving, thread, operation)
            && (!operation.is_access || self.random.below(ONE_IN_ALL) < self.begins)
        {
            self.instance.begun_at = self.points;
            self.patience = 1 + self.random.below(self.most_patience) as u32;
            self.advance(step, thread, operation);
        }
    }

    /// The thread has taken the lock under which it may do a step.
    pub fn took_guard(&mut self, thread: u32, operation: Operation) {
        if self.keeps_whole() {
            self.alone.enter(&self.interleaving, self.points, thread, operation);
        }
    }

    /// The thread begins to wait in the midst of this. Where a step is the last of its thread and comes after another's,
    /// waiting is what it is about.
    pub fn waits(&mut self, thread: u32, mut operation: Operation) {
        operation.marks.steps = ending_in_waits(&self.interleaving, operation.marks.steps);
        let avoided = self.avoided.as_ref().map(|(avoided, _)| avoided);
        operation.marks.avoided =
            avoided.map_or(0, |avoided| ending_in_waits(avoided, operation.marks.avoided));
        if !operation.marks.has_steps() {
            return;
        }
        // Who runs alone goes on doing so until it has what it waits for.
        if self.keeps_whole() { self.follow(thread, operation) } else { self.step(thread, operation) }
    }

    /// Is it one of the steps, by a thread that has no part in the instance, done to something else?
    fn is_about_others(&self, thread: u32, operation: Operation) -> bool {
        operation.is_access
            && operation.marks.steps != 0
            && self.instance.role_of(thread).is_none()
            && !self.instance.is_about(operation)
    }

    /// A thread that tries again and again would have the others wait for ever.
    fn give_up(&mut self) {
        self.instance = Instance::default();
        self.rests_until = self.points + self.random.below(LONGEST_REST);
    }

    /// This step of the current instance was done.
    fn advance(&mut self, step: usize, thread: u32, operation: Operation) {
        if self.instance.advance(&self.interleaving, step, thread, operation) {
            self.instance = Instance::default();
        }
    }

    /// The thread is about to do this.
    pub fn arrives(&mut self, thread: u32, operation: Operation) {
        self.arrived_at.insert(thread, self.points);
        if self.interleaving.treatment == Treatment::Delay && operation.marks.steps != 0 {
            let until = self.points + self.random.below(LONGEST_DELAY);
            self.held_until.insert(thread, until);
        }
    }

    /// The thread is gone. What it did stays done; what it has not done never will be.
    pub fn left(&mut self, thread: u32) {
        self.alone.left(thread);
        self.followed.left(&self.interleaving, thread);
        if let Some((avoided, followed)) = &mut self.avoided {
            followed.left(avoided, thread);
        }
        if self.instance.is_left_open_by(&self.interleaving, thread) {
            self.instance = Instance::default();
        }
    }

    /// Those who may run, best of all without bringing about what is to be avoided; none if all are held back.
    pub fn let_through(&self, candidates: &[Candidate]) -> Vec<Candidate> {
        let alone = self.alone.chosen(candidates);
        let may_run = |candidate: &Candidate| {
            alone.is_none_or(|thread| thread == candidate.thread) && !self.is_held_back(*candidate)
        };
        let allowed: Vec<Candidate> =
            candidates.iter().copied().filter(|one| !self.is_avoided(*one)).collect();
        let chosen: Vec<Candidate> = allowed.iter().copied().filter(may_run).collect();
        if chosen.is_empty() && self.avoided.is_some() { allowed } else { chosen }
    }

    /// Would this bring about what is to be avoided? Nobody waits for that for ever.
    fn is_avoided(&self, Candidate { thread, operation }: Candidate) -> bool {
        let since = self.arrived_at.get(&thread).copied().unwrap_or(0);
        self.points - since <= LONGEST_INSTANCE
            && self.avoided.as_ref().is_some_and(|(avoided, followed)| {
                followed.is_joined_by(avoided, thread, operation.as_avoided())
            })
    }

    fn is_held_back(&self, Candidate { thread, operation }: Candidate) -> bool {
        let begun = self.instance.done != 0;
        match self.interleaving.treatment {
            Treatment::Enforce if !begun => {
                let is_next = |step| match self.waits_at_guard {
                    true => operation.leads_to(step),
                    false => operation.begins(step),
                };
                let mut steps = 0..self.interleaving.steps().len();
                self.waits_for_first && steps.any(|step| self.comes_second(step) && is_next(step))
            }
            Treatment::Enforce => self.is_kept_waiting(thread),
            // The second step first; and once the first is done, the second as late as possible.
            Treatment::Forbid if is_pair(&self.interleaving) => match begun {
                true => self.instance.next_step(&self.interleaving, thread, operation) == Some(1),
                false => operation.leads_to(0),
            },
            Treatment::Forbid => false,
            Treatment::Delay => self.held_until.get(&thread).is_some_and(|&until| until > self.points),
        }
    }

    /// Enforce: is it others' turn? If those are known who are next, they alone run; else all but those who have
    /// done their part.
    fn is_kept_waiting(&self, thread: u32) -> bool {
        let is_next = |role: usize| {
            let next = self.instance.next_of(&self.interleaving, role);
            self.instance.threads[role].is_some()
                && next.is_some_and(|step| self.instance.is_ready(&self.interleaving, step))
        };
        match self.instance.role_of(thread) {
            Some(role) => !is_next(role),
            None => (0..MOST_ROLES).any(is_next),
        }
    }
}

/// Of these steps, those that are the last of their thread and come after another's: waiting is what they are about.
fn ending_in_waits(interleaving: &Interleaving, steps: u16) -> u16 {
    let ends_in_wait = |&step: &usize| {
        let own = role(interleaving, step);
        let is_last = steps_of(interleaving, own).next_back() == Some(step);
        is_last && interleaving.before(step) != 0
    };
    (0..interleaving.steps().len()).filter(ends_in_wait).fold(0, |ending, step| ending | steps & 1 << step)
}

#[cfg(test)]
mod tests;
