use std::fs;

use report::source::Sources;

use crate::samples::{early_use, report, stale_check};

#[test]
fn sources_are_filled_in_where_they_are_missing() {
    let root = tempfile::tempdir().unwrap();
    fs::create_dir(root.path().join("src")).unwrap();
    let lines: Vec<String> = (1..=60).map(|line| format!("line {line}")).collect();
    fs::write(root.path().join("src/queue.c"), lines.join("\n")).unwrap();

    let mut report = report(vec![stale_check(), early_use()]);
    report.findings[0].accesses[0].source = None;
    for access in &mut report.findings[1].accesses {
        access.source = None;
    }
    Sources::new([root.path().to_owned()]).fill_in(&mut report);

    let sources: Vec<Option<&str>> = report
        .findings
        .iter()
        .flat_map(|finding| &finding.accesses)
        .map(|access| access.source.as_deref())
        .collect();
    let known = ["\tq->size--;", "        item = queue_pop(q);"];
    // The file ends before line 90, where the last access is.
    assert_eq!(sources, [Some("line 41"), Some(known[0]), Some(known[1]), Some("line 17"), None]);
}

#[test]
fn each_line_around_the_accesses_is_there_once() {
    let root = tempfile::tempdir().unwrap();
    fs::create_dir(root.path().join("src")).unwrap();
    let lines: Vec<String> = (1..=65).map(|line| format!("line {line}")).collect();
    fs::write(root.path().join("src/queue.c"), lines.join("\n")).unwrap();

    let mut report = report(vec![stale_check(), stale_check(), early_use()]);
    Sources::new([root.path().to_owned()]).fill_in(&mut report);

    let shape: Vec<(&str, u32, usize)> = report
        .excerpts
        .iter()
        .map(|excerpt| (excerpt.file.as_str(), excerpt.first, excerpt.lines.len()))
        .collect();
    // Lines 41 and 47 are so close that what is around them touches; the file ends before line 66.
    assert_eq!(shape, [("src/queue.c", 14, 7), ("src/queue.c", 38, 13), ("src/queue.c", 60, 6)]);
    assert_eq!(report.excerpts[1].lines[3], "line 41");
}
