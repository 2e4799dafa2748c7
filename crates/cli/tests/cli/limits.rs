//! How long it goes on, and what is random about it.

use std::fs;

use crate::kit::{Seen, Workplace, claims, compiled};

fn run(place: &Workplace, flags: &str, every: u32) -> Seen {
    place.call(&format!("run {flags} -- {} count {every} exit", claims().display()))
}

#[test]
fn runs_are_counted() {
    let place = Workplace::new();
    run(&place, "--runs 3", 0).exits(10).says(&["3 runs", "3 passed"]);
    assert_eq!(fs::read_to_string(place.path("count")).unwrap(), "3\n");
}

#[test]
fn failures_are_counted() {
    let place = Workplace::new();
    run(&place, "--until-failures 2 --jobs 1", 3).exits(0).says(&["6 runs", "4 passed", "2 failed"]);
}

#[test]
fn a_single_run_has_nothing_to_be_compared_with() {
    let place = Workplace::new();
    run(&place, "--runs 1 --session passed", 0).exits(10).says(&["1 run", "1 passed", "No run failed"]);
    run(&place, "--runs 1 --session failed", 1).exits(11).says(&["1 run", "1 failed"]);
    for (session, code) in [("passed", 10), ("failed", 11)] {
        for technique in ["verdict", "griffin", "recon", "locon", "cci"] {
            let report = place.call(&format!("report --session {session} --technique {technique} --json"));
            let report = report.exits(code).json();
            assert_eq!(report["findings"], serde_json::json!([]), "{technique} on what {session}");
            assert_eq!(report["runs"][session], 1);
        }
    }
}

#[test]
fn time_is_limited() {
    let place = Workplace::new();
    // However slow the machine, the first run is begun; however fast, it comes to an end.
    run(&place, "--time 100ms", 0).exits(10).says(&["passed", "No run failed"]);
}

#[test]
fn jobs_run_side_by_side_and_are_all_kept() {
    let place = Workplace::new();
    run(&place, "--runs 9 --jobs 3", 3).exits(0).says(&["6 passed", "3 failed"]);
    let mut numbers: Vec<u64> = place.runs("claims").iter().map(|run| run["run"].as_u64().unwrap()).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, (1..=9).collect::<Vec<_>>());
}

#[test]
fn the_same_seed_gives_the_same_plans() {
    let place = Workplace::new();
    run(&place, "--session one --schedule free --runs 4 --jobs 1 --seed 7", 2).exits(0).says(&["seed 7"]);
    run(&place, "--session two --schedule free --runs 4 --jobs 2 --seed 7", 2).exits(0);
    run(&place, "--session other --schedule free --runs 4 --jobs 1 --seed 8", 2).exits(0);
    let plans = |session| {
        let runs = place.runs(session).into_iter();
        let mut plans: Vec<_> = runs.map(|run| (run["run"].as_u64(), run["plan"].clone())).collect();
        plans.sort_by_key(|(run, _)| *run);
        plans
    };
    assert_eq!(plans("one"), plans("two"));
    assert_ne!(plans("one"), plans("other"));
    // What the plans of controlled runs depend on besides is known after the first few, which go one by one.
    run(&place, "--session alone --schedule pct --runs 8 --jobs 1 --seed 7", 2).exits(0);
    run(&place, "--session beside --schedule pct --runs 8 --jobs 3 --seed 7", 2).exits(0);
    assert_eq!(plans("alone"), plans("beside"));
    let distinct: std::collections::BTreeSet<_> =
        plans("one").into_iter().map(|(_, plan)| plan.to_string()).collect();
    assert_eq!(distinct.len(), 4, "each run has a plan of its own");
}

#[test]
fn every_level_of_noise_reaches_the_recorder() {
    let place = Workplace::new();
    for level in ["off", "low", "medium", "high"] {
        run(&place, &format!("--session {level} --runs 1 --noise {level}"), 0).exits(10);
        let plan = place.runs(level)[0]["plan"].as_str().unwrap().to_owned();
        assert!(plan.contains(&format!("noise={level}")), "{plan}");
    }
}

#[test]
fn sampling_reaches_the_recorder() {
    let place = Workplace::new();
    for (flag, share) in [("0.25", "250000"), ("0.5%", "5000")] {
        run(&place, &format!("--session {share} --runs 1 --sample {flag}"), 0).exits(10);
        let plan = place.runs(share)[0]["plan"].as_str().unwrap().to_owned();
        assert!(plan.contains(&format!("sample={share}")), "{plan}");
    }
}

/// Two threads take turns at a counter.
const HANDOVERS: &str = r#"
#include <pthread.h>
#include <semaphore.h>
static sem_t may_go[2];
static volatile long counter;
static void *count(void *own)
{
    for (int i = 0; i < 10000; i++) {
        sem_wait(&may_go[(long)own]);
        counter++;
        sem_post(&may_go[!(long)own]);
    }
    return 0;
}
int main(void)
{
    pthread_t threads[2];
    sem_init(&may_go[0], 0, 1);
    sem_init(&may_go[1], 0, 0);
    for (long i = 0; i < 2; i++)
        pthread_create(&threads[i], 0, count, (void *)i);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
    return counter != 20000;
}
"#;

#[test]
fn the_report_says_what_the_budget_had_no_room_for() {
    let place = Workplace::new();
    place.write("handovers.c", HANDOVERS);
    place.call("cc -O1 -g -pthread handovers.c -o handovers").exits(0);
    let run =
        |flags: &str| place.call(&format!("run --schedule free --runs 1 {flags} -- ./handovers")).exits(10);
    run("--budget 1").says(&["handovers beyond the recording budget were left out"]);
    let whole = run("");
    assert!(!whole.stdout.contains("left out"), "{whole}");
}

#[test]
fn no_failing_run_says_what_to_try() {
    let place = Workplace::new();
    let command = format!("-- {} count 0 exit", claims().display());
    let judged = run(&place, "--runs 2 --fail-regex no.such.line", 0).exits(10);
    assert!(!judged.stdout.contains("by what it prints"), "it is asked for already: {judged}");
    judged.says(&[
        "No run failed, so there is nothing to compare.",
        &format!("unsnarl run --fail-regex no.such.line --noise high {command}"),
        &format!("unsnarl run --fail-regex no.such.line --time 10m {command}"),
        &format!("unsnarl run --fail-regex no.such.line --runs 5000 {command}"),
    ]);
    // It was time that limited these.
    let timed = run(&place, "--time 100ms", 0).exits(10);
    assert!(!timed.stdout.contains("more runs"), "{timed}");
    timed.says(&[&format!("unsnarl run --time 10m {command}")]);
    let louder = run(&place, "--runs 2 --noise high", 0).exits(10);
    assert!(!louder.stdout.contains("more noise"), "there is no more noise than high: {louder}");
    louder.says(&["does it fail by what it prints?", "--fail-regex 'what a failing run prints'"]);
}

#[test]
fn runs_that_may_sleep_are_told_how_not_to() {
    let place = Workplace::new();
    let source = r#"
#include <pthread.h>
#include <unistd.h>
static void *work(void *unused) { return unused; }
int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
    usleep(1100000);
    return pthread_join(thread, NULL);
}
"#;
    let program = compiled("sleeper", source);
    let seen = place.call(&format!("run --runs 2 --schedule free -- {}", program.display())).exits(10);
    seen.says(&["do its threads sleep?", &format!("unsnarl run --skip-sleeps -- {}", program.display())]);
}

#[test]
fn no_passing_run_says_what_to_try() {
    let place = Workplace::new();
    let seen = run(&place, "--runs 2", 1).exits(11);
    seen.says(&["both failures look alike: exit code 1", "--noise off", "--timeout 5m", "--fail-regex"]);
}

/// The program counts its runs, and every fourth one fails, whatever its threads do.
#[test]
fn what_the_schedule_does_not_decide_is_told() {
    let place = Workplace::new();
    let seen = run(&place, "--runs 40 --jobs 1 --seed 1 --schedule random --confirm 1", 4);
    let told = "only 2 of 8 failing runs failed again when their threads took the same turns once more";
    seen.says(&["10 failed", "the order of accesses does not decide alone", told]);
    place.call("report").says(&[told]);
}

/// The program fails as long as there is a file that it has left there before.
#[test]
fn what_a_run_leaves_behind_for_those_after_it_is_told() {
    let place = Workplace::new();
    let source = r#"
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
static void *work(void *unused) { return unused; }
int main(void) {
    if (access("left", F_OK) == 0)
        return 7;
    FILE *runs = fopen("runs", "a+");
    fseek(runs, 0, SEEK_END);
    if (ftell(runs) == 4)
        fclose(fopen("left", "w"));
    fputc('x', runs);
    fclose(runs);
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
    return pthread_join(thread, NULL);
}
"#;
    let program = compiled("leaves", source);
    let run = |session: &str, runs: u32| {
        place.call(&format!("run --session {session} --runs {runs} --jobs 1 -- {}", program.display()))
    };
    let told = "the last 31 runs have all failed, from run 6 on: does one leave something behind";
    run("few", 20).says(&["5 passed", "15 failed"]);
    for file in ["left", "runs"] {
        fs::remove_file(place.path(file)).unwrap();
    }
    run("many", 36).says(&["5 passed", "31 failed", told]);
    let few = place.call("report --session few");
    assert!(!few.stdout.contains("leave something behind"), "{few}");
}

/// A file is opened anew for each run: one input cannot be read by all of them.
#[test]
fn each_run_reads_the_same_input() {
    let place = Workplace::new();
    let input = place.write("numbers", "one is lost\n");
    let script = format!("#!/bin/sh\ncat\nexec {} count 0 exit\n", claims().display());
    let script = place.script("reader", &script);
    let words = |flags: &str| format!("run --runs 3 --fail-regex lost {flags} -- {}", script.display());
    let by_itself = format!("{} < {}", script.display(), input.display());
    place.call(&words("--stdin numbers --session named")).exits(11).says(&["3 failed", "by itself"]);
    let mut redirected = place.unsnarl(&words("--session redirected"));
    redirected.stdin(fs::File::open(&input).unwrap());
    let seen = Seen::of("redirected", redirected.output().unwrap());
    seen.exits(11).says(&["3 failed", &by_itself]);
    place.call(&words("--session without")).exits(10).says(&["3 passed"]);
    // Whatever repeats the runs reads the same.
    place.call("check --session redirected").exits(18).says(&["still fails"]);
    place.call(&words("--stdin missing")).exits(2).complains(&["the runs cannot read missing"]);
}

#[test]
fn flags_that_make_no_sense_are_refused() {
    let place = Workplace::new();
    for (flags, phrase) in [
        ("--runs many", "invalid value 'many' for '--runs <N>'"),
        ("--runs 0", "invalid value '0' for '--runs <N>'"),
        ("--until-failures 0", "invalid value '0' for '--until-failures <N>'"),
        ("--jobs 0", "invalid value '0' for '--jobs <N>': it has to be 1 or more"),
        ("--time soon", "invalid value 'soon' for '--time <BUDGET>': say it as in 500ms, 60s or 10m"),
        ("--timeout 0s", "too short"),
        ("--seed x", "invalid value 'x' for '--seed <N>'"),
        ("--noise loud", "unknown level `loud` (known: off, low, medium, high)"),
        ("--technique guess", "unknown technique `guess` (known: verdict, falcon, unicorn"),
        (
            "--formula guess",
            "unknown formula `guess` (known: jaccard, tarantula, ochiai, dstar, op2, barinel)",
        ),
        ("--sample 2", "as in 0.01 or 1%"),
        ("--sample 0%", "more than nothing"),
        ("--sample 1% --schedule random", "--schedule random needs to see every access"),
        ("--budget 0", "invalid value '0' for '--budget <MB>'"),
        ("--no-such-flag", "unexpected argument '--no-such-flag'"),
        ("--session ..", ".. cannot be a session"),
        ("--session .hidden", "`.hidden` cannot be the name of a session"),
    ] {
        run(&place, flags, 2).exits(2).complains(&[phrase]);
    }
    place.call("--help").exits(0).says(&["Exit codes:", "0 there is a finding to show", "10 no run failed"]);
    place.call("frobnicate").exits(2).complains(&["unrecognized subcommand 'frobnicate'"]);
    assert!(!place.path("count").exists(), "nothing ran");
}
