//! Random walk with inertia: at one point in so many, all threads that can run are equally likely to; at the others the
//! running thread goes on.

use super::{Candidate, Policy, Random};

pub struct Inertia {
    random: Random,
    one_in: u64,
}

impl Inertia {
    /// Draws at one point in `one_in`.
    pub fn new(seed: u64, one_in: u64) -> Inertia {
        Inertia { random: Random::with_seed(seed), one_in }
    }
}

impl Policy for Inertia {
    fn choose(&mut self, candidates: &[Candidate], current: Option<usize>) -> usize {
        match current {
            Some(current) if self.random.below(self.one_in) != 0 => current,
            _ => self.random.below(candidates.len() as u64) as usize,
        }
    }
}
