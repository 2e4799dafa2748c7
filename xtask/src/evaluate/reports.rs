//! What the techniques have to say, through unsnarl's command line.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::Stdio;
use std::time::Instant;

use anyhow::{Context as _, bail};
use serde::de::DeserializeOwned;
use serde_json::json;

use super::pool::{Draw, Pool};
use super::record;
use super::report::Report;
use crate::tool::Tool;

/// What each technique says about each draw of a pool's runs, draw by draw, from one process that reads each run once.
/// Accesses are where the program's own `files` make them. `folder` is for a session that is deleted afterwards.
pub fn each_draw(
    tool: &Tool,
    (pool, draws): (&Pool, &[Draw]),
    (techniques, files): (&[String], &[&str]),
    folder: &Path,
    mut judge: impl FnMut(usize, Vec<Report>) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let plan = json!({ "techniques": techniques, "files": files, "draws": draws });
    let mut reports = Vec::new();
    let mut draw = 0;
    each_line(tool, pool, &plan, folder, |report| {
        reports.push(report);
        if reports.len() == techniques.len() {
            judge(draw, std::mem::take(&mut reports))?;
            draw += 1;
        }
        Ok(())
    })
}

/// Has `unsnarl draws` carry out a plan for a pool's runs, and hands on what it says. `folder` is for a session that is
/// deleted afterwards.
pub fn each_line<Line: DeserializeOwned>(
    tool: &Tool,
    pool: &Pool,
    plan: &serde_json::Value,
    folder: &Path,
    mut line: impl FnMut(Line) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    pool.session(folder, &pool.all())?;
    let mut unsnarl = tool.command();
    unsnarl.arg("draws").arg("--session").arg(folder);
    unsnarl.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = unsnarl.spawn().with_context(|| format!("cannot start {unsnarl:?}"))?;
    let (input, output) = (child.stdin.take(), child.stdout.take());
    let (input, output) = input.zip(output).context("unsnarl has no pipes")?;
    serde_json::to_writer(input, plan).context("cannot tell unsnarl its plan")?;
    for text in BufReader::new(output).lines() {
        line(serde_json::from_str(&text?).context("in unsnarl's reports")?)?;
    }
    let status = child.wait().context("cannot wait for unsnarl")?;
    if !status.success() {
        bail!("{unsnarl:?} failed: {status}");
    }
    fs::remove_dir_all(folder).with_context(|| format!("cannot delete {}", folder.display()))
}

/// How long each technique's report on a draw takes, as a user would ask for it. `folder` is for a session that is
/// deleted afterwards.
pub fn seconds(
    tool: &Tool,
    (pool, draw): (&Pool, &Draw),
    techniques: &[String],
    folder: &Path,
) -> anyhow::Result<Vec<f64>> {
    pool.session(folder, draw)?;
    let seconds = techniques.iter().map(|technique| {
        let begun = Instant::now();
        let mut unsnarl = tool.command();
        unsnarl.arg("report").arg("--session").arg(folder).args(["--technique", technique]);
        unsnarl.arg("--json").arg(folder.join("timed.json"));
        record::healthy(&mut unsnarl)?;
        Ok(begun.elapsed().as_secs_f64())
    });
    let seconds = seconds.collect();
    fs::remove_dir_all(folder).with_context(|| format!("cannot delete {}", folder.display()))?;
    seconds
}
