//! Who runs next: the algorithms that all recorders share, and two for runs of which nobody has said how they shall go.

mod ambush;
mod inertia;
mod shared;

use recording::{Decision, Noise, RunPlan, Schedule};

pub use policies::Random;

use super::Operation;

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

/// The policy that a plan asks for.
pub fn of_plan(plan: &RunPlan) -> Box<dyn Policy> {
    match plan.schedule {
        Schedule::Free => undirected(plan.seed, plan),
        _ => Box::new(shared::Shared::new(plan)),
    }
}

/// Nobody has said how. Failures differ in what brings them about, so runs differ too: some switch at nearly every
/// point, some rarely, some by priorities.
fn undirected(seed: u64, plan: &RunPlan) -> Box<dyn Policy> {
    let kinds: &[u64] = match plan.noise {
        Noise::Off => return Box::new(inertia::Inertia::new(seed, u64::MAX)),
        Noise::Low => &[16],
        Noise::Medium => &[0],
        Noise::High => &[0, 0, 1],
    };
    let drawn = Random::with_seed(!seed).below(kinds.len() as u64) as usize;
    match kinds[drawn] {
        0 => Box::new(ambush::Ambush::new(seed)),
        one_in => Box::new(inertia::Inertia::new(seed, one_in)),
    }
}
