//! Programs that gcc built for its own thread sanitizer, and libraries.

use serde_json::Value;

use crate::kit::{CALLS_CLAIMS, CLAIMS, UNSNARL, Workplace, claims_library};

/// Runs `./claims` and checks that everything was seen.
fn check(place: &Workplace) {
    let report = place.call("run --runs 4 --jobs 1 --json - -- ./claims count 2 exit").exits(0).json();
    assert_eq!(report["runs"]["failed"], 2);
    assert_eq!(report["warnings"], Value::Array(Vec::new()));
    let findings = report["findings"].as_array().unwrap();
    let is_true = |finding: &&Value| finding["rank"] == 1 && finding["pattern"] == "RWR";
    let finding = findings.iter().find(is_true).unwrap_or_else(|| panic!("{findings:#?}"));
    assert_eq!(finding["accesses"][0]["variable"], "queue.size");
    assert_eq!(finding["accesses"][0]["function"], "has_item");
}

#[test]
fn an_unmodified_tsan_build_is_taken_over() {
    let place = Workplace::new();
    place.compile("gcc -fsanitize=thread", "claims", CLAIMS);
    assert!(place.shell("readelf -d claims").contains("libtsan.so.2"));
    check(&place);
}

#[test]
fn even_where_its_rpath_says_where_to_look_first() {
    let place = Workplace::new();
    let libtsan = place.shell("gcc -print-file-name=libtsan.so");
    let folder = std::path::Path::new(libtsan.trim()).canonicalize().unwrap().parent().unwrap().to_owned();
    let rpath = format!("-Wl,--disable-new-dtags,-rpath,{}", folder.display());
    place.compile(&format!("gcc -fsanitize=thread {rpath}"), "claims", CLAIMS);
    assert!(place.shell("readelf -d claims").contains("(RPATH)"));
    check(&place);
}

/// An instrumented library below a program that knows nothing of it.
fn check_library(compiler: &str) {
    let place = Workplace::new();
    place.write("claims_library.c", claims_library());
    place.shell(&format!("{compiler} -shared -fPIC -g -O1 claims_library.c -o libclaims.so"));
    place.write("main.c", CALLS_CLAIMS);
    place.shell("gcc -g main.c ./libclaims.so -Wl,--allow-shlib-undefined -o claims");
    check(&place);
}

#[test]
fn a_library_that_asks_for_gccs_runtime() {
    check_library("gcc -fsanitize=thread");
}

#[test]
fn a_library_that_asks_for_none() {
    check_library(&format!("{UNSNARL} cc"));
}

/// As interpreters do: a program that is not built for recording comes to a library that is, in the midst of its doings.
#[test]
fn a_library_that_is_loaded_later() {
    let place = Workplace::new();
    place.write("claims_library.c", claims_library());
    place.shell(&format!("{UNSNARL} cc -shared -fPIC -g -O1 claims_library.c -o libclaims.so"));
    let host = r#"
#include <dlfcn.h>
#include <stdio.h>
int main(int argc, char **argv) {
    void *library = dlopen("./libclaims.so", RTLD_NOW);
    if (!library)
        return fprintf(stderr, "cannot import: %s\n", dlerror()), 2;
    int (*test)(int, char **) = (int (*)(int, char **))dlsym(library, "claims_main");
    return test(argc, argv);
}
"#;
    place.compile("gcc", "host", host);
    place.script("claims", "#!/bin/sh\nexec ./host \"$@\"\n");
    check(&place);
}
