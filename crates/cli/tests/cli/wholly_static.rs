//! Programs linked with `-static` and `-static-pie`, from the build to the proof.

use serde_json::json;

use crate::kit::{CLAIMS, Workplace, is_present, skip};

/// The shipped example, as `unsnarl demo` lays it out.
const DEMO: [(&str, &str); 5] = [
    ("background.h", include_str!("../../../../corpus/background.h")),
    ("work.h", include_str!("../../../../corpus/work.h")),
    ("c/claim/claim.c", include_str!("../../../../corpus/c/claim/claim.c")),
    ("c/claim/queue.c", include_str!("../../../../corpus/c/claim/queue.c")),
    ("c/claim/queue.h", include_str!("../../../../corpus/c/claim/queue.h")),
];

/// Builds the example and has its bug found and proven.
fn check(compiler: &str, flag: &str) {
    let place = Workplace::new();
    for (name, text) in DEMO {
        place.write(name, text);
    }
    let sources = "c/claim/claim.c c/claim/queue.c";
    let built = place.call(&format!("cc --with {compiler} {flag} -O1 -pthread {sources} -o claim")).exits(0);
    assert_eq!(built.stderr, "");
    assert!(!place.shell("readelf -lW claim").contains("INTERP"));

    let command = "run --runs 200 --time 60s --seed 5 --confirm 1 --json - -- ./claim";
    let report = place.call(command).exits(0).json();
    let first = &report["findings"][0];
    let accesses = first["accesses"].as_array().unwrap();
    assert!(
        accesses.iter().all(|access| access["variable"].as_str().unwrap().ends_with("size")),
        "{first:#}"
    );
    let functions: Vec<_> = accesses.iter().map(|access| &access["function"]).collect();
    assert_eq!(functions[functions.len() - 2..], [&json!("queue_pop"), &json!("queue_pop")], "{first:#}");
    assert_eq!(first["confirmation"]["verdict"], "confirmed", "{first:#}");
    assert_eq!(report["warnings"], json!([]));
}

#[test]
fn a_bug_is_found_and_proven_at_fixed_addresses() {
    check("gcc", "-static");
}

#[test]
fn a_bug_is_found_and_proven_wherever_the_program_lies() {
    check("gcc", "-static-pie");
}

#[test]
fn a_bug_is_found_and_proven_in_what_clang_builds() {
    if !is_present("clang") {
        return skip("there is no clang");
    }
    check("clang", "-static");
    check("clang", "-static-pie");
}

#[test]
fn a_program_is_built_in_steps_and_stripped() {
    let place = Workplace::new();
    place.write("claims.c", CLAIMS);
    place.call("cc -O1 -c claims.c").exits(0);
    place.call("cc -static -s claims.o -o claims").exits(0);
    place.call("run --runs 4 --jobs 1 -- ./claims count 2 exit").exits(0).says(&["2 passed", "2 failed"]);
}

#[test]
fn where_there_is_no_static_library_that_is_said() {
    let place = Workplace::new();
    place.write("claims.c", CLAIMS);
    // The compiler is asked where its libraries are, and this one has none.
    place.write("lone-gcc", "#!/bin/sh\ncase \"$*\" in *-print-search-dirs*) echo 'libraries: =/nowhere';; *) exec gcc \"$@\";; esac\n");
    place.shell("chmod +x lone-gcc");
    place
        .call("cc --with ./lone-gcc -static claims.c -o claims")
        .exits(2)
        .complains(&["./lone-gcc has no static C library (libc.a)"]);
}
