//! Random walk: at each point, all threads that can run are equally likely to.

use super::random::Random;
use super::{Candidate, Policy, Step};

pub struct Walk {
    random: Random,
}

impl Walk {
    pub const fn new() -> Walk {
        Walk { random: Random::with_seed(0) }
    }

    pub fn start(&mut self, seed: u64) {
        self.random = Random::with_seed(seed);
    }
}

impl<S: Step> Policy<S> for Walk {
    fn choose(&mut self, candidates: &[Candidate<S>], _current: Option<usize>) -> usize {
        self.random.below(candidates.len() as u64) as usize
    }
}
