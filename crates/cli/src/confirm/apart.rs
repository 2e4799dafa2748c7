//! Findings that merely go along with another: what happens in the same stretch of code as the cause is forced
//! together with it, and forbidden together with it. So each is forced while the other one is avoided. A finding that
//! makes runs fail without the other is a cause of its own. One that does not, though the other one fails without it, is
//! explained by that. Where neither fails without the other, both are needed.

use recording::{Interleaving, InterleavingStep, Treatment};
use report::{Confirmation, Finding, Trial, Verdict};

use super::decision::Arm;
use super::trials::Laboratory;
use crate::interleaving::Forcible;

/// Runs for each of the two questions.
const RUNS: u32 = 9;
/// Below so many runs in which it comes about, a finding is not known to be harmless.
const FEW: u64 = 3;

/// A finding that was tried out before, and may be a cause.
pub struct Standing {
    number: u64,
    interleaving: Interleaving,
    /// What brings it about.
    forced: Interleaving,
    is_confirmed: bool,
}

impl Standing {
    /// None if it was not tried out, or refuted. Numbers count from one.
    pub fn of(number: u64, finding: &Finding, forcible: Option<&Forcible>) -> Option<Standing> {
        let verdict = finding.confirmation?.verdict;
        let (interleaving, forced) = (forcible?.interleaving, forcible?.forced());
        let is_confirmed = verdict == Verdict::Confirmed;
        (verdict != Verdict::Refuted).then_some(Standing { number, interleaving, forced, is_confirmed })
    }
}

/// What was confirmed is refuted if another finding explains it; with the text form of that.
pub fn judge(
    laboratory: &mut Laboratory<'_>,
    own: &Forcible,
    confirmation: Confirmation,
    standing: &[Standing],
) -> anyhow::Result<(Confirmation, Option<String>)> {
    let others = standing.iter().filter(|_| confirmation.verdict == Verdict::Confirmed);
    for other in others {
        if let Some(apart) = explained(laboratory, own, other)? {
            let apart = Some(Trial { runs: apart.came_about, failed: apart.failed_with_it });
            let verdict = Verdict::Refuted;
            let refuted = Confirmation { verdict, explained_by: Some(other.number), apart, ..confirmation };
            return Ok((refuted, Some(other.interleaving.to_string())));
        }
    }
    Ok((confirmation, None))
}

/// Forces a finding without another that was tried before it, and that one without it. What came of the first, if the
/// other one explains it.
fn explained(
    laboratory: &mut Laboratory<'_>,
    own: &Forcible,
    other: &Standing,
) -> anyhow::Result<Option<Arm>> {
    let forced = own.forced();
    let apart = laboratory.enforce_without(forced, avoidable(other.interleaving, forced), RUNS)?;
    if fails(&apart) {
        return Ok(None);
    }
    let avoided = avoidable(own.interleaving, other.forced);
    let without = laboratory.enforce_without(other.forced, avoided, RUNS)?;
    Ok(is_explained(&apart, &without, other.is_confirmed).then_some(apart))
}

/// What does not fail without the other is explained by it if that one fails without it. Where they cannot be had one without
/// the other, what was confirmed first explains what comes after it. Runs that say nothing explain nothing.
fn is_explained(apart: &Arm, other: &Arm, is_confirmed: bool) -> bool {
    let is_inseparable = other.came_about < FEW;
    apart.runs > 0 && !fails(apart) && (fails(other) || is_confirmed && other.runs > 0 && is_inseparable)
}

/// Does it make runs fail by itself, more often than not?
fn fails(arm: &Arm) -> bool {
    arm.came_about > 0 && arm.failed_with_it * 2 >= arm.came_about
}

/// What is to be avoided is avoided wherever its functions are called, but for places where the other interleaving has a
/// step, too.
fn avoidable(avoided: Interleaving, forced: Interleaving) -> Interleaving {
    let is_shared = |step: &InterleavingStep| forced.steps().iter().any(|own| own.is_same_place(step));
    let loosened = |step: &InterleavingStep| InterleavingStep {
        caller: if is_shared(step) { step.caller } else { 0 },
        ..*step
    };
    let steps: Vec<InterleavingStep> = avoided.steps().iter().map(loosened).collect();
    let orders: Vec<(usize, usize)> = avoided.orders().collect();
    let loose = Interleaving::new(Treatment::Forbid, &steps).and_then(|new| new.with_orders(&orders));
    loose.unwrap_or(avoided).treated(Treatment::Forbid)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arm(came_about: u64, failed_with_it: u64) -> Arm {
        Arm { runs: 9, failed: failed_with_it, came_about, failed_with_it }
    }

    #[test]
    fn what_fails_only_with_the_other_is_explained_by_it() {
        for is_confirmed in [false, true] {
            let explained = |apart, other| is_explained(&apart, &other, is_confirmed);
            assert!(explained(arm(9, 0), arm(9, 9)), "harmless without the other");
            assert!(explained(arm(0, 0), arm(9, 9)), "it never happens without the other");
            assert!(!explained(arm(8, 8), arm(9, 9)), "it fails without");
            assert!(!explained(arm(2, 2), arm(9, 9)), "it does so the few times that it happens");
            assert!(!explained(arm(9, 0), arm(9, 0)), "it takes both");
            assert!(!explained(Arm::default(), Arm::default()), "no run says anything");
            assert_eq!(explained(arm(9, 0), arm(0, 0)), is_confirmed, "the other always brings it along");
        }
    }

    fn interleaving(addresses: &[u64]) -> Interleaving {
        let steps: Vec<InterleavingStep> = (1..)
            .zip(addresses)
            .map(|(thread, &address)| InterleavingStep {
                thread,
                address,
                caller: 7,
                ..InterleavingStep::default()
            })
            .collect();
        Interleaving::new(Treatment::Enforce, &steps).unwrap()
    }

    #[test]
    fn callers_tell_apart_what_happens_at_the_same_place() {
        let avoided = avoidable(interleaving(&[1, 2, 3]), interleaving(&[4, 2]));
        let callers: Vec<u64> = avoided.steps().iter().map(|step| step.caller).collect();
        assert_eq!((callers, avoided.treatment), (vec![0, 7, 0], Treatment::Forbid));
    }
}
