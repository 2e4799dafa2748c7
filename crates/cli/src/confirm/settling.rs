//! What confirmation makes of a report: it decides ties, changes how sure we are, what was refuted goes below all else that
//! was tried, what was tried in vain below what was confirmed, and a fix that was simulated is told with the advice.

use report::{Confirmation, Finding, Kind, Verdict, explanation};

use super::decision::{FEWEST, ends_all_failures, is_shown_by_all};
use super::evident::{is_there_to_be_seen, let_evident_go_first};
use super::restated::restate;
use super::simulated_fix::{is_symmetric, simulated_fix};
use super::{needed, no_wait, region};
use crate::analysis::Analysis;
use crate::interleaving::Forcible;

/// Puts the findings into the order that their confirmations ask for, and tells why.
pub fn settle(analysis: &mut Analysis) {
    let mut shares = region::shares(analysis);
    for (share, forcible) in shares.iter_mut().zip(&analysis.interleavings) {
        // Nothing follows from runs in which it was forbidden.
        let says_nothing = |one: &Forcible| one.is_beyond_forbidding() || one.is_new_code;
        *share = if forcible.as_ref().is_some_and(says_nothing) { 0.0 } else { *share };
    }
    confirm_what_all_failures_need(&mut analysis.report.findings, &shares);
    let passing = analysis.report.runs.passed;
    analysis.report.findings.iter_mut().for_each(|finding| tell_fix(finding, passing));
    weigh(&mut analysis.report.findings);
    let failing = analysis.report.runs.failed;
    let_wider_go_first(&mut analysis.report.findings, failing);
    let_evident_go_first(&mut analysis.report.findings, failing);
    let mut before = std::mem::take(&mut analysis.report.findings);
    let order = order(&before);
    let places: Vec<u64> = (0..order.len() as u64)
        .map(|old| 1 + order.iter().position(|&at| at as u64 == old).unwrap_or(0) as u64)
        .collect();
    // Numbers of findings count from one.
    let renumber = |number: &mut u64| *number = places[*number as usize - 1];
    let confirmations = before.iter_mut().filter_map(|finding| finding.confirmation.as_mut());
    confirmations.filter_map(|confirmation| confirmation.explained_by.as_mut()).for_each(renumber);
    for cause in &mut analysis.report.causes {
        cause.findings.iter_mut().for_each(renumber);
        cause.findings.sort_unstable();
        cause
            .graph
            .nodes
            .iter_mut()
            .flat_map(|node| &mut node.accesses)
            .for_each(|[finding, _]| renumber(finding));
    }
    let mut before: Vec<Option<Finding>> = before.into_iter().map(Some).collect();
    let mut interleavings = std::mem::take(&mut analysis.interleavings);
    for &at in &order {
        analysis.interleavings.push(interleavings.get_mut(at).and_then(Option::take));
        analysis.report.findings.extend(before[at].take());
    }
    rank(&mut analysis.report.findings);
    let crossed = analysis.report.findings.iter_mut().zip(&mut analysis.interleavings);
    for (finding, forcible) in crossed.filter(|(finding, _)| is_by_crossing(finding)) {
        let Some(forcible) = forcible else { continue };
        let leading: Vec<report::Access> =
            forcible.leading.iter().flat_map(|lead| lead.told.clone()).collect();
        forcible.own = restate(finding, &leading, &analysis.report.runs).or(forcible.own.take());
    }
}

/// Some causes do harm only if a value is right, such as that of the last item, so that forcing them once makes runs fail no
/// more often than delays do. Where nothing was confirmed, the best finding is if nearly all failing runs show it, or others in the
/// same stretch of code, and no run fails without it; unless failing runs were followed and not lost at it.
fn confirm_what_all_failures_need(findings: &mut [Finding], shares: &[f64]) {
    if findings.iter().any(|finding| class(finding) == Class::Confirmed) {
        return;
    }
    let best = findings.iter_mut().zip(shares).find(|(finding, _)| class(finding) != Class::Refuted);
    if let Some((best, &share)) = best
        && is_shown_by_all(share)
        && let Some(confirmation) = &mut best.confirmation
        && ends_all_failures(confirmation)
        && confirmation.followed != Some(0)
    {
        confirmation.verdict = Verdict::Confirmed;
    }
}

/// Whether a confirmed order, of which no more is known, needs others that may cross.
fn is_by_crossing(finding: &Finding) -> bool {
    let is_plain = finding.fix.is_none() && finding.kind == Kind::OrderViolation;
    is_plain && finding.needs.is_some() && class(finding) == Class::Confirmed
}

fn tell_fix(finding: &mut Finding, passing: u64) {
    // An order that is only possible once others have crossed is mended where these are.
    let together = finding.needs.as_ref().and_then(explanation::kept_together);
    if let Some(together) = together.filter(|_| is_by_crossing(finding)) {
        finding.advice = together;
        return;
    }
    no_wait::rather_keep_together(finding, passing);
    if let Some(sentence) = simulated_fix(finding)
        && !finding.advice.ends_with(&sentence)
    {
        if finding.advice.is_empty() && finding.kind == Kind::OrderViolation {
            let other_order = || explanation::other_order(finding, passing);
            let advice =
                if is_symmetric(finding) { explanation::one_at_a_time(finding) } else { other_order() };
            finding.advice.extend(advice);
        }
        let space = if finding.advice.is_empty() { "" } else { " " };
        finding.advice.push_str(&format!("{space}{sentence}"));
    }
}

/// Counts of runs alone are never as sure as they seem: they know nothing of what was not thought of.
const LEAST: f64 = 0.01;

/// The less a finding was believed, the more its trials had to show before it counted as confirmed, by just as many times
/// ([`super::decision::odds_against`]): they make good for what spoke against it before. Only of the first finding, so that no order depends on it.
const AS_LIKELY_AS_NOT: f64 = 0.5;

/// How likely it is at least that none of the findings is to blame. Of programs that nobody had tried before (docs/unseen.md), a first finding
/// that trials leave undecided is right about as often as not, however sure the counts of runs are.
const NONE_OF_THESE: f64 = 0.1;

/// By the outcome of its trials each finding becomes more or less believable, and so do the others at its cost. Bayes'
/// rule; what none of the findings is to blame for stays as likely as it was.
fn weigh(findings: &mut [Finding]) {
    let stated: f64 = findings.iter().filter_map(|finding| finding.confidence).sum();
    let is_known = findings.iter().any(|finding| class(finding) == Class::Confirmed);
    let is_tried = findings.iter().any(|finding| finding.confirmation.is_some());
    let least_unknown = if is_tried && !is_known { NONE_OF_THESE } else { 0.0 };
    let needed = needed::by_confirmed(findings);
    let weighed = |(finding, &is_needed): (&Finding, &bool)| {
        let least = if finding.confirmation.is_some() { LEAST } else { 0.0 };
        let weight = if is_needed { CONFIRMED } else { weight(finding, is_known) };
        finding.confidence.map(|confidence| confidence.max(least) * weight)
    };
    let mut weights: Vec<Option<f64>> = findings.iter().zip(&needed).map(weighed).collect();
    let first = weights.iter_mut().zip(&*findings).max_by(|(one, _), (other, _)| {
        let [one, other] = [one, other].map(|weight| weight.unwrap_or(0.0));
        one.total_cmp(&other)
    });
    if let Some((Some(weight), finding)) = first
        && class(finding) == Class::Confirmed
    {
        *weight = weight.max(AS_LIKELY_AS_NOT * CONFIRMED);
    }
    let total = (1.0 - stated).max(least_unknown) + weights.iter().flatten().sum::<f64>();
    for (finding, weight) in findings.iter_mut().zip(weights) {
        finding.confidence = weight.map(|weight| weight / total);
    }
    // What was refuted is believed no more than what was tried and was not.
    let stands = |finding: &&Finding| finding.confirmation.is_some() && class(finding) != Class::Refuted;
    let least =
        findings.iter().filter(stands).filter_map(|finding| finding.confidence).fold(REFUTED, f64::min);
    for finding in findings.iter_mut().filter(|finding| class(finding) == Class::Refuted) {
        finding.confidence = finding.confidence.map(|confidence| confidence.min(least));
    }
}

/// A proof by following failing runs is good for whatever comes about on the way to where there is no return. Of two that are confirmed, one of
/// them like that and shown by a part of the failing runs, the other by as good as all, the former's included, the latter is believed as much
/// as the former was: it explains what the former does, and the rest. So it is of a standstill that is there to be seen in a part of the failing runs, and
/// was not proved: threads are left waiting in the others, too, and by what was proved.
fn let_wider_go_first(findings: &mut [Finding], failing: u64) {
    let shown_by_all = |finding: &Finding| is_shown_by_all(finding.failed as f64 / failing as f64);
    let is_wider = |one: &Finding, other: &Finding| {
        shown_by_all(other) && one.failing_runs.iter().all(|run| other.failing_runs.contains(run))
    };
    for at in 0..findings.len() {
        let one = &findings[at];
        let is_followed = one.confirmation.is_some_and(|one| one.followed.is_some_and(|runs| runs > 0));
        let is_proved = class(one) == Class::Confirmed;
        let is_standstill = matches!(one.kind, Kind::Deadlock | Kind::MissedSignal);
        let yields = if is_proved { is_followed } else { is_standstill };
        if !yields || shown_by_all(one) {
            continue;
        }
        let wider = findings.iter().enumerate().filter(|(_, other)| {
            class(other) == Class::Confirmed && other.confidence < one.confidence && is_wider(one, other)
        });
        let most = wider.max_by(|(_, one), (_, other)| {
            one.confidence.unwrap_or(0.0).total_cmp(&other.confidence.unwrap_or(0.0))
        });
        if let Some((most, _)) = most {
            (findings[at].confidence, findings[most].confidence) =
                (findings[most].confidence, findings[at].confidence);
        }
    }
}

/// What is confirmed becomes so many times as likely, and so does what has to be in place for it.
const CONFIRMED: f64 = 30.0;

/// What is refuted becomes less likely so many times, and is never believed more than that: if nothing else is known, then
/// the cause is none of what is known.
const REFUTED: f64 = 1.0 / 30.0;

/// How many times as often trials of a cause come out so as trials of something else. Causes of the corpus are nearly
/// always confirmed; of what is none, a few that are part of the cause or follow from it.
fn weight(finding: &Finding, is_known: bool) -> f64 {
    let Some(confirmation) = finding.confirmation else { return 1.0 };
    let Confirmation { enforced, forbidden, verdict, came_about, .. } = confirmation;
    // A test that fails whatever is forbidden says nothing; but it does not, if something else was confirmed.
    let fails_anyway = !is_known && forbidden.failed * 2 > forbidden.runs;
    // What forcing brings about in few runs is not tried by the others, as long as those few fail.
    let hardly_comes = |came: u64| came * 2 < enforced.runs && enforced.failed >= came;
    let is_hardly_tried = enforced.runs < FEWEST
        || forbidden.runs < FEWEST
        || !is_known && came_about.is_some_and(|came| came > 0 && hardly_comes(came));
    // Forced runs fail and others do not: what is open is whether delays alone would do.
    let ends_failures = forbidden.failed == 0 && enforced.failed * 2 > enforced.runs;
    match verdict {
        Verdict::Confirmed => CONFIRMED,
        Verdict::Refuted => REFUTED,
        Verdict::Inconclusive if is_hardly_tried || fails_anyway || ends_failures => 1.0,
        Verdict::Inconclusive if is_there_to_be_seen(finding) => 1.0,
        Verdict::Inconclusive => 0.25,
    }
}

/// Places of the findings in their new order.
fn order(findings: &[Finding]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..findings.len()).collect();
    order.sort_by_key(|&at| (findings[at].rank, class(&findings[at])));
    let has_refuted = findings.iter().any(|finding| class(finding) == Class::Refuted);
    // Where nothing is refuted, what was tried in vain and stands behind all that was confirmed stays there.
    let counts = |at: usize| {
        class(&findings[at]) == Class::Confirmed || has_refuted && findings[at].confirmation.is_some()
    };
    let last_tried = order.iter().rposition(|&at| counts(at));
    if let Some(last) = last_tried {
        let believed = |at: usize| findings[at].confidence.unwrap_or(0.0);
        order[..=last].sort_by(|&one, &other| {
            let is_refuted = |at: usize| class(&findings[at]) == Class::Refuted;
            is_refuted(one).cmp(&is_refuted(other)).then(believed(other).total_cmp(&believed(one)))
        });
    }
    // Nobody believes a list in which the second is more probable than the first.
    if let Some(stated) = findings.iter().map(|finding| finding.confidence).collect::<Option<Vec<f64>>>() {
        order.sort_by(|&one, &other| stated[other].total_cmp(&stated[one]));
    }
    order
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Class {
    Confirmed,
    Untold,
    Refuted,
}

fn class(finding: &Finding) -> Class {
    match finding.confirmation.map(|confirmation| confirmation.verdict) {
        Some(Verdict::Confirmed) => Class::Confirmed,
        Some(Verdict::Refuted) => Class::Refuted,
        Some(Verdict::Inconclusive) | None => Class::Untold,
    }
}

/// Ranks anew as far as confirmation has decided ties or changed the order, and tells why.
fn rank(findings: &mut [Finding]) {
    let old: Vec<(u64, Class, u64)> = findings.iter().map(|one| (one.rank, class(one), one.tied)).collect();
    let others_of_tie =
        |(rank, class, _)| old.iter().filter(|other| other.0 == rank && other.1 != class).count() as u64;
    let is_changed = |at: usize| others_of_tie(old[at]) > 0 || at > 0 && old[at - 1].0 > old[at].0;
    let Some(last) = (0..old.len()).rev().find(|&at| is_changed(at)) else { return };
    let (mut at, mut rank) = (0, 1);
    while at <= last {
        let group = old[at..].iter().take_while(|one| **one == old[at]).count();
        // A tie may be shown in part; those of it that nobody tried out stay together.
        let tied = match old[at].1 {
            Class::Untold => old[at].2.saturating_sub(others_of_tie(old[at])).max(1),
            Class::Confirmed | Class::Refuted if others_of_tie(old[at]) == 0 => old[at].2,
            Class::Confirmed | Class::Refuted => group as u64,
        };
        for finding in &mut findings[at..at + group] {
            (finding.rank, finding.tied) = (rank, tied);
            finding.why.extend(reason(class(finding), is_changed(at)).map(str::to_owned));
        }
        rank += tied;
        at += group;
    }
}

fn reason(class: Class, is_changed: bool) -> Option<&'static str> {
    match class {
        Class::Confirmed if is_changed => {
            Some("it was confirmed, and what stood beside it or before it was not")
        }
        Class::Refuted if is_changed => {
            Some("trying it out spoke against it, so it stands below all else that was tried")
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use report::Trial;

    use super::*;

    /// Findings by rank, size of their tie and what came of trying them out.
    fn findings(all: &[(u64, u64, Option<Verdict>)]) -> Vec<Finding> {
        let trial = Trial { runs: 9, failed: 0 };
        let confirmation = |verdict| Confirmation {
            enforced: trial,
            forbidden: trial,
            verdict,
            delayed: None,
            came_about: None,
            p_value: None,
            turned: None,
            apart: None,
            explained_by: None,
            followed: None,
            narrowed: false,
        };
        let finding = |(nth, &(rank, tied, verdict)): (usize, &(u64, u64, Option<Verdict>))| {
            let plain = serde_json::json!({
                "rank": rank, "tied": tied, "score": 1.0, "failed": nth, "passed": 0, "kind": "order-violation",
                "pattern": "RW", "pattern_id": null, "accesses": [], "suspicious_functions": [], "cluster": null,
                "failing_runs": [], "evidence": [], "advice": "", "confirmation": verdict.map(confirmation),
            });
            serde_json::from_value(plain).unwrap()
        };
        all.iter().enumerate().map(finding).collect()
    }

    /// The findings in their new order: their number, rank and size of their tie.
    fn settled(all: &[(u64, u64, Option<Verdict>)]) -> Vec<(u64, u64, u64)> {
        let before = findings(all);
        let mut after: Vec<Finding> = order(&before).into_iter().map(|at| before[at].clone()).collect();
        rank(&mut after);
        after.iter().map(|one| (one.failed, one.rank, one.tied)).collect()
    }

    const CONFIRMED: Option<Verdict> = Some(Verdict::Confirmed);
    const REFUTED: Option<Verdict> = Some(Verdict::Refuted);

    #[test]
    fn confirmation_decides_ties() {
        let decided = settled(&[(1, 4, REFUTED), (1, 4, None), (1, 4, CONFIRMED), (5, 1, None)]);
        // The fourth of the tie is not shown.
        assert_eq!(decided, [(2, 1, 1), (1, 2, 2), (0, 4, 1), (3, 5, 1)]);
    }

    #[test]
    fn what_is_refuted_goes_below_what_is_confirmed() {
        let moved = settled(&[(1, 1, REFUTED), (2, 1, None), (3, 1, CONFIRMED), (4, 1, None)]);
        assert_eq!(moved, [(1, 1, 1), (2, 2, 1), (0, 3, 1), (3, 4, 1)]);
    }

    #[test]
    fn where_nothing_is_confirmed_the_best_is_if_all_failures_need_it() {
        let confirmed = |first, is_needed: bool, share| {
            let mut all = findings(&[(1, 1, first), (2, 1, Some(Verdict::Inconclusive))]);
            for confirmation in all.iter_mut().filter_map(|finding| finding.confirmation.as_mut()) {
                let fails = Trial { runs: 14, failed: if is_needed { 10 } else { 0 } };
                confirmation.forbidden = Trial { runs: 14, failed: 0 };
                (confirmation.enforced, confirmation.delayed) = (fails, Some(fails));
            }
            confirm_what_all_failures_need(&mut all, &[share, 1.0]);
            let verdicts = all.iter().filter_map(|finding| finding.confirmation);
            verdicts.map(|confirmation| confirmation.verdict == Verdict::Confirmed).collect::<Vec<_>>()
        };
        let in_vain = Some(Verdict::Inconclusive);
        assert_eq!(confirmed(in_vain, true, 1.0), [true, false]);
        assert_eq!(confirmed(in_vain, true, 0.93), [true, false], "a few show it in a form of their own");
        assert_eq!(confirmed(in_vain, true, 0.8), [false, false], "some failing runs do not show it");
        assert_eq!(confirmed(in_vain, false, 1.0), [false, false]);
        assert_eq!(confirmed(REFUTED, true, 1.0), [false, true], "what is refuted is not the best");
        assert_eq!(confirmed(CONFIRMED, true, 1.0), [true, false]);
        assert_eq!(confirmed(None, true, 1.0), [false], "what was not tried may be the cause");
        let mut elsewhere = findings(&[(1, 1, in_vain)]);
        let fails = Trial { runs: 14, failed: 10 };
        elsewhere[0].confirmation = elsewhere[0].confirmation.map(|confirmation| Confirmation {
            enforced: fails,
            delayed: Some(fails),
            forbidden: Trial { runs: 14, failed: 0 },
            followed: Some(0),
            ..confirmation
        });
        confirm_what_all_failures_need(&mut elsewhere, &[1.0]);
        assert_eq!(
            elsewhere[0].confirmation.map(|one| one.verdict),
            in_vain,
            "failing runs are lost elsewhere"
        );
    }

    /// Findings with their confidence, and what came of trying them out.
    fn believed(all: &[(f64, Option<Verdict>)]) -> Vec<Finding> {
        let places: Vec<_> = (1..).zip(all).map(|(rank, &(_, verdict))| (rank, 1, verdict)).collect();
        let with_confidence =
            |(finding, &(confidence, _)): (Finding, _)| Finding { confidence: Some(confidence), ..finding };
        findings(&places).into_iter().zip(all).map(with_confidence).collect()
    }

    #[test]
    fn what_is_confirmed_comes_before_what_was_tried_in_vain() {
        let mut all = believed(&[(0.97, Some(Verdict::Inconclusive)), (0.02, CONFIRMED), (0.005, None)]);
        weigh(&mut all);
        assert_eq!(order(&all), [1, 0, 2]);
        let confidence = |at: usize| all[at].confidence.unwrap();
        assert!(confidence(1) > 0.6 && confidence(0) < 0.3, "{} {}", confidence(1), confidence(0));
        assert!((0..3).map(confidence).sum::<f64>() < 1.0);
    }

    #[test]
    fn of_what_is_confirmed_the_one_that_all_failing_runs_show_comes_first() {
        let first = |followed: Option<u64>, runs: &[u64], others: &[u64]| {
            let mut all = believed(&[(0.9, CONFIRMED), (0.05, CONFIRMED)]);
            for (finding, runs) in all.iter_mut().zip([runs, others]) {
                (finding.failed, finding.failing_runs) = (runs.len() as u64, runs.to_vec());
            }
            all[0].confirmation = all[0].confirmation.map(|one| Confirmation { followed, ..one });
            let_wider_go_first(&mut all, 4);
            order(&all)[0]
        };
        assert_eq!(first(Some(3), &[1, 2], &[1, 2, 3, 4]), 1);
        assert_eq!(first(None, &[1, 2], &[1, 2, 3, 4]), 0, "forced, it needs no other's runs");
        assert_eq!(first(Some(3), &[1, 2, 3, 4], &[1, 2, 3, 4]), 0, "both explain all");
        assert_eq!(first(Some(3), &[1, 2], &[1, 2, 3]), 0, "neither explains all");
        assert_eq!(first(Some(3), &[1, 5], &[1, 2, 3, 4]), 0, "one that the other does not explain");
    }

    /// Too few are told of the end; in some of the runs that hang, a signal wakes one of those who are left.
    #[test]
    fn a_standstill_of_a_part_of_the_failing_runs_goes_behind_what_is_proved_of_all() {
        let first = |kind: Kind, runs: &[u64]| {
            let mut all = believed(&[(0.77, None), (0.23, CONFIRMED)]);
            for (finding, runs) in all.iter_mut().zip([runs, &[1, 2, 3, 4]]) {
                (finding.failed, finding.failing_runs) = (runs.len() as u64, runs.to_vec());
            }
            all[0].kind = kind;
            let_wider_go_first(&mut all, 4);
            order(&all)[0]
        };
        assert_eq!(first(Kind::MissedSignal, &[1, 2]), 1);
        assert_eq!(first(Kind::MissedSignal, &[1, 2, 3, 4]), 0, "it is there to be seen in all of them");
        assert_eq!(first(Kind::OrderViolation, &[1, 2]), 0, "its weight says how much it is believed");
    }

    /// Without the one that was confirmed the test passes, so that it is no excuse that it fails without the other.
    #[test]
    fn what_is_confirmed_comes_before_what_runs_fail_without() {
        let mut all = believed(&[(0.97, Some(Verdict::Inconclusive)), (0.01, CONFIRMED)]);
        let fails_anyway =
            |one: Confirmation| Confirmation { forbidden: Trial { runs: 9, failed: 9 }, ..one };
        all[0].confirmation = all[0].confirmation.map(fails_anyway);
        weigh(&mut all);
        assert_eq!(order(&all), [1, 0]);
    }

    #[test]
    fn trials_tell_more_than_counts() {
        let mut all = believed(&[(0.98, REFUTED), (1e-30, CONFIRMED)]);
        weigh(&mut all);
        assert_eq!(order(&all), [1, 0]);
        assert!(all[1].confidence > Some(0.8), "{:?}", all[1].confidence);
    }

    /// Forcing brought it about in three of nine runs, which failed: the other six say nothing of it.
    #[test]
    fn what_hardly_came_about_was_not_tried_in_vain() {
        let first = |came_about: u64| {
            let in_vain = Some(Verdict::Inconclusive);
            let mut all = believed(&[(0.01, in_vain), (0.01, None)]);
            let tried = |one: Confirmation| Confirmation {
                came_about: Some(came_about),
                enforced: Trial { runs: 9, failed: 3 },
                forbidden: Trial { runs: 9, failed: 1 },
                ..one
            };
            all[0].confirmation = all[0].confirmation.map(tried);
            weigh(&mut all);
            order(&all)[0]
        };
        assert_eq!([3, 0, 4, 8].map(first), [0, 1, 1, 1]);
    }

    /// A refuted cause is no cause because there is no better one.
    #[test]
    fn what_is_refuted_goes_below_what_was_tried_in_vain_and_is_not_believed() {
        let in_vain = Some(Verdict::Inconclusive);
        let mut all = believed(&[(0.97, REFUTED), (0.01, in_vain), (0.005, in_vain), (0.001, None)]);
        weigh(&mut all);
        assert_eq!(order(&all), [1, 2, 0, 3]);
        assert!(all[0].confidence < Some(0.04), "{:?}", all[0].confidence);
    }

    /// What hardly anything spoke for had to pass harder trials.
    #[test]
    fn a_first_finding_that_is_confirmed_is_believed_however_little_it_was_before() {
        let in_vain = Some(Verdict::Inconclusive);
        for before in [0.9, 0.4, 0.01, 0.0001] {
            let mut all = believed(&[(0.02, in_vain), (before, CONFIRMED), (0.005, None)]);
            weigh(&mut all);
            assert_eq!(order(&all)[0], 1);
            assert!(all[1].confidence > Some(0.9), "{before}: {:?}", all[1].confidence);
        }
        // Another one that is confirmed as well stays where it was.
        let mut all = believed(&[(0.9, CONFIRMED), (0.01, CONFIRMED)]);
        weigh(&mut all);
        assert!(all[0].confidence > Some(0.95) && all[1].confidence < Some(0.05));
    }

    #[test]
    fn what_could_not_be_tried_stays_as_believable_as_it_was() {
        let mut all = believed(&[(0.97, None), (0.002, CONFIRMED)]);
        weigh(&mut all);
        assert_eq!(order(&all), [0, 1]);
    }

    /// However sure the counts are, trials that prove nothing leave room for what nobody has thought of.
    #[test]
    fn what_trials_do_not_prove_is_not_believed_as_if_they_did() {
        let mut all = believed(&[(0.98, Some(Verdict::Inconclusive)), (0.001, None)]);
        weigh(&mut all);
        let confidence = all[0].confidence.unwrap();
        assert!((0.6..0.8).contains(&confidence), "{confidence}");
        // The test does not fail without it, so that only the delays are in doubt.
        let ends_failures = |one: Confirmation| Confirmation {
            enforced: Trial { runs: 7, failed: 7 },
            forbidden: Trial { runs: 7, failed: 0 },
            ..one
        };
        let mut all = believed(&[(0.98, Some(Verdict::Inconclusive)), (0.001, None)]);
        all[0].confirmation = all[0].confirmation.map(ends_failures);
        weigh(&mut all);
        assert!(all[0].confidence > Some(0.8), "{:?}", all[0].confidence);
        let mut untried = believed(&[(0.98, None), (0.001, None)]);
        weigh(&mut untried);
        assert!(untried[0].confidence > Some(0.97), "{:?}", untried[0].confidence);
    }

    /// The one was tried in vain, which speaks against it; the other was not tried.
    #[test]
    fn no_finding_is_more_probable_than_the_one_before_it() {
        let in_vain = Some(Verdict::Inconclusive);
        let confidences = |all: &[(f64, Option<Verdict>)]| {
            let mut all = believed(all);
            weigh(&mut all);
            order(&all).into_iter().map(|at| all[at].confidence.unwrap()).collect::<Vec<_>>()
        };
        for all in [
            [(0.5, in_vain), (0.4, None), (0.05, None)],
            [(0.5, REFUTED), (0.001, in_vain), (0.0005, None)],
            [(0.5, REFUTED), (0.3, None), (0.01, CONFIRMED)],
        ] {
            let confidences = confidences(&all);
            assert!(confidences.is_sorted_by(|one, next| one >= next), "{confidences:?}");
        }
        let mut all = believed(&[(0.5, in_vain), (0.4, None), (0.05, None)]);
        weigh(&mut all);
        assert_eq!(order(&all), [1, 0, 2]);
    }

    #[test]
    fn without_a_decision_all_stay_where_they_are() {
        for verdict in [None, REFUTED, CONFIRMED] {
            assert_eq!(
                settled(&[(1, 1, verdict), (2, 2, None), (2, 2, None)]),
                [(0, 1, 1), (1, 2, 2), (2, 2, 2)]
            );
        }
    }

    #[test]
    fn a_simulated_fix_is_told_once() {
        let mut finding = findings(&[(1, 1, CONFIRMED)]).remove(0);
        tell_fix(&mut finding, 9);
        tell_fix(&mut finding, 9);
        assert_eq!(finding.advice, "With the other order kept, 0 of 9 runs failed.");
    }
}
