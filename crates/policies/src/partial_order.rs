//! Partial order sampling: X. Yuan, J. Yang, R. Gu, "Partial order aware concurrency sampling", CAV 2018.
//!
//! Each thread's next operation has a random priority; the highest that can run does. Operations that conflict with
//! the one just done get new priorities, as does what its thread does next: orders of independent operations, which
//! make no difference, take up none of the chance.
//!
//! Deviations: an operation that waits (its lock is taken) gets a new priority when it is tried again. A thread that has
//! nothing to do but wait goes behind all others, those included that went there before it: two that spin would keep a third from
//! running for ever.

use super::random::Random;
use super::{Candidate, Policy, Step};

/// Priorities at random lie above this; each thread that passes gets the next one below.
const RANDOM: u64 = 1 << 63;

pub struct PartialOrder<S, const SEATS: usize> {
    random: Random,
    priorities: [u64; SEATS],
    next_low: u64,
    last: Option<S>,
}

impl<S: Step, const SEATS: usize> PartialOrder<S, SEATS> {
    pub const fn new() -> PartialOrder<S, SEATS> {
        PartialOrder {
            random: Random::with_seed(0),
            priorities: [0; SEATS],
            next_low: RANDOM - 1,
            last: None,
        }
    }

    pub fn start(&mut self, seed: u64) {
        self.random = Random::with_seed(seed);
    }

    fn draw(&mut self, seat: usize) {
        self.priorities[seat] = RANDOM | self.random.next();
    }
}

impl<S: Step, const SEATS: usize> Policy<S> for PartialOrder<S, SEATS> {
    fn choose(&mut self, candidates: &[Candidate<S>], _current: Option<usize>) -> usize {
        if let Some(last) = self.last.take() {
            for candidate in candidates.iter().filter(|candidate| last.conflicts(candidate.operation)) {
                self.draw(candidate.seat);
            }
        }
        let priority = |&(_, candidate): &(usize, &Candidate<S>)| self.priorities[candidate.seat];
        candidates.iter().enumerate().max_by_key(priority).map_or(0, |(index, _)| index)
    }

    fn seated(&mut self, seat: usize) {
        self.draw(seat);
    }

    fn done(&mut self, seat: usize, operation: S) {
        self.last = Some(operation);
        self.draw(seat);
    }

    fn passes(&mut self, seat: usize) {
        self.priorities[seat] = self.next_low;
        self.next_low -= 1;
    }
}
