//! Preemption bounding: M. Musuvathi, S. Qadeer, "Iterative context bounding for systematic testing of multithreaded
//! programs", PLDI 2007 (CHESS).
//!
//! A thread runs until it has to wait, ends or gives way; then the next one does. The plan's deviations choose other
//! threads at some decisions. The runner enumerates them, from what the runs before have recorded of their decisions.
//!
//! Deviations, as in the native recorder: (1) decisions are at shared accesses too, not at synchronization alone;
//! (2) who runs next by itself goes around in turn.

use recording::{Decision, Deviation};

use super::{Candidate, Policy};
use crate::control::Operation;

pub struct Preemption {
    /// Those still to come, the next one last.
    deviations: Vec<Deviation>,
    count: u32,
    decisions: Vec<Decision>,
    /// The thread that did something last.
    last: u32,
    /// It has nothing to do until others have run.
    passed: Option<u32>,
}

impl Preemption {
    pub fn new(deviations: &[Deviation]) -> Preemption {
        let deviations = deviations.iter().rev().copied().collect();
        Preemption { deviations, count: 0, decisions: Vec::new(), last: 0, passed: None }
    }

    /// Which other thread is to run at this decision; zero for none.
    fn alternative(&mut self) -> usize {
        let decision = self.count;
        self.count += 1;
        let is_now = |deviation: &mut Deviation| deviation.decision == decision;
        self.deviations.pop_if(is_now).map_or(0, |deviation| deviation.alternative.into())
    }
}

impl Policy for Preemption {
    fn choose(&mut self, candidates: &[Candidate], current: Option<usize>) -> usize {
        let passed = self.passed.take();
        let current = current.filter(|&index| Some(candidates[index].thread) != passed);
        let next = || candidates.iter().position(|one| one.thread > self.last).unwrap_or(0);
        let usual = current.unwrap_or_else(next);
        // Where nobody else can run, there is nothing to decide.
        if candidates.len() == 1 {
            return 0;
        }
        let count = candidates.len() as u16;
        self.decisions.push(Decision { candidates: count, preempts: current.is_some().into() });
        (usual + self.alternative()) % candidates.len()
    }

    fn done(&mut self, thread: u32, _operation: Operation) {
        self.last = thread;
    }

    fn passes(&mut self, thread: u32) {
        (self.passed, self.last) = (Some(thread), thread);
    }

    fn take_decisions(&mut self) -> Vec<Decision> {
        std::mem::take(&mut self.decisions)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidates(threads: &[u32]) -> Vec<Candidate> {
        threads.iter().map(|&thread| Candidate { thread, operation: Operation::NONE }).collect()
    }

    #[test]
    fn a_thread_runs_on_but_where_the_plan_deviates() {
        let mut policy = Preemption::new(&[Deviation { decision: 1, alternative: 2 }]);
        let three = candidates(&[1, 2, 3]);
        assert_eq!(policy.choose(&three, Some(1)), 1);
        assert_eq!(policy.choose(&candidates(&[2]), Some(0)), 0, "no decision");
        assert_eq!(policy.choose(&three, Some(1)), 0, "two further on");
        assert_eq!(policy.choose(&three, Some(0)), 0);
        let preempts: Vec<u16> = policy.take_decisions().iter().map(|decision| decision.preempts).collect();
        assert_eq!(preempts, [1, 1, 1]);
        assert!(policy.take_decisions().is_empty());
    }

    #[test]
    fn who_gives_way_is_followed_by_the_next() {
        let mut policy = Preemption::new(&[]);
        policy.passes(2);
        assert_eq!(policy.choose(&candidates(&[1, 2, 3]), Some(1)), 2);
        policy.done(3, Operation::NONE);
        assert_eq!(policy.choose(&candidates(&[1, 2]), None), 0);
        assert!(policy.take_decisions().iter().all(|decision| decision.preempts == 0));
    }
}
