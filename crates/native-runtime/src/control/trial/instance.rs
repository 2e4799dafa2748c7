//! Occurrences of an interleaving that have begun: which of its steps were done, by whom and to what.

use recording::{Interleaving, MOST_COPIES, MOST_ROLES, MOST_STEPS};

use crate::control::Operation;
use crate::control::seats::Locks;
use crate::modules;

/// The interleaving that a run is about, and where its steps are in this process.
pub struct Pattern {
    interleaving: Interleaving,
    /// Where the steps' hooks return to; zero if the module is not loaded.
    sites: [usize; MOST_STEPS],
    /// Where the steps' functions are called; zero where that does not matter.
    callers: [usize; MOST_STEPS],
    /// Where the locks are taken that guard the steps; zero where there is none.
    guards: [usize; MOST_STEPS],
    /// Copies of the places above, by step; zeros behind the last.
    copies: [[usize; MOST_COPIES]; MOST_STEPS],
}

impl Pattern {
    /// An exact one is told by where its functions are called, too.
    pub unsafe fn new(interleaving: Interleaving, is_exact: bool) -> Pattern {
        let [mut sites, mut callers, mut guards] = [[0; MOST_STEPS]; 3];
        let mut copies = [[0; MOST_COPIES]; MOST_STEPS];
        for (nth, step) in interleaving.steps().iter().enumerate() {
            if let Some(module) = modules::with_build_id(&step.build_id) {
                let place = |address: u64| match address {
                    0 => 0,
                    address => module.bias.wrapping_add(address) as usize,
                };
                sites[nth] = place(step.address);
                callers[nth] = if is_exact { place(step.caller) } else { 0 };
                guards[nth] = place(step.guard);
                copies[nth] = step.copies.map(place);
            }
        }
        Pattern { interleaving, sites, callers, guards, copies }
    }

    pub fn steps(&self) -> core::ops::Range<usize> {
        0..self.interleaving.steps().len()
    }

    /// Where the step's hook returns to, in all copies; and more, if others of its places have copies, too.
    pub fn sites(&self, step: usize) -> impl Iterator<Item = usize> + '_ {
        core::iter::once(self.sites[step]).chain(self.copies_of(step)).filter(|&site| site != 0)
    }

    fn copies_of(&self, step: usize) -> impl Iterator<Item = usize> + '_ {
        self.copies[step].iter().copied().take_while(|&copy| copy != 0)
    }

    /// Is this the place of a step, or a copy of it?
    fn is_place(&self, step: usize, place: usize, address: usize) -> bool {
        address != 0 && place != 0 && (address == place || self.copies_of(step).any(|copy| copy == address))
    }

    /// From zero.
    pub fn role(&self, step: usize) -> usize {
        usize::from(self.interleaving.steps()[step].thread - 1)
    }

    pub fn variable(&self, step: usize) -> usize {
        usize::from(self.interleaving.steps()[step].variable)
    }

    pub fn steps_of(&self, role: usize) -> impl DoubleEndedIterator<Item = usize> + '_ {
        self.steps().filter(move |&step| self.role(step) == role)
    }

    pub fn has_several_variables(&self) -> bool {
        self.steps().any(|step| self.variable(step) != self.variable(0))
    }

    pub fn is_pair(&self) -> bool {
        self.steps().len() == 2
    }

    /// Does this operation happen where the step does?
    pub fn is_at(&self, step: usize, operation: Operation) -> bool {
        let caller = self.callers[step];
        self.is_place(step, self.sites[step], operation.site)
            && (caller == 0 || self.is_place(step, caller, operation.caller))
    }

    /// Is this where the lock is taken under which the step is done?
    pub fn is_at_guard(&self, step: usize, operation: Operation) -> bool {
        operation.size == 0 && self.is_place(step, self.guards[step], operation.site)
    }

    /// Is the step done under a lock, as far as is known?
    pub fn is_guarded(&self, step: usize) -> bool {
        self.guards[step] != 0
    }

    /// A lock is held at this step that was taken there.
    pub fn learn_guard(&mut self, operation: Operation, taken_at: usize) {
        for step in self.steps() {
            if self.guards[step] == 0 && operation.size != 0 && self.is_at(step, operation) {
                self.guards[step] = taken_at;
            }
        }
    }

    pub fn is_at_any(&self, operation: Operation) -> bool {
        self.steps().any(|step| self.is_at(step, operation))
    }

    fn all(&self) -> u16 {
        (1 << self.steps().len()) - 1
    }

    /// May this step be done once these are?
    pub fn is_ready(&self, step: usize, done: u16) -> bool {
        self.interleaving.before(step) & !done == 0 && self.next_of(self.role(step), done) == Some(step)
    }

    /// Has another thread to do a step now that comes after one of this thread's?
    fn is_awaited(&self, role: usize, done: u16) -> bool {
        let own = self.steps_of(role).fold(0, |steps, step| steps | 1 << step);
        self.steps().any(|step| {
            done & 1 << step == 0
                && self.role(step) != role
                && self.interleaving.before(step) & own & done != 0
        })
    }

    /// What is next for a thread when these are done.
    fn next_of(&self, role: usize, done: u16) -> Option<usize> {
        self.steps_of(role).find(|&step| done & 1 << step == 0)
    }
}

/// Bytes, a lock or a condition.
#[derive(Clone, Copy)]
pub struct Bytes {
    start: usize,
    end: usize,
}

impl Bytes {
    pub const NONE: Bytes = Bytes { start: 0, end: 0 };

    pub fn of(operation: Operation) -> Bytes {
        let Operation { address, size, .. } = operation;
        Bytes { start: address, end: address.saturating_add((size as usize).max(1)) }
    }

    pub fn is_known(self) -> bool {
        self.end != 0
    }

    pub fn overlap(self, other: Bytes) -> bool {
        self.start < other.end && other.start < self.end
    }
}

/// In place of the seat of a thread that has ended.
const GONE: u16 = u16::MAX;

/// An occurrence of the pattern, none as long as nothing is done.
#[derive(Clone, Copy)]
pub struct Instance {
    /// A bit for each step that was done.
    pub done: u16,
    /// By role, zero where not known yet.
    seats: [u16; MOST_ROLES],
    variables: [Bytes; MOST_ROLES],
    /// The locks that were held at a step, by variable.
    locks: [Locks; MOST_ROLES],
    pub begun_at: u32,
    /// Its last step was begun, and it counts as one that came about.
    pub is_counted: bool,
}

impl Instance {
    pub const NONE: Instance = Instance {
        done: 0,
        seats: [0; MOST_ROLES],
        variables: [Bytes::NONE; MOST_ROLES],
        locks: [[0; 4]; MOST_ROLES],
        begun_at: 0,
        is_counted: false,
    };

    pub fn is_active(&self) -> bool {
        self.done != 0
    }

    pub fn is_complete(&self, pattern: &Pattern) -> bool {
        self.done == pattern.all()
    }

    /// Are all steps done but this one?
    pub fn lacks_only(&self, pattern: &Pattern, step: usize) -> bool {
        self.done | 1 << step == pattern.all()
    }

    pub fn role_of(&self, seat: usize) -> Option<usize> {
        self.seats.iter().position(|&known| usize::from(known) == seat)
    }

    /// Has nobody else done anything yet?
    pub fn is_only_of(&self, seat: usize) -> bool {
        self.is_active() && self.seats.iter().all(|&known| known == 0 || usize::from(known) == seat)
    }

    /// Are these bytes a variable of it?
    pub fn is_about(&self, bytes: Bytes) -> bool {
        self.variables.iter().any(|variable| variable.is_known() && variable.overlap(bytes))
    }

    fn role_fits(&self, role: usize, seat: usize) -> bool {
        match usize::from(self.seats[role]) {
            0 => self.role_of(seat).is_none(),
            known => known == seat,
        }
    }

    /// Is this operation of this thread such a step, whether or not it is its turn?
    fn fits(&self, pattern: &Pattern, step: usize, seat: usize, operation: Operation) -> bool {
        let bytes = Bytes::of(operation);
        let variable = self.variables[pattern.variable(step)];
        let is_variable = if variable.is_known() { variable.overlap(bytes) } else { !self.is_about(bytes) };
        pattern.is_at(step, operation) && self.role_fits(pattern.role(step), seat) && is_variable
    }

    /// The step that this operation of this thread would be, if it is the step's turn.
    pub fn next_step(&self, pattern: &Pattern, seat: usize, operation: Operation) -> Option<usize> {
        pattern.steps().find(|&step| {
            self.done & 1 << step == 0
                && pattern.is_ready(step, self.done)
                && self.fits(pattern, step, seat, operation)
        })
    }

    /// Is this where a lock is taken for the step, and the lock one that its variable is guarded by, as far as is known?
    fn is_at_guard(&self, pattern: &Pattern, step: usize, operation: Operation) -> bool {
        let known = &self.locks[pattern.variable(step)];
        let may_guard = known.contains(&operation.address) || known.iter().all(|&lock| lock == 0);
        may_guard && pattern.is_at_guard(step, operation)
    }

    /// Is this any of its steps, or where the lock is taken for one, whoever does it?
    pub fn is_joined_by(&self, pattern: &Pattern, operation: Operation) -> bool {
        pattern.steps().any(|step| {
            let variable = self.variables[pattern.variable(step)];
            let is_variable = !variable.is_known() || variable.overlap(Bytes::of(operation));
            pattern.is_at(step, operation) && is_variable || self.is_at_guard(pattern, step, operation)
        })
    }

    /// Does this thread take the lock for a step whose turn it is?
    pub fn leads_on(&self, pattern: &Pattern, seat: usize, operation: Operation) -> bool {
        pattern.steps().any(|step| {
            self.is_at_guard(pattern, step, operation)
                && self.done & 1 << step == 0
                && pattern.is_ready(step, self.done)
                && self.role_fits(pattern.role(step), seat)
        })
    }

    /// Is this operation of this thread a step whose turn it is not?
    pub fn is_too_early(&self, pattern: &Pattern, seat: usize, operation: Operation) -> bool {
        let role = self.role_of(seat);
        pattern.steps().any(|step| {
            self.done & 1 << step == 0
                && role == Some(pattern.role(step))
                && !pattern.is_ready(step, self.done)
                && self.fits(pattern, step, seat, operation)
        })
    }

    /// Does this thread do with another lock what it should do with the instance's? It has given that back then.
    pub fn is_elsewhere(&self, pattern: &Pattern, seat: usize, operation: Operation) -> bool {
        let next = self.role_of(seat).and_then(|role| pattern.next_of(role, self.done));
        operation.size == 0 && next.is_some_and(|step| pattern.is_at(step, operation))
    }

    /// The thread of this seat has done this step, while it held these locks.
    pub fn advance(
        &mut self,
        pattern: &Pattern,
        step: usize,
        seat: usize,
        operation: Operation,
        locks: &Locks,
    ) {
        self.seats[pattern.role(step)] = seat as u16;
        self.variables[pattern.variable(step)] = Bytes::of(operation);
        self.locks[pattern.variable(step)] = *locks;
        self.done |= 1 << step;
    }

    /// The thread of this seat is gone. What it did stays done. Where it has not done all of its part, another one may, as of all who count themselves out
    /// only the last tells the others: it goes on without the part of the one that is gone, unless others have come after that.
    pub fn leave(&mut self, pattern: &Pattern, seat: usize) {
        let Some(role) = self.role_of(seat) else { return };
        if pattern.next_of(role, self.done).is_none() {
            self.seats[role] = GONE;
            return;
        }
        let own = pattern.steps_of(role).fold(0, |steps, step| steps | 1 << step) & self.done;
        let rest = self.done & !own;
        let comes_after = |step: usize| rest & 1 << step != 0 && pattern.interleaving.before(step) & own != 0;
        if rest == 0 || pattern.steps().any(comes_after) {
            *self = Instance::NONE;
            return;
        }
        self.done = rest;
        self.seats[role] = 0;
        for step in pattern.steps().filter(|step| own & 1 << step != 0) {
            let variable = pattern.variable(step);
            if !pattern.steps().any(|other| rest & 1 << other != 0 && pattern.variable(other) == variable) {
                (self.variables[variable], self.locks[variable]) = (Bytes::NONE, [0; 4]);
            }
        }
    }

    /// Should this thread wait for the others? It does once it has done what another's step comes after, at least if it
    /// has nothing more to do or is to wait at once, and where it is about to do a step too early, or to take the lock
    /// for that.
    pub fn keeps_waiting(&self, pattern: &Pattern, seat: usize, operation: Operation, at_once: bool) -> bool {
        let Some(role) = self.role_of(seat).filter(|_| self.is_active()) else { return false };
        let is_early = |step: usize| {
            !pattern.is_ready(step, self.done)
                && (pattern.is_at(step, operation) || self.is_at_guard(pattern, step, operation))
        };
        let next = pattern.next_of(role, self.done);
        (at_once || next.is_none()) && pattern.is_awaited(role, self.done) || next.is_some_and(is_early)
    }
}
