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
