//! The runs of `unsnarl run`, with a progress display; Ctrl-C ends them early and keeps what is done.

use std::io::IsTerminal as _;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use report::progress::{Bar, Lines, Progress, Reporter};
use runner::campaign::{self, Campaign, Event, Limits, Past, Stop};
use runner::{Outcome, RunRecord, Session};

use crate::analysis::{self, Analysis};
use crate::args::RankingArguments;
use crate::crowding::{self, Suspicion};
use crate::exit;
use crate::runs::Runs;
use crate::search::{Search, Tallies};
use crate::watch::{self, Watch};

/// How often a line is printed where there is no terminal.
const LINE_EVERY: Duration = Duration::from_secs(10);

/// The user wants no more.
pub static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// A campaign whose runs are watched.
pub struct Conductor<'a> {
    campaign: &'a Campaign,
    past: Past,
    /// None where all runs are wanted that were asked for.
    watch: Option<Watch>,
    /// After how many runs it is asked whether they get in each other's way. None if that is known, or does not matter.
    asked_at: Option<u32>,
    /// How they do.
    crowding: Option<String>,
    display: Display,
}

impl<'a> Conductor<'a> {
    /// No run has begun. `may_crowd` says that runs go on at the same time only since nobody has said how many should.
    pub fn new(campaign: &'a Campaign, session: &Session, may_crowd: bool) -> anyhow::Result<Conductor<'a>> {
        heed_interruptions()?;
        let has_limits = campaign.limits != Limits::default();
        let watch = match campaign.limits.time_in_vain.filter(|_| may_end_early(campaign)) {
            Some(_) => Some(Watch::for_a_while()),
            None => (!has_limits).then(Watch::default),
        };
        let display = Display::new(campaign, session);
        let asked_at = (may_crowd && campaign.jobs > NonZeroUsize::MIN).then_some(crowding::FIRST_ASKED);
        Ok(Conductor { campaign, past: Past::new(campaign), watch, asked_at, crowding: None, display })
    }

    /// Makes runs until there is a first cause that is worth being tried out. If they ended without one, why.
    pub fn seek_suspect(
        &mut self,
        session: &mut Session,
        search: &mut Search,
    ) -> anyhow::Result<Option<Stop>> {
        search.want_passes(Some(localize::Settling::SOME_PASSES.into()));
        let stop = self.go_on(session, search, Watch::has_suspect)?;
        search.want_passes(None);
        let has_suspect = self.watch.as_ref().is_some_and(|watch| watch.has_suspect(session));
        Ok((stop != Stop::Settled || !has_suspect).then_some(stop))
    }

    /// Makes runs until a limit is reached or more would not change the answer.
    pub fn seek_answer(&mut self, session: &mut Session, search: &mut Search) -> anyhow::Result<Stop> {
        self.go_on(session, search, |_, _| false)
    }

    /// What to say if runs at the same time turned out to get in each other's way: those made so far tell nothing then.
    pub fn crowding(&self) -> Option<&str> {
        self.crowding.as_deref()
    }

    /// Makes runs until a limit is reached, more would not change the answer, `are_enough` says so, or it turns out that they get in each
    /// other's way.
    fn go_on(
        &mut self,
        session: &mut Session,
        search: &mut Search,
        are_enough: impl Fn(&Watch, &Session) -> bool,
    ) -> anyhow::Result<Stop> {
        let campaign = self.campaign;
        while let Some(runs) = self.asked_at.filter(|&runs| campaign.limits.runs.is_none_or(|all| all > runs))
        {
            // Those under way are waited for: one that is killed may leave something behind that the next ones fail by.
            let stop = self.stretch(&up_to(campaign, runs), session, search, &are_enough)?;
            if stop != Stop::Runs {
                return Ok(stop);
            }
            self.asked_at = crowding::next_asked(runs);
            if let Some(suspicion) = crowding::suspected(session.runs()) {
                self.asked_at = None;
                let stop = self.run_alone(&suspicion, session, search)?;
                if stop != Stop::Settled || self.crowding.is_some() {
                    return Ok(stop);
                }
            }
        }
        self.stretch(campaign, session, search, &are_enough)
    }

    /// Makes runs one by one, to see whether they fail then.
    fn run_alone(
        &mut self,
        suspicion: &Suspicion,
        session: &mut Session,
        search: &mut Search,
    ) -> anyhow::Result<Stop> {
        let Conductor { campaign, past, display, .. } = self;
        let (begun, alone) = (session.runs().len(), suspicion.runs_alone());
        let one_by_one = Campaign { jobs: NonZeroUsize::MIN, ..campaign.clone() };
        let mut next_plan = |run, session: &Session| {
            (session.runs().len() < begun + alone).then(|| search.next_plan(run, session)).flatten()
        };
        let stop = one_by_one
            .go_on(past, session, &INTERRUPTED, &mut next_plan, &mut |event| display.show(&event))?;
        self.crowding = suspicion.told(&session.runs()[begun..]);
        Ok(stop)
    }

    /// Makes runs until a limit is reached, more would not change the answer, or `are_enough` says so.
    fn stretch(
        &mut self,
        stretch: &Campaign,
        session: &mut Session,
        search: &mut Search,
        are_enough: impl Fn(&Watch, &Session) -> bool,
    ) -> anyhow::Result<Stop> {
        let Conductor { campaign, past, watch, display, .. } = self;
        let may_end_early = may_end_early(campaign);
        // A time that was given is for the proof as well: half of it, if the runs of the first half have settled what is to be proved.
        let proof_from = campaign.limits.time_in_vain.filter(|_| may_end_early).map(|time| time / 2);
        let started = display.started;
        let mut next_plan = |run, session: &Session| {
            let is_settled = watch.as_mut().is_some_and(|watch| watch.is_settled(session))
                && proof_from.is_none_or(|from| started.elapsed() >= from);
            let is_over = is_settled
                || may_end_early && watch::never_passes(session)
                || watch.as_ref().is_some_and(|watch| are_enough(watch, session));
            if is_over { None } else { search.next_plan(run, session) }
        };
        Ok(stretch.go_on(past, session, &INTERRUPTED, &mut next_plan, &mut |event| display.show(&event))?)
    }

    /// What the runs tell, whatever was tried out before.
    pub fn examine(&mut self, session: &Session, ranking: &RankingArguments) -> anyhow::Result<Analysis> {
        let (code, names) = self.watch.as_mut().map(Watch::lend).unwrap_or_default();
        let mut runs = Runs::known(session, code, names);
        let analysis = analysis::examine_untried(&mut runs, ranking);
        if let Some(watch) = &mut self.watch {
            watch.take_back(runs.code, runs.names);
        }
        analysis
    }
}

/// A campaign up to so many runs.
fn up_to(campaign: &Campaign, runs: u32) -> Campaign {
    let limits = campaign.limits;
    let time = if limits == Limits::default() { Some(campaign::DEFAULT_TIME) } else { limits.time };
    Campaign { limits: Limits { runs: Some(runs), time, ..limits }, ..campaign.clone() }
}

/// Once for all runs of this process.
fn heed_interruptions() -> anyhow::Result<()> {
    static ARE_HEEDED: AtomicBool = AtomicBool::new(false);
    if ARE_HEEDED.swap(true, Ordering::Relaxed) {
        return Ok(());
    }
    ctrlc::set_handler(|| {
        // Whoever asks twice means it.
        if INTERRUPTED.swap(true, Ordering::Relaxed) {
            runner::process::end_all();
            std::process::exit(exit::INTERRUPTED.into());
        }
    })
    .context("cannot handle Ctrl-C")
}

/// Who says how many runs to make gets them; who says how long it may take does not wait for runs that say nothing.
fn may_end_early(campaign: &Campaign) -> bool {
    campaign.limits.runs.or(campaign.limits.failures).is_none()
}

/// What the user sees meanwhile.
struct Display {
    reporter: Box<dyn Reporter>,
    started: Instant,
    progress: Progress,
    tallies: Tallies,
    /// How long all of it may take, and how long as long as no run has failed.
    time: Option<Duration>,
    time_in_vain: Option<Duration>,
}

impl Display {
    fn new(campaign: &Campaign, session: &Session) -> Display {
        let reporter: Box<dyn Reporter> = if std::io::stderr().is_terminal() {
            Box::new(Bar::on_stderr())
        } else {
            Box::new(Lines::new(std::io::stderr(), &session.name(), LINE_EVERY))
        };
        let Limits { runs, failures, time, time_in_vain } = campaign.limits;
        let time = if campaign.limits == Limits::default() { Some(campaign::DEFAULT_TIME) } else { time };
        let limits =
            report::progress::Limits { runs: runs.map(u64::from), failures: failures.map(u64::from), time };
        Display {
            reporter,
            started: Instant::now(),
            progress: Progress { limits, ..Progress::default() },
            tallies: Tallies::default(),
            time,
            time_in_vain,
        }
    }

    fn show(&mut self, event: &Event) {
        if let Event::RunFinished { record } = event {
            self.count(record);
        }
        let progress = &mut self.progress;
        progress.elapsed = self.started.elapsed();
        progress.limits.time = self.time_in_vain.filter(|_| progress.failed == 0).or(self.time);
        self.reporter.update(progress);
    }

    fn count(&mut self, record: &RunRecord) {
        self.tallies.add(record);
        let progress = &mut self.progress;
        progress.most_by = self.tallies.best();
        progress.done += 1;
        match record.outcome {
            Outcome::Pass => progress.passed += 1,
            Outcome::Fail { .. } => progress.failed += 1,
            Outcome::Hang { .. } => {
                progress.failed += 1;
                progress.hung += 1;
            }
            Outcome::Damaged { .. } => progress.damaged += 1,
        }
    }
}

impl Drop for Display {
    fn drop(&mut self) {
        self.reporter.finish(&self.progress);
    }
}
