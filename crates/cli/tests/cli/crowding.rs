//! Runs at the same time that want the same thing, and runs that test nothing.

use crate::kit::{Workplace, compiled, skip};

/// Fails if another run is under way in the same folder.
const BUSY: &str = r#"
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
static void *work(void *unused) { return unused; }
int main(void) {
    if (mkdir("busy", 0700) != 0) {
        perror("busy");
        return 7;
    }
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
    pthread_join(thread, NULL);
    usleep(150000);
    return rmdir("busy");
}
"#;

#[test]
fn runs_that_get_in_each_others_way_go_on_one_by_one() {
    if std::thread::available_parallelism().is_ok_and(|processors| processors.get() == 1) {
        return skip("one processor makes one run at a time");
    }
    let place = Workplace::new();
    let program = compiled("busy", BUSY);
    let seen = place.call(&format!("run --seed 1 --runs 45 -- {}", program.display())).exits(10);
    let seen = seen.says(&["45 passed"]);
    let told = "runs at the same time get in each other's way";
    let seen = seen.complains(&[told, "last printed `busy: File exists`", "as by --jobs 1"]);
    let manifest = std::fs::read_to_string(place.path(".unsnarl/busy/manifest.json")).unwrap();
    assert!(
        manifest.contains(r#""jobs": "1""#),
        "what is tried out later goes on one by one, too: {manifest}"
    );
    assert!(!place.path(".unsnarl/busy-2").exists(), "{seen}");
    // Whoever says how many gets as many.
    let told_so = place.call(&format!("run --seed 1 --jobs 2 --runs 45 -- {}", program.display()));
    assert!(!told_so.stderr.contains(told), "{told_so}");
    told_so.says(&["failures look alike: exit code 7, last printed `busy: File exists`"]);
}

#[test]
fn a_run_without_a_test_is_no_run_that_passed() {
    let place = Workplace::new();
    let source = r#"
#include <pthread.h>
#include <stdio.h>
static void *work(void *unused) { return unused; }
int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
    puts("[==========] Running 0 tests from 0 test suites.");
    return pthread_join(thread, NULL);
}
"#;
    let program = compiled("filtered", source);
    place.call(&format!("run -- {} --gtest_filter=Typo", program.display())).exits(13).says(&[
        "it ran no test: `[==========] Running 0 tests",
        "is the test's name right?",
        "--gtest_filter=Typo",
    ]);
}
