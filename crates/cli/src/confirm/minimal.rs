//! The smallest set of orders that makes a test fail: each of them is necessary, together they are sufficient, as far as
//! so many runs tell.
//!
//! It begins with all orders between threads that the finding has. If these do not make runs fail, orders
//! of other findings of the same cause are added, for bugs that need more than one pattern. Then each order is left
//! out for a while, and for good if runs fail as often without it (delta debugging, one at a time: there are few).

use recording::Interleaving;
use report::{NeededOrder, NeededOrders, NeededStep};

use super::decision::Arm;
use super::trials::{Laboratory, Limits};
use crate::analysis::Analysis;
use crate::interleaving::{self, Forcible, Joined};

/// Runs for each question.
const RUNS: u32 = 10;
/// Findings whose orders are put together at most.
const MOST_FINDINGS: usize = 3;
/// A chance below which one set of orders is taken to fail less often than another.
const FEWER: f64 = 0.05;

/// What a finding needs to make the test fail; none if no set of orders does.
pub fn needs(
    laboratory: &mut Laboratory<'_>,
    analysis: &Analysis,
    index: usize,
    limits: &Limits,
) -> anyhow::Result<Option<NeededOrders>> {
    let Some((joined, mut whole)) = sufficient(laboratory, analysis, index, limits)? else { return Ok(None) };
    let mut orders = between_threads(&joined.interleaving);
    let mut at = 0;
    while at < orders.len() && orders.len() > 1 && !limits.is_over() {
        let mut fewer = orders.clone();
        fewer.remove(at);
        let Some(interleaving) = joined.interleaving.with_orders(&fewer) else { break };
        let arm = laboratory.enforce(interleaving, RUNS)?;
        if is_sufficient(&arm) && localize::fisher(whole.counts(), arm.counts()) > FEWER {
            (orders, whole) = (fewer, arm);
        } else {
            at += 1;
        }
    }
    let step = |nth: usize| {
        let (finding, access) = joined.accesses[nth];
        let told = &analysis.report.findings[finding];
        let own = analysis.interleavings[finding].as_ref().map(|forcible| forcible.own_accesses(told));
        let access = &own.unwrap_or(&told.accesses)[access];
        NeededStep { thread: u32::from(joined.interleaving.steps()[nth].thread), ..NeededStep::from(access) }
    };
    let orders =
        orders.iter().map(|&(first, second)| NeededOrder { first: step(first), second: step(second) });
    Ok(Some(NeededOrders { orders: orders.collect(), runs: whole.runs, failed: whole.failed }))
}

/// The finding's orders, with those of others if need be, that make runs fail.
fn sufficient(
    laboratory: &mut Laboratory<'_>,
    analysis: &Analysis,
    index: usize,
    limits: &Limits,
) -> anyhow::Result<Option<(Joined, Arm)>> {
    let forcible = |at: usize| Some((at, analysis.interleavings[at].as_ref()?));
    let Some(own) = forcible(index) else { return Ok(None) };
    let mut chosen: Vec<(usize, &Forcible)> = vec![own];
    let Some(joined) = interleaving::join(&chosen) else { return Ok(None) };
    let arm = laboratory.enforce(joined.interleaving, RUNS)?;
    let mut best = (joined, arm);
    let findings = &analysis.report.findings;
    let others =
        (0..findings.len()).filter(|&at| at != index && findings[at].cluster == findings[index].cluster);
    for other in others.filter_map(forcible) {
        if is_sufficient(&best.1) || chosen.len() == MOST_FINDINGS || limits.is_over() {
            break;
        }
        chosen.push(other);
        let more = interleaving::join(&chosen).filter(|more| more.accesses.len() > best.0.accesses.len());
        let arm = match &more {
            Some(more) => laboratory.enforce(more.interleaving, RUNS)?,
            None => Arm::default(),
        };
        match more {
            Some(more) if arm.failed > best.1.failed => best = (more, arm),
            _ => drop(chosen.pop()),
        }
    }
    Ok(is_sufficient(&best.1).then_some(best))
}

/// Runs in which the orders came about fail nearly always, and most runs do.
fn is_sufficient(arm: &Arm) -> bool {
    arm.failed * 2 > arm.runs && arm.failed_with_it * 5 >= arm.came_about * 4
}

/// What one thread does in order needs no help.
pub fn between_threads(interleaving: &Interleaving) -> Vec<(usize, usize)> {
    let steps = interleaving.steps();
    interleaving.orders().filter(|&(first, second)| steps[first].thread != steps[second].thread).collect()
}
