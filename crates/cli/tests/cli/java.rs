//! Tests that run on a Java virtual machine.

use std::path::Path;

use serde_json::Value;

use crate::kit::{Workplace, present};

const BANK: &str = include_str!("programs/Bank.java");
const ZOO: &str = include_str!("programs/Zoo.java");

/// None, said aloud, if there is no Java to compile and run.
fn workplace(name: &str, source: &str) -> Option<Workplace> {
    if !present("java") || !present("javac") {
        return None;
    }
    let place = Workplace::new();
    place.write(name, source);
    place.shell(&format!("javac -g -d classes {name}"));
    Some(place)
}

/// The number of the line of `source` that ends in this comment.
fn line(source: &str, comment: &str) -> u64 {
    let position = source.lines().position(|line| line.ends_with(comment));
    position.unwrap() as u64 + 1
}

#[test]
fn rewritten_classes_pass_the_verifier_and_do_the_same() {
    let Some(place) = workplace("Zoo.java", ZOO) else { return };
    place.shell("java -cp classes Zoo > expected");
    for include in ["", "--include java.util.**"] {
        let flags = format!("--expect-stdout expected --noise high --runs 2 --seed 1 {include}");
        // 10: no run failed.
        place.call(&format!("run {flags} -- java -Xverify:all -cp classes Zoo")).exits(10);
    }
}

#[test]
fn a_lost_update_is_found_with_names_values_stacks_and_locks() {
    let Some(place) = workplace("src/shop/Bank.java", BANK) else { return };
    // About half of the runs fail, measured: 30 of one kind have a chance of less than one in a million.
    place.call("run --runs 30 --noise medium --seed 1 -- java -cp classes shop.Bank").exits(0);
    let report = place.call("report --session Bank --technique falcon --json").exits(0).json();
    let first = report["findings"].as_array().unwrap().iter().filter(|finding| finding["rank"] == 1);
    let truth = first.filter(|finding| finding["pattern"] == "RWW").find(|finding| {
        finding["accesses"].as_array().unwrap().iter().all(|access| access["variable"] == "Account.balance")
    });
    let truth = truth.unwrap_or_else(|| panic!("{report:#}"));
    let accesses = truth["accesses"].as_array().unwrap();
    let lines: Vec<&Value> = accesses.iter().map(|access| &access["line"]).collect();
    assert_eq!(lines, [line(BANK, "// read"), line(BANK, "// write"), line(BANK, "// write")]);
    let threads: Vec<&Value> = accesses.iter().map(|access| &access["thread"]).collect();
    assert_eq!(threads, [1, 2, 1]);
    for access in accesses {
        assert_eq!(access["file"], "shop/Bank.java");
        assert_eq!(access["locks"], serde_json::json!(["ReentrantLock"]));
        let stack = access["stack"].as_array().unwrap();
        let functions: Vec<&Value> = stack.iter().map(|frame| &frame["function"]).collect();
        assert_eq!(functions, ["Account.book", "Bank.teller", "Bank.main.lambda"]);
    }
    assert_eq!(accesses[0]["value"], "100");
    assert_eq!(accesses[1]["value"], "110");
}

#[test]
fn an_uncaught_exception_in_any_thread_fails_a_run() {
    let Some(place) = workplace("Bank.java", BANK) else { return };
    // 11: no run passed, although all exit with 0.
    let seen = place.call("run --runs 2 --seed 1 -- java -cp classes shop.Bank throw").exits(11);
    seen.says(&["Exception in thread", "asked for"]);
}

#[test]
fn java_is_recorded_behind_a_script() {
    let Some(place) = workplace("Bank.java", BANK) else { return };
    place.script("test.sh", "#!/bin/sh\nexec java -cp classes shop.Bank\n");
    place.call("run --runs 3 --noise off --seed 1 --session script -- ./test.sh");
    assert!(place.runs("script").iter().all(|run| run["processes"] == 1));
}

#[test]
fn a_virtual_machine_that_runs_no_code_under_test_leaves_no_recording() {
    if !present("java") {
        return;
    }
    let place = Workplace::new();
    // 13: nothing recorded.
    place.call("run --runs 2 --seed 1 -- java -version").exits(13);
    assert!(!Path::new(&place.path(".unsnarl/java/runs/000001.run")).exists());
}
