//! From clues to causes: clues are weighed, those that say the same are put together, and the rest is ranked.

use std::cmp::Ordering;

use rustc_hash::FxHashMap;

use crate::finding::{Detail, Example, Finding};
use crate::locon::Procedure;
use crate::pattern::{Pattern, PatternId};
use crate::run::{AccessKind, RunId};
use crate::shape::Shape;
use crate::standstill::Standstill;
use crate::suspiciousness::Spectrum;

use super::chance::{self, Signature};
use super::clues::Sighting;
use super::evidence::{Evidence, Seen, StoodStill};
use super::fold;
use super::orders::Standing;
use super::reason::{Reason, Reasoning};
use super::weight::Weights;

/// How many times (as logarithm) less probable a cause is if passing runs never make its accesses to one variable. An
/// interleaving that fails is one of several that the program allows, with the same accesses: others are made because
/// something failed.
const EFFECT: f64 = 7.0;

/// How many times (as logarithm) less probable it is that the cause is none of the clues, one of which is its effect.
const UNKNOWN: f64 = 5.0;

/// The same as [`EFFECT`] if passing runs make some of its accesses to one variable, but in one order always: then something keeps them in order.
const ONE_ORDER: f64 = EFFECT / 2.0;

/// The same for one that consists of atomic updates alone, as the words of locks and counters do: each is made to
/// be interleaved with the others.
const ATOMIC: f64 = 3.0;

/// How many times (as logarithm) more probable it is that a hung run hangs for the reason for which its threads wait.
const STANDSTILL: f64 = 10.0;

/// A clue that tells failing from passing runs.
pub(super) struct Clue<'e> {
    pub pattern: Pattern,
    pub seen: &'e Seen,
    pub sighting: &'e Sighting,
    run: RunId,
    /// The logarithm of its probability, up to a constant.
    weight: f64,
    standing: Standing,
    /// The order of another clue follows from its own, so that the other is to blame (Locon, section 4.1).
    pub is_predicting: bool,
}

impl Clue<'_> {
    /// Of the clues of one cause, the one that says most about it comes first: a cause before an effect, data before
    /// the words of locks; an unserializable triple before its pairs, unless it is but a loop's next round.
    fn compare(&self, other: &Self) -> Ordering {
        let rank = |clue: &Self| {
            let sites = clue.pattern.sites();
            let is_loop = sites.len() == 3 && sites[0] == sites[2];
            let length = [3, 2, 4].iter().position(|&length| length == sites.len());
            (clue.standing, clue.sighting.is_atomic, clue.is_predicting, is_loop, length)
        };
        rank(self)
            .cmp(&rank(other))
            .then(other.weight.total_cmp(&self.weight))
            .then(self.sighting.completed().cmp(&other.sighting.completed()))
            .then(self.pattern.cmp(&other.pattern))
    }
}

/// A finding that waits for its rank.
struct Cause {
    /// The logarithm of its probability, up to a constant.
    weight: f64,
    /// Whether it looks like what the failure does.
    is_effect: bool,
    /// When the first of its clues is complete.
    completed: Option<usize>,
    finding: Finding,
    reasons: Vec<Reason>,
    standstill: Option<Standstill>,
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
pub(super) fn findings(evidence: &Evidence) -> Vec<Finding> {
    let scale = Scale::new(evidence);
    let mut clues: Vec<Clue> =
        evidence.clues.iter().filter_map(|(&pattern, seen)| scale.clue(pattern, seen)).collect();
    clues.sort_unstable_by(|a, b| a.seen.runs.cmp(&b.seen.runs).then(a.pattern.cmp(&b.pattern)));
    let mut causes: Vec<Cause> = Vec::new();
    let mut rest = clues.into_iter().peekable();
    while let Some(first) = rest.next() {
        let mut alike = vec![first];
        while let Some(next) = rest.next_if(|next| next.seen.runs == alike[0].seen.runs) {
            alike.push(next);
        }
        causes.extend(fold::folded(alike).into_iter().map(|clues| scale.cause(clues)));
    }
    causes.extend(scale.indirect(&causes));
    causes.extend(scale.standstills());
    causes.sort_unstable_by(Cause::compare);
    ranked(causes, scale.as_good_by_chance())
}

/// Gives each cause its rank and its share of the probability that there is a cause at all.
fn ranked(causes: Vec<Cause>, as_good: u32) -> Vec<Finding> {
    let Some(best) = causes.first().map(|cause| cause.weight) else { return Vec::new() };
    let effects = causes.iter().filter(|cause| cause.is_effect).map(|cause| cause.weight);
    // An effect tells failing from passing runs as well as its cause, which may not be among the clues.
    let unknown = effects.fold(f64::NEG_INFINITY, f64::max) + EFFECT - UNKNOWN;
    let known: f64 = causes.iter().map(|cause| (cause.weight - best).exp()).sum();
    let sum = known + (unknown - best).exp();
    let weights: Vec<f64> = causes.iter().map(|cause| cause.weight).collect();
    let in_order = causes.into_iter().enumerate().map(|(nth, cause)| {
        let Cause { weight, mut reasons, finding, standstill, .. } = cause;
        if weights.get(nth + 1) == Some(&weight) {
            reasons.push(Reason::First);
        }
        // A standstill is its own proof; there is no chance about it.
        let is_cause = if standstill.is_some() { 1.0 } else { chance::confidence(as_good) };
        if nth == 0 && standstill.is_none() {
            reasons.push(Reason::Chance { as_good, trials: chance::TRIALS });
        }
        let confidence = is_cause * (weight - best).exp() / sum;
        let detail = Detail::Verdict(Box::new(Reasoning { confidence, reasons, standstill }));
        Finding { rank: nth + 1, tied: 1, score: confidence, detail, ..finding }
    });
    in_order.collect()
}

/// Weighs clues.
struct Scale<'e> {
    evidence: &'e Evidence,
    runs: Spectrum,
    weights: Weights,
    /// How many pairs there are, and how many pairs and triples.
    pairs: f64,
    triples: f64,
}

impl<'e> Scale<'e> {
    fn new(evidence: &'e Evidence) -> Self {
        let of_length = |length: usize| {
            evidence
                .clues
                .iter()
                .filter(|(pattern, seen)| seen.is_clue && pattern.sites().len() == length)
                .count()
        };
        let pairs = of_length(2).max(1) as f64;
        Self {
            evidence,
            runs: evidence.spectrum(&Seen::default()),
            weights: Weights::new(evidence.runs.len() as u32),
            pairs,
            triples: pairs + of_length(3) as f64,
        }
    }

    fn evidence_of(&self, seen: &Seen) -> f64 {
        self.weights.evidence(Spectrum { failed: seen.failed, passed: seen.passed, ..self.runs })
    }

    /// The clue that a pattern is, if it speaks for anything and no part of it says as much.
    fn clue(&self, pattern: Pattern, seen: &'e Seen) -> Option<Clue<'e>> {
        let (run, sighting) = seen.example.as_ref().filter(|_| seen.is_clue)?;
        let evidence = self.evidence_of(seen);
        if evidence <= 0.0 || self.is_said_by_a_part(pattern, evidence) {
            return None;
        }
        let standing = self.evidence.orders.standing(&pattern);
        let mut weight = evidence + self.prior(pattern, Some(sighting));
        weight -= match standing {
            Standing::Reordered => 0.0,
            Standing::OneOrder => ONE_ORDER,
            Standing::New => EFFECT,
        };
        weight -= if sighting.is_atomic { ATOMIC } else { 0.0 };
        Some(Clue { pattern, seen, sighting, run: *run, weight, standing, is_predicting: false })
    }

    /// How probable a pattern is before any run is looked at: the more there are of its kind, the less each of them.
    /// Two pairs make a quadruple with all pairs that are as near.
    fn prior(&self, pattern: Pattern, sighting: Option<&Sighting>) -> f64 {
        let span = sighting.map_or(1, |sighting| sighting.span());
        -match pattern.sites().len() {
            ..=2 => self.pairs.ln(),
            3 => self.triples.ln(),
            _ => (self.pairs * f64::from(span)).ln(),
        }
    }

    /// Whether one of the two pairs of a quadruple explains the failing runs as well: then the other adds nothing.
    fn is_said_by_a_part(&self, pattern: Pattern, evidence: f64) -> bool {
        pattern.shape().len() == Shape::MAX_STEPS
            && pattern.conflicts().any(|([head, tail], sites)| {
                let part = PatternId::pair(head, tail).map(|id| Pattern::new(id, &sites));
                let seen = part.and_then(|part| self.evidence.clues.get(&part));
                seen.is_some_and(|seen| self.evidence_of(seen) >= evidence)
            })
    }

    /// The cause that some clues with the same runs stand for.
    fn cause(&self, mut clues: Vec<Clue>) -> Cause {
        clues.sort_unstable_by(Clue::compare);
        let best = &clues[0];
        let (failed, passed) = (best.seen.failed, best.seen.passed);
        let mut reasons = vec![
            Reason::Runs {
                failed,
                passed,
                all_failed: self.runs.all_failed,
                all_passed: self.runs.all_passed,
            },
            match best.standing {
                Standing::Reordered => Reason::Reordered,
                Standing::OneOrder => Reason::OneOrder,
                Standing::New => Reason::Effect,
            },
        ];
        reasons.extend(best.sighting.is_atomic.then_some(Reason::Atomic));
        reasons.extend((best.pattern.shape().len() == Shape::MAX_STEPS).then_some(Reason::Together));
        let others = clues.len() as u32 - 1;
        reasons.extend((others > 0).then_some(Reason::Folded(others)));
        let finding = Finding {
            rank: 0,
            tied: 0,
            score: 0.0,
            failed,
            passed,
            pattern: best.pattern,
            failing_runs: self.evidence.failing_runs(best.seen),
            example: Example {
                run: best.run,
                id: best.sighting.shape,
                accesses: best.sighting.accesses().iter().map(|&index| index as usize).collect(),
            },
            detail: Detail::Accesses,
        };
        Cause {
            weight: clues.iter().map(|clue| clue.weight).fold(f64::NEG_INFINITY, f64::max),
            is_effect: best.standing == Standing::New,
            completed: clues.iter().map(|clue| clue.sighting.completed() as usize).min(),
            finding,
            reasons,
            standstill: None,
        }
    }

    /// The standstills of hung runs. None is as probable as one that is there to be seen.
    fn standstills(&self) -> Vec<Cause> {
        let Spectrum { all_failed, all_passed, .. } = self.runs;
        let mut causes = Vec::new();
        for StoodStill { failing_runs, passed, example: (_, run, standstill) } in
            self.evidence.standstills.values()
        {
            let (failed, passed) = (failing_runs.len() as u32, *passed);
            let evidence = self.weights.evidence(Spectrum { failed, passed, all_failed, all_passed });
            if evidence <= 0.0 {
                continue;
            }
            let mut failing_runs = failing_runs.clone();
            failing_runs.sort_unstable();
            let pattern = Pattern::access(AccessKind::Write, standstill.steps[0].site);
            causes.push(Cause {
                weight: evidence + STANDSTILL,
                is_effect: false,
                completed: None,
                reasons: vec![
                    Reason::Runs { failed, all_failed, passed, all_passed },
                    Reason::Standstill(standstill.kind),
                ],
                finding: Finding {
                    rank: 0,
                    tied: 0,
                    score: 0.0,
                    failed,
                    passed,
                    pattern,
                    failing_runs,
                    example: Example { run: *run, id: pattern.shape(), accesses: Vec::new() },
                    detail: Detail::Accesses,
                },
                standstill: Some(standstill.clone()),
            });
        }
        causes
    }

    /// What Locon concludes from what failing runs lack, and from pairs that are harmless one by one, where that
    /// explains more failing runs than any of `causes`.
    fn indirect(&self, causes: &[Cause]) -> Vec<Cause> {
        let explained = causes.iter().map(|cause| cause.finding.failed).max().unwrap_or(0);
        let mut indirect = Vec::new();
        for finding in self.evidence.pairs.findings(None) {
            let Detail::Locon(procedure) = finding.detail else { continue };
            // Passing runs show the accesses, but never as they are meant here.
            let evidence = self.weights.evidence(Spectrum { failed: finding.failed, ..self.runs });
            if finding.failed <= explained || evidence <= 0.0 {
                continue;
            }
            let prior = match procedure {
                Procedure::OnlyInFailing => self.pairs.ln(),
                Procedure::MissingFromFailing => self.pairs.ln() + EFFECT,
                Procedure::NeverTogether(_) => 2.0 * self.pairs.ln(),
            };
            indirect.push(Cause {
                weight: evidence - prior,
                is_effect: false,
                completed: finding.example.accesses.iter().copied().max(),
                reasons: vec![Reason::Procedure(procedure)],
                finding,
                standstill: None,
            });
        }
        indirect
    }

    /// In how many trials chance gives a clue that is as good as the best.
    fn as_good_by_chance(&self) -> u32 {
        let mut simplest: FxHashMap<&[u64], f64> = FxHashMap::default();
        let mut best = f64::NEG_INFINITY;
        for (&pattern, seen) in self.evidence.clues.iter().filter(|(_, seen)| seen.is_clue) {
            let prior = self.prior(pattern, None);
            let known = simplest.entry(&seen.runs).or_insert(prior);
            *known = known.max(prior);
            if seen.failed > 0 {
                best = best.max(self.evidence_of(seen) + prior);
            }
        }
        let signatures: Vec<Signature> =
            simplest.into_iter().map(|(runs, prior)| Signature { runs, prior }).collect();
        let mut order: Vec<usize> = (0..self.evidence.runs.len()).collect();
        order.sort_unstable_by_key(|&number| self.evidence.runs[number].id);
        chance::as_good(&signatures, &order, self.runs.all_failed, &self.weights, best)
    }
}
