use insta::assert_snapshot;
use report::{Comparison, Finding, markdown};

use crate::hostile::{TEXTS, made_of};
use crate::samples::{confirmed, early_use, excerpts, hangs, report, stale_check, torn_pair};

#[test]
fn a_report_as_markdown() {
    let mut report = report(vec![confirmed(stale_check()), early_use(), torn_pair()]);
    report.excerpts = excerpts();
    report.warnings = vec!["run 9 was recorded with a gap".into()];
    assert_snapshot!(markdown::report(&report));
}

#[test]
fn a_passing_run_keeps_columns_and_numbers() {
    let mut finding = stale_check();
    let accesses = [1, 0, 2].map(|index| finding.accesses[index].clone()).to_vec();
    finding.comparison = Some(Comparison { run: 3, accesses });
    let markdown = markdown::report(&report(vec![finding]));
    let passing = &markdown[markdown.find("the same code in run 3, which passed:").unwrap()..];
    let rows: Vec<&str> = passing.lines().filter(|line| line.starts_with("| ")).collect();
    assert!(rows[0].starts_with("|  | thread 1 (take_one) | thread 2 (take_one) |"), "{passing}");
    for (row, start) in rows[2..5].iter().zip(["| 2 |  | queue.c:63", "| 1 | queue.c:41", "| 3 | queue.c:47"])
    {
        assert!(row.starts_with(start), "{row}");
    }
}

#[test]
fn what_explains_further_runs_is_pointed_out() {
    let further = Finding { failing_runs: vec![99], ..early_use() };
    let markdown = markdown::report(&report(vec![stale_check(), torn_pair(), further]));
    let lines: Vec<&str> = markdown.lines().filter(|line| line.contains("also in runs")).collect();
    assert_eq!(lines.len(), 1);
    assert!(lines[0].starts_with("3. Order violation on `config`"), "{}", lines[0]);
}

#[test]
fn waiting_threads_are_told_with_and_without_findings() {
    let mut report = report(vec![]);
    report.hangs = hangs();
    assert_snapshot!(markdown::report(&report));
    report.findings = vec![stale_check()];
    let with_findings = markdown::report(&report);
    assert!(with_findings.contains("- thread 4 (reader) waits for a signal on `ready`"), "{with_findings}");
}

#[test]
fn nothing_found_is_said() {
    assert!(markdown::report(&report(vec![])).contains("No cause worth naming"));
}

/// The markdown without code blocks and code spans.
fn outside_of_code(markdown: &str) -> String {
    let mut fence = None;
    let mut text = String::new();
    for line in markdown.lines() {
        match fence {
            Some(end) if line == end => fence = None,
            Some(_) => {}
            None if line.starts_with("```") => fence = Some(line.trim_end_matches("text")),
            None => {
                let mut rest = line;
                while let Some(start) = rest.find('`') {
                    text.push_str(&rest[..start]);
                    if rest[..start].ends_with('\\') {
                        rest = &rest[start + 1..];
                        continue;
                    }
                    let ticks = rest[start..].len() - rest[start..].trim_start_matches('`').len();
                    let (fence, inside) = rest[start..].split_at(ticks);
                    rest = &inside[inside.find(fence).expect("a code span ends in its line") + ticks..];
                }
                text.push_str(rest);
                text.push('\n');
            }
        }
    }
    assert_eq!(fence, None, "a code block is left open");
    text
}

#[test]
fn hostile_text_formats_nothing_and_mentions_nobody() {
    for text in TEXTS {
        let markdown = markdown::report(&made_of(text));
        assert!(markdown.lines().all(|line| report::visible(line) == line), "{markdown}");
        let plain = outside_of_code(&markdown);
        let plain =
            plain.replace("<details><summary>", "").replace("</summary>", "").replace("</details>", "");
        for (at, character) in plain.char_indices().filter(|(_, character)| "<[@".contains(*character)) {
            assert!(plain[..at].ends_with('\\'), "{character} in {plain}");
        }
    }
}
