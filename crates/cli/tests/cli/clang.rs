//! clang behind `unsnarl cc` and `unsnarl c++`, and programs that clang built by itself.

use serde_json::Value;

use crate::kit::{CALLS_CLAIMS, CLAIMS, Workplace, carries_recorder, claims_library, is_present, skip};

/// Those that Debian has, and whatever else is called so.
const CLANGS: [&str; 3] = ["clang-14", "clang-19", "clang"];

/// The clangs to test with. Says so if there is none.
fn clangs() -> impl Iterator<Item = &'static str> {
    let present: Vec<&str> = CLANGS.into_iter().filter(|name| is_present(name)).collect();
    if present.is_empty() {
        skip("there is no clang");
    }
    present.into_iter()
}

/// The program's findings are what they would be with gcc.
#[track_caller]
fn check(place: &Workplace, program: &str) {
    assert_eq!(check_findings(place, program)["warnings"], Value::Array(Vec::new()));
}

#[track_caller]
fn check_findings(place: &Workplace, program: &str) -> Value {
    let words = format!("run --runs 4 --jobs 1 --json - -- {program} count 2 exit");
    let report = place.call(&words).exits(0).json();
    assert_eq!((&report["runs"]["passed"], &report["runs"]["failed"]), (&2.into(), &2.into()));
    let findings = report["findings"].as_array().unwrap();
    let is_true = |finding: &&Value| finding["rank"] == 1 && finding["pattern"] == "RWR";
    let finding = findings.iter().find(is_true).unwrap_or_else(|| panic!("{findings:#?}"));
    assert_eq!(finding["accesses"][0]["variable"], "queue.size");
    assert_eq!(finding["accesses"][0]["function"], "has_item");
    report
}

#[test]
fn in_one_step_or_two() {
    for clang in clangs() {
        for flags in ["", "-O2 -no-pie", "-O1 -flto", "-fsanitize=thread -Werror -Wall"] {
            let place = Workplace::new();
            place.write("claims.c", CLAIMS);
            let compile = |words: &str| {
                place.call(&format!("cc --with {clang} {flags} -pthread {words}")).exits(0).stderr
            };
            assert_eq!(compile("claims.c -o claims"), "", "{clang} {flags}");
            check(&place, "./claims");
            compile("-c claims.c -o claims.o");
            compile("claims.o -o claims");
            assert!(carries_recorder(&place.path("claims")), "{clang} {flags}");
        }
    }
}

#[test]
fn the_environment_can_choose_it() {
    for clang in clangs() {
        let place = Workplace::new();
        place.write("producer.c", "int main(void) { return 0; }");
        for variable in ["UNSNARL_CC", "CC"] {
            let mut command = place.unsnarl("cc producer.c -o producer");
            assert!(command.env(variable, clang).status().unwrap().success());
            assert!(place.shell("readelf --debug-dump=info producer").contains("clang version"));
            assert!(carries_recorder(&place.path("producer")));
        }
    }
}

#[test]
fn a_shared_library_and_its_program() {
    for clang in clangs() {
        let place = Workplace::new();
        place.write("claims.c", claims_library());
        place.write("main.c", CALLS_CLAIMS);
        let library = "-shared -fPIC -Wl,-z,defs claims.c -o libclaims.so";
        place.call(&format!("cc --with {clang} {library}")).exits(0);
        assert!(!carries_recorder(&place.path("libclaims.so")));
        let program = "main.c -L. -lclaims -Wl,-rpath,$ORIGIN -pthread -o claims";
        place.call(&format!("cc --with {clang} {program}")).exits(0);
        check(&place, "./claims");
    }
}

#[test]
fn a_reading_write_is_a_read_and_a_write() {
    for clang in clangs() {
        let place = Workplace::new();
        place.write("add.c", "int shared; void add(void) { shared++; }");
        place.call(&format!("cc --with {clang} -O2 -c add.c")).exits(0);
        let symbols = place.shell("nm add.o");
        assert!(symbols.contains("__tsan_read4") && symbols.contains("__tsan_write4"), "{symbols}");
    }
}

#[test]
fn cxx_with_exceptions_and_another_sanitizer() {
    let source = r#"
        #include <climits>
        #include <cstdio>
        #include <mutex>
        #include <stdexcept>
        #include <thread>
        struct Counter { std::mutex lock; int value = 0; void add() { std::lock_guard<std::mutex> guard(lock); value++; } };
        static Counter counter;
        int main(int argc, char **) {
            std::thread thread([] { for (int i = 0; i < 9; i++) counter.add(); });
            counter.add();
            thread.join();
            try { throw std::runtime_error("caught"); } catch (const std::exception &) {}
            int large = INT_MAX;
            large += argc;
            printf("%d\n", large);
            return counter.value == 10 ? 0 : 1;
        }
    "#;
    for clang in clangs() {
        let place = Workplace::new();
        place.write("counter.cpp", source);
        place.call(&format!("c++ --with {clang} -pthread counter.cpp -o counter")).exits(0);
        place.call("run --runs 3 -- ./counter").exits(10).says(&["3 passed"]);
        let flags = "-fsanitize=undefined -pthread counter.cpp -o checked";
        place.call(&format!("c++ --with {clang} {flags}")).exits(0);
        assert!(carries_recorder(&place.path("checked")));
        assert!(place.shell("./checked 2>&1").contains("signed integer overflow"));
    }
}

#[test]
fn a_file_can_be_left_out_and_objects_joined() {
    for clang in clangs() {
        let place = Workplace::new();
        place.write("part.c", "int shared; int main(void) { return ++shared - 1; }");
        place.call(&format!("cc --with {clang} -fno-sanitize=thread -c part.c")).exits(0);
        let symbols = place.shell("nm part.o");
        assert!(!symbols.contains("__tsan_write") && !symbols.contains("__tsan_func"), "{symbols}");
        place.call(&format!("cc --with {clang} -r part.o -o joined.o")).exits(0);
        assert!(!carries_recorder(&place.path("joined.o")));
        place.call(&format!("cc --with {clang} joined.o -o program")).exits(0);
        place.shell("./program");
        assert!(carries_recorder(&place.path("program")));
    }
}

#[test]
fn questions_are_answered_as_by_the_compiler_itself() {
    for clang in clangs() {
        let place = Workplace::new();
        for question in ["--version", "-dumpmachine", "-dumpversion"] {
            let answer = place.call(&format!("cc --with {clang} {question}")).exits(0);
            assert_eq!(answer.stdout, place.shell(&format!("{clang} {question}")));
            assert_eq!(answer.stderr, "");
        }
        place.write("wrong.c", "int main(void) { return undeclared; }");
        place.call(&format!("cc --with {clang} wrong.c")).exits(1).complains(&["wrong.c:1:", "undeclared"]);
    }
}

#[test]
fn a_program_with_clangs_own_runtime_within_is_refused_with_what_to_do() {
    for clang in clangs() {
        let place = Workplace::new();
        place.compile(&format!("{clang} -fsanitize=thread"), "claims", CLAIMS);
        let advice = ["has a thread sanitizer of its own", "UNSNARL_CC=clang", "-shared-libsan"];
        place.call("run -- ./claims count 2 exit").exits(3).complains(&advice);
    }
}

#[test]
fn a_program_with_clangs_shared_runtime_is_taken_over() {
    for clang in clangs() {
        let place = Workplace::new();
        place.compile(&format!("{clang} -fsanitize=thread -shared-libsan"), "claims", CLAIMS);
        assert!(place.shell("readelf -d claims").contains("libclang_rt.tsan"));
        let warnings = &check_findings(&place, "./claims")["warnings"];
        assert!(
            warnings[0].as_str().unwrap().starts_with("claims.c, compiled by clang: the read of"),
            "{warnings}"
        );
    }
}

/// An object that clang made by itself says nothing of its reads; one that was never instrumented need not.
#[test]
fn objects_without_all_their_reads_are_told_of() {
    for clang in clangs() {
        let place = Workplace::new();
        place.write("claims.c", claims_library());
        place.write("main.c", CALLS_CLAIMS);
        place.shell(&format!("{clang} -g -c main.c"));
        place.shell(&format!("{clang} -g -fsanitize=thread -c claims.c"));
        place.call(&format!("cc --with {clang} main.o claims.o -pthread -o claims")).exits(0);
        let warnings = &check_findings(&place, "./claims")["warnings"];
        assert!(warnings[0].as_str().unwrap().starts_with("claims.c, compiled by clang"), "{warnings}");
        let told = "-mllvm -tsan-instrument-read-before-write=1 -grecord-command-line";
        place.shell(&format!("{clang} -g -fsanitize=thread {told} -c claims.c"));
        place.call(&format!("cc --with {clang} main.o claims.o -pthread -o claims")).exits(0);
        check(&place, "./claims");
    }
}

/// One program of objects that rustc, gcc and clang compiled.
#[test]
fn rust_in_a_program_of_others() {
    let rust = "use std::sync::Mutex;\nstatic COUNT: Mutex<u32> = Mutex::new(0);\n#[unsafe(no_mangle)]\n\
                pub extern \"C\" fn add() -> u32 {\n let mut count = COUNT.lock().unwrap();\n *count += 1;\n *count\n}\n";
    let part = "#include <pthread.h>\nstatic pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;\nint total;\n\
                int sum(void) { pthread_mutex_lock(&lock); int now = ++total; pthread_mutex_unlock(&lock); return now; }\n";
    let main = "#include <thread>\nextern \"C\" unsigned add();\nextern \"C\" int sum();\n\
                int main() { std::thread other([] { add(); sum(); }); add(); sum(); other.join();\n\
                return add() == 3 && sum() == 3 ? 0 : 1; }\n";
    let flags = "--edition 2024 -g --crate-type staticlib -Zsanitizer=thread -Zexternal-clangrt \
                 -Cunsafe-allow-abi-mismatch=sanitizer";
    for clang in clangs() {
        let place = Workplace::new();
        place.write("part.rs", rust);
        place.shell(&format!("RUSTC_BOOTSTRAP=1 rustc {flags} part.rs -o libpart.a"));
        place.write("sum.c", part);
        place.call("cc -c sum.c").exits(0);
        place.write("main.cc", main);
        place.call(&format!("c++ --with {clang} main.cc sum.o libpart.a -pthread -ldl -o mixed")).exits(0);
        place.call("run --runs 2 --session mixed -- ./mixed").exits(10).says(&["2 passed"]);
        let session = runner::Session::open(&place.path(".unsnarl/mixed")).unwrap();
        let run = session.load(runner::RunNumber(1)).unwrap();
        let recording = recording::parse(&run.processes[0].bytes).unwrap();
        let kinds = recording.events.iter().map(|event| event.kind);
        let taken = kinds.filter(|kind| *kind == recording::EventKind::Acquire).count();
        assert!(taken >= 4, "both locks go from one thread to the other: {taken}");
    }
}

/// One program of objects that gcc and clang compiled, linked by either.
#[test]
fn objects_of_different_compilers_make_one_program() {
    for clang in clangs() {
        let place = Workplace::new();
        place.write("claims.c", claims_library());
        place.write("main.c", CALLS_CLAIMS);
        place.call("cc -c claims.c").exits(0);
        place.call(&format!("cc --with {clang} -c main.c")).exits(0);
        for linker in ["gcc", clang] {
            place.call(&format!("cc --with {linker} claims.o main.o -pthread -o claims")).exits(0);
            check(&place, "./claims");
        }
    }
}
