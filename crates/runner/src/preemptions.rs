//! All schedules of a small test with few preemptions, one run each: CHESS's search (see the recorder's policy).
//!
//! A schedule is named by where it deviates from the usual one, in which each thread runs as long as it can. A run tells
//! which choices it had; each other choice after its last deviation names a schedule that nobody has run
//! yet. So each one comes up exactly once, those with fewer preemptions first, and nothing has to be remembered but
//! the schedules to come.

use std::collections::VecDeque;

use recording::{Decision, Deviation, MOST_DEVIATIONS};

/// Preemptions at most where no number was given: most bugs need no more than two (Musuvathi and Qadeer, PLDI 2007).
pub const DEFAULT_BOUND: u32 = 2;
/// Schedules that are waited with at most; a test that has more is not small.
const MOST_WAITING: usize = 1 << 20;

/// The schedules to come.
#[derive(Clone, Debug)]
pub struct Preemptions {
    /// By the number of preemptions.
    waiting: Vec<VecDeque<Vec<Deviation>>>,
    /// Preemptions of the schedule under way.
    under_way: Option<u32>,
    /// Schedules run, and seen to run as they should.
    done: u64,
    /// Some schedules were lost, so that nothing is ever covered: the run was not the one expected, or there were
    /// too many choices.
    is_incomplete: bool,
}

/// What was covered for certain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Covered {
    /// All schedules with up to so many preemptions were run.
    pub preemptions: u32,
    /// The number of schedules run, those with more preemptions included.
    pub schedules: u64,
}

impl Preemptions {
    /// Schedules with up to so many preemptions.
    pub fn up_to(bound: u32) -> Preemptions {
        let mut waiting = vec![VecDeque::new(); bound as usize + 1];
        waiting[0].push_back(Vec::new());
        Preemptions { waiting, under_way: None, done: 0, is_incomplete: false }
    }

    /// The schedule to run next, by its deviations; none if all were run. What the last one has recorded must be
    /// known by then.
    pub fn next_schedule(&mut self) -> Option<Vec<Deviation>> {
        let preemptions = self.waiting.iter().position(|waiting| !waiting.is_empty())?;
        self.under_way = Some(preemptions as u32);
        self.waiting[preemptions].pop_front()
    }

    /// The schedule with these deviations was run and had these choices.
    pub fn observe(&mut self, deviations: &[Deviation], decisions: &[Decision]) {
        let Some(preemptions) = self.under_way.take() else { return };
        let fits = |one: &Deviation| {
            decisions.get(one.decision as usize).is_some_and(|had| one.alternative < had.candidates)
        };
        if !deviations.iter().all(fits) {
            self.is_incomplete = true;
            return;
        }
        self.done += 1;
        let begin = deviations.last().map_or(0, |last| last.decision as usize + 1);
        for (number, decision) in decisions.iter().enumerate().skip(begin) {
            let preemptions = preemptions + u32::from(decision.preempts != 0);
            let Some(waiting) = self.waiting.get_mut(preemptions as usize) else { continue };
            for alternative in 1..decision.candidates {
                if deviations.len() == MOST_DEVIATIONS || waiting.len() >= MOST_WAITING {
                    self.is_incomplete = true;
                    break;
                }
                let new = Deviation { decision: number as u32, alternative };
                waiting.push_back(deviations.iter().copied().chain([new]).collect());
            }
        }
    }

    /// A run that says nothing leaves its schedule untried.
    pub fn lose(&mut self) {
        self.is_incomplete |= self.under_way.take().is_some();
    }

    /// What was covered so far; none if not even the schedules without preemptions.
    pub fn covered(&self) -> Option<Covered> {
        let open = self.waiting.iter().position(|waiting| !waiting.is_empty());
        let open = open.into_iter().chain(self.under_way.map(|under_way| under_way as usize)).min();
        let below = open.unwrap_or(self.waiting.len()) as u32;
        let preemptions = below.checked_sub(1).filter(|_| !self.is_incomplete)?;
        Some(Covered { preemptions, schedules: self.done })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FREE: Decision = Decision { candidates: 2, preempts: 0 };
    const PREEMPTION: Decision = Decision { candidates: 3, preempts: 1 };

    #[test]
    fn fewer_preemptions_come_first() {
        let mut search = Preemptions::up_to(1);
        assert_eq!(search.next_schedule(), Some(vec![]));
        assert_eq!(search.covered(), None);
        search.observe(&[], &[PREEMPTION, FREE]);
        let deviation = |decision, alternative| Deviation { decision, alternative };
        assert_eq!(search.next_schedule(), Some(vec![deviation(1, 1)]));
        search.observe(&[deviation(1, 1)], &[PREEMPTION, FREE]);
        assert_eq!(search.covered(), Some(Covered { preemptions: 0, schedules: 2 }));
        for alternative in [1, 2] {
            assert_eq!(search.next_schedule(), Some(vec![deviation(0, alternative)]));
            search.observe(&[deviation(0, alternative)], &[PREEMPTION]);
        }
        assert_eq!(search.next_schedule(), None);
        assert_eq!(search.covered(), Some(Covered { preemptions: 1, schedules: 4 }));
    }

    #[test]
    fn nothing_is_covered_if_a_run_went_another_way() {
        let mut search = Preemptions::up_to(0);
        search.next_schedule();
        search.observe(&[], &[FREE]);
        let other = search.next_schedule().expect("the other choice");
        search.observe(&other, &[]);
        assert_eq!(search.covered(), None);
        let mut search = Preemptions::up_to(0);
        search.next_schedule();
        search.lose();
        assert_eq!(search.covered(), None);
    }
}
