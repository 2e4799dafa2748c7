//! Many reports at once, on parts of a session's runs: what `cargo xtask evaluate` asks for.

use std::io::Write as _;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::kit::{Seen, Workplace};

fn ask(place: &Workplace, plan: &Value) -> Seen {
    let mut command = place.unsnarl("draws --session claims");
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(plan.to_string().as_bytes()).unwrap();
    Seen::of("draws", child.wait_with_output().unwrap())
}

/// Where the findings of a report are, and how they rank.
fn ranking(report: &Value) -> Vec<Value> {
    let findings = report["findings"].as_array().unwrap().iter();
    let in_short = |finding: &Value| {
        let accesses = finding["accesses"].as_array().unwrap().iter();
        let places: Vec<Value> =
            accesses.map(|access| json!([access["thread"], access["variable"], access["line"]])).collect();
        json!([finding["rank"], finding["tied"], finding["failed"], finding["passed"], places])
    };
    findings.map(in_short).collect()
}

/// The numbers of the failing and of the passing runs.
fn numbers(place: &Workplace) -> (Vec<u64>, Vec<u64>) {
    let numbered = (1..).zip(place.outcomes("claims"));
    let (failing, passing): (Vec<_>, Vec<_>) = numbered.partition(|(_, outcome)| outcome == "fail");
    let numbers = |runs: Vec<(u64, String)>| runs.into_iter().map(|(number, _)| number).collect();
    (numbers(failing), numbers(passing))
}

#[test]
fn all_runs_drawn_give_the_report_of_the_session() {
    let place = Workplace::new();
    place.claims_session("claims");
    let (failing, passing) = numbers(&place);
    let techniques = ["verdict", "unicorn", "recon", "locon"];
    // The first draw leaves something behind for the second to stumble over.
    let draws = json!([
        { "failing": failing[..1], "passing": passing[..2] },
        { "failing": failing, "passing": passing, "explained": techniques },
        { "failing": failing, "passing": passing },
    ]);
    let seen =
        ask(&place, &json!({ "techniques": techniques, "files": ["claims.c"], "draws": draws })).exits(0);
    let reports: Vec<Value> = seen.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(reports.len(), 12);
    assert!(reports[0]["findings"].as_array().unwrap().iter().all(|finding| finding["failed"] == 1));
    for (nth, technique) in techniques.iter().enumerate() {
        let whole = place.call(&format!("report --technique {technique} --json")).exits(0).json();
        let [explained, brief] = [4, 8].map(|draw| &reports[draw + nth]);
        assert_eq!(explained["technique"], *technique);
        assert_eq!(ranking(explained), ranking(&whole), "{technique}");
        assert_eq!(explained["findings"][0]["kind"], whole["findings"][0]["kind"]);
        let mut unnamed = explained.clone();
        for finding in unnamed["findings"].as_array_mut().unwrap() {
            let accesses = finding["accesses"].as_array_mut().unwrap();
            accesses.iter_mut().for_each(|access| drop(access.as_object_mut().unwrap().remove("variable")));
        }
        assert_eq!(ranking(brief), ranking(&unnamed), "{technique}");
        assert_eq!(brief["findings"][0]["kind"], Value::Null);
    }
}

/// A pool is put together of several sessions' runs, whose files say what number they had there.
#[test]
fn runs_go_by_the_numbers_that_they_have_in_the_session() {
    let place = Workplace::new();
    place.claims_session("claims");
    let (failing, passing) = numbers(&place);
    let mut list = String::new();
    for mut record in place.runs("claims") {
        let number = record["run"].as_u64().unwrap();
        let file = |number: u64| place.path(&format!(".unsnarl/claims/runs/{number:06}.run"));
        std::fs::rename(file(number), file(number + 100)).unwrap();
        record["run"] = json!(number + 100);
        list += &format!("{record}\n");
    }
    place.write(".unsnarl/claims/runs.jsonl", list);
    let [failing, passing] =
        [failing, passing].map(|runs| runs.iter().map(|run| run + 100).collect::<Vec<_>>());
    let draws = json!([{ "failing": failing, "passing": passing }]);
    ask(&place, &json!({ "techniques": ["verdict"], "files": ["claims.c"], "draws": draws })).exits(0);
    let report = place.call("report --json").exits(0).json();
    assert_eq!(report["findings"][0]["failing_runs"], json!(failing));
}

#[test]
fn passing_runs_can_be_said_to_have_failed() {
    let place = Workplace::new();
    place.claims_session("claims");
    let (_, passing) = numbers(&place);
    let draws = json!([{ "failing": passing[..2], "passing": passing[2..] }]);
    let seen = ask(&place, &json!({ "techniques": ["falcon"], "files": [], "draws": draws })).exits(0);
    let report: Value = serde_json::from_str(&seen.stdout).unwrap();
    let findings = report["findings"].as_array().unwrap();
    assert!(!findings.is_empty() && findings.iter().all(|finding| finding["failed"].as_u64() <= Some(2)));
}

#[test]
fn a_plan_that_makes_no_sense_is_refused() {
    let place = Workplace::new();
    place.claims_session("claims");
    let draws = json!([{ "failing": [77], "passing": [1] }]);
    ask(&place, &json!({ "techniques": ["falcon"], "files": [], "draws": draws }))
        .exits(2)
        .complains(&["the session has no run 77"]);
    ask(&place, &json!({ "techniques": ["falkon"], "files": [], "draws": [] }))
        .exits(2)
        .complains(&["unknown technique `falkon`"]);
    ask(&place, &json!([])).exits(2).complains(&["the plan of draws cannot be read"]);
}
