//! Who runs next: one scheduling algorithm per file.

mod partial_order;
mod preemption;
mod priorities;
mod random;
mod uniform;
mod walk;

use recording::{RunPlan, Schedule};

pub use random::Random;

use super::Operation;
use crate::cells::Kind;

/// A thread that can run, and what it will do first.
#[derive(Clone, Copy)]
pub struct Candidate {
    pub seat: usize,
    pub operation: Operation,
}

/// One scheduling algorithm. All that it knows comes from these calls, and all chance from the run's seed, so that
/// the same seed makes the same choices.
pub trait Policy {
    /// The index of the candidate to run next. There are at least two, in the order of their seats. `current` is the
    /// seat of the thread that ran so far, if it is among them.
    fn choose(&mut self, candidates: &[Candidate], current: Option<usize>) -> usize;

    /// A thread got this seat.
    fn seated(&mut self, _seat: usize) {}

    /// The thread of this seat did this and has come to its next point.
    fn done(&mut self, _seat: usize, _operation: Operation) {}

    /// The thread of this seat has nothing to do until others have run.
    fn passes(&mut self, _seat: usize) {}
}

/// Could it matter which of the two is done first?
fn conflict(one: Operation, other: Operation) -> bool {
    one.address != 0 && one.address == other.address && (one.kind != Kind::Read || other.kind != Kind::Read)
}

/// The policies, of which one is used.
pub struct Policies {
    schedule: Schedule,
    walk: walk::Walk,
    priorities: priorities::Priorities,
    partial_order: partial_order::PartialOrder,
    uniform: uniform::Uniform,
    preemption: preemption::Preemption,
}

impl Policies {
    pub const fn new() -> Policies {
        Policies {
            schedule: Schedule::Free,
            walk: walk::Walk::new(),
            priorities: priorities::Priorities::new(),
            partial_order: partial_order::PartialOrder::new(),
            uniform: uniform::Uniform::new(),
            preemption: preemption::Preemption::new(),
        }
    }

    /// `sites` are the plan's, as addresses.
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

    pub fn chosen(&mut self) -> &mut dyn Policy {
        match self.schedule {
            Schedule::Free | Schedule::Random => &mut self.walk,
            Schedule::Pct => &mut self.priorities,
            Schedule::Pos => &mut self.partial_order,
            Schedule::Surw => &mut self.uniform,
            Schedule::Bounded => &mut self.preemption,
        }
    }
}
