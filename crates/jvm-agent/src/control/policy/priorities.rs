//! Probabilistic concurrency testing: S. Burckhardt, P. Kothari, M. Musuvathi, S. Nagarakatte, "A randomized
//! scheduler with probabilistic guarantees of finding bugs", ASPLOS 2010.
//!
//! Each thread has a random priority; the highest that can run does. At a few random points of the run, the running
//! thread's priority falls below all others.
//!
//! Deviations, as in the native recorder: (1) the number of changes is random in each run; (2) the length of a run is
//! what earlier runs had; (3) a thread that yields or spins falls below all others too.

use rustc_hash::FxHashMap;

use super::random::Random;
use super::{Candidate, Policy};
use crate::control::Operation;

const MOST_CHANGES: u64 = 3;
/// Points of a run where none has been counted yet.
const UNKNOWN_POINTS: u64 = 1000;
/// Priorities from the start lie above this; each change gives the next one below.
const INITIAL: u64 = 1 << 63;

pub struct Priorities {
    random: Random,
    priorities: FxHashMap<u32, u64>,
    changes: Vec<u64>,
    points: u64,
    next_low: u64,
}

impl Priorities {
    pub fn new(seed: u64, points: u64) -> Priorities {
        let mut random = Random::with_seed(seed);
        let count = random.below(MOST_CHANGES + 1);
        let points = if points == 0 { UNKNOWN_POINTS } else { points };
        let changes = (0..count).map(|_| 1 + random.below(points)).collect();
        Priorities { random, priorities: FxHashMap::default(), changes, points: 0, next_low: INITIAL - 1 }
    }

    fn lower(&mut self, thread: u32) {
        self.priorities.insert(thread, self.next_low);
        self.next_low -= 1;
    }
}

impl Policy for Priorities {
    fn choose(&mut self, candidates: &[Candidate], _current: Option<usize>) -> usize {
        let priority = |&(_, candidate): &(usize, &Candidate)| self.priorities.get(&candidate.thread);
        candidates.iter().enumerate().max_by_key(priority).map_or(0, |(index, _)| index)
    }

    fn seated(&mut self, thread: u32) {
        let priority = INITIAL | self.random.next();
        self.priorities.insert(thread, priority);
    }

    fn done(&mut self, thread: u32, _operation: Operation) {
        self.points += 1;
        if self.changes.contains(&self.points) {
            self.lower(thread);
        }
    }

    fn passes(&mut self, thread: u32) {
        self.lower(thread);
    }
}
