//! `unsnarl cc` and `unsnarl c++` in the places of a compiler.

use crate::kit::{CALLS_CLAIMS, CLAIMS, UNSNARL, Workplace, carries_recorder, claims_library, present};

/// The program works under unsnarl and its findings have names.
#[track_caller]
fn check(place: &Workplace, program: &str) {
    let words = format!("run --runs 4 --jobs 1 -- {program} count 2 exit");
    place.call(&words).exits(0).says(&["2 passed", "2 failed", "`queue.size`", "has_item()", "claims.c"]);
}

#[test]
fn in_one_step() {
    let place = Workplace::new();
    place.write("claims.c", CLAIMS);
    place.call("cc -pthread claims.c -o claims").exits(0);
    check(&place, "./claims");
    place.call("cc -pthread claims.c").exits(0);
    assert!(carries_recorder(&place.path("a.out")));
}

#[test]
fn compiled_and_linked_apart() {
    let place = Workplace::new();
    place.write("claims.c", claims_library());
    place.write("main.c", CALLS_CLAIMS);
    place.call("cc -c -O2 claims.c").exits(0);
    place.call("cc -c main.c -o objects.main.o").exits(0);
    assert!(place.shell("nm claims.o").contains("U __tsan_read4"));
    place.call("cc claims.o objects.main.o -pthread -o claims").exits(0);
    check(&place, "./claims");
}

#[test]
fn with_arguments_from_a_response_file() {
    let place = Workplace::new();
    place.write("claims.c", CLAIMS);
    place.write("flags", "-pthread -g\nclaims.c -o 'claims test'\n");
    place.call("cc @flags").exits(0);
    std::fs::rename(place.path("claims test"), place.path("claims")).unwrap();
    check(&place, "./claims");
}

#[test]
fn with_gccs_own_flag_for_it() {
    let place = Workplace::new();
    place.write("claims.c", CLAIMS);
    place.call("cc -fsanitize=thread -pthread claims.c -o claims").exits(0);
    assert!(!place.shell("readelf -d claims").contains("libtsan"));
    check(&place, "./claims");
}

#[test]
fn a_shared_library_and_its_program() {
    let place = Workplace::new();
    place.write("claims.c", claims_library());
    place.write("main.c", CALLS_CLAIMS);
    place.call("cc -shared -fPIC claims.c -o libclaims.so").exits(0);
    assert!(!carries_recorder(&place.path("libclaims.so")));
    place.call("cc main.c -L. -lclaims -Wl,-rpath,$ORIGIN -pthread -o claims").exits(0);
    check(&place, "./claims");
}

#[test]
fn cxx() {
    let place = Workplace::new();
    let source = r#"
        #include <mutex>
        #include <stdexcept>
        #include <thread>
        struct Counter { std::mutex lock; int value = 0; void add() { std::lock_guard guard(lock); value++; } };
        static Counter counter;
        int main() {
            std::thread thread([] { for (int i = 0; i < 9; i++) counter.add(); });
            counter.add();
            thread.join();
            try { throw std::runtime_error("caught"); } catch (const std::exception &) {}
            return counter.value == 10 ? 0 : 1;
        }
    "#;
    place.write("counter.cpp", source);
    place.call("c++ -std=c++17 -O1 -pthread counter.cpp -o counter").exits(0);
    place.call("run --runs 3 -- ./counter").exits(10).says(&["3 passed"]);
}

#[test]
fn what_the_compiler_says_is_passed_on() {
    let place = Workplace::new();
    place.write("wrong.c", "int main(void) { return undeclared; }");
    place.call("cc wrong.c").exits(1).complains(&["wrong.c:1:", "undeclared"]);
    let gcc = place.shell("gcc --version");
    assert_eq!(place.call("cc --version").exits(0).stdout, gcc);
    assert_eq!(place.call("cc -dumpmachine").exits(0).stdout, place.shell("gcc -dumpmachine"));
    place.call("cc").exits(1).complains(&["no input files"]);
    assert_eq!(place.call("c++ -dumpversion").exits(0).stdout, place.shell("g++ -dumpversion"));
    place.call("cc --with nonesuch/clang wrong.c").exits(2).complains(&["cannot be started", "UNSNARL_CC"]);
}

#[test]
fn the_tests_of_a_configure_script() {
    let place = Workplace::new();
    place.script(
        "configure",
        r#"#!/bin/sh
set -e
echo 'int main(void) { return 0; }' > conftest.c
$CC -o conftest conftest.c           # does the compiler work?
./conftest                           # are we cross-compiling?
$CC -c conftest.c && test -f conftest.o
$CC -E conftest.c | grep -q main     # the preprocessor
echo '#include <pthread.h>
int main(void) { return pthread_create(0, 0, 0, 0) == 99; }' > conftest.c
$CC -Wall -o conftest conftest.c -lpthread
echo 'char no_such_function(void); int main(void) { return no_such_function(); }' > conftest.c
if $CC -o conftest conftest.c 2> /dev/null; then echo 'found what is not there'; exit 1; fi
echo 'int main(void) { return 1' > conftest.c
if $CC -c conftest.c 2> /dev/null; then echo 'accepted what is wrong'; exit 1; fi
echo 'int x;' | $CC -M -x c - > /dev/null
$CC -v 2>&1 | grep -q 'gcc version'
echo configured
"#,
    );
    assert!(place.shell(&format!("CC='{UNSNARL} cc' ./configure")).ends_with("configured\n"));
}

#[test]
fn make() {
    if !present("make") {
        return;
    }
    let place = Workplace::new();
    place.write("claims.c", claims_library());
    place.write("main.c", CALLS_CLAIMS);
    place.write(
        "Makefile",
        "CFLAGS = -O1 -g\nLDLIBS = -pthread\nclaims: claims.o main.o\n\t$(CC) $^ $(LDLIBS) -o $@\n",
    );
    place.shell(&format!("CC='{UNSNARL} cc' make"));
    check(&place, "./claims");
}

#[test]
fn cmake() {
    if !present("cmake") {
        return;
    }
    let place = Workplace::new();
    place.write("claims.c", claims_library());
    place.write("main.c", CALLS_CLAIMS);
    place.write(
        "CMakeLists.txt",
        "cmake_minimum_required(VERSION 3.10)\n\
         project(claims C CXX)\n\
         find_package(Threads REQUIRED)\n\
         add_library(held SHARED claims.c)\n\
         target_link_libraries(held Threads::Threads)\n\
         add_executable(claims main.c)\n\
         target_link_libraries(claims held)\n",
    );
    place.shell(&format!("CC='{UNSNARL} cc' CXX='{UNSNARL} c++' cmake -S . -B built"));
    place.shell("cmake --build built");
    check(&place, "built/claims");
}
