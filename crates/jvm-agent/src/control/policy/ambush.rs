//! Random walk with ambushes: now and then a thread that is about to access something is held until another one has
//! accessed the same, in a way that conflicts. Two accesses that a program has far apart in nearly all of its runs
//! come together that way, and what lies between a thread's own two accesses is broken up.
//!
//! After K. Sen, "Race directed random testing of concurrent programs", PLDI 2008. Deviations: (1) no race detector
//! says beforehand where to wait: any access to what other threads use too can be the place, and any moment after a
//! lock was given back; what has come up often is waited at less often; (2) the thread that comes may go on before the
//! one that waited does, so that it can finish what it began; (3) nobody waits for ever.

use policies::Step as _;
use rustc_hash::FxHashMap;

use super::{Candidate, Policy, Random};
use crate::control::{Operation, What};

/// Points after which nobody is taken to come any more: a random power of two between these.
const SHORTEST: u64 = 6;
const LONGEST: u64 = 11;
/// How much rarer it is to wait before a thread's first access than between two of its own.
const FIRST: u64 = 8;
/// Conflicting accesses after which the thread that waited goes on, at most.
const MOST_MEETINGS: u64 = 3;

pub struct Ambush {
    random: Random,
    /// One access in so many is waited at, in this run, when it comes up for the first time.
    one_in: u64,
    /// Who accessed what last, and how often it was accessed.
    seen: FxHashMap<What, (u32, u64)>,
    points: u64,
    held: Option<Held>,
}

struct Held {
    thread: u32,
    operation: Operation,
    until: u64,
    /// Conflicting accesses still to come.
    meetings: u64,
}

impl Ambush {
    pub fn new(seed: u64) -> Ambush {
        let mut random = Random::with_seed(seed);
        let one_in = 1 << random.below(4);
        Ambush { random, one_in, seen: FxHashMap::default(), points: 0, held: None }
    }

    /// Is this a place to wait at?
    fn is_worth_it(&mut self, thread: u32, operation: Operation) -> bool {
        let Some(what) = operation.what else { return false };
        let (last, times) = self.seen.entry(what).or_default();
        *times += 1;
        let rarity = if *last == thread { *times } else { FIRST * *times };
        *last = thread;
        self.held.is_none() && self.random.below(self.one_in * rarity) == 0
    }
}

impl Policy for Ambush {
    fn choose(&mut self, candidates: &[Candidate], current: Option<usize>) -> usize {
        self.points += 1;
        if self.held.as_ref().is_some_and(|held| self.points > held.until) {
            self.held = None;
        }
        if let Some(Candidate { thread, operation }) = current.map(|index| candidates[index])
            && self.is_worth_it(thread, operation)
        {
            let until = self.points + (1 << (SHORTEST + self.random.below(LONGEST - SHORTEST + 1)));
            let meetings = 1 + self.random.below(MOST_MEETINGS);
            self.held = Some(Held { thread, operation, until, meetings });
        }
        let held = self.held.as_ref().map(|held| held.thread);
        let free: Vec<usize> =
            (0..candidates.len()).filter(|&index| Some(candidates[index].thread) != held).collect();
        if free.is_empty() {
            // It may hold what the others need.
            self.held = None;
            return 0;
        }
        free[self.random.below(free.len() as u64) as usize]
    }

    fn done(&mut self, thread: u32, operation: Operation) {
        if let Some(held) = &mut self.held
            && held.thread != thread
            && held.operation.conflicts(operation)
        {
            held.meetings -= 1;
            if held.meetings == 0 {
                self.held = None;
            }
        }
    }
}
