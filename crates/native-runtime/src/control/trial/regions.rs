//! To forbid an interleaving: what one thread does between its first and its last step stays whole.
//!
//! A thread that has done the first of its steps is inside of a *region* until it has done the last. Meanwhile others
//! are held back where they would touch its variables, where they would do steps of their own, and where they would
//! take a lock that the thread held at one of its steps: as if it had kept that lock. Where the first step is itself to take a
//! lock, and the last one to take another, the region lasts until that is given back: the thread may take others in turn meanwhile, as in a loop.
//!
//! Where the first step is done under a lock, the region begins when that is taken, and ends if it is given back before
//! the step is done. Several threads may hold a lock for reading: one that has it could not be held back any more
//! without keeping the region's own thread from writing.

use recording::MOST_ROLES;

use super::instance::{Bytes, Pattern};
use crate::cells::Kind;
use crate::control::Operation;
use crate::control::seats::SEATS;

const MOST_REGIONS: usize = 32;
/// Locks that are remembered for a region.
const MOST_GUARDS: usize = 4;

#[derive(Clone, Copy)]
struct Region {
    /// Zero if there is none.
    seat: usize,
    role: usize,
    /// None if so far only the lock was taken.
    last_done: Option<usize>,
    variables: [Bytes; MOST_ROLES],
    /// Has the thread written to the variable?
    written: [bool; MOST_ROLES],
    guards: [usize; MOST_GUARDS],
    /// The lock that the first step takes, if the last one takes another; or zero.
    taken: usize,
    /// Where the lock was taken under which the first step was done, with all calls that led there, or zero.
    entry: u32,
    opened_at: u32,
}

const NONE: Region = Region {
    seat: 0,
    role: 0,
    last_done: None,
    variables: [Bytes::NONE; MOST_ROLES],
    written: [false; MOST_ROLES],
    guards: [0; MOST_GUARDS],
    taken: 0,
    entry: 0,
    opened_at: 0,
};

pub struct Regions {
    regions: [Region; MOST_REGIONS],
    /// Where each thread synchronized last, by seat, with all calls that led there.
    synchronized: [u32; SEATS],
}

impl Regions {
    pub const fn new() -> Regions {
        Regions { regions: [NONE; MOST_REGIONS], synchronized: [0; SEATS] }
    }

    /// The thread of this seat did this, while it held these locks.
    pub fn done(
        &mut self,
        pattern: &Pattern,
        seat: usize,
        operation: Operation,
        locks: &[usize],
        now: (u32, u32),
    ) {
        let (points, patience) = now;
        if operation.size == 0 && operation.site != 0 {
            self.synchronized[seat] = operation.leaf;
        }
        for region in self.regions.iter_mut().filter(|region| region.seat != 0) {
            if points.wrapping_sub(region.opened_at) > patience {
                *region = NONE;
            } else if region.seat == seat {
                region.follow(pattern, operation, locks);
            }
        }
        for role in 0..MOST_ROLES {
            let mut steps = pattern.steps_of(role);
            let (Some(first), Some(last)) = (steps.next(), steps.next_back()) else { continue };
            let takes_guard = operation.address != 0 && pattern.is_at_guard(first, operation);
            if !takes_guard && !pattern.is_at(first, operation) {
                continue;
            }
            let bytes = Bytes::of(operation);
            let variable = pattern.variable(first);
            let is_again = |region: &Region| {
                region.seat == seat
                    && region.role == role
                    && (region.is_entered() || !takes_guard && region.variables[variable].overlap(bytes))
            };
            let place = self.regions.iter().position(is_again);
            let place = place.or_else(|| self.regions.iter().position(|region| region.seat == 0));
            let place = place.and_then(|at| self.regions.get_mut(at));
            if let Some(place) = place {
                let is_locked = takes_guard || locks.iter().any(|&lock| lock != 0);
                let entry = if is_locked { self.synchronized[seat] } else { 0 };
                let lasts = operation.size == 0 && !takes_guard && !pattern.is_guarded(last);
                let taken = if lasts { operation.address } else { 0 };
                *place = Region { seat, role, taken, entry, opened_at: points, ..NONE };
                if takes_guard {
                    place.guards[0] = operation.address;
                } else {
                    place.note(pattern, first, operation, locks);
                }
            }
        }
    }

    /// The thread of this seat is about to do this. If that is how its region began, it has left it in between; unless its next step
    /// is done under a lock that is taken there, too, as where a loop gives its lock back each time round.
    pub fn arrives(&mut self, pattern: &Pattern, seat: usize, operation: Operation) {
        let bytes = Bytes::of(operation);
        for region in self.regions.iter_mut().filter(|region| region.seat == seat) {
            let begins = pattern.steps_of(region.role).next().is_some_and(|first| {
                pattern.is_at(first, operation) && region.variables[pattern.variable(first)].overlap(bytes)
            });
            let is_entry = operation.leaf != 0 && operation.leaf == region.entry;
            if begins || is_entry && !region.is_led_on(pattern, operation) {
                *region = NONE;
            }
        }
    }

    /// Does this thread go on with what it has begun? It was let go then, though another was inside, and the sooner it is done the better:
    /// as long as it is not, further ones would break into that as well.
    fn is_inside(&self, seat: usize, operation: Operation) -> bool {
        let bytes = Bytes::of(operation);
        let mut own = self.regions.iter().filter(|region| region.seat == seat && !region.is_entered());
        own.any(|region| {
            region.variables.iter().any(|variable| variable.is_known() && variable.overlap(bytes))
        })
    }

    pub fn left(&mut self, seat: usize) {
        for region in self.regions.iter_mut().filter(|region| region.seat == seat) {
            *region = NONE;
        }
    }

    /// Would this operation of this thread break into another's region?
    pub fn is_closed_to(&self, pattern: &Pattern, seat: usize, operation: Operation) -> bool {
        let mut others = self.regions.iter().filter(|region| region.seat != 0 && region.seat != seat);
        !self.is_inside(seat, operation) && others.any(|region| region.is_broken_by(pattern, operation))
    }
}

impl Region {
    /// Was the lock taken, and nothing done yet?
    fn is_entered(&self) -> bool {
        self.seat != 0 && self.last_done.is_none()
    }

    /// Is a lock taken here for a step that is still to be done?
    fn is_led_on(&self, pattern: &Pattern, operation: Operation) -> bool {
        let is_left = |step: &usize| self.last_done.is_some_and(|done| *step > done);
        pattern.steps_of(self.role).filter(is_left).any(|step| pattern.is_at_guard(step, operation))
    }

    fn follow(&mut self, pattern: &Pattern, operation: Operation, locks: &[usize]) {
        let Some(last_done) = self.last_done else {
            let waits_for_it = operation.size == 0 && operation.address == self.guards[0];
            if !waits_for_it && !locks.contains(&self.guards[0]) {
                *self = NONE;
            }
            return;
        };
        let waits_for_it = operation.size == 0 && operation.address == self.taken;
        if self.taken != 0 && !waits_for_it && !locks.contains(&self.taken) {
            *self = NONE;
            return;
        }
        let mut left = pattern.steps_of(self.role).filter(|&step| step > last_done);
        let Some(next) = left.next() else { return };
        let is_last = left.next().is_none();
        let variable = self.variables[pattern.variable(next)];
        let fits = !variable.is_known() || variable.overlap(Bytes::of(operation));
        if pattern.is_at(next, operation) && fits {
            if is_last && self.taken == 0 {
                *self = NONE;
            } else if !is_last {
                self.note(pattern, next, operation, locks);
            }
        }
    }

    fn note(&mut self, pattern: &Pattern, step: usize, operation: Operation, locks: &[usize]) {
        self.last_done = Some(step);
        self.variables[pattern.variable(step)] = Bytes::of(operation);
        self.written[pattern.variable(step)] |= operation.kind != Kind::Read;
        // The step may itself be to take a lock.
        let taken = if operation.size == 0 { operation.address } else { 0 };
        for &lock in locks.iter().chain([&taken]).filter(|&&lock| lock != 0) {
            if !self.guards.contains(&lock)
                && let Some(free) = self.guards.iter_mut().find(|guard| **guard == 0)
            {
                *free = lock;
            }
        }
    }

    fn is_broken_by(&self, pattern: &Pattern, operation: Operation) -> bool {
        let bytes = Bytes::of(operation);
        let takes_guard =
            operation.size == 0 && operation.address != 0 && self.guards.contains(&operation.address);
        // What is held back at such a step has the lock already that the region's thread may need.
        let leads_to_step = pattern.steps().any(|step| {
            let is_other =
                pattern.role(step) != self.role && !self.variables[pattern.variable(step)].is_known();
            is_other && pattern.has_several_variables() && pattern.is_at_guard(step, operation)
        });
        if self.is_entered() {
            return takes_guard || leads_to_step;
        }
        let conflicts = self.variables.iter().zip(self.written).any(|(variable, written)| {
            variable.is_known() && variable.overlap(bytes) && (written || operation.kind != Kind::Read)
        });
        // Two threads inside of such regions would wait for each other to finish.
        let is_step = pattern.steps().any(|step| {
            let variable = self.variables[pattern.variable(step)];
            let is_known = variable.is_known() && variable.overlap(bytes);
            let may_be = !variable.is_known() && pattern.role(step) != self.role;
            pattern.is_at(step, operation) && (is_known || may_be)
        });
        takes_guard || leads_to_step || is_step || operation.size != 0 && conflicts
    }
}
