//! Runs that are not independent of each other: one leaves something behind, such as a file, that all after it fail or pass by. What their
//! threads do has nothing to do with it, and comparing them tells nothing.

use runner::{Outcome, RunRecord};

/// Passing runs without which it may be that the test always fails, and failing ones in a row that are no chance after these.
const FEWEST_PASSES: usize = 3;
const FEWEST_IN_A_ROW: usize = 30;

/// More rarely than this, failing runs are the first ones by chance.
const CHANCE: f64 = 0.001;

/// What to say if runs have only failed since one of them, or never again after the first ones.
pub fn suspected(records: &[RunRecord]) -> Option<String> {
    let mut judged: Vec<&RunRecord> =
        records.iter().filter(|record| !matches!(record.outcome, Outcome::Damaged { .. })).collect();
    judged.sort_by_key(|record| record.run);
    if let Some(failing) = only_the_first(&judged) {
        let first =
            if failing == 1 { "run 1 alone".to_owned() } else { format!("the first {failing} runs alone") };
        return Some(format!(
            "of {} runs, {first} failed: did it leave something behind, such as a file or a cache, that the others pass by? \
             Each run has to begin from the same state: have the test remove what it makes",
            judged.len()
        ));
    }
    let last = judged.iter().rposition(|record| matches!(record.outcome, Outcome::Pass))?;
    let (before, after) = judged.split_at(last + 1);
    let passed = before.iter().filter(|record| matches!(record.outcome, Outcome::Pass)).count();
    let is_sudden = passed >= FEWEST_PASSES && 2 * passed >= before.len() && after.len() >= FEWEST_IN_A_ROW;
    is_sudden.then(|| {
        format!(
            "the last {} runs have all failed, from run {} on: does one leave something behind, such as a file, that \
             those after it fail by? Runs have to be independent of each other to be compared",
            after.len(),
            after[0].run
        )
    })
}

/// How many runs failed, if these are the first of all, and that is no chance.
fn only_the_first(judged: &[&RunRecord]) -> Option<usize> {
    let failing = judged.iter().take_while(|record| record.outcome.is_failing()).count();
    let all = judged.iter().filter(|record| record.outcome.is_failing()).count();
    // So many runs out of all can be chosen in as many ways, and all are as likely.
    let chance: f64 = (0..failing).map(|nth| (failing - nth) as f64 / (judged.len() - nth) as f64).product();
    (failing > 0 && failing == all && chance < CHANCE).then_some(failing)
}

#[cfg(test)]
mod tests {
    use runner::RunNumber;

    use super::*;

    fn said(outcomes: &str) -> Option<String> {
        let record = |(index, outcome): (usize, char)| RunRecord {
            run: RunNumber(index as u32 + 1),
            plan: String::new(),
            outcome: match outcome {
                '.' => Outcome::Pass,
                _ => Outcome::Fail { reason: String::new() },
            },
            seconds: 0.1,
            processes: 1,
            warnings: Vec::new(),
            said: None,
        };
        suspected(&outcomes.chars().enumerate().map(record).collect::<Vec<_>>())
    }

    #[test]
    fn what_only_the_first_runs_fail_by_is_told_where_it_is_no_chance() {
        let passing = |runs| ".".repeat(runs);
        assert!(
            said(&format!("F{}", passing(1000))).unwrap().starts_with("of 1001 runs, run 1 alone failed: ")
        );
        assert_eq!(said(&format!("F{}", passing(500))), None, "one in 501 is the first");
        assert!(said(&format!("FF{}", passing(50))).unwrap().contains("the first 2 runs alone failed"));
        assert_eq!(said(&format!("FF{}F", passing(50))), None);
        assert_eq!(said(&format!(".F{}", passing(2000))), None);
        assert_eq!(said("FFF"), None);
    }
}
