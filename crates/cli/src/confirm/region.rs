//! The stretch of one thread's code that an interleaving breaks into. Forbidding it keeps the stretch whole, whoever comes in
//! between, so that it ends the failures of all interleavings that break into the same.

use std::collections::BTreeSet;

use recording::{Interleaving, InterleavingStep};
use report::{Access, Frame};

use crate::analysis::Analysis;
use crate::interleaving::Forcible;

/// Of each finding, the share of failing runs that show it, those that end before its last step included, or another one in the same
/// stretch of code.
pub fn shares(analysis: &Analysis) -> Vec<f64> {
    let findings = &analysis.report.findings;
    let region = |nth: usize| region(analysis.interleavings.get(nth)?.as_ref()?, &findings[nth].accesses);
    let regions: Vec<Option<Region<'_>>> = (0..findings.len()).map(region).collect();
    let failed = analysis.report.runs.failed.max(1) as f64;
    let count = |nth: usize| {
        let Some(own) = &regions[nth] else { return 0 };
        let same =
            regions.iter().zip(findings).filter(|(other, _)| other.as_ref().is_some_and(|one| one.is(own)));
        same.flat_map(|(_, finding)| &finding.failing_runs).collect::<BTreeSet<_>>().len() as u64
    };
    let unfinished =
        |nth: usize| analysis.interleavings.get(nth).and_then(Option::as_ref).map_or(0, |one| one.unfinished);
    let shown =
        findings.iter().enumerate().map(|(nth, finding)| (finding.failed + unfinished(nth)).max(count(nth)));
    shown.map(|shown| shown as f64 / failed).collect()
}

/// Where a stretch of code begins and ends.
struct Region<'a>([End<'a>; 2]);

impl Region<'_> {
    fn is(&self, other: &Region<'_>) -> bool {
        self.0.iter().zip(&other.0).all(|(one, other)| one.is(other))
    }
}

/// One end of a stretch: a step. What is done under a lock cannot be told from what else is done under it, since the stretch reaches
/// from where that is taken to where it is given back.
struct End<'a> {
    place: Place<'a>,
    step: InterleavingStep,
}

impl End<'_> {
    fn is(&self, other: &End<'_>) -> bool {
        self.place == other.place || is_in_one_section(&self.step, &other.step)
    }
}

/// Are both done under a lock that is taken at the same place?
fn is_in_one_section(one: &InterleavingStep, other: &InterleavingStep) -> bool {
    let is_taken_at = |step: &InterleavingStep, guard| step.guard == guard || step.copies.contains(&guard);
    one.build_id == other.build_id
        && one.guard != 0
        && other.guard != 0
        && (is_taken_at(one, other.guard) || is_taken_at(other, one.guard))
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
fn region<'a>(forcible: &Forcible, accesses: &'a [Access]) -> Option<Region<'a>> {
    let ends = ends(&forcible.interleaving)?;
    let numbers = [forcible.accesses.first()?, forcible.accesses.last()?];
    let end = |nth: usize| {
        let access = accesses.get(*numbers[nth])?;
        Some(End { place: Place::of(access, ends[nth].address), step: ends[nth] })
    };
    Some(Region([end(0)?, end(1)?]))
}

/// The steps with which a thread begins and ends what others break into; none for what is about an order alone.
fn ends(interleaving: &Interleaving) -> Option<[InterleavingStep; 2]> {
    let [first, between @ .., last] = interleaving.steps() else { return None };
    let is_broken = between.iter().any(|step| step.thread != first.thread);
    (is_broken && first.thread == last.thread).then_some([*first, *last])
}

#[cfg(test)]
mod tests {
    use recording::Treatment;

    use super::*;

    fn ends_of(steps: &[(u8, u64)]) -> Option<(u64, u64)> {
        let step = |&(thread, address): &(u8, u64)| InterleavingStep {
            thread,
            address,
            ..InterleavingStep::default()
        };
        let steps: Vec<InterleavingStep> = steps.iter().map(step).collect();
        let ends = ends(&Interleaving::new(Treatment::Enforce, &steps).unwrap());
        ends.map(|[first, last]| (first.address, last.address))
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

    /// Whoever keeps a section whole keeps out all that breaks into it.
    #[test]
    fn what_is_done_under_one_lock_is_one_end() {
        let step = |address, guard| InterleavingStep { address, guard, ..InterleavingStep::default() };
        assert!(is_in_one_section(&step(14, 13), &step(15, 13)));
        assert!(!is_in_one_section(&step(14, 13), &step(22, 21)), "taken elsewhere");
        assert!(!is_in_one_section(&step(14, 0), &step(15, 0)), "no lock");
        let mut inlined = step(14, 13);
        inlined.copies[0] = 93;
        assert!(is_in_one_section(&step(95, 93), &inlined), "a copy of where it is taken");
        let elsewhere = InterleavingStep { build_id: [1; 32], ..step(15, 13) };
        assert!(!is_in_one_section(&step(14, 13), &elsewhere), "another module");
    }
}
