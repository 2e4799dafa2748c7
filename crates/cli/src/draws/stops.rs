//! When a session would have ended by itself, and whether ten times as many runs would have said the same.

use std::time::Duration;

use localize::{Collector, Finding, Options, RunId, Settling, Technique};
use runner::RunNumber;
use runner::campaign::{History, Limits};
use serde::{Deserialize, Serialize};

use super::brief::{BriefFinding, Places};
use super::known;
use crate::analysis;
use crate::runs::Runs;

/// Runs in the order in which they come. The same run may come several times.
#[derive(Deserialize)]
pub struct Stop {
    runs: Vec<RunNumber>,
}

/// What comes of it.
#[derive(Serialize)]
pub struct Stopped {
    /// After so many runs; none if a tenth of them was not enough.
    after: Option<usize>,
    /// The first cause then.
    first: Option<BriefFinding>,
    /// The first cause after ten times as many.
    later: Option<BriefFinding>,
}

/// How many times as many runs are made.
const TIMES: usize = 10;

impl Stop {
    /// Lets the runs come one by one until the first cause is settled. A campaign would end without that once there are
    /// many runs of both kinds.
    pub fn play(&self, runs: &mut Runs<'_>, places: &mut Places<'_>) -> anyhow::Result<Stopped> {
        let options = Options::default();
        let mut settling = Settling::new(&options);
        let mut collector = Collector::new(Technique::Verdict, &options);
        let most = self.runs.len() / TIMES;
        let (mut after, mut first) = (None, None);
        let mut history = History::default();
        for (nth, &run) in self.runs.iter().enumerate() {
            if after.is_some_and(|after| nth == after * TIMES) || after.is_none() && nth == most {
                break;
            }
            let record = known(runs.session, run)?;
            let Some(outcome) = analysis::outcome(&record.outcome) else { continue };
            let profile = runs.load(run, outcome)?;
            let reduced = runs.reduce(&profile, Technique::Verdict, &options).again_as(RunId(nth as u32));
            collector.add(&reduced);
            if after.is_some() {
                continue;
            }
            settling.add(&reduced, outcome);
            if settling.settled().is_some() {
                after = Some(nth + 1);
                first = self.first(settling.findings(), runs, places)?;
                continue;
            }
            history.add(&record.outcome);
            if Limits::default().reached(&history, Duration::ZERO).is_some() {
                break;
            }
        }
        let later = match after {
            Some(_) => self.first(collector.findings(), runs, places)?,
            None => None,
        };
        Ok(Stopped { after, first, later })
    }

    fn first(
        &self,
        findings: Vec<Finding>,
        runs: &mut Runs<'_>,
        places: &mut Places<'_>,
    ) -> anyhow::Result<Option<BriefFinding>> {
        let Some(mut first) = findings.into_iter().next() else { return Ok(None) };
        let run = self.runs[first.example.run.0 as usize];
        first.example.run = RunId(run.0);
        let outcome = analysis::outcome(&known(runs.session, run)?.outcome);
        let Some(outcome) = outcome else { return Ok(None) };
        let profile = runs.load(run, outcome)?;
        Ok(Some(BriefFinding::of(&first, &profile, &runs.code, &mut runs.names, places)))
    }
}
