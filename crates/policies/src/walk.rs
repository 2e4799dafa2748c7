//! Random walk: at each point, all threads that can run are equally likely to. In long runs, at some of the points.

use super::random::Random;
use super::restraint::Restraint;
use super::{Candidate, Policy, Step};

pub struct Walk {
    random: Random,
    restraint: Restraint,
}

impl Walk {
    pub const fn new() -> Walk {
        Walk { random: Random::with_seed(0), restraint: Restraint::new() }
    }

    pub fn start(&mut self, seed: u64) {
        self.random = Random::with_seed(seed);
    }
}

impl<S: Step> Policy<S> for Walk {
    fn choose(&mut self, candidates: &[Candidate<S>], current: Option<usize>) -> usize {
        let current = candidates.iter().position(|one| Some(one.seat) == current);
        if let Some(current) = current.filter(|_| self.restraint.goes_on(&mut self.random)) {
            return current;
        }
        self.random.below(candidates.len() as u64) as usize
    }
}
