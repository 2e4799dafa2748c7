//! Selectively uniform random walk (SURW): H. Zhao, D. Wolff, U. Mathur, A. Roychoudhury, "Selectively uniform
//! concurrency testing", ASPLOS 2025.
//!
//! Some operations are interesting in this run, and all orders of these are equally likely: who does the next one is
//! drawn in proportion to how many each thread has left, and whoever comes to one out of turn waits. The others are
//! scheduled by a random walk and cost none of the chance.
//!
//! Deviations: (1) interesting is what happens at the plan's sites, those of one shared location or of a few, since
//! addresses differ between runs; (2) how many each thread does is what an earlier run counted, by seat; (3) the
//! operations of threads that do not exist yet count for the first thread, who most often creates them; (4) only
//! threads that can run are drawn, and one that then yields, spins or cannot run is passed over, since the others might
//! wait for it in vain; (5) in long runs, the walk over what is not interesting chooses at some of the points only.

use recording::{MOST_SITES, MOST_WEIGHTS};

use super::random::Random;
use super::restraint::Restraint;
use super::{Candidate, Policy, Step};

/// The first thread's seat.
const FIRST: usize = 1;

pub struct Uniform {
    random: Random,
    sites: [usize; MOST_SITES],
    site_count: usize,
    /// Interesting operations to come, by seat.
    left: [u64; MOST_WEIGHTS + 1],
    /// Seats that were taken at least once.
    born: [bool; MOST_WEIGHTS + 1],
    /// Who does the next interesting operation; zero if that is still to be drawn.
    drawn: usize,
    /// A thread has had nothing to do but wait since the last choice.
    is_waited_for: bool,
    restraint: Restraint,
}

impl Uniform {
    pub const fn new() -> Uniform {
        Uniform {
            random: Random::with_seed(0),
            sites: [0; MOST_SITES],
            site_count: 0,
            left: [0; MOST_WEIGHTS + 1],
            born: [false; MOST_WEIGHTS + 1],
            drawn: 0,
            is_waited_for: false,
            restraint: Restraint::new(),
        }
    }

    pub fn start(&mut self, seed: u64, sites: impl Iterator<Item = usize>, weights: &[u32]) {
        self.random = Random::with_seed(seed);
        for (place, site) in self.sites.iter_mut().zip(sites) {
            *place = site;
            self.site_count += 1;
        }
        for (left, &weight) in self.left[FIRST..].iter_mut().zip(weights) {
            *left = weight.into();
        }
    }

    fn is_interesting(&self, operation: impl Step) -> bool {
        operation.site() != 0 && self.sites[..self.site_count].contains(&operation.site())
    }

    /// What the threads that do not exist yet will do.
    fn unborn(&self) -> u64 {
        self.left.iter().zip(&self.born).skip(FIRST).filter(|(_, born)| !**born).map(|(left, _)| left).sum()
    }

    fn left_of(&self, seat: usize) -> u64 {
        let own = self.left.get(seat).copied().unwrap_or(0);
        if seat == FIRST { own + self.unborn() } else { own }
    }

    /// What a thread has left: at least what it is about to do, whatever an earlier run counted.
    fn weight<S: Step>(&self, candidate: &Candidate<S>) -> u64 {
        self.left_of(candidate.seat).max(self.is_interesting(candidate.operation).into())
    }

    /// A seat in proportion to what its thread has left, zero if nobody has anything left.
    fn draw<S: Step>(&mut self, candidates: &[Candidate<S>]) -> usize {
        let total: u64 = candidates.iter().map(|one| self.weight(one)).sum();
        let mut drawn = if total == 0 { return 0 } else { self.random.below(total) };
        for one in candidates {
            let weight = self.weight(one);
            if drawn < weight {
                return one.seat;
            }
            drawn -= weight;
        }
        0
    }
}

impl<S: Step> Policy<S> for Uniform {
    fn choose(&mut self, candidates: &[Candidate<S>], current: Option<usize>) -> usize {
        // Threads that spin can go on for ever while the one drawn waits for another, who waits for its turn.
        let is_in_vain =
            core::mem::take(&mut self.is_waited_for) && !candidates.iter().any(|one| one.seat == self.drawn);
        if self.drawn == 0 || is_in_vain {
            self.drawn = self.draw(candidates);
        }
        let drawn = self.drawn;
        let free =
            |one: &Candidate<S>, policy: &Uniform| one.seat == drawn || !policy.is_interesting(one.operation);
        let current = candidates.iter().position(|one| Some(one.seat) == current && free(one, self));
        if let Some(current) = current.filter(|_| self.restraint.goes_on(&mut self.random)) {
            return current;
        }
        let count = candidates.iter().filter(|one| free(one, self)).count();
        if count > 0 {
            let nth = self.random.below(count as u64) as usize;
            let mut chosen = candidates.iter().enumerate().filter(|(_, one)| free(one, self));
            return chosen.nth(nth).map_or(0, |(index, _)| index);
        }
        self.drawn = self.draw(candidates);
        let any = self.random.below(candidates.len() as u64) as usize;
        candidates.iter().position(|one| one.seat == self.drawn).unwrap_or(any)
    }

    fn seated(&mut self, seat: usize) {
        if seat >= self.born.len() || core::mem::replace(&mut self.born[seat], true) {
            return;
        }
        // Drawn for what this one does, perhaps.
        if self.drawn == FIRST {
            let (own, others) = (self.left[seat], self.left_of(FIRST));
            if own > 0 && self.random.below(own + others) < own {
                self.drawn = seat;
            }
        }
    }

    fn passes(&mut self, seat: usize) {
        self.is_waited_for = true;
        if self.drawn == seat {
            self.drawn = 0;
        }
    }

    fn done(&mut self, seat: usize, operation: S) {
        if self.is_interesting(operation) {
            if let Some(left) = self.left.get_mut(seat) {
                *left = left.saturating_sub(1);
            }
            self.drawn = 0;
        }
    }
}
