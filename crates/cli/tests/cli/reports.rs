//! A session looked at again.

use std::fs;
use std::process::Stdio;

use serde_json::Value;

use crate::kit::{Workplace, claims};

fn has_keys(value: &Value, keys: &[&str]) {
    let object = value.as_object().unwrap_or_else(|| panic!("{value} is no object"));
    for key in keys {
        assert!(object.contains_key(*key), "no {key} in {value:#}");
    }
}

#[test]
fn the_json_report_has_the_documented_keys() {
    let place = Workplace::new();
    let claims = claims().display().to_string();
    let words = format!("run --runs 4 --jobs 1 --seed 3 --json report.json -- {claims} count 2 exit");
    place.call(&words).exits(0).says(&["4 runs"]);
    let text = fs::read_to_string(place.path("report.json")).unwrap();
    let report: Value = serde_json::from_str(&text).unwrap();

    assert_eq!(report["schema"], 1);
    has_keys(&report, &["session", "runs", "technique", "warnings", "findings"]);
    has_keys(&report["session"], &["name", "command", "unsnarl_version", "started", "seed", "wall_seconds"]);
    has_keys(&report["runs"], &["passed", "failed", "hung", "damaged"]);
    assert_eq!(report["session"]["seed"], 3);
    let finding = &report["findings"][0];
    has_keys(finding, &["rank", "tied", "score", "failed", "passed", "kind", "pattern", "accesses"]);
    has_keys(
        finding,
        &["suspicious_functions", "cluster", "failing_runs", "evidence", "advice", "confirmation"],
    );
    let access = &finding["accesses"][0];
    has_keys(access, &["thread", "kind", "variable", "function", "file", "line", "column", "stack"]);
    has_keys(access, &["value", "locks"]);
    has_keys(&access["stack"][0], &["function", "file", "line"]);
    let threads = finding["threads"].as_array().unwrap();
    for thread in threads {
        has_keys(thread, &["thread", "start"]);
        let creation = thread["creation"].as_array();
        assert_eq!(creation.is_some(), thread["created_at"].is_string(), "{thread:#}");
        assert!(creation.is_none_or(|calls| calls.last().unwrap()["function"] == "main"), "{thread:#}");
    }
    assert!(threads.iter().any(|thread| thread["creation"].is_array()));

    let kept = fs::read_to_string(place.path(".unsnarl/claims/report.json")).unwrap();
    assert_eq!(kept, text, "the session keeps its report");
}

#[test]
fn the_json_report_can_go_to_standard_output_alone() {
    let place = Workplace::new();
    let words = format!("run --runs 4 --jobs 1 --json - -- {} count 2 exit", claims().display());
    let seen = place.call(&words).exits(0).complains(&["4 runs", "`queue.size`"]);
    assert_eq!(seen.json()["runs"]["failed"], 2);
    // What the command took is not known of the session.
    let mut report = seen.json();
    assert_eq!(report.as_object_mut().unwrap().remove("effort").unwrap()["runs"], 4);
    assert_eq!(place.call("report --json").exits(0).json(), report);
}

#[test]
fn the_same_session_gives_the_same_bytes() {
    let place = Workplace::new();
    place.claims_session("claims");
    for words in ["report", "report --json", "report --json --technique falcon", "show 2"] {
        let first = place.call(words).exits(0).stdout;
        assert_eq!(place.call(words).exits(0).stdout, first, "{words}");
    }
    place.call("report --json file").exits(0);
    let file = fs::read_to_string(place.path("file")).unwrap();
    assert_eq!(place.call("report --json").stdout, file);
}

#[test]
fn one_finding_is_shown_in_full() {
    let place = Workplace::new();
    place.claims_session("claims");
    let seen = place.call("show 2 --technique unicorn").exits(0);
    seen.says(&["2 ", "`queue.size`", "call stacks", "first_worker()", "failing runs 2, 4, 6, 8, 10"]);
    let first = place.call("show").exits(0);
    assert_eq!(first.stdout, place.call("show 1").stdout, "without a number it is the first");
    for number in ["0", "5000"] {
        let seen = place.call(&format!("show {number}")).exits(2);
        seen.complains(&[&format!("there is no finding {number}: the report has ")]);
    }
    place.call("show x").exits(2);
}

#[test]
fn the_newest_session_is_looked_at_unless_one_is_named() {
    let place = Workplace::new();
    place.claims_session("older");
    place.claims_session("older");
    place.call("report").exits(0).says(&["older-2  10 runs"]);
    place.call("report --session older").exits(0).says(&["older  10 runs", "unsnarl show 1 --session older"]);
    place.call("report --session ./.unsnarl/older").exits(0).says(&["older  10 runs"]);
    place.call("report --session other").exits(9).complains(&[".unsnarl/other is not a session"]);
}

#[test]
fn a_reader_that_has_seen_enough_is_no_trouble() {
    let place = Workplace::new();
    place.claims_session("claims");
    for words in ["report", "report --json", "show 1", "sessions list"] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = place.unsnarl(words).stdout(writer).stderr(Stdio::piped()).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{words}");
        assert_eq!(output.status.code(), Some(0), "{words}");
    }
}

#[test]
fn a_report_that_cannot_be_written_is_noticed_before_the_first_run() {
    let place = Workplace::new();
    let words = format!("run --json no/such/folder/report.json -- {} count 2 exit", claims().display());
    place.call(&words).exits(7).complains(&["there is no folder no/such/folder"]);
    assert!(!place.path("count").exists(), "nothing ran");
    place.claims_session("claims");
    place.call("report --json .unsnarl/claims/runs.jsonl/x").exits(7).complains(&["cannot write to"]);
}
