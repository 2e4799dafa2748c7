//! How much clues weigh.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use crate::pattern::{Pattern, PatternId};
use crate::run::{AccessKind, RunId, SiteId};
use crate::shape::Shape;
use crate::suspiciousness::Spectrum;

use super::calls::CalledPair;
use super::chance::{self, Signature};
use super::clues::Sighting;
use super::evidence::{Evidence, KnownRun, Seen};
use super::orders::Standing;
use super::regions;
use super::strata::Strata;
use super::torn::{self, Torn};
use super::tuning::Tuning;
use super::unfinished;
use super::values::{self, Values};
use super::weight::Weights;

/// Passing runs that come to all code that such runs come to, but for the rarest.
const ENOUGH_PASSING: u32 = 10;
/// Unless so much of it may be overlooked.
const OVERLOOKED: f64 = 0.01;
/// Of the failing runs that show a pair, the share that shows the whole window: some may show another one.
pub(super) const COVERED: f64 = 0.9;
/// The evidence (as logarithm) above which it is no chance that failing runs show more of something.
pub(super) const TELLING: f64 = 5.0;

/// How many times (as logarithm) more probable a look is to be to blame that is not made again after a wait, as an effect is less probable:
/// who is woken has no promise that nobody else comes first, and what was broken with it in the same section only goes along.
const TESTED_ONCE: f64 = 7.0;
/// In so many failing runs what was in between is hardly there by chance.
const ENOUGH_ENTERED: u32 = 3;

/// A clue that tells failing from passing runs.
pub(super) struct Clue<'e> {
    pub pattern: Pattern,
    pub seen: &'e Seen,
    pub sighting: &'e Sighting,
    pub run: RunId,
    /// The logarithm of its probability, up to a constant.
    pub weight: f64,
    pub standing: Standing,
    /// Whether it uses memory that has been freed, at places where passing runs come by.
    pub uses_freed: bool,
    /// How many failing and passing runs this and the other uses of freed memory are seen in, if it counts for all of them.
    pub together: Option<[u32; 2]>,
    /// The runs that show this or another access in the same stretch of code, as bits, if these explain more.
    pub region: Option<Vec<u64>>,
    /// Whether these are the runs that show it or the other way in which the same two variables are torn apart.
    pub is_torn: bool,
    /// The pair that it is at places of the same calls, and the runs that show any of these, as bits, if these explain more.
    pub calls: Option<(CalledPair, Vec<u64>)>,
    /// How many failing runs end before it is complete, and all that it counts for, as bits, if these explain more.
    pub unfinished: Option<(u32, Vec<u64>)>,
    /// What its first two accesses read or wrote, if it counts only with that.
    pub values: Option<Values>,
    /// Whether passing runs never come to one of its accesses, or never a second thread.
    pub is_new_code: bool,
    /// Whether the creation or the end of threads keeps all of it in order: that nothing came in between is what other interleavings have left.
    pub is_outcome: bool,
    /// Whether it is the latter.
    pub is_second_thread: bool,
    /// Whether it has made its difference only after such code was run that another clue of the same cause is about.
    pub is_after_new_code: bool,
    /// It is the window in which one of its pairs comes about.
    pub is_window: bool,
    /// A thread comes in between two steps of another: its second pair is what comes about then, and its first one tells nothing by itself: it is in
    /// passing runs as well, which then do the rest in time.
    pub is_entered: bool,
    /// It is but a loop's next round: both ends of a triple are one access, or a read that comes too early is made again until it does not.
    pub is_loop: bool,
    /// The order of another clue follows from its own, so that the other is to blame (Locon, section 4.1).
    pub is_predicting: bool,
}

impl Clue<'_> {
    /// The runs that it counts for, as bits.
    pub fn runs(&self) -> &[u64] {
        let unfinished = self.unfinished.as_ref().map(|(_, runs)| runs.as_slice());
        let calls = self.calls.as_ref().map(|(_, runs)| runs.as_slice());
        self.region.as_deref().or(calls).or(unfinished).unwrap_or(&self.seen.runs)
    }

    /// Of the clues of one cause, the one that says most about it comes first: a cause before an effect, data before
    /// the words of locks; an unserializable triple before its pairs, unless it is but a loop's next round, and likewise two
    /// decisions that cross: a read before another's write is in order by itself. A window says more than the pair that comes about in it.
    pub fn compare(&self, other: &Self) -> Ordering {
        let rank = |clue: &Self| {
            let sites = clue.pattern.sites();
            let says_most = clue.pattern.is_write_skew() || clue.is_window && !clue.is_entered;
            // What opens a window that is merely entered tells nothing by itself, and may have nothing to do with it.
            let length = match sites.len() {
                3 => 0,
                2 => 2,
                _ if says_most => 0,
                _ if clue.is_entered => 1,
                _ => 3,
            };
            (
                (clue.is_after_new_code, clue.is_new_code),
                (clue.standing, clue.sighting.is_tally, clue.sighting.is_atomic, clue.is_predicting),
                (clue.is_loop, length),
            )
        };
        rank(self)
            .cmp(&rank(other))
            .then(other.weight.total_cmp(&self.weight))
            .then(self.sighting.completed().cmp(&other.sighting.completed()))
            .then(self.pattern.cmp(&other.pattern))
    }
}

/// What a clue explains.
struct Explains<'e> {
    /// Of which runs fail, as a logarithm.
    evidence: f64,
    /// See [`Clue::unfinished`].
    unfinished: Option<(u32, Vec<u64>)>,
    window: Option<Window<'e>>,
}

/// The window in which a pair comes about.
#[derive(Clone, Copy)]
struct Window<'e> {
    pair: &'e Seen,
    is_entered: bool,
}

/// Whether a thread that has done one thing right after the other found a second one in between its own two steps: it uses what that one has published, or
/// ends what that one has looked up, or goes by what that one is about to change. Who has created the thread that comes too early need only do its part before that.
fn is_entered(pattern: Pattern, sighting: &Sighting) -> bool {
    let is_published = pattern.shape() == PatternId::P12.into() && !sighting.is_by_creator;
    let is_looked_up = [PatternId::P14, PatternId::P18].map(Into::into).contains(&pattern.shape());
    sighting.is_close && (is_published || is_looked_up)
}

/// Weighs clues.
pub(super) struct Scale<'e> {
    pub evidence: &'e Evidence,
    pub tuning: &'e Tuning,
    strata: Strata,
    pub runs: Spectrum,
    weights: Weights,
    /// How many pairs there are, and how many pairs and triples.
    pub pairs: f64,
    triples: f64,
    /// The runs that show either way in which two variables are torn apart, as bits.
    pub both_ways: BTreeMap<Torn, Vec<u64>>,
}

impl<'e> Scale<'e> {
    pub fn new(evidence: &'e Evidence, tuning: &'e Tuning) -> Self {
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
            both_ways: if tuning.torn { torn::both_ways(evidence.clues.iter()) } else { BTreeMap::new() },
        }
    }

    /// Whether outcomes are compared within several groups of runs.
    pub fn has_strata(&self) -> bool {
        self.strata.iter().nth(1).is_some()
    }

    /// How well some runs, as bits, explain which runs fail.
    pub fn evidence_of(&self, runs: &[u64]) -> f64 {
        self.weights.evidence(self.strata.spectra(runs))
    }

    /// How much (as logarithm) a clue loses whose accesses no passing run shows. If few accesses of these were looked
    /// at, they may well have made them.
    pub fn unseen(&self, loss: f64) -> f64 {
        let unless_overlooked = (-loss).exp();
        -(unless_overlooked + (1.0 - unless_overlooked) * self.evidence.overlooked).ln()
    }

    /// Whether passing runs would have shown code that they come to.
    fn knows_all_code(&self) -> bool {
        self.tuning.new_code
            && self.runs.all_passed >= ENOUGH_PASSING
            && self.evidence.overlooked < OVERLOOKED
    }

    /// The clue that a pattern is, if it speaks for anything and no part of it says as much.
    pub fn clue(&self, pattern: Pattern, seen: &'e Seen) -> Option<Clue<'e>> {
        if seen.is_clue { self.weighed(pattern, seen) } else { None }
    }

    /// The windows that are entered by what a thread has seen right before it looks: where it comes by again later, Unicorn's
    /// quadruples tell that.
    pub fn entered(&self) -> impl Iterator<Item = Clue<'e>> {
        let is_known = |pattern: Pattern| {
            self.evidence.clues.get(&pattern).is_some_and(|seen| self.clue(pattern, seen).is_some())
        };
        let crossings = self.evidence.crossings.iter();
        let of_row = crossings.filter(|(pattern, _)| pattern.shape() == PatternId::P12.into());
        let windows = of_row.filter_map(|(&pattern, seen)| self.weighed(pattern, seen));
        windows.filter(move |clue| clue.is_entered && !is_known(clue.pattern))
    }

    fn weighed(&self, pattern: Pattern, seen: &'e Seen) -> Option<Clue<'e>> {
        let (run, sighting) = seen.example.as_ref()?;
        if self.is_half_fixed(pattern, sighting) {
            return None;
        }
        let mut evidence = self.evidence_of(&seen.runs);
        let mut unfinished =
            if self.tuning.unfinished { unfinished::runs_of(pattern, seen, self.evidence) } else { None };
        unfinished.take_if(|(_, runs)| self.evidence_of(runs) <= evidence);
        if let Some((_, runs)) = &unfinished {
            evidence = self.evidence_of(runs);
        }
        let window = self.window_of(pattern, seen, evidence).filter(|_| unfinished.is_none());
        if let Some(Window { pair, .. }) = window {
            evidence = self.evidence_of(&pair.runs);
        } else if evidence <= 0.0 || self.is_said_by_a_part(pattern, evidence.max(self.both_ways(pattern))) {
            return None;
        }
        Some(self.made(pattern, seen, (*run, sighting), Explains { evidence, unfinished, window }))
    }

    /// How well the runs explain which of them fail that show a pattern or the other way in which it tears two variables apart.
    fn both_ways(&self, pattern: Pattern) -> f64 {
        let runs = torn::torn(&pattern).and_then(|torn| self.both_ways.get(&torn));
        runs.map_or(f64::NEG_INFINITY, |runs| self.evidence_of(runs))
    }

    /// A use of freed memory that says nothing about which runs fail.
    pub fn use_of_freed(&self, pattern: Pattern, seen: &'e Seen) -> Option<Clue<'e>> {
        let (run, sighting) = seen.example.as_ref().filter(|(_, sighting)| sighting.surely_uses_freed)?;
        let nothing = Explains { evidence: 0.0, unfinished: None, window: None };
        Some(self.made(pattern, seen, (*run, sighting), nothing))
    }

    /// A pattern that counts only with these values, and explains so much then.
    pub fn clue_with(
        &self,
        pattern: Pattern,
        seen: &'e Seen,
        evidence: f64,
        values: Values,
    ) -> Option<Clue<'e>> {
        let (run, sighting) = seen.example.as_ref()?;
        let explains = Explains { evidence, unfinished: None, window: None };
        Some(Clue { values: Some(values), ..self.made(pattern, seen, (*run, sighting), explains) })
    }

    /// A clue that explains so much, with where it is seen first.
    fn made(
        &self,
        pattern: Pattern,
        seen: &'e Seen,
        (run, sighting): (RunId, &'e Sighting),
        explains: Explains<'e>,
    ) -> Clue<'e> {
        let Explains { evidence, unfinished, window } = explains;
        let orders = &self.evidence.orders;
        let is_second_thread =
            self.knows_all_code() && !sighting.uses_freed && orders.is_one_threads(&pattern);
        let is_new_code = self.knows_all_code() && orders.is_new_code(&pattern) || is_second_thread;
        let frees =
            |([_, _], [head, _]): ([AccessKind; 2], [SiteId; 2])| self.evidence.free_sites.contains(&head);
        let uses_freed = !is_new_code && (sighting.uses_freed || pattern.conflicts().any(frees));
        let is_outcome = sighting.is_kept_in_order && pattern.shape().len() < Shape::MAX_STEPS && !uses_freed;
        let standing = match self.evidence.orders.standing(&pattern) {
            // What is new of one of its accesses is new of the whole.
            _ if is_new_code || is_outcome => Standing::New,
            Standing::OneOrder | Standing::New if uses_freed => Standing::Freed,
            Standing::OneOrder if sighting.sets_up(0) && pattern.shape() == PatternId::P2.into() => {
                Standing::SetUp
            }
            standing => standing,
        };
        let mut weight = evidence + self.prior(pattern, Some(sighting));
        weight -= match standing {
            Standing::Reordered | Standing::Freed => 0.0,
            Standing::OneOrder => self.unseen(self.tuning.one_order),
            Standing::SetUp | Standing::New => self.unseen(self.tuning.effect),
        };
        weight -= if sighting.is_atomic { self.tuning.atomic } else { 0.0 };
        weight += if sighting.is_tested_once { TESTED_ONCE } else { 0.0 };
        weight -= if sighting.is_tally { self.tuning.tally } else { 0.0 };
        Clue {
            pattern,
            seen,
            sighting,
            run,
            weight,
            standing,
            uses_freed,
            together: None,
            region: window.map(|window| window.pair.runs.clone()),
            is_torn: false,
            calls: None,
            // Failing runs that end within the window have all of it but the last access.
            is_entered: window.is_some_and(|window| window.is_entered)
                || unfinished.is_some() && is_entered(pattern, sighting),
            unfinished,
            values: None,
            is_new_code,
            is_outcome,
            is_second_thread,
            is_after_new_code: false,
            is_window: window.is_some(),
            is_loop: pattern.sites().len() == 3 && pattern.sites()[0] == pattern.sites()[2],
            is_predicting: false,
        }
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

    /// Whether one of the two variables of a quadruple could not be otherwise, so that the other one tells it all: threads begin or end
    /// in between, or passing runs, too, use what was set up only after that.
    fn is_half_fixed(&self, pattern: Pattern, sighting: &Sighting) -> bool {
        let sites = pattern.sites();
        let mut uses = sighting.uses_of_what_it_sets_up().map(|[head, tail]| [sites[head], sites[tail]]);
        sites.len() == Shape::MAX_STEPS
            && (sighting.is_kept_in_order || uses.any(|sites| !self.evidence.orders.is_turned(sites)))
    }

    /// Whether one of the two pairs of a quadruple explains the failing runs as well: then the other adds nothing. Of two decisions
    /// that cross, neither is the one to blame if both do: whoever comes second may not find what was there before, so that no run has one
    /// pair without the other.
    fn is_said_by_a_part(&self, pattern: Pattern, evidence: f64) -> bool {
        let says_as_much = |part: Pattern| {
            let seen = self.evidence.clues.get(&part);
            seen.is_some_and(|seen| self.evidence_of(&seen.runs) >= evidence)
        };
        let mut parts = regions::parts(&pattern);
        match pattern.shape().len() {
            Shape::MAX_STEPS if pattern.is_write_skew() => {
                parts.clone().any(says_as_much) && !parts.all(says_as_much)
            }
            Shape::MAX_STEPS => parts.any(says_as_much),
            _ => false,
        }
    }

    /// The pair of a quadruple that comes about in a window alone: hardly a failing run shows it without the other pair, which goes the other
    /// way and is seen more often in failing runs than in others. One thread got in between what the other did; that it came too
    /// early or too late for one of the two variables is what follows.
    ///
    /// Where the other pair comes first, as where something is published before it is complete, or looked up and used after its
    /// end, it may be in all runs, which then do the rest in time. There it is enough that both threads do one thing right after the other, and that passing runs have both pairs both ways.
    fn window_of(&self, pattern: Pattern, seen: &'e Seen, evidence: f64) -> Option<Window<'e>> {
        if pattern.shape().len() != Shape::MAX_STEPS {
            return None;
        }
        let known = |part: Pattern| Some((part, self.evidence.clues.get(&part)?));
        let parts: Vec<(Pattern, &Seen)> = regions::parts(&pattern).filter_map(known).collect();
        let [one, other] = *parts.first_chunk()?;
        let says_as_much = |part: &Seen| self.evidence_of(&part.runs) >= evidence;
        let ((within, pair), (beside, other)) = match [one, other].map(|(_, part)| says_as_much(part)) {
            [true, false] => (one, other),
            [false, true] => (other, one),
            _ => return None,
        };
        let is_covered = f64::from(seen.failed) >= COVERED * f64::from(pair.failed);
        let is_harm = matches!(self.evidence.orders.standing(&within), Standing::Reordered | Standing::Freed);
        let is_telling = self.evidence_of(&other.runs) >= TELLING;
        let is_entered = !is_telling
            && seen.failed >= ENOUGH_ENTERED
            && within.sites() == &pattern.sites()[2..]
            && self.evidence.orders.standing(&beside) == Standing::Reordered
            && seen.example.as_ref().is_some_and(|(_, sighting)| is_entered(pattern, sighting));
        (is_covered && is_harm && (is_telling || is_entered)).then_some(Window { pair, is_entered })
    }

    /// In how many trials chance gives a clue that is as good as the best.
    pub fn as_good_by_chance(&self) -> u32 {
        let mut simplest: FxHashMap<&[u64], f64> = FxHashMap::default();
        let mut best = f64::NEG_INFINITY;
        for (seen, prior) in self.hypotheses() {
            let known = simplest.entry(&seen.runs).or_insert(prior);
            *known = known.max(prior);
            if seen.failed > 0 {
                best = best.max(self.evidence_of(&seen.runs) + prior);
            }
        }
        let signatures: Vec<Signature> =
            simplest.into_iter().map(|(runs, prior)| Signature { runs, prior }).collect();
        chance::as_good(&signatures, &self.strata, &self.weights, best)
    }

    /// All that may be a clue, with how probable it is before any run is looked at.
    fn hypotheses(&self) -> impl Iterator<Item = (&'e Seen, f64)> {
        let Evidence { clues, valued, .. } = self.evidence;
        let clues = clues.iter().filter(|(_, seen)| seen.is_clue);
        let losses = values::losses(valued);
        let valued = valued.iter().filter(|_| self.tuning.values);
        clues.map(|(&pattern, seen)| (seen, self.prior(pattern, None))).chain(
            valued.map(move |(&(pattern, _), seen)| (seen, self.prior(pattern, None) - losses[&pattern])),
        )
    }
}
