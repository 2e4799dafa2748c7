//! Findings that do harm only when much else is as it was in a failing run, such as a counter that has come so far. Failing
//! runs are followed up to where the finding came about in them, and only from there on is it forced or forbidden.

use report::{Confirmation, Verdict};

use super::decision::BELIEVED;
use super::trials::{Laboratory, Limits};
use crate::interleaving::Forcible;
use crate::replay::Beginning;

/// A proof from the beginnings of some of the failing runs that show it; none if there are none, or if they prove nothing.
pub fn confirm(
    laboratory: &mut Laboratory<'_>,
    forcible: &Forcible,
    runs: &[u64],
    limits: &Limits,
) -> anyhow::Result<Option<Confirmation>> {
    let own = forcible.interleaving;
    let beginnings = Beginning::of_runs(laboratory.session, runs, &own);
    if beginnings.is_empty() || limits.is_over() {
        return Ok(None);
    }
    // All runs begin as those that show it.
    let arms = laboratory.compare(own, own, &beginnings, 1.0, limits)?;
    let confirmation = Confirmation { followed: Some(beginnings.len() as u64), ..arms.decide(BELIEVED) };
    // What fails from there on with delays alone was decided before.
    if confirmation.verdict != Verdict::Confirmed || !arms.fails_more_than_delays() {
        return Ok(None);
    }
    laboratory.leave_out_variables(own, &beginnings, &arms, confirmation).map(Some)
}
