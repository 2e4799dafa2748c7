//! OpenMP programs of gcc and clang, whose runtimes are not instrumented.

use std::process::Command;

use recording::EventKind;

use crate::kit::{Compiler, Link, skip};

/// One thread after another, by barriers.
fn check(compiler: Compiler) {
    let program = compiler.flags("-fopenmp").program(
        r#"
#include <omp.h>
int named, unnamed, locked, before, after;
omp_lock_t lock;
static void work(int turn) {
    #pragma omp barrier
    if (omp_get_thread_num() == turn) {
        #pragma omp critical(name)
        named++; //@named
        #pragma omp critical
        unnamed++; //@unnamed
        omp_set_lock(&lock); //@set
        locked++; //@locked
        omp_unset_lock(&lock); //@unset
    }
}
int main(void) {
    omp_init_lock(&lock);
    #pragma omp parallel num_threads(2)
    {
        work(0);
        work(1);
    }
    CHECK(named == 2 && unnamed == 2 && locked == 2);
    return 0;
}
"#,
    );
    let process = program.record();
    let locks_at = |variable: &str| -> Vec<String> {
        let address = process.address(variable);
        let (location, _) =
            process.lasting_locations().find(|(_, location)| location.address == address).unwrap();
        let second = process.accesses(location).filter(|event| !event.is_stamped());
        second.map(|event| process.locks(event.event.other)).collect()
    };
    for variable in ["named", "unnamed", "locked"] {
        // A read and a write by the second thread, and the check at the end, without a lock.
        let locks = locks_at(variable);
        assert!(
            matches!(&locks[..], [read, write, check] if !read.is_empty() && !write.is_empty() && check.is_empty()),
            "{variable}: {locks:?}"
        );
    }
    let lock = process.synchronization("lock");
    assert!(
        lock.contains("main Acquire@set, main Release@unset") && lock.matches("Acquire@set").count() == 2,
        "{lock}"
    );
    let barriers = |kind| process.recording.events.iter().filter(|event| event.kind == kind).count();
    assert_eq!((barriers(EventKind::BarrierEnter), barriers(EventKind::BarrierLeave)), (4, 4));
}

#[test]
fn critical_sections_locks_and_barriers_are_seen() {
    check(Compiler::c());
}

#[test]
fn also_with_the_recorder_inside_the_program() {
    check(Compiler::c().link(Link::Static));
}

#[test]
fn those_of_clang_are_seen_too() {
    let has_openmp = |clang: &&str| {
        let mut preprocess = Command::new(clang);
        preprocess.args(["-fopenmp", "-E", "-include", "omp.h", "-x", "c", "/dev/null"]);
        preprocess.output().is_ok_and(|output| output.status.success())
    };
    match ["clang", "clang-19", "clang-14"].into_iter().find(has_openmp) {
        Some(clang) => check(Compiler::other(clang)),
        None => skip("there is no clang with OpenMP"),
    }
}
