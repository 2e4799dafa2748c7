//! Ranked findings for a program whose truth is known, run by run.

use serde_json::{Value, json};

use crate::kit::{Workplace, claims_line};

fn report(place: &Workplace, flags: &str) -> Value {
    place.call(&format!("report --json {flags}")).exits(0).json()
}

/// A finding in short: its rank, counts, and for each access the thread, the kind, the variable and the line.
fn in_short(finding: &Value) -> Value {
    let accesses = finding["accesses"].as_array().unwrap().iter();
    let accesses: Vec<Value> = accesses
        .map(|access| json!([access["thread"], access["kind"], access["variable"], access["line"]]))
        .collect();
    json!([finding["rank"], finding["failed"], finding["passed"], finding["pattern"], accesses])
}

fn findings(report: &Value) -> Vec<Value> {
    report["findings"].as_array().unwrap().iter().map(in_short).collect()
}

/// The first worker asks, the second one takes, and the first one comes too late.
fn truth() -> Value {
    let (ask, look, take) = (claims_line("ask"), claims_line("look"), claims_line("take"));
    let size = "queue.size";
    json!([1, 5, 0, "RWR", [[1, "read", size, ask], [2, "write", size, take], [1, "read", size, look]]])
}

#[test]
fn the_verdict_is_the_truth_alone() {
    let place = Workplace::new();
    place.claims_session("claims");
    let report = report(&place, "");
    assert_eq!(report["technique"], "verdict");
    let first = &report["findings"][0];
    assert_eq!((in_short(first), &first["tied"]), (truth(), &json!(1)));
    // How sure it is depends on what else the failing runs happen to share.
    assert!(first["confidence"].as_f64().unwrap() > 0.5, "{first:#}");
    let why: Vec<&str> = first["why"].as_array().unwrap().iter().map(|why| why.as_str().unwrap()).collect();
    assert_eq!(why[0], "seen in all 5 failing runs and no passing run");
    assert!(why.contains(&"passing runs make the same accesses, but never in another order"), "{why:#?}");
    place.call("report").exits(0).says(&["confidence "]);
    place.call("show 1").exits(0).says(&["rank", "seen in all 5 failing runs and no passing run"]);
}

#[test]
fn unicorn_ranks_the_truth_first_beside_its_parts() {
    let place = Workplace::new();
    place.claims_session("claims");
    let report = report(&place, "--technique unicorn");
    assert_eq!(report["runs"], json!({ "passed": 5, "failed": 5, "hung": 0, "damaged": 0 }));
    let (ask, look, take) = (claims_line("ask"), claims_line("look"), claims_line("take"));
    let size = "queue.size";
    let first: Vec<Value> = findings(&report).into_iter().filter(|finding| finding[0] == 1).collect();
    // All that happens in failing runs alone: the truth, the two orders that it is made of, and the news of it.
    let expected = [
        json!([1, 5, 0, "RW", [[1, "read", size, ask], [2, "write", size, take]]]),
        truth(),
        json!([1, 5, 0, "WR", [[1, "write", size, take], [2, "read", size, look]]]),
        json!([
            1,
            5,
            0,
            "WR",
            [
                [1, "write", "is_empty_handed", claims_line("come back empty-handed")],
                [2, "read", "is_empty_handed", claims_line("tell")],
            ]
        ]),
    ];
    assert_eq!(first.len(), expected.len(), "{first:#?}");
    for finding in expected {
        assert!(first.contains(&finding), "{finding:#} is not among {first:#?}");
    }
}

#[test]
fn the_truth_is_told_in_full() {
    let place = Workplace::new();
    place.claims_session("claims");
    let report = report(&place, "--technique unicorn");
    let all = report["findings"].as_array().unwrap();
    let finding = all.iter().find(|finding| in_short(finding) == truth()).unwrap();
    assert_eq!(finding["kind"], "atomicity-violation");
    assert_eq!((&finding["score"], &finding["tied"]), (&json!(1.0), &json!(4)));
    assert_eq!(finding["failing_runs"], json!([2, 4, 6, 8, 10]));
    assert_eq!(finding["suspicious_functions"], json!(["first_worker", "take_item"]));
    let functions: Vec<Value> = finding["accesses"]
        .as_array()
        .unwrap()
        .iter()
        .map(|access| {
            access["stack"].as_array().unwrap().iter().map(|frame| frame["function"].clone()).collect()
        })
        .collect();
    assert_eq!(
        json!(functions),
        json!([["has_item", "first_worker"], ["take_item", "second_worker"], ["take_item", "first_worker"]])
    );
    assert_eq!(finding["accesses"][1]["value"], "0");
    assert_eq!(finding["accesses"][1]["locks"], json!(["lock"]));
    assert!(finding["accesses"][0]["source"].as_str().unwrap().contains("int size = queue.size;"));
}

#[test]
fn falcon_finds_it_too() {
    let place = Workplace::new();
    place.claims_session("claims");
    let report = report(&place, "--technique falcon");
    assert_eq!(report["technique"], "falcon");
    assert!(findings(&report).contains(&truth()), "{:#?}", findings(&report));
    place.call("report --technique falcon").exits(0).says(&["ranked by falcon"]);
    place.call("report --technique unicorn").exits(0).says(&["ranked by unicorn"]);
}

#[test]
fn every_formula_ranks_it_first() {
    let place = Workplace::new();
    place.claims_session("claims");
    for formula in ["jaccard", "tarantula", "ochiai", "dstar", "op2", "barinel"] {
        let report = report(&place, &format!("--technique unicorn --formula {formula}"));
        assert!(findings(&report).contains(&truth()), "{formula}: {:#?}", findings(&report));
    }
}

#[test]
fn only_as_many_findings_as_wanted() {
    let place = Workplace::new();
    place.claims_session("claims");
    assert_eq!(findings(&report(&place, "--technique unicorn --findings 2")).len(), 2);
}

/// The truth and its parts are one cause, which all failing runs share.
#[test]
fn the_truth_and_its_parts_are_one_cause() {
    let place = Workplace::new();
    place.claims_session("claims");
    let report = report(&place, "--technique griffin");
    let causes = report["causes"].as_array().unwrap();
    let truths = findings(&report).iter().position(|finding| *finding == truth()).unwrap();
    let cause = causes.iter().find(|cause| cause["number"] == report["findings"][truths]["cluster"]).unwrap();
    assert_eq!((&cause["group"], cause["failing_runs"].as_array().unwrap().len()), (&json!(1), 5));
    assert!(cause["findings"].as_array().unwrap().len() >= 3, "{cause:#}");
    let lines = |node: &Value| -> Vec<Value> {
        let place = |access: &Value| {
            let [finding, nth] = [0, 1].map(|at| access[at].as_u64().unwrap() as usize);
            report["findings"][finding - 1]["accesses"][nth]["line"].clone()
        };
        node["accesses"].as_array().unwrap().iter().map(place).collect()
    };
    let nodes = cause["graph"]["nodes"].as_array().unwrap();
    let shown: Vec<Vec<Value>> = nodes.iter().map(lines).collect();
    let (ask, look, take) = (claims_line("ask"), claims_line("look"), claims_line("take"));
    assert_eq!(shown, [vec![json!(ask)], vec![json!(take)], vec![json!(look)]]);
    assert_eq!(cause["graph"]["edges"], json!([[0, 1], [1, 2]]));
}
