//! How time grows with handovers, threads and runs: ten and a hundred times as many should take at most ten and a
//! hundred times as long.

use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};

use super::programs::Source;
use super::variants::Build;
use crate::chart::{Axis, Chart, Line, Scale};
use crate::document::{head, row};
use crate::measure;
use crate::tool::Tool;

/// How many times as many as at first.
pub const FACTORS: [u32; 3] = [1, 10, 100];

/// What grows, and how long each size took.
pub struct Curve {
    pub grows: &'static str,
    pub at_first: u32,
    pub times: Vec<Duration>,
}

/// Measures all curves.
pub fn measure(tool: &Tool, folder: &Path, repetitions: u32) -> anyhow::Result<Vec<Curve>> {
    let folder = folder.join("growth");
    let program = Source::Kernel("growth.c").build(Build::Recorded, tool, &folder)?;
    let program = program.context("the program that grows was not built")?;
    let recorded = |threads: u32, handovers: u32| -> anyhow::Result<Duration> {
        let arguments = [threads, handovers].map(|number| number.to_string());
        let one = || {
            let run = measure::time(&|scratch| {
                let mut command = std::process::Command::new(&program);
                command.args(&arguments).env("UNSNARL_DIR", scratch).env("UNSNARL_PLAN", "noise=off");
                command
            })?;
            ensure!(run.succeeded, "the program that grows failed: {}", run.complaint);
            Ok(run.time)
        };
        let times = (0..repetitions).map(|_| one()).collect::<anyhow::Result<Vec<_>>>()?;
        measure::median(times).context("nothing was run")
    };
    let curve = |grows, at_first: u32, time: &dyn Fn(u32) -> anyhow::Result<Duration>| {
        let times =
            FACTORS.map(|factor| time(at_first * factor)).into_iter().collect::<anyhow::Result<_>>()?;
        anyhow::Ok(Curve { grows, at_first, times })
    };
    Ok(vec![
        curve("handovers of each of two threads", 10_000, &|handovers| recorded(2, handovers))?,
        curve("threads with 500 handovers each", 4, &|threads| recorded(threads, 500))?,
        curve("runs, made and analysed", 10, &|runs| session(tool, &folder, &program, &["2", "50"], runs))?,
    ])
}

/// A whole session of so many runs, the analysis included.
pub fn session(
    tool: &Tool,
    folder: &Path,
    program: &Path,
    arguments: &[&str],
    runs: u32,
) -> anyhow::Result<Duration> {
    let place = tempfile::tempdir_in(folder)?;
    let mut command = tool.command();
    command.current_dir(place.path()).args([
        "run",
        "--no-confirm",
        "--jobs",
        "1",
        "--noise",
        "off",
        "--runs",
        &runs.to_string(),
    ]);
    command.arg("--").arg(program).args(arguments).stdout(Stdio::null()).stderr(Stdio::null());
    let begun = Instant::now();
    // That no run fails has an exit code of its own.
    command.status().with_context(|| format!("cannot start {command:?}"))?;
    Ok(begun.elapsed())
}

/// The curves as numbers.
pub fn table(curves: &[Curve]) -> String {
    let titles = FACTORS.map(|factor| format!("×{factor}, ms"));
    let titles: Vec<&str> = ["growing", "×1"].into_iter().chain(titles.iter().map(String::as_str)).collect();
    let mut table = head(&titles);
    for curve in curves {
        let times = curve.times.iter().map(|time| format!("{:.0}", time.as_secs_f64() * 1e3));
        table += &row(&[curve.grows.to_owned(), curve.at_first.to_string()]
            .into_iter()
            .chain(times)
            .collect::<Vec<_>>());
    }
    table
}

/// The curves as a picture, with what linear growth would be.
pub fn chart(curves: &[Curve]) -> Chart {
    let linear = FACTORS.map(|factor| (f64::from(factor), f64::from(factor))).to_vec();
    let lines = curves.iter().map(|curve| {
        let first = curve.times[0].as_secs_f64();
        let points = FACTORS
            .iter()
            .zip(&curve.times)
            .map(|(&factor, time)| (f64::from(factor), time.as_secs_f64() / first));
        Line { name: short(curve.grows), points: points.collect(), connected: true }
    });
    let linear = Line { name: "linear".to_owned(), points: linear, connected: true };
    let marks = |marks: &[f64]| marks.to_vec();
    Chart {
        title: "Time against size, both as multiples of the smallest".to_owned(),
        x: Axis { label: "times as many".to_owned(), marks: marks(&[1.0, 10.0, 100.0]), scale: Scale::Even },
        y: Axis {
            label: "times as long".to_owned(),
            marks: marks(&[1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0]),
            scale: Scale::Even,
        },
        lines: lines.chain([linear]).collect(),
        boxes: Vec::new(),
    }
}

/// The first word, for the legend.
fn short(grows: &str) -> String {
    grows.split([' ', ',']).next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn curves_are_relative_to_their_beginning() {
        let times = [20, 100, 1000].map(Duration::from_millis).to_vec();
        let curve = Curve { grows: "threads, many", at_first: 4, times };
        let chart = chart(std::slice::from_ref(&curve));
        assert_eq!(chart.lines[0].name, "threads");
        assert_eq!(chart.lines[0].points, [(1.0, 1.0), (10.0, 5.0), (100.0, 50.0)]);
        assert!(table(&[curve]).contains("| threads, many | 4 | 20 | 100 | 1000 |"));
    }
}
