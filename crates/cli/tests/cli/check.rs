//! After a fix: what failed is tried again, on the program as it is now. All runs are controlled and their seeds fixed.

use crate::kit::{UNSNARL, Workplace};

const CLAIM: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/c/claim");

/// Builds the demo's program, the buggy one or its twin.
fn build(place: &Workplace, flags: &str) {
    let compile = format!("{UNSNARL} cc {flags} -g -O1 -pthread {CLAIM}/claim.c {CLAIM}/queue.c -o claim");
    place.shell(&compile);
}

/// A session in which some runs failed and their cause was confirmed.
fn session() -> Workplace {
    let place = Workplace::new();
    build(&place, "");
    place.call("run --session claim --schedule random --runs 25 --seed 3 --confirm 1 -- ./claim").exits(0);
    place
}

#[test]
fn what_fails_still_fails_until_it_is_mended() {
    let place = session();
    place.call("check --runs 5").exits(18).says(&[
        "runs failed SIGABRT, assertion `page != NULL` at claim.c:49 (as in run ",
        "finding 1 forced",
        "still fails: ",
        "of ./claim see it: unsnarl replay ",
    ]);
    build(&place, "-DFIXED");
    // The places of the finding have moved, and were found again.
    let seen = place.call("check --runs 5").exits(0);
    let seen =
        seen.says(&["saved schedules 0 of ", "this build could follow them for", "nothing failed in "]);
    seen.says(&["finding 1 forced 0 of 5 runs failed"]);
}

#[test]
fn a_session_can_be_checked_elsewhere() {
    let place = session();
    place.shell(&format!("{UNSNARL} sessions export claim claim.tar && mkdir elsewhere"));
    let elsewhere = |words: &str| {
        let mut unsnarl = place.unsnarl(words);
        let output = unsnarl.current_dir(place.path("elsewhere")).output().unwrap();
        crate::kit::Seen::of(words, output)
    };
    elsewhere("sessions import ../claim.tar").exits(0);
    elsewhere("check --runs 2").exits(4).complains(&["./claim: command not found"]);
    elsewhere("check --runs 2 -- ../claim").exits(18);
    build(&place, "-DFIXED");
    let seen = elsewhere("check --runs 2 -- ../claim").exits(0);
    seen.says(&["finding 1 forced 0 of 2 runs failed", "nothing failed in "]);
}

#[test]
fn what_is_gone_cannot_be_forced() {
    let place = session();
    let gone = std::fs::read_to_string(format!("{CLAIM}/queue.c")).unwrap();
    let changed = gone.replace("int size = queue->size;", "int size = 0; size += queue->size;");
    assert_ne!(gone, changed);
    place.write("queue.c", changed);
    place.shell(&format!("{UNSNARL} cc -g -O1 -pthread -I {CLAIM} {CLAIM}/claim.c queue.c -o claim"));
    place.call("check --runs 5").says(&[
        "finding 1 cannot be forced queue.c:44 in queue_size() is not in this build",
        "random schedules",
    ]);
}

#[test]
fn without_a_failing_run_there_is_nothing_to_check() {
    let place = Workplace::new();
    build(&place, "-DFIXED");
    place.call("run --session claim --runs 2 -- ./claim").exits(10);
    place.call("check").exits(10).complains(&["nothing to check"]);
}
