//! Selectively uniform random walk (SURW): H. Zhao, D. Wolff, U. Mathur, A. Roychoudhury, "Selectively uniform
//! concurrency testing", ASPLOS 2025.
//!
//! Some operations are interesting in this run, and all orders of these are equally likely: who does the next one is
//! drawn in proportion to how many each thread has left, and whoever comes to one out of turn waits. The others are
//! scheduled by a random walk.
//!
//! Deviations, as in the native recorder: (1) interesting is what happens at the plan's sites; (2) how many each thread
//! does is what an earlier run counted; (3) the operations of threads that do not exist yet count for the first thread;
//! (4) only threads that can run are drawn, and one that then has nothing to do is passed over.

use std::collections::BTreeMap;

use super::random::Random;
use super::{Candidate, Policy};
use crate::control::Operation;

/// The first thread.
const FIRST: u32 = 1;

pub struct Uniform {
    random: Random,
    /// Interesting operations to come, by thread, and whether the thread exists.
    left: BTreeMap<u32, (u64, bool)>,
    /// Who does the next interesting operation, if that is drawn.
    drawn: Option<u32>,
}

impl Uniform {
    /// `weights`: how many interesting operations each thread does, from the first on.
    pub fn new(seed: u64, weights: &[u32]) -> Uniform {
        let left = (FIRST..).zip(weights).map(|(thread, &weight)| (thread, (weight.into(), false)));
        Uniform { random: Random::with_seed(seed), left: left.collect(), drawn: None }
    }

    fn left_of(&self, thread: u32) -> u64 {
        let own = self.left.get(&thread).map_or(0, |&(left, _)| left);
        // What the threads that do not exist yet will do. The first one may count itself.
        let unborn = || self.left.values().filter(|(_, is_born)| !is_born).map(|(left, _)| left).sum::<u64>();
        if thread == FIRST { own + unborn() } else { own }
    }

    /// What a thread has left: at least what it is about to do, whatever an earlier run counted.
    fn weight(&self, candidate: &Candidate) -> u64 {
        self.left_of(candidate.thread).max(candidate.operation.marks.is_site.into())
    }

    /// A thread in proportion to what it has left, none if nobody has anything left.
    fn draw(&mut self, candidates: &[Candidate]) -> Option<u32> {
        let total: u64 = candidates.iter().map(|one| self.weight(one)).sum();
        let mut drawn = if total == 0 { return None } else { self.random.below(total) };
        for one in candidates {
            let weight = self.weight(one);
            if drawn < weight {
                return Some(one.thread);
            }
            drawn -= weight;
        }
        None
    }
}

impl Policy for Uniform {
    fn choose(&mut self, candidates: &[Candidate], _current: Option<usize>) -> usize {
        if self.drawn.is_none() {
            self.drawn = self.draw(candidates);
        }
        let is_free = |&index: &usize| {
            let Candidate { thread, operation } = candidates[index];
            Some(thread) == self.drawn || !operation.marks.is_site
        };
        let free: Vec<usize> = (0..candidates.len()).filter(is_free).collect();
        if !free.is_empty() {
            return free[self.random.below(free.len() as u64) as usize];
        }
        self.drawn = self.draw(candidates);
        let any = self.random.below(candidates.len() as u64) as usize;
        candidates.iter().position(|one| Some(one.thread) == self.drawn).unwrap_or(any)
    }

    fn seated(&mut self, thread: u32) {
        let Some((own, is_born)) = self.left.get_mut(&thread) else { return };
        if std::mem::replace(is_born, true) {
            return;
        }
        // Drawn for what this one does, perhaps.
        let own = *own;
        if self.drawn == Some(FIRST) && own > 0 && self.random.below(own + self.left_of(FIRST)) < own {
            self.drawn = Some(thread);
        }
    }

    fn passes(&mut self, thread: u32) {
        if self.drawn == Some(thread) {
            self.drawn = None;
        }
    }

    fn done(&mut self, thread: u32, operation: Operation) {
        if operation.marks.is_site {
            if let Some((left, _)) = self.left.get_mut(&thread) {
                *left = left.saturating_sub(1);
            }
            self.drawn = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::Marks;

    /// The order in which two threads do their interesting operations, two each, with two others before each.
    fn order(seed: u64) -> Vec<u32> {
        let operation = |step: usize| Operation {
            marks: Marks { is_site: step % 3 == 2, ..Marks::default() },
            ..Operation::NONE
        };
        let mut policy = Uniform::new(seed, &[2, 2]);
        let mut steps = [0; 2];
        let mut order = Vec::new();
        policy.seated(1);
        policy.seated(2);
        while steps.iter().any(|&done| done < 6) {
            let candidates: Vec<Candidate> = (0..2)
                .filter(|&index| steps[index] < 6)
                .map(|index| Candidate { thread: index as u32 + 1, operation: operation(steps[index]) })
                .collect();
            let Candidate { thread, operation } = candidates[policy.choose(&candidates, None)];
            if operation.marks.is_site {
                order.push(thread);
            }
            policy.done(thread, operation);
            steps[thread as usize - 1] += 1;
        }
        order
    }

    /// Each of the six orders has an expectation of 1,000 of 6,000 and a deviation of 29; ten of these never happen.
    #[test]
    fn all_orders_of_what_is_interesting_are_equally_likely() {
        let mut counts: BTreeMap<Vec<u32>, u32> = BTreeMap::new();
        for seed in 0..6000 {
            *counts.entry(order(seed)).or_default() += 1;
        }
        assert_eq!(counts.len(), 6);
        assert!(counts.values().all(|count| (700..1300).contains(count)), "{counts:?}");
    }
}
