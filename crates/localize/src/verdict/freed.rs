//! Uses of freed memory count together.
//!
//! What is freed too early is used by whichever access comes next: of one object or of another that it owns, at one site
//! or at the next. Each of these is seen in a part of the failing runs only, and something that merely goes with the
//! failure may be seen in more of them. But hardly a passing run uses freed memory, which does no harm as long as nobody else has got it, so that all uses are
//! one hypothesis: the one that most failing runs show stands for it.
//!
//! Where many passing runs use it as well, that tells nothing about which runs fail, but is a fault whatever comes of it, and most
//! probably the one behind a failure that nothing else explains.

use std::cmp::Reverse;

use super::causes::Cause;
use super::reason::Reason;
use super::scale::{Clue, Scale};

/// The use of freed memory that most runs show, passing ones among them.
pub(super) fn fault(scale: &Scale) -> Option<Cause> {
    let pairs = scale.evidence.clues.iter().filter(|(pattern, _)| pattern.sites().len() == 2);
    let in_passing_runs = pairs.filter(|(_, seen)| seen.passed > 0);
    let uses = in_passing_runs.filter_map(|(&pattern, seen)| scale.use_of_freed(pattern, seen));
    let most = uses.min_by_key(|clue| {
        let completed = clue.sighting.completed();
        (Reverse(clue.seen.failed + clue.seen.passed), completed, clue.pattern)
    })?;
    let mut cause = scale.cause(vec![most]);
    // In which orders other runs have the two accesses says no more than that.
    cause.reasons.retain(|reason| matches!(reason, Reason::Runs { .. } | Reason::Atomic));
    cause.reasons.push(Reason::Fault);
    Some(cause)
}

/// A use that so many times more failing than passing runs show is part of it: a few got away with it.
const TIMES: u32 = 10;

/// Has the use of freed memory that most failing runs show count for all that hardly a passing run shows. `evidence` tells how
/// well some runs, as bits, explain which runs fail, and `outcomes` how many of them fail and how many pass.
pub(super) fn count_together(
    clues: &mut [Clue],
    evidence: impl Fn(&[u64]) -> f64,
    outcomes: impl Fn(&[u64]) -> [u32; 2],
) {
    let counts = |clue: &&mut Clue| clue.uses_freed && TIMES * clue.seen.passed <= clue.seen.failed;
    let mut all: Vec<u64> = Vec::new();
    for clue in clues.iter_mut().filter(counts) {
        all.resize(all.len().max(clue.seen.runs.len()), 0);
        all.iter_mut().zip(&clue.seen.runs).for_each(|(all, runs)| *all |= runs);
    }
    let most = clues.iter_mut().filter(counts).max_by(|one, other| {
        let weight = one.weight.total_cmp(&other.weight);
        one.seen.failed.cmp(&other.seen.failed).then(weight).then(other.pattern.cmp(&one.pattern))
    });
    let Some(most) = most else { return };
    let [failed, passed] = outcomes(&all);
    if failed > most.seen.failed {
        most.weight += evidence(&all) - evidence(&most.seen.runs);
        most.together = Some([failed, passed]);
    }
}
