//! Which search comes next. Time is short, so that not all of them may be made: all programs have one for a failure and one for
//! the proof, in all ways, before any has a second one; after a few come those that fail rarely, whose searches differ
//! most, and then the rest.

/// What is searched for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
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

/// All that is to be done, in its order. `rare` says of each program whether it fails rarely.
pub fn agenda(rare: &[bool], trials: u32, goals: &[Goal]) -> Vec<Item> {
    let programs = |goal, trial| (0..rare.len()).map(move |program| Item { goal, trial, program });
    let of_trial = |trial| goals.iter().flat_map(move |&goal| programs(goal, trial));
    let mut items: Vec<Item> = (0..trials).flat_map(of_trial).collect();
    items.sort_by_key(|item| (item.trial >= FIRST && !rare[item.program], item.trial, item.goal));
    items
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_have_some_trials_and_then_the_rare_ones_have_more() {
        let order: Vec<(u32, usize)> = agenda(&[false, true], 5, &[Goal::Failure])
            .iter()
            .map(|item| (item.trial, item.program))
            .collect();
        let first = [(0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (2, 1)];
        assert_eq!(order, [&first[..], &[(3, 1), (4, 1), (3, 0), (4, 0)]].concat());
    }

    #[test]
    fn all_have_a_proof_before_any_is_searched_again() {
        let order: Vec<(Goal, u32, usize)> = agenda(&[false, true], 2, &[Failure, Proof])
            .iter()
            .map(|item| (item.goal, item.trial, item.program))
            .collect();
        use Goal::{Failure, Proof};
        let first = [(Failure, 0, 0), (Failure, 0, 1), (Proof, 0, 0), (Proof, 0, 1)];
        assert_eq!(order[..4], first);
        assert!(order[4..].iter().all(|&(_, trial, _)| trial == 1));
    }
}
