//! The runs that a page shows beside its findings.

use localize::evidence::counterpart;
use localize::{Code, Finding, Profile};
use report::trace::{Timeline, Trace, TraceObject, TraceStep};
use runner::{RunNumber, Session};

use super::tracer::Tracer;
use super::words;
use crate::analysis;
use crate::names::Names;

/// More findings than these are rarely opened, and each takes two runs.
const TIMELINES: usize = 3;

/// A page shows at most so many steps of a run; they are those around the finding's accesses.
const LONGEST: usize = 800;

/// The runs in which the first findings are shown, and those they are compared with.
pub fn timelines(
    session: &Session,
    findings: &[Finding],
    described: &[report::Finding],
    code: &mut Code,
    names: &mut Names,
) -> Vec<Timeline> {
    let shown = findings.iter().zip(described).take(TIMELINES).zip(1..);
    let timeline = |((finding, described), number): ((&Finding, &report::Finding), u64)| {
        let run = finding.example.run.0;
        let failing = part(session, run, &described.accesses, (code, names), |_| {
            Some(finding.example.accesses.clone())
        })?;
        let passing = described.comparison.as_ref().and_then(|comparison| {
            let run = u32::try_from(comparison.run).ok()?;
            part(session, run, &comparison.accesses, (code, names), |profile| {
                counterpart(&profile.run, &finding.pattern)
            })
        });
        Some(Timeline { finding: number, failing, passing })
    };
    shown.filter_map(timeline).collect()
}

/// What a run did around the accesses of a finding. These are given in the order of the finding; `described` are the
/// same in the order of the run, by whose names they go. `None` if it cannot be read, which was told of before.
fn part(
    session: &Session,
    run: u32,
    described: &[report::Access],
    (code, names): (&mut Code, &mut Names),
    accesses: impl FnOnce(&Profile) -> Option<Vec<usize>>,
) -> Option<Trace> {
    let record = session.runs().iter().find(|record| record.run == RunNumber(run))?;
    let outcome = analysis::outcome(&record.outcome)?;
    let profile = analysis::load(session, record.run, outcome, code, names).ok()?;
    let mut accesses = accesses(&profile)?;
    if accesses.len() != described.len() {
        // A standstill is told by what threads do to locks, which have other names.
        accesses.clear();
    }
    let mut in_order = accesses.clone();
    in_order.sort_unstable();
    let locations = in_order.iter().map(|&access| profile.run.accesses[access].location);
    let known = locations.zip(described.iter().map(|access| access.variable.clone())).collect();
    let marks: Vec<(usize, usize)> = accesses.into_iter().zip(0..).collect();
    let whole = Tracer::new(&profile, code, known).trace(words(record), &marks);
    Some(shortened(whole))
}

/// As much of a trace as a page shows: what is around the finding's accesses, or else how it ended.
fn shortened(mut trace: Trace) -> Trace {
    let all = trace.steps.len();
    if all <= LONGEST {
        return trace;
    }
    let is_marked = |step: &TraceStep| step.access.is_some();
    let marks = [trace.steps.iter().position(is_marked), trace.steps.iter().rposition(is_marked)];
    let [first, last] = marks.map(|mark| mark.unwrap_or(all - 1));
    if last - first < LONGEST {
        let start = first.saturating_sub((LONGEST - (last - first)) / 2).min(all - LONGEST);
        trace.steps = trace.steps.drain(start..start + LONGEST).collect();
    } else {
        // They lie far apart: of what is between them, that which they are about matters most.
        let marked = trace.steps.iter().filter(|step| is_marked(step));
        let objects: Vec<TraceObject> = marked.map(|step| step.object.clone()).collect();
        let is_near = |index: usize| [first, last].iter().any(|mark| index.abs_diff(*mark) <= LONGEST / 8);
        let mut room = LONGEST / 2;
        let mut index = 0;
        trace.steps.retain(|step| {
            let near = is_marked(step) || is_near(index);
            let kept = near || room > 0 && objects.contains(&step.object);
            room -= usize::from(kept && !near);
            index += 1;
            kept
        });
    }
    trace.left_out += (all - trace.steps.len()) as u64;
    trace
}

#[cfg(test)]
mod tests {
    use super::*;
    use report::trace::Deed;

    /// A trace of so many steps, every seventh of which is about `x`, with marks at some.
    fn trace(steps: u64, marks: &[u64]) -> Trace {
        let step = |number: u64| TraceStep {
            number,
            thread: 1,
            deed: Deed::Read,
            object: TraceObject {
                name: String::new(),
                identity: u64::from(number.is_multiple_of(7) || marks.contains(&number)),
            },
            value: None,
            function: None,
            file: None,
            line: None,
            source: None,
            locks: None,
            access: marks.iter().position(|mark| *mark == number),
        };
        Trace { steps: (1..=steps).map(step).collect(), ..Trace::default() }
    }

    #[test]
    fn long_runs_are_shown_around_the_accesses() {
        let longest = LONGEST as u64;
        for (steps, marks) in [
            (longest, vec![1]),
            (9 * longest, vec![]),
            (9 * longest, vec![5, 9]),
            (9 * longest, vec![3 * longest, 3 * longest + 90]),
            (9 * longest, vec![10, 8 * longest]),
            (9 * longest, vec![1, 4 * longest, 9 * longest]),
        ] {
            let shown = shortened(trace(steps, &marks));
            assert!(shown.steps.len() <= LONGEST, "{} steps", shown.steps.len());
            assert_eq!(shown.steps.len() as u64 + shown.left_out, steps);
            assert_eq!(shown.steps.iter().filter(|step| step.access.is_some()).count(), marks.len());
            assert!(shown.steps.is_sorted_by_key(|step| step.number));
            if marks.is_empty() {
                assert_eq!(shown.steps.last().map(|step| step.number), Some(steps), "its end");
            }
        }
    }
}
