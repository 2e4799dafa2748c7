//! What makes a run fail.

use std::fs;

use crate::kit::{Seen, Workplace, claims, processes_with};

/// Six runs, of which the even ones go wrong in the way `how`.
fn run(place: &Workplace, flags: &[&str], how: &str) -> Seen {
    let mut command = place.unsnarl("run --runs 6 --jobs 1");
    command.args(flags).arg("--").arg(claims()).args(["count", "2", how]);
    Seen::of(&format!("{flags:?}"), command.output().unwrap())
}

const EVERY_OTHER: [&str; 6] = ["pass", "fail", "pass", "fail", "pass", "fail"];

#[test]
fn a_nonzero_exit_code_fails_a_run() {
    let place = Workplace::new();
    run(&place, &[], "exit").exits(0).says(&[
        "3 passed",
        "3 failed (50.0 %)",
        "all 3 failures look alike: exit code 1",
    ]);
    assert_eq!(place.outcomes("claims"), EVERY_OTHER);
}

#[test]
fn a_signal_fails_a_run() {
    let place = Workplace::new();
    run(&place, &[], "abort").exits(0).says(&["all 3 failures look alike: SIGABRT"]);
    assert_eq!(place.outcomes("claims"), EVERY_OTHER);
}

#[test]
fn a_printed_line_fails_a_run_on_either_output() {
    let place = Workplace::new();
    let seen = run(&place, &["--fail-regex", "came back .*-handed"], "print").exits(0);
    seen.says(&["all 3 failures look alike: printed `came back empty-handed`"]);
    assert_eq!(place.outcomes("claims"), EVERY_OTHER);
    let manifest = fs::read_to_string(place.path(".unsnarl/claims/manifest.json")).unwrap();
    assert!(manifest.contains(r#""fail-regex": "came back .*-handed""#), "{manifest}");
}

#[test]
fn without_an_oracle_that_sees_it_nothing_fails() {
    let place = Workplace::new();
    run(&place, &["--fail-regex", "something else"], "print").exits(10).says(&["No run failed"]);
}

#[test]
fn output_that_differs_from_the_expected_fails_a_run() {
    let place = Workplace::new();
    place.write("expected", "all is well\n");
    let seen = run(&place, &["--expect-stdout", "expected"], "print").exits(0);
    seen.says(&["output differs from the expected one in line 1"]);
    assert_eq!(place.outcomes("claims"), EVERY_OTHER);
}

#[test]
fn a_command_can_judge_in_place_of_the_exit_status() {
    let place = Workplace::new();
    // The opposite of what the exit status says.
    let seen =
        run(&place, &["--fail-if", "test $UNSNARL_EXIT_CODE = 0 && grep -q well $UNSNARL_STDOUT"], "exit");
    seen.exits(0).says(&["the --fail-if command says so, exit code 0"]);
    assert_eq!(place.outcomes("claims"), ["fail", "pass", "fail", "pass", "fail", "pass"]);
}

#[test]
fn a_judge_that_cannot_tell_damages_the_run() {
    let place = Workplace::new();
    run(&place, &["--fail-if", "exit 7"], "exit").exits(13).says(&["5 damaged"]);
    assert!(place.runs("claims")[0]["why"].as_str().unwrap().contains("--fail-if command ended with 7"));
}

#[test]
fn a_hang_counts_as_failing_and_is_told_apart() {
    let place = Workplace::new();
    // Deaf to SIGTERM, so each hang also takes the grace period that is given before SIGKILL.
    let mut command = place.unsnarl("run --runs 2 --jobs 1 --timeout 5s");
    let counter = place.path("count");
    command.arg("--").arg(claims()).arg(&counter).args(["2", "hang"]);
    let seen = Seen::of("run", command.output().unwrap()).exits(0);
    seen.says(&["1 passed", "1 failed (50.0 %)", "1 of them hung", "did not end in time", "`queue.size`"]);
    assert_eq!(place.outcomes("claims"), ["pass", "hang"]);
    assert_eq!(processes_with(&counter.display().to_string()), [""; 0]);
}

#[test]
fn oracles_that_make_no_sense_are_refused_before_any_run() {
    let place = Workplace::new();
    run(&place, &["--fail-regex", "("], "exit").exits(2).complains(&["`(` is not a regular expression"]);
    run(&place, &["--expect-stdout", "missing"], "exit").exits(2).complains(&["cannot read missing"]);
    assert!(!place.path("count").exists(), "nothing ran");
    assert!(!place.path(".unsnarl").exists(), "nothing was kept");
}
