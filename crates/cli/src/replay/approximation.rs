//! A run that was left to the operating system has no schedule to follow. Controlled runs are searched for one that
//! ends in the same way: it is kept with the session, and followed from then on.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use recording::{RunPlan, Schedule};
use runner::campaign::run_seed;
use runner::{RunFile, RunNumber, RunRecord, Session};

use super::{Saved, Test};
use crate::args::RankingArguments;
use crate::{analysis, screen};

/// Runs for each finding, and as many without any, before the search is given up.
const ATTEMPTS: u32 = 20;
/// Findings to try.
const FINDINGS: usize = 3;

fn file(session: &Session, run: RunNumber) -> PathBuf {
    session.folder().join("replays").join(format!("{:06}.run", run.0))
}

/// What was found for a run before.
pub fn kept(session: &Session, run: RunNumber) -> Option<RunFile> {
    RunFile::read(&file(session, run)).ok()
}

/// Keeps it for the next time.
pub fn keep(session: &Session, run: RunNumber, found: &RunFile) -> anyhow::Result<()> {
    let path = file(session, run);
    std::fs::create_dir_all(path.parent().unwrap_or(session.folder()))
        .map_err(runner::Error::writing(&path))?;
    Ok(found.write(&path)?)
}

/// Searches for a controlled run that ends as this one did, and says how.
pub fn search(
    session: &Session,
    test: &Test,
    record: &RunRecord,
    ranking: &RankingArguments,
) -> anyhow::Result<Option<Saved>> {
    screen::print("  it ran freely, so its schedule is not known: searching for one that ends like it\n")?;
    let analysis = analysis::examine(session, ranking)?;
    let shown_by_run =
        |index: &usize| analysis.report.findings[*index].failing_runs.contains(&u64::from(record.run.0));
    let forced = (0..analysis.report.findings.len()).filter(shown_by_run).filter_map(|index| {
        let interleaving = analysis.interleavings[index].as_ref()?.forced();
        Some((Some(interleaving), format!("by forcing finding {}", index + 1)))
    });
    let ways = forced.take(FINDINGS).chain([(None, "by random schedules".to_owned())]);
    let never = AtomicBool::new(false);
    for (interleaving, how) in ways {
        for attempt in 1..=ATTEMPTS {
            let run = RunNumber(attempt);
            let seed = run_seed(!session.manifest().seed, run);
            let plan = RunPlan { seed, schedule: Schedule::Random, interleaving, ..RunPlan::default() };
            let Some(found) = test.campaign().once(run, plan, &never)? else { continue };
            if found.record.outcome != record.outcome {
                continue;
            }
            screen::print(&format!("  found {how}, at attempt {attempt}; kept for the next time\n"))?;
            keep(session, record.run, &found)?;
            return Ok(Some(Saved::of(&found, true)?));
        }
        screen::print(&format!("  none in {ATTEMPTS} attempts {how}\n"))?;
    }
    Ok(None)
}
