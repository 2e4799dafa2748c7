//! What happens where a failing run goes wrong, counted in the session's runs.

use localize::{Detail, Example, Finding, Reason, Reasoning, Row, Run, RunId, Shape};
use runner::RunNumber;

use super::comparison::counts_better;
use super::first::CONFIDENCE;
use crate::analysis;
use crate::runs::Runs;

/// Rows that are looked for in the session's runs.
const MOST_ROWS: usize = 64;
/// By how much a row has to be more frequent in failing runs than in passing ones, of one.
const LEAST_DIFFERENCE: f64 = 0.25;

/// A finding of the row that tells failing from passing runs best, of those of the best class that do so at least half as well as any; and by how much it is more
/// frequent in failing runs, of one.
pub fn of_rows(runs: &mut Runs<'_>, rows: &[(u8, Row)]) -> anyhow::Result<Option<(Finding, f64)>> {
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
    let is_idle: Vec<bool> =
        told.iter().map(|one| told.iter().any(|other| one.adds_nothing_to(other))).collect();
    let mut is_idle = is_idle.into_iter();
    told.retain(|_| is_idle.next() == Some(false));
    told.retain(|told| !told.is_usual(judged.saturating_sub(failing)));
    // Threads do much at the edges that they do in passing runs as well.
    let most = told.iter().map(difference).fold(0.0, f64::max);
    told.retain(|told| difference(told) >= LEAST_DIFFERENCE && difference(told) >= most / 2.0);
    let best = told.iter().map(|told| told.class).min();
    // The first of those that are as good.
    let tells_more = |one: &&Told<'_>, other: &&Told<'_>| difference(one).total_cmp(&difference(other));
    let best = told.iter().filter(|told| Some(told.class) == best).rev().max_by(tells_more);
    let Some(best) = best else { return Ok(None) };
    // An order is told with another that crosses it, from whichever side that is seen, if these two tell more.
    let crossing = told.iter().rev().filter(|told| told.crosses(best)).max_by(tells_more).unwrap_or(best);
    let (difference, row) = (difference(crossing), crossing.row);
    let told = told.into_iter().find(|told| std::ptr::eq(told.row, row));
    Ok(told.and_then(|told| Some((told.into_finding(failing, judged)?, difference))))
}

/// What runs say of a row.
struct Told<'a> {
    class: u8,
    row: &'a Row,
    failing: Vec<RunId>,
    passed: u32,
    example: Option<(RunNumber, Shape, Vec<usize>)>,
}

impl<'a> Told<'a> {
    fn new(class: u8, row: &'a Row) -> Told<'a> {
        Told { class, row, failing: Vec::new(), passed: 0, example: None }
    }

    fn observe(&mut self, run: &Run, number: RunNumber) {
        let Some((shape, accesses)) = self.row.shown(run) else { return };
        if run.outcome.is_failing() {
            self.failing.push(run.id);
            self.example.get_or_insert((number, shape, accesses));
        } else {
            self.passed += 1;
        }
    }

    /// Whether it is a mere order that most passing runs have: what goes wrong is not that, but what goes along with it.
    fn is_usual(&self, passing: usize) -> bool {
        self.row.sites.len() == 2 && self.passed as usize * 2 > passing
    }

    /// Whether it consists of an order and another one that crosses it, and tells failing from passing runs as well: it says how the order comes to do harm.
    fn crosses(&self, order: &Told<'_>) -> bool {
        let is_more = order.row.sites.len() == 2 && self.row.sites.len() == 4;
        let [own, others] = [self, order].map(|told| [told.failing.len() as u32, told.passed]);
        let tells_as_much = own[0] >= others[0] && own[1] <= others[1];
        is_more && !self.row.is_about_counts && self.row.has_order(order.row) && tells_as_much
    }

    /// Whether it begins with what was done a little before, and tells failing from passing runs no better than the order that decides does by itself.
    fn adds_nothing_to(&self, order: &Told<'_>) -> bool {
        let counts = |told: &Told<'_>| [told.failing.len() as u32, told.passed];
        let is_its_order =
            order.row.sites.len() == 2 && order.row.sites.iter().all(|site| self.row.sites.contains(site));
        self.row.is_around && is_its_order && !counts_better(counts(self), counts(order))
    }

    fn into_finding(self, failing: usize, judged: usize) -> Option<Finding> {
        let (run, shape, accesses) = self.example?;
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
            example: Example { run: RunId(run.0), id: shape, accesses },
            detail: Detail::Verdict(Box::new(reasoning)),
        })
    }
}

#[cfg(test)]
mod tests {
    use localize::{PatternId, SiteId};

    use super::*;

    fn row(id: PatternId, sites: &[u32]) -> Row {
        let sites: Vec<SiteId> = sites.iter().map(|&site| SiteId(site)).collect();
        let (shape, calls) = (id.into(), sites.clone());
        Row { shape, sites, calls, is_about_counts: false, is_around: false, to_zero: None }
    }

    /// A receiver is dropped after something was sent: so it is in most runs, whether they fail or not.
    #[test]
    fn an_order_that_most_passing_runs_have_is_not_told() {
        let is_usual = |id: PatternId, passed: u32| {
            Told { passed, ..Told::new(0, &row(id, &vec![0; id.steps().len()])) }.is_usual(10)
        };
        assert!(is_usual(PatternId::P1, 6));
        assert!(!is_usual(PatternId::P1, 5));
        assert!(!is_usual(PatternId::P4, 6), "what breaks into a stretch of code may be found out later");
    }

    /// A shopper reads the old price before a clerk changes it, in half of the passing runs as well; it does harm where the shopper puts it into a cache after the clerk
    /// has taken it out there.
    #[test]
    fn an_order_is_told_with_the_one_that_crosses_it() {
        let [order, another] = [[1, 2], [1, 3]].map(|sites| row(PatternId::P1, &sites));
        let crossing = row(PatternId::P18, &[1, 2, 3, 4]);
        let told = |row, passed| Told { passed, failing: vec![RunId(0); 9], ..Told::new(0, row) };
        assert!(told(&crossing, 3).crosses(&told(&order, 10)));
        assert!(!told(&crossing, 11).crosses(&told(&order, 10)), "it tells less");
        assert!(!told(&crossing, 3).crosses(&told(&another, 10)), "another order");
        assert!(!told(&crossing, 3).crosses(&told(&crossing, 10)), "that is no order");
    }

    /// Both count in a cache right before one takes up what the other has given back.
    #[test]
    fn what_was_done_shortly_before_has_to_add_something() {
        let order = row(PatternId::P3, &[3, 4]);
        let around = Row { is_around: true, ..row(PatternId::P18, &[1, 2, 3, 4]) };
        let told = |row, passed| Told { passed, failing: vec![RunId(0); 9], ..Told::new(0, row) };
        let (other, at_edge) = (row(PatternId::P3, &[5, 4]), row(PatternId::P18, &[1, 2, 3, 4]));
        assert!(told(&around, 8).adds_nothing_to(&told(&order, 8)));
        assert!(!told(&around, 4).adds_nothing_to(&told(&order, 8)));
        assert!(!told(&around, 8).adds_nothing_to(&told(&other, 8)), "another order");
        assert!(!told(&at_edge, 8).adds_nothing_to(&told(&order, 8)), "at the edge");
    }
}
