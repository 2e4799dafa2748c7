//! Partial order sampling: X. Yuan, J. Yang, R. Gu, "Partial order aware concurrency sampling", CAV 2018.
//!
//! Each thread's next operation has a random priority; the highest that can run does. Operations that conflict with
//! the one just done get new priorities, as does what its thread does next: orders of independent operations, which
//! make no difference, take up none of the chance.
//!
//! Deviation: an operation that waits (its lock is taken) gets a new priority when it is tried again.

use super::super::Operation;
use super::super::seats::SEATS;
use super::random::Random;
use super::{Candidate, Policy, conflict};

pub struct PartialOrder {
    random: Random,
    priorities: [u64; SEATS],
    last: Option<Operation>,
}

impl PartialOrder {
    pub const fn new() -> PartialOrder {
        PartialOrder { random: Random::with_seed(0), priorities: [0; SEATS], last: None }
    }

    pub fn start(&mut self, seed: u64) {
        self.random = Random::with_seed(seed);
    }
}

impl Policy for PartialOrder {
    fn choose(&mut self, candidates: &[Candidate], _current: Option<usize>) -> usize {
        if let Some(last) = self.last.take() {
            for candidate in candidates.iter().filter(|candidate| conflict(last, candidate.operation)) {
                self.priorities[candidate.seat] = self.random.next();
            }
        }
        let priority = |&(_, candidate): &(usize, &Candidate)| self.priorities[candidate.seat];
        candidates.iter().enumerate().max_by_key(priority).map_or(0, |(index, _)| index)
    }

    fn seated(&mut self, seat: usize) {
        self.priorities[seat] = self.random.next();
    }

    fn done(&mut self, seat: usize, operation: Operation) {
        self.last = Some(operation);
        self.priorities[seat] = self.random.next();
    }

    fn passes(&mut self, seat: usize) {
        self.priorities[seat] = 0;
    }
}
