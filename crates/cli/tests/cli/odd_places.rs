//! Folders and names that are not as usual.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;

use crate::kit::{Seen, Workplace, claims};

#[test]
fn without_a_folder_for_temporary_files_it_is_told_how_to_name_one() {
    let place = Workplace::new();
    let mut command = place.unsnarl("run --runs 2 --");
    command.arg(claims()).args(["count", "0", "exit"]).env("TMPDIR", place.path("nowhere"));
    Seen::of("run", command.output().unwrap())
        .exits(7)
        .complains(&["nowhere", "TMPDIR has to name a folder"]);
}

#[test]
fn a_programs_name_may_be_any_bytes() {
    let place = Workplace::new();
    let name = place.path("").join(OsStr::from_bytes(b"na\xffme"));
    std::fs::copy(claims(), &name).unwrap();
    let mut command = place.unsnarl("run --runs 4 --jobs 1 --");
    command.arg(&name).args(["count", "2", "exit"]);
    Seen::of("run", command.output().unwrap()).exits(0).says(&["2 passed", "2 failed"]);
    place.call("report").exits(0).says(&["2 passed", "2 failed"]);
}
