//! Do failing runs fail again if all their threads take the same turns? If not, something else decides.

use std::path::PathBuf;

use report::Trial;
use runner::{Outcome, RunRecord, Session};

use super::{Test, saved};

/// Failing runs to repeat. If nothing but the schedule decides, more than a third of so many fail again, but for one session in a
/// million (19 of 20 replays do: docs/replay.md).
const RUNS: usize = 8;

/// Repeats some of the runs that failed under control, and keeps with the session what came of it.
pub fn repeat_failures(session: &Session) -> anyhow::Result<Trial> {
    let test = Test::of(session, &[])?;
    let mut trial = Trial { runs: 0, failed: 0 };
    // What hangs takes its whole time-out, and others say the same.
    let has_failed = |record: &&RunRecord| matches!(record.outcome, Outcome::Fail { .. });
    for record in session.runs().iter().filter(has_failed) {
        let Some(saved) = saved(session, record)? else { continue };
        let Some(file) = saved.again(&test, record.run.0)? else { continue };
        trial.runs += 1;
        trial.failed += u64::from(file.record.outcome.is_failing());
        if trial.runs == RUNS as u64 {
            break;
        }
    }
    let path = file(session);
    std::fs::write(&path, serde_json::to_vec(&trial)?).map_err(runner::Error::writing(&path))?;
    Ok(trial)
}

/// What came of it when it was tried.
pub fn recall(session: &Session) -> Option<Trial> {
    serde_json::from_slice(&std::fs::read(file(session)).ok()?).ok()
}

fn file(session: &Session) -> PathBuf {
    session.folder().join("repeated.json")
}
