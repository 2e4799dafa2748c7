use insta::assert_snapshot;
use proptest::prelude::*;
use report::{Kind, Report, json};

use crate::samples::{Known, access, confirmed, early_use, finding, report, stale_check, torn_pair};

fn full_report() -> Report {
    let mut report = report(vec![confirmed(stale_check()), early_use(), torn_pair()]);
    report.warnings = vec!["run 9 was recorded with a gap".into()];
    report
}

#[test]
fn a_report_as_json() {
    let stripped = access(1, report::AccessKind::Update, "heap from cache.c:41 +8", "", 1)
        .stripped("/opt/cache/bin/cached", "0x1f40")
        .called_from(&[]);
    let mut unnamed = finding(Kind::Communication, "U", vec![stripped]);
    unnamed.score = 0.25;
    assert_snapshot!(json::to_string(&report(vec![confirmed(stale_check()), unnamed])));
}

#[test]
fn what_is_written_is_read_again() {
    let report = full_report();
    assert_eq!(json::from_str(&json::to_string(&report)).unwrap(), report);
}

#[test]
fn an_infinite_score_survives() {
    let mut report = full_report();
    report.findings[0].score = f64::INFINITY;
    let text = json::to_string(&report);
    assert!(text.contains(r#""score": null"#), "{text}");
    assert_eq!(json::from_str(&text).unwrap(), report);
}

fn hostile_or_any() -> impl Strategy<Value = char> {
    let hostile = ['\u{1b}', '\n', '"', '\\', '\u{7f}', '\u{9b}', '\u{202e}', '\u{2028}', '\u{e0041}'];
    prop_oneof![prop::sample::select(hostile.to_vec()), any::<char>()]
}

proptest! {
    #[test]
    fn scores_are_read_as_written(score in prop::num::f64::NORMAL | prop::num::f64::ZERO) {
        let mut report = full_report();
        report.findings[0].score = score;
        prop_assert_eq!(json::from_str(&json::to_string(&report)).unwrap().findings[0].score, score);
    }

    #[test]
    fn any_text_survives_and_none_acts_on_a_terminal(text in prop::collection::vec(hostile_or_any(), 0..20)) {
        let mut report = full_report();
        report.findings[0].accesses[0].source = Some(text.into_iter().collect());
        let json = json::to_string(&report);
        prop_assert!(json.lines().all(|line| report::visible(line) == line));
        prop_assert_eq!(json::from_str(&json).unwrap(), report);
    }
}

/// The keys that the JSON report promises, by the path to the object that has them.
const PROMISED: &[(&str, &[&str])] = &[
    ("", &["schema", "session", "runs", "technique", "warnings", "findings"]),
    ("/session", &["name", "command", "unsnarl_version", "started", "seed", "wall_seconds"]),
    ("/runs", &["passed", "failed", "hung", "damaged"]),
    (
        "/findings/0",
        &[
            "rank",
            "tied",
            "score",
            "failed",
            "passed",
            "kind",
            "pattern",
            "accesses",
            "suspicious_functions",
            "cluster",
            "failing_runs",
            "evidence",
            "advice",
            "confirmation",
        ],
    ),
    (
        "/findings/0/accesses/0",
        &["thread", "kind", "variable", "function", "file", "line", "column", "stack", "value", "locks"],
    ),
    ("/findings/0/accesses/0/stack/0", &["function", "file", "line"]),
    ("/findings/0/confirmation", &["enforced", "forbidden", "verdict"]),
    ("/findings/0/confirmation/enforced", &["runs", "failed"]),
    ("/findings/0/confirmation/forbidden", &["runs", "failed"]),
];

#[test]
fn promised_keys_are_there() {
    let value: serde_json::Value = serde_json::from_str(&json::to_string(&full_report())).unwrap();
    for (path, keys) in PROMISED {
        let object = value.pointer(path).unwrap_or_else(|| panic!("no {path}"));
        for key in *keys {
            assert!(object.get(key).is_some(), "no {key} in {path}");
        }
    }
}

#[test]
fn promised_keys_are_there_when_nothing_is_known() {
    let nameless = access(1, report::AccessKind::Read, "", "", 1).stripped("a.out", "0x10");
    let value = serde_json::to_value(report(vec![finding(Kind::Deadlock, "", vec![nameless])])).unwrap();
    for (path, keys) in PROMISED {
        if let Some(object) = value.pointer(path).filter(|object| !object.is_null()) {
            for key in *keys {
                assert!(object.get(key).is_some(), "no {key} in {path}");
            }
        }
    }
    assert!(value.pointer("/findings/0/confirmation").unwrap().is_null());
}

#[test]
fn kinds_have_the_promised_names() {
    let kinds = [
        (Kind::OrderViolation, "order-violation"),
        (Kind::AtomicityViolation, "atomicity-violation"),
        (Kind::MultiVariableAtomicityViolation, "multi-variable-atomicity-violation"),
        (Kind::Deadlock, "deadlock"),
        (Kind::MissedSignal, "missed-signal"),
        (Kind::Communication, "communication"),
    ];
    for (kind, name) in kinds {
        assert_eq!(serde_json::to_value(kind).unwrap(), name);
    }
}

#[track_caller]
fn check_error(text: &str, expected: &str) {
    assert_eq!(json::from_str(text).unwrap_err().to_string(), expected);
}

#[test]
fn what_is_no_report_is_refused() {
    check_error(
        r#"{"schema": 2, "sessions": []}"#,
        "the report has schema 2, but this version of unsnarl reads schema 1",
    );
    check_error("{}", "not a report: missing field `schema` at line 1 column 2");
    check_error(r#"{"schema": 1}"#, "not a report: missing field `session` at line 1 column 13");
    check_error("", "not a report: EOF while parsing a value at line 1 column 0");
}

#[test]
fn keys_added_later_do_no_harm() {
    let report = full_report();
    let later = json::to_string(&report).replacen(r#""schema": 1,"#, r#""schema": 1, "mood": "good","#, 1);
    assert_eq!(json::from_str(&later).unwrap(), report);
}
