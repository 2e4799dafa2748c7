//! The finding that happens where runs go wrong is told first. What follows from it tells failing from passing runs as well, and can be
//! forced and forbidden like it; but it comes after the place where the outcome is decided.

use localize::{Detail, Finding, Pattern, Profile, Reason};
use report::{Confirmation, NeededStep, Verdict, Window, explanation};

use super::comparison::{
    begins_with, counts, counts_better, explains, is_mere_order, is_of_most, is_of_two_rounds, is_part_of,
    tells_better, with_early_ends,
};
use super::edges::Edges;
use super::place::{Fit, Place, Turn};
use super::rows::of_rows;
use super::{Doings, doings, kept};
use crate::runs::Runs;

/// How probable what happens there is to be the cause.
pub const CONFIDENCE: f64 = 0.9;
/// Chance does as much so rarely.
const BEYOND_DOUBT: f64 = 0.001;

/// What is known of the first finding by a failing run that was made short.
#[derive(Clone, Copy)]
pub struct Narrowed {
    /// What came of holding a thread right in it, and one step earlier or later.
    pub proof: Confirmation,
    /// Whether all of its steps are at the edges, so that this is so of each of them.
    pub is_whole: bool,
}

/// Where a failing run goes wrong that shows the first finding, and what that proves.
pub struct Put {
    pub narrowed: Option<Narrowed>,
    pub window: Window,
}

/// Puts the finding first that happens where the session's failing runs go wrong, as far as that is known. If the
/// first one happens at one of these places, it stays: of several switches that a failure takes, the last can be where it is found out.
pub fn put_first(runs: &mut Runs<'_>, findings: &mut Vec<Finding>) -> anyhow::Result<Option<Put>> {
    // A standstill is there to be seen, and so is who waits and then goes on without another look.
    let is_evident = |finding: &Finding| match &finding.detail {
        Detail::Verdict(reasoning) => {
            reasoning.standstill.is_some() || reasoning.reasons.contains(&Reason::TestedOnce)
        }
        _ => false,
    };
    if findings.first().is_some_and(is_evident) {
        return Ok(None);
    }
    let mut places = Vec::new();
    for window in kept::recall(runs.session) {
        if let Some(doings) = doings(&window.edges, &mut runs.code, &mut runs.names)?
            && !doings.intrusion.is_between_rounds(&doings.profile.run)
        {
            let told = told(&window, &doings, runs);
            places.push(Place::new(doings, proof(&window.edges), told));
        }
    }
    let leading: Vec<&Place> =
        places.iter().filter(|later| !places.iter().any(|sooner| sooner.lets_in(later))).collect();
    if let Some(put) = put_one_first(runs, findings, &leading)? {
        return Ok(Some(put));
    }
    put_one_first(runs, findings, &places.iter().collect::<Vec<_>>())
}

/// The same of some of the places.
fn put_one_first(
    runs: &mut Runs<'_>,
    findings: &mut Vec<Finding>,
    places: &[&Place],
) -> anyhow::Result<Option<Put>> {
    // What the test itself counts to see whether it went wrong, as how many are inside, has a window as well.
    for turn in [Turn::GoesOn, Turn::Counts, Turn::Ends] {
        // What one place shows to begin with a look does not begin with something else at another.
        let begins_before = |first: &&Finding| places.iter().any(|place| place.begins_after(&first.pattern));
        let first = findings.first().filter(|first| !begins_before(first));
        let fit = |place: &Place| first.map_or(Fit::Not, |first| place.fit(&first.pattern));
        // What is a mere order at one place has a look before it at another.
        let fits = places.iter().map(|place| (place.has_look(), fit(place)));
        let has_look = first.is_some_and(|first| has_look_elsewhere(&first.pattern, fits));
        let fitting = places.iter().copied().filter(|place| fit(place) >= Fit::Act);
        let best = fitting.filter(|place| !has_look || place.has_look()).max_by_key(|place| fit(place));
        let is_due = |place: &&Place| place.turn() == turn || place.turn() == Turn::Ends;
        if let Some(place) = best.filter(is_due) {
            let told = of_rows(runs, &place.rows)?.map(|(told, _)| told);
            let order = told.as_ref().map(|told| told.pattern).filter(is_mere_order);
            if fit(place) == Fit::Whole || tell(findings, place, told).is_none() {
                lead(findings, 0);
            }
            let is_whole = findings.first().is_some_and(|first| place.fit(&first.pattern) == Fit::Whole);
            // What decides the order that it begins with decides it.
            let has_order = |first: &Finding| order.is_some_and(|order| begins_with(&first.pattern, &order));
            let proves = is_whole || findings.first().is_some_and(has_order);
            return Ok(Some(place.put(proves, is_whole)));
        }
        for (place, told) in by_what_they_tell(runs, places, turn)? {
            if let Some(proves) = tell(findings, place, told) {
                let is_whole = findings.first().is_some_and(|first| place.fit(&first.pattern) == Fit::Whole);
                return Ok(Some(place.put(proves, is_whole)));
            }
        }
    }
    Ok(None)
}

/// The places whose turn it is, each with what can be told of it.
fn by_what_they_tell<'p>(
    runs: &mut Runs<'_>,
    places: &[&'p Place],
    turn: Turn,
) -> anyhow::Result<Vec<(&'p Place, Option<Finding>)>> {
    let mut told = Vec::new();
    for &place in places.iter().filter(|place| place.turn() == turn) {
        let (finding, difference) = of_rows(runs, &place.rows)?.unzip();
        told.push((place, finding, difference.unwrap_or(0.0)));
    }
    sort_by_what_they_tell(&mut told, |(_, finding, difference)| {
        (finding.as_ref().map(|finding| finding.pattern), *difference)
    });
    Ok(told.into_iter().map(|(place, finding, _)| (place, finding)).collect())
}

/// What breaks into a stretch of code goes before an order, which may be how that is found out; then those come later that tell failing from passing runs
/// less than half as well as the best.
fn sort_by_what_they_tell<T>(told: &mut [T], of: impl Fn(&T) -> (Option<Pattern>, f64)) {
    let most = told.iter().map(|told| of(told).1).fold(0.0, f64::max);
    told.sort_by_key(|told| {
        let (pattern, difference) = of(told);
        (pattern.is_none_or(|pattern| is_mere_order(&pattern)), difference * 2.0 < most)
    });
}

/// Puts what happens at a place first, if it can be told, and says whether the place proves it.
fn tell(findings: &mut Vec<Finding>, place: &Place, told: Option<Finding>) -> Option<bool> {
    let (at, proves) = match choose(findings, place, told.as_ref())? {
        Choice::Known { at, proves } => (at, proves),
        Choice::Told { instead_of } => {
            let at = instead_of.unwrap_or(findings.len());
            findings.splice(at..findings.len().min(at + 1), told);
            (at, true)
        }
    };
    lead(findings, at);
    Some(proves)
}

/// Which finding happens at a place.
enum Choice {
    /// The one at this position, which may be proved by the place.
    Known { at: usize, proves: bool },
    /// What was counted there, which is there already if it takes the position of another one.
    Told { instead_of: Option<usize> },
}

/// Of the findings so far, and what was counted of a place's rows, the one that says best what happens there.
fn choose(findings: &[Finding], place: &Place, told: Option<&Finding>) -> Option<Choice> {
    if let Some(first) = findings.first() {
        if stays(first, place, told) {
            return Some(Choice::Known { at: 0, proves: true });
        }
        if let Some(told) = told {
            // What is counted there besides is no reason to tell less than what is known.
            if is_more_than_counts(place.turn(), counts(first), counts(told)) {
                return None;
            }
            if is_part_of(&told.pattern, &first.pattern) && tells_better(first, Some(told)) {
                return Some(Choice::Known { at: 0, proves: false });
            }
        }
    }
    let find = |is_it: &dyn Fn(&Finding) -> bool| findings.iter().position(is_it);
    let better = find(&|finding| tells_better_of_section(finding, place, told));
    if let Some(at) = better.or_else(|| find(&|finding| tells_what_was_left(finding, place, told))) {
        return Some(Choice::Known { at, proves: true });
    }
    let Some(told) = told else {
        let of_fit = |wanted: Fit| find(&|finding| place.fit(&finding.pattern) == wanted);
        let whole = of_fit(Fit::Whole).map(|at| Choice::Known { at, proves: true });
        return whole.or_else(|| of_fit(Fit::Act).map(|at| Choice::Known { at, proves: false }));
    };
    // What the runs say of it by themselves is more than what is counted here, unless it takes a count that goes down to zero.
    match find(&|finding| finding.pattern == told.pattern) {
        Some(at) if !place.takes_zero(&told.pattern) => Some(Choice::Known { at, proves: true }),
        instead_of => Some(Choice::Told { instead_of }),
    }
}

/// Whether the first finding stays where it is, since it says what happens at a place as well as what was counted there.
fn stays(first: &Finding, place: &Place, told: Option<&Finding>) -> bool {
    if place.is_let_in_by(&first.pattern) {
        return true;
    }
    let is_told = |is_it: &dyn Fn(&Finding) -> bool| told.is_some_and(is_it);
    match place.fit(&first.pattern) {
        // What decides, told without a look that is not there in all failing runs, is told well enough.
        Fit::Order => {
            (told.is_some() || is_mere_order(&first.pattern))
                && tells_better(first, told)
                && !is_told(&|told| {
                    is_of_two_rounds(&first.pattern) && !is_mere_order(&told.pattern)
                        || explains(told, first)
                        || told.failed >= first.failed && place.is_found_out(&first.pattern)
                })
        }
        // So is what decides with something that was looked at before, unless it takes no more to tell what was looked at last.
        Fit::Act => {
            let is_whole = |told: &Finding| {
                let [steps, most] = [told, first].map(|finding| finding.pattern.sites().len());
                place.fit(&told.pattern) == Fit::Whole
                    && steps <= most
                    && !begins_with(&first.pattern, &told.pattern)
            };
            !is_told(&is_whole) || tells_better(first, told)
        }
        _ => false,
    }
}

/// Whether a finding is about another one of several things that are done in one section, of which the edges do not tell which one matters.
fn tells_better_of_section(finding: &Finding, place: &Place, told: Option<&Finding>) -> bool {
    told.is_some_and(|told| {
        place.begins_like(&finding.pattern, &told.pattern) && counts_better(counts(finding), counts(told))
    })
}

/// Whether a finding has what was still to be done where the run ends with what another one finds too early: that is known from the runs that go on.
fn tells_what_was_left(finding: &Finding, place: &Place, told: Option<&Finding>) -> bool {
    place.is_published(&finding.pattern)
        && told.is_none_or(|told| {
            is_mere_order(&told.pattern) && is_of_most(with_early_ends(finding), counts(told))
        })
}

/// Whether a mere order that fits a place without a look is decided at another place, which has one, as well.
fn has_look_elsewhere(order: &Pattern, mut fits: impl Iterator<Item = (bool, Fit)>) -> bool {
    is_mere_order(order) && fits.any(|(has_look, fit)| has_look && fit == Fit::Order)
}

/// Whether a place is about counts, and a finding tells more than that.
fn is_more_than_counts(turn: Turn, finding: [u32; 2], told: [u32; 2]) -> bool {
    turn == Turn::Counts && counts_better(finding, told)
}

/// Where the run goes wrong, for people: what the held thread did last and would do next, and what decides in between.
fn told(window: &kept::Window, doings: &Doings, runs: &mut Runs<'_>) -> Window {
    let Doings { profile, intrusion, .. } = doings;
    let mut step_of = |profile: &Profile, index: Option<&usize>, thread: u32| {
        let access = &profile.run.accesses[*index?];
        let mut told = [runs.names.access(access, thread, profile, &runs.code)];
        explanation::tell_by_calls(&mut told);
        Some(NeededStep::from(&told[0]))
    };
    let (held, other) = (1, 2 + doings.through.len() as u32);
    // Where the run ends while it is held, what it would have done is known from the run in which it has.
    let missing = doings.beyond.as_ref().and_then(|(profile, last)| step_of(profile, last.first(), held));
    let mut step = |index: Option<&usize>, thread: u32| step_of(profile, index, thread);
    // What decides for the first thing that the held thread goes on with, or else all that decides.
    let orders = intrusion.orders(&profile.run);
    let deciding = || orders.iter().filter(|(other, _)| intrusion.decisive.contains(other));
    let first = deciding().map(|(_, act)| act).min();
    let conflicts = deciding().filter(|(_, act)| Some(act) == first).map(|(other, _)| other);
    let after = step(intrusion.look.last(), held);
    let meanwhile = step(conflicts.max().or(intrusion.decisive.last()), other);
    let before = step(intrusion.act.first(), held).or(missing);
    let through =
        doings.through.iter().zip(2..).filter_map(|(index, thread)| step(Some(index), thread)).collect();
    let kept::Window { run, switches, left, .. } = *window;
    Window { run: run.0.into(), switches, left, after, through, meanwhile, before }
}

/// What the runs with a thread held there, and elsewhere, prove.
fn proof(edges: &Edges) -> Option<Confirmation> {
    let (enforced, forbidden) = (edges.held_there, edges.elsewhere);
    let p_value = localize::fisher((enforced.failed, enforced.runs), (forbidden.failed, forbidden.runs));
    let is_clear = p_value < BEYOND_DOUBT && forbidden.failed == 0;
    is_clear.then_some(Confirmation {
        enforced,
        forbidden,
        verdict: Verdict::Confirmed,
        delayed: None,
        came_about: None,
        p_value: Some(p_value),
        turned: None,
        explained_by: None,
        apart: None,
        followed: None,
        narrowed: true,
    })
}

/// Gives a finding the first place, and what probability goes with it.
fn lead(findings: &mut Vec<Finding>, at: usize) {
    let mut first = findings.remove(at);
    let others: f64 = findings.iter().map(|finding| finding.score).sum();
    let own = first.score.max(CONFIDENCE);
    let share = if others > 1.0 - own { (1.0 - own) / others } else { 1.0 };
    for finding in findings.iter_mut() {
        believe(finding, finding.score * share);
    }
    if let Detail::Verdict(reasoning) = &mut first.detail {
        reasoning.reasons.push(Reason::Narrowed);
    }
    believe(&mut first, own);
    findings.insert(0, first);
    for (nth, finding) in findings.iter_mut().enumerate() {
        (finding.rank, finding.tied) = (nth + 1, 1);
    }
}

fn believe(finding: &mut Finding, confidence: f64) {
    finding.score = confidence;
    if let Detail::Verdict(reasoning) = &mut finding.detail {
        reasoning.confidence = confidence;
    }
}

#[cfg(test)]
mod tests {
    use localize::{PatternId, SiteId};

    use super::*;

    /// A slot is looked at and taken twice, and somebody comes upon what is not there: the window of the latter was found first.
    #[test]
    fn what_is_broken_into_goes_before_how_that_is_found_out() {
        let [order, row] = [PatternId::P2, PatternId::P4]
            .map(|id| Some(Pattern::new(id, &vec![SiteId(0); id.steps().len()])));
        let sorted = |mut told: Vec<(Option<Pattern>, f64)>| {
            sort_by_what_they_tell(&mut told, |told| *told);
            told
        };
        assert_eq!(sorted(vec![(order, 1.0), (row, 0.3)]), [(row, 0.3), (order, 1.0)]);
        assert_eq!(sorted(vec![(None, 0.0), (row, 0.3)]), [(row, 0.3), (None, 0.0)]);
        assert_eq!(sorted(vec![(row, 0.4), (row, 0.9)]), [(row, 0.9), (row, 0.4)], "less than half as well");
        assert_eq!(sorted(vec![(row, 0.5), (row, 0.9)]), [(row, 0.5), (row, 0.9)], "as they were found");
    }

    /// A log is found full in one section and rotated in the next, and each round of both counts its lines.
    #[test]
    fn what_is_counted_does_not_take_the_place_of_what_tells_more() {
        let is_more = |turn, told| is_more_than_counts(turn, [19, 0], told);
        assert!(is_more(Turn::Counts, [19, 8]));
        assert!(!is_more(Turn::Counts, [19, 0]) && !is_more(Turn::GoesOn, [19, 8]));
    }

    #[test]
    fn an_order_does_not_stay_by_a_place_without_a_look_if_another_has_one() {
        let of = |id: PatternId| Pattern::new(id, &vec![SiteId(0); id.steps().len()]);
        let fits = [(false, Fit::Whole), (true, Fit::Order)];
        assert!(has_look_elsewhere(&of(PatternId::P2), fits.into_iter()));
        assert!(!has_look_elsewhere(&of(PatternId::P4), fits.into_iter()), "it has one of its own");
        assert!(!has_look_elsewhere(&of(PatternId::P2), fits[..1].iter().copied()));
    }
}
