//! What is said about the bug of each corpus program. The data come from real runs; `cargo xtask stories` takes them
//! anew. The words are made here, so that each change of a sentence shows in all the stories that it tells.

use report::Report;
use report::explanation::{advice, story};
use report::terminal::{self, View};

const VIEW: View = View { width: 100, color: false, listed: 1, name_technique: false };

const KEPT: &str = include_str!("stories.jsonl");

/// Title, story, reasons, advice and threads; the picture and the stacks are the business of other tests.
fn told(line: &str) -> String {
    let report: Report = serde_json::from_str(line).expect("a report in each line");
    let mut finding = report.findings[0].clone();
    finding.story = story(&finding, &report.runs);
    finding.advice = finding.fix.as_ref().map(advice).unwrap_or_default();
    let page = terminal::finding(&report, 1, &finding, &VIEW);
    let paragraphs: Vec<&str> = page.split("\n\n").collect();
    let is_reason = |text: &&&str| text.starts_with("   why ") || text.starts_with("   fix ");
    let threads = paragraphs.iter().find(|text| text.starts_with("   threads "));
    let threads = threads.and_then(|text| text.split_once("\n   pattern ")).map(|(threads, _)| threads);
    let parts = paragraphs.iter().take(1).chain(paragraphs.iter().filter(is_reason)).copied().chain(threads);
    format!("== {}\n{}", report.session.name, parts.collect::<Vec<_>>().join("\n"))
}

#[test]
fn what_is_said_about_the_corpus() {
    let stories: Vec<String> = KEPT.lines().map(told).collect();
    assert!(stories.len() > 40, "{} stories", stories.len());
    insta::assert_snapshot!(stories.join("\n\n"));
}
