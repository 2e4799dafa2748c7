//! The finding that happens where runs go wrong is told first. What follows from it tells failing from passing runs as well, and can be
//! forced and forbidden like it; but it comes after the place where the outcome is decided.

use localize::{
    Detail, Example, Finding, Intrusion, Pattern, Reason, Reasoning, Row, Run, RunId, SiteId, Step,
};
use report::{Confirmation, NeededStep, Verdict, Window, explanation};
use runner::RunNumber;

use super::edges::Edges;
use super::{Doings, doings, kept};
use crate::analysis;
use crate::runs::Runs;

/// How probable what happens there is to be the cause.
const CONFIDENCE: f64 = 0.9;
/// Rows that are looked for in the session's runs.
const MOST_ROWS: usize = 64;
/// By how much a row has to be more frequent in failing runs than in passing ones, of one.
const LEAST_DIFFERENCE: f64 = 0.25;
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
    // What the test itself counts to see whether it went wrong, as how many are inside, has a window as well.
    for turn in [Turn::GoesOn, Turn::Counts, Turn::Ends] {
        // What one place shows to begin with a look does not begin with something else at another.
        let begins_before = |first: &&Finding| places.iter().any(|place| place.begins_after(&first.pattern));
        let first = findings.first().filter(|first| !begins_before(first));
        let fit = |place: &Place| first.map_or(Fit::Not, |first| place.fit(&first.pattern));
        let best = places.iter().filter(|place| fit(place) >= Fit::Act).max_by_key(|place| fit(place));
        let is_due = |place: &&Place| place.turn() == turn || place.turn() == Turn::Ends;
        if let Some(place) = best.filter(is_due) {
            let is_whole = fit(place) == Fit::Whole;
            lead(findings, 0);
            return Ok(Some(place.put(is_whole, is_whole)));
        }
        for place in places.iter().filter(|place| place.turn() == turn) {
            if let Some(proves) = tell(runs, findings, place)? {
                let is_whole = findings.first().is_some_and(|first| place.fit(&first.pattern) == Fit::Whole);
                return Ok(Some(place.put(proves, is_whole)));
            }
        }
    }
    Ok(None)
}

/// Puts what happens at a place first, if it can be told, and says whether the place proves it.
fn tell(runs: &mut Runs<'_>, findings: &mut Vec<Finding>, place: &Place) -> anyhow::Result<Option<bool>> {
    let told = of_rows(runs, &place.rows)?;
    // What decides, told without a look that is not there in all failing runs, is told well enough.
    let stays = |first: &&Finding| {
        place.fit(&first.pattern) == Fit::Order
            && (told.is_some() || is_mere_order(&first.pattern))
            && tells_better(first, told.as_ref())
    };
    if findings.first().filter(stays).is_some() {
        lead(findings, 0);
        return Ok(Some(true));
    }
    let of_fit = |wanted: Fit| findings.iter().position(|finding| place.fit(&finding.pattern) == wanted);
    let known = match &told {
        Some(told) => findings.iter().position(|finding| finding.pattern == told.pattern),
        None => of_fit(Fit::Whole),
    };
    // What the runs say of it by themselves is more than what is counted here.
    if let Some(at) = known {
        lead(findings, at);
        return Ok(Some(true));
    }
    if let Some(told) = told {
        findings.push(told);
        lead(findings, findings.len() - 1);
        return Ok(Some(true));
    }
    if let Some(at) = of_fit(Fit::Act) {
        lead(findings, at);
        return Ok(Some(false));
    }
    Ok(None)
}

/// What has more than the order that decides, and nothing of the look, tells failing from passing runs by what it has besides: unless there is something to
/// compare it with, that may be anything.
fn is_mere_order(pattern: &Pattern) -> bool {
    pattern.sites().len() == 2
}

/// Does a finding tell failing from passing runs better than another?
fn tells_better(finding: &Finding, other: Option<&Finding>) -> bool {
    other.is_none_or(|other| {
        finding.passed <= other.passed
            && finding.failed >= other.failed
            && (finding.passed, finding.failed) != (other.passed, other.failed)
    })
}

/// Where the run goes wrong, for people: what the held thread did last and would do next, and what decides in between.
fn told(window: &kept::Window, doings: &Doings, runs: &mut Runs<'_>) -> Window {
    let Doings { profile, intrusion, .. } = doings;
    let mut step = |index: Option<&usize>, thread: u32| {
        let access = &profile.run.accesses[*index?];
        let mut told = [runs.names.access(access, thread, profile, &runs.code)];
        explanation::tell_by_calls(&mut told);
        Some(NeededStep::from(&told[0]))
    };
    let (held, other) = (1, 2);
    // What the held thread goes on with, or else all that decides.
    let orders = intrusion.orders(&profile.run);
    let conflicts = orders.iter().map(|(other, _)| other).filter(|other| intrusion.decisive.contains(other));
    let after = step(intrusion.look.last(), held);
    let meanwhile = step(conflicts.max().or(intrusion.decisive.last()), other);
    let before = step(intrusion.act.first(), held);
    let kept::Window { run, switches, left, .. } = *window;
    Window { run: run.0.into(), switches, left, after, meanwhile, before }
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

/// How much of a finding is what happens there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Fit {
    Not,
    /// It is the order that decides, without what the held thread had looked at.
    Order,
    /// It has the order that decides.
    Act,
    /// And it begins with what the held thread had done just before.
    Whole,
}

/// When it is a place's turn to be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Turn {
    GoesOn,
    /// It is about what is counted.
    Counts,
    /// The run ends there with what others do: where it goes on from another place, that is what brought it here.
    Ends,
}

/// Where a failing run goes wrong: the places in the code of what happens there.
struct Place {
    look: Vec<SiteId>,
    /// What another thread does in between and what the held one does then, to the same data.
    orders: Vec<(SiteId, SiteId)>,
    /// What decides and what the held thread does to the same data after that and before it acts: it is too late by then, as where two threads
    /// have looked and each of them goes on to what it does by that.
    sooner: Vec<(SiteId, SiteId)>,
    /// All that others do in between, if the run ends with that: what the held thread would have done then is not on record.
    ends_with: Option<Vec<SiteId>>,
    rows: Vec<(u8, Row)>,
    proof: Option<Confirmation>,
    window: Window,
}

impl Place {
    fn new(doings: Doings, proof: Option<Confirmation>, window: Window) -> Place {
        let Doings { profile, intrusion, too_early } = doings;
        let site = |index: usize| profile.run.accesses[index].site;
        let orders = intrusion.deciding_orders(&profile.run);
        let orders = orders.into_iter().map(|(one, other)| (site(one), site(other)));
        let sooner =
            sooner(&profile.run, &intrusion).into_iter().map(|(one, other)| (site(one), site(other)));
        Place {
            look: intrusion.look.iter().map(|&index| site(index)).collect(),
            sooner: sooner.collect(),
            orders: orders.chain(too_early.iter().copied()).collect(),
            ends_with: intrusion
                .act
                .is_empty()
                .then(|| intrusion.between.iter().map(|&index| site(index)).collect()),
            rows: intrusion.rows(&profile.run),
            proof,
            window,
        }
    }

    /// What is known of a finding that was put first since it happens here.
    fn put(&self, proves: bool, is_whole: bool) -> Put {
        let proof = self.proof.filter(|_| proves);
        Put { narrowed: proof.map(|proof| Narrowed { proof, is_whole }), window: self.window.clone() }
    }

    fn turn(&self) -> Turn {
        self.rows.first().map_or(Turn::Ends, |(_, best)| match best.is_about_counts {
            true => Turn::Counts,
            false => Turn::GoesOn,
        })
    }

    fn fit(&self, pattern: &Pattern) -> Fit {
        let sites = pattern.sites().iter().copied();
        let steps: Vec<(Step, SiteId)> = pattern.shape().steps().zip(sites).collect();
        if self.ends_with.as_ref().is_some_and(|between| self.begins(&steps, between)) {
            return Fit::Whole;
        }
        let mut best = Fit::Not;
        for second in 1..steps.len() {
            for first in 0..second {
                let ((one, other_site), (two, own_site)) = (steps[first], steps[second]);
                let is_order = one.variable == two.variable && one.thread != two.thread;
                let looked = steps[..second].iter().find(|(step, _)| step.thread == two.thread);
                let order = (other_site, own_site);
                let has_looked = looked.is_some_and(|(_, site)| self.look.contains(site));
                let decides = self.orders.contains(&order) || has_looked && self.sooner.contains(&order);
                // What comes then about other data follows from it.
                let ends = steps[second + 1..].iter().all(|(step, _)| step.variable == two.variable);
                if !is_order || !decides || !ends {
                    continue;
                }
                let fit = match looked {
                    Some((_, site)) if self.look.contains(site) => Fit::Whole,
                    // Where the run ends in between, the order is all that there is to tell.
                    None if (self.look.is_empty() || self.ends_with.is_some()) && steps.len() == 2 => {
                        Fit::Whole
                    }
                    // Where it has come to the same place in an earlier round, that is not what it had looked at.
                    Some((_, site)) if *site != own_site => Fit::Act,
                    None if steps.len() > 2 && self.look.is_empty() => Fit::Act,
                    _ => Fit::Order,
                };
                best = best.max(fit);
            }
        }
        best
    }

    /// Whether the look is at the very data that another thread changes before the held one acts on it, and a pattern begins with what that one did
    /// to other data before: that is outside of where the run goes wrong.
    fn begins_after(&self, pattern: &Pattern) -> bool {
        let steps: Vec<(Step, SiteId)> =
            pattern.shape().steps().zip(pattern.sites().iter().copied()).collect();
        let [(first, begin), rest @ ..] = steps.as_slice() else { return false };
        let has = |site: SiteId, is_own: bool| {
            rest.iter().any(|(step, at)| {
                *at == site && (step.thread == first.thread) == is_own && step.variable != first.variable
            })
        };
        let is_outside = |row: &Row| match row.sites[..] {
            [look, other, act] => self.look.contains(&look) && has(other, false) && has(act, true),
            _ => false,
        };
        !self.look.contains(begin) && self.rows.iter().any(|(_, row)| is_outside(row))
    }

    /// Whether a pattern begins with the look, goes on with what others did, and ends with the thread that was held.
    fn begins(&self, steps: &[(Step, SiteId)], between: &[SiteId]) -> bool {
        let [(look, site), others @ .., (act, _)] = steps else { return false };
        self.look.contains(site)
            && look.thread == act.thread
            && others.iter().all(|(step, site)| step.thread != look.thread && between.contains(site))
            && others.iter().any(|(step, _)| step.variable == look.variable)
            && others.iter().any(|(step, _)| step.variable == act.variable)
    }
}

/// What decides, each with what the thread that has looked does to the same data when it goes on, up to where it acts.
fn sooner(run: &Run, intrusion: &Intrusion) -> Vec<(usize, usize)> {
    let accesses = &run.accesses;
    let (Some(&look), Some(&last), Some(&act)) =
        (intrusion.look.first(), intrusion.between.last(), intrusion.act.first())
    else {
        return Vec::new();
    };
    let held = accesses[look].thread;
    let own = (last + 1..act).filter(|&index| accesses[index].thread == held);
    let conflicts = |one: usize, other: usize| {
        accesses[one].location == accesses[other].location
            && (accesses[one].kind.writes() || accesses[other].kind.writes())
    };
    own.flat_map(|own| intrusion.decisive.iter().map(move |&other| (other, own)))
        .filter(|&(other, own)| conflicts(other, own))
        .collect()
}

/// A finding of the row that tells failing from passing runs best, of those of the best class that do so at least half as well as any.
fn of_rows(runs: &mut Runs<'_>, rows: &[(u8, Row)]) -> anyhow::Result<Option<Finding>> {
    let mut told: Vec<Told<'_>> =
        rows.iter().take(MOST_ROWS).map(|(class, row)| Told::new(*class, row)).collect();
    if told.is_empty() {
        return Ok(None);
    }
    for record in runs.records.clone() {
        let Some(outcome) = analysis::outcome(&record.outcome) else { continue };
        let Ok(profile) = runs.load(record.run, outcome) else { continue };
        told.iter_mut().for_each(|told| told.observe(&profile.run, record.run));
    }
    let failing = runs.records.iter().filter(|record| record.outcome.is_failing()).count();
    let judged = runs.records.iter().filter(|record| analysis::outcome(&record.outcome).is_some()).count();
    let difference = |told: &Told| {
        let passing = judged.saturating_sub(failing).max(1) as f64;
        told.failing.len() as f64 / failing.max(1) as f64 - f64::from(told.passed) / passing
    };
    told.retain(|told| !told.is_usual(judged.saturating_sub(failing)));
    // Threads do much at the edges that they do in passing runs as well.
    let most = told.iter().map(difference).fold(0.0, f64::max);
    told.retain(|told| difference(told) >= LEAST_DIFFERENCE && difference(told) >= most / 2.0);
    let best = told.iter().map(|told| told.class).min();
    let best = told.into_iter().filter(|told| Some(told.class) == best);
    // The first of those that are as good.
    let best = best.rev().max_by(|one, other| difference(one).total_cmp(&difference(other)));
    Ok(best.and_then(|told| told.into_finding(failing, judged)))
}

/// What runs say of a row.
struct Told<'a> {
    class: u8,
    row: &'a Row,
    failing: Vec<RunId>,
    passed: u32,
    example: Option<(RunNumber, Vec<usize>)>,
}

impl<'a> Told<'a> {
    fn new(class: u8, row: &'a Row) -> Told<'a> {
        Told { class, row, failing: Vec::new(), passed: 0, example: None }
    }

    fn observe(&mut self, run: &Run, number: RunNumber) {
        let Some(accesses) = self.row.occurrence(run) else { return };
        if run.outcome.is_failing() {
            self.failing.push(run.id);
            self.example.get_or_insert((number, accesses));
        } else {
            self.passed += 1;
        }
    }

    /// Whether it is a mere order that most passing runs have: what goes wrong is not that, but what goes along with it.
    fn is_usual(&self, passing: usize) -> bool {
        self.row.sites.len() == 2 && self.passed as usize * 2 > passing
    }

    fn into_finding(self, failing: usize, judged: usize) -> Option<Finding> {
        let (run, accesses) = self.example?;
        let failed = self.failing.len() as u32;
        let reasons = vec![Reason::Runs {
            failed,
            all_failed: failing as u32,
            passed: self.passed,
            all_passed: (judged - failing) as u32,
        }];
        let reasoning = Reasoning { confidence: CONFIDENCE, reasons, standstill: None };
        Some(Finding {
            rank: 1,
            tied: 1,
            score: CONFIDENCE,
            failed,
            passed: self.passed,
            pattern: self.row.pattern(),
            failing_runs: self.failing,
            example: Example { run: RunId(run.0), id: self.row.shape, accesses },
            detail: Detail::Verdict(Box::new(reasoning)),
        })
    }
}

#[cfg(test)]
mod tests {
    use localize::PatternId;

    use super::*;

    const LOOK: SiteId = SiteId(1);
    const CHANGE: SiteId = SiteId(2);
    const OTHER_CHANGE: SiteId = SiteId(3);
    const ACT: SiteId = SiteId(4);
    const ELSEWHERE: SiteId = SiteId(5);

    fn place(ends_with: Option<Vec<SiteId>>) -> Place {
        let orders = if ends_with.is_none() { vec![(CHANGE, ACT)] } else { Vec::new() };
        let window = Window { run: 1, switches: 9, left: 2, after: None, meanwhile: None, before: None };
        let (rows, sooner) = (Vec::new(), Vec::new());
        Place { look: vec![LOOK], orders, sooner, ends_with, rows, proof: None, window }
    }

    /// Two threads have each looked before the other writes, so that it is too late from the look on, whatever the held one does first.
    #[test]
    fn what_is_done_before_the_act_is_done_too_late_as_well() {
        let place = Place { sooner: vec![(CHANGE, OTHER_CHANGE)], ..place(None) };
        let fit = |sites: &[SiteId]| place.fit(&Pattern::new(PatternId::P7, sites));
        assert_eq!(fit(&[LOOK, CHANGE, OTHER_CHANGE]), Fit::Whole);
        assert_eq!(fit(&[ELSEWHERE, CHANGE, OTHER_CHANGE]), Fit::Not, "that is not what it goes by");
    }

    #[test]
    fn what_was_looked_at_and_then_done_is_all_of_it() {
        let fit = |sites: &[SiteId]| place(None).fit(&Pattern::new(PatternId::P4, sites));
        assert_eq!(fit(&[LOOK, CHANGE, ACT]), Fit::Whole);
        assert_eq!(fit(&[ELSEWHERE, CHANGE, ACT]), Fit::Act);
        assert_eq!(fit(&[LOOK, OTHER_CHANGE, ACT]), Fit::Not);
        assert_eq!(place(None).fit(&Pattern::new(PatternId::P2, &[CHANGE, ACT])), Fit::Order);
    }

    /// A handle is used while it is closed, and the run ends with that: it had been looked up before, and was then counted in.
    #[test]
    fn what_a_run_goes_on_from_is_told_before_what_it_ends_with() {
        let turn = |is_about_counts: bool| {
            let row = Row { shape: PatternId::P4.into(), sites: vec![LOOK, CHANGE, ACT], is_about_counts };
            Place { rows: vec![(0, row)], ..place(None) }.turn()
        };
        let ends = place(Some(vec![CHANGE])).turn();
        assert!(turn(false) < turn(true) && turn(true) < ends);
    }

    /// A maximum is read and written, and before that a total is updated: a thread held in between of these two does no harm.
    #[test]
    fn what_is_done_to_other_data_before_the_look_is_no_part_of_it() {
        let row = Row { shape: PatternId::P7.into(), sites: vec![LOOK, CHANGE, ACT], is_about_counts: false };
        let narrow = Place { rows: vec![(0, row)], ..place(None) };
        let beginning = |begin: SiteId| Pattern::new(PatternId::P9, &[begin, OTHER_CHANGE, CHANGE, ACT]);
        assert!(narrow.begins_after(&beginning(ELSEWHERE)));
        assert!(!narrow.begins_after(&beginning(LOOK)));
        assert!(!place(None).begins_after(&beginning(ELSEWHERE)), "nothing is known of a look at that");
    }

    /// Two threads write what each has read before, and one of them reads it in its next round: that it was written twice is not all of it.
    #[test]
    fn what_has_nothing_of_the_look_is_but_the_order() {
        let own = Pattern::new(PatternId::P5, &[CHANGE, ACT, ELSEWHERE]);
        assert_eq!(place(None).fit(&own), Fit::Order);
        assert_eq!(Place { look: Vec::new(), ..place(None) }.fit(&own), Fit::Act, "nothing was looked at");
    }

    /// That says no more than the order: in a loop, everything was done before.
    #[test]
    fn the_same_place_in_an_earlier_round_is_no_look() {
        let in_two_rounds = Pattern::new(PatternId::P4, &[ACT, CHANGE, ACT]);
        assert_eq!(place(None).fit(&in_two_rounds), Fit::Order);
        assert!(
            !is_mere_order(&in_two_rounds) && is_mere_order(&Pattern::new(PatternId::P2, &[CHANGE, ACT]))
        );
    }

    /// An audit ends the run while a thread is between two changes: what it would have changed then is not known.
    #[test]
    fn a_run_that_ends_in_between_is_told_by_how_it_begins() {
        let place = place(Some(vec![CHANGE, OTHER_CHANGE]));
        let fit = |sites: &[SiteId]| place.fit(&Pattern::new(PatternId::P12, sites));
        assert_eq!(fit(&[LOOK, CHANGE, OTHER_CHANGE, ACT]), Fit::Whole);
        assert_eq!(fit(&[ELSEWHERE, CHANGE, OTHER_CHANGE, ACT]), Fit::Not);
        assert_eq!(fit(&[LOOK, CHANGE, ELSEWHERE, ACT]), Fit::Not);
        assert_eq!(place.fit(&Pattern::new(PatternId::P2, &[LOOK, CHANGE])), Fit::Not, "the thread goes on");
    }

    /// A receiver is dropped after something was sent: so it is in most runs, whether they fail or not.
    #[test]
    fn an_order_that_most_passing_runs_have_is_not_told() {
        let is_usual = |id: PatternId, passed: u32| {
            let sites = id.steps().iter().map(|_| SiteId(0)).collect();
            Told { passed, ..Told::new(0, &Row { shape: id.into(), sites, is_about_counts: false }) }
                .is_usual(10)
        };
        assert!(is_usual(PatternId::P1, 6));
        assert!(!is_usual(PatternId::P1, 5));
        assert!(!is_usual(PatternId::P4, 6), "what breaks into a stretch of code may be found out later");
    }
}
