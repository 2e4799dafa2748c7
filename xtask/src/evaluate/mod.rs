//! `cargo xtask evaluate`: the corpus end to end. Each program is built for the recorder, run with noise until enough
//! runs failed, and localized by each technique; the ranking is compared with the program's truth file.

mod build;
mod record;
mod score;
mod table;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, bail};

use crate::tool::Tool;
use crate::truth::{self, Subject};
use crate::{document, workspace};
use build::Programs;
use record::{Plan, Until};
use table::{Evaluation, Outcome, Program};

/// The share of a program's time that its fixed twin gets.
const FIXED_TWIN_TIME: f64 = 0.5;

#[derive(clap::Args)]
pub struct Arguments {
    /// Evaluate only this program (may be given several times)
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,
    /// Record until this many runs failed
    #[arg(long, value_name = "N", default_value_t = 25)]
    failures: u32,
    /// Begin no run of a program after this time
    #[arg(long, value_name = "T", default_value = "120s", value_parser = humantime::parse_duration)]
    time_per_program: Duration,
    /// Runs of each fixed twin
    #[arg(long, value_name = "N", default_value_t = 200)]
    fixed_runs: u32,
    /// Timed runs with and without recording
    #[arg(long, value_name = "N", default_value_t = 21, value_parser = clap::value_parser!(u32).range(1..))]
    timed_runs: u32,
    /// What all random choices come from
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// How strongly to disturb the schedule
    #[arg(long, value_name = "LEVEL", default_value = "medium")]
    noise: String,
    /// The techniques to evaluate
    #[arg(long, value_name = "NAME", num_args = 1.., default_values = ["falcon", "unicorn"])]
    technique: Vec<String>,
    /// Put the tables into docs/evaluation.md and the data into docs/evaluation.json
    #[arg(long, conflicts_with = "only")]
    write: bool,
}

pub fn evaluate(arguments: &Arguments) -> anyhow::Result<()> {
    let subjects = chosen(&arguments.only)?;
    let tool = Tool::build()?;
    let folder = workspace::scratch("evaluate")?;
    let programs =
        subjects.iter().map(|subject| evaluate_program(subject, &tool, &folder, arguments)).collect();
    let evaluation = Evaluation {
        date: document::today(),
        command: command_line(),
        techniques: arguments.technique.clone(),
        programs,
    };
    let text = table::markdown(&evaluation);
    println!("{text}");
    if arguments.write {
        let docs = workspace::root().join("docs");
        document::update(&docs.join("evaluation.md"), "evaluation", &text)?;
        let json = serde_json::to_string_pretty(&evaluation)? + "\n";
        fs::write(docs.join("evaluation.json"), json).context("cannot write docs/evaluation.json")?;
    }
    let troubled: Vec<&str> =
        evaluation.programs.iter().filter(|p| p.trouble.is_some()).map(|p| p.name.as_str()).collect();
    if !troubled.is_empty() {
        bail!("not evaluated: {}", troubled.join(", "));
    }
    Ok(())
}

fn chosen(only: &[String]) -> anyhow::Result<Vec<Subject>> {
    let mut subjects = truth::subjects()?;
    subjects.retain(|subject| subject.truth.has_bug());
    let unknown: Vec<&String> =
        only.iter().filter(|name| subjects.iter().all(|subject| subject.truth.name != **name)).collect();
    if !unknown.is_empty() {
        let names: Vec<&str> = subjects.iter().map(|subject| subject.truth.name.as_str()).collect();
        bail!("the corpus has no {unknown:?}: choose from {}", names.join(", "));
    }
    subjects.retain(|subject| only.is_empty() || only.contains(&subject.truth.name));
    Ok(subjects)
}

/// A program that cannot be evaluated does not keep the others from it.
fn evaluate_program(subject: &Subject, tool: &Tool, folder: &Path, arguments: &Arguments) -> Program {
    let truth = &subject.truth;
    eprint!("{}: ", truth.name);
    let (result, trouble) = match outcome(subject, tool, &folder.join(&truth.name), arguments) {
        Ok(outcome) => {
            eprintln!("{}", in_short(&outcome));
            (Some(outcome), None)
        }
        Err(error) => {
            eprintln!("{error:#}");
            (None, Some(format!("{error:#}")))
        }
    };
    Program {
        name: truth.name.clone(),
        pattern: truth.pattern.clone(),
        natural_failure_rate: truth.natural_failure_rate,
        trouble,
        result,
    }
}

fn outcome(subject: &Subject, tool: &Tool, folder: &Path, arguments: &Arguments) -> anyhow::Result<Outcome> {
    let answers = subject.truth.answers()?;
    let programs = Programs::build(subject, tool, folder)?;
    let plan = Plan {
        until: Until::Failures(arguments.failures),
        at_most: arguments.time_per_program,
        seed: arguments.seed,
        noise: &arguments.noise,
        timeout_seconds: subject.truth.timeout_seconds,
    };
    let (session, fixed_session) = (folder.join("session"), folder.join("fixed-session"));
    record::record(tool, &programs.recorded, &session, plan)?;
    let mut runs = None;
    let mut scores = BTreeMap::new();
    for technique in &arguments.technique {
        let report = record::report(tool, &session, technique)?;
        scores.insert(technique.clone(), score::score(&report, &answers, &subject.truth.sources));
        runs = Some(report.runs);
    }
    let fixed_plan = Plan {
        until: Until::Runs(arguments.fixed_runs),
        at_most: arguments.time_per_program.mul_f64(FIXED_TWIN_TIME),
        ..plan
    };
    record::record(tool, &programs.fixed, &fixed_session, fixed_plan)?;
    let technique = arguments.technique.first().context("no technique was given")?;
    Ok(Outcome {
        runs: runs.context("no technique was given")?,
        fixed_runs: record::report(tool, &fixed_session, technique)?.runs,
        slowdown: record::slowdown(
            &programs.native,
            &programs.recorded,
            arguments.timed_runs,
            subject.truth.timeout_seconds,
        )?,
        scores,
    })
}

fn in_short(outcome: &Outcome) -> String {
    let runs = outcome.runs;
    let mut text = format!("{} of {} runs failed", runs.failed, runs.passed + runs.failed);
    for (technique, score) in &outcome.scores {
        text += &match &score.truth {
            Some(truth) => format!(", {technique} rank {} tied {}", truth.rank, truth.tied),
            None => format!(", {technique} not found"),
        };
    }
    text + &format!(", {} fixed runs failed", outcome.fixed_runs.failed)
}

/// As a person would type it.
fn command_line() -> String {
    let arguments = std::env::args().skip(1);
    std::iter::once("cargo xtask".to_owned()).chain(arguments).collect::<Vec<_>>().join(" ")
}
