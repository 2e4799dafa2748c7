//! The runs that a page shows beside its findings.

use localize::evidence::counterpart;
use localize::{Code, Finding, Profile};
use report::trace::{Timeline, Trace};
use runner::{RunNumber, Session};

use super::moments::{Moment, around, moments};
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
    let moments = moments(&profile);
    let is_marked = |moment: &Moment| matches!(moment, Moment::Access(index) if accesses.contains(index));
    let marked: Vec<usize> = (0..moments.len()).filter(|&index| is_marked(&moments[index])).collect();
    let shown = around(moments.len(), &marked, LONGEST, |index| moments[index].object(&profile));
    let marks: Vec<(usize, usize)> = accesses.iter().copied().zip(0..).collect();
    Some(Tracer::new(&profile, code, names, known).trace(words(record), &moments, &shown, &marks))
}
