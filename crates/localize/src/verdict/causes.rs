//! From clues to causes: clues are weighed, those that say the same are put together, and the rest is ranked.

use std::cmp::Ordering;

use rustc_hash::FxHashSet;

use crate::finding::{Detail, Finding};
use crate::pattern::Pattern;
use crate::run::{RunId, SiteId};
use crate::standstill::Standstill;

use super::calls;
use super::chance;
use super::evidence::Evidence;
use super::fold;
use super::freed;
use super::leads;
use super::new_code;
use super::reason::{Reason, Reasoning};
use super::regions;
use super::scale::{Clue, Scale};
use super::torn;
use super::tuning::Tuning;
use super::unfinished;
use super::values;

/// How probable it is that a fault that is there for certain is not what makes runs fail, where nothing else is known to.
const SOMETHING_ELSE: f64 = 0.05;

/// A finding that waits for its rank.
pub(super) struct Cause {
    /// The logarithm of its probability, up to a constant.
    pub weight: f64,
    /// How many failing runs it explains, at this or another place.
    pub explained: u32,
    /// How probable it is by itself, as a logarithm like its weight, if it looks like what the failure does.
    pub as_effect: Option<f64>,
    /// Whether it is about code that passing runs never come to.
    pub is_new_code: bool,
    /// Whether the creation or the end of threads keeps it in order, so that it is what is left of something else.
    pub is_outcome: bool,
    /// Where that is, as far as it is known that they never do.
    pub new_code: Vec<SiteId>,
    /// When the first of its clues is complete.
    pub completed: Option<usize>,
    /// When the clue that is told for it has made its difference, in some failing runs; empty where that is not known.
    pub felt: Vec<(RunId, u32)>,
    /// The pair or triple that is seen in it; of a window, the pair that comes about in it.
    pub order: Option<Pattern>,
    pub finding: Finding,
    pub reasons: Vec<Reason>,
    pub standstill: Option<Standstill>,
}

impl Cause {
    /// The most probable first; of equals, the one that is complete first, since effects follow their cause.
    fn compare(&self, other: &Self) -> Ordering {
        other
            .weight
            .total_cmp(&self.weight)
            .then(self.completed.cmp(&other.completed))
            .then_with(|| self.finding.pattern.cmp(&other.finding.pattern))
    }
}

/// The causes, the most probable first.
pub(super) fn findings(evidence: &Evidence, tuning: &Tuning) -> Vec<Finding> {
    let scale = Scale::new(evidence, tuning);
    let causes = causes(&scale);
    let unknown = scale.unseen(tuning.effect) - tuning.unknown;
    let fault = if tuning.freed { freed::fault(&scale) } else { None };
    if causes.is_empty() && fault.is_none() && scale.has_strata() {
        // What goes with failing runs may be worth trying out even where it goes with a way of scheduling as well.
        let across = Tuning { strata: false, ..*tuning };
        return ranked(self::causes(&Scale::new(evidence, &across)), None, unknown);
    }
    let mut findings = ranked(causes, Some(scale.as_good_by_chance()), unknown);
    if let Some(fault) = fault {
        blame(fault, &mut findings);
    }
    findings
}

/// What is wrong for certain gets what the causes leave of the probability, but for a little: it may yet be something else.
fn blame(fault: Cause, findings: &mut Vec<Finding>) {
    let known: f64 = findings.iter().map(|finding| finding.score).sum();
    let left = (1.0 - SOMETHING_ELSE) * (1.0 - known).max(0.0);
    let place = findings.iter().position(|finding| finding.pattern == fault.finding.pattern);
    let own = place.map_or(0.0, |place| findings.remove(place).score);
    let confidence = own + left;
    let reasoning = Reasoning { confidence, reasons: fault.reasons, standstill: None };
    let place = findings.partition_point(|finding| finding.score > confidence);
    let detail = Detail::Verdict(Box::new(reasoning));
    findings.insert(place, Finding { tied: 1, score: confidence, detail, ..fault.finding });
    for (nth, finding) in findings.iter_mut().enumerate() {
        finding.rank = nth + 1;
    }
}

/// The causes by one scale, the most probable first.
fn causes(scale: &Scale) -> Vec<Cause> {
    let (evidence, tuning) = (scale.evidence, scale.tuning);
    let mut clues: Vec<Clue> =
        evidence.clues.iter().filter_map(|(&pattern, seen)| scale.clue(pattern, seen)).collect();
    if tuning.entered {
        clues.extend(scale.entered());
    }
    if tuning.values {
        values::take_in(&mut clues, scale);
    }
    unfinished::take_in_ends(&mut clues, evidence);
    if tuning.freed {
        let outcomes = |runs: &[u64]| evidence.outcomes(runs);
        freed::count_together(&mut clues, |runs| scale.evidence_of(runs), outcomes);
    }
    if tuning.calls {
        calls::count_together(&mut clues, scale);
    }
    if tuning.regions {
        regions::count_together(&mut clues, evidence.clues.iter(), |runs| scale.evidence_of(runs));
    }
    torn::count_together(&mut clues, scale);
    clues.sort_unstable_by(|a, b| a.runs().cmp(b.runs()).then(a.pattern.cmp(&b.pattern)));
    let mut causes: Vec<Cause> = Vec::new();
    let mut rest = clues.into_iter().peekable();
    while let Some(first) = rest.next() {
        let mut alike = vec![first];
        while let Some(next) = rest.next_if(|next| next.runs() == alike[0].runs()) {
            alike.push(next);
        }
        let causes_of = |clues| match tuning.folding {
            true => fold::folded(clues, tuning.stretches),
            false => fold::apart(clues),
        };
        causes.extend(causes_of(alike).into_iter().map(|clues| scale.cause(clues)));
    }
    if tuning.indirect {
        causes.extend(scale.indirect(&causes));
    }
    if tuning.standstills {
        causes.extend(scale.standstills());
    }
    new_code::put_in_order(scale, &mut causes);
    causes.sort_unstable_by(Cause::compare);
    if tuning.leads {
        leads::put_first(scale, &mut causes);
        causes.sort_unstable_by(Cause::compare);
    }
    // What most failing runs lack, a few may show: that is the same once more.
    let mut known: FxHashSet<Pattern> = FxHashSet::default();
    causes.retain(|cause| cause.standstill.is_some() || known.insert(cause.finding.pattern));
    causes
}

/// Gives each cause its rank and its share of the probability that there is a cause at all. That is even where no chance
/// can be told since scheduling explains as much. `unknown` is how much more probable (as logarithm) than an effect it is that
/// its cause is not among the clues.
fn ranked(causes: Vec<Cause>, as_good: Option<u32>, unknown: f64) -> Vec<Finding> {
    let Some(best) = causes.first().map(|cause| cause.weight) else { return Vec::new() };
    let effects = causes.iter().filter_map(|cause| cause.as_effect);
    // An effect tells failing from passing runs as well as its cause, which may not be among the clues.
    let unknown = effects.fold(f64::NEG_INFINITY, f64::max) + unknown;
    let known: f64 = causes.iter().map(|cause| (cause.weight - best).exp()).sum();
    let sum = known + (unknown - best).exp();
    let weights: Vec<f64> = causes.iter().map(|cause| cause.weight).collect();
    let in_order = causes.into_iter().enumerate().map(|(nth, cause)| {
        let Cause { weight, mut reasons, finding, standstill, .. } = cause;
        if weights.get(nth + 1) == Some(&weight) {
            reasons.push(Reason::First);
        }
        // A standstill is its own proof; there is no chance about it.
        let is_cause = match as_good {
            _ if standstill.is_some() => 1.0,
            Some(as_good) => chance::confidence(as_good),
            None => chance::EVEN,
        };
        if nth == 0 && standstill.is_none() {
            let chance = as_good.map(|as_good| Reason::Chance { as_good, trials: chance::TRIALS });
            reasons.push(chance.unwrap_or(Reason::Scheduling));
        }
        let confidence = is_cause * (weight - best).exp() / sum;
        let detail = Detail::Verdict(Box::new(Reasoning { confidence, reasons, standstill }));
        Finding { rank: nth + 1, tied: 1, score: confidence, detail, ..finding }
    });
    in_order.collect()
}
