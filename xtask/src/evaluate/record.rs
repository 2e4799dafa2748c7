//! Records the runs of a corpus program and reads the reports on them, through unsnarl's command line.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, bail};

use super::score::Report;
use crate::measure;
use crate::tool::Tool;

/// Exit codes that tell of a session as it should be: a finding, no failing run, no passing run, nothing that tells
/// them apart.
const HEALTHY: [i32; 4] = [0, 10, 11, 12];

/// When to stop recording.
#[derive(Clone, Copy)]
pub enum Until {
    Failures(u32),
    Runs(u32),
}

/// How to record.
#[derive(Clone, Copy)]
pub struct Plan<'a> {
    pub until: Until,
    pub at_most: Duration,
    pub seed: u64,
    pub noise: &'a str,
    /// When a run counts as hung.
    pub timeout_seconds: u32,
}

/// Records a program into a new session folder; an old one is replaced.
pub fn record(tool: &Tool, program: &Path, session: &Path, plan: Plan) -> anyhow::Result<()> {
    if session.exists() {
        fs::remove_dir_all(session).with_context(|| format!("cannot delete {}", session.display()))?;
    }
    let mut unsnarl = tool.command();
    unsnarl.arg("run").arg("--session").arg(session);
    match plan.until {
        Until::Failures(failures) => unsnarl.args(["--until-failures", &failures.to_string()]),
        Until::Runs(runs) => unsnarl.args(["--runs", &runs.to_string()]),
    };
    unsnarl.arg("--time").arg(humantime::format_duration(plan.at_most).to_string().replace(' ', ""));
    unsnarl.args(["--seed", &plan.seed.to_string(), "--noise", plan.noise]);
    unsnarl.args(["--timeout", &format!("{}s", plan.timeout_seconds)]);
    healthy(unsnarl.arg("--").arg(program))
}

/// What a technique has to say about a session, with all of its findings.
pub fn report(tool: &Tool, session: &Path, technique: &str) -> anyhow::Result<Report> {
    let file = session.with_extension(format!("{technique}.json"));
    let mut unsnarl = tool.command();
    unsnarl.arg("report").arg("--session").arg(session).args(["--technique", technique]);
    unsnarl.args(["--findings", &u32::MAX.to_string()]).arg("--json").arg(&file);
    healthy(&mut unsnarl)?;
    let text = fs::read(&file).with_context(|| format!("cannot read {}", file.display()))?;
    serde_json::from_slice(&text).with_context(|| format!("in {}", file.display()))
}

fn healthy(command: &mut Command) -> anyhow::Result<()> {
    let output = command.output().with_context(|| format!("cannot start {command:?}"))?;
    if output.status.code().is_none_or(|code| !HEALTHY.contains(&code)) {
        bail!("{command:?} failed: {}\n{}", output.status, String::from_utf8_lossy(&output.stderr));
    }
    Ok(())
}

/// How much longer a recorded run takes than a native one, without noise. The two take turns; the medians count.
/// Failing runs are left out, since they end early, or, if they hang, late.
pub fn slowdown(
    native: &Path,
    recorded: &Path,
    repetitions: u32,
    timeout_seconds: u32,
) -> anyhow::Result<f64> {
    let limited = |program: &Path| {
        let mut command = Command::new("timeout");
        command.arg(timeout_seconds.to_string()).arg(program);
        command
    };
    let (mut native_times, mut recorded_times) = (Vec::new(), Vec::new());
    for _ in 0..repetitions {
        let run = measure::time(&|_| limited(native))?;
        native_times.extend(run.succeeded.then_some(run.time));
        let run = measure::time(&|scratch| {
            let mut command = limited(recorded);
            command.env("UNSNARL_DIR", scratch).env("UNSNARL_PLAN", "noise=off");
            command
        })?;
        recorded_times.extend(run.succeeded.then_some(run.time));
    }
    let median = |times| measure::median(times).context("no run passed, so there is nothing to time");
    Ok(median(recorded_times)?.as_secs_f64() / median(native_times)?.as_secs_f64())
}
