//! Findings that come about only if something else is in place: a thread may come to its step only if it has looked at
//! another variable in time. They are forced together with the orders that led to them in the example run, as few as will do.
//!
//! That proves nothing about a finding of which those orders alone are the cause. So its own accesses
//! are turned round while the others stay as they are: unless runs fail less then, it is not confirmed.

use std::collections::BTreeSet;

use recording::Interleaving;
use report::{Finding, NeededOrder, NeededOrders, NeededStep, Trial, Verdict};

use super::decision::{Arm, Arms, BELIEVED};
use super::minimal::between_threads;
use super::trials::{Laboratory, Limits, Proof, Shown, kinds};
use super::turned;
use crate::interleaving::{Forcible, Led, Origin};

/// Runs that tell whether orders are enough: if none of the first fails, they are not.
const FIRST_RUNS: u32 = 3;
const RUNS: u32 = 9;
/// Runs in which the finding's own accesses come in the other order.
const TURNED_RUNS: u32 = 9;

/// A proof with the fewest further orders that make one; none if none do.
pub fn confirm(
    laboratory: &mut Laboratory<'_>,
    forcible: &Forcible,
    shown: &Shown<'_>,
    limits: &Limits,
) -> anyhow::Result<Option<Proof>> {
    for leads in choices(forcible.leading.len()) {
        let Some(led) = forcible.led(&leads) else { continue };
        if limits.is_over() {
            break;
        }
        if !makes_runs_fail(laboratory, &led)? {
            continue;
        }
        let mut arms = Arms { odds_against: shown.odds_against, ..Arms::new(shown.share) };
        laboratory.compare(kinds(led.interleaving, forcible.interleaving), &mut arms, limits)?;
        let confirmation = arms.decide(BELIEVED);
        if confirmation.verdict == Verdict::Confirmed && is_part(laboratory, forcible, &led, &arms)? {
            return Ok(Some(Proof { confirmation, led: Some(led) }));
        }
    }
    Ok(None)
}

/// Sets of so many things, the smallest first.
fn choices(count: usize) -> Vec<Vec<usize>> {
    let members = |set: usize| (0..count).filter(move |nth| set & 1 << nth != 0).collect::<Vec<_>>();
    let mut sets: Vec<Vec<usize>> = (1..1 << count).map(members).collect();
    sets.sort_by_key(Vec::len);
    sets
}

fn makes_runs_fail(laboratory: &mut Laboratory<'_>, led: &Led) -> anyhow::Result<bool> {
    let first = laboratory.enforce(led.interleaving, FIRST_RUNS)?;
    if first.failed_with_it == 0 {
        return Ok(false);
    }
    let Arm { runs, came_about, failed_with_it, .. } = laboratory.enforce(led.interleaving, RUNS)?;
    Ok(failed_with_it * 3 > runs && failed_with_it * 5 >= came_about * 4)
}

/// Is each of the finding's own variables a part of the cause? Then runs hardly fail if the accesses to it come in the other order,
/// or where that cannot be, in any order.
fn is_part(laboratory: &mut Laboratory<'_>, own: &Forcible, led: &Led, arms: &Arms) -> anyhow::Result<bool> {
    let variables: BTreeSet<u8> = own.interleaving.steps().iter().map(|step| step.variable).collect();
    for variable in variables {
        let turned = turned::with_other_order(&led.interleaving, variable);
        let Some(other) = turned.or_else(|| without_orders(&led.interleaving, variable)) else {
            return Ok(false);
        };
        if !arms.fails_less(&laboratory.enforce(other, TURNED_RUNS)?) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The interleaving without the orders of accesses to this variable.
fn without_orders(interleaving: &Interleaving, variable: u8) -> Option<Interleaving> {
    let is_about = |step: usize| interleaving.steps()[step].variable == variable;
    let others = interleaving.orders().filter(|&(first, second)| !is_about(first) || !is_about(second));
    interleaving.with_orders(&others.collect::<Vec<_>>())
}

/// All orders that were enforced, in words.
pub fn needs(finding: &Finding, forcible: &Forcible, led: &Led, enforced: Trial) -> NeededOrders {
    let step = |nth: usize| match led.origins[nth] {
        Origin::Own(access) => NeededStep::from(&forcible.own_accesses(finding)[access]),
        Origin::Lead(lead, nth) => NeededStep::from(&forcible.leading[lead].told[nth]),
    };
    let orders = between_threads(&led.interleaving).into_iter();
    let orders = orders.map(|(first, second)| NeededOrder { first: step(first), second: step(second) });
    NeededOrders { orders: orders.collect(), runs: enforced.runs, failed: enforced.failed }
}

#[cfg(test)]
mod tests {
    use recording::{InterleavingStep, Treatment};

    use super::*;

    #[test]
    fn orders_of_one_variable_are_left_out() {
        let step = |thread, variable| InterleavingStep { thread, variable, ..InterleavingStep::default() };
        let steps = [step(1, 0), step(1, 1), step(2, 1), step(2, 0), step(1, 0)];
        let all = Interleaving::new(Treatment::Enforce, &steps).unwrap();
        let all = all.with_orders(&[(0, 3), (1, 2), (3, 4)]).unwrap();
        let left = |variable| without_orders(&all, variable).unwrap().orders().collect::<Vec<_>>();
        assert_eq!(left(0), [(1, 2)]);
        assert_eq!(left(1), [(0, 3), (3, 4)]);
    }

    #[test]
    fn few_orders_are_tried_before_many() {
        let none: Vec<Vec<usize>> = Vec::new();
        assert_eq!(choices(0), none);
        assert_eq!(
            choices(3),
            [vec![0], vec![1], vec![2], vec![0, 1], vec![0, 2], vec![1, 2], vec![0, 1, 2]]
        );
    }
}
