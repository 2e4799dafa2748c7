//! Commands that cannot be tested: each gets its own message, what to do next, and an exit code.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use crate::kit::{Seen, Workplace, claims};

const NOT_INSTRUMENTED: i32 = 3;
const NOT_FOUND: i32 = 4;
const NOT_EXECUTABLE: i32 = 5;
const NOTHING_RECORDED: i32 = 13;

fn run(place: &Workplace, command: &str) -> Seen {
    place.call(&format!("run --runs 2 -- {command}"))
}

/// What cannot be tested leaves no session behind.
#[track_caller]
fn refuses(place: &Workplace, command: &str, code: i32, phrases: &[&str]) {
    run(place, command).exits(code).complains(phrases);
    place.call("sessions list").exits(0).says(&["no sessions in .unsnarl yet"]);
}

#[test]
fn no_command() {
    let place = Workplace::new();
    for words in ["run", "run --runs 3", "run --"] {
        place.call(words).exits(2).complains(&["no command was given", "unsnarl run -- ./test"]);
    }
    place.call("").exits(2).complains(&["Usage: unsnarl <COMMAND>"]);
}

#[test]
fn shells_and_pagers_get_the_command_line() {
    let place = Workplace::new();
    place.call("completions bash").exits(0).says(&["_unsnarl()", "--until-failures"]);
    place.call("completions tcsh").exits(2).complains(&["possible values: bash"]);
    place.call("man").exits(0).says(&[".TH unsnarl 1", "no run failed", ".TH unsnarl-run 1"]);
}

#[test]
fn command_not_found() {
    let place = Workplace::new();
    refuses(&place, "no-such-test", NOT_FOUND, &["no-such-test: command not found", "needs its path"]);
    refuses(&place, "./no-such-test", NOT_FOUND, &["./no-such-test: command not found", "is it built"]);
}

#[test]
fn not_executable() {
    let place = Workplace::new();
    place.write("test", "#!/bin/sh\n");
    refuses(&place, "./test", NOT_EXECUTABLE, &["./test is not executable", "chmod +x"]);
}

#[test]
fn a_directory() {
    let place = Workplace::new();
    fs::create_dir(place.path("tests")).unwrap();
    refuses(&place, "./tests", NOT_EXECUTABLE, &["./tests is a directory", "name the program inside it"]);
}

#[test]
fn a_script_whose_interpreter_is_missing() {
    let place = Workplace::new();
    place.script("test", "#!/no/such/interpreter\n");
    refuses(&place, "./test", NOT_EXECUTABLE, &["cannot start ./test", "interpreter"]);
}

#[test]
fn a_binary_of_another_machine() {
    let place = Workplace::new();
    let mut binary = fs::read("/bin/true").unwrap();
    // The ELF header's e_machine becomes EM_RISCV.
    binary[18..20].copy_from_slice(&243u16.to_le_bytes());
    let path = place.write("test", binary);
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    refuses(&place, "./test", NOT_EXECUTABLE, &["was built for", "not for this machine"]);
}

#[test]
fn not_instrumented() {
    let place = Workplace::new();
    place.compile("gcc", "test", "int main(void) { return 0; }");
    let phrases = [
        "./test was not built for recording: it calls none of the __tsan_ functions",
        "CC=\"unsnarl cc\" CXX=\"unsnarl c++\" make",
        "gcc -fsanitize=thread -g",
    ];
    refuses(&place, "./test", NOT_INSTRUMENTED, &phrases);
}

#[test]
fn a_thread_sanitizer_linked_into_the_program() {
    let place = Workplace::new();
    // What clang's builds look like from outside.
    let source = "void __tsan_init(void) {}\nint main(void) { __tsan_init(); return 0; }";
    place.compile("gcc", "test", source);
    let phrases = ["a thread sanitizer of its own linked into it", "rebuild it with", "unsnarl cc"];
    refuses(&place, "./test", NOT_INSTRUMENTED, &phrases);
}

#[test]
fn a_thread_sanitizer_of_another_gcc() {
    let place = Workplace::new();
    place.write("tsan.c", "void __tsan_init(void) {}");
    place.shell("gcc -shared -fPIC -Wl,-soname,libtsan.so.0 tsan.c -o libtsan.so.0");
    place.write("test.c", "void __tsan_init(void);\nint main(void) { __tsan_init(); return 0; }");
    place.shell("gcc test.c ./libtsan.so.0 -o test");
    refuses(&place, "./test", NOT_INSTRUMENTED, &["needs libtsan.so.0", "libtsan.so.2"]);
}

#[test]
fn a_script_that_starts_an_instrumented_program_works() {
    let place = Workplace::new();
    place.script("test", &format!("#!/bin/sh\n{} count 2 exit || exit 3\n", claims().display()));
    let seen = run(&place, "./test").exits(0);
    seen.says(&["2 runs", "1 passed", "1 failed", "exit code 3", "`queue.size`", "has_item()"]);
    let manifest = fs::read_to_string(place.path(".unsnarl/test/manifest.json")).unwrap();
    let claims = claims().canonicalize().unwrap();
    assert!(manifest.contains(&*claims.to_string_lossy()), "what was tested is noted: {manifest}");
}

#[test]
fn a_tool_that_starts_an_instrumented_program_works() {
    let place = Workplace::new();
    place.write("Makefile", format!("check:\n\t{} count 2 exit\n", claims().display()));
    let seen = run(&place, "make check").exits(0);
    seen.says(&["2 runs", "1 passed", "1 failed", "exit code 2", "`queue.size`", "has_item()"]);
}

#[test]
fn a_script_that_starts_nothing_instrumented() {
    let place = Workplace::new();
    place.script("test", "#!/bin/sh\nexit 1\n");
    let seen = place.call("run --jobs 1 -- ./test").exits(NOTHING_RECORDED);
    seen.says(&["5 damaged", "did it start a program built for recording?", "CC=\"unsnarl cc\""]);
    place.script("cargo", "#!/bin/sh\nexit 1\n");
    place.call("run -- ./cargo test").exits(NOTHING_RECORDED).says(&["cargo unsnarl test NAME"]);
}

#[test]
fn a_stripped_binary_works_with_addresses() {
    let place = Workplace::new();
    fs::copy(claims(), place.path("stripped")).unwrap();
    place.shell("strip stripped");
    let seen = place.call("run --runs 4 --json - -- ./stripped count 2 exit").exits(0);
    let report = seen.json();
    let access = &report["findings"][0]["accesses"][0];
    assert_eq!(access["function"], serde_json::Value::Null, "{access}");
    assert!(access["module"].as_str().unwrap().ends_with("/stripped"), "{access}");
    assert!(access["address"].as_str().unwrap().starts_with("0x"), "{access}");
    place.call("show 1").exits(0).says(&["stripped+0x"]);
}

#[test]
fn the_command_may_follow_without_dashes_and_keeps_its_own_flags() {
    let place = Workplace::new();
    place.script(
        "test",
        &format!("#!/bin/sh\n[ \"$1\" = --runs ] && exec {} count 0 exit\n", claims().display()),
    );
    place.call("run --runs 2 ./test --runs 7").exits(10).says(&["2 runs", "2 passed"]);
}
