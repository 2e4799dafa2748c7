//! The shipped example.

use serde_json::{Value, json};

use crate::kit::{Seen, Workplace};

#[test]
fn the_demo_finds_its_bug() {
    let place = Workplace::new();
    place.call("demo").exits(0).says(&[
        "$ unsnarl cc",
        "$ unsnarl run",
        "failed",
        "SIGABRT, assertion `page != NULL`",
        "queue_pop()",
    ]);

    let report = place.call("report --json --session unsnarl-demo/session").exits(0).json();
    let [failed, passed] = ["failed", "passed"].map(|kind| report["runs"][kind].as_u64().unwrap());
    // An answer takes as many, and a proof fewer runs that pass than an answer without one.
    assert!(failed >= 4 && passed >= 8, "{}", report["runs"]);
    // One worker asks, another takes the last page, and the first one misses it.
    let first = &report["findings"][0];
    let accesses = first["accesses"].as_array().unwrap();
    assert!(
        accesses.iter().all(|access| access["variable"].as_str().unwrap().ends_with("size")),
        "{first:#}"
    );
    let functions: Vec<&Value> = accesses.iter().map(|access| &access["function"]).collect();
    assert_eq!(functions[functions.len() - 2..], [&json!("queue_pop"), &json!("queue_pop")], "{first:#}");
    assert_eq!((&first["rank"], &first["tied"]), (&json!(1), &json!(1)));
    place.call("show 1 --session unsnarl-demo/session").exits(0).says(&["queue.c:"]);

    // What it took is kept with the report that was made then: all runs count, not only those of the session.
    let kept = std::fs::read(place.path("unsnarl-demo/session/report.json")).unwrap();
    let kept: Value = serde_json::from_slice(&kept).unwrap();
    let all = kept["effort"]["runs"].as_u64().unwrap();
    let confirmation = &first["confirmation"];
    let trials =
        ["enforced", "forbidden", "delayed"].map(|kind| confirmation[kind]["runs"].as_u64().unwrap_or(0));
    let tried = failed + passed + trials.iter().sum::<u64>();
    assert!(all >= tried, "{}", kept["effort"]);
    if confirmation["verdict"] == "confirmed" {
        let until_proof = kept["effort"]["until_proof"]["runs"].as_u64().unwrap();
        assert!((tried..=all).contains(&until_proof), "{}", kept["effort"]);
    }
    assert!(report["effort"].is_null(), "looking again takes no runs");
}

#[test]
fn without_a_compiler_the_demo_says_so() {
    let place = Workplace::new();
    let mut command = place.unsnarl("demo");
    command.env("PATH", place.path("nothing-here"));
    let seen = Seen::of("demo", command.output().unwrap()).exits(6);
    seen.complains(&["the demo could not be compiled", "it needs gcc"]);
}
