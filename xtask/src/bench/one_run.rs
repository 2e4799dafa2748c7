//! What one run of a short test costs beyond the test itself: making the place for its recording, starting it, collecting
//! and reducing what was recorded.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, ensure};

use super::growth;
use super::programs::Source;
use super::variants::Build;
use crate::document::{head, row, today};
use crate::measure;
use crate::tool::Tool;

/// Two sessions, which differ by so many runs: what a session does once is not a run's.
const FEW: u32 = 10;
const MORE: u32 = 100;

const BAR_MS: f64 = 10.0;

/// Measures it and says so.
pub fn measure(tool: &Tool, folder: &Path, repetitions: u32, machine: &str) -> anyhow::Result<String> {
    let folder = folder.join("one-run");
    let build = |how| {
        let program = Source::Kernel("short.c").build(how, tool, &folder)?;
        program.context("the short test was not built")
    };
    let (native, recorded) = (build(Build::Native)?, build(Build::Recorded)?);
    let mut alone = Vec::new();
    let mut in_session = Vec::new();
    for _ in 0..repetitions {
        for _ in 0..FEW {
            let run = measure::time(&|_| Command::new(&native))?;
            ensure!(run.succeeded, "the short test failed: {}", run.complaint);
            alone.push(run.time);
        }
        let session = |runs| growth::session(tool, &folder, &recorded, &[], runs);
        let few = session(FEW)?;
        in_session.push(session(FEW + MORE)?.saturating_sub(few) / MORE);
    }
    let alone = measure::median(alone).context("nothing was run")?;
    let in_session = measure::median(in_session).context("nothing was run")?;
    let ms = |time: Duration| time.as_secs_f64() * 1e3;
    let table = head(&["a test of 10 ms", "ms"])
        + &row(&["run alone".to_owned(), format!("{:.1}", ms(alone))])
        + &row(&["run in a session, one after the other".to_owned(), format!("{:.1}", ms(in_session))])
        + &row(&[format!("beyond the test (bar: {BAR_MS})"), format!("{:.1}", ms(in_session) - ms(alone))]);
    Ok(format!("Measured on {} ({machine}).\n\n{table}", today()))
}
