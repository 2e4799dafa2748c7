//! Runs that try an interleaving out.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use recording::{Interleaving, RunPlan, Schedule, Treatment};
use report::{Confirmation, Finding, Runs, Verdict};
use runner::campaign::{self, Campaign};
use runner::{Outcome, RunNumber, Session, patience};

use crate::conduct::INTERRUPTED;
use crate::interleaving::{Forcible, Led};
use crate::replay::{Way, shows};

use super::decision::{self, Arm, Arms, BELIEVED};
use super::inquiries::{Comparison, Repetition};
use super::queue::{self, Inquiry};
use super::{following, leading, turned};

/// A run that hangs is one that failed, and nobody waits half a minute for each: this, before one has passed.
const FIRST_TIMEOUT: Duration = Duration::from_secs(5);
/// Nor is one ended sooner than this, however little time is left.
const LEAST_TIMEOUT: Duration = Duration::from_millis(200);
/// Runs of each kind for what was proved by a run that was made short.
const NARROWED_RUNS: u32 = 9;
/// Runs with one variable turned round.
const TURNED_RUNS: u32 = 8;

/// When trials end though nothing is decided.
#[derive(Clone, Copy)]
pub struct Limits {
    /// Of each kind.
    pub runs: u32,
    pub until: Option<Instant>,
}

impl Limits {
    pub fn is_over(&self) -> bool {
        INTERRUPTED.load(Ordering::Relaxed) || self.until.is_some_and(|until| Instant::now() >= until)
    }
}

/// Which runs of the session show a finding.
pub struct Shown<'a> {
    /// The failing ones.
    pub runs: &'a [u64],
    /// Of all failing runs, those that show it or another one in the same stretch of code.
    pub share: f64,
    /// Of all passing runs, those that show it.
    pub by_passing: f64,
    /// What the statistics make of that: see [`decision::odds_against`].
    pub odds_against: f64,
}

impl Shown<'_> {
    /// The finding of a session with these runs, if this share of those that failed show it.
    pub fn by<'a>(finding: &'a Finding, share: f64, runs: &Runs) -> Shown<'a> {
        let by_passing = finding.passed as f64 / runs.passed.max(1) as f64;
        let odds_against = decision::odds_against(finding.confidence);
        Shown { runs: &finding.failing_runs, share, by_passing, odds_against }
    }
}

/// What came of trying a finding out.
pub struct Proof {
    pub confirmation: Confirmation,
    /// All that was enforced, if it took more than its own steps.
    pub led: Option<Led>,
}

impl Proof {
    fn of(confirmation: Confirmation) -> Proof {
        Proof { confirmation, led: None }
    }
}

/// A test whose runs try interleavings out.
pub struct Laboratory<'a> {
    pub session: &'a Session,
    campaign: Campaign,
    seed: u64,
    /// Whether a run that hangs is one that failed: only if some did before.
    may_hang: bool,
    slowest_pass: f64,
    limits: Limits,
    /// Whether the time was over before a question had all of its runs.
    is_cut_short: bool,
    /// After how many switches failing runs are lost, as far as that was asked for.
    pub lost: BTreeMap<RunNumber, Option<u64>>,
}

impl<'a> Laboratory<'a> {
    pub fn new(session: &'a Session, campaign: &Campaign, limits: Limits) -> Laboratory<'a> {
        let may_hang = session.runs().iter().any(|run| run.outcome.is_hang());
        let seed = session.manifest().seed;
        Laboratory {
            session,
            campaign: campaign.clone(),
            seed,
            may_hang,
            slowest_pass: 0.0,
            limits,
            is_cut_short: false,
            lost: BTreeMap::new(),
        }
    }

    /// Is it the cause? If it cannot be brought about by itself, with what leads to it, or in runs that are followed.
    pub fn confirm(
        &mut self,
        forcible: &Forcible,
        shown: &Shown<'_>,
        limits: &Limits,
    ) -> anyhow::Result<Proof> {
        let &Shown { share, odds_against, .. } = shown;
        let own = forcible.interleaving;
        let Forcible { is_circle, is_missed_signal, is_new_code, .. } = *forcible;
        let mut arms = Arms { is_circle, is_missed_signal, is_new_code, odds_against, ..Arms::new(share) };
        // Where there is a proof already, a few trials tell whether it is enough by itself.
        let limits = &match forcible.narrowed {
            Some(_) => Limits { runs: limits.runs.min(NARROWED_RUNS), ..*limits },
            None => *limits,
        };
        let has_no_other_order = forcible.has_no_other_order();
        let forbidden = forcible.wider.filter(|_| has_no_other_order).unwrap_or(own);
        self.compare(kinds(own, forbidden), &mut arms, limits)?;
        if let Some(wider) = forcible.wider.filter(|_| !has_no_other_order && arms.is_forbidden_in_vain()) {
            self.forbid_more(kinds(own, wider), &mut arms, limits)?;
        }
        let confirmation = arms.decide(BELIEVED);
        if let Some(narrowed) =
            forcible.narrowed.filter(|narrowed| leaves_open(&confirmation, narrowed.is_whole))
        {
            return Ok(Proof::of(narrowed.proof));
        }
        if forcible.is_beyond_forbidding() {
            return Ok(Proof::of(Confirmation { verdict: Verdict::Inconclusive, ..confirmation }));
        }
        if confirmation.verdict == Verdict::Confirmed {
            // At both edges one step more or less decides. With one variable turned round, other instances come about as before.
            let is_known_whole = forcible.narrowed.is_some_and(|narrowed| narrowed.is_whole);
            return Ok(Proof::of(match is_known_whole {
                true => confirmation,
                false => self.leave_out_variables(own, &[], &arms, confirmation)?,
            }));
        }
        // A failing run that is followed comes to it by what made it fail.
        if is_new_code {
            return Ok(Proof::of(confirmation));
        }
        if confirmation.verdict == Verdict::Inconclusive
            && arms.may_lack_something()
            && share >= 1.0
            && let Some(led) = leading::confirm(self, forcible, shown, limits)?
        {
            return Ok(led);
        }
        if !may_be_followed(shown, forcible.is_count || forcible.is_done_again()) {
            return Ok(Proof::of(confirmation));
        }
        let followed = following::confirm(self, forcible, shown, limits)?;
        Ok(Proof::of(followed.unwrap_or(confirmation)))
    }

    /// Makes runs of each kind until it is clear what follows, or until there are as many as there may be.
    pub fn compare<'b>(
        &mut self,
        kinds: impl Fn(u32) -> [Asked<'b>; 3],
        arms: &mut Arms,
        limits: &Limits,
    ) -> anyhow::Result<()> {
        self.answer(&mut Comparison::new(kinds, arms, limits))
    }

    /// The same with what a fix would keep whole forbidden, in place of the finding's own order.
    pub fn forbid_more<'b>(
        &mut self,
        kinds: impl Fn(u32) -> [Asked<'b>; 3],
        arms: &mut Arms,
        limits: &Limits,
    ) -> anyhow::Result<()> {
        arms.forbidden = Arm::default();
        self.compare(kinds, arms, limits)
    }

    /// What was confirmed is refuted if one of its variables is no part of the cause.
    pub fn leave_out_variables(
        &mut self,
        interleaving: Interleaving,
        beginnings: &[Beginning<'_>],
        arms: &Arms,
        confirmation: Confirmation,
    ) -> anyhow::Result<Confirmation> {
        // A circle of locks has no part that could be left out.
        let variables = if arms.is_circle { Vec::new() } else { turned::turned(&interleaving) };
        for other in variables {
            let asked =
                |number| Asked { beginning: of_number(beginnings, number), ..Asked::of(number, other) };
            let arm = self.repeat(asked, TURNED_RUNS)?;
            if arms.fails_as_well(&arm) {
                let turned = Some(arm.trial());
                return Ok(Confirmation { verdict: Verdict::Refuted, turned, ..confirmation });
            }
        }
        Ok(confirmation)
    }

    /// So many runs in which an interleaving is enforced.
    pub fn enforce(&mut self, interleaving: Interleaving, runs: u32) -> anyhow::Result<Arm> {
        self.repeat(|number| Asked::of(number, interleaving), runs)
    }

    /// The same, while another is avoided. It has come about only where that one has not.
    pub fn enforce_without(
        &mut self,
        interleaving: Interleaving,
        avoided: Interleaving,
        runs: u32,
    ) -> anyhow::Result<Arm> {
        self.repeat(|number| Asked { avoided: Some(avoided), ..Asked::of(number, interleaving) }, runs)
    }

    /// So many runs, or as many as there is time for.
    pub fn repeat<'b>(&mut self, asked: impl Fn(u32) -> Asked<'b>, runs: u32) -> anyhow::Result<Arm> {
        self.repeat_until(asked, runs, |_| false)
    }

    /// The same, or until they are enough.
    pub fn repeat_until<'b>(
        &mut self,
        asked: impl Fn(u32) -> Asked<'b>,
        runs: u32,
        are_enough: impl Fn(&Arm) -> bool,
    ) -> anyhow::Result<Arm> {
        let mut repetition = Repetition::new(asked, runs, are_enough, self.limits);
        self.answer(&mut repetition)?;
        self.is_cut_short |= repetition.is_cut_short;
        Ok(repetition.arm)
    }

    /// What would be confirmed is left undecided if there was no time for all that could have refuted it.
    pub fn within_time(&mut self, confirmation: Confirmation) -> Confirmation {
        match std::mem::take(&mut self.is_cut_short) && confirmation.verdict == Verdict::Confirmed {
            true => Confirmation { verdict: Verdict::Inconclusive, ..confirmation },
            false => confirmation,
        }
    }

    /// Makes trials, as many at the same time as there are processors: in a controlled run one thread runs at a time.
    fn answer<'b>(
        &mut self,
        inquiry: &mut impl Inquiry<Trial = Asked<'b>, Answer = Option<Seen>>,
    ) -> anyhow::Result<()> {
        let this = &*self;
        let mut timed = Timed { inquiry, laboratory: this, slowest_pass: this.slowest_pass, trouble: None };
        queue::work_off(&mut timed, this.campaign.jobs, &INTERRUPTED, |(asked, patience), unwanted| {
            this.once(patience, asked, unwanted)
        });
        let Timed { slowest_pass, trouble, .. } = timed;
        self.slowest_pass = slowest_pass;
        trouble.map_or(Ok(()), Err)
    }

    /// How long the next run is waited for, if the slowest that passed took so many seconds.
    fn patience(&self, slowest_pass: f64) -> Patience {
        let timeout = if slowest_pass == 0.0 { FIRST_TIMEOUT } else { patience::enough(slowest_pass) };
        let timeout = self.campaign.timeout.map_or(timeout, |given| given.min(timeout));
        // Whoever gave a time does not wait longer than that for runs that hang.
        let left = self.limits.until.map(|until| until.saturating_duration_since(Instant::now()));
        let cut = left.map(|left| left.max(LEAST_TIMEOUT)).filter(|left| *left < timeout);
        Patience { timeout: cut.unwrap_or(timeout), cut }
    }

    /// None if the run says nothing: one that was cut short because the time is over might have gone on.
    fn once(
        &self,
        Patience { timeout, cut }: Patience,
        asked: Asked<'_>,
        unwanted: &AtomicBool,
    ) -> anyhow::Result<Option<Seen>> {
        let campaign = &Campaign { timeout: Some(timeout), ..self.campaign.clone() };
        let Asked { number, interleaving, avoided, beginning } = asked;
        let run = RunNumber(number);
        let plan = RunPlan {
            seed: campaign::run_seed(!self.seed, run),
            schedule: Schedule::Random,
            interleaving,
            avoided,
            ..RunPlan::default()
        };
        let file = match beginning {
            Some(Beginning { way, switches }) => way.follow(switches, campaign, run, plan, unwanted)?,
            None => campaign.once(run, plan, unwanted)?,
        };
        let Some(file) = file else { return Ok(None) };
        let says_nothing = match file.record.outcome {
            Outcome::Damaged { .. } => true,
            Outcome::Hang { .. } => {
                !self.may_hang || cut.is_some_and(|cut| file.record.seconds >= cut.as_secs_f64())
            }
            Outcome::Pass | Outcome::Fail { .. } => false,
        };
        let failed = file.record.outcome.is_failing();
        let mut headers = file.processes.iter().filter_map(|one| recording::header(&one.bytes).ok());
        let came_about = match interleaving {
            // On the way.
            None => true,
            // What a thread does to bytes that are its own so far is not always told at once.
            Some(interleaving) => {
                headers.any(|header| header.interleavings > 0)
                    || failed && avoided.is_none() && shows(&file, interleaving.steps())
            }
        };
        let seen = Seen { failed, came_about, seconds: file.record.seconds };
        Ok((!says_nothing).then_some(seen))
    }
}

/// Whether trials leave open what a run that was made short has proved. That forced runs pass says no more than that it takes something besides, as where harm
/// is done by the last of several rounds only: one that fails without it speaks against it. A look that is not at the edge, so that
/// it is not the whole that was proved, may have nothing to do with it.
fn leaves_open(confirmation: &Confirmation, is_whole: bool) -> bool {
    match confirmation.verdict {
        Verdict::Confirmed => false,
        Verdict::Inconclusive => true,
        Verdict::Refuted => is_whole && confirmation.forbidden.failed == 0,
    }
}

/// Whether failing runs that are followed can prove it. What most passing runs show as well does not tell them from failing ones: that one of these is
/// lost where it comes about is by what came before. Nor does what many of them show, if others fail without it: it is neither enough nor needed. What a
/// part of the failing runs show can enclose the cause, or be what these do right at it. Counts that are updated atomically come out alike in any order: where a
/// run is lost at one of them, as where a reference is let go of, it is lost by what the thread does there besides. So it is where a thread comes to the same place in the next round of its
/// loop: it `says_little` then that another one was there in between.
fn may_be_followed(shown: &Shown<'_>, says_little: bool) -> bool {
    let is_needed = decision::is_shown_by_all(shown.share) && shown.by_passing <= 0.5;
    !says_little && (is_needed || shown.by_passing < following::OFTEN) && shown.share >= 0.5
}

/// What a run is about.
#[derive(Clone, Copy)]
pub struct Asked<'a> {
    pub number: u32,
    /// None if nothing is forced or forbidden.
    pub interleaving: Option<Interleaving>,
    pub avoided: Option<Interleaving>,
    pub beginning: Option<Beginning<'a>>,
}

impl Asked<'_> {
    /// From the start.
    pub fn of(number: u32, interleaving: Interleaving) -> Asked<'static> {
        Asked { number, interleaving: Some(interleaving), avoided: None, beginning: None }
    }
}

/// So many switches of a failing run.
#[derive(Clone, Copy)]
pub struct Beginning<'a> {
    pub way: &'a Way,
    pub switches: u64,
}

/// Enforces one, with runs that are delayed at the same places, and forbids another.
pub fn kinds(enforced: Interleaving, forbidden: Interleaving) -> impl Fn(u32) -> [Asked<'static>; 3] {
    let all = [
        enforced.treated(Treatment::Enforce),
        forbidden.treated(Treatment::Forbid),
        enforced.treated(Treatment::Delay),
    ];
    move |number| all.map(|interleaving| Asked::of(number, interleaving))
}

/// Each in turn.
pub fn of_number<'a>(beginnings: &[Beginning<'a>], number: u32) -> Option<Beginning<'a>> {
    beginnings.get(number as usize % beginnings.len().max(1)).copied()
}

/// What came of a run.
#[derive(Clone, Copy, Debug)]
pub struct Seen {
    pub failed: bool,
    pub came_about: bool,
    seconds: f64,
}

#[cfg(test)]
impl Seen {
    pub fn new(failed: bool, came_about: bool) -> Seen {
        Seen { failed, came_about, seconds: 0.0 }
    }
}

/// How long a run is waited for.
#[derive(Clone, Copy)]
struct Patience {
    timeout: Duration,
    /// The same, if it is shorter than it should be because the time is over then.
    cut: Option<Duration>,
}

/// Says of each trial how long to wait for it, by those before.
struct Timed<'a, I> {
    inquiry: &'a mut I,
    laboratory: &'a Laboratory<'a>,
    slowest_pass: f64,
    /// The first error, which is the telling one.
    trouble: Option<anyhow::Error>,
}

impl<'b, I: Inquiry<Trial = Asked<'b>, Answer = Option<Seen>>> Inquiry for Timed<'_, I> {
    type Trial = (Asked<'b>, Patience);
    type Answer = anyhow::Result<Option<Seen>>;

    fn next(&mut self) -> Option<(Asked<'b>, Patience)> {
        let asked = self.inquiry.next()?;
        Some((asked, self.laboratory.patience(self.slowest_pass)))
    }

    fn take(&mut self, answer: anyhow::Result<Option<Seen>>) -> bool {
        match answer {
            Ok(seen) => {
                let passed = seen.filter(|seen| !seen.failed).map_or(0.0, |seen| seen.seconds);
                self.slowest_pass = self.slowest_pass.max(passed);
                self.inquiry.take(seen)
            }
            Err(error) => {
                self.trouble.get_or_insert(error);
                false
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use recording::InterleavingStep;
    use runner::{Manifest, Store};

    use super::*;

    fn laboratory_session(folder: &Path) -> Session {
        let manifest = Manifest::new(Vec::new(), BTreeMap::new(), 7, Vec::new());
        Store::new(folder).create("x", manifest).unwrap()
    }

    fn campaign(program: &Path, arguments: &[&str]) -> Campaign {
        Campaign {
            program: program.to_owned(),
            arguments: arguments.iter().map(Into::into).collect(),
            input: None,
            environment: Vec::new(),
            preload: None,
            oracle: runner::Oracle::default(),
            timeout: None,
            slow_after: None,
            limits: campaign::Limits::default(),
            jobs: std::num::NonZeroUsize::MIN,
            alone: 0,
            begun: campaign::Begun::default(),
        }
    }

    fn interleaving() -> Interleaving {
        let steps = [InterleavingStep { thread: 1, address: 7, ..InterleavingStep::default() }; 2];
        Interleaving::new(Treatment::Enforce, &steps).unwrap()
    }

    #[test]
    fn what_passing_runs_show_as_well_is_not_proved_by_following_failing_ones() {
        let shown = |share, by_passing| Shown { runs: &[], share, by_passing, odds_against: 1.0 };
        let may_be_followed = |share: f64, by_passing: f64, says_little: bool| {
            may_be_followed(&shown(share, by_passing), says_little)
        };
        assert!(may_be_followed(1.0, 0.5, false));
        assert!(!may_be_followed(1.0, 0.6, false));
        assert!(may_be_followed(0.5, 0.2, false));
        assert!(!may_be_followed(0.4, 0.1, false), "others fail without it");
        assert!(!may_be_followed(0.7, 0.3, false), "neither enough nor needed");
        assert!(!may_be_followed(1.0, 0.0, true), "the count is right in any order");
    }

    #[test]
    fn what_a_short_run_proves_is_not_refuted_by_forced_runs_that_pass() {
        let open = |verdict: Verdict, failed: u64| {
            let forbidden = report::Trial { runs: 9, failed };
            let confirmation = Arms::new(1.0).decide(BELIEVED);
            [true, false]
                .map(|is_whole| leaves_open(&Confirmation { verdict, forbidden, ..confirmation }, is_whole))
        };
        assert_eq!(open(Verdict::Inconclusive, 5), [true, true]);
        assert_eq!(open(Verdict::Refuted, 0), [true, false], "its look is not at the edge");
        assert_eq!(open(Verdict::Refuted, 1), [false, false], "runs fail without it");
        assert_eq!(open(Verdict::Confirmed, 0), [false, false], "it is proved by itself");
    }

    #[test]
    fn runs_that_hang_are_not_waited_for_when_the_time_is_over() {
        let folder = tempfile::tempdir().unwrap();
        let session = laboratory_session(folder.path());
        let limits = Limits { runs: 20, until: Some(Instant::now() + LEAST_TIMEOUT) };
        let campaign = campaign(Path::new("/bin/sleep"), &["1000"]);
        let mut laboratory = Laboratory::new(&session, &campaign, limits);
        let begun = Instant::now();
        assert_eq!(laboratory.enforce(interleaving(), 9).unwrap().runs, 0);
        assert!(begun.elapsed() < FIRST_TIMEOUT);
    }

    #[test]
    fn no_run_begins_when_the_time_is_over_and_what_was_left_out_is_not_taken_as_passed() {
        let folder = tempfile::tempdir().unwrap();
        let session = laboratory_session(folder.path());
        // A run would be an error.
        let campaign = campaign(&folder.path().join("missing"), &[]);
        let limits = Limits { runs: 20, until: Some(Instant::now()) };
        let mut laboratory = Laboratory::new(&session, &campaign, limits);
        let (all, none) = (Arm { runs: 9, failed: 9, came_about: 9, failed_with_it: 9 }, Arm::default());
        let forbidden = Arm { runs: 9, ..none };
        let confirmed = Arms { enforced: all, forbidden, ..Arms::new(1.0) }.decide(BELIEVED);
        assert_eq!(laboratory.within_time(confirmed).verdict, Verdict::Confirmed);
        assert_eq!(laboratory.enforce(interleaving(), 9).unwrap().runs, 0);
        assert_eq!(laboratory.within_time(confirmed).verdict, Verdict::Inconclusive);
    }
}
