//! Probabilistic concurrency testing: S. Burckhardt, P. Kothari, M. Musuvathi, S. Nagarakatte, "A randomized
//! scheduler with probabilistic guarantees of finding bugs", ASPLOS 2010.
//!
//! Each thread has a random priority; the highest that can run does. At d - 1 random points of the run, the running
//! thread's priority falls below all others. A bug that needs d ordering constraints shows with a probability of at
//! least 1 / (n k^(d-1)) for n threads and k points.
//!
//! Deviations: (1) d is random from 1 to 4 in each run, since nobody knows the bug's; (2) k is the number of points
//! that earlier runs had, as the plan tells; (3) a thread that yields or spins falls below all others too, or it
//! would keep those it waits for from running.

use super::random::Random;
use super::{Candidate, Policy, Step};

const MOST_CHANGES: usize = 3;
/// Points of a run where none has been counted yet.
const UNKNOWN_POINTS: u64 = 1000;
/// Priorities from the start lie above this; each change gives the next one below.
const INITIAL: u64 = 1 << 63;

pub struct Priorities<const SEATS: usize> {
    random: Random,
    priorities: [u64; SEATS],
    changes: [u64; MOST_CHANGES],
    points: u64,
    next_low: u64,
}

impl<const SEATS: usize> Priorities<SEATS> {
    pub const fn new() -> Priorities<SEATS> {
        Priorities {
            random: Random::with_seed(0),
            priorities: [0; SEATS],
            changes: [0; MOST_CHANGES],
            points: 0,
            next_low: INITIAL - 1,
        }
    }

    pub fn start(&mut self, seed: u64, points: u64) {
        self.random = Random::with_seed(seed);
        let count = self.random.below(MOST_CHANGES as u64 + 1) as usize;
        let points = if points == 0 { UNKNOWN_POINTS } else { points };
        for change in &mut self.changes[..count] {
            *change = 1 + self.random.below(points);
        }
    }

    fn lower(&mut self, seat: usize) {
        self.priorities[seat] = self.next_low;
        self.next_low -= 1;
    }
}

impl<S: Step, const SEATS: usize> Policy<S> for Priorities<SEATS> {
    fn choose(&mut self, candidates: &[Candidate<S>], _current: Option<usize>) -> usize {
        let priority = |&(_, candidate): &(usize, &Candidate<S>)| self.priorities[candidate.seat];
        candidates.iter().enumerate().max_by_key(priority).map_or(0, |(index, _)| index)
    }

    fn seated(&mut self, seat: usize) {
        self.priorities[seat] = INITIAL | self.random.next();
    }

    fn done(&mut self, seat: usize, _operation: S) {
        self.points += 1;
        if self.changes.contains(&self.points) {
            self.lower(seat);
        }
    }

    fn passes(&mut self, seat: usize) {
        self.lower(seat);
    }
}
