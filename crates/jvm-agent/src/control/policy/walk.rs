//! Random walk: at each point, all threads that can run are equally likely to; or, with inertia, at one point in so
//! many, and the running thread goes on at the others.

use super::random::Random;
use super::{Candidate, Policy};

pub struct Walk {
    random: Random,
    one_in: u64,
}

impl Walk {
    /// Draws at one point in `one_in`.
    pub fn new(seed: u64, one_in: u64) -> Walk {
        Walk { random: Random::with_seed(seed), one_in }
    }
}

impl Policy for Walk {
    fn choose(&mut self, candidates: &[Candidate], current: Option<usize>) -> usize {
        match current {
            Some(current) if self.random.below(self.one_in) != 0 => current,
            _ => self.random.below(candidates.len() as u64) as usize,
        }
    }
}
