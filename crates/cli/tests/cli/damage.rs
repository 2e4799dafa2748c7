//! Sessions that are not what they were, and disks that are full.

use std::fs;
use std::process::Command;

use crate::disk::Disk;
use crate::kit::{CLAIMS, Seen, UNSNARL, Workplace, claims, skip};

const DISK_FULL: i32 = 8;
const NO_SESSION: i32 = 9;

#[test]
fn a_session_of_another_version() {
    let place = Workplace::new();
    place.claims_session("claims");
    let manifest = place.path(".unsnarl/claims/manifest.json");
    let text = fs::read_to_string(&manifest).unwrap();
    fs::write(&manifest, text.replace("\"schema\": 1", "\"schema\": 2")).unwrap();
    // With its name and without: it is the newest.
    for words in ["report", "report --session claims", "show 1"] {
        let seen = place.call(words).exits(NO_SESSION);
        seen.complains(&[
            "was written in format 2, but this unsnarl reads format 1",
            "record again with this one",
        ]);
    }
    place.call("sessions list").exits(0).says(&["claims  cannot be opened", "format 2"]);
}

#[test]
fn a_damaged_manifest() {
    let place = Workplace::new();
    place.claims_session("claims");
    fs::write(place.path(".unsnarl/claims/manifest.json"), "{ \"schema\": 1").unwrap();
    place.call("report").exits(NO_SESSION).complains(&["manifest.json is damaged", "record again"]);
}

#[test]
fn damaged_runs_are_left_out_with_a_warning() {
    let place = Workplace::new();
    place.claims_session("claims");
    let run = |number: u32| place.path(&format!(".unsnarl/claims/runs/{number:06}.run"));
    let bytes = fs::read(run(1)).unwrap();
    fs::write(run(1), &bytes[..bytes.len() / 2]).unwrap();
    fs::write(run(2), "garbage").unwrap();
    fs::write(run(3), "").unwrap();
    fs::remove_file(run(4)).unwrap();
    let report = place.call("report --json").exits(0).json();
    let runs = &report["runs"];
    assert_eq!(*runs, serde_json::json!({ "passed": 3, "failed": 3, "hung": 0, "damaged": 4 }));
    assert_eq!(report["findings"][0]["failed"], 3);
    let warnings = report["warnings"].as_array().unwrap();
    assert_eq!(warnings.len(), 4, "{warnings:?}");
    for (warning, why) in
        warnings.iter().zip(["checksum", "is damaged at byte", "is damaged at byte", "cannot read"])
    {
        assert!(warning.as_str().unwrap().contains(why), "{warning}");
    }
    place.call("report").exits(0).says(&["4 damaged", "warning: run 1 was left out", "000001.run"]);
    place
        .call("sessions merge both claims claims")
        .exits(0)
        .says(&["12 runs in", "8 damaged runs stayed behind"]);
}

#[test]
fn a_damaged_list_of_runs_costs_nothing_that_is_stored() {
    let place = Workplace::new();
    place.claims_session("claims");
    let list = place.path(".unsnarl/claims/runs.jsonl");
    let text = fs::read_to_string(&list).unwrap();
    let (first, rest) = text.split_once('\n').unwrap();
    fs::write(&list, format!("{}\n{rest}", &first[..first.len() / 2])).unwrap();
    let seen = place.call("report").exits(0);
    seen.says(&["10 runs", "5 passed", "5 failed", "warning:", "runs.jsonl, line 1"]);
}

#[test]
fn a_program_that_was_rebuilt_since() {
    let place = Workplace::new();
    let build = |source: &str| place.compile(&format!("{UNSNARL} cc"), "claims", source);
    let build_id = || {
        let notes = place.shell("readelf -n claims");
        notes.lines().find_map(|line| line.trim().strip_prefix("Build ID: ")).unwrap().to_owned()
    };
    build(CLAIMS);
    let recorded = build_id();
    place.call("run --runs 4 -- ./claims count 2 exit").exits(0).says(&["has_item()"]);
    build(&format!("{CLAIMS}\nconst int another_build = 1;\n"));
    let found = build_id();
    assert_ne!(recorded, found);

    let seen = place.call("report").exits(0);
    assert!(!seen.stdout.contains("has_item"), "names of the new build would be wrong: {seen}");
    assert!(!seen.stdout.contains("build the test with -g"), "it was: {seen}");
    seen.says(&["claims+0x", "was rebuilt since", &recorded, &found, "the warnings say why"]);
}

#[test]
fn a_program_that_is_gone() {
    let place = Workplace::new();
    fs::copy(claims(), place.path("claims")).unwrap();
    place.call("run --runs 4 -- ./claims count 2 exit").exits(0);
    fs::remove_file(place.path("claims")).unwrap();
    place.call("report").exits(0).says(&["claims+0x", "warning: names are missing"]);
}

#[test]
fn a_session_without_its_runs() {
    let place = Workplace::new();
    place.call(&format!("run --runs 2 -- {} count 0 exit", claims().display())).exits(10);
    fs::remove_dir_all(place.path(".unsnarl/claims/runs")).unwrap();
    let seen = place.call("report").exits(13);
    seen.says(&["2 damaged", "No run says anything about the test", "warning: run 1 was left out"]);
}

#[test]
fn a_full_disk_ends_it_and_keeps_what_is_done() {
    let place = Workplace::new();
    let Some(_disk) = Disk::mount(&place, "size=200k") else { return };
    let words = format!("run --runs 500 --session disk/claims -- {} count 2 exit", claims().display());
    let seen = place.call(&words).exits(DISK_FULL);
    seen.complains(&[
        "no space left on the disk of disk/claims",
        "all runs done so far are kept",
        "Make room",
    ]);
    place.call("report --session disk/claims").exits(0).says(&["`queue.size`"]);
}

#[test]
fn a_full_temporary_folder_is_our_trouble_not_the_tests() {
    let place = Workplace::new();
    let Some(_disk) = Disk::mount(&place, "size=16k") else { return };
    // One at a time: where there is no room for the file of a run, it says nothing at all.
    let mut command = place.unsnarl("run --runs 5 --jobs 1 --");
    command.arg(claims()).args(["count", "0", "exit"]).env("TMPDIR", place.path("disk"));
    let seen = Seen::of("run", command.output().unwrap()).exits(10);
    seen.says(&["5 passed", "warning: recording stopped early: no more storage for the recording"]);
}

/// Recordings are made in memory otherwise, where no folder was chosen for them.
#[test]
fn full_shared_memory_is_done_without() {
    let place = Workplace::new();
    let without_room = || {
        let mut command = Command::new("unshare");
        let mount = "mount -t tmpfs -o size=64k unsnarl-test /dev/shm";
        command.args(["--mount", "sh", "-c", &format!("{mount} && exec \"$0\" \"$@\"")]);
        command
    };
    if !without_room().arg("true").output().is_ok_and(|output| output.status.success()) {
        return skip("only root may mount a file system");
    }
    let (mut command, run) = (without_room(), place.unsnarl("run --runs 3 --"));
    command.arg(run.get_program()).args(run.get_args()).arg(claims()).args(["count", "0", "exit"]);
    place.settle(&mut command);
    let seen = Seen::of("run", command.env_remove("TMPDIR").output().unwrap());
    let seen = seen.exits(10).says(&["3 passed"]);
    assert!(!seen.stdout.contains("storage"), "{seen}");
}
