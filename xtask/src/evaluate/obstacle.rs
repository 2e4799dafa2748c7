//! Why the truth is not first and alone: who is ahead of it, who shares its rank, or what keeps it from being found.

use super::report::{Finding, Report};
use super::score::Key;
use crate::truth::Place;

/// How many findings are named.
const NAMED: usize = 2;

/// One line on why the truth is not first and alone, unless it is.
pub fn obstacle(report: &Report, key: &Key) -> Option<String> {
    let Some(truth) = key.best(report) else { return Some(why_not_found(report, key)) };
    if truth.rank == 1 && truth.tied == 1 {
        return None;
    }
    let others = |rank_fits: &dyn Fn(u64) -> bool| -> Vec<&Finding> {
        let fits = report.findings.iter().filter(|other| rank_fits(other.rank));
        fits.filter(|other| key.answer(other).is_none()).collect()
    };
    let ahead = others(&|rank| rank < truth.rank);
    let beside = others(&|rank| rank == truth.rank);
    let mut parts =
        vec![format!("rank {} tied {} as {}", truth.rank, truth.tied, truth.in_short(key.own_files))];
    if !ahead.is_empty() {
        parts.push(format!("ahead: {}", list(&ahead, key)));
    }
    if !beside.is_empty() {
        parts.push(format!("beside: {}", list(&beside, key)));
    } else if truth.tied > 1 {
        parts.push("all that share its rank are right as well".to_owned());
    }
    Some(parts.join("; "))
}

fn list(findings: &[&Finding], key: &Key) -> String {
    let mut named: Vec<String> =
        findings.iter().take(NAMED).map(|finding| finding.in_short(key.own_files)).collect();
    if findings.len() > NAMED {
        named.push(format!("and {} more", findings.len() - NAMED));
    }
    named.join(", ")
}

fn why_not_found(report: &Report, key: &Key) -> String {
    if report.findings.is_empty() {
        return "nothing is found at all".to_owned();
    }
    let shown: Vec<Vec<Place>> =
        report.findings.iter().map(|finding| finding.places(key.own_files).collect()).collect();
    let truth = key.answers.first().map(|answer| answer.accesses.as_slice()).unwrap_or_default();
    let mut unseen: Vec<String> = truth
        .iter()
        .filter(|(place, _)| !shown.iter().flatten().any(|other| other == place))
        .map(|(place, _)| place.to_string())
        .collect();
    unseen.dedup();
    if !unseen.is_empty() {
        return format!("not found: no finding has {}", unseen.join(", "));
    }
    let touched = |places: &[Place]| truth.iter().filter(|(place, _)| places.contains(place)).count();
    let nearest = report
        .findings
        .iter()
        .zip(&shown)
        .max_by_key(|(finding, places)| (touched(places), std::cmp::Reverse(finding.rank)));
    match nearest {
        Some((nearest, _)) => format!(
            "not found as such; nearest is rank {} tied {}: {}",
            nearest.rank,
            nearest.tied,
            nearest.in_short(key.own_files)
        ),
        None => "not found".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluate::score::tests::report;
    use crate::truth::Truth;

    fn check(findings: &[&str], expected: Option<&str>) {
        let answers = Truth::parse(crate::truth::tests::EXAMPLE).unwrap().answers().unwrap();
        let key = Key { answers: &answers, own_files: &["queue.c", "claim.c"] };
        assert_eq!(obstacle(&report(findings), &key).as_deref(), expected);
    }

    const TRUTH: &str = "RWR 1@queue.c:41 2@queue.c:30 1@queue.c:25";

    #[test]
    fn nothing_is_said_where_all_is_well() {
        check(&[&format!("1 1 {TRUTH}")], None);
    }

    #[test]
    fn those_ahead_and_beside_are_named() {
        let findings = [
            "1 1 WW 1@claim.c:1 2@claim.c:2",
            &format!("2 4 {TRUTH}"),
            "2 4 RW 1@queue.c:41 2@queue.c:30",
            "2 4 RW 1@claim.c:3 2@claim.c:4",
            "2 4 RW 1@claim.c:5 2@claim.c:6",
        ];
        check(
            &findings,
            Some(
                "rank 2 tied 4 as RWR at queue.c:41, queue.c:30, queue.c:25 (failing 24, passing 1); \
                 ahead: WW at claim.c:1, claim.c:2 (failing 24, passing 1); \
                 beside: RW at claim.c:3, claim.c:4 (failing 24, passing 1), \
                 RW at claim.c:5, claim.c:6 (failing 24, passing 1)",
            ),
        );
        let both = [&format!("1 2 {TRUTH}"), "1 2 RW 1@queue.c:41 2@queue.c:30"];
        check(
            &both,
            Some(
                "rank 1 tied 2 as RWR at queue.c:41, queue.c:30, queue.c:25 (failing 24, passing 1); \
                 all that share its rank are right as well",
            ),
        );
    }

    #[test]
    fn what_is_missing_is_named() {
        check(&[], Some("nothing is found at all"));
        check(&["1 1 RW 1@queue.c:41 2@queue.c:25"], Some("not found: no finding has queue.c:30"));
        check(
            &["1 1 RRW 1@queue.c:41 1@queue.c:25 2@queue.c:30"],
            Some(
                "not found as such; nearest is rank 1 tied 1: \
                 RRW at queue.c:41, queue.c:25, queue.c:30 (failing 24, passing 1)",
            ),
        );
    }
}
