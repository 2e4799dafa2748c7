//! A finding is forced and forbidden: the cause makes runs fail, and without it they pass.

use serde_json::Value;

use crate::kit::Workplace;

/// Two critical sections where one was needed.
const LOST_UPDATE: &str = r#"
#include <pthread.h>
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int counter;
static void *worker(void *argument) {
    pthread_mutex_lock(&lock);
    int value = counter;
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
    counter = value + 1;
    pthread_mutex_unlock(&lock);
    return argument;
}
int main(void) {
    pthread_t threads[2];
    counter = 0;
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], 0, worker, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
    return counter != 2;
}
"#;

fn session() -> Workplace {
    let place = Workplace::new();
    place.compile(&format!("{} cc", crate::kit::UNSNARL), "lost", LOST_UPDATE);
    place.call("run --session lost --schedule random --runs 30 --seed 3 -- ./lost").exits(0);
    place
}

/// The number of the finding with this pattern.
fn number(report: &Value, pattern: &str) -> usize {
    let findings = report["findings"].as_array().unwrap();
    1 + findings.iter().position(|finding| finding["pattern"] == pattern).unwrap()
}

/// Forced, the update is lost whenever an instance begins, which it does in most runs; forbidden, never. Seeds are fixed.
#[test]
fn a_cause_is_confirmed_and_stays_so() {
    let place = session();
    let report = place.call("report --json").exits(0).json();
    assert!(report["findings"][0]["confirmation"].is_null());
    let number = number(&report, "RWW");
    let seen = place.call(&format!("confirm {number}")).exits(0);
    assert!(seen.stdout.starts_with("confirmed   forced: "), "{}", seen.stdout);
    let report = place.call("report --json").exits(0).json();
    let confirmation = &report["findings"][number - 1]["confirmation"];
    assert_eq!(confirmation["verdict"], "confirmed");
    assert_eq!(confirmation["forbidden"]["failed"], 0);
    assert!(confirmation["enforced"]["failed"].as_u64() > Some(0));
    assert!(place.call(&format!("show {number}")).exits(0).stdout.contains("forced: "));
    // Trials are no runs of the session.
    assert_eq!(place.runs("lost").len(), 30);
}

/// Who is to wait with the first access must not have the lock by then that the other thread needs for the second. Seeds are
/// fixed.
#[test]
fn an_order_under_one_lock_is_forbidden() {
    let place = Workplace::new();
    let source = r#"
#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int limit, seen = -1;
static void *set(void *argument) {
    pthread_mutex_lock(&lock);
    limit = 10;
    pthread_mutex_unlock(&lock);
    return argument;
}
static void *use(void *argument) {
    pthread_mutex_lock(&lock);
    seen = limit;
    pthread_mutex_unlock(&lock);
    return argument;
}
int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], 0, set, 0);
    pthread_create(&threads[1], 0, use, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
    return seen != 10;
}
"#;
    place.compile(&format!("{} cc", crate::kit::UNSNARL), "limit", source);
    place.call("run --session limit --schedule random --runs 40 --seed 3 -- ./limit").exits(0);
    let report = place.call("report --json").exits(0).json();
    let number = number(&report, "RW");
    place.call(&format!("confirm {number}")).exits(0);
    let report = place.call("report --json").exits(0).json();
    let confirmation = &report["findings"][number - 1]["confirmation"];
    assert_eq!(confirmation["verdict"], "confirmed", "{confirmation:#}");
    assert_eq!(confirmation["forbidden"]["failed"], 0, "{confirmation:#}");
}

/// The run ends where it read what was not there any more: it never gets beyond its last step. Seeds are fixed.
#[test]
fn what_ends_a_run_at_its_last_step_has_come_about() {
    let place = Workplace::new();
    let source = r#"
#include <pthread.h>
#include <unistd.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int present = 1;
static int is_present(void) {
    pthread_mutex_lock(&lock);
    int seen = present;
    pthread_mutex_unlock(&lock);
    return seen;
}
static void *user(void *argument) {
    if (is_present()) {
        pthread_mutex_lock(&lock);
        if (!present)
            _exit(1);
        pthread_mutex_unlock(&lock);
    }
    return argument;
}
static void *sweeper(void *argument) {
    pthread_mutex_lock(&lock);
    present = 0;
    pthread_mutex_unlock(&lock);
    return argument;
}
int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], 0, user, 0);
    pthread_create(&threads[1], 0, sweeper, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
    return 0;
}
"#;
    place.compile(&format!("{} cc", crate::kit::UNSNARL), "sweep", source);
    place.call("run --session sweep --schedule random --runs 40 --seed 3 -- ./sweep").exits(0);
    let report = place.call("report --json").exits(0).json();
    let number = number(&report, "RWR");
    place.call(&format!("confirm {number}")).exits(0);
    let report = place.call("report --json").exits(0).json();
    let confirmation = &report["findings"][number - 1]["confirmation"];
    assert_eq!(confirmation["came_about"], confirmation["enforced"]["failed"], "{confirmation:#}");
}

/// It takes a write of the other before one's own; that one has read before follows from where threads are held for that.
/// Seeds are fixed.
#[test]
fn the_smallest_set_of_orders_is_found() {
    let place = session();
    let report = place.call("report --json").exits(0).json();
    let number = number(&report, "RWW");
    let seen = place.call(&format!("confirm {number} --minimize")).exits(0);
    let order = "thread 2 writes `counter` at lost.c:10 before thread 1 writes `counter` at lost.c:10";
    assert!(seen.stdout.contains("needs th") && seen.stdout.contains(order), "{}", seen.stdout);
    assert!(place.call(&format!("show {number}")).exits(0).stdout.contains("before thread 1 writes"));
}

/// An owner that is gone is asked only by who has found its timer to be active just before: to close it first, by itself, makes
/// the other pass it by. Both do much in between, so that nothing tells by itself that the two orders belong together. Seeds are fixed.
#[test]
fn what_has_to_be_in_place_is_forced_with_the_finding() {
    let place = Workplace::new();
    let source = r#"
#include <pthread.h>
enum { TIMERS = 12 };
static struct {
    pthread_mutex_t lock;
    int is_active, is_open;
} timers[TIMERS];
static int steps;
static int is_active(int number) {
    pthread_mutex_lock(&timers[number].lock);
    int seen = timers[number].is_active;
    pthread_mutex_unlock(&timers[number].lock);
    return seen;
}
static int work(void) {
    for (int i = 0; i < 9; i++)
        __atomic_fetch_add(&steps, 1, __ATOMIC_RELAXED);
    return 1;
}
static void *fire(void *lost) {
    for (int i = 0; i < TIMERS; i++)
        if (is_active(i) && work() && !__atomic_load_n(&timers[i].is_open, __ATOMIC_SEQ_CST))
            *(int *)lost = 1;
    return 0;
}
static void *close_all(void *argument) {
    for (int i = TIMERS - 1; i >= 0; i--) {
        pthread_mutex_lock(&timers[i].lock);
        timers[i].is_active = 0;
        pthread_mutex_unlock(&timers[i].lock);
        work();
        __atomic_store_n(&timers[i].is_open, 0, __ATOMIC_SEQ_CST);
    }
    return argument;
}
int main(void) {
    int lost = 0;
    pthread_t threads[2];
    for (int i = 0; i < TIMERS; i++) {
        pthread_mutex_init(&timers[i].lock, 0);
        timers[i].is_active = timers[i].is_open = 1;
    }
    pthread_create(&threads[0], 0, fire, &lost);
    pthread_create(&threads[1], 0, close_all, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
    return lost;
}
"#;
    place.compile(&format!("{} cc", crate::kit::UNSNARL), "timers", source);
    place.call("run --session timers --schedule random --runs 30 --seed 3 -- ./timers").exits(0);
    let report = place.call("report --json").exits(0).json();
    let number = number(&report, "WR");
    let seen = place.call(&format!("confirm {number} --minimize")).exits(0);
    let order = "].is_active` at timers.c:11 before thread 1 writes `timers[";
    assert!(seen.stdout.contains("these 2 orders") && seen.stdout.contains(order), "{}", seen.stdout);
    let report = place.call("report --json").exits(0).json();
    let finding = &report["findings"][number - 1];
    let enforced = &finding["confirmation"]["enforced"];
    assert_eq!(enforced["failed"], enforced["runs"], "{finding:#}");
    assert_eq!(finding["needs"]["orders"].as_array().map(Vec::len), Some(2));
    // What was found to be needed is what is forced from then on.
    let seen = place.call("check --runs 5").exits(18);
    assert!(seen.stdout.contains(&format!("finding {number} forced  5 of 5 runs failed")), "{}", seen.stdout);
}

/// Files are rotated once much was written: who is held back between its two looks from the start on only keeps that from
/// happening. Seeds are fixed.
#[test]
fn what_does_harm_late_is_proved_by_failing_runs_that_are_followed() {
    let place = Workplace::new();
    let source = r#"
#include <pthread.h>
#include <stdlib.h>
enum { LINES = 12, FULL = 14 };
static pthread_mutex_t rotation = PTHREAD_MUTEX_INITIALIZER;
static int files[2];
static int *current = &files[0];
static int written;
static int *now(void) {
    return __atomic_load_n(&current, __ATOMIC_SEQ_CST);
}
static void *writer(void *argument) {
    for (int i = 0; i < LINES; i++) {
        if (now() && !now())
            abort();
        __atomic_fetch_add(&written, 1, __ATOMIC_SEQ_CST);
    }
    return argument;
}
static void rotate(void) {
    pthread_mutex_lock(&rotation);
    if (__atomic_load_n(&written, __ATOMIC_SEQ_CST) >= FULL) {
        __atomic_store_n(&current, 0, __ATOMIC_SEQ_CST);
        __atomic_store_n(&current, &files[1], __ATOMIC_SEQ_CST);
    }
    pthread_mutex_unlock(&rotation);
}
static void *janitor(void *argument) {
    for (int i = 0; i < 6; i++)
        rotate();
    return argument;
}
int main(void) {
    pthread_t threads[3];
    pthread_create(&threads[0], 0, writer, 0);
    pthread_create(&threads[1], 0, writer, 0);
    pthread_create(&threads[2], 0, janitor, 0);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], 0);
    return 0;
}
"#;
    place.compile(&format!("{} cc", crate::kit::UNSNARL), "rotate", source);
    place.call("run --session rotate --schedule random --runs 40 --seed 3 -- ./rotate").exits(0);
    let report = place.call("report --json").exits(0).json();
    let number = number(&report, "RWR");
    let seen = place.call(&format!("confirm {number}")).exits(0);
    assert!(seen.stdout.contains("failing runs replayed until it happened: "), "{}", seen.stdout);
    let report = place.call("report --json").exits(0).json();
    let confirmation = &report["findings"][number - 1]["confirmation"];
    assert_eq!(confirmation["followed"], 3, "{confirmation:#}");
    assert_eq!(confirmation["forbidden"]["failed"], 0, "{confirmation:#}");
    assert!(confirmation["enforced"]["failed"].as_u64() > Some(4), "{confirmation:#}");
}

/// Each of three threads takes a second lock only now and then: who holds them at their first locks from the start keeps that from
/// happening. Seeds are fixed.
#[test]
fn a_deadlock_under_conditions_is_confirmed() {
    let place = Workplace::new();
    let source = r#"
#include <pthread.h>
static pthread_mutex_t locks[3] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static int rounds[3];
static void *work(void *argument) {
    int own = (int)(long)argument;
    for (int i = 0; i < 5; i++) {
        pthread_mutex_lock(&locks[own]);
        rounds[own]++;
        if (rounds[own] % 3 == own) {
            pthread_mutex_lock(&locks[(own + 1) % 3]);
            pthread_mutex_unlock(&locks[(own + 1) % 3]);
        }
        pthread_mutex_unlock(&locks[own]);
    }
    return 0;
}
int main(void) {
    pthread_t threads[3];
    for (long i = 0; i < 3; i++)
        pthread_create(&threads[i], 0, work, (void *)i);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], 0);
    return 0;
}
"#;
    place.compile(&format!("{} cc", crate::kit::UNSNARL), "circle", source);
    place.call("run --session circle --schedule pos --runs 60 --seed 3 -- ./circle").exits(0);
    let seen = place.call("confirm 1").exits(0);
    assert!(seen.stdout.starts_with("confirmed"), "{}", seen.stdout);
    let report = place.call("report --json").exits(0).json();
    assert_eq!(report["findings"][0]["kind"], "deadlock");
    assert_eq!(report["findings"][0]["confirmation"]["forbidden"]["failed"], 0);
}

/// A table is ready before it is filled, in so many rounds at one place that whoever fills it could be taken for one that spins:
/// it must go on nevertheless while the others are held back from reading. Seeds are fixed.
#[test]
fn who_works_for_long_at_one_place_is_waited_for() {
    let place = Workplace::new();
    let source = r#"
#include <pthread.h>
static int table[300], ready, other_work;
static void *use(void *argument) {
    if (!__atomic_exchange_n(&ready, 1, __ATOMIC_SEQ_CST))
        for (int i = 0; i < 300; i++)
            table[i] = i + 1;
    else
        for (int i = 0; i < 250; i++)
            __atomic_fetch_add(&other_work, 1, __ATOMIC_SEQ_CST);
    *(int *)argument = table[250];
    return 0;
}
int main(void) {
    int seen[3];
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], 0, use, &seen[i]);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], 0);
    return seen[0] != 251 || seen[1] != 251 || seen[2] != 251;
}
"#;
    place.compile(&format!("{} cc", crate::kit::UNSNARL), "table", source);
    place.call("run --session table --schedule random --runs 40 --seed 3 -- ./table").exits(0);
    let seen = place.call("confirm 1").exits(0);
    assert!(seen.stdout.contains("forbidden: 0 of "), "{}", seen.stdout);
}

#[test]
fn a_session_tries_its_first_findings_out() {
    let place = Workplace::new();
    place.compile(&format!("{} cc", crate::kit::UNSNARL), "lost", LOST_UPDATE);
    let line =
        "run --session lost --schedule random --runs 30 --seed 3 --confirm 2 --json lost.json -- ./lost";
    let seen = place.call(line).exits(0);
    seen.says(&["confirmed", "forced: ", "0 of "]);
    let report: Value = serde_json::from_slice(&std::fs::read(place.path("lost.json")).unwrap()).unwrap();
    let first = &report["findings"][0];
    assert_eq!(first["confirmation"]["verdict"], "confirmed", "{first:#}");
    assert!(first["advice"].as_str().unwrap().contains("runs failed."), "{first:#}");
    // Forbidding the cause is a fix that is simulated.
    assert_eq!(first["confirmation"]["forbidden"]["failed"], 0);
}

/// What goes along with the cause, encloses it or follows from it is not confirmed; the cause is. Seeds are fixed.
#[test]
fn decoys_are_not_confirmed() {
    let place = Workplace::new();
    let source = include_str!("../../../../corpus/planted/decoys/decoys.c");
    place.compile(&format!("{} cc", crate::kit::UNSNARL), "decoys", source);
    place
        .call("run --session decoys --schedule random --runs 60 --seed 3 --technique falcon -- ./decoys")
        .exits(0);
    let report = place.call("report --technique falcon --json").exits(0).json();
    let findings = report["findings"].as_array().unwrap();
    let about = |finding: &Value| finding["accesses"][0]["variable"].as_str().unwrap().to_owned();
    let mut tried = 0;
    for (number, finding) in (1..).zip(findings) {
        let is_cause = finding["pattern"] == "RWW" && about(finding) == "balance";
        let is_decoy = finding["pattern"] == "RWR" || about(finding) == "failures";
        if is_cause || is_decoy && tried < 4 {
            tried += 1;
            let seen = place.call(&format!("confirm {number} --technique falcon --runs 12"));
            assert_eq!(seen.stdout.starts_with("confirmed"), is_cause, "{finding:#}\n{}", seen.stdout);
            std::fs::remove_file(place.path(".unsnarl/decoys/confirmations.json")).unwrap();
        }
    }
    assert!(tried >= 3, "a cause and decoys were found: {findings:#?}");
}

/// The same update lost between two guards of the standard library's Mutex, which knows no pthread. Seeds are fixed.
#[test]
fn a_cause_in_rust_is_confirmed() {
    let place = Workplace::new();
    let manifest = "[package]\nname = \"lost\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[workspace]\n";
    place.write("Cargo.toml", manifest);
    let source = r#"
use std::sync::Mutex;
static COUNTER: Mutex<u32> = Mutex::new(0);
#[inline(never)]
fn read() -> u32 {
    *COUNTER.lock().unwrap()
}
#[inline(never)]
fn write(value: u32) {
    *COUNTER.lock().unwrap() = value;
}
fn main() {
    let count = || write(read() + 1);
    std::thread::scope(|scope| [scope.spawn(count), scope.spawn(count)].map(drop));
    assert_eq!(read(), 2);
}
"#;
    place.write("src/main.rs", source);
    place.call("cargo build --offline --quiet").exits(0);
    let program = place.shell("ls target/unsnarl/*/debug/lost");
    let line = "run --session lost --schedule random --runs 30 --seed 3 --confirm 1 --json lost.json --";
    place.call(&format!("{line} {}", program.trim())).exits(0);
    let report: Value = serde_json::from_slice(&std::fs::read(place.path("lost.json")).unwrap()).unwrap();
    let confirmation = &report["findings"][0]["confirmation"];
    assert_eq!(confirmation["verdict"], "confirmed", "{confirmation:#}");
    assert_eq!(confirmation["forbidden"]["failed"], 0);
}

#[test]
fn what_cannot_be_confirmed_is_told() {
    let place = session();
    place.call("confirm 1000").exits(2);
    place.compile(
        &format!("{} cc", crate::kit::UNSNARL),
        "lost",
        &LOST_UPDATE.replace("value + 1", "value + 2 - 1"),
    );
    place.call("confirm 1").exits(14);
}
