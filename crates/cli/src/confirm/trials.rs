//! Runs that try an interleaving out.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use recording::{Interleaving, RunPlan, Schedule, Treatment};
use report::{Confirmation, Verdict};
use runner::campaign::{self, Campaign};
use runner::{Outcome, RunNumber, Session, patience};

use crate::interleaving::{Forcible, Led};
use crate::replay::Beginning;
use crate::run::INTERRUPTED;

use super::decision::{Arm, Arms, BELIEVED, BEYOND_DOUBT, FEWEST};
use super::{following, leading, turned};

/// A run that hangs is one that failed, and nobody waits half a minute for each: this, before one has passed.
const FIRST_TIMEOUT: Duration = Duration::from_secs(5);
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
}

impl<'a> Laboratory<'a> {
    pub fn new(session: &'a Session, campaign: &Campaign) -> Laboratory<'a> {
        let may_hang = session.runs().iter().any(|run| run.outcome == Outcome::Hang);
        let seed = session.manifest().seed;
        Laboratory { session, campaign: campaign.clone(), seed, may_hang, slowest_pass: 0.0 }
    }

    /// Is it the cause? `share` of the session's failing runs show it. If it cannot be brought about by itself, with what leads to it.
    /// `runs` are the failing runs that show it.
    pub fn confirm(
        &mut self,
        forcible: &Forcible,
        runs: &[u64],
        share: f64,
        limits: &Limits,
    ) -> anyhow::Result<Proof> {
        let own = forcible.interleaving;
        let mut arms = self.compare(own, own, &[], share, limits)?;
        if let Some(wider) = forcible.wider.filter(|_| arms.is_only_forbidden_in_vain()) {
            self.forbid_more(wider, &mut arms, limits)?;
        }
        let confirmation = arms.decide(BELIEVED);
        if confirmation.verdict == Verdict::Confirmed {
            return Ok(Proof::of(self.leave_out_variables(own, &[], &arms, confirmation)?));
        }
        // What a part of the failing runs shows can enclose the cause, if it is about more than one variable.
        let is_about_one = own.steps().iter().all(|step| step.variable == 0);
        let is_in_all = share >= 1.0;
        if !arms.may_lack_something() || !is_in_all && !is_about_one {
            return Ok(Proof::of(confirmation));
        }
        if confirmation.verdict == Verdict::Inconclusive
            && is_in_all
            && let Some(led) = leading::confirm(self, forcible, share, limits)?
        {
            return Ok(led);
        }
        let followed = following::confirm(self, forcible, runs, limits)?;
        Ok(Proof::of(followed.unwrap_or(confirmation)))
    }

    /// Enforces one, with runs that are delayed at the same places, and forbids another until it is clear what follows.
    /// Runs begin as one of the beginnings, if there are any.
    pub fn compare(
        &mut self,
        enforced: Interleaving,
        forbidden: Interleaving,
        beginnings: &[Beginning],
        share: f64,
        limits: &Limits,
    ) -> anyhow::Result<Arms> {
        let mut arms = Arms::new(share);
        let kinds = [
            enforced.treated(Treatment::Enforce),
            forbidden.treated(Treatment::Forbid),
            enforced.treated(Treatment::Delay),
        ];
        for number in 1..=limits.runs {
            let arms_of = [&mut arms.enforced, &mut arms.forbidden, &mut arms.delayed];
            let beginning = of_number(beginnings, number);
            let asked = kinds.map(|interleaving| Asked { number, interleaving, avoided: None, beginning });
            for (arm, seen) in arms_of.into_iter().zip(self.round(&asked)?) {
                add(arm, seen);
            }
            let is_clear = arms.decide(BEYOND_DOUBT).verdict == Verdict::Confirmed;
            let is_in_vain =
                u64::from(number) >= FEWEST && !arms.can_be_confirmed(u64::from(limits.runs - number));
            if is_clear || is_in_vain || limits.is_over() {
                break;
            }
        }
        Ok(arms)
    }

    /// Forbids what a fix would keep whole, in place of the finding's own order.
    fn forbid_more(&mut self, wider: Interleaving, arms: &mut Arms, limits: &Limits) -> anyhow::Result<()> {
        arms.forbidden = Arm::default();
        let interleaving = wider.treated(Treatment::Forbid);
        let asked = |number| Asked { number, interleaving, avoided: None, beginning: None };
        let trials: Vec<Asked> = (1..=limits.runs).map(asked).collect();
        for round in trials.chunks(Treatment::ALL.len()) {
            self.round(round)?.into_iter().for_each(|seen| add(&mut arms.forbidden, seen));
            let is_clear = arms.decide(BEYOND_DOUBT).verdict == Verdict::Confirmed;
            if is_clear || limits.is_over() {
                break;
            }
        }
        Ok(())
    }

    /// What was confirmed is refuted if one of its variables is no part of the cause.
    pub fn leave_out_variables(
        &mut self,
        interleaving: Interleaving,
        beginnings: &[Beginning],
        arms: &Arms,
        confirmation: Confirmation,
    ) -> anyhow::Result<Confirmation> {
        for other in turned::turned(&interleaving) {
            let asked = |number| Asked {
                number,
                interleaving: other,
                avoided: None,
                beginning: of_number(beginnings, number),
            };
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
        self.repeat(|number| Asked { number, interleaving, avoided: None, beginning: None }, runs)
    }

    /// The same, while another is avoided. It has come about only where that one has not.
    pub fn enforce_without(
        &mut self,
        interleaving: Interleaving,
        avoided: Interleaving,
        runs: u32,
    ) -> anyhow::Result<Arm> {
        self.repeat(|number| Asked { number, interleaving, avoided: Some(avoided), beginning: None }, runs)
    }

    fn repeat<'b>(&mut self, asked: impl Fn(u32) -> Asked<'b>, runs: u32) -> anyhow::Result<Arm> {
        let mut arm = Arm::default();
        let trials: Vec<Asked> = (1..=runs).map(asked).collect();
        for round in trials.chunks(Treatment::ALL.len()) {
            self.round(round)?.into_iter().for_each(|seen| add(&mut arm, seen));
        }
        Ok(arm)
    }

    /// Runs at the same time: in a controlled run one thread runs at a time.
    fn round(&mut self, trials: &[Asked<'_>]) -> anyhow::Result<Vec<Option<Seen>>> {
        let mut campaign = self.campaign.clone();
        let timeout =
            if self.slowest_pass == 0.0 { FIRST_TIMEOUT } else { patience::enough(self.slowest_pass) };
        campaign.timeout = Some(campaign.timeout.map_or(timeout, |given| given.min(timeout)));
        let (campaign, this) = (&campaign, &*self);
        let seen = std::thread::scope(|scope| {
            let once = |&asked| scope.spawn(move || this.once(campaign, asked));
            let runs: Vec<_> = trials.iter().map(once).collect();
            let joined = runs.into_iter().map(|run| run.join().expect("a trial does not panic"));
            joined.collect::<anyhow::Result<Vec<_>>>()
        })?;
        let passed = seen.iter().flatten().filter(|seen| !seen.failed).map(|seen| seen.seconds);
        self.slowest_pass = passed.fold(self.slowest_pass, f64::max);
        Ok(seen)
    }

    /// None if the run says nothing.
    fn once(&self, campaign: &Campaign, asked: Asked<'_>) -> anyhow::Result<Option<Seen>> {
        let Asked { number, interleaving, avoided, beginning } = asked;
        let run = RunNumber(number);
        let plan = RunPlan {
            seed: campaign::run_seed(!self.seed, run),
            schedule: Schedule::Random,
            interleaving: Some(interleaving),
            avoided,
            ..RunPlan::default()
        };
        let file = match beginning {
            Some(beginning) => beginning.follow(campaign, run, plan, &INTERRUPTED)?,
            None => campaign.once(run, plan, &INTERRUPTED)?,
        };
        let Some(file) = file else { return Ok(None) };
        let says_nothing = match file.record.outcome {
            Outcome::Damaged { .. } => true,
            Outcome::Hang => !self.may_hang,
            Outcome::Pass | Outcome::Fail { .. } => false,
        };
        let headers = || file.processes.iter().filter_map(|one| recording::header(&one.bytes).ok());
        let seen = Seen {
            failed: file.record.outcome.is_failing(),
            came_about: headers().map(|header| header.interleavings).sum::<u64>() > 0,
            seconds: file.record.seconds,
        };
        Ok((!says_nothing).then_some(seen))
    }
}

/// What a run is about.
#[derive(Clone, Copy)]
struct Asked<'a> {
    number: u32,
    interleaving: Interleaving,
    avoided: Option<Interleaving>,
    beginning: Option<&'a Beginning>,
}

/// Each in turn.
fn of_number(beginnings: &[Beginning], number: u32) -> Option<&Beginning> {
    beginnings.get(number as usize % beginnings.len().max(1))
}

/// What came of a run.
#[derive(Clone, Copy)]
struct Seen {
    failed: bool,
    came_about: bool,
    seconds: f64,
}

fn add(arm: &mut Arm, seen: Option<Seen>) {
    if let Some(seen) = seen {
        arm.add(seen.failed, seen.came_about);
    }
}
