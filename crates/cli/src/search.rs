//! How each run of a campaign is to go: what `--schedule` asks for, and what earlier runs have taught.

mod knowledge;
mod near;
mod summary;

use std::fmt;
use std::str::FromStr;

use localize::{Code, Predicted, SiteId};
use recording::{Interleaving, InterleavingStep, List, Noise, RunPlan, Schedule, Site, Treatment};
use runner::campaign::run_seed;
use runner::portfolio::{self, Dropped, Policy, Portfolio};
use runner::preemptions::{self, Preemptions};
use runner::{RunFile, RunNumber, RunRecord, Session};

use crate::analysis;
use knowledge::Knowledge;
use near::Near;
pub use summary::{Summary, Tallies};

/// Who decides which thread runs when.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scheduling {
    /// By turns whoever makes the test fail.
    #[default]
    Mixed,
    /// By priorities of operations that conflict and, once a run has failed, every second run near such a one.
    Near,
    /// The same in all runs.
    Only(Schedule),
    /// All schedules with up to so many preemptions.
    Bounded(u32),
}

impl fmt::Display for Scheduling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Scheduling::Mixed => f.write_str("mixed"),
            Scheduling::Near => Policy::Near.fmt(f),
            Scheduling::Only(schedule) => schedule.fmt(f),
            Scheduling::Bounded(bound) => write!(f, "{}:{bound}", Schedule::Bounded),
        }
    }
}

impl Scheduling {
    /// So many of the first runs are made one by one. Where all that later plans depend on is known then, a seed makes the same plans
    /// again, however many runs go on at the same time and whichever is done first.
    pub fn runs_alone(self) -> u32 {
        match self {
            Scheduling::Only(schedule) if schedule != Schedule::Free => LEARNING_RUNS as u32,
            _ => 0,
        }
    }
}

impl FromStr for Scheduling {
    type Err = String;

    fn from_str(text: &str) -> Result<Scheduling, String> {
        let (name, bound) = text.split_once(':').map_or((text, None), |(name, bound)| (name, Some(bound)));
        let unknown = || {
            let known = Schedule::ALL.map(Schedule::name).join(", ");
            format!(
                "unknown schedule `{text}` (known: mixed, near, {known}; bounded:3 for up to three preemptions)"
            )
        };
        match (name, name.parse(), bound) {
            ("mixed", _, None) => Ok(Scheduling::Mixed),
            ("near", _, None) => Ok(Scheduling::Near),
            (_, Ok(Schedule::Bounded), None) => Ok(Scheduling::Bounded(preemptions::DEFAULT_BOUND)),
            (_, Ok(Schedule::Bounded), Some(bound)) => {
                let number = bound.parse().ok().filter(|number| *number <= MOST_PREEMPTIONS);
                number.map(Scheduling::Bounded).ok_or_else(|| {
                    format!("`{bound}` is no number of preemptions from 0 to {MOST_PREEMPTIONS}")
                })
            }
            (_, Ok(schedule), None) => Ok(Scheduling::Only(schedule)),
            _ => Err(unknown()),
        }
    }
}

/// Nobody has the time for more.
const MOST_PREEMPTIONS: u32 = 16;
/// Runs from which a search that is not mixed learns where threads meet. Then that is taken as known, so that later
/// runs are alike.
const LEARNING_RUNS: usize = 3;
/// A mixed one learns more, as long as nothing has failed: which orders of accesses were not seen is of no use once one is known
/// that fails.
const MOST_LEARNING_RUNS: usize = 8;
/// Recordings larger than this are not looked into between two runs: it would take longer than the runs.
const MOST_BYTES: usize = 8 << 20;

/// Makes the plans of a campaign's runs.
pub struct Search {
    scheduling: Scheduling,
    is_directed: bool,
    /// What all plans have in common.
    common: RunPlan,
    seed: u64,
    portfolio: Portfolio,
    preemptions: Preemptions,
    code: Code,
    predicted: Predicted,
    knowledge: Knowledge,
    near: Near,
    /// Runs of the session that have been looked at.
    seen: usize,
}

impl Search {
    /// `is_directed`: whether a mixed search goes for orders of accesses that were never seen, and near runs that failed.
    pub fn new(scheduling: Scheduling, is_directed: bool, common: RunPlan, seed: u64) -> Search {
        let policies = Policy::MIXED.into_iter().filter(|policy| is_directed || !policy.is_directed());
        let bound = match scheduling {
            Scheduling::Bounded(bound) => bound,
            _ => 0,
        };
        Search {
            scheduling,
            is_directed,
            common,
            seed,
            portfolio: Portfolio::new(seed, &policies.collect::<Vec<_>>()),
            preemptions: Preemptions::up_to(bound),
            code: Code::default(),
            predicted: Predicted::default(),
            knowledge: Knowledge::default(),
            near: Near::default(),
            seen: 0,
        }
    }

    /// The plan of the next run; none if there is nothing left to be tried.
    pub fn next_plan(&mut self, run: RunNumber, session: &Session) -> Option<RunPlan> {
        self.look_at_new_runs(session);
        let mut plan = self.common;
        plan.seed = run_seed(self.seed, run);
        plan.points = self.knowledge.points;
        match self.scheduling {
            Scheduling::Only(Schedule::Free) => {}
            Scheduling::Only(Schedule::Surw) => {
                plan.schedule = Schedule::Surw;
                self.make_interesting(&mut plan);
            }
            Scheduling::Only(schedule) => {
                plan.schedule = schedule;
                plan.sites = self.knowledge.meeting_sites(plan.seed);
            }
            Scheduling::Bounded(_) => {
                // The same ones in all runs, or there would be other choices to make.
                plan.sites = self.knowledge.meeting_sites(self.seed);
                plan.schedule = Schedule::Random;
                if self.seen >= LEARNING_RUNS {
                    plan.schedule = Schedule::Bounded;
                    plan.deviations = List::of(self.preemptions.next_schedule()?);
                }
            }
            Scheduling::Mixed => self.mix(&mut plan),
            Scheduling::Near => {
                plan.schedule = Schedule::Pos;
                plan.sites = self.knowledge.meeting_sites(plan.seed);
                if run.0.is_multiple_of(2) {
                    self.near.plan(&mut plan);
                }
            }
        }
        Some(plan)
    }

    /// Whether what runs have shown decides where later ones go.
    pub fn is_directed(&self) -> bool {
        self.scheduling == Scheduling::Mixed && self.is_directed
    }

    /// Aims for so many passing runs; if none are given, for those that an answer takes.
    pub fn want_passes(&mut self, wanted: Option<u64>) {
        self.portfolio.want_passes(wanted);
    }

    /// Why a mixed search makes no more controlled runs, if so.
    pub fn dropped(&self) -> Option<Dropped> {
        self.portfolio.dropped()
    }

    /// What a bounded search has covered.
    pub fn covered(&self) -> Option<preemptions::Covered> {
        matches!(self.scheduling, Scheduling::Bounded(_)).then(|| self.preemptions.covered())?
    }

    fn mix(&mut self, plan: &mut RunPlan) {
        let has_unseen = self.predicted.has_unseen();
        let (knows_sites, near) = (self.knowledge.knows_sites(), self.near.is_possible());
        let policy = self.portfolio.choose(|policy| match policy {
            Policy::Directed | Policy::DirectedDelays => has_unseen,
            Policy::Delays | Policy::Surw => knows_sites,
            Policy::Near => near,
            _ => true,
        });
        plan.schedule = policy.schedule();
        match policy {
            Policy::Surw => self.make_interesting(plan),
            Policy::Delays => {
                self.make_interesting(plan);
                plan.weights = List::default();
                plan.noise = plan.noise.min(Noise::Low);
            }
            Policy::Directed | Policy::DirectedDelays => self.direct(plan),
            Policy::Near => self.near.plan(plan),
            Policy::Noise => {}
            _ => plan.sites = self.knowledge.meeting_sites(plan.seed),
        }
    }

    fn make_interesting(&self, plan: &mut RunPlan) {
        (plan.sites, plan.weights) = self.knowledge.interesting(plan.seed);
    }

    /// Asks for an order of two accesses that no run has shown.
    fn direct(&mut self, plan: &mut RunPlan) {
        let Some([first, second]) = self.predicted.next_unseen() else { return };
        let [Some(first), Some(second)] = [first, second].map(|site| site_of(&self.code, site)) else {
            return;
        };
        plan.directed = true;
        if plan.schedule == Schedule::Free {
            plan.sites = List::of([second]);
            plan.noise = plan.noise.min(Noise::Low);
            return;
        }
        plan.sites = List::of([first, second]);
        let step = |thread, Site { build_id, address }: Site| InterleavingStep {
            thread,
            build_id,
            address,
            ..InterleavingStep::default()
        };
        plan.interleaving = Interleaving::new(Treatment::Enforce, &[step(1, first), step(2, second)]);
    }

    fn look_at_new_runs(&mut self, session: &Session) {
        for record in session.runs_since(self.seen) {
            if let Ok(plan) = record.plan.parse::<RunPlan>() {
                self.look_at(session, record, &plan);
            }
            self.seen += 1;
        }
    }

    fn look_at(&mut self, session: &Session, record: &RunRecord, plan: &RunPlan) {
        let needs_content = match self.scheduling {
            Scheduling::Only(Schedule::Free) => false,
            Scheduling::Only(_) => self.seen < LEARNING_RUNS,
            Scheduling::Mixed | Scheduling::Near | Scheduling::Bounded(_) => true,
        };
        let outcome = analysis::outcome(&record.outcome);
        let file = session.load(record.run).ok().filter(|_| needs_content && outcome.is_some());
        if outcome.is_none() {
            self.portfolio.lose(Policy::of(plan));
        }
        let (Some(file), Some(outcome)) = (file, outcome) else {
            self.preemptions.lose();
            return;
        };
        let headers: Vec<_> =
            file.processes.iter().filter_map(|process| recording::header(&process.bytes).ok()).collect();
        if !record.outcome.is_hang() {
            let points = headers.iter().map(recording::Header::free_points).max();
            self.knowledge.points = self.knowledge.points.max(points.unwrap_or(0));
        }
        self.portfolio.observe(
            Policy::of(plan),
            &portfolio::Run {
                failed: outcome.is_failing(),
                seconds: record.seconds,
                points: headers.iter().map(|header| header.points).sum(),
                taken_away: headers.iter().map(|header| header.taken_away).sum(),
            },
        );
        let learns = match self.scheduling {
            Scheduling::Mixed => self.seen < MOST_LEARNING_RUNS || !self.portfolio.has_failed(),
            _ => self.seen < LEARNING_RUNS,
        };
        let follows = matches!(self.scheduling, Scheduling::Mixed | Scheduling::Near);
        let may_be_followed = follows && outcome.is_failing() && plan.beginning.is_none();
        // What happened in all other runs is no longer of use to a search.
        let is_of_use = learns || may_be_followed || matches!(self.scheduling, Scheduling::Bounded(_));
        let is_small = size_of_recordings(&file) <= MOST_BYTES;
        let recordings = (is_of_use && is_small).then(|| analysis::recordings(&file).ok()).flatten();
        // Schedules are told apart in one process only: two would have to be told which is which.
        match recordings.as_deref() {
            Some([only]) => self.preemptions.observe(&plan.deviations, &only.decisions),
            _ => self.preemptions.lose(),
        }
        if follows {
            self.near.observe(record, plan, recordings.as_deref().unwrap_or_default());
        }
        if let Some(recordings) = recordings.filter(|_| learns) {
            let run = localize::RunId(record.run.0);
            let profile = localize::profile(run, outcome, &recordings, &mut self.code);
            self.predicted.observe(&profile.run);
            self.knowledge.learn(&profile.run, &recordings, &self.code);
        }
    }
}

fn size_of_recordings(file: &RunFile) -> usize {
    file.processes.iter().map(|process| process.bytes.len()).sum()
}

/// A site as the recorder can recognize it; none if it is in no known module.
pub fn site_of(code: &Code, site: SiteId) -> Option<Site> {
    let site = code.site(site);
    Site::new(&code.module(site.module?).build_id, site.address)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schedules_survive_their_text_form() {
        let all = Schedule::ALL.map(|schedule| match schedule {
            Schedule::Bounded => Scheduling::Bounded(3),
            other => Scheduling::Only(other),
        });
        for scheduling in all.into_iter().chain([Scheduling::Mixed, Scheduling::Near]) {
            assert_eq!(scheduling.to_string().parse(), Ok(scheduling));
        }
        assert_eq!("bounded".parse(), Ok(Scheduling::Bounded(2)));
        for text in ["later", "mixed:2", "near:2", "pct:1", "bounded:x", "bounded:99", ""] {
            assert!(text.parse::<Scheduling>().is_err(), "{text}");
        }
    }
}
