//! `unsnarl draws`: many reports at once, on parts of a session's runs. `cargo xtask evaluate` asks what each technique
//! would have said if only these runs had been made; each run is read once for all of it, and only what is asked for is
//! put into words.
//!
//! The plan comes as JSON from standard input; a report per line goes to standard output, draw by draw and in each in
//! the order of the techniques. It has all findings, and of a report's keys those that tell what was found where; the
//! others only for techniques whose findings are to be explained. Verdicts with other constants follow in each draw.
//! After the draws there is a line for each session that is to be played until it stops.

mod brief;
mod constants;
mod stops;

use std::io::{self, BufWriter, Write};
use std::process::ExitCode;

use anyhow::Context as _;
use localize::{Collector, Options, Technique};
use runner::{RunNumber, RunRecord, Session};
use serde::{Deserialize, Serialize};

use crate::args::{DrawsArguments, RankingArguments};
use crate::exit::{self, Complaint};
use crate::runs::Runs;
use crate::{analysis, causes, sessions};
use brief::{Brief, Places};
use constants::Constants;
use stops::Stop;

/// What to report on.
#[derive(Deserialize)]
struct Plan {
    techniques: Vec<String>,
    /// The program's own files: an access inside a library is where these asked for it.
    files: Vec<String>,
    draws: Vec<Draw>,
    /// Verdicts with other constants than the usual ones.
    #[serde(default)]
    verdicts: Vec<Constants>,
    #[serde(default)]
    stops: Vec<Stop>,
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
            let mut brief = brief(&mut runs, technique, &Options::default(), &mut places)?;
            if draw.explained.iter().any(|explained| explained == technique.name()) {
                brief.explain(analysis::examine_runs(&mut runs, &all_findings(technique))?.report);
            }
            write(&mut output, &brief)?;
        }
        for &Constants(tuning) in &plan.verdicts {
            let options = Options { tuning, ..Options::default() };
            write(&mut output, &brief(&mut runs, Technique::Verdict, &options, &mut places)?)?;
        }
    }
    for stop in &plan.stops {
        write(&mut output, &stop.play(&mut runs, &mut places)?)?;
    }
    output.flush().context("cannot write a report")?;
    Ok(ExitCode::from(exit::FOUND))
}

fn write(output: &mut impl Write, line: &impl Serialize) -> anyhow::Result<()> {
    serde_json::to_writer(&mut *output, line).context("cannot write a report")?;
    writeln!(output).context("cannot write a report")
}

/// What a technique finds in failing runs.
fn brief(
    runs: &mut Runs<'_>,
    technique: Technique,
    options: &Options,
    places: &mut Places<'_>,
) -> anyhow::Result<Brief> {
    let mut collector = Collector::new(technique, options);
    let mut passed = 0;
    for record in runs.records.clone() {
        let Some(outcome) = analysis::outcome(&record.outcome) else { continue };
        let profile = runs.load(record.run, outcome)?;
        collector.add(&runs.reduce(&profile, technique, options));
        passed += u64::from(!outcome.is_failing());
    }
    let mut findings = collector.findings();
    findings.retain(|finding| finding.failed > 0);
    let groups = causes::groups(&findings, passed, options.formula);
    Brief::of(technique, &findings, &groups, runs, places)
}

/// A run of the session.
fn known(session: &Session, run: RunNumber) -> anyhow::Result<&RunRecord> {
    let record = session.runs().iter().find(|record| record.run == run);
    record.ok_or_else(|| Complaint::usage(format!("the session has no run {run}")).into())
}

/// As if a user had asked for all that a technique finds.
fn all_findings(technique: Technique) -> RankingArguments {
    let Options { window, distance, formula, .. } = Options::default();
    RankingArguments { technique: Some(technique), formula, window, distance, findings: usize::MAX }
}

impl Draw {
    /// Its runs, in the order in which they were made.
    fn records(&self, session: &Session) -> anyhow::Result<Vec<RunRecord>> {
        let mut records = Vec::new();
        for run in &self.failing {
            let mut record = known(session, *run)?.clone();
            if !record.outcome.is_failing() {
                record.outcome = runner::Outcome::Fail { reason: "bad luck".to_owned() };
            }
            records.push(record);
        }
        for run in &self.passing {
            records.push(RunRecord { outcome: runner::Outcome::Pass, ..known(session, *run)?.clone() });
        }
        records.sort_by_key(|record| record.run);
        Ok(records)
    }
}
