//! Many runs of one test.

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use recording::RunPlan;

use crate::elf::BuildId;
use crate::error::Result;
use crate::oracle::{Oracle, Outcome};
use crate::patience::Patience;
use crate::preload::Preload;
use crate::recorded_run;
use crate::run_file::{RunFile, RunNumber, RunRecord};
use crate::session::{Binary, Session};

/// When a campaign has enough. All given limits hold; the first one reached ends it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Number of runs, whatever comes out of them.
    pub runs: Option<u32>,
    /// Number of failing runs.
    pub failures: Option<u32>,
    /// No run is begun after this time.
    pub time: Option<Duration>,
    /// The same as long as no run has failed: what is left for other things then is of no use to them.
    pub time_in_vain: Option<Duration>,
}

/// The policy where no limit was given, and as long as nobody says that the answer is known: enough failing runs to rank suspects
/// with confidence, enough passing ones to compare them with, in a time that a person waits for.
mod enough {
    use std::time::Duration;

    pub const FAILURES: u32 = 60;
    /// A failure that comes nearly every time would end a campaign with nothing to compare it with.
    pub const PASSES: u32 = 100;
    /// After this time fewer will do.
    pub const SOME_TIME: Duration = Duration::from_secs(20);
    pub const SOME_FAILURES: u32 = 15;
    pub const SOME_PASSES: u32 = 20;
    pub const TIME: Duration = super::DEFAULT_TIME;
    /// Nobody waits for a program that never records anything.
    pub const DAMAGED_FROM_THE_START: u32 = 5;
}

/// How long a campaign goes on at most where no limit was given.
pub const DEFAULT_TIME: Duration = Duration::from_secs(60);

/// The time after which a run counts as hung where none was given.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(30);

/// How many runs go on at the same time where nobody says so. In a controlled run one thread runs at a time. Threads that run freely wait for a part of
/// theirs, for one another and where noise delays them: two such runs at the same time take half as long as one after the other, and
/// fail as often (docs/search.md).
pub fn one_per_processor() -> NonZeroUsize {
    thread::available_parallelism().unwrap_or(NonZeroUsize::MIN)
}

/// The seed of a run, which depends on nothing but the session's seed and the run's number (splitmix64).
pub fn run_seed(session_seed: u64, run: RunNumber) -> u64 {
    let mut bits = session_seed.wrapping_add(u64::from(run.0).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

/// What to run, and how.
#[derive(Clone, Debug)]
pub struct Campaign {
    /// The program.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// What each run reads from its standard input.
    pub input: Option<PathBuf>,
    /// What brings the recorder into it: see [`crate::Recorder::environment`].
    pub environment: Vec<(OsString, OsString)>,
    /// What brings it in if runs show that this is needed besides: see [`crate::Recorder::preload`].
    pub preload: Option<Preload>,
    /// Says whether a run passed.
    pub oracle: Oracle,
    /// When a run counts as hung; once one has, others do sooner ([`crate::patience`]).
    pub timeout: Option<Duration>,
    /// When a controlled run that goes on counts as too slow, which says nothing about the test. If none is given, that is not told
    /// from hanging. [`Campaign::conduct`] knows better.
    pub slow_after: Option<Duration>,
    /// When to end.
    pub limits: Limits,
    /// How many runs go on at the same time: see [`one_per_processor`].
    pub jobs: NonZeroUsize,
    /// So many of the first go one by one, since the plans of all others depend on what they show.
    pub alone: u32,
    /// How many runs have begun.
    pub begun: Begun,
}

/// Runs that have begun, in a campaign and in all that are made of it: those of its session, and those that try something out.
#[derive(Clone, Debug, Default)]
pub struct Begun(Arc<AtomicU32>);

impl Begun {
    /// So many have.
    pub fn runs(&self) -> u32 {
        self.0.load(Ordering::Relaxed)
    }

    pub(crate) fn one_more(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// What happens during a campaign, in the order in which it happens.
#[derive(Clone, Debug)]
pub enum Event {
    /// A run begins.
    RunStarted {
        /// Which.
        run: RunNumber,
    },
    /// A run is done and stored.
    RunFinished {
        /// All about it.
        record: RunRecord,
    },
    /// The user wants no more; runs under way are ended and forgotten.
    Interrupted,
}

/// Why a campaign ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The number of runs was reached.
    Runs,
    /// The number of failing runs was reached.
    Failures,
    /// The time was over.
    Time,
    /// The user wanted no more.
    Interrupted,
    /// No run recorded anything.
    NothingRecorded,
    /// More runs would not change the answer.
    Settled,
}

/// What came out of the runs of this campaign so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct History {
    /// Runs begun, done or not.
    pub started: u32,
    /// Runs that passed.
    pub passed: u32,
    /// Runs that failed.
    pub failed: u32,
    /// Runs that hung.
    pub hung: u32,
    /// Runs that say nothing.
    pub damaged: u32,
}

impl History {
    /// Runs done.
    pub fn done(&self) -> u32 {
        self.passed + self.failing() + self.damaged
    }

    /// Runs that count as failing.
    pub fn failing(&self) -> u32 {
        self.failed + self.hung
    }

    /// One more run is done.
    pub fn add(&mut self, outcome: &Outcome) {
        *match outcome {
            Outcome::Pass => &mut self.passed,
            Outcome::Fail { .. } => &mut self.failed,
            Outcome::Hang { .. } => &mut self.hung,
            Outcome::Damaged { .. } => &mut self.damaged,
        } += 1;
    }
}

impl Limits {
    /// Is it time to begin no more runs?
    pub fn reached(&self, history: &History, elapsed: Duration) -> Option<Stop> {
        if history.damaged >= enough::DAMAGED_FROM_THE_START && history.damaged == history.done() {
            return Some(Stop::NothingRecorded);
        }
        if *self == Limits::default() {
            let has = |failures, passes| history.failing() >= failures && history.passed >= passes;
            let has_some = has(enough::SOME_FAILURES, enough::SOME_PASSES) && elapsed >= enough::SOME_TIME;
            return if has_some || has(enough::FAILURES, enough::PASSES) {
                Some(Stop::Failures)
            } else {
                (elapsed >= enough::TIME).then_some(Stop::Time)
            };
        }
        if self.runs.is_some_and(|runs| history.started >= runs) {
            Some(Stop::Runs)
        } else if self.failures.is_some_and(|failures| history.failing() >= failures) {
            Some(Stop::Failures)
        } else {
            let in_vain = self.time_in_vain.filter(|_| history.failing() == 0);
            in_vain.or(self.time).filter(|&time| elapsed >= time).map(|_| Stop::Time)
        }
    }
}

/// What a campaign that goes on has to know of its runs so far.
pub struct Past {
    history: History,
    patience: Patience,
    /// How long they took together.
    elapsed: Duration,
}

impl Past {
    /// There was none.
    pub fn new(campaign: &Campaign) -> Past {
        let patience = Patience::new(campaign.timeout, campaign.limits.time);
        Past { history: History::default(), patience, elapsed: Duration::ZERO }
    }
}

/// How often a waiting campaign looks whether it was interrupted.
const INTERRUPT_CHECK: Duration = Duration::from_millis(50);

impl Campaign {
    /// Runs the test once, apart from any session. None if it was cancelled.
    pub fn once(&self, run: RunNumber, plan: RunPlan, cancelled: &AtomicBool) -> Result<Option<RunFile>> {
        recorded_run::once(self, run, plan, cancelled)
    }

    /// Runs the test until a limit is reached or `interrupted` is set, and adds each run to the session as it
    /// is done. `next_plan` is asked for the plan of each run just before it begins, or none if there have been
    /// enough; `sink` is told what happens. Both are called on this thread.
    ///
    /// On an error, too, all runs done so far are in the session.
    pub fn conduct(
        &self,
        session: &mut Session,
        interrupted: &AtomicBool,
        next_plan: &mut dyn FnMut(RunNumber, &Session) -> Option<RunPlan>,
        sink: &mut dyn FnMut(Event),
    ) -> Result<Stop> {
        self.go_on(&mut Past::new(self), session, interrupted, next_plan, sink)
    }

    /// The same, where there have been runs of this campaign before: limits are for all of them together.
    pub fn go_on(
        &self,
        past: &mut Past,
        session: &mut Session,
        interrupted: &AtomicBool,
        next_plan: &mut dyn FnMut(RunNumber, &Session) -> Option<RunPlan>,
        sink: &mut dyn FnMut(Event),
    ) -> Result<Stop> {
        let started = Instant::now();
        let Past { history, patience, elapsed } = past;
        let mut next_run = session.next_run().0;
        // Set on an error as well, which must not wait for runs that nobody will look at.
        let cancelled = AtomicBool::new(false);
        let mut trouble = None;
        let stop = thread::scope(|scope| {
            let (reports, done) = mpsc::channel();
            let mut under_way = 0;
            let mut stop = None;
            loop {
                while stop.is_none() && trouble.is_none() && under_way < self.jobs.get() {
                    if history.started <= self.alone && under_way > 0 {
                        break;
                    }
                    stop = self.limits.reached(history, *elapsed + started.elapsed());
                    if stop.is_some() {
                        break;
                    }
                    let run = RunNumber(next_run);
                    let Some(plan) = next_plan(run, session) else {
                        stop = Some(Stop::Settled);
                        // Runs under way would not change that, and one of them may hang.
                        cancelled.store(true, Ordering::Relaxed);
                        break;
                    };
                    let (path, reports, cancelled) = (session.run_path(run), reports.clone(), &cancelled);
                    let trunk = plan.beginning.map(|trunk| session.run_path(RunNumber(trunk.run)));
                    sink(Event::RunStarted { run });
                    let (timeout, slow_after) = (patience.timeout(), Some(patience.slow_after()));
                    let campaign = Campaign { timeout, slow_after, ..self.clone() };
                    under_way += 1;
                    scope.spawn(move || {
                        let trunk = trunk.as_deref();
                        let report = recorded_run::perform(&campaign, run, plan, &path, trunk, cancelled);
                        reports.send(report)
                    });
                    next_run += 1;
                    history.started += 1;
                }
                if under_way == 0 {
                    break stop;
                }
                if let Ok(report) = done.recv_timeout(INTERRUPT_CHECK) {
                    under_way -= 1;
                    let added = report.and_then(|record| match record {
                        Some(record) => {
                            patience.observe(&record);
                            add_run(session, history, record, sink)
                        }
                        None => Ok(()),
                    });
                    if let Err(error) = added {
                        cancelled.store(true, Ordering::Relaxed);
                        // The first error is the telling one.
                        trouble.get_or_insert(error);
                    }
                }
                if interrupted.load(Ordering::Relaxed) && !cancelled.swap(true, Ordering::Relaxed) {
                    stop = Some(Stop::Interrupted);
                    sink(Event::Interrupted);
                }
            }
        });
        let time = started.elapsed();
        *elapsed += time;
        let noted = session.add_wall_time(time);
        match (trouble, stop) {
            (Some(error), _) => Err(error),
            // Without trouble, the loop ends for a reason.
            (None, stop) => noted.map(|()| stop.unwrap_or(Stop::Interrupted)),
        }
    }
}

fn add_run(
    session: &mut Session,
    history: &mut History,
    record: RunRecord,
    sink: &mut dyn FnMut(Event),
) -> Result<()> {
    session.add(record.clone())?;
    history.add(&record.outcome);
    if session.manifest().binaries.is_empty() && record.processes > 0 {
        let binaries = programs(&session.load(record.run)?);
        session.set_binaries(binaries)?;
    }
    sink(Event::RunFinished { record });
    Ok(())
}

/// The programs that took part in a run. The loader names a process's program first.
fn programs(run: &RunFile) -> Vec<Binary> {
    let mut binaries: Vec<Binary> = run
        .processes
        .iter()
        .filter_map(|process| recording::parse(&process.bytes).ok()?.modules.into_iter().next())
        .map(|module| Binary { path: module.path.into(), build_id: BuildId::from_bytes(&module.build_id) })
        .collect();
    binaries.sort_by(|a, b| a.path.cmp(&b.path));
    binaries.dedup();
    binaries
}

#[cfg(test)]
mod tests {
    use super::*;

    fn history(passed: u32, failed: u32, hung: u32, damaged: u32) -> History {
        History { started: passed + failed + hung + damaged, passed, failed, hung, damaged }
    }

    #[test]
    fn given_limits_hold_and_the_first_one_ends_it() {
        let seconds = Duration::from_secs;
        let limits =
            Limits { runs: Some(50), failures: Some(3), time: Some(seconds(10)), ..Limits::default() };
        assert_eq!(limits.reached(&history(40, 2, 0, 0), seconds(9)), None);
        assert_eq!(limits.reached(&history(48, 2, 0, 0), seconds(9)), Some(Stop::Runs));
        assert_eq!(limits.reached(&history(1, 2, 1, 0), seconds(9)), Some(Stop::Failures));
        assert_eq!(limits.reached(&history(1, 1, 1, 0), seconds(10)), Some(Stop::Time));
        let only_runs = Limits { runs: Some(50), ..Limits::default() };
        assert_eq!(only_runs.reached(&history(20, 29, 0, 0), seconds(9999)), None);
    }

    #[test]
    fn who_has_no_failing_run_has_more_time() {
        let seconds = Duration::from_secs;
        let limits = Limits { time: Some(seconds(30)), time_in_vain: Some(seconds(40)), ..Limits::default() };
        assert_eq!(limits.reached(&history(50, 0, 0, 0), seconds(39)), None);
        assert_eq!(limits.reached(&history(50, 0, 0, 0), seconds(40)), Some(Stop::Time));
        assert_eq!(limits.reached(&history(50, 1, 0, 0), seconds(29)), None);
        assert_eq!(limits.reached(&history(50, 1, 0, 0), seconds(31)), Some(Stop::Time));
    }

    #[test]
    fn without_limits_both_kinds_of_runs_are_wanted_within_a_minute() {
        let reached = |passed, failed, seconds| {
            Limits::default().reached(&history(passed, failed, 0, 0), Duration::from_secs(seconds))
        };
        assert_eq!(reached(1000, 14, 59), None);
        assert_eq!(reached(99, 60, 19), None);
        assert_eq!(reached(100, 60, 1), Some(Stop::Failures));
        assert_eq!(reached(20, 15, 20), Some(Stop::Failures));
        assert_eq!(reached(19, 500, 59), None);
        assert_eq!(reached(19, 500, 60), Some(Stop::Time));
    }

    #[test]
    fn a_program_that_records_nothing_is_not_run_for_a_minute() {
        let reached = |history| Limits::default().reached(&history, Duration::ZERO);
        assert_eq!(reached(history(0, 0, 0, 4)), None);
        assert_eq!(reached(history(0, 0, 0, 5)), Some(Stop::NothingRecorded));
        assert_eq!(reached(history(1, 0, 0, 50)), None);
    }

    #[test]
    fn seeds_differ_between_runs_and_sessions_and_never_change() {
        // The published test vector of splitmix64 for seed 1234567.
        assert_eq!(run_seed(1234567, RunNumber(1)), 6457827717110365317);
        assert_eq!(run_seed(1234567, RunNumber(2)), 3203168211198807973);
        assert_ne!(run_seed(7, RunNumber(1)), run_seed(8, RunNumber(1)));
    }
}
