//! To forbid what breaks into a thread's accesses: whoever has begun its part runs alone until it has finished it. Where the
//! first step is done under a lock, a part begins when that is taken: several threads may have it for reading, and none of them
//! could then go on to write. It ends if the lock is given back before the step is done.
//!
//! A thread may never come to its next step: it has found something else than expected, or waits for those whom it keeps
//! waiting. While it cannot run, others begin parts of their own, and these are finished first.

use recording::{Interleaving, MOST_ROLES};

use super::super::policy::Candidate;
use super::super::{Operation, Variable, What};
use super::instance::steps_of;

/// Points after which a part is given up.
const LONGEST: u64 = 3000;
/// Parts that are followed at the same time; the oldest is forgotten.
const MOST_PARTS: usize = 64;
/// A thread that breaks off and begins again and again, as one does that waits for what another one has to do, is left to
/// itself for so many points after so many times.
const MOST_BEGUN: u32 = 16;
const REST: u64 = 100;

/// What one thread has done of its part.
struct Part {
    thread: u32,
    role: usize,
    /// How many of its steps.
    done: usize,
    /// The lock that was taken for the first.
    guard: Option<What>,
    variables: [Option<Variable>; MOST_ROLES],
    begun_at: u64,
}

impl Part {
    fn is_about(&self, operation: Operation) -> bool {
        self.variables.iter().flatten().any(|variable| variable.common(operation).is_some())
    }

    /// This step was done.
    fn bind(&mut self, interleaving: &Interleaving, step: usize, operation: Operation) {
        let variable = &mut self.variables[usize::from(interleaving.steps()[step].variable)];
        *variable = variable.map_or_else(|| Variable::of(operation), |known| known.common(operation));
    }
}

/// The parts under way, those begun last at the end.
#[derive(Default)]
pub struct Alone {
    parts: Vec<Part>,
    /// Who has begun so often without coming to an end, and until when it rests.
    restless: Vec<(u32, u32, u64)>,
}

impl Alone {
    /// The thread did this.
    pub fn step(&mut self, interleaving: &Interleaving, points: u64, thread: u32, operation: Operation) {
        self.parts.retain(|part| points - part.begun_at <= LONGEST);
        let (mut went_on, mut broke_off) = (false, false);
        self.parts.retain_mut(|part| {
            if part.thread != thread {
                return true;
            }
            let next = next_step(interleaving, part);
            match next.filter(|&(step, _)| is_meant(part, interleaving, step, operation)) {
                Some((step, is_last)) => {
                    went_on = true;
                    part.bind(interleaving, step, operation);
                    part.done += 1;
                    !is_last
                }
                None if part.done == 0 => !gives_back(part, operation),
                // Another access to what it is about: it will not come about this way.
                None => {
                    let is_broken = operation.is_access && part.is_about(operation);
                    broke_off |= is_broken;
                    !is_broken
                }
            }
        });
        let is_inside = self.parts.iter().any(|part| part.thread == thread);
        if went_on && !is_inside {
            self.restless.retain(|&(other, ..)| other != thread);
        }
        // What is done to many variables in a row is begun with each of them; of two locks, one is part of the other's.
        if went_on || is_inside && !operation.is_access || broke_off && self.rests(points, thread) {
            return;
        }
        self.begin(interleaving, points, thread, operation);
    }

    /// The thread has taken the lock for its first step.
    pub fn enter(&mut self, interleaving: &Interleaving, points: u64, thread: u32, operation: Operation) {
        if !self.parts.iter().any(|part| part.thread == thread) {
            let takes_guard = |_: &Part, step: usize| operation.marks.guarded & 1 << step != 0;
            if let Some((mut part, _)) = first_of(interleaving, points, thread, takes_guard) {
                part.guard = operation.what;
                self.add(part);
            }
        }
    }

    fn begin(&mut self, interleaving: &Interleaving, points: u64, thread: u32, operation: Operation) {
        let is_first = |part: &Part, step: usize| is_meant(part, interleaving, step, operation);
        if let Some((mut part, step)) = first_of(interleaving, points, thread, is_first) {
            part.bind(interleaving, step, operation);
            part.done = 1;
            self.add(part);
        }
    }

    fn add(&mut self, part: Part) {
        if self.parts.len() == MOST_PARTS {
            self.parts.remove(0);
        }
        self.parts.push(part);
    }

    /// Counts how often the thread begins again.
    fn rests(&mut self, points: u64, thread: u32) -> bool {
        let known = self.restless.iter().position(|&(other, ..)| other == thread);
        let index = known.unwrap_or_else(|| {
            self.restless.push((thread, 0, 0));
            self.restless.len() - 1
        });
        let (_, begun, until) = &mut self.restless[index];
        *begun += 1;
        if *begun > MOST_BEGUN {
            (*begun, *until) = (0, points + REST);
        }
        *until > points
    }

    /// The thread is gone.
    pub fn left(&mut self, thread: u32) {
        self.parts.retain(|part| part.thread != thread);
    }

    /// Who is to run alone, of those who can.
    pub fn chosen(&self, candidates: &[Candidate]) -> Option<u32> {
        let can_run = |thread: u32| candidates.iter().any(|candidate| candidate.thread == thread);
        self.parts.iter().rev().map(|part| part.thread).find(|&thread| can_run(thread))
    }
}

/// A part of which nothing is done, whose first but not only step is this, and that step.
fn first_of(
    interleaving: &Interleaving,
    points: u64,
    thread: u32,
    is_first: impl Fn(&Part, usize) -> bool,
) -> Option<(Part, usize)> {
    (0..MOST_ROLES).find_map(|role| {
        let variables = [None; MOST_ROLES];
        let part = Part { thread, role, done: 0, guard: None, variables, begun_at: points };
        let (step, is_last) = next_step(interleaving, &part)?;
        (!is_last && is_first(&part, step)).then_some((part, step))
    })
}

/// Is the lock given back that was taken for the part's first step?
fn gives_back(part: &Part, operation: Operation) -> bool {
    !operation.is_access && operation.marks.guarded == 0 && operation.what == part.guard
}

/// The step that comes next in a part, and whether it is the last.
fn next_step(interleaving: &Interleaving, part: &Part) -> Option<(usize, bool)> {
    let mut left = steps_of(interleaving, part.role).skip(part.done);
    let next = left.next()?;
    Some((next, left.next().is_none()))
}

/// Would this be the step, done to what it should be done to?
fn is_meant(part: &Part, interleaving: &Interleaving, step: usize, operation: Operation) -> bool {
    let is_variable = match part.variables[usize::from(interleaving.steps()[step].variable)] {
        Some(known) => known.common(operation).is_some(),
        None => !part.is_about(operation),
    };
    operation.is_step(step) && is_variable
}
