//! Sessions in their folder: listed, merged, exported, imported, deleted.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use crate::disk::Disk;
use crate::kit::{CLAIMS, UNSNARL, Workplace, claims};

#[test]
fn sessions_are_listed() {
    let place = Workplace::new();
    place
        .call("sessions list")
        .exits(0)
        .says(&["no sessions in .unsnarl yet", "unsnarl run -- ./test makes one"]);
    place.claims_session("one");
    place.claims_session("two");
    let seen = place.call("sessions list").exits(0);
    let lines: Vec<&str> = seen.stdout.lines().collect();
    assert_eq!(lines.len(), 2, "{seen}");
    assert!(lines[0].starts_with("one ") && lines[1].starts_with("two "), "{seen}");
    assert!(lines[0].contains("10 runs") && lines[0].contains("5 failed"), "{seen}");
    assert!(lines[0].contains(&*claims().to_string_lossy()), "{seen}");
}

#[test]
fn sessions_can_live_anywhere() {
    let place = Workplace::new();
    let words = format!("run --runs 2 --session deep/er/mine -- {} count 2 exit", claims().display());
    place.call(&words).exits(0).says(&["unsnarl show 1 --session deep/er/mine"]);
    place.call("report --session deep/er/mine").exits(0).says(&["mine  2 runs"]);
    assert!(!place.path(".unsnarl").exists());
    place.call("sessions delete deep/er/mine").exits(0);
    assert!(!place.path("deep/er/mine").exists());
}

#[test]
fn merged_sessions_count_together() {
    let place = Workplace::new();
    place.claims_session("one");
    place.claims_session("two");
    place.call("sessions merge both one ./.unsnarl/two").exits(0).says(&["20 runs in .unsnarl/both"]);
    let report = place.call("report --json --session both").exits(0).json();
    assert_eq!(report["runs"]["failed"], 10);
    assert_eq!(report["findings"][0]["failed"], 10);
    assert_eq!(report["findings"][0]["failing_runs"].as_array().unwrap().len(), 10);
}

#[test]
fn sessions_of_different_programs_are_not_merged() {
    let place = Workplace::new();
    place.claims_session("one");
    let other = format!("{CLAIMS}\nconst int another_build = 1;\n");
    place.compile(&format!("{UNSNARL} cc"), "claims", &other);
    place.call("run --session two --runs 2 -- ./claims count 2 exit").exits(0);
    let seen = place.call("sessions merge both one two").exits(14);
    seen.complains(&["sessions `one` and `two` ran different programs", "build id", "record again"]);
    assert!(!place.path(".unsnarl/both").exists());
}

#[test]
fn an_exported_session_can_be_imported_elsewhere() {
    let place = Workplace::new();
    place.claims_session("claims");
    place.call("sessions export claims claims.tar").exits(0).says(&["wrote claims.tar"]);
    let elsewhere = Workplace::new();
    let archive = place.path("claims.tar");
    let import = format!("sessions import {}", archive.display());
    elsewhere.call(&import).exits(0).says(&["10 runs in .unsnarl/claims"]);
    let report = |place: &Workplace| place.call("report --json").exits(0).stdout;
    assert_eq!(report(&elsewhere), report(&place));
    elsewhere.call(&import).exits(0).says(&["10 runs in .unsnarl/claims-2"]);
}

#[test]
fn what_is_no_archive_is_not_imported() {
    let place = Workplace::new();
    place.write("garbage", "not an archive at all");
    place.write("empty", "");
    place.call("sessions import garbage").exits(9).complains(&["garbage is not a session"]);
    place.call("sessions import empty").exits(9).complains(&["empty is not a session"]);
    place.call("sessions import missing").exits(1).complains(&["cannot open missing"]);
    place.call("sessions list").exits(0).says(&["no sessions"]);
}

#[test]
fn sessions_are_deleted_but_nothing_else_is() {
    let place = Workplace::new();
    place.claims_session("one");
    place.claims_session("two");
    place.call("sessions delete one").exits(0).says(&["deleted one"]);
    assert!(!place.path(".unsnarl/one").exists());
    place.call("sessions list").exits(0).says(&["two"]);
    place.call("sessions delete one").exits(9).complains(&[".unsnarl/one is not a session"]);
    place.write("folder/precious", "data");
    place.call("sessions delete ./folder").exits(9).complains(&["folder is not a session"]);
    assert!(place.path("folder/precious").exists());
}

#[test]
fn without_any_session_there_is_nothing_to_look_at() {
    let place = Workplace::new();
    for words in ["report", "show 1"] {
        place
            .call(words)
            .exits(9)
            .complains(&["there is no session in .unsnarl yet", "unsnarl run -- ./test"]);
    }
}

#[test]
fn a_session_folder_that_cannot_be_made() {
    let place = Workplace::new();
    let run = |session: &str| {
        place.call(&format!("run --session {session} -- {} count 2 exit", claims().display()))
    };
    place.write("file", "");
    run("file/session")
        .exits(7)
        .complains(&["cannot write to", "keep the session elsewhere with --session PATH"]);
    run("file/below/session").exits(7).complains(&["cannot write to"]);
    assert!(!place.path("count").exists(), "nothing ran");

    // SAFETY: geteuid has no preconditions.
    if unsafe { libc::geteuid() } != 0 {
        fs::create_dir(place.path("locked")).unwrap();
        fs::set_permissions(place.path("locked"), fs::Permissions::from_mode(0o555)).unwrap();
        run("locked/session").exits(7).complains(&["cannot write to", "Permission denied"]);
    } else if let Some(_disk) = Disk::mount(&place, "ro") {
        // Permissions do not hold root back.
        run("disk/session").exits(7).complains(&["cannot write to", "Read-only file system"]);
    }
}
