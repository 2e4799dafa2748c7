//! Tells the first finding with the thread for which it takes a third one: what one has written for another is written over before that has read it.

use localize::{Detail, Example, Finding, Reason, RunId, written_over};
use runner::RunNumber;

use crate::analysis;
use crate::runs::Runs;

/// Tells a finding so, if most of the failing runs that show it have the third thread's step, no more passing runs do, and in at least half of the passing
/// runs what is written over in failing ones is read.
pub fn tell(runs: &mut Runs<'_>, finding: &mut Finding) -> anyhow::Result<()> {
    let example = RunNumber(finding.example.run.0);
    let Some(record) = runs.records.iter().find(|record| record.run == example) else { return Ok(()) };
    let Some(outcome) = analysis::outcome(&record.outcome) else { return Ok(()) };
    let row = written_over::row(&runs.load(example, outcome)?.run, finding);
    let Some(row) = row.filter(|_| finding.failed > 0 && outcome.is_failing()) else { return Ok(()) };
    let [mut passing, mut passed, mut found] = [0u32; 3];
    let mut failing_runs: Vec<RunId> = Vec::new();
    let mut first = None;
    for record in runs.records.clone() {
        let Some(outcome) = analysis::outcome(&record.outcome) else { continue };
        let Ok(profile) = runs.load(record.run, outcome) else { continue };
        let occurrence = row.occurrence(&profile.run);
        if !outcome.is_failing() {
            passing += 1;
            passed += u32::from(occurrence.is_some());
            found += u32::from(written_over::is_found(&profile.run, &row));
        } else if let Some(accesses) = occurrence {
            failing_runs.push(profile.run.id);
            first.get_or_insert((profile.run.id, accesses));
        }
    }
    let failed = failing_runs.len() as u32;
    let is_told = failed * 4 >= finding.failed * 3 && passed <= finding.passed && found * 2 >= passing;
    let Some((run, accesses)) = first.filter(|_| is_told && passing > 0) else { return Ok(()) };
    if let Detail::Verdict(reasoning) = &mut finding.detail {
        for reason in &mut reasoning.reasons {
            if let Reason::Runs { failed: shown, passed: shown_passing, .. } = reason {
                (*shown, *shown_passing) = (failed, passed);
            }
        }
    }
    finding.pattern = row.pattern();
    (finding.failed, finding.passed, finding.failing_runs) = (failed, passed, failing_runs);
    finding.example = Example { run, id: row.shape, accesses };
    Ok(())
}
