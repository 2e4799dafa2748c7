//! Who runs next in controlled runs: one scheduling algorithm per file, the same ones for all recorders.
//!
//! They live inside the tested program, so they use no heap and need no start-up code: all tables have a fixed size, and
//! everything can be a constant. What an operation is about is the recorder's business ([`Step`]).

#![no_std]

mod partial_order;
mod preemption;
mod priorities;
mod random;
mod restraint;
mod uniform;
mod walk;

use recording::{RunPlan, Schedule};

pub use random::Random;

/// What a thread does at a point, as far as policies have to know.
pub trait Step: Copy {
    /// Could it matter which of the two is done first?
    fn conflicts(self, other: Self) -> bool;

    /// The place in the code at which it is done, as the plan's sites are given to [`Policies::start`]; zero if that is
    /// not known.
    fn site(self) -> usize;
}

/// A thread that can run, and what it will do first.
#[derive(Clone, Copy, Debug)]
pub struct Candidate<S> {
    /// The thread's number, from one.
    pub seat: usize,
    /// What it will do.
    pub operation: S,
}

/// One scheduling algorithm. All that it knows comes from these calls, and all chance from the run's seed, so that
/// the same seed makes the same choices.
pub trait Policy<S: Step> {
    /// The index of the candidate to run next. There are at least two, in the order of their seats. `current` is the
    /// seat of the thread that ran so far, if it is among them.
    fn choose(&mut self, candidates: &[Candidate<S>], current: Option<usize>) -> usize;

    /// A thread got this seat.
    fn seated(&mut self, _seat: usize) {}

    /// The thread of this seat did this and has come to its next point.
    fn done(&mut self, _seat: usize, _operation: S) {}

    /// The thread of this seat has nothing to do until others have run.
    fn passes(&mut self, _seat: usize) {}
}

/// The policies, of which one is used, for threads with seats below `SEATS`.
pub struct Policies<S, const SEATS: usize> {
    schedule: Schedule,
    walk: walk::Walk,
    priorities: priorities::Priorities<SEATS>,
    partial_order: partial_order::PartialOrder<S, SEATS>,
    uniform: uniform::Uniform,
    preemption: preemption::Preemption,
}

impl<S: Step, const SEATS: usize> Policies<S, SEATS> {
    /// Not started yet.
    pub const fn new() -> Policies<S, SEATS> {
        Policies {
            schedule: Schedule::Free,
            walk: walk::Walk::new(),
            priorities: priorities::Priorities::new(),
            partial_order: partial_order::PartialOrder::new(),
            uniform: uniform::Uniform::new(),
            preemption: preemption::Preemption::new(),
        }
    }

    /// `sites` are the plan's, as [`Step::site`] gives them.
    pub fn start(&mut self, plan: &RunPlan, sites: impl Iterator<Item = usize>) {
        self.schedule = plan.schedule;
        self.walk.start(plan.seed);
        self.priorities.start(plan.seed, plan.points);
        self.partial_order.start(plan.seed);
        self.uniform.start(plan.seed, sites, &plan.weights);
        self.preemption.start(&plan.deviations);
    }

    /// Must the choices be recorded, so that later runs can make others?
    pub fn enumerates(&self) -> bool {
        self.schedule == Schedule::Bounded
    }

    /// The one that the plan asks for.
    pub fn chosen(&mut self) -> &mut dyn Policy<S> {
        match self.schedule {
            Schedule::Free | Schedule::Random => &mut self.walk,
            Schedule::Pct => &mut self.priorities,
            Schedule::Pos => &mut self.partial_order,
            Schedule::Surw => &mut self.uniform,
            Schedule::Bounded => &mut self.preemption,
        }
    }
}

impl<S: Step, const SEATS: usize> Default for Policies<S, SEATS> {
    fn default() -> Policies<S, SEATS> {
        Policies::new()
    }
}
