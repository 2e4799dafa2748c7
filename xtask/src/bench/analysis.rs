//! What the analysis costs, on synthetic runs of the sizes that the papers have, and how that grows.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, ensure};

use crate::chart::Chart;
use crate::document::{self, head, row};
use crate::{measure, workspace};

use super::growth::{self, Curve, FACTORS};

/// The largest case of the Locon paper.
const PAIRS: u32 = 780_977;
const RUNS: u32 = 100;
const THREADS: u32 = 8;
/// The most patterns in the thesis on Griffin.
const PATTERNS: u32 = 71_694;

/// What the papers' sizes take.
pub struct Analysis {
    rows: Vec<Row>,
    curves: Vec<Curve>,
}

struct Row {
    what: String,
    /// How many seconds are good enough.
    bar: f64,
    seconds: f64,
    /// Bytes.
    memory: u64,
}

/// Measures all of it.
pub fn measure() -> anyhow::Result<Analysis> {
    let program = build()?;
    let row = |what: String, bar: f64, arguments: &[String]| {
        eprintln!("{what}");
        let seconds = seconds(&program, arguments)?;
        let memory = measure::peak_memory(&|_| command(&program, arguments))?;
        anyhow::Ok(Row { what, bar, seconds, memory })
    };
    let rows = vec![
        row(
            format!("all techniques over {RUNS} runs with {PAIRS} pairs each"),
            10.0,
            &[PAIRS, RUNS, THREADS].map(|number| number.to_string()),
        )?,
        row(format!("clustering {PATTERNS} patterns"), 2.0, &["patterns".to_owned(), PATTERNS.to_string()])?,
    ];
    let curve = |grows, at_first: u32, arguments: &dyn Fn(u32) -> [u32; 3]| {
        eprintln!("{grows}");
        let time = |factor: u32| {
            let seconds = seconds(&program, &arguments(at_first * factor).map(|number| number.to_string()))?;
            anyhow::Ok(std::time::Duration::from_secs_f64(seconds))
        };
        let times = FACTORS.map(time).into_iter().collect::<anyhow::Result<_>>()?;
        anyhow::Ok(Curve { grows, at_first, times })
    };
    let curves = vec![
        curve("pairs in each of 10 runs", PAIRS / 100, &|pairs| [pairs, 10, THREADS])?,
        curve("runs with 10000 pairs each", 3, &|runs| [10_000, runs, THREADS])?,
        curve("threads, with 100000 pairs in each of 10 runs", 2, &|threads| [100_000, 10, threads])?,
    ];
    Ok(Analysis { rows, curves })
}

/// The program that makes runs and looks at them. It is part of the library that it measures.
fn build() -> anyhow::Result<PathBuf> {
    let mut cargo = workspace::cargo();
    cargo.args(["build", "--release", "--package", "unsnarl-localize", "--example", "speed"]);
    workspace::run(&mut cargo)?;
    Ok(workspace::scratch("release")?.join("examples/speed"))
}

fn command(program: &Path, arguments: &[String]) -> Command {
    let mut command = Command::new(program);
    command.args(arguments);
    command
}

/// The last number that it prints.
fn seconds(program: &Path, arguments: &[String]) -> anyhow::Result<f64> {
    let output = command(program, arguments)
        .output()
        .with_context(|| format!("cannot start {}", program.display()))?;
    ensure!(
        output.status.success(),
        "{} failed: {}",
        program.display(),
        String::from_utf8_lossy(&output.stderr)
    );
    let printed = String::from_utf8_lossy(&output.stdout);
    let number = printed.split_whitespace().last().and_then(|word| word.parse().ok());
    number.with_context(|| format!("{} printed no number", program.display()))
}

impl Analysis {
    /// The numbers.
    pub fn markdown(&self, machine: &str) -> String {
        let mut text = format!("Measured on {} ({machine}).\n\n", document::today());
        text += &head(&["what", "bar, s", "s", "peak memory, MB"]);
        for Row { what, bar, seconds, memory } in &self.rows {
            let megabytes = format!("{:.0}", *memory as f64 / 1e6);
            text += &row(&[what.clone(), format!("{bar:.0}"), format!("{seconds:.1}"), megabytes]);
        }
        text + "\n" + &growth::table(&self.curves)
    }

    /// How it grows.
    pub fn chart(&self) -> Chart {
        growth::chart(&self.curves)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn the_tables_have_what_was_measured() {
        let rows = vec![Row { what: "all of it".to_owned(), bar: 10.0, seconds: 7.26, memory: 123_456_789 }];
        let times = [1, 10, 100].map(Duration::from_millis).to_vec();
        let curves = vec![Curve { grows: "runs", at_first: 3, times }];
        let text = Analysis { rows, curves }.markdown("2 cores");
        assert!(text.contains("| all of it | 10 | 7.3 | 123 |"), "{text}");
        assert!(text.contains("| runs | 3 | 1 | 10 | 100 |"), "{text}");
    }
}
