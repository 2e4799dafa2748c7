//! Orders that let another one come about.
//!
//! A thread looks whether all is done, too early: before another thread has said that there is more to do. Then it uses a result that
//! is not there. The use before the result is what only failing runs show, so it explains them best; the look before that
//! was said is seen in passing runs as well, where the result was there in time by luck. Still it is the look that went wrong.
//!
//! Neither order follows from the other: each thread does its part of the one and then its part of the other, so that all four ways they can
//! come are possible. If nevertheless no run has the second without the first, and the first is seen more often in failing runs, then it is what lets the second happen.
//! What most passing runs show is how the test usually goes, however sure it is that no run fails without it: with thousands of runs, any threads' being under way at the same time is of that kind.
//! What is only counted leads to nothing either, since nobody decides by it: it is a sign of threads that are under way at the same time.
//! Nor does a read lead to anything that the reader means to replace by an exchange that compares, and that in most passing runs fails for the other thread's write: there the program itself takes care of it.
//! What falls into a triple that all failing runs show, in a part of them, is led by it: the longer a thread is kept from going on, the more the others do meanwhile. And who reads what was there for a
//! moment only came after one write and before another: what it found leads to what came then.
//! A triple that was broken into leads in the same way, if both threads have done all of it before either does its part of the other.
//! A triple that begins with a read leads in the same way to an order that comes after its first two steps: a thread acts by an outdated look, and then another uses what it should not have ended.
//! An order that encloses the other is another matter (`fold.rs`), and so is what passing runs show no more often than that: nothing tells the two apart.

use std::cmp::Reverse;

use rustc_hash::FxHashSet;

use crate::finding::{Example, Finding};
use crate::pattern::{Pattern, PatternId};
use crate::run::{AccessKind, RunId, SiteId};
use crate::shape::Shape;
use crate::suspiciousness::Spectrum;

use super::causes::Cause;
use super::clues::{Order, Sighting};
use super::evidence::Seen;
use super::orders::Standing;
use super::reason::Reason;
use super::regions;
use super::scale::{COVERED, Scale, TELLING};

/// How much (as logarithm) less probable it is that what comes about only after something else is to blame.
const FOLLOWS: f64 = 4.0;

/// Failing runs of which each shows that something was given away first: half of them would by chance.
const GIVEN_AWAY: u32 = 7;

/// Puts what lets the first of the causes come about before it, and before others of the kind. They are sorted by weight.
pub(super) fn put_first(scale: &Scale, causes: &mut [Cause]) {
    put_leading_first(scale, causes);
    if let Some(first) = causes.first_mut() {
        tell_given_away(scale, first);
    }
}

fn put_leading_first(scale: &Scale, causes: &mut [Cause]) {
    let Some(first) = causes.first() else { return };
    let Some(lead) = lead_to(scale, first, &causes[1..]) else { return };
    let (lead, best) = (1 + lead, first.weight);
    let pattern = causes[lead].finding.pattern;
    let follows = |cause: &Cause| cause.weight > best - FOLLOWS && is_led_by(scale, cause, pattern);
    let following: Vec<usize> = (0..causes.len()).filter(|&at| at != lead && follows(&causes[at])).collect();
    let behind = FOLLOWS + (following.len() as f64).ln();
    let (before, after) = match (pattern.sites().len(), first.finding.pattern.sites().len()) {
        (3, Shape::MAX_STEPS) => (Reason::Broken, Reason::FallsIn),
        _ => (Reason::Leads, Reason::Follows),
    };
    for at in following {
        causes[at].weight = best - behind;
        causes[at].reasons.push(after);
    }
    causes[lead].weight = best;
    causes[lead].reasons.push(before);
    if pattern.sites().len() == 2 {
        tell_crossing(scale, &mut causes[lead]);
    }
}

/// A read before a write is in order by itself. It is told with what the reader had seen of the writing thread before, if it hardly comes without that: then
/// the thread was in between two steps.
fn tell_crossing(scale: &Scale, cause: &mut Cause) {
    let Some(pair) = scale.evidence.clues.get(&cause.finding.pattern) else { return };
    let told = cause.finding.pattern;
    let of_pair = |pattern: &Pattern| pattern.sites().ends_with(told.sites());
    let is_covered = |seen: &Seen| {
        f64::from(failing_in_both(scale, seen, pair)) >= COVERED * f64::from(pair.failed)
            && 2 * seen.passed >= pair.passed
    };
    let crossings =
        scale.evidence.crossings.iter().filter(|(pattern, seen)| of_pair(pattern) && is_covered(seen));
    tell_by(scale, cause, crossings);
}

/// What somebody has just written is written over by one who had given something away to that one before: it is told as going on with what is no longer its own,
/// since whoever has it now is not to blame. Where two threads merely do the same, either may come first to what they take, in as many failing runs.
fn tell_given_away(scale: &Scale, cause: &mut Cause) {
    let triple = cause.finding.pattern;
    let Some(led) = scale.evidence.clues.get(&triple) else { return };
    if triple.shape() != PatternId::P5.into() || led.failed < GIVEN_AWAY {
        return;
    }
    let is_count = |pattern: &Pattern| {
        let given = regions::parts(pattern).next().and_then(|pair| scale.evidence.clues.get(&pair));
        given.and_then(|seen| seen.example.as_ref()).is_none_or(|(_, given)| given.is_tally)
    };
    let quadruples = scale.evidence.clues.iter().filter(|(pattern, lead)| {
        pattern.shape() == PatternId::P9.into()
            && pattern.sites()[2..] == triple.sites()[..2]
            && pattern.sites().chunks(2).all(|order| order[0] != order[1])
            && lead.example.as_ref().is_some_and(|(_, sighting)| sighting.is_close)
            && !is_usual(lead.passed, scale.runs.all_passed)
            && failing_in_both(scale, lead, led) == led.failed
            && scale.evidence_of(&lead.runs) >= TELLING + scale.pairs.ln()
            && !is_count(pattern)
    });
    tell_by(scale, cause, quadruples);
}

/// Tells a cause by the best of these patterns, if there is one.
fn tell_by<'a>(scale: &'a Scale, cause: &mut Cause, by: impl Iterator<Item = (&'a Pattern, &'a Seen)>) {
    let best = by.max_by_key(|(pattern, seen)| (seen.failed, Reverse(seen.passed), Reverse(**pattern)));
    let Some((&pattern, seen)) = best else { return };
    let Some((run, sighting)) = &seen.example else { return };
    let accesses = sighting.accesses().iter().map(|&index| index as usize).collect();
    cause.finding = Finding {
        pattern,
        failed: seen.failed,
        passed: seen.passed,
        failing_runs: scale.evidence.failing_runs(seen),
        example: Example { run: *run, id: sighting.shape, accesses },
        ..cause.finding.clone()
    };
    let Spectrum { failed, passed, all_failed, all_passed } = scale.evidence.spectrum(seen);
    cause.reasons[0] = Reason::Runs { failed, all_failed, passed, all_passed };
}

/// The place, among some causes, of the one that lets another one come about: of several, the one that explains most.
fn lead_to(scale: &Scale, cause: &Cause, others: &[Cause]) -> Option<usize> {
    let is_tally =
        |pattern: Pattern| known(scale, pattern).is_some_and(|(_, (_, sighting))| sighting.is_tally);
    let leads = others.iter().enumerate().filter(|(_, other)| {
        is_led_by(scale, cause, other.finding.pattern) && !is_tally(other.finding.pattern)
    });
    let explained = |pattern: Pattern| {
        scale.evidence.clues.get(&pattern).map_or(f64::NEG_INFINITY, |seen| scale.evidence_of(&seen.runs))
    };
    // A window has one already.
    let own = regions::parts(&cause.finding.pattern).filter(|&part| Some(part) != cause.order);
    let own = own.map(explained).fold(f64::NEG_INFINITY, f64::max);
    let known = |at: usize| explained(others[at].finding.pattern);
    let best =
        leads.map(|(at, _)| at).reduce(|one, other| if known(other) > known(one) { other } else { one });
    let is_triple = |at: usize| others[at].finding.pattern.sites().len() == 3;
    best.filter(|&at| is_triple(at) || cause.order == Some(cause.finding.pattern) || known(at) > own)
}

/// Whether a cause comes about only after this, which passing runs show more often than that.
fn is_led_by(scale: &Scale, cause: &Cause, lead: Pattern) -> bool {
    match lead.sites().len() {
        2 => is_led_by_order(scale, cause, lead),
        3 => {
            is_met_in(scale, cause, lead)
                || is_outdated_by(scale, cause, lead)
                || is_led_by_broken(scale, cause, lead)
        }
        Shape::MAX_STEPS => is_let_in_by(scale, cause, lead),
        _ => false,
    }
}

/// Whether whoever breaks into a triple was itself in between two steps when the other thread came: it gave something away and went on
/// with it, or looked at something that the other one has changed since. That begins before the triple does, and passing runs show it where nobody minds.
fn is_let_in_by(scale: &Scale, cause: &Cause, quadruple: Pattern) -> bool {
    let known = |pattern: Pattern| scale.evidence.clues.get(&pattern);
    let (triple, outer) = (cause.finding.pattern, quadruple.sites());
    let is_apart = [PatternId::P9, PatternId::P12, PatternId::P14, PatternId::P18];
    if triple.sites().len() != 3
        || triple.sites()[..2] != outer[2..]
        || !is_apart.into_iter().any(|row| quadruple.shape() == row.into())
    {
        return false;
    }
    let shared = regions::parts(&quadruple).nth(1).and_then(known);
    let Some(((led, lead), shared)) = known(triple).zip(known(quadruple)).zip(shared) else { return false };
    let explained = scale.evidence_of(&lead.runs);
    lead.passed > led.passed
        && !is_usual(lead.passed, scale.runs.all_passed)
        && lead.example.as_ref().is_some_and(|(_, sighting)| sighting.is_close)
        && scale.evidence.orders.standing(&quadruple) == Standing::Reordered
        && explained >= TELLING + scale.pairs.ln()
        && explained >= TELLING + scale.evidence_of(&shared.runs)
        && f64::from(failing_in_both(scale, lead, led)) >= COVERED * f64::from(led.failed)
}

/// Whether a quadruple is what happens to be done as well while a thread breaks into another's triple: all failing runs with it show the
/// triple, which breaks in by one of the quadruple's orders, and so do others, which had no time for the rest.
fn is_met_in(scale: &Scale, cause: &Cause, triple: Pattern) -> bool {
    let quadruple = cause.finding.pattern;
    let known = |pattern: Pattern| scale.evidence.clues.get(&pattern);
    let Some((met, whole)) = known(quadruple).zip(known(triple)) else { return false };
    let all_failed = f64::from(scale.runs.all_failed);
    let mut orders = regions::parts(&quadruple);
    quadruple.sites().len() == Shape::MAX_STEPS
        && orders.any(|order| regions::parts(&triple).any(|part| part == order))
        && f64::from(whole.failed) >= COVERED * all_failed
        && f64::from(cause.explained) < COVERED * f64::from(whole.failed)
        && failing_in_both(scale, met, whole) == met.failed
        && !is_usual(whole.passed, scale.runs.all_passed)
        && scale.evidence.orders.standing(&triple) == Standing::Reordered
        && scale.evidence_of(&whole.runs) >= TELLING + scale.pairs.ln()
}

/// Whether a cause is an order that comes about only after a thread has looked at what another one changed before it acted: by that it did what it should
/// not have done, and the order is what comes of it.
fn is_outdated_by(scale: &Scale, cause: &Cause, triple: Pattern) -> bool {
    let looks = triple.shape().steps().next().is_some_and(|step| step.kind == AccessKind::Read);
    looks && cause.finding.pattern.sites().len() == 2 && is_led_by_order(scale, cause, triple)
}

/// Whether a cause comes about only after this pair, or the first order of this triple, which passing runs show more often than that.
fn is_led_by_order(scale: &Scale, cause: &Cause, pair: Pattern) -> bool {
    let Some(followed) = cause.order else { return false };
    let Some(((order, led), (lead, example))) = known(scale, followed).zip(known(scale, pair)) else {
        return false;
    };
    (is_before(example, led) || is_found_by(example, pair, led, followed))
        && lets_come_about(scale, cause, order, pair, lead)
        && !is_noticed(scale, pair, lead)
}

/// Whether a cause comes about only after one thread has broken into this triple of another: two threads that each find nobody there both
/// go in, and then each counts the other. That the read came before the other's write is how threads meet anyway.
fn is_led_by_broken(scale: &Scale, cause: &Cause, triple: Pattern) -> bool {
    let Some(followed) = cause.order.filter(|order| order.sites().len() < Shape::MAX_STEPS) else {
        return false;
    };
    let Some(((order, led), (lead, example))) = known(scale, followed).zip(known(scale, triple)) else {
        return false;
    };
    is_whole_before(example, led) && lets_come_about(scale, cause, order, triple, lead)
}

fn known<'a>(scale: &'a Scale, pattern: Pattern) -> Option<(&'a Seen, &'a (RunId, Sighting))> {
    let seen = scale.evidence.clues.get(&pattern)?;
    Some((seen, seen.example.as_ref()?))
}

/// Whether no failing run has a cause's order without what may lead to it, and passing runs show the latter more often, but do not usually.
fn lets_come_about(scale: &Scale, cause: &Cause, order: &Seen, pattern: Pattern, lead: &Seen) -> bool {
    lead.passed > order.passed
        // Where the two mostly come together, passing runs too, it is chance which of them does less harm.
        && lead.passed >= 2 * order.passed
        && !is_usual(lead.passed, scale.runs.all_passed)
        // The cause may stand for others that break into the same code.
        && f64::from(lead.failed) >= COVERED * f64::from(cause.explained)
        && scale.evidence.orders.standing(&pattern) == Standing::Reordered
        && scale.evidence_of(&lead.runs) >= TELLING + scale.pairs.ln()
        // One run that has it without the other is enough to know better.
        && failing_in_both(scale, lead, order) == order.failed
}

/// Whether this may be in most passing runs, as far as so many of them tell: within one standard error.
fn is_usual(passed: u32, all_passed: u32) -> bool {
    let all = f64::from(all_passed.max(1));
    let share = f64::from(passed) / all;
    share + (share * (1.0 - share) / all).sqrt() > 0.5
}

/// Whether most passing runs with a read before another thread's write notice it: the reader was to replace what it had read by an
/// exchange that compares, which found something else and failed. That is what such an exchange is for.
fn is_noticed(scale: &Scale, pair: Pattern, lead: &Seen) -> bool {
    let clues = &scale.evidence.clues;
    let examples = clues.iter().filter_map(|(pattern, seen)| Some((pattern, &seen.example.as_ref()?.1)));
    let exchanges: FxHashSet<SiteId> =
        examples.flat_map(|(pattern, sighting)| sighting.updates(pattern)).collect();
    // One that fails has only looked.
    let is_failed_exchange = |pattern: &Pattern| {
        pattern.shape() == PatternId::P4.into()
            && pattern.sites()[0] == pair.sites()[0]
            && exchanges.contains(&pattern.sites()[2])
    };
    let mut noticed = vec![0u64; lead.runs.len()];
    for (_, seen) in clues.iter().filter(|(pattern, _)| is_failed_exchange(pattern)) {
        let both = seen.runs.iter().zip(&lead.runs).map(|(seen, lead)| seen & lead);
        noticed.iter_mut().zip(both).for_each(|(noticed, both)| *noticed |= both);
    }
    2 * scale.evidence.outcomes(&noticed)[1] > lead.passed
}

/// Whether the one, a pair or the beginning of a triple, is an order of the same kind as one of the other, with each access before all that its thread does in the other.
/// Where several threads do the same, one of the two may be another thread, which then comes before that in time.
fn is_before((run, lead): &(RunId, Sighting), (other_run, other): &(RunId, Sighting)) -> bool {
    let Some(Order { threads: [head, tail], accesses: [first, second] }) = lead.orders().next() else {
        return false;
    };
    let goes_along = |of: Order| {
        (of.threads[0] == head || of.threads[1] == tail) && first < of.accesses[0] && second < of.accesses[1]
    };
    let mut steps = other.accesses().iter().zip(other.threads());
    run == other_run
        && other.orders().any(goes_along)
        && steps.all(|(&at, &thread)| (thread != head || first < at) && (thread != tail || second < at))
}

/// Whether the same two threads do all of the one, a triple, before each does its part of the other.
fn is_whole_before((run, lead): &(RunId, Sighting), (other_run, other): &(RunId, Sighting)) -> bool {
    let mut own = lead.accesses().iter().zip(lead.threads());
    run == other_run
        && own.all(|(&at, thread)| {
            let mut steps = other.accesses().iter().zip(other.threads()).filter(|step| step.1 == thread);
            steps.clone().next().is_some() && steps.all(|(&step, _)| at < step)
        })
}

/// Whether the one, a pair, is what the read of the other has found: it came after the one write and before the other, and that it found what was there
/// for a moment says more than what came then. Where both writes are the same code, it found what the round before had left, as it should.
fn is_found_by(
    (run, found): &(RunId, Sighting),
    pair: Pattern,
    (other_run, other): &(RunId, Sighting),
    order: Pattern,
) -> bool {
    let read = |sighting: &Sighting, step: usize| sighting.accesses().get(step).copied();
    run == other_run
        && order.shape() == PatternId::P1.into()
        && pair.shape() == PatternId::P2.into()
        && pair.sites()[0] != order.sites()[1]
        && read(found, 1) == read(other, 0)
}

/// Failing runs that show both.
fn failing_in_both(scale: &Scale, one: &Seen, other: &Seen) -> u32 {
    let both: Vec<u64> = one.runs.iter().zip(&other.runs).map(|(one, other)| one & other).collect();
    scale.evidence.outcomes(&both)[0]
}
