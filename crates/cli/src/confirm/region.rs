//! The stretch of one thread's code that an interleaving breaks into. Forbidding it keeps the stretch whole, whoever comes in
//! between, so that it ends the failures of all interleavings that break into the same.

use std::collections::{BTreeMap, BTreeSet};

use recording::Interleaving;

use crate::analysis::Analysis;

/// Of each finding, the share of failing runs that show it, those that end before its last step included, or another one in the same
/// stretch of code.
pub fn shares(analysis: &Analysis) -> Vec<f64> {
    let findings = &analysis.report.findings;
    let region = |nth: usize| ends(&analysis.interleavings.get(nth)?.as_ref()?.interleaving);
    let mut runs: BTreeMap<(u64, u64), BTreeSet<u64>> = BTreeMap::new();
    for (nth, finding) in findings.iter().enumerate() {
        if let Some(region) = region(nth) {
            runs.entry(region).or_default().extend(&finding.failing_runs);
        }
    }
    let failed = analysis.report.runs.failed.max(1) as f64;
    let count = |nth: usize| region(nth).and_then(|region| runs.get(&region)).map_or(0, BTreeSet::len) as u64;
    let unfinished =
        |nth: usize| analysis.interleavings.get(nth).and_then(Option::as_ref).map_or(0, |one| one.unfinished);
    let shown =
        findings.iter().enumerate().map(|(nth, finding)| (finding.failed + unfinished(nth)).max(count(nth)));
    shown.map(|shown| shown as f64 / failed).collect()
}

/// Where a thread begins and ends what others break into; none for what is about an order alone.
fn ends(interleaving: &Interleaving) -> Option<(u64, u64)> {
    let [first, between @ .., last] = interleaving.steps() else { return None };
    let is_broken = between.iter().any(|step| step.thread != first.thread);
    (is_broken && first.thread == last.thread).then_some((first.address, last.address))
}

#[cfg(test)]
mod tests {
    use recording::{InterleavingStep, Treatment};

    use super::*;

    fn ends_of(steps: &[(u8, u64)]) -> Option<(u64, u64)> {
        let step = |&(thread, address): &(u8, u64)| InterleavingStep {
            thread,
            address,
            ..InterleavingStep::default()
        };
        let steps: Vec<InterleavingStep> = steps.iter().map(step).collect();
        ends(&Interleaving::new(Treatment::Enforce, &steps).unwrap())
    }

    #[test]
    fn a_region_is_one_threads_with_another_in_between() {
        assert_eq!(ends_of(&[(1, 60), (2, 29), (1, 67)]), Some((60, 67)));
        assert_eq!(ends_of(&[(1, 60), (2, 36), (1, 67)]), Some((60, 67)), "whoever breaks in");
        assert_eq!(ends_of(&[(1, 60), (2, 29)]), None);
        assert_eq!(ends_of(&[(1, 60), (2, 29), (2, 30)]), None);
    }
}
