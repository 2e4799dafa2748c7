//! Where causes come from: clues, standstills, and what Locon concludes.

use rustc_hash::FxHashSet;

use crate::finding::{Detail, Example, Finding};
use crate::locon::Procedure;
use crate::pattern::{Pattern, PatternId};
use crate::run::{AccessKind, RunId, SiteId};
use crate::shape::Shape;
use crate::standstill::StandstillKind;
use crate::suspiciousness::Spectrum;

use super::causes::Cause;
use super::evidence::StoodStill;
use super::new_code;
use super::orders::Standing;
use super::reason::Reason;
use super::regions;
use super::scale::{Clue, Scale};

/// Marks reads that come too early and are made again, until what they wait for has come.
fn mark_waiting(clues: &mut [Clue]) {
    let pairs: Vec<Pattern> = clues.iter().map(|clue| clue.pattern).collect();
    for clue in clues.iter_mut().filter(|clue| clue.pattern.shape() == PatternId::P1.into()) {
        let ends: Vec<SiteId> = clue.pattern.sites().iter().rev().copied().collect();
        clue.is_loop = pairs.contains(&Pattern::new(PatternId::P2, &ends));
    }
}

impl Scale<'_> {
    /// The cause that some clues with the same runs stand for.
    pub fn cause(&self, mut clues: Vec<Clue>) -> Cause {
        new_code::mark_what_follows(self.evidence, &mut clues);
        mark_waiting(&mut clues);
        clues.sort_unstable_by(Clue::compare);
        if let Some(window) = clues.iter().position(|clue| lets_in(clue, &clues[0])) {
            clues[..=window].rotate_right(1);
        }
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
                _ if best.is_second_thread => Reason::SecondThread,
                _ if best.is_new_code => Reason::NewCode,
                _ if best.is_outcome => Reason::Outcome,
                Standing::Reordered => Reason::Reordered,
                Standing::Freed => Reason::Freed,
                Standing::OneOrder => Reason::OneOrder,
                Standing::SetUp => Reason::SetUp,
                Standing::New => Reason::Effect,
            },
        ];
        reasons.extend(self.values_of(best));
        let together = clues.iter().find_map(|clue| clue.together);
        reasons.extend(together.map(|[failed, passed]| Reason::FreedTogether {
            failed,
            passed,
            all_failed: self.runs.all_failed,
        }));
        let region = clues.iter().find_map(|clue| clue.region.as_deref());
        let is_torn = clues.iter().any(|clue| clue.is_torn);
        reasons.extend(region.map(|runs| match self.evidence.outcomes(runs) {
            [failed, passed] if is_torn => Reason::TornTogether { failed, passed },
            [failed, passed] => Reason::RegionTogether { failed, passed },
        }));
        let calls = best.calls.as_ref().filter(|_| region.is_none());
        reasons.extend(calls.map(|(_, runs)| {
            let [failed, passed] = self.evidence.outcomes(runs);
            Reason::CallsTogether { failed, passed }
        }));
        let unfinished = clues.iter().find_map(|clue| clue.unfinished.as_ref());
        reasons.extend(unfinished.map(|&(failed, _)| Reason::Unfinished { failed }));
        reasons.extend(best.sighting.is_atomic.then_some(Reason::Atomic));
        reasons.extend(best.sighting.is_tested_once.then_some(Reason::TestedOnce));
        reasons.extend(best.sighting.is_tally.then_some(Reason::Tally));
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
        let weight = clues.iter().map(|clue| clue.weight).fold(f64::NEG_INFINITY, f64::max);
        Cause {
            weight,
            explained: clues
                .iter()
                .map(|clue| self.evidence.outcomes(clue.runs())[0])
                .max()
                .unwrap_or(failed),
            as_effect: matches!(best.standing, Standing::SetUp | Standing::New).then_some(weight),
            is_new_code: best.is_new_code,
            is_outcome: best.is_outcome,
            new_code: new_code::sites_of(self.evidence, best).collect(),
            order: order_of(&clues),
            completed: clues.iter().map(|clue| clue.sighting.completed() as usize).min(),
            felt: best.seen.felt.clone(),
            finding,
            reasons,
            standstill: None,
        }
    }

    /// With which values a clue counts, if not with all.
    fn values_of(&self, clue: &Clue) -> Option<Reason> {
        let mut kinds = clue.pattern.shape().steps().map(|step| step.kind);
        let kinds = [kinds.next()?, kinds.next()?];
        let values = clue.values?;
        let all = self.evidence.clues.get(&clue.pattern)?;
        Some(Reason::Values { kinds, values, passed: all.passed - clue.seen.passed })
    }

    /// The standstills of hung runs. None is as probable as one that is there to be seen.
    pub fn standstills(&self) -> Vec<Cause> {
        let Spectrum { all_failed, all_passed, .. } = self.runs;
        let mut causes = Vec::new();
        let lacks_signals = self.lacks_signals();
        for StoodStill { failing_runs, passing_runs, example: (_, run, standstill) } in
            self.evidence.standstills.values()
        {
            let [failed, passed] = [failing_runs, passing_runs].map(|runs| runs.len() as u32);
            let shown = self.evidence.bits_of(&[failing_runs.as_slice(), passing_runs].concat());
            // Threads that wait for each other never go on, whatever other runs do. Who waits for a signal may be meant to.
            let is_evident = all_passed == 0 && standstill.kind == StandstillKind::Deadlock;
            let evidence = if is_evident { f64::from(failed) } else { self.evidence_of(&shown) };
            if evidence <= 0.0 {
                continue;
            }
            let mut failing_runs = failing_runs.clone();
            failing_runs.sort_unstable();
            let pattern = Pattern::access(AccessKind::Write, standstill.steps[0].site);
            let is_to_be_seen = standstill.kind == StandstillKind::Deadlock || lacks_signals;
            let prior = if is_to_be_seen { self.tuning.standstill } else { -self.pairs.ln() };
            causes.push(Cause {
                weight: evidence + prior,
                explained: failed,
                as_effect: None,
                is_new_code: false,
                is_outcome: false,
                new_code: Vec::new(),
                completed: None,
                felt: Vec::new(),
                order: None,
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

    /// Whether failing runs stand still for want of a signal: at least a quarter of them. Where most hang otherwise, a signal that came before the wait of a few
    /// is an order like any other: who waits in vain for what another thread does has missed something now and then.
    fn lacks_signals(&self) -> bool {
        let for_signals = self
            .evidence
            .standstills
            .values()
            .filter(|StoodStill { example, .. }| example.2.kind != StandstillKind::Deadlock);
        let runs: FxHashSet<RunId> =
            for_signals.flat_map(|stood| stood.failing_runs.iter().copied()).collect();
        4 * runs.len() as u32 >= self.runs.all_failed
    }

    /// What Locon concludes from what failing runs lack, and from pairs that are harmless one by one, where that
    /// explains more failing runs than any of `causes`.
    pub fn indirect(&self, causes: &[Cause]) -> Vec<Cause> {
        let most =
            |causes: &mut dyn Iterator<Item = &Cause>| causes.map(|cause| cause.explained).max().unwrap_or(0);
        let by_any = most(&mut causes.iter());
        // What most passing runs show is how the test usually goes, and explains nothing of what failing runs lack.
        let is_unusual = |cause: &&Cause| 2 * cause.finding.passed <= self.runs.all_passed;
        let by_unusual = most(&mut causes.iter().filter(is_unusual));
        let mut indirect = Vec::new();
        for mut finding in self.evidence.pairs.findings(None) {
            let Detail::Locon(procedure) = finding.detail else { continue };
            if procedure == Procedure::MissingFromFailing {
                let pattern = finding.pattern;
                // What reads the same the other way round is no other order.
                if is_symmetric(pattern) {
                    continue;
                }
                let is_usual = finding.passed * 2 > self.runs.all_passed;
                finding.failing_runs.retain(|&run| !self.is_cut_short(run, pattern, is_usual));
                finding.failed = finding.failing_runs.len() as u32;
            }
            // Passing runs show the accesses, but never as they are meant here.
            let shown = self.evidence.bits_of(&finding.failing_runs);
            let evidence = self.evidence_of(&shown);
            let explained = match procedure {
                Procedure::MissingFromFailing => by_unusual,
                _ => by_any,
            };
            if finding.failed <= explained || evidence <= 0.0 {
                continue;
            }
            let prior = match procedure {
                Procedure::OnlyInFailing => self.pairs.ln(),
                Procedure::MissingFromFailing => self.pairs.ln() + self.tuning.effect,
                Procedure::NeverTogether(_) => 2.0 * self.pairs.ln(),
            };
            let seen = self.evidence.clues.get(&finding.pattern).and_then(|seen| seen.example.as_ref());
            let is_outcome = procedure == Procedure::OnlyInFailing
                && seen.is_some_and(|(_, sighting)| sighting.is_kept_in_order && !sighting.uses_freed);
            let weight = evidence - prior - if is_outcome { self.unseen(self.tuning.effect) } else { 0.0 };
            let outcome = is_outcome.then_some(Reason::Outcome);
            indirect.push(Cause {
                weight,
                explained: finding.failed,
                as_effect: is_outcome.then_some(weight),
                is_new_code: false,
                is_outcome,
                new_code: Vec::new(),
                order: None,
                completed: finding.example.accesses.iter().copied().max(),
                felt: Vec::new(),
                reasons: [Reason::Procedure(procedure)].into_iter().chain(outcome).collect(),
                finding,
                standstill: None,
            });
        }
        indirect
    }

    /// Where a failing run does the second of two accesses and never comes to the first, it ended before that: nothing follows
    /// from its not showing them the other way round. Nor does it where it never comes to the second one, if that is `usual`: passing
    /// runs, too, come to the first one before the second, and to the first one again after that.
    fn is_cut_short(&self, run: RunId, pair: Pattern, usual: bool) -> bool {
        let does = |site| self.evidence.reaches.get(&run).is_some_and(|reach| reach.comes_to(site).is_some());
        match *pair.sites() {
            [first, second] => !does(first) && does(second) || usual && does(first) && !does(second),
            _ => false,
        }
    }
}

/// Whether a triple is what follows from a window, or from two decisions that cross: whoever breaks into it was itself in between two steps when the other
/// thread came. What the same runs show began with that.
fn lets_in(window: &Clue, triple: &Clue) -> bool {
    let (outer, inner) = (window.pattern.sites(), triple.pattern.sites());
    (window.is_window && !window.is_entered || window.pattern.is_write_skew())
        && !window.is_new_code
        && window.standing == triple.standing
        && window.run == triple.run
        && inner.len() == 3
        && outer[2..] == inner[..2]
        && window.sighting.completed() < triple.sighting.completed()
}

/// What to look at if it is asked what made a cause possible: the clue that is shown for it, or if that is a window, the pair within.
fn order_of(clues: &[Clue]) -> Option<Pattern> {
    let shown = clues.first()?;
    if shown.pattern.shape().len() < Shape::MAX_STEPS {
        return Some(shown.pattern);
    }
    let mut parts = regions::parts(&shown.pattern).filter(|_| shown.is_window);
    parts.find(|part| clues.iter().any(|clue| clue.pattern == *part))
}

/// Whether both accesses of a pair are the same.
fn is_symmetric(pair: Pattern) -> bool {
    let mut kinds = pair.shape().steps().map(|step| step.kind);
    matches!(*pair.sites(), [first, second] if first == second) && kinds.next() == kinds.next()
}
