//! Correct programs under every schedule: no run may hang, crash or fail. What is correct runs to its end in whichever
//! order its threads run, so that anything else is our own doing.

use std::fs;

use anyhow::{Context as _, ensure};
use runner::Session;

use super::ground::Ground;
use crate::evaluate::build::{self, Variant};
use crate::evaluate::record::healthy;
use crate::truth::{self, Language, Subject};

const SCHEDULES: [&str; 6] = ["random", "pct", "pos", "surw", "bounded:1", "mixed"];

/// Runs the fixed twin of each corpus program, or the program itself if it has no bug, so many times in all.
pub fn controlled(ground: &Ground, runs: u32, only: Option<&str>) -> anyhow::Result<()> {
    let mut failed = Vec::new();
    for subject in truth::subjects()? {
        let truth = &subject.truth;
        let is_meant = only.is_none_or(|name| name == truth.name) && truth.language != Language::Java;
        if !is_meant || truth.has_bug() && !truth.has_twin {
            continue;
        }
        match try_out(ground, &subject, runs) {
            Ok(made) => eprintln!("{}: {made} runs passed", truth.name),
            Err(error) => {
                eprintln!("{}: FAILED: {error:#}", truth.name);
                failed.push(truth.name.clone());
            }
        }
    }
    ensure!(failed.is_empty(), "failed: {}", failed.join(", "));
    Ok(())
}

fn try_out(ground: &Ground, subject: &Subject, runs: u32) -> anyhow::Result<usize> {
    let folder = ground.folder.join(&subject.truth.name);
    let variant = if subject.truth.has_bug() { Variant::Fixed } else { Variant::Buggy };
    let program = build::build(subject, &ground.tool, &folder, variant, 1)?;
    let session = folder.join("session");
    let mut made = 0;
    for (number, schedule) in SCHEDULES.iter().enumerate() {
        drop(fs::remove_dir_all(&session));
        let each = (runs as usize).div_ceil(SCHEDULES.len());
        let mut unsnarl = ground.tool.command();
        unsnarl.arg("run").arg("--session").arg(&session).args(["--schedule", schedule]);
        unsnarl.args(["--runs", &each.to_string(), "--seed", &number.to_string()]);
        unsnarl.args(["--technique", "avio", "--findings", "1", "--"]).arg(&program);
        healthy(&mut unsnarl).with_context(|| format!("--schedule {schedule}"))?;
        let session = Session::open(&session)?;
        made += session.runs().len();
        let bad = session.runs().iter().find(|record| record.outcome != runner::Outcome::Pass);
        if let Some(record) = bad {
            let (run, plan) = (record.run, &record.plan);
            anyhow::bail!("--schedule {schedule}, run {run} ({plan}): {}", record.outcome.reason());
        }
    }
    drop(fs::remove_dir_all(&session));
    Ok(made)
}
