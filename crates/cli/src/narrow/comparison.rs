//! Which of two findings says more.

use localize::{AccessKind, Detail, Finding, Pattern, Reason};

/// The runs that show it, with those that end before it is complete.
pub fn with_early_ends(finding: &Finding) -> [u32; 2] {
    let Detail::Verdict(reasoning) = &finding.detail else { return counts(finding) };
    let early = reasoning.reasons.iter().filter_map(|reason| match reason {
        Reason::Unfinished { failed } => Some(*failed),
        _ => None,
    });
    [finding.failed + early.sum::<u32>(), finding.passed]
}

pub fn counts(finding: &Finding) -> [u32; 2] {
    [finding.failed, finding.passed]
}

/// Whether a finding says how a mere order comes about, in most of the runs that have it: it ends with that.
pub fn explains(finding: &Finding, order: &Finding) -> bool {
    let [own, others] = [finding, order].map(counts);
    ends_with(&finding.pattern, &order.pattern) && is_of_most(own, others)
}

fn ends_with(pattern: &Pattern, order: &Pattern) -> bool {
    let is_more = is_mere_order(order) && !is_mere_order(pattern);
    is_more && pattern.sites().ends_with(order.sites())
}

/// Whether a finding is a mere order, of a look and another thread's write, and what the thread that has looked then does to the same data: the order says less.
pub fn begins_with(pattern: &Pattern, order: &Pattern) -> bool {
    let is_look = pattern.shape().steps().next().is_some_and(|step| step.kind == AccessKind::Read);
    let is_its_order = pattern.shape().steps().take(2).eq(order.shape().steps());
    let is_more = is_mere_order(order) && pattern.sites().len() == 3;
    is_more && is_look && is_its_order && pattern.sites().starts_with(order.sites())
}

/// Whether all that each thread does in a finding is one place in the code, come to in two rounds about two things: it says no more than the order in one of them,
/// by how the other round went.
pub fn is_of_two_rounds(pattern: &Pattern) -> bool {
    matches!(pattern.sites(), &[one, two, three, four] if one == four && two == three)
}

pub fn is_of_most([failed, passed]: [u32; 2], [others_failed, others_passed]: [u32; 2]) -> bool {
    failed * 4 >= others_failed * 3 && passed <= others_passed
}

/// What has more than the order that decides, and nothing of the look, tells failing from passing runs by what it has besides: unless there is something to
/// compare it with, that may be anything.
pub fn is_mere_order(pattern: &Pattern) -> bool {
    pattern.sites().len() == 2
}

/// Whether a mere order has an access in common with what has more to it: where three threads are needed, the order of two of them is told by less than
/// the runs say.
pub fn is_part_of(order: &Pattern, pattern: &Pattern) -> bool {
    let is_shared = pattern.sites().iter().any(|site| order.sites().contains(site));
    is_mere_order(order) && !is_mere_order(pattern) && is_shared
}

/// Does a finding tell failing from passing runs better than another?
pub fn tells_better(finding: &Finding, other: Option<&Finding>) -> bool {
    other.is_none_or(|other| counts_better(counts(finding), counts(other)))
}

/// Whether these numbers of failing and passing runs say more than others, by a tenth at least: an order is in a run or two more or less than what
/// has more to it, by how either is looked for.
pub fn counts_better([failed, passed]: [u32; 2], [others_failed, others_passed]: [u32; 2]) -> bool {
    let is_less = |one: u32, other: u32| one < other && one * 10 <= other * 9;
    let is_better = is_less(passed, others_passed) || is_less(others_failed, failed);
    failed >= others_failed && passed <= others_passed && is_better
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
}
