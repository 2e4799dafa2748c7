//! The policies that all recorders share, for threads of a virtual machine.

use policies::{Policies, Step};
use recording::{Decision, RunPlan};

use super::{Candidate, Policy};
use crate::control::{Operation, Variable};
use crate::recorder::Kind;

/// Threads that are told apart; where there are more, some share what the policy knows about them.
const SEATS: usize = 1024;
/// Stands for all of the plan's sites, which operations know by themselves.
const SITE: usize = 1;

pub struct Shared {
    policies: Box<Policies<Operation, SEATS>>,
    /// Choices that nobody has asked for yet.
    decisions: Vec<Decision>,
    /// This one has nothing to do until others have run.
    passed: Option<u32>,
}

impl Step for Operation {
    fn conflicts(self, other: Operation) -> bool {
        let is_same = Variable::of(self).is_some_and(|variable| variable.common(other).is_some());
        is_same && (self.kind != Kind::Read || other.kind != Kind::Read)
    }

    fn site(self) -> usize {
        if self.marks.is_site { SITE } else { 0 }
    }
}

fn seat(thread: u32) -> usize {
    1 + (thread as usize).wrapping_sub(1) % (SEATS - 1)
}

impl Shared {
    pub fn new(plan: &RunPlan) -> Shared {
        let mut policies = Box::new(Policies::new());
        policies.start(plan, std::iter::once(SITE));
        Shared { policies, decisions: Vec::new(), passed: None }
    }
}

impl Policy for Shared {
    fn choose(&mut self, candidates: &[Candidate], current: Option<usize>) -> usize {
        let passed = self.passed.take();
        // Where nobody else can run, there is nothing to decide.
        if candidates.len() == 1 {
            return 0;
        }
        let current = current.map(|index| candidates[index].thread);
        let current = current.filter(|_| !self.policies.enumerates() || current != passed);
        if self.policies.enumerates() {
            let count = candidates.len() as u16;
            self.decisions.push(Decision { candidates: count, preempts: current.is_some().into() });
        }
        let seated =
            |one: &Candidate| policies::Candidate { seat: seat(one.thread), operation: one.operation };
        let seated: Vec<_> = candidates.iter().map(seated).collect();
        self.policies.chosen().choose(&seated, current.map(seat))
    }

    fn seated(&mut self, thread: u32) {
        self.policies.chosen().seated(seat(thread));
    }

    fn done(&mut self, thread: u32, operation: Operation) {
        self.policies.chosen().done(seat(thread), operation);
    }

    fn passes(&mut self, thread: u32) {
        self.passed = Some(thread);
        if self.policies.enumerates() {
            // It had its turn, whatever it has done.
            self.policies.chosen().done(seat(thread), Operation::NONE);
        }
        self.policies.chosen().passes(seat(thread));
    }

    fn take_decisions(&mut self) -> Vec<Decision> {
        std::mem::take(&mut self.decisions)
    }
}

#[cfg(test)]
mod tests {
    use recording::{Deviation, List, Schedule};

    use super::*;

    fn bounded(deviations: &[Deviation]) -> Shared {
        let deviations = List::of(deviations.iter().copied());
        Shared::new(&RunPlan { schedule: Schedule::Bounded, deviations, ..RunPlan::default() })
    }

    fn candidates(threads: &[u32]) -> Vec<Candidate> {
        threads.iter().map(|&thread| Candidate { thread, operation: Operation::NONE }).collect()
    }

    #[test]
    fn a_thread_runs_on_but_where_the_plan_deviates() {
        let mut policy = bounded(&[Deviation { decision: 1, alternative: 2 }]);
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
        let mut policy = bounded(&[]);
        policy.passes(2);
        assert_eq!(policy.choose(&candidates(&[1, 2, 3]), Some(1)), 2);
        policy.done(3, Operation::NONE);
        assert_eq!(policy.choose(&candidates(&[1, 2]), None), 0);
        assert!(policy.take_decisions().iter().all(|decision| decision.preempts == 0));
    }

    #[test]
    fn there_may_be_more_threads_than_seats() {
        for schedule in [Schedule::Random, Schedule::Pct, Schedule::Pos, Schedule::Surw, Schedule::Bounded] {
            let mut policy = Shared::new(&RunPlan { schedule, ..RunPlan::default() });
            let threads: Vec<u32> = (1..=3 * SEATS as u32).collect();
            threads.iter().for_each(|&thread| policy.seated(thread));
            assert!(policy.choose(&candidates(&threads), None) < threads.len());
            policy.done(u32::MAX, Operation::NONE);
            policy.passes(u32::MAX);
        }
    }
}
