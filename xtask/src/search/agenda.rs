//! Which search comes next. Time is short, so that not all of them may be made: all programs have a few first, then those
//! come that fail rarely, whose searches differ most, then the rest. Searches for failures and for proofs have half
//! of the time each.

use std::time::Duration;

/// What is searched for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goal {
    Failure,
    Proof,
}

/// One trial of a program, in all ways.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Item {
    pub goal: Goal,
    pub trial: u32,
    /// Its place in the list of programs.
    pub program: usize,
}

/// Trials that all programs have before any has more.
const FIRST: u32 = 3;

/// All that is to be done, in its order.
pub struct Agenda {
    failures: Vec<Item>,
    proofs: Vec<Item>,
    spent: [Duration; 2],
}

impl Agenda {
    /// `rare` says of each program whether it fails rarely.
    pub fn new(rare: &[bool], trials: u32, proofs: bool) -> Agenda {
        let of = |goal: Goal| {
            let programs = 0..rare.len();
            let mut items: Vec<Item> = (0..trials)
                .flat_map(|trial| programs.clone().map(move |program| Item { goal, trial, program }))
                .collect();
            items.sort_by_key(|item| (item.trial >= FIRST && !rare[item.program], item.trial));
            items.reverse();
            items
        };
        let proofs = if proofs { of(Goal::Proof) } else { Vec::new() };
        Agenda { failures: of(Goal::Failure), proofs, spent: [Duration::ZERO; 2] }
    }

    /// What comes next.
    pub fn next(&mut self) -> Option<Item> {
        let [failures, proofs] = self.spent;
        let (first, second) = if failures <= proofs {
            (&mut self.failures, &mut self.proofs)
        } else {
            (&mut self.proofs, &mut self.failures)
        };
        first.pop().or_else(|| second.pop())
    }

    /// It took so long.
    pub fn took(&mut self, goal: Goal, time: Duration) {
        self.spent[goal as usize] += time;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_have_some_trials_and_then_the_rare_ones_have_more() {
        let mut agenda = Agenda::new(&[false, true], 5, false);
        let order: Vec<(u32, usize)> =
            std::iter::from_fn(|| agenda.next()).map(|item| (item.trial, item.program)).collect();
        let first = [(0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (2, 1)];
        assert_eq!(order, [&first[..], &[(3, 1), (4, 1), (3, 0), (4, 0)]].concat());
    }

    #[test]
    fn both_goals_have_as_much_time() {
        let mut agenda = Agenda::new(&[false], 3, true);
        let mut goals = Vec::new();
        while let Some(item) = agenda.next() {
            goals.push(item.goal);
            agenda.took(item.goal, Duration::from_secs(if item.goal == Proof { 10 } else { 6 }));
        }
        use Goal::{Failure, Proof};
        assert_eq!(goals, [Failure, Proof, Failure, Proof, Failure, Proof]);
    }
}
