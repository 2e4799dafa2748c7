//! Runs that are not independent of each other: one leaves something behind, such as a file, that all after it fail by. What their threads
//! do has nothing to do with it, and comparing them tells nothing.

use runner::{Outcome, RunRecord};

/// Passing runs without which it may be that the test always fails, and failing ones in a row that are no chance after these.
const FEWEST_PASSES: usize = 3;
const FEWEST_IN_A_ROW: usize = 30;

/// What to say if runs have only failed since one of them.
pub fn suspected(records: &[RunRecord]) -> Option<String> {
    let mut judged: Vec<&RunRecord> =
        records.iter().filter(|record| !matches!(record.outcome, Outcome::Damaged { .. })).collect();
    judged.sort_by_key(|record| record.run);
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
