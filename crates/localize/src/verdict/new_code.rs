//! Code that passing runs never come to is run because of what failing runs did before, and nothing that they did after that is the reason.
//!
//! Such code tells failing from passing runs as well as its cause does, or better, if that does no harm now and then: it goes behind
//! whatever explains all failing runs, or else most of them, since what it follows from may show itself in several ways; not behind what most passing
//! runs show as well. So does what the creation or the end of threads keeps in order, as a look at what is left when all others have ended: no schedule has it
//! otherwise, and what did not come in between is decided elsewhere. But what comes about only after it, in most failing runs, is no cause of it: it goes behind in turn, if it explains no more.
//!
//! Two writes do no harm before somebody reads what is left. Where new code is the look of the first one's thread at what the second has left there, it goes on
//! from that order at once: both are told together, before any other order that the new code may follow from as well.

use crate::finding::{Example, Finding};
use crate::pattern::{Pattern, PatternId};
use crate::run::{RunId, SiteId};
use crate::suspiciousness::Spectrum;

use super::causes::Cause;
use super::evidence::Evidence;
use super::reason::Reason;
use super::scale::{Clue, Scale};

/// How much (as logarithm) less probable all that follows from a cause is than the cause itself.
const BEHIND: f64 = 1.0;

/// Marks the clues, of one cause, that have made their difference only after new code was run: they are no reason why it was.
pub(super) fn mark_what_follows(evidence: &Evidence, clues: &mut [Clue]) {
    let new: Vec<SiteId> = clues.iter().flat_map(|clue| sites_of(evidence, clue)).collect();
    for clue in clues.iter_mut().filter(|clue| !clue.is_new_code) {
        clue.is_after_new_code = is_run_before(evidence, &new, &clue.seen.felt);
    }
}

/// Where a clue is about new code. What one thread sets up is seen only if another uses it, so passing runs may well come there.
pub(super) fn sites_of<'e>(
    evidence: &'e Evidence,
    clue: &Clue<'e>,
) -> impl Iterator<Item = SiteId> + use<'e> {
    let (pattern, sighting) = (clue.pattern, clue.sighting);
    let is_new = clue.is_new_code;
    let places = (0..pattern.sites().len()).filter(move |&place| is_new && !sighting.sets_up(place));
    places.map(move |place| pattern.sites()[place]).filter(|&site| !evidence.orders.visits(site))
}

/// Puts new code behind what it may follow from, and what comes after new code behind that.
pub(super) fn put_in_order(scale: &Scale, causes: &mut Vec<Cause>) {
    let new: Vec<usize> =
        (0..causes.len()).filter(|&new| causes[new].is_new_code || causes[new].is_outcome).collect();
    let sources: Vec<(usize, Source)> = new
        .iter()
        .filter_map(|&new| source_of(scale, &causes[new], causes).map(|source| (new, source)))
        .collect();
    let may_look = new.into_iter().filter(|_| scale.tuning.looks);
    let looks: Vec<(usize, usize)> =
        may_look.filter_map(|new| Some((new, tell_with_look(scale, new, causes)?))).collect();
    let followers: Vec<(usize, Source)> =
        sources.into_iter().filter(|(new, source)| causes[*new].weight > source.weight - BEHIND).collect();
    let behind = BEHIND + (followers.len() as f64).ln();
    for (new, source) in followers {
        causes[new].weight = source.weight - behind;
        // Its cause is known; where that explains a part only, it may as well be another one.
        causes[new].as_effect = causes[new].as_effect.filter(|_| !source.explains_all);
    }
    for later in 0..causes.len() {
        let comes_before =
            |new: &&Cause| new.is_new_code && has_come_before(scale.evidence, new, &causes[later]);
        let before = causes.iter().filter(comes_before).map(|new| new.weight).reduce(f64::max);
        if let Some(weight) = before.filter(|_| is_common(&causes[later])) {
            causes[later].weight = causes[later].weight.min(weight - BEHIND);
        }
    }
    // A look that is told with its writes need not be told again.
    for &(look, writes) in &looks {
        causes[writes].weight = causes[writes].weight.max(causes[look].weight);
    }
    for &(look, _) in looks.iter().rev() {
        causes.remove(look);
    }
}

/// What new code may follow from.
struct Source {
    weight: f64,
    explains_all: bool,
}

fn source_of(scale: &Scale, new: &Cause, causes: &[Cause]) -> Option<Source> {
    let all_failed = scale.runs.all_failed;
    let best_of = |least: u32| {
        let explains = |cause: &&Cause| {
            cause.explained >= least && cause.weight > 0.0 && may_be_source(scale, new, cause)
        };
        causes.iter().filter(explains).map(|cause| cause.weight).reduce(f64::max)
    };
    let source = |explains_all| move |weight| Source { weight, explains_all };
    best_of(all_failed).map(source(true)).or_else(|| best_of(all_failed.div_ceil(2)).map(source(false)))
}

/// Whether new code may follow from this, as far as that explains enough failing runs.
fn may_be_source(scale: &Scale, new: &Cause, cause: &Cause) -> bool {
    is_common(cause)
        && !has_come_before(scale.evidence, new, cause)
        // What most passing runs do is how the test usually goes.
        && 2 * cause.finding.passed <= scale.runs.all_passed
}

/// Has the order of two writes whose outcome new code looks at told with that look, before whatever else it may follow from. Returns which cause
/// that is.
fn tell_with_look(scale: &Scale, new: usize, causes: &mut [Cause]) -> Option<usize> {
    let Spectrum { all_failed, all_passed, .. } = scale.runs;
    let new = &causes[new];
    let sources = || {
        let all = causes.iter().enumerate();
        all.filter(|(_, cause)| cause.explained == all_failed && may_be_source(scale, new, cause))
    };
    let told =
        sources().filter_map(|(at, cause)| Some((at, with_look(scale, &cause.finding, &new.finding)?)));
    let (at, finding) =
        told.max_by(|(one, _), (other, _)| causes[*one].weight.total_cmp(&causes[*other].weight))?;
    let others = sources().filter(|&(other, _)| other != at).map(|(_, cause)| cause.weight);
    let ahead = others.fold(f64::NEG_INFINITY, f64::max);
    let cause = &mut causes[at];
    if cause.weight > 0.0 {
        cause.weight = cause.weight.max(ahead + BEHIND);
    }
    let (failed, passed) = (finding.failed, finding.passed);
    cause.reasons[0] = Reason::Runs { failed, all_failed, passed, all_passed };
    cause.reasons.push(Reason::Look);
    cause.finding = finding;
    Some(at)
}

/// Two writes with the look, which is new code, of the first one's thread at what the second has left.
fn with_look(scale: &Scale, writes: &Finding, look: &Finding) -> Option<Finding> {
    let threads = |finding: &Finding| {
        let (run, sighting) = scale.evidence.clues.get(&finding.pattern)?.example.as_ref()?;
        Some((*run, sighting.threads().first().copied()?, sighting.threads().last().copied()?))
    };
    let ((run, writer, _), (other_run, _, reader)) = threads(writes).zip(threads(look))?;
    let (&[first, second], &[wrote, overwrote]) = (writes.pattern.sites(), &writes.example.accesses[..])
    else {
        return None;
    };
    let (&[.., left, looked], &[.., found, looked_at]) = (look.pattern.sites(), &look.example.accesses[..])
    else {
        return None;
    };
    let looks = [PatternId::P2, PatternId::P5].into_iter().any(|row| look.pattern.shape() == row.into());
    let goes_on = (run, writer, second, overwrote) == (other_run, reader, left, found);
    if writes.pattern.shape() != PatternId::P3.into() || !looks || !goes_on {
        return None;
    }
    let pattern = Pattern::new(PatternId::P5, &[first, second, looked]);
    let accesses = vec![wrote, overwrote, looked_at];
    // No passing run comes to such code.
    Some(Finding { pattern, example: Example { run, id: pattern.shape(), accesses }, ..look.clone() })
}

fn is_common(cause: &Cause) -> bool {
    !cause.is_new_code && !cause.is_outcome && cause.as_effect.is_none() && cause.standstill.is_none()
}

/// Whether new code was run before another cause had made its difference, and explains as many failing runs.
fn has_come_before(evidence: &Evidence, new: &Cause, other: &Cause) -> bool {
    new.explained >= other.explained && is_run_before(evidence, &new.new_code, &other.felt)
}

/// Whether most of some failing runs come to new code before these moments. What comes about after it may have come about
/// before, by itself, in a few of them.
fn is_run_before(evidence: &Evidence, new: &[SiteId], felt: &[(RunId, u32)]) -> bool {
    let comes_before = |&&(run, moment): &&(RunId, u32)| {
        let first = evidence
            .reaches
            .get(&run)
            .and_then(|reach| new.iter().filter_map(|&site| reach.comes_to(site)).min());
        first.is_some_and(|at| at < moment)
    };
    2 * felt.iter().filter(comes_before).count() > felt.len()
}
