//! What is forced and forbidden together with a finding: what merely goes along with it, and all copies of its calls.

use serde_json::Value;

use crate::kit::Workplace;

/// The number of tickets is looked at and then one is taken: another sale in between makes that fail. That a clerk writes the number
/// before it is read goes along with it, and is forced and forbidden together with it. Seeds are fixed.
#[test]
fn what_goes_along_with_the_cause_is_told_as_such() {
    let place = Workplace::new();
    let source = r#"
#include <pthread.h>
#include <unistd.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int tickets = 1;
static volatile int returned;
static int look(void) {
    pthread_mutex_lock(&lock);
    int seen = tickets;
    pthread_mutex_unlock(&lock);
    return seen;
}
static void take(void) {
    pthread_mutex_lock(&lock);
    if (tickets < 1)
        _exit(1);
    tickets = tickets - 1;
    pthread_mutex_unlock(&lock);
}
static void *buyer(void *argument) {
    if (look() > 0)
        take();
    return argument;
}
static void *clerk(void *argument) {
    pthread_mutex_lock(&lock);
    tickets = tickets + returned;
    pthread_mutex_unlock(&lock);
    return argument;
}
int main(void) {
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], 0, i < 2 ? buyer : clerk, 0);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], 0);
    return 0;
}
"#;
    place.compile(&format!("{} cc", crate::kit::UNSNARL), "tickets", source);
    place.call("run --session tickets --schedule random --runs 60 --seed 5 -- ./tickets").exits(0);
    assert!(place.call("confirm 1").exits(0).stdout.starts_with("confirmed"));
    let seen = place.call("confirm 2").exits(15);
    assert!(seen.stdout.starts_with("goes along with 1   forced: "), "{}", seen.stdout);
    let report = place.call("report --json").exits(0).json();
    let findings = report["findings"].as_array().unwrap();
    // It goes below what was not tried.
    let is_it = |finding: &Value| finding["confirmation"]["explained_by"] == 1;
    let place_of_it = findings.iter().position(is_it).unwrap();
    let confirmation = &findings[place_of_it]["confirmation"];
    assert_eq!(confirmation["verdict"], "refuted");
    assert_eq!(confirmation["apart"]["failed"], 0, "{confirmation:#}");
    let shown = place.call(&format!("show {}", place_of_it + 1)).exits(0).stdout;
    assert!(
        shown.contains("goes along with 1") && shown.contains("forced without finding 1: 0 of "),
        "{shown}"
    );
    // By itself a session does not try out what hardly anything speaks for once there is a cause.
    let line =
        "run --session cause --schedule random --runs 60 --seed 5 --confirm 3 --json cause.json -- ./tickets";
    place.call(line).exits(0);
    let report: Value = serde_json::from_slice(&std::fs::read(place.path("cause.json")).unwrap()).unwrap();
    let findings = report["findings"].as_array().unwrap();
    assert_eq!(findings[0]["confirmation"]["verdict"], "confirmed");
    assert!(findings.len() > 1 && findings[1..].iter().all(|finding| finding["confirmation"].is_null()));
}

/// Of a loop that is unrolled, every round calls from another address: the finding is about all of them. Seeds are fixed.
#[test]
fn copies_of_a_call_are_forced_as_one() {
    let place = Workplace::new();
    let source = r#"
#include <pthread.h>
static int counter;
static __attribute__((noinline)) int read_it(void) {
    return __atomic_load_n(&counter, __ATOMIC_SEQ_CST);
}
static __attribute__((noinline)) void write_it(int value) {
    __atomic_store_n(&counter, value, __ATOMIC_SEQ_CST);
}
static void *worker(void *argument) {
#pragma GCC unroll 3
    for (int i = 0; i < 3; i++)
        write_it(read_it() + 1);
    return argument;
}
int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], 0, worker, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
    return counter != 6;
}
"#;
    place.compile(&format!("{} cc", crate::kit::UNSNARL), "unrolled", source);
    place.call("run --session unrolled --runs 40 --seed 3 --confirm 1 -- ./unrolled").exits(0);
    let kept = std::fs::read_to_string(place.path(".unsnarl/unrolled/confirmations.json")).unwrap();
    let (enforced, _) = kept.split_once("enforce:").and_then(|(_, rest)| rest.split_once('"')).unwrap();
    assert!(enforced.split(';').all(|step| step.contains('~') && step.contains('=')), "{kept}");
}
