//! Runs by schedules of our own making: each thread runs as long as it can, but for where the schedule says otherwise.

use std::collections::BTreeMap;
use std::thread;
use std::time::{Duration, Instant};

use recording::{Course, List, Numbering, RunPlan, Schedule, Site, Switch};
use report::Trial;
use runner::campaign::Campaign;
use runner::{Outcome, RunFile, RunNumber, RunRecord, Schedules, Session};

use super::legs::{self, Leg};
use super::sites;
use crate::conduct::INTERRUPTED;

/// A run is waited for this long at least, and for so many times the slowest that passed.
const LEAST_TIMEOUT: Duration = Duration::from_millis(500);
const TIMES_SLOWEST: f64 = 10.0;

/// A failing run of one process, and others that are made of it.
pub struct Bench {
    campaign: Campaign,
    plan: RunPlan,
    seed: u64,
    /// What the ends of legs count, and where accesses do.
    numbering: Numbering,
    sites: Vec<Site>,
    /// Whether the run that failed hung: what ends in another way is another failure.
    hung: bool,
    /// Its way.
    pub legs: Vec<Leg>,
    known: BTreeMap<Vec<Leg>, Gone>,
    /// Runs that were made.
    pub made: u32,
    until: Instant,
}

/// What came of a way.
struct Gone {
    failed: bool,
    switches: Vec<Switch>,
}

/// How far a thread has come while another one was held.
pub struct Come {
    pub stops: u32,
    /// It goes on afterwards, and not because its time was over: it had to wait for somebody.
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
    /// None if the run has no schedule that could be followed, or does not fail again if it is.
    pub fn of(
        session: &Session,
        failing: &RunFile,
        campaign: &Campaign,
        until: Instant,
    ) -> anyhow::Result<Option<Bench>> {
        let Ok(schedules) = Schedules::of(failing) else { return Ok(None) };
        let Some(mut bench) = Bench::by_stops(session, &failing.record, &schedules, campaign, until) else {
            return Ok(None);
        };
        bench.sites = sites::shared(session, (failing.record.run, &schedules));
        // A virtual machine's recorder counts what code under test does, wherever that is.
        let is_virtual = schedules.processes().iter().any(|process| !process.names.is_empty());
        let is_counted = is_virtual || !bench.sites.is_empty();
        if is_counted && !bench.count_progress()? {
            return Ok(None);
        }
        Ok(Some(bench))
    }

    /// The way as it was recorded.
    fn by_stops(
        session: &Session,
        record: &RunRecord,
        schedules: &Schedules,
        campaign: &Campaign,
        until: Instant,
    ) -> Option<Bench> {
        let plan = record.plan.parse::<RunPlan>().ok()?.of_follower();
        // In each of several processes it would be another way.
        let [process] = schedules.processes() else { return None };
        let switches: Vec<Switch> = process.switches();
        if switches.is_empty() {
            return None;
        }
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
            campaign: Campaign { timeout: Some(timeout), ..campaign.clone() },
            plan,
            seed: process.header.seed,
            numbering: Numbering::Stops,
            sites: Vec::new(),
            hung: record.outcome.is_hang(),
            legs: legs::of_switches(&switches),
            known: BTreeMap::new(),
            made: 0,
            until,
        })
    }

    /// Goes the way once more to know it by how far threads have come at the ends of its legs. What is left out of a way by stops
    /// makes other stops of what comes later. False if the run does not fail this time.
    fn count_progress(&mut self) -> anyhow::Result<bool> {
        self.numbering = Numbering::FromStopsToProgress;
        let legs = std::mem::take(&mut self.legs);
        let file = self.make(&[legs])?.remove(0);
        self.legs = legs::of_switches(&switches(&file));
        self.numbering = Numbering::Progress;
        // These are there to have stops.
        self.plan.sites = List::default();
        Ok(self.is_failure(&file))
    }

    /// Does a run that goes this way fail? If it is likely which one will be asked for next, that run is made at the same time.
    pub fn fails(&mut self, legs: &[Leg], next: Option<Vec<Leg>>) -> anyhow::Result<bool> {
        self.go(legs, next).map(|gone| gone.failed)
    }

    fn go(&mut self, legs: &[Leg], next: Option<Vec<Leg>>) -> anyhow::Result<&Gone> {
        if !self.known.contains_key(legs) {
            let has_room = self.campaign.jobs.get() > 1;
            let next = next.filter(|next| has_room && next != legs && !self.known.contains_key(next));
            let ways: Vec<Vec<Leg>> = std::iter::once(legs.to_vec()).chain(next).collect();
            let files = self.make(&ways)?;
            for (way, file) in ways.into_iter().zip(files) {
                let gone = Gone { failed: self.is_failure(&file), switches: switches(&file) };
                self.known.insert(way, gone);
            }
        }
        Ok(&self.known[legs])
    }

    /// These runs once more, each if it ends as it did before: what does not is not decided by the schedule.
    pub fn again(&mut self, ways: &[Vec<Leg>]) -> anyhow::Result<Vec<Option<RunFile>>> {
        let before = ways.iter().map(|way| self.fails(way, None)).collect::<anyhow::Result<Vec<bool>>>()?;
        let files = self.make(ways)?.into_iter().zip(before);
        Ok(files.map(|(file, before)| (self.is_failure(&file) == before).then_some(file)).collect())
    }

    /// All legs of a run that goes this way.
    pub fn gone(&mut self, legs: &[Leg]) -> anyhow::Result<Vec<Leg>> {
        Ok(legs::of_switches(&self.go(legs, None)?.switches))
    }

    /// How far another thread comes while one is held at a stop of its own.
    pub fn come(&mut self, legs: &[Leg], (held, stop): (u32, u32), other: u32) -> anyhow::Result<Come> {
        let switches = &self.go(legs, None)?.switches;
        let is_held = |switch: &Switch| switch.from == held && switch.stop >= stop;
        let since = switches.iter().position(is_held).map_or(&[][..], |at| &switches[at + 1..]);
        // Whoever gives the token back to the held thread is the last that counts.
        let back = since.iter().position(|switch| switch.to == held).map_or(since.len(), |at| at + 1);
        let stops = since[..back].iter().filter(|switch| switch.from == other).map(|switch| switch.stop);
        Ok(Come {
            stops: stops.max().unwrap_or(0),
            goes_on: since[back..]
                .iter()
                .find(|switch| switch.to == other)
                .is_some_and(|on| !on.is_by_time()),
        })
    }

    /// So many runs that go this way.
    pub fn repeat(&mut self, legs: &[Leg], runs: usize, trial: &mut Trial) -> anyhow::Result<()> {
        let files = self.make(&vec![legs.to_vec(); runs])?;
        trial.runs += files.len() as u64;
        trial.failed += files.iter().filter(|file| self.is_failure(file)).count() as u64;
        Ok(())
    }

    /// Runs that go these ways, as many at a time as the session's.
    fn make(&mut self, ways: &[Vec<Leg>]) -> anyhow::Result<Vec<RunFile>> {
        let mut made = Vec::new();
        for ways in ways.chunks(self.campaign.jobs.get()) {
            if Instant::now() >= self.until {
                return Err(OutOfTime.into());
            }
            let bench = &*self;
            let files = thread::scope(|scope| {
                let making = ways.iter().zip(bench.made + 1..);
                let making: Vec<_> =
                    making.map(|(way, nth)| scope.spawn(move || bench.one(way, nth))).collect();
                let join = |one: thread::ScopedJoinHandle<'_, anyhow::Result<RunFile>>| {
                    one.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
                };
                making.into_iter().map(join).collect::<anyhow::Result<Vec<RunFile>>>()
            })?;
            self.made += files.len() as u32;
            made.extend(files);
        }
        Ok(made)
    }

    fn one(&self, way: &[Leg], nth: u32) -> anyhow::Result<RunFile> {
        let switches = legs::to_switches(way);
        let course =
            Course { switches: &switches, seed: self.seed, numbering: self.numbering, sites: &self.sites };
        let made = runner::follow_course(course, &self.campaign, RunNumber(nth), self.plan, &INTERRUPTED)?;
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

/// The switches of a run; none if they cannot be read.
fn switches(file: &RunFile) -> Vec<Switch> {
    let schedules = Schedules::of(file).ok();
    let process = schedules.as_ref().and_then(|schedules| schedules.processes().first());
    process.map_or_else(Vec::new, |process| process.switches())
}
