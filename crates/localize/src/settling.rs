//! Whether more runs would change the answer.
//!
//! The first cause of the verdict is settled once it is confident, has stayed the same for a few failing runs, and has
//! stood the comparison with enough passing ones. docs/techniques/verdict.md says how often ten times as many runs
//! still give the same. With fewer passing ones it is worth being tried out: if that proves it, more runs would not change it, either.

use crate::collector::{Collector, Reduced};
use crate::finding::{Detail, Finding};
use crate::options::Options;
use crate::pattern::Pattern;
use crate::run::{Outcome, Run};
use crate::standstill::{Identity, Standstill, StandstillKind};
use crate::technique::Technique;

/// The confidence that the first cause needs.
const CONFIDENT: f64 = 0.95;
/// So many failing runs must have left it where it is.
const UNCHANGED: u32 = 3;
/// So many passing runs must have been compared.
const PASSES: u32 = 20;
/// So many are enough to try it out.
const SOME_PASSES: u32 = 8;
/// Or, if none passes at all and threads wait for each other for good, so many failing runs must have ended alike.
const ALONE: u32 = 8;
/// After so many passing runs the answer is asked for again; otherwise after each failing one, or, where there were many, after
/// some of them.
const EVERY: u32 = 10;
const MANY: u32 = 20;
const SOME: u32 = 4;

/// Watches the runs of a session as they come.
#[derive(Clone, Debug)]
pub struct Settling {
    collector: Collector,
    passed: u32,
    failed: u32,
    /// Failing runs since the answer was asked for.
    new: u32,
    first: Option<First>,
}

/// The first cause so far.
#[derive(Clone, Debug)]
struct First {
    identity: (Pattern, Option<Identity>),
    is_deadlock: bool,
    confidence: f64,
    /// Failing runs that have left it first.
    unchanged: u32,
}

impl Settling {
    /// No run has been seen yet.
    pub fn new(options: &Options) -> Self {
        Self {
            collector: Collector::new(Technique::Verdict, options),
            passed: 0,
            failed: 0,
            new: 0,
            first: None,
        }
    }

    /// Looks at one more run.
    pub fn observe(&mut self, run: &Run) {
        self.add(&self.collector.reduce(run), run.outcome);
    }

    /// Adds what [`Technique::reduce`] has made of one more run for the verdict.
    pub fn add(&mut self, run: &Reduced, outcome: Outcome) {
        self.collector.add(run);
        let is_due = if outcome.is_failing() {
            self.failed += 1;
            self.new += 1;
            self.failed < MANY || self.new >= SOME
        } else {
            self.passed += 1;
            self.passed.is_multiple_of(EVERY) || self.passed == SOME_PASSES
        };
        if is_due {
            self.ask();
        }
    }

    fn ask(&mut self) {
        let new_failing_runs = core::mem::take(&mut self.new);
        let first = self.collector.findings().into_iter().next();
        self.first = first.map(|finding| {
            let identity = identity(&finding);
            let known = self.first.as_ref().filter(|first| first.identity == identity);
            let unchanged = known.map_or(0, |first| first.unchanged + new_failing_runs);
            First { identity, is_deadlock: is_deadlock(&finding), confidence: finding.score, unchanged }
        });
    }

    /// Passing runs from which on a first cause may be worth being tried out.
    pub const SOME_PASSES: u32 = SOME_PASSES;

    /// Whether the first cause is sure enough to be tried out, though more runs might change it.
    pub fn is_worth_trying(&self) -> bool {
        let is_likely = |first: &First| first.confidence >= CONFIDENT && first.unchanged >= UNCHANGED;
        self.passed >= SOME_PASSES && self.first.as_ref().is_some_and(is_likely)
    }

    /// How sure the first cause is, if more runs would hardly change it.
    pub fn settled(&self) -> Option<f64> {
        let first = self.first.as_ref()?;
        let is_compared = first.unchanged >= UNCHANGED && self.passed >= PASSES;
        let is_alone = first.is_deadlock && first.unchanged >= ALONE && self.passed == 0;
        (first.confidence >= CONFIDENT && (is_compared || is_alone)).then_some(first.confidence)
    }
}

impl Settling {
    /// The causes so far, the most probable first.
    pub fn findings(&self) -> Vec<Finding> {
        self.collector.findings()
    }
}

/// How many more runs it would probably take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Need {
    /// Failing ones.
    pub failing: u32,
    /// Passing ones.
    pub passing: u32,
}

/// If runs went on like this, so many times as many are tried.
const TRIED: [u32; 4] = [2, 3, 5, 10];

impl Need {
    /// How many more runs like those that `collector` has seen would settle the verdict's first cause: none more if
    /// it is settled. None if ten times as many would not do, or if there is nothing to settle. `findings` are the
    /// collector's.
    pub fn of(collector: &Collector, findings: &[Finding], failed: u32, passed: u32) -> Option<Need> {
        let first = findings.first()?;
        let settles = |finding: &Finding| finding.score >= CONFIDENT && identity(finding) == identity(first);
        let would_do = |times: u32| collector.repeated(times)?.findings().first().map(settles);
        let would_do = |&times: &u32| would_do(times) == Some(true);
        let is_sure = matches!(first.detail, Detail::Verdict(_)) && settles(first);
        let times = if is_sure { 1 } else { TRIED.into_iter().find(would_do)? };
        let least = if passed == 0 && is_deadlock(first) { [ALONE + 1, 0] } else { [UNCHANGED + 1, PASSES] };
        let [failing, passing] =
            [(failed, least[0]), (passed, least[1])].map(|(seen, least)| (seen * times).max(least) - seen);
        Some(Need { failing, passing })
    }
}

fn identity(finding: &Finding) -> (Pattern, Option<Identity>) {
    (finding.pattern, standstill(finding).map(|standstill| standstill.identity()))
}

fn is_deadlock(finding: &Finding) -> bool {
    standstill(finding).is_some_and(|standstill| standstill.kind == StandstillKind::Deadlock)
}

fn standstill(finding: &Finding) -> Option<&Standstill> {
    match &finding.detail {
        Detail::Verdict(reasoning) => reasoning.standstill.as_ref(),
        _ => None,
    }
}
