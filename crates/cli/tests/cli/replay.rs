//! A failing run is made to happen again, and where that does not work, it is told why.

use std::io::Write as _;
use std::process::Stdio;

use crate::kit::{Seen, UNSNARL, Workplace, present};

/// Two critical sections where one was needed. START is for what is to be different.
const LOST_UPDATE: &str = r#"
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int counter;
static int read_counter(void) {
    pthread_mutex_lock(&lock);
    int value = counter;
    pthread_mutex_unlock(&lock);
    return value;
}
static void *worker(void *argument) {
    for (int i = 0; i < 5; i++) {
        int value = read_counter();
        pthread_mutex_lock(&lock);
        counter = value + 1;
        pthread_mutex_unlock(&lock);
    }
    return argument;
}
int main(void) {
    pthread_t threads[3];
    counter = 0;
    START
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], 0, worker, 0);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], 0);
    return counter != 15 ? 100 - counter : 0;
}
"#;

fn build(place: &Workplace, source: &str) {
    place.compile(&format!("{UNSNARL} cc"), "lost", source);
}

/// So few updates that about every second run loses none.
fn two_updates() -> String {
    let once = LOST_UPDATE.replace("START", "").replace("i < 5", "i < 1");
    once.replace("i < 3", "i < 2").replace("15", "2")
}

/// A session in which nearly every run fails: fifteen updates all survive only if no two of three threads meet.
fn session(start: &str, schedule: &str) -> Workplace {
    let place = Workplace::new();
    build(&place, &LOST_UPDATE.replace("START", start));
    let runs = format!("run --session lost --schedule {schedule} --runs 12 --seed 3 --noise high -- ./lost");
    drop(place.call(&runs));
    place
}

#[test]
fn a_failing_run_fails_again_every_time() {
    let place = session("", "random");
    for schedule in ["pct", "pos", "random"] {
        drop(
            place.call(&format!(
                "run --session {schedule} --schedule {schedule} --runs 12 --seed 3 -- ./lost"
            )),
        );
        let run = 1 + place.outcomes(schedule).iter().position(|outcome| outcome == "fail").unwrap();
        // The exit code tells how many updates were lost, so that two runs seldom fail alike by chance.
        let seen = place.call(&format!("replay --times 3 --session {schedule}")).exits(0);
        assert!(seen.stdout.starts_with(&format!("run {run}  exit code ")), "{}", seen.stdout);
        seen.says(&["replay 3 exit code", "switches followed)", "reproduced in 3 of 3 replays"]);
        // Replays are no runs of the session.
        assert_eq!(place.runs(schedule).len(), 12);
    }
}

#[test]
fn the_debugger_stops_before_the_first_access_with_the_others_held() {
    if !present("gdb") {
        return;
    }
    let place = Workplace::new();
    build(&place, &two_updates());
    place.call("run --session lost --schedule random --runs 30 --seed 3 -- ./lost").exits(0);
    let report = place.call("report --json").exits(0).json();
    let access = &report["findings"][0]["accesses"][0];
    let (function, line) = (access["function"].as_str().unwrap(), access["line"].as_u64().unwrap());
    let mut gdb =
        place.unsnarl(&format!("replay {} --gdb --finding 1", report["findings"][0]["failing_runs"][0]));
    let mut gdb = gdb.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    gdb.stdin
        .take()
        .unwrap()
        .write_all(b"echo HERE\\n\nbt\necho ALL\\n\nthread apply all bt\nquit\n")
        .unwrap();
    let seen = Seen::of("replay --gdb", gdb.wait_with_output().unwrap()).exits(0);
    let (before, stopped) = seen.stdout.split_once("HERE").unwrap_or_else(|| panic!("{seen}"));
    assert!(
        before.contains(&format!("stops before the first access of finding 1, in {function}()")),
        "{seen}"
    );
    let (here, all) = stopped.split_once("ALL").unwrap();
    let in_one_line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let here = in_one_line(here);
    assert!(here.contains(&format!("in {function} ")) && here.contains(&format!("lost.c:{line}")), "{seen}");
    // All but this one wait in the recorder for the token, or are about to: whoever gave it away may not have come to
    // rest yet.
    let threads: Vec<&str> = all.split("\nThread ").skip(1).collect();
    assert!(threads.len() >= 2, "{seen}");
    let held = threads.iter().filter(|stack| stack.contains("src/control/")).count();
    assert_eq!(held, threads.len() - 1, "{seen}");
    build(&place, &LOST_UPDATE.replace("START", ""));
    place.call("replay --gdb").exits(14).complains(&["not the build that was recorded"]);
}

/// What a seed would make of a program with other scheduling points has nothing to do with the recorded run.
#[test]
fn a_small_change_of_the_program_does_not_matter() {
    let place = session("", "random");
    build(&place, &LOST_UPDATE.replace("START", "fputs(\"begin\\n\", stderr);"));
    place.call("replay").exits(0).says(&["reproduced"]);
}

#[test]
fn what_was_mended_is_not_reproduced() {
    let place = session("", "random");
    let mended = LOST_UPDATE
        .replace("START", "")
        .replace("int value = read_counter();", "")
        .replace("value + 1", "counter + 1");
    build(&place, &mended);
    place.call("replay").exits(17).says(&[
        "passed",
        "should have gone on in",
        "lost is not the build that was recorded",
        "not reproduced",
    ]);
}

#[test]
fn a_test_that_depends_on_more_than_its_schedule_is_told_so() {
    let place = session("if (access(\"marker\", F_OK) == 0) return 0;", "random");
    place.write("marker", "");
    place.call("replay").exits(17).says(&[
        "the replay was over before",
        "what the test does depends on more than its schedule",
        "not reproduced",
    ]);
    place.call("replay -- ./lost now").exits(17).says(&["the command is not the one that was recorded"]);
}

/// The order in which Rust's maps are gone through goes by random keys, for which the standard library asks with this flag. Whoever follows a run has those of that run.
#[test]
fn the_keys_of_maps_are_those_of_the_run_that_is_followed() {
    let place =
        session("{ long getrandom(); unsigned char key; getrandom(&key, 1L, 4); counter = key; }", "pos");
    place.call("replay --times 3").exits(0).says(&["reproduced in 3 of 3 replays"]);
}

#[test]
fn a_schedule_is_found_for_a_run_that_ran_freely() {
    let place = Workplace::new();
    // However many updates are lost, the first run fails.
    let start = r#"FILE *file = fopen("count", "a+"); fputc('x', file); int count = (int)ftell(file); fclose(file);
        if (count % 2 == 1) counter = 100;"#;
    build(&place, &LOST_UPDATE.replace("START", start).replace("100 - counter", "1"));
    drop(place.call("run --session lost --runs 4 --seed 3 --jobs 1 -- ./lost"));
    let seen = place.call("replay 1").exits(0);
    seen.says(&[
        "it ran freely",
        "kept for the next time",
        "reproduced, by a schedule that was found for it",
    ]);
    let seen = place.call("replay 1");
    assert!(!seen.stdout.contains("ran freely"), "{}", seen.stdout);
}

/// At random, some of the runs lose an update, and all that follow a failing run to its end. Seeds are fixed.
#[test]
fn the_report_shows_when_a_run_became_certain_to_fail() {
    let place = Workplace::new();
    build(&place, &two_updates());
    place.call("run --session lost --schedule random --runs 30 --seed 3 -- ./lost").exits(0);
    let run = 1 + place.outcomes("lost").iter().position(|outcome| outcome == "fail").unwrap();
    place
        .call(&format!("replay {run} --outlook --time 2s"))
        .exits(0)
        .says(&["after 0 of ", &format!("run {run}: failure ")]);
    let report = place.call("report --json").exits(0).json();
    let outlook = &report["outlooks"][0];
    let (switches, points) = (outlook["switches"].as_u64().unwrap(), outlook["points"].as_array().unwrap());
    assert_eq!(outlook["run"], run);
    assert_eq!(points[0]["followed"], 0);
    let (start, end) = (&points[0]["trial"], &points[points.len() - 1]["trial"]);
    assert!(start["failed"].as_u64() < start["runs"].as_u64(), "{outlook}");
    assert_eq!(points[points.len() - 1]["followed"], switches);
    assert_eq!(end["failed"], end["runs"], "{outlook}");
    assert!(outlook["turn"]["what"].as_str().unwrap().contains("() at lost.c:"), "{outlook}");
    let page = std::fs::read_to_string(place.path(".unsnarl/lost/report.html")).unwrap();
    assert!(page.contains("When did it become certain to fail?"));
    place.call("report").exits(0).says(&[&format!("run {run}: failure ")]);
}

#[test]
fn what_cannot_be_replayed_is_told() {
    let place = session("", "random");
    place.call("replay 1000").exits(2).complains(&["there is no run 1000: the session has 12 runs"]);
    let place = Workplace::new();
    build(&place, &LOST_UPDATE.replace("START", "return 0;"));
    place.call("run --session lost --runs 2 -- ./lost").exits(10);
    place.call("replay").exits(10).complains(&["no run of this session failed", "make it fail first"]);
}
