//! Runs by schedules of our own making: each thread runs as long as it can, but for where the schedule says otherwise.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use recording::{RunPlan, Schedule, Switch};
use report::Trial;
use runner::campaign::Campaign;
use runner::{Outcome, RunFile, RunNumber, RunRecord, Schedules, Session};

use super::legs::{self, Leg};
use crate::conduct::INTERRUPTED;

/// A run is waited for this long at least, and for so many times the slowest that passed.
const LEAST_TIMEOUT: Duration = Duration::from_millis(500);
const TIMES_SLOWEST: f64 = 10.0;

/// A failing run of one process, and others that are made of it.
pub struct Bench {
    pub run: RunNumber,
    campaign: Campaign,
    plan: RunPlan,
    seed: u64,
    /// Whether the run that failed hung: what ends in another way is another failure.
    hung: bool,
    /// Its way.
    pub legs: Vec<Leg>,
    known: BTreeMap<Vec<Leg>, bool>,
    /// Runs that were made.
    pub made: u32,
    until: Instant,
}

/// How far a thread has come while another one was held.
pub struct Come {
    pub stops: u32,
    /// It goes on afterwards, so that it had to wait.
    pub goes_on: bool,
}

/// There was no time for it.
#[derive(Debug)]
pub struct OutOfTime;

impl std::fmt::Display for OutOfTime {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("no time is left for more runs")
    }
}

impl std::error::Error for OutOfTime {}

impl Bench {
    /// None if the run has no schedule that could be followed.
    pub fn of(session: &Session, record: &RunRecord, campaign: &Campaign, until: Instant) -> Option<Bench> {
        let plan: RunPlan = record.plan.parse().ok()?;
        if plan.schedule == Schedule::Free {
            return None;
        }
        let schedules = Schedules::of(&session.load(record.run).ok()?).ok()?;
        // In each of several processes it would be another way.
        let [process] = schedules.processes() else { return None };
        let switches: Vec<Switch> = process.switches();
        let passes = session.runs().iter().filter(|record| record.outcome == Outcome::Pass);
        let slowest = passes.map(|record| record.seconds).fold(0.0, f64::max);
        // Other ways than those that threads took by themselves can go on for ever, and say nothing then.
        let timeout = LEAST_TIMEOUT.max(Duration::from_secs_f64(slowest * TIMES_SLOWEST));
        let timeout = campaign.timeout.map_or(timeout, |given| given.min(timeout));
        // Where the points are depends on the plan's sites.
        let plan = RunPlan {
            schedule: Schedule::Bounded,
            interleaving: None,
            avoided: None,
            beginning: None,
            directed: false,
            ..plan
        };
        Some(Bench {
            run: record.run,
            campaign: Campaign { timeout: Some(timeout), ..campaign.clone() },
            plan,
            seed: process.header.seed,
            hung: record.outcome.is_hang(),
            legs: legs::of_switches(&switches),
            known: BTreeMap::new(),
            made: 0,
            until,
        })
    }

    /// Does a run that goes this way fail?
    pub fn fails(&mut self, legs: &[Leg]) -> anyhow::Result<bool> {
        if let Some(&known) = self.known.get(legs) {
            return Ok(known);
        }
        let file = self.make(legs)?;
        let failed = self.is_failure(&file);
        self.known.insert(legs.to_vec(), failed);
        Ok(failed)
    }

    /// The run once more, if it ends as it did before: what does not is not decided by the schedule.
    pub fn again(&mut self, legs: &[Leg]) -> anyhow::Result<Option<RunFile>> {
        let before = self.fails(legs)?;
        let file = self.make(legs)?;
        Ok((self.is_failure(&file) == before).then_some(file))
    }

    /// How far another thread comes while one is held at a stop of its own.
    pub fn come(&mut self, legs: &[Leg], (held, stop): (u32, u32), other: u32) -> anyhow::Result<Come> {
        let file = self.make(legs)?;
        let schedules = Schedules::of(&file)?;
        let switches = schedules.processes().first().map_or_else(Vec::new, |process| process.switches());
        let is_held = |switch: &Switch| switch.from == held && switch.stop >= stop;
        let since = switches.iter().position(is_held).map_or(&[][..], |at| &switches[at + 1..]);
        // Whoever gives the token back to the held thread is the last that counts.
        let back = since.iter().position(|switch| switch.to == held).map_or(since.len(), |at| at + 1);
        let stops = since[..back].iter().filter(|switch| switch.from == other).map(|switch| switch.stop);
        Ok(Come {
            stops: stops.max().unwrap_or(0),
            goes_on: since[back..].iter().any(|switch| switch.to == other),
        })
    }

    /// So many runs that go this way.
    pub fn repeat(&mut self, legs: &[Leg], runs: u64, trial: &mut Trial) -> anyhow::Result<()> {
        for _ in 0..runs {
            let file = self.make(legs)?;
            trial.runs += 1;
            trial.failed += u64::from(self.is_failure(&file));
        }
        Ok(())
    }

    fn make(&mut self, legs: &[Leg]) -> anyhow::Result<RunFile> {
        if Instant::now() >= self.until {
            return Err(OutOfTime.into());
        }
        self.made += 1;
        let run = RunNumber(self.made);
        let switches = legs::to_switches(legs);
        let made =
            runner::follow_switches((&switches, self.seed), &self.campaign, run, self.plan, &INTERRUPTED)?;
        made.ok_or_else(|| OutOfTime.into())
    }

    fn is_failure(&self, file: &RunFile) -> bool {
        match file.record.outcome {
            Outcome::Fail { .. } => !self.hung,
            Outcome::Hang { .. } => self.hung,
            Outcome::Pass | Outcome::Damaged { .. } => false,
        }
    }
}
