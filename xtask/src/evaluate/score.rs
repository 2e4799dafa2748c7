//! Compares a report with a program's truth.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::report::{Finding, Report};
use crate::truth::{Answer, Place};

/// The truth of a program, as reports are compared with it.
pub struct Key<'a> {
    /// The answers that count as right, the truth itself first.
    pub answers: &'a [Answer],
    /// The program's own files.
    pub own_files: &'a [&'a str],
}

/// How well a technique did on one set of runs.
#[derive(Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
pub struct Score {
    /// All findings.
    pub candidates: usize,
    /// The best finding that is right.
    #[serde(flatten)]
    pub truth: Option<Standing>,
    /// How sure the technique says it is of its first finding.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f64>,
}

/// A finding's place in the ranking.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
pub struct Standing {
    pub rank: u64,
    /// Findings that share the rank.
    pub tied: u64,
    pub pattern: String,
    /// Places that are no part of the truth, among those of all findings that a person may have to look at.
    pub irrelevant: usize,
}

impl Standing {
    pub fn is_first_and_alone(&self) -> bool {
        self.rank == 1 && self.tied == 1
    }

    /// Findings that a person may have to look at.
    pub fn effort(&self) -> u64 {
        self.rank + self.tied - 1
    }
}

impl Score {
    pub fn is_first_and_alone(&self) -> bool {
        self.truth.as_ref().is_some_and(Standing::is_first_and_alone)
    }
}

impl Key<'_> {
    /// Scores a report.
    pub fn score(&self, report: &Report) -> Score {
        let truth = self.best(report).map(|finding| Standing {
            rank: finding.rank,
            tied: finding.tied,
            pattern: finding.pattern.clone(),
            irrelevant: self.irrelevant_places(report, finding.rank),
        });
        let confidence = report.findings.first().and_then(|finding| finding.confidence);
        Score { candidates: report.findings.len(), truth, confidence }
    }

    /// The best finding that is right. Among equals, the truth itself goes before its alternatives.
    pub fn best<'r>(&self, report: &'r Report) -> Option<&'r Finding> {
        let right = report.findings.iter().filter_map(|finding| Some((finding, self.answer(finding)?)));
        right.min_by_key(|(finding, answer)| (finding.rank, *answer)).map(|(finding, _)| finding)
    }

    /// Which answer a finding is, if it is right.
    pub fn answer(&self, finding: &Finding) -> Option<usize> {
        self.answers.iter().position(|answer| self.is_answer(finding, answer))
    }

    /// The lines that have to do with the bug.
    pub fn places(&self) -> BTreeSet<&Place> {
        self.answers.iter().flat_map(|answer| &answer.accesses).map(|(place, _)| place).collect()
    }

    fn irrelevant_places(&self, report: &Report, rank: u64) -> usize {
        let looked_at = report.findings.iter().filter(|finding| finding.rank <= rank);
        let shown: BTreeSet<Place> = looked_at.flat_map(|finding| finding.places(self.own_files)).collect();
        let relevant = self.places();
        shown.iter().filter(|place| !relevant.contains(place)).count()
    }

    /// The same places in the same order, read and written alike, and each thread of the one is one thread of the other.
    fn is_answer(&self, finding: &Finding, answer: &Answer) -> bool {
        if finding.pattern.len() != answer.pattern.len() || finding.accesses.len() != answer.accesses.len() {
            return false;
        }
        if answer.is_circular() {
            return self.is_circle(finding, answer);
        }
        let (mut roles, mut owners) = (BTreeMap::new(), BTreeMap::new());
        finding.pattern == answer.pattern
            && finding.accesses.iter().zip(&answer.accesses).all(|(access, (place, role))| {
                let same_thread = *roles.entry(access.thread).or_insert(*role) == *role
                    && *owners.entry(*role).or_insert(access.thread) == access.thread;
                same_thread && access.place(self.own_files).as_ref() == Some(place)
            })
    }

    /// The same circle of threads, whichever comes first: what each of them does in which order is all that counts.
    fn is_circle(&self, finding: &Finding, answer: &Answer) -> bool {
        let mut said: BTreeMap<u32, Vec<Option<Place>>> = BTreeMap::new();
        for access in &finding.accesses {
            said.entry(access.thread).or_default().push(access.place(self.own_files));
        }
        let mut true_ones: BTreeMap<u32, Vec<Option<Place>>> = BTreeMap::new();
        for (place, role) in &answer.accesses {
            true_ones.entry(*role).or_default().push(Some(place.clone()));
        }
        let sorted = |threads: BTreeMap<u32, Vec<Option<Place>>>| {
            let mut threads: Vec<_> = threads.into_values().collect();
            threads.sort();
            threads
        };
        finding.pattern == answer.pattern && sorted(said) == sorted(true_ones)
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use crate::truth::Truth;

    /// A report in which each finding is `rank tied pattern thread@file:line…`.
    pub fn report(findings: &[&str]) -> Report {
        let findings: Vec<serde_json::Value> = findings
            .iter()
            .map(|text| {
                let words: Vec<&str> = text.split_whitespace().collect();
                let accesses: Vec<serde_json::Value> = words[3..].iter().map(|word| access(word)).collect();
                serde_json::json!({
                    "rank": words[0].parse::<u64>().unwrap(),
                    "tied": words[1].parse::<u64>().unwrap(),
                    "failed": 24,
                    "passed": 1,
                    "pattern": words[2],
                    "accesses": accesses,
                    "score": null,
                })
            })
            .collect();
        let runs = serde_json::json!({ "passed": 75, "failed": 25, "hung": 1, "damaged": 3 });
        let whole = serde_json::json!({ "schema": 1, "runs": runs, "findings": findings });
        serde_json::from_value(whole).unwrap()
    }

    fn access(text: &str) -> serde_json::Value {
        let (thread, place) = text.split_once('@').unwrap();
        let thread: u32 = thread.parse().unwrap();
        match place.split_once(':') {
            Some((file, line)) => {
                serde_json::json!({ "thread": thread, "file": file, "line": line.parse::<u32>().unwrap() })
            }
            None => serde_json::json!({ "thread": thread, "file": null, "line": null }),
        }
    }

    fn example() -> Vec<Answer> {
        Truth::parse(crate::truth::tests::EXAMPLE).unwrap().answers().unwrap()
    }

    /// Scores findings against the example truth, 1@queue.c:41 2@queue.c:30 1@queue.c:25 or its first two: rank, tie and
    /// irrelevant places.
    fn check(findings: &[&str], expected: Option<(u64, u64, usize)>) {
        let key = Key { answers: &example(), own_files: &["queue.c", "claim.c"] };
        let score = key.score(&report(findings));
        assert_eq!(score.candidates, findings.len());
        assert_eq!(score.truth.map(|s| (s.rank, s.tied, s.irrelevant)), expected, "{findings:?}");
    }

    #[test]
    fn the_truth_is_recognised_by_places_and_threads() {
        check(&["1 1 RWR 1@queue.c:41 2@queue.c:30 1@queue.c:25"], Some((1, 1, 0)));
        let elsewhere = "3 4 RWR 1@/build/corpus/c/claim/queue.c:41 2@./queue.c:30 1@queue.c:25";
        check(&[elsewhere], Some((3, 4, 0)));
        check(&[], None);
    }

    #[test]
    fn threads_are_compared_by_role_not_by_number() {
        check(&["1 1 RWR 7@queue.c:41 5@queue.c:30 7@queue.c:25"], Some((1, 1, 0)));
        check(&["1 1 RWR 1@queue.c:41 1@queue.c:30 1@queue.c:25"], None);
        check(&["1 1 RWR 1@queue.c:41 2@queue.c:30 3@queue.c:25"], None);
    }

    #[test]
    fn order_length_kind_file_and_line_all_matter() {
        check(&["1 1 RRR 1@queue.c:41 2@queue.c:30 1@queue.c:25"], None);
        check(&["1 1 WRR 2@queue.c:30 1@queue.c:41 1@queue.c:25"], None);
        check(&["1 1 RWRR 1@queue.c:41 2@queue.c:30 1@queue.c:25 1@queue.c:26"], None);
        check(&["1 1 RWR 1@claim.c:41 2@claim.c:30 1@claim.c:25"], None);
        check(&["1 1 RWR 1@queue.c:42 2@queue.c:30 1@queue.c:25"], None);
        check(&["1 1 RWR 1@queue.c:42 2@queue.c:30 1@unknown"], None);
    }

    #[test]
    fn an_alternative_is_as_good_and_the_best_rank_counts() {
        let findings = [
            "1 2 RW 1@queue.c:25 2@queue.c:30",
            "1 2 WW 1@queue.c:30 2@claim.c:9",
            "3 1 RW 1@queue.c:41 2@queue.c:30",
            "4 1 RWR 1@queue.c:41 2@queue.c:30 1@queue.c:25",
            "5 1 RW 1@claim.c:1 2@claim.c:2",
        ];
        // Line 9 of claim.c is the only innocent one that is shown until then.
        check(&findings, Some((3, 1, 1)));
    }

    #[test]
    fn the_truth_itself_is_named_before_a_tied_alternative() {
        let findings = ["1 2 RW 1@queue.c:41 2@queue.c:30", "1 2 RWR 1@queue.c:41 2@queue.c:30 1@queue.c:25"];
        let key = Key { answers: &example(), own_files: &["queue.c"] };
        let truth = key.score(&report(&findings)).truth.unwrap();
        assert_eq!((truth.pattern.as_str(), truth.effort(), truth.is_first_and_alone()), ("RWR", 2, false));
    }

    #[test]
    fn no_thread_of_a_deadlock_comes_first() {
        let place = |line| Place::new("f.c", line);
        let answers = [Answer {
            pattern: "LLLL".to_owned(),
            accesses: vec![(place(1), 1), (place(2), 2), (place(3), 1), (place(4), 2)],
            bug: 1,
        }];
        let key = Key { answers: &answers, own_files: &["f.c"] };
        let is_right = |finding: &str| key.score(&report(&[finding])).truth.is_some();
        assert!(is_right("1 1 LLLL 1@f.c:1 2@f.c:2 1@f.c:3 2@f.c:4"));
        assert!(is_right("1 1 LLLL 1@f.c:2 2@f.c:1 1@f.c:4 2@f.c:3"));
        assert!(is_right("1 1 LLLL 1@f.c:1 1@f.c:3 2@f.c:2 2@f.c:4"));
        assert!(!is_right("1 1 LLLL 1@f.c:1 1@f.c:4 2@f.c:2 2@f.c:3"));
        assert!(!is_right("1 1 LLLL 1@f.c:3 1@f.c:1 2@f.c:2 2@f.c:4"));
        assert!(!is_right("1 1 WWWW 1@f.c:1 2@f.c:2 1@f.c:3 2@f.c:4"));
    }
}
