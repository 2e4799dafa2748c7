//! How much slower a corpus program runs when it is recorded. The fixed twin is measured, if there is one: a failing
//! run ends early.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::Context as _;

use super::pool::Pool;
use super::record;
use crate::measure;
use crate::tool::Tool;

/// Recorded and native runs take turns, so that whatever else the machine does meets both alike.
const ROUNDS: u32 = 3;
const RUNS_PER_ROUND: u32 = 3;

/// The same program with and without the recorder.
pub struct Twins<'a> {
    pub recorded: &'a Path,
    pub native: &'a Path,
    /// When a run is given up.
    pub timeout_seconds: u32,
}

/// The median recorded run without noise, as a multiple of the median native one. Known from last time if neither
/// program changed; nothing if no run passed.
pub fn slowdown(twins: &Twins, tool: &Tool, folder: &Path) -> anyhow::Result<Option<f64>> {
    let hashes = (record::hash_of_file(twins.recorded)?, record::hash_of_file(twins.native)?);
    let path = folder.join("slowdown.json");
    let known = fs::read(&path).ok();
    let known = known.and_then(|text| serde_json::from_slice::<((u64, u64), Option<f64>)>(&text).ok());
    if let Some((_, slowdown)) = known.filter(|(known, _)| *known == hashes) {
        return Ok(slowdown);
    }
    let (mut recorded, mut native) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        recorded.extend(recorded_times(twins, tool, &folder.join("timed"))?);
        for _ in 0..RUNS_PER_ROUND {
            native.extend(native_time(twins)?);
        }
    }
    let ratio = measure::median(recorded).zip(measure::median(native));
    let ratio = ratio.map(|(recorded, native)| recorded.as_secs_f64() / native.as_secs_f64());
    fs::write(&path, serde_json::to_string(&(hashes, ratio))?)
        .with_context(|| format!("cannot write {}", path.display()))?;
    Ok(ratio)
}

fn recorded_times(twins: &Twins, tool: &Tool, session: &Path) -> anyhow::Result<Vec<Duration>> {
    if session.exists() {
        fs::remove_dir_all(session).with_context(|| format!("cannot delete {}", session.display()))?;
    }
    let mut unsnarl = tool.command();
    unsnarl.args(["run", "--no-confirm", "--session"]).arg(session).args(["--noise", "off", "--jobs", "1"]);
    unsnarl.args(["--runs", &RUNS_PER_ROUND.to_string(), "--technique", "avio", "--findings", "1"]);
    unsnarl.args(["--timeout", &format!("{}s", twins.timeout_seconds)]);
    record::healthy(unsnarl.arg("--").arg(twins.recorded))?;
    let pool = Pool::of(&[session.to_owned()])?;
    Ok(pool.passing.iter().map(|run| Duration::from_secs_f64(run.record.seconds)).collect())
}

/// Of a run that passes.
fn native_time(twins: &Twins) -> anyhow::Result<Option<Duration>> {
    let mut command = Command::new("timeout");
    command.arg(twins.timeout_seconds.to_string()).arg(twins.native);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let begun = Instant::now();
    let status = command.status().context("cannot start `timeout`")?;
    Ok(status.success().then(|| begun.elapsed()))
}
