//! `unsnarl trace`: one run step by step.

mod moments;
mod timeline;
mod tracer;

use std::collections::HashMap;
use std::process::ExitCode;

use localize::Code;
use report::terminal;
use report::trace::{Filter, Trace};
use runner::{RunNumber, RunRecord, Session};

pub use self::timeline::timelines;

use self::moments::moments;
use self::tracer::Tracer;
use crate::args::TraceArguments;
use crate::exit::Complaint;
use crate::names::Names;
use crate::{analysis, exit, screen, sessions};

/// `unsnarl trace RUN`.
pub fn trace(arguments: &TraceArguments) -> anyhow::Result<ExitCode> {
    let session = sessions::open(arguments.session.as_deref())?;
    let record = record(&session, arguments.run)?;
    let Some(outcome) = analysis::outcome(&record.outcome) else {
        let what = format!("run {} is damaged: {}", record.run, record.outcome.reason());
        return Err(Complaint::usage(what).into());
    };
    let (mut code, mut names) = (Code::default(), Names::default());
    let profile = analysis::load(&session, record.run, outcome, &mut code, &mut names)?;
    let moments = moments(&profile);
    let all: Vec<usize> = (0..moments.len()).collect();
    let tracer = Tracer::new(&profile, &code, &mut names, HashMap::new());
    let whole = tracer.trace(words(record), &moments, &all, &[]);
    let filter = Filter {
        threads: arguments.thread.clone(),
        objects: arguments.variable.clone(),
        files: arguments.file.clone(),
        steps: Some([arguments.from, arguments.to.unwrap_or(u64::MAX)]),
    };
    let shown = whole.clone().filtered(&filter);
    if shown.steps.is_empty() {
        return Err(nothing_matches(&whole).into());
    }
    screen::page(&terminal::trace(&shown, &screen::view(false)))?;
    Ok(ExitCode::from(exit::FOUND))
}

/// The run that was asked for, or the first that failed.
fn record(session: &Session, run: Option<u32>) -> anyhow::Result<&RunRecord> {
    let runs = session.runs();
    let found = match run {
        Some(run) => runs.iter().find(|record| record.run == RunNumber(run)),
        None => runs.iter().find(|record| record.outcome.is_failing()).or(runs.first()),
    };
    let failing = runs.iter().find(|record| record.outcome.is_failing());
    let failing =
        failing.map(|record| format!("; the first that failed is {}", record.run)).unwrap_or_default();
    found.ok_or_else(|| match (run, runs.first(), runs.last()) {
        (Some(run), Some(first), Some(last)) => {
            let what =
                format!("there is no run {run}: the session has {} to {}{failing}", first.run, last.run);
            Complaint::usage(what).into()
        }
        _ => Complaint::usage("the session has no runs".to_owned()).into(),
    })
}

/// How a run ended, in words.
fn words(record: &RunRecord) -> String {
    match &record.outcome {
        runner::Outcome::Pass => "passed".to_owned(),
        outcome => format!("failed: {}", outcome.reason()),
    }
}

/// Names that a filter could have asked for are worth more than the news that it asked for others.
fn nothing_matches(whole: &Trace) -> Complaint {
    const LISTED: usize = 8;
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for step in whole.steps.iter().filter(|step| !step.object.name.is_empty()) {
        *counts.entry(&step.object.name).or_default() += 1;
    }
    let mut objects: Vec<(&str, usize)> = counts.into_iter().collect();
    objects.sort_by_key(|&(object, count)| (std::cmp::Reverse(count), object));
    let objects: Vec<&str> = objects.into_iter().map(|(object, _)| object).take(LISTED).collect();
    Complaint::usage(format!(
        "no step of run {} matches: it has {} steps of the threads {}; most are about {}",
        whole.run,
        whole.steps.len(),
        report::visible(&whole.titles().join(", ")),
        report::visible(&objects.join(", ")),
    ))
}
