//! From clues to causes: clues are weighed, those that say the same are put together, and the rest is ranked.

use std::cmp::Ordering;

use rustc_hash::FxHashMap;

use crate::finding::{Detail, Example, Finding};
use crate::locon::Procedure;
use crate::pattern::{Pattern, PatternId};
use crate::run::{AccessKind, RunId, SiteId};
use crate::shape::Shape;
use crate::standstill::Standstill;
use crate::suspiciousness::Spectrum;

use super::chance::{self, Signature};
use super::clues::Sighting;
use super::evidence::{Evidence, KnownRun, Seen, StoodStill};
use super::fold;
use super::freed;
use super::orders::Standing;
use super::reason::{Reason, Reasoning};
use super::regions;
use super::strata::Strata;
use super::tuning::Tuning;
use super::weight::Weights;

/// Passing runs that come to all code that such runs come to, but for the rarest.
const ENOUGH_PASSING: u32 = 10;
/// Unless so much of it may be overlooked.
const OVERLOOKED: f64 = 0.01;
/// How much (as logarithm) less probable all that follows from a cause is than the cause itself.
const BEHIND: f64 = 1.0;

/// A clue that tells failing from passing runs.
pub(super) struct Clue<'e> {
    pub pattern: Pattern,
    pub seen: &'e Seen,
    pub sighting: &'e Sighting,
    run: RunId,
    /// The logarithm of its probability, up to a constant.
    pub weight: f64,
    standing: Standing,
    /// Whether it uses memory that has been freed, at places where passing runs come by.
    pub uses_freed: bool,
    /// The failing runs that this and the other uses of freed memory are seen in, if it counts for all of them.
    pub together: Option<u32>,
    /// The runs that show this or another access in the same stretch of code, as bits, if these explain more.
    pub region: Option<Vec<u64>>,
    /// Whether passing runs never come to one of its accesses.
    is_new_code: bool,
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
            (clue.is_new_code, clue.standing, clue.sighting.is_atomic, clue.is_predicting, is_loop, length)
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
    /// Whether it is about code that passing runs never come to.
    is_new_code: bool,
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
pub(super) fn findings(evidence: &Evidence, tuning: &Tuning) -> Vec<Finding> {
    let scale = Scale::new(evidence, tuning);
    let mut clues: Vec<Clue> =
        evidence.clues.iter().filter_map(|(&pattern, seen)| scale.clue(pattern, seen)).collect();
    if tuning.freed {
        freed::count_together(&mut clues, |runs| scale.weights.evidence(scale.strata.spectra(runs)));
    }
    if tuning.regions {
        regions::count_together(&mut clues, evidence.clues.iter(), |runs| {
            scale.weights.evidence(scale.strata.spectra(runs))
        });
    }
    clues.sort_unstable_by(|a, b| a.seen.runs.cmp(&b.seen.runs).then(a.pattern.cmp(&b.pattern)));
    let mut causes: Vec<Cause> = Vec::new();
    let mut rest = clues.into_iter().peekable();
    while let Some(first) = rest.next() {
        let mut alike = vec![first];
        while let Some(next) = rest.next_if(|next| next.seen.runs == alike[0].seen.runs) {
            alike.push(next);
        }
        let causes_of = |clues| if tuning.folding { fold::folded(clues) } else { fold::apart(clues) };
        causes.extend(causes_of(alike).into_iter().map(|clues| scale.cause(clues)));
    }
    if tuning.indirect {
        causes.extend(scale.indirect(&causes));
    }
    if tuning.standstills {
        causes.extend(scale.standstills());
    }
    scale.put_new_code_behind(&mut causes);
    causes.sort_unstable_by(Cause::compare);
    ranked(causes, scale.as_good_by_chance(), scale.unseen(tuning.effect) - tuning.unknown)
}

/// Gives each cause its rank and its share of the probability that there is a cause at all. `unknown` is how much more
/// probable (as logarithm) than an effect it is that its cause is not among the clues.
fn ranked(causes: Vec<Cause>, as_good: u32, unknown: f64) -> Vec<Finding> {
    let Some(best) = causes.first().map(|cause| cause.weight) else { return Vec::new() };
    let effects = causes.iter().filter(|cause| cause.is_effect).map(|cause| cause.weight);
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
    tuning: &'e Tuning,
    strata: Strata,
    runs: Spectrum,
    weights: Weights,
    /// How many pairs there are, and how many pairs and triples.
    pairs: f64,
    triples: f64,
}

impl<'e> Scale<'e> {
    fn new(evidence: &'e Evidence, tuning: &'e Tuning) -> Self {
        let of_length = |length: usize| {
            evidence
                .clues
                .iter()
                .filter(|(pattern, seen)| seen.is_clue && pattern.sites().len() == length)
                .count()
        };
        let pairs = of_length(2).max(1) as f64;
        let ways =
            evidence.runs.iter().map(|run| KnownRun { way: if tuning.strata { run.way } else { 0 }, ..*run });
        Self {
            evidence,
            tuning,
            strata: Strata::of(&ways.collect::<Vec<_>>()),
            runs: evidence.spectrum(&Seen::default()),
            weights: Weights::new(evidence.runs.len() as u32, tuning.sure),
            pairs,
            triples: pairs + of_length(3) as f64,
        }
    }

    fn evidence_of(&self, seen: &Seen) -> f64 {
        self.weights.evidence(self.strata.spectra(&seen.runs))
    }

    /// How much (as logarithm) a clue loses whose accesses no passing run shows. If few accesses of these were looked
    /// at, they may well have made them.
    fn unseen(&self, loss: f64) -> f64 {
        let unless_overlooked = (-loss).exp();
        -(unless_overlooked + (1.0 - unless_overlooked) * self.evidence.overlooked).ln()
    }

    /// Whether passing runs would have shown code that they come to.
    fn knows_all_code(&self) -> bool {
        self.tuning.new_code
            && self.runs.all_passed >= ENOUGH_PASSING
            && self.evidence.overlooked < OVERLOOKED
    }

    /// What passing runs never come to follows from what failing runs did before. So it tells them apart as well as that
    /// does or better, and goes behind whatever explains all of them.
    fn put_new_code_behind(&self, causes: &mut [Cause]) {
        let explains_all = |cause: &&Cause| {
            let is_common = !cause.is_new_code && !cause.is_effect && cause.standstill.is_none();
            is_common && cause.finding.failed == self.runs.all_failed && cause.weight > 0.0
        };
        let best = causes.iter().filter(explains_all).map(|cause| cause.weight).reduce(f64::max);
        let Some(best) = best else { return };
        let follow: Vec<&mut Cause> =
            causes.iter_mut().filter(|cause| cause.is_new_code && cause.weight > best - BEHIND).collect();
        let behind = BEHIND + (follow.len() as f64).ln();
        for cause in follow {
            cause.weight = best - behind;
            // Its cause is known.
            cause.is_effect = false;
        }
    }

    /// The clue that a pattern is, if it speaks for anything and no part of it says as much.
    fn clue(&self, pattern: Pattern, seen: &'e Seen) -> Option<Clue<'e>> {
        let (run, sighting) = seen.example.as_ref().filter(|_| seen.is_clue)?;
        let evidence = self.evidence_of(seen);
        if evidence <= 0.0 || self.is_said_by_a_part(pattern, evidence) {
            return None;
        }
        let is_new_code = self.knows_all_code() && self.evidence.orders.is_new_code(&pattern);
        let frees =
            |([_, _], [head, _]): ([AccessKind; 2], [SiteId; 2])| self.evidence.free_sites.contains(&head);
        let uses_freed = !is_new_code && (sighting.uses_freed || pattern.conflicts().any(frees));
        let standing = match self.evidence.orders.standing(&pattern) {
            // What is new of one of its accesses is new of the whole.
            _ if is_new_code => Standing::New,
            Standing::OneOrder | Standing::New if uses_freed => Standing::Freed,
            standing => standing,
        };
        let mut weight = evidence + self.prior(pattern, Some(sighting));
        weight -= match standing {
            Standing::Reordered | Standing::Freed => 0.0,
            Standing::OneOrder => self.unseen(self.tuning.one_order),
            Standing::New => self.unseen(self.tuning.effect),
        };
        weight -= if sighting.is_atomic { self.tuning.atomic } else { 0.0 };
        Some(Clue {
            pattern,
            seen,
            sighting,
            run: *run,
            weight,
            standing,
            uses_freed,
            together: None,
            region: None,
            is_new_code,
            is_predicting: false,
        })
    }

    /// How probable a pattern is before any run is looked at: the more there are of its kind, the less each of them.
    /// Two pairs make a quadruple with all pairs that are as near.
    fn prior(&self, pattern: Pattern, sighting: Option<&Sighting>) -> f64 {
        if !self.tuning.simplicity {
            return 0.0;
        }
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
                _ if best.is_new_code => Reason::NewCode,
                Standing::Reordered => Reason::Reordered,
                Standing::Freed => Reason::Freed,
                Standing::OneOrder => Reason::OneOrder,
                Standing::New => Reason::Effect,
            },
        ];
        let together = clues.iter().find_map(|clue| clue.together);
        reasons.extend(
            together.map(|failed| Reason::FreedTogether { failed, all_failed: self.runs.all_failed }),
        );
        let region = clues.iter().find_map(|clue| clue.region.as_deref());
        reasons.extend(region.map(|runs| {
            let [failed, passed] = self.evidence.outcomes(runs);
            Reason::RegionTogether { failed, passed }
        }));
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
            is_new_code: best.is_new_code,
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
        for StoodStill { failing_runs, passing_runs, example: (_, run, standstill) } in
            self.evidence.standstills.values()
        {
            let [failed, passed] = [failing_runs, passing_runs].map(|runs| runs.len() as u32);
            let shown = self.evidence.bits_of(&[failing_runs.as_slice(), passing_runs].concat());
            let evidence = self.weights.evidence(self.strata.spectra(&shown));
            if evidence <= 0.0 {
                continue;
            }
            let mut failing_runs = failing_runs.clone();
            failing_runs.sort_unstable();
            let pattern = Pattern::access(AccessKind::Write, standstill.steps[0].site);
            causes.push(Cause {
                weight: evidence + self.tuning.standstill,
                is_effect: false,
                is_new_code: false,
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
        for mut finding in self.evidence.pairs.findings(None) {
            let Detail::Locon(procedure) = finding.detail else { continue };
            if procedure == Procedure::MissingFromFailing {
                let pattern = finding.pattern;
                finding.failing_runs.retain(|&run| !self.is_cut_short(run, pattern));
                finding.failed = finding.failing_runs.len() as u32;
            }
            // Passing runs show the accesses, but never as they are meant here.
            let shown = self.evidence.bits_of(&finding.failing_runs);
            let evidence = self.weights.evidence(self.strata.spectra(&shown));
            if finding.failed <= explained || evidence <= 0.0 {
                continue;
            }
            let prior = match procedure {
                Procedure::OnlyInFailing => self.pairs.ln(),
                Procedure::MissingFromFailing => self.pairs.ln() + self.tuning.effect,
                Procedure::NeverTogether(_) => 2.0 * self.pairs.ln(),
            };
            indirect.push(Cause {
                weight: evidence - prior,
                is_effect: false,
                is_new_code: false,
                completed: finding.example.accesses.iter().copied().max(),
                reasons: vec![Reason::Procedure(procedure)],
                finding,
                standstill: None,
            });
        }
        indirect
    }

    /// Where a failing run does the second of two accesses and never comes to the first, it ended before that: nothing follows
    /// from its not showing them the other way round.
    fn is_cut_short(&self, run: RunId, pair: Pattern) -> bool {
        let does = |site| self.evidence.failing_sites.get(&run).is_some_and(|sites| sites.contains(&site));
        match *pair.sites() {
            [first, second] => does(second) && !does(first),
            _ => false,
        }
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
        chance::as_good(&signatures, &self.strata, &self.weights, best)
    }
}
