//! Who runs next: one scheduling algorithm per file, the same ones as in the native recorder.

mod ambush;
mod partial_order;
mod preemption;
mod priorities;
mod random;
mod uniform;
mod walk;

use recording::{Decision, Noise, RunPlan, Schedule};

pub use random::Random;

use super::Operation;
use crate::recorder::Kind;

/// A thread that can run, and what it will do first.
#[derive(Clone, Copy)]
pub struct Candidate {
    pub thread: u32,
    pub operation: Operation,
}

/// One scheduling algorithm. All that it knows comes from these calls, and all chance from the run's seed, so that
/// the same seed makes the same choices.
pub trait Policy: Send {
    /// The index of the candidate to run next. There is at least one; they are in the order of their threads. `current` is
    /// the index of the thread that ran so far, if it is among them.
    fn choose(&mut self, candidates: &[Candidate], current: Option<usize>) -> usize;

    /// A thread takes part from now on.
    fn seated(&mut self, _thread: u32) {}

    /// A thread did this and has come to its next point.
    fn done(&mut self, _thread: u32, _operation: Operation) {}

    /// A thread has nothing to do until others have run.
    fn passes(&mut self, _thread: u32) {}

    /// Choices that were made since this was asked last, for later runs to make others.
    fn take_decisions(&mut self) -> Vec<Decision> {
        Vec::new()
    }
}

/// Could it matter which of the two is done first?
fn conflict(one: Operation, other: Operation) -> bool {
    one.what.is_some() && one.what == other.what && (one.kind != Kind::Read || other.kind != Kind::Read)
}

/// The policy that a plan asks for.
pub fn of_plan(plan: &RunPlan) -> Box<dyn Policy> {
    let seed = plan.seed;
    match plan.schedule {
        Schedule::Random => Box::new(walk::Walk::new(seed, 1)),
        Schedule::Surw => Box::new(uniform::Uniform::new(seed, &plan.weights)),
        Schedule::Bounded => Box::new(preemption::Preemption::new(&plan.deviations)),
        Schedule::Pct => Box::new(priorities::Priorities::new(seed, plan.points)),
        Schedule::Pos => Box::new(partial_order::PartialOrder::new(seed)),
        Schedule::Free => undirected(seed, plan),
    }
}

/// Nobody has said how. Failures differ in what brings them about, so runs differ too: some switch at nearly every
/// point, some rarely, some by priorities.
fn undirected(seed: u64, plan: &RunPlan) -> Box<dyn Policy> {
    let kinds: &[u64] = match plan.noise {
        Noise::Off => return Box::new(walk::Walk::new(seed, u64::MAX)),
        Noise::Low => &[16],
        Noise::Medium => &[0],
        Noise::High => &[0, 0, 1],
    };
    let drawn = Random::with_seed(!seed).below(kinds.len() as u64) as usize;
    match kinds[drawn] {
        0 => Box::new(ambush::Ambush::new(seed)),
        one_in => Box::new(walk::Walk::new(seed, one_in)),
    }
}
