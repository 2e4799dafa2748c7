//! The stretch of one thread's code that an interleaving breaks into. Forbidding it keeps the stretch whole, whoever comes in
//! between, so that it ends the failures of all interleavings that break into the same.

use std::collections::{BTreeMap, BTreeSet};

use recording::Interleaving;
use report::{Access, Frame};

use crate::analysis::Analysis;
use crate::interleaving::Forcible;

/// Of each finding, the share of failing runs that show it, those that end before its last step included, or another one in the same
/// stretch of code.
pub fn shares(analysis: &Analysis) -> Vec<f64> {
    let findings = &analysis.report.findings;
    let region = |nth: usize| region(analysis.interleavings.get(nth)?.as_ref()?, &findings[nth].accesses);
    let mut runs: BTreeMap<[Place<'_>; 2], BTreeSet<u64>> = BTreeMap::new();
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

/// A place in the source, by the innermost frame and that of the program's own, or one in the code if no more is known. A function that is
/// inlined into several others has as many of the latter.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Place<'a> {
    Source([(&'a str, u32, u32); 2]),
    Code(u64),
}

impl<'a> Place<'a> {
    fn of(access: &'a Access, address: u64) -> Place<'a> {
        let spot = |file: &'a Option<String>, line: Option<u32>, column: Option<u32>| {
            Some((file.as_deref()?, line?, column?))
        };
        let inner = |frame: &'a Frame| spot(&frame.file, frame.line, frame.column);
        let own = spot(&access.file, access.line, access.column);
        let both = access.stack.first().and_then(inner).zip(own);
        both.map_or(Place::Code(address), |(inner, own)| Place::Source([inner, own]))
    }
}

/// Where a thread begins and ends what others break into, among these accesses.
fn region<'a>(forcible: &Forcible, accesses: &'a [Access]) -> Option<[Place<'a>; 2]> {
    let (first, last) = ends(&forcible.interleaving)?;
    let access = |nth: Option<&usize>| accesses.get(*nth?);
    let (from, to) = (access(forcible.accesses.first())?, access(forcible.accesses.last())?);
    Some([Place::of(from, first), Place::of(to, last)])
}

/// Where a thread begins and ends what others break into, in the code; none for what is about an order alone.
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

    /// A template, or a function that was inlined into two others, has two places in the code.
    #[test]
    fn what_is_one_place_in_the_source_is_one() {
        let access = |line: u32, column: Option<u32>| -> Access {
            let frame =
                serde_json::json!({ "function": "take", "file": "pool.h", "line": line, "column": column });
            let mut access = frame.clone();
            access["stack"] = serde_json::json!([frame]);
            access["thread"] = 1.into();
            access["kind"] = "read".into();
            access["variable"] = "free".into();
            serde_json::from_value(access).unwrap()
        };
        let place = |line, column, address| format!("{:?}", Place::of(&access(line, column), address));
        assert_eq!(place(7, Some(3), 0x10), place(7, Some(3), 0x20));
        assert_ne!(place(7, Some(3), 0x10), place(7, Some(9), 0x20), "two on one line");
        assert_ne!(place(7, None, 0x10), place(7, None, 0x20), "who knows");
    }

    #[test]
    fn a_region_is_one_threads_with_another_in_between() {
        assert_eq!(ends_of(&[(1, 60), (2, 29), (1, 67)]), Some((60, 67)));
        assert_eq!(ends_of(&[(1, 60), (2, 36), (1, 67)]), Some((60, 67)), "whoever breaks in");
        assert_eq!(ends_of(&[(1, 60), (2, 29)]), None);
        assert_eq!(ends_of(&[(1, 60), (2, 29), (2, 30)]), None);
    }
}
