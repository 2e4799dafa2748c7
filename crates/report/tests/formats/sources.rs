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
