//! Preemption bounding: M. Musuvathi, S. Qadeer, "Iterative context bounding for systematic testing of multithreaded
//! programs", PLDI 2007 (CHESS).
//!
//! A thread runs until it has to wait, ends or yields; then the next one does. The plan's deviations choose other
//! threads at some decisions. The runner enumerates them, from what the runs before have recorded of their decisions.
//!
//! Deviations: (1) decisions are at shared accesses too, not at synchronization alone, since programs with data races
//! are the ones to be tested; (2) who runs next by itself goes around in turn, so that threads which spin for
//! one another all get to run.

use recording::{Deviation, MOST_DEVIATIONS};

use super::{Candidate, Policy, Step};

pub struct Preemption {
    deviations: [Deviation; MOST_DEVIATIONS],
    count: usize,
    /// Deviations done.
    next: usize,
    decisions: u32,
    /// The seat of the thread that did something last.
    last: usize,
}

impl Preemption {
    pub const fn new() -> Preemption {
        const NONE: Deviation = Deviation { decision: 0, alternative: 0 };
        Preemption { deviations: [NONE; MOST_DEVIATIONS], count: 0, next: 0, decisions: 0, last: 0 }
    }

    pub fn start(&mut self, deviations: &[Deviation]) {
        self.count = deviations.len().min(MOST_DEVIATIONS);
        self.deviations[..self.count].copy_from_slice(&deviations[..self.count]);
    }

    /// Which other thread is to run at this decision; zero for none.
    fn alternative(&mut self) -> usize {
        let decision = self.decisions;
        self.decisions += 1;
        match self.deviations[..self.count].get(self.next) {
            Some(deviation) if deviation.decision == decision => {
                self.next += 1;
                deviation.alternative.into()
            }
            _ => 0,
        }
    }
}

impl<S: Step> Policy<S> for Preemption {
    fn choose(&mut self, candidates: &[Candidate<S>], current: Option<usize>) -> usize {
        let usual = match current {
            Some(seat) => candidates.iter().position(|one| one.seat == seat),
            None => candidates.iter().position(|one| one.seat > self.last),
        };
        (usual.unwrap_or(0) + self.alternative()) % candidates.len()
    }

    fn done(&mut self, seat: usize, _operation: S) {
        self.last = seat;
    }
}
