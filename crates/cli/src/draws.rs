//! `unsnarl draws`: many reports at once, on parts of a session's runs. `cargo xtask evaluate` asks what each technique
//! would have said if only these runs had been made; each run is read once for all of it.
//!
//! The plan comes as JSON from standard input; a report per line goes to standard output, draw by draw and in each in
//! the order of the techniques. Of a report's keys it has those that tell what was found where.

use std::io::{self, BufWriter, Write as _};
use std::path::Path;
use std::process::ExitCode;

use anyhow::Context as _;
use localize::Technique;
use report::{Access, Fix, Kind, Report};
use runner::{RunNumber, RunRecord, Session};
use serde::{Deserialize, Serialize};

use crate::args::{DrawsArguments, RankingArguments};
use crate::exit::{self, Complaint};
use crate::runs::Runs;
use crate::{analysis, sessions};

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
}

/// `unsnarl draws`.
pub fn draws(arguments: &DrawsArguments) -> anyhow::Result<ExitCode> {
    let session = sessions::open(arguments.session.as_deref())?;
    let plan: Plan = serde_json::from_reader(io::stdin().lock())
        .map_err(|error| Complaint::usage(format!("the plan of draws cannot be read: {error}")))?;
    let techniques = plan.techniques.iter().map(|name| name.parse()).collect::<Result<Vec<Technique>, _>>();
    let techniques = techniques.map_err(|error| Complaint::usage(error.to_string()))?;
    let mut runs = Runs::kept(&session);
    let mut output = BufWriter::new(io::stdout().lock());
    for draw in &plan.draws {
        runs.records = draw.records(&session)?;
        for &technique in &techniques {
            let ranking = RankingArguments { technique: Some(technique), ..arguments.ranking.clone() };
            let report = analysis::examine_runs(&mut runs, &ranking)?.report;
            serde_json::to_writer(&mut output, &Brief::of(&report, &plan.files))
                .context("cannot write a report")?;
            writeln!(output).context("cannot write a report")?;
        }
    }
    output.flush().context("cannot write a report")?;
    Ok(ExitCode::from(exit::FOUND))
}

/// What a report says was found where. All of it would be ten times as long.
#[derive(Serialize)]
struct Brief<'a> {
    technique: &'a str,
    findings: Vec<BriefFinding<'a>>,
    causes: Vec<BriefCause<'a>>,
}

#[derive(Serialize)]
struct BriefFinding<'a> {
    rank: u64,
    tied: u64,
    confidence: Option<f64>,
    failed: u64,
    passed: u64,
    kind: Kind,
    pattern: &'a str,
    accesses: Vec<BriefAccess<'a>>,
    suspicious_functions: &'a [String],
    failing_runs: &'a [u64],
    fix: &'a Option<Fix>,
}

/// An access, where the files of the plan made it.
#[derive(Serialize)]
struct BriefAccess<'a> {
    thread: u32,
    variable: &'a str,
    file: Option<&'a str>,
    line: Option<u32>,
}

#[derive(Serialize)]
struct BriefCause<'a> {
    group: u64,
    failing_runs: &'a [u64],
}

impl<'a> Brief<'a> {
    fn of(report: &'a Report, files: &[String]) -> Brief<'a> {
        let findings = report.findings.iter().map(|finding| BriefFinding {
            rank: finding.rank,
            tied: finding.tied,
            confidence: finding.confidence,
            failed: finding.failed,
            passed: finding.passed,
            kind: finding.kind,
            pattern: &finding.pattern,
            accesses: finding.accesses.iter().map(|access| BriefAccess::of(access, files)).collect(),
            suspicious_functions: &finding.suspicious_functions,
            failing_runs: &finding.failing_runs,
            fix: &finding.fix,
        });
        let causes = report.causes.iter();
        let causes = causes.map(|cause| BriefCause { group: cause.group, failing_runs: &cause.failing_runs });
        Brief { technique: &report.technique, findings: findings.collect(), causes: causes.collect() }
    }
}

impl<'a> BriefAccess<'a> {
    fn of(access: &'a Access, files: &[String]) -> BriefAccess<'a> {
        let in_files = |file: &str| files.iter().any(|own| Path::new(file).ends_with(own));
        let place = (access.file.as_deref(), access.line);
        let frames = access.stack.iter().map(|frame| (frame.file.as_deref(), frame.line));
        let own = std::iter::once(place)
            .chain(frames)
            .find(|(file, line)| line.is_some() && file.is_some_and(in_files));
        let (file, line) = own.unwrap_or(place);
        BriefAccess { thread: access.thread, variable: &access.variable, file, line }
    }
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
