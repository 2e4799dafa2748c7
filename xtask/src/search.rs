//! `cargo xtask search`: how many runs, and how much time, it takes until a corpus program fails for the first time,
//! for each way to run it, side by side.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use runner::Session;

use crate::document::{self, head, row};
use crate::evaluate::build::{self, Variant};
use crate::evaluate::record::healthy;
use crate::measure::geometric_mean;
use crate::tool::Tool;
use crate::truth::{self, Language, Subject};
use crate::workspace;

#[derive(clap::Args)]
pub struct Arguments {
    /// Search only in this program (may be given several times)
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,
    /// Only in programs that fail more rarely than this by themselves
    #[arg(long, value_name = "RATE", default_value_t = 1.0)]
    below: f64,
    /// How often to search, for each program and way; the median counts
    #[arg(long, value_name = "N", default_value_t = 3)]
    trials: u32,
    /// Time for one search, after which it has failed
    #[arg(long, value_name = "T", default_value = "5s", value_parser = humantime::parse_duration)]
    time: Duration,
    /// What all random choices come from
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Put the table into docs/search.md
    #[arg(long, conflicts_with = "only")]
    write: bool,
}

/// A way to run a program.
struct Way {
    name: &'static str,
    /// Of `unsnarl run`; none for the program as it is.
    flags: Option<&'static [&'static str]>,
}

const WAYS: [Way; 8] = [
    Way { name: "native", flags: None },
    Way { name: "noise", flags: Some(&["--schedule", "free"]) },
    Way { name: "random", flags: Some(&["--schedule", "random"]) },
    Way { name: "pct", flags: Some(&["--schedule", "pct"]) },
    Way { name: "pos", flags: Some(&["--schedule", "pos"]) },
    Way { name: "surw", flags: Some(&["--schedule", "surw"]) },
    Way { name: "mixed", flags: Some(&["--schedule", "mixed", "--undirected"]) },
    Way { name: "mixed, directed", flags: Some(&["--schedule", "mixed"]) },
];

/// Below this rate a failure counts as rare.
const RARE: f64 = 0.01;

/// One search.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Found {
    /// Runs up to the first failure, or all of them.
    runs: u32,
    seconds: f64,
    /// Whether there was a failure.
    failed: bool,
}

/// The median search of a program in one way. A search without a failure took longer than any with one.
fn median(mut searches: Vec<Found>) -> Option<Found> {
    searches.sort_by_key(|found| (!found.failed, found.runs));
    searches.get(searches.len().checked_sub(1)? / 2).copied()
}

/// A program with what came of each way.
struct Line {
    name: String,
    rate: f64,
    found: Vec<Option<Found>>,
}

pub fn search(arguments: &Arguments) -> anyhow::Result<()> {
    let tool = Tool::build()?;
    let folder = workspace::scratch("search")?;
    let mut lines = Vec::new();
    for subject in chosen(arguments)? {
        let name = subject.truth.name.clone();
        eprintln!("{name}");
        let place = folder.join(&name);
        let recorded = build::build(&subject, &tool, &place, Variant::Buggy, 1)?;
        let native = build::build_native(&subject, &place, Variant::Buggy, 1)?;
        let searches = WAYS.iter().map(|way| {
            let trials = (0..arguments.trials).map(|trial| match way.flags {
                None => stress(&native, &subject, arguments.time),
                Some(flags) => {
                    let seed = arguments.seed + u64::from(trial);
                    campaign(&tool, &recorded, &subject, &place, flags, seed, arguments.time)
                }
            });
            let found = median(trials.collect::<anyhow::Result<Vec<_>>>()?);
            eprintln!("  {}: {}", way.name, cell(found));
            Ok(found)
        });
        let found = searches.collect::<anyhow::Result<Vec<_>>>()?;
        lines.push(Line { name, rate: subject.truth.natural_failure_rate, found });
    }
    let text = markdown(&lines, arguments);
    println!("{text}");
    if arguments.write {
        document::update(&workspace::root().join("docs/search.md"), "search", &text)?;
    }
    Ok(())
}

fn chosen(arguments: &Arguments) -> anyhow::Result<Vec<Subject>> {
    let mut subjects = truth::subjects()?;
    // The schedule of a Java virtual machine is its own.
    subjects.retain(|subject| subject.truth.has_bug() && subject.truth.language != Language::Java);
    subjects.retain(|subject| subject.truth.natural_failure_rate < arguments.below);
    let only = &arguments.only;
    subjects.retain(|subject| only.is_empty() || only.contains(&subject.truth.name));
    if subjects.is_empty() {
        bail!("no program of the corpus is meant: see corpus/README.md for their names");
    }
    Ok(subjects)
}

/// Runs the program as it is until it fails.
fn stress(program: &Path, subject: &Subject, time: Duration) -> anyhow::Result<Found> {
    let begun = Instant::now();
    let mut runs = 0;
    while begun.elapsed() < time {
        runs += 1;
        let mut command = Command::new("timeout");
        command.arg(subject.truth.timeout_seconds.to_string()).arg(program);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let status = command.status().with_context(|| format!("cannot start {command:?}"))?;
        if !status.success() {
            return Ok(Found { runs, seconds: begun.elapsed().as_secs_f64(), failed: true });
        }
    }
    Ok(Found { runs, seconds: begun.elapsed().as_secs_f64(), failed: false })
}

fn campaign(
    tool: &Tool,
    program: &Path,
    subject: &Subject,
    place: &Path,
    flags: &[&str],
    seed: u64,
    time: Duration,
) -> anyhow::Result<Found> {
    let session: PathBuf = place.join("session");
    drop(fs::remove_dir_all(&session));
    let mut unsnarl = tool.command();
    unsnarl.arg("run").arg("--session").arg(&session).args(flags);
    unsnarl.args(["--until-failures", "1", "--jobs", "1", "--seed", &seed.to_string()]);
    unsnarl.args(["--time", &format!("{}ms", time.as_millis())]);
    unsnarl.args(["--timeout", &format!("{}s", subject.truth.timeout_seconds)]);
    // What the runs have to say is not looked at.
    unsnarl.args(["--technique", "avio", "--findings", "1"]);
    healthy(unsnarl.arg("--").arg(program))?;
    let session = Session::open(&session)?;
    let failed = session.runs().iter().any(|record| record.outcome.is_failing());
    Ok(Found { runs: session.runs().len() as u32, seconds: session.manifest().wall_seconds, failed })
}

fn cell(found: Option<Found>) -> String {
    match found {
        None => "–".to_owned(),
        Some(Found { runs, seconds, failed: true }) => format!("{runs} ({seconds:.1} s)"),
        Some(Found { runs, .. }) => format!("> {runs}"),
    }
}

fn markdown(lines: &[Line], arguments: &Arguments) -> String {
    let names: Vec<&str> = ["program", "native rate"].into_iter().chain(WAYS.map(|way| way.name)).collect();
    let mut table = head(&names);
    for line in lines {
        let cells = [format!("`{}`", line.name), format!("{:.2} %", 100.0 * line.rate)];
        table +=
            &row(&cells.into_iter().chain(line.found.iter().map(|&found| cell(found))).collect::<Vec<_>>());
    }
    let rare: Vec<&Line> = lines.iter().filter(|line| line.rate < RARE).collect();
    let mut text = format!(
        "Measured on {} by `cargo xtask search --trials {} --time {}ms --below {} --seed {}`.\n\n{table}",
        document::today(),
        arguments.trials,
        arguments.time.as_millis(),
        arguments.below,
        arguments.seed
    );
    if !rare.is_empty() {
        text += &format!(
            "\nFewer runs than native stress, geometric mean over the {} programs with a native rate below 1 %: {}.\n",
            rare.len(),
            (1..WAYS.len()).map(|way| saving(&rare, way)).collect::<Vec<_>>().join(", ")
        );
    }
    text
}

/// How many times fewer runs one way needs. Native stress that did not fail in time counts with all its runs, or those
/// that half of all searches need at the rate that the truth names, if these are more; another way that did not fail
/// counts with all its runs, which flatters it.
fn saving(lines: &[&Line], way: usize) -> String {
    let ratio = |line: &&Line| {
        let native = line.found[0]?;
        let needed = if native.failed { 0.0 } else { std::f64::consts::LN_2 / line.rate };
        Some(needed.max(native.runs.into()) / f64::from(line.found[way]?.runs))
    };
    let all = lines.iter().filter(|line| line.found[way].is_some_and(|found| found.failed)).count();
    format!(
        "{} {:.1}× ({all} of {} found)",
        WAYS[way].name,
        geometric_mean(lines.iter().filter_map(ratio)),
        lines.len()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_in_vain_is_the_longest() {
        let found = |runs, failed| Found { runs, seconds: 1.0, failed };
        let all = vec![found(50, true), found(10, false), found(3, true)];
        assert_eq!(median(all), Some(found(50, true)));
        assert_eq!(median(vec![found(10, false), found(20, false), found(3, true)]), Some(found(10, false)));
        assert_eq!(median(Vec::new()), None);
    }

    #[test]
    fn native_stress_in_vain_counts_by_the_known_rate_at_least() {
        let found = |runs, failed| Some(Found { runs, seconds: 1.0, failed });
        let mut line =
            Line { name: "x".to_owned(), rate: 0.005, found: vec![found(80, true), found(4, true)] };
        assert_eq!(saving(&[&line], 1), "noise 20.0× (1 of 1 found)");
        line.found[0] = found(30, false);
        assert_eq!(saving(&[&line], 1), "noise 34.7× (1 of 1 found)");
        line.found[0] = found(400, false);
        assert_eq!(saving(&[&line], 1), "noise 100.0× (1 of 1 found)");
    }
}
