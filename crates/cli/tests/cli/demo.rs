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
    let failed = report["runs"]["failed"].as_u64().unwrap();
    assert!(failed >= 15, "the demo's own limit of less than a minute is enough: {}", report["runs"]);
    let find = |pattern: &str, functions: &[&str]| {
        let findings = report["findings"].as_array().unwrap();
        let is_it = |finding: &&Value| {
            let accesses = finding["accesses"].as_array().unwrap();
            finding["pattern"] == pattern
                && accesses.iter().all(|access| access["variable"].as_str().unwrap().ends_with("size"))
                && accesses.iter().map(|access| &access["function"]).eq(functions)
        };
        findings.iter().find(is_it).unwrap_or_else(|| panic!("no {pattern} {functions:?} in {findings:#?}"))
    };
    // One worker takes the last page and the other one misses it: no failing run without it, no passing run with it.
    let missed = find("WR", &["queue_pop", "queue_pop"]);
    assert_eq!(
        (&missed["rank"], &missed["tied"], &missed["failed"], &missed["passed"]),
        (&json!(1), &json!(1), &json!(failed), &json!(0))
    );
    place.call("show 1 --session unsnarl-demo/session").exits(0).says(&["queue.c:"]);
}

#[test]
fn without_a_compiler_the_demo_says_so() {
    let place = Workplace::new();
    let mut command = place.unsnarl("demo");
    command.env("PATH", place.path("nothing-here"));
    let seen = Seen::of("demo", command.output().unwrap()).exits(6);
    seen.complains(&["the demo could not be compiled", "it needs gcc"]);
}
