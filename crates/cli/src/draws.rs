//! `unsnarl draws`: many reports at once, on parts of a session's runs. `cargo xtask evaluate` asks what each technique
//! would have said if only these runs had been made; each run is read once for all of it, and only what is asked for is
//! put into words.
//!
//! The plan comes as JSON from standard input; a report per line goes to standard output, draw by draw and in each in
//! the order of the techniques. It has all findings, and of a report's keys those that tell what was found where; the
//! others only for techniques whose findings are to be explained.

mod brief;

use std::io::{self, BufWriter, Write as _};
use std::process::ExitCode;

use anyhow::Context as _;
use localize::{Collector, Finding, Options, Technique};
use runner::{RunNumber, RunRecord, Session};
use serde::Deserialize;

use crate::args::{DrawsArguments, RankingArguments};
use crate::exit::{self, Complaint};
use crate::runs::Runs;
use crate::{analysis, causes, sessions};
use brief::{Brief, Places};

/// What to report on.
#[derive(Deserialize)]
struct Plan {
    techniques: Vec<String>,
    /// The program's own files: an access inside a library is where these asked for it.
    files: Vec<String>,
    draws: Vec<Draw>,
}

/// Some runs of the session. How they are said to have ended is not always how they did: what comes of chance can
/// only be told where there is no cause.
#[derive(Deserialize)]
struct Draw {
    failing: Vec<RunNumber>,
    passing: Vec<RunNumber>,
    /// The techniques whose findings are explained.
    #[serde(default)]
    explained: Vec<String>,
}

/// `unsnarl draws`.
pub fn draws(arguments: &DrawsArguments) -> anyhow::Result<ExitCode> {
    let session = sessions::open(arguments.session.as_deref())?;
    let plan: Plan = serde_json::from_reader(io::stdin().lock())
        .map_err(|error| Complaint::usage(format!("the plan of draws cannot be read: {error}")))?;
    let techniques = plan.techniques.iter().map(|name| name.parse()).collect::<Result<Vec<Technique>, _>>();
    let techniques = techniques.map_err(|error| Complaint::usage(error.to_string()))?;
    let mut runs = Runs::kept(&session, &techniques);
    let mut places = Places::new(&plan.files);
    let mut output = BufWriter::new(io::stdout().lock());
    for draw in &plan.draws {
        runs.records = draw.records(&session)?;
        for &technique in &techniques {
            let findings = findings(&mut runs, technique)?;
            let passed = draw.passing.len() as u64;
            let groups = causes::groups(&findings, passed, Options::default().formula);
            let mut brief = Brief::of(technique, &findings, &groups, &mut runs, &mut places)?;
            if draw.explained.iter().any(|explained| explained == technique.name()) {
                brief.explain(analysis::examine_runs(&mut runs, &all_findings(technique))?.report);
            }
            serde_json::to_writer(&mut output, &brief).context("cannot write a report")?;
            writeln!(output).context("cannot write a report")?;
        }
    }
    output.flush().context("cannot write a report")?;
    Ok(ExitCode::from(exit::FOUND))
}

/// What a technique finds in failing runs.
fn findings(runs: &mut Runs<'_>, technique: Technique) -> anyhow::Result<Vec<Finding>> {
    let options = Options::default();
    let mut collector = Collector::new(technique, &options);
    for record in runs.records.clone() {
        let Some(outcome) = analysis::outcome(&record.outcome) else { continue };
        let profile = runs.load(record.run, outcome)?;
        collector.add(&runs.reduce(&profile, technique, &options));
    }
    let mut findings = collector.findings();
    findings.retain(|finding| finding.failed > 0);
    Ok(findings)
}

/// As if a user had asked for all that a technique finds.
fn all_findings(technique: Technique) -> RankingArguments {
    let Options { window, distance, formula } = Options::default();
    RankingArguments { technique: Some(technique), formula, window, distance, findings: usize::MAX }
}

impl Draw {
    /// Its runs, in the order in which they were made.
    fn records(&self, session: &Session) -> anyhow::Result<Vec<RunRecord>> {
        let find = |&run: &RunNumber| {
            let record = session.runs().iter().find(|record| record.run == run);
            record.cloned().ok_or_else(|| Complaint::usage(format!("the session has no run {run}")))
        };
        let mut records = Vec::new();
        for run in &self.failing {
            let mut record = find(run)?;
            if !record.outcome.is_failing() {
                record.outcome = runner::Outcome::Fail { reason: "bad luck".to_owned() };
            }
            records.push(record);
        }
        for run in &self.passing {
            records.push(RunRecord { outcome: runner::Outcome::Pass, ..find(run)? });
        }
        records.sort_by_key(|record| record.run);
        Ok(records)
    }
}
