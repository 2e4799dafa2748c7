//! Compares a JSON report with a program's truth. Reports are read as any program would: by their documented keys.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::truth::{Answer, Place};

/// The keys of a report that matter here.
#[derive(Deserialize)]
pub struct Report {
    pub runs: Runs,
    pub findings: Vec<Finding>,
}

#[derive(Deserialize, Serialize, Clone, Copy, Debug)]
pub struct Runs {
    pub passed: u64,
    pub failed: u64,
    pub hung: u64,
    pub damaged: u64,
}

impl Runs {
    /// Failing runs per run; none without runs.
    pub fn failure_rate(&self) -> Option<f64> {
        let judged = self.passed + self.failed;
        (judged > 0).then(|| self.failed as f64 / judged as f64)
    }
}

#[derive(Deserialize)]
pub struct Finding {
    pub rank: u64,
    pub tied: u64,
    pub pattern: String,
    pub accesses: Vec<Access>,
}

#[derive(Deserialize)]
pub struct Access {
    pub thread: u32,
    pub file: Option<String>,
    pub line: Option<u32>,
    #[serde(default)]
    pub stack: Vec<Frame>,
}

#[derive(Deserialize)]
pub struct Frame {
    pub file: Option<String>,
    pub line: Option<u32>,
}

impl Access {
    /// The innermost place in the program's own files: what a container does inside, it does for its user's line.
    /// An access outside of all of them is where it says.
    fn place(&self, own_files: &[String]) -> Option<Place> {
        let is_own = |file: &str| {
            own_files.iter().any(|own| Path::new(file).file_name() == Path::new(own).file_name())
        };
        let own = self.stack.iter().find_map(|frame| {
            let file = frame.file.as_deref().filter(|file| is_own(file))?;
            Some(Place::new(file, frame.line?))
        });
        own.or_else(|| Some(Place::new(self.file.as_deref()?, self.line?)))
    }
}

/// How well a technique did on one program.
#[derive(Serialize, Clone, Debug, PartialEq)]
pub struct Score {
    /// All findings.
    pub patterns: usize,
    /// The best finding that is right.
    pub truth: Option<Standing>,
    /// The best finding that touches two or more of the truth's lines.
    pub nearest: Option<Standing>,
}

/// A finding's place in the ranking.
#[derive(Serialize, Clone, Debug, PartialEq)]
pub struct Standing {
    pub rank: u64,
    /// Findings that share the rank.
    pub tied: u64,
    pub pattern: String,
}

/// Scores a report against the answers that count as right, the truth itself first. `own_files` are the program's.
pub fn score(report: &Report, answers: &[Answer], own_files: &[String]) -> Score {
    let lines: BTreeSet<&Place> =
        answers.first().into_iter().flat_map(|truth| &truth.accesses).map(|(place, _)| place).collect();
    let standing = |finding: &Finding| Standing {
        rank: finding.rank,
        tied: finding.tied,
        pattern: finding.pattern.clone(),
    };
    let right = report.findings.iter().filter_map(|finding| {
        let answer = answers.iter().position(|answer| is_answer(finding, answer, own_files))?;
        Some((finding, answer))
    });
    let near = report.findings.iter().filter(|finding| {
        let touched: BTreeSet<Place> =
            finding.accesses.iter().filter_map(|access| access.place(own_files)).collect();
        touched.iter().filter(|place| lines.contains(place)).count() >= 2
    });
    Score {
        patterns: report.findings.len(),
        // Among equals, the truth itself goes before its alternatives.
        truth: right
            .min_by_key(|(finding, answer)| (finding.rank, *answer))
            .map(|(finding, _)| standing(finding)),
        nearest: near.min_by_key(|finding| finding.rank).map(standing),
    }
}

/// The same places in the same order, read and written alike, and each thread of the one is one thread of the other.
fn is_answer(finding: &Finding, answer: &Answer, own_files: &[String]) -> bool {
    if finding.pattern != answer.pattern || finding.accesses.len() != answer.accesses.len() {
        return false;
    }
    let (mut roles, mut owners) = (BTreeMap::new(), BTreeMap::new());
    finding.accesses.iter().zip(&answer.accesses).all(|(access, (place, role))| {
        let same_thread = *roles.entry(access.thread).or_insert(*role) == *role
            && *owners.entry(*role).or_insert(access.thread) == access.thread;
        same_thread && access.place(own_files).as_ref() == Some(place)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::truth::Truth;

    /// A report in which each finding is `rank tied pattern thread@file:line…`.
    fn report(findings: &[&str]) -> Report {
        let findings: Vec<serde_json::Value> = findings
            .iter()
            .map(|text| {
                let words: Vec<&str> = text.split_whitespace().collect();
                let accesses: Vec<serde_json::Value> = words[3..].iter().map(|word| access(word)).collect();
                serde_json::json!({
                    "rank": words[0].parse::<u64>().unwrap(),
                    "tied": words[1].parse::<u64>().unwrap(),
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

    /// Scores findings against the example truth: 1@queue.c:41 2@queue.c:30 1@queue.c:25, or its first two.
    fn check(findings: &[&str], truth: Option<(u64, u64)>, nearest: Option<(u64, u64)>) {
        let answers = Truth::parse(crate::truth::tests::EXAMPLE).unwrap().answers().unwrap();
        let score = score(&report(findings), &answers, &["queue.c".to_owned()]);
        let standing = |standing: Option<Standing>| standing.map(|s| (s.rank, s.tied));
        assert_eq!(score.patterns, findings.len());
        assert_eq!((standing(score.truth), standing(score.nearest)), (truth, nearest), "{findings:?}");
    }

    #[test]
    fn the_truth_is_recognised_by_places_and_threads() {
        let right = "1 1 RWR 1@queue.c:41 2@queue.c:30 1@queue.c:25";
        check(&[right], Some((1, 1)), Some((1, 1)));
        check(
            &["3 4 RWR 1@/build/corpus/c/claim/queue.c:41 2@./queue.c:30 1@queue.c:25"],
            Some((3, 4)),
            Some((3, 4)),
        );
        check(&[], None, None);
    }

    #[test]
    fn threads_are_compared_by_role_not_by_number() {
        check(&["1 1 RWR 7@queue.c:41 5@queue.c:30 7@queue.c:25"], Some((1, 1)), Some((1, 1)));
        check(&["1 1 RWR 1@queue.c:41 1@queue.c:30 1@queue.c:25"], None, Some((1, 1)));
        check(&["1 1 RWR 1@queue.c:41 2@queue.c:30 3@queue.c:25"], None, Some((1, 1)));
    }

    #[test]
    fn order_length_kind_file_and_line_all_matter() {
        check(&["1 1 RRR 1@queue.c:41 2@queue.c:30 1@queue.c:25"], None, Some((1, 1)));
        check(&["1 1 WRR 2@queue.c:30 1@queue.c:41 1@queue.c:25"], None, Some((1, 1)));
        check(&["1 1 RWRR 1@queue.c:41 2@queue.c:30 1@queue.c:25 1@queue.c:26"], None, Some((1, 1)));
        check(&["1 1 RWR 1@claim.c:41 2@claim.c:30 1@claim.c:25"], None, None);
        check(&["1 1 RWR 1@queue.c:42 2@queue.c:30 1@queue.c:25"], None, Some((1, 1)));
        check(&["1 1 RWR 1@queue.c:42 2@queue.c:30 1@unknown"], None, None);
    }

    #[test]
    fn an_alternative_is_as_good_and_the_best_rank_counts() {
        check(
            &[
                "1 2 RW 1@queue.c:25 2@queue.c:30",
                "1 2 WW 1@queue.c:30 2@claim.c:9",
                "3 1 RW 1@queue.c:41 2@queue.c:30",
                "4 1 RWR 1@queue.c:41 2@queue.c:30 1@queue.c:25",
            ],
            Some((3, 1)),
            Some((1, 2)),
        );
    }

    #[test]
    fn the_truth_itself_is_named_before_a_tied_alternative() {
        let answers = Truth::parse(crate::truth::tests::EXAMPLE).unwrap().answers().unwrap();
        let findings = ["1 2 RW 1@queue.c:41 2@queue.c:30", "1 2 RWR 1@queue.c:41 2@queue.c:30 1@queue.c:25"];
        assert_eq!(score(&report(&findings), &answers, &[]).truth.unwrap().pattern, "RWR");
    }

    #[test]
    fn one_line_twice_is_not_two_lines() {
        check(&["1 1 WW 1@queue.c:30 2@queue.c:30"], None, None);
    }

    #[test]
    fn damaged_runs_do_not_count() {
        let runs = report(&[]).runs;
        assert_eq!(runs.failure_rate(), Some(0.25));
        assert_eq!(Runs { passed: 0, failed: 0, ..runs }.failure_rate(), None);
    }

    #[test]
    fn what_a_container_does_counts_for_its_users_line() {
        let frame = |file: &str, line: u32| Frame { file: Some(file.to_owned()), line: Some(line) };
        let access = Access {
            thread: 1,
            file: Some("/std/vec.rs".to_owned()),
            line: Some(9),
            stack: vec![
                frame("/std/vec.rs", 9),
                frame("/home/me/src/main.rs", 41),
                frame("/home/me/src/main.rs", 7),
            ],
        };
        assert_eq!(access.place(&["src/main.rs".to_owned()]), Some(Place::new("main.rs", 41)));
        assert_eq!(access.place(&["other.rs".to_owned()]), Some(Place::new("vec.rs", 9)));
    }
}
