//! The finding that happens where runs go wrong is told first. What follows from it tells failing from passing runs as well, and can be
//! forced and forbidden like it; but it comes after the place where the outcome is decided.

use localize::{AccessKind, Detail, Finding, Pattern, Profile, Reason};
use report::{Confirmation, NeededStep, Verdict, Window, explanation};

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
    let stays = |first: &&Finding| match place.fit(&first.pattern) {
        // What decides, told without a look that is not there in all failing runs, is told well enough.
        Fit::Order => {
            (told.is_some() || is_mere_order(&first.pattern))
                && !told
                    .as_ref()
                    .is_some_and(|told| is_of_two_rounds(&first.pattern) && !is_mere_order(&told.pattern))
                && tells_better(first, told.as_ref())
                && !told.as_ref().is_some_and(|told| explains(told, first))
                && !(told.as_ref().is_some_and(|told| told.failed >= first.failed)
                    && place.is_found_out(&first.pattern))
        }
        // So is what decides with something that was looked at before, unless it takes no more to tell what was looked at last.
        Fit::Act => {
            let is_whole = |told: &Finding| {
                let steps = [told, first].map(|finding| finding.pattern.sites().len());
                place.fit(&told.pattern) == Fit::Whole
                    && steps[0] <= steps[1]
                    && !begins_with(&first.pattern, &told.pattern)
            };
            !told.as_ref().is_some_and(is_whole) || tells_better(first, told.as_ref())
        }
        _ => false,
    };
    let is_told_from_other_side = |first: &&Finding| place.is_let_in_by(&first.pattern);
    if findings.first().filter(|first| stays(first) || is_told_from_other_side(first)).is_some() {
        lead(findings, 0);
        return Some(true);
    }
    // What is counted there besides is no reason to tell less than what is known.
    let is_told_already = |first: &&Finding| {
        told.as_ref().is_some_and(|told| is_more_than_counts(place.turn(), counts(first), counts(told)))
    };
    if findings.first().filter(is_told_already).is_some() {
        return None;
    }
    if let (Some(first), Some(told)) = (findings.first(), &told)
        && is_part_of(&told.pattern, &first.pattern)
        && tells_better(first, Some(told))
    {
        lead(findings, 0);
        return Some(false);
    }
    let of_fit = |wanted: Fit| findings.iter().position(|finding| place.fit(&finding.pattern) == wanted);
    // Of what is done to several things in one section, the edges do not tell which one matters.
    let told_better = told.as_ref().and_then(|told| {
        let begins_alike = |finding: &&Finding| place.begins_like(&finding.pattern, &told.pattern);
        let better = |finding: &&Finding| counts_better(counts(finding), counts(told));
        findings.iter().position(|finding| begins_alike(&finding) && better(&finding))
    });
    if let Some(at) = told_better {
        lead(findings, at);
        return Some(true);
    }
    // Where the run ends with what another one finds too early, what was still to be done is known from the runs that go on.
    let is_unfinished = |finding: &Finding| {
        place.is_published(&finding.pattern) && told.as_ref().is_none_or(|told| is_mere_order(&told.pattern))
    };
    let unfinished = findings.iter().position(|finding| {
        is_unfinished(finding)
            && told.as_ref().is_none_or(|told| is_of_most(with_early_ends(finding), counts(told)))
    });
    if let Some(at) = unfinished {
        lead(findings, at);
        return Some(true);
    }
    let known = match &told {
        Some(told) => findings.iter().position(|finding| finding.pattern == told.pattern),
        None => of_fit(Fit::Whole),
    };
    // What the runs say of it by themselves is more than what is counted here, unless it takes a count that goes down to zero.
    if let Some(at) = known {
        if let Some(told) = told.filter(|told| place.takes_zero(&told.pattern)) {
            findings[at] = told;
        }
        lead(findings, at);
        return Some(true);
    }
    if let Some(told) = told {
        findings.push(told);
        lead(findings, findings.len() - 1);
        return Some(true);
    }
    if let Some(at) = of_fit(Fit::Act) {
        lead(findings, at);
        return Some(false);
    }
    None
}

/// Whether a mere order that fits a place without a look is decided at another place, which has one, as well.
fn has_look_elsewhere(order: &Pattern, mut fits: impl Iterator<Item = (bool, Fit)>) -> bool {
    is_mere_order(order) && fits.any(|(has_look, fit)| has_look && fit == Fit::Order)
}

/// Whether a place is about counts, and a finding tells more than that.
fn is_more_than_counts(turn: Turn, finding: [u32; 2], told: [u32; 2]) -> bool {
    turn == Turn::Counts && counts_better(finding, told)
}

/// The runs that show it, with those that end before it is complete.
fn with_early_ends(finding: &Finding) -> [u32; 2] {
    let Detail::Verdict(reasoning) = &finding.detail else { return counts(finding) };
    let early = reasoning.reasons.iter().filter_map(|reason| match reason {
        Reason::Unfinished { failed } => Some(*failed),
        _ => None,
    });
    [finding.failed + early.sum::<u32>(), finding.passed]
}

fn counts(finding: &Finding) -> [u32; 2] {
    [finding.failed, finding.passed]
}

/// Whether a finding says how a mere order comes about, in most of the runs that have it: it ends with that.
fn explains(finding: &Finding, order: &Finding) -> bool {
    let [own, others] = [finding, order].map(counts);
    ends_with(&finding.pattern, &order.pattern) && is_of_most(own, others)
}

fn ends_with(pattern: &Pattern, order: &Pattern) -> bool {
    let is_more = is_mere_order(order) && !is_mere_order(pattern);
    is_more && pattern.sites().ends_with(order.sites())
}

/// Whether a finding is a mere order, of a look and another thread's write, and what the thread that has looked then does to the same data: the order says less.
fn begins_with(pattern: &Pattern, order: &Pattern) -> bool {
    let is_look = pattern.shape().steps().next().is_some_and(|step| step.kind == AccessKind::Read);
    let is_its_order = pattern.shape().steps().take(2).eq(order.shape().steps());
    let is_more = is_mere_order(order) && pattern.sites().len() == 3;
    is_more && is_look && is_its_order && pattern.sites().starts_with(order.sites())
}

/// Whether all that each thread does in a finding is one place in the code, come to in two rounds about two things: it says no more than the order in one of them,
/// by how the other round went.
fn is_of_two_rounds(pattern: &Pattern) -> bool {
    matches!(pattern.sites(), &[one, two, three, four] if one == four && two == three)
}

fn is_of_most([failed, passed]: [u32; 2], [others_failed, others_passed]: [u32; 2]) -> bool {
    failed * 4 >= others_failed * 3 && passed <= others_passed
}

/// What has more than the order that decides, and nothing of the look, tells failing from passing runs by what it has besides: unless there is something to
/// compare it with, that may be anything.
fn is_mere_order(pattern: &Pattern) -> bool {
    pattern.sites().len() == 2
}

/// Whether a mere order has an access in common with what has more to it: where three threads are needed, the order of two of them is told by less than
/// the runs say.
fn is_part_of(order: &Pattern, pattern: &Pattern) -> bool {
    let is_shared = pattern.sites().iter().any(|site| order.sites().contains(site));
    is_mere_order(order) && !is_mere_order(pattern) && is_shared
}

/// Does a finding tell failing from passing runs better than another?
fn tells_better(finding: &Finding, other: Option<&Finding>) -> bool {
    other.is_none_or(|other| counts_better(counts(finding), counts(other)))
}

/// Whether these numbers of failing and passing runs say more than others, by a tenth at least: an order is in a run or two more or less than what
/// has more to it, by how either is looked for.
pub fn counts_better([failed, passed]: [u32; 2], [others_failed, others_passed]: [u32; 2]) -> bool {
    let is_less = |one: u32, other: u32| one < other && one * 10 <= other * 9;
    let is_better = is_less(passed, others_passed) || is_less(others_failed, failed);
    failed >= others_failed && passed <= others_passed && is_better
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

    #[test]
    fn one_run_of_many_tells_nothing() {
        assert!(counts_better([30, 0], [30, 1]) && counts_better([30, 20], [30, 25]));
        assert!(!counts_better([30, 24], [30, 25]) && !counts_better([30, 24], [30, 24]));
        assert!(counts_better([30, 24], [20, 24]) && !counts_better([30, 24], [29, 24]));
        assert!(!counts_better([30, 24], [40, 30]), "the other has more of them");
    }

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

    /// A session is found, taken away and closed, and found to be closed: the last two are told by all failing runs, as well.
    #[test]
    fn what_says_how_an_order_comes_about_goes_before_it() {
        let of = |id: PatternId, sites: &[u32]| {
            Pattern::new(id, &sites.iter().map(|&site| SiteId(site)).collect::<Vec<_>>())
        };
        let (whole, order) = (of(PatternId::P14, &[1, 2, 3, 4]), of(PatternId::P2, &[3, 4]));
        assert!(ends_with(&whole, &order) && !ends_with(&order, &order));
        assert!(!ends_with(&whole, &of(PatternId::P2, &[1, 2])), "another order");
        assert!(is_of_most([8, 0], [9, 0]) && is_of_most([6, 1], [8, 1]));
        assert!(!is_of_most([5, 0], [8, 0]) && !is_of_most([8, 2], [8, 1]));
    }

    /// A seat is held by one guest, freed, held by another one, and paid for by the first; the order of the two payments is a part of it.
    #[test]
    fn an_order_is_a_part_of_what_has_more_to_it() {
        let of = |id: PatternId, sites: &[u32]| {
            Pattern::new(id, &sites.iter().map(|&site| SiteId(site)).collect::<Vec<_>>())
        };
        let (held, paid) = (of(PatternId::P4, &[1, 1, 2]), of(PatternId::P2, &[3, 2]));
        assert!(is_part_of(&paid, &held) && !is_part_of(&held, &paid));
        assert!(!is_part_of(&of(PatternId::P2, &[3, 4]), &held), "that is about something else");
        assert!(!is_part_of(&of(PatternId::P2, &[1, 2]), &paid), "neither has more to it");
    }

    /// Two look for a picture, find none, and put one there: that one looks before the other has put it there is the same with less to it.
    #[test]
    fn a_look_with_its_act_says_more_than_the_order_it_begins_with() {
        let of = |id: PatternId, sites: &[u32]| {
            Pattern::new(id, &sites.iter().map(|&site| SiteId(site)).collect::<Vec<_>>())
        };
        let (whole, order) = (of(PatternId::P7, &[1, 2, 2]), of(PatternId::P1, &[1, 2]));
        assert!(begins_with(&whole, &order) && !begins_with(&order, &order));
        assert!(!begins_with(&whole, &of(PatternId::P3, &[2, 2])), "what comes after the look");
        assert!(!begins_with(&of(PatternId::P8, &[1, 2, 2]), &of(PatternId::P3, &[1, 2])), "nobody looks");
    }

    /// A price is put into a cache and taken out again, twice, of two things: the first of them went well.
    #[test]
    fn what_was_done_in_two_rounds_is_one_order() {
        let of = |sites: &[u32]| {
            let id = if sites.len() == 4 { PatternId::P9 } else { PatternId::P3 };
            Pattern::new(id, &sites.iter().map(|&site| SiteId(site)).collect::<Vec<_>>())
        };
        assert!(is_of_two_rounds(&of(&[1, 2, 2, 1])));
        assert!(!is_of_two_rounds(&of(&[1, 2, 2, 3])) && !is_of_two_rounds(&of(&[1, 2])));
    }

    #[test]
    fn an_order_has_no_look() {
        let of = |id: PatternId| Pattern::new(id, &vec![SiteId(0); id.steps().len()]);
        assert!(is_mere_order(&of(PatternId::P2)) && !is_mere_order(&of(PatternId::P4)));
    }

    #[test]
    fn runs_that_end_before_it_is_complete_show_it_as_well() {
        let reasons = vec![Reason::First, Reason::Unfinished { failed: 11 }];
        let reasoning = localize::Reasoning { confidence: 0.1, reasons, standstill: None };
        let pattern = Pattern::new(PatternId::P12, &[SiteId(0); 4]);
        let example =
            localize::Example { run: localize::RunId(1), id: pattern.shape(), accesses: Vec::new() };
        let (rank, tied, score, failed, passed) = (1, 1, 0.1, 12, 6);
        let (failing_runs, detail) = (Vec::new(), Detail::Verdict(Box::new(reasoning)));
        let finding = Finding { rank, tied, score, failed, passed, pattern, failing_runs, example, detail };
        assert_eq!((counts(&finding), with_early_ends(&finding)), ([12, 6], [23, 6]));
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
