//! Partial order sampling: X. Yuan, J. Yang, R. Gu, "Partial order aware concurrency sampling", CAV 2018.
//!
//! Each thread's next operation has a random priority; the highest that can run does. Operations that conflict with
//! the one just done get new priorities, as does what its thread does next.

use rustc_hash::FxHashMap;

use super::random::Random;
use super::{Candidate, Policy, conflict};
use crate::control::Operation;

pub struct PartialOrder {
    random: Random,
    priorities: FxHashMap<u32, u64>,
    last: Option<Operation>,
}

impl PartialOrder {
    pub fn new(seed: u64) -> PartialOrder {
        PartialOrder { random: Random::with_seed(seed), priorities: FxHashMap::default(), last: None }
    }

    fn draw(&mut self, thread: u32) {
        let priority = self.random.next();
        self.priorities.insert(thread, priority);
    }
}

impl Policy for PartialOrder {
    fn choose(&mut self, candidates: &[Candidate], _current: Option<usize>) -> usize {
        if let Some(last) = self.last.take() {
            for candidate in candidates.iter().filter(|candidate| conflict(last, candidate.operation)) {
                self.draw(candidate.thread);
            }
        }
        let priority = |&(_, candidate): &(usize, &Candidate)| self.priorities.get(&candidate.thread);
        candidates.iter().enumerate().max_by_key(priority).map_or(0, |(index, _)| index)
    }

    fn seated(&mut self, thread: u32) {
        self.draw(thread);
    }

    fn done(&mut self, thread: u32, operation: Operation) {
        self.last = Some(operation);
        self.draw(thread);
    }

    fn passes(&mut self, thread: u32) {
        self.priorities.insert(thread, 0);
    }
}
