//! How runs are made: by all schedules of a small test, and by a mixture that learns.

use crate::kit::{UNSNARL, Workplace};

/// One update is lost if the other thread runs between the two accesses, so one preemption is needed.
const LOST_UPDATE: &str = r#"
#include <pthread.h>
volatile int counter;
static void *worker(void *argument) {
    counter = counter + 1;
    return argument;
}
int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], 0, worker, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
    return counter != 2;
}
"#;

fn place() -> Workplace {
    let place = Workplace::new();
    place.compile(&format!("{UNSNARL} cc"), "lost", LOST_UPDATE);
    place
}

#[test]
fn a_bounded_search_says_when_it_has_covered_everything() {
    let place = place();
    let none = place.call("run --schedule bounded:0 --session none -- ./lost").exits(10);
    assert!(none.stdout.contains("all schedules with up to 0 preemptions were run"), "{}", none.stdout);
    let one = place.call("run --schedule bounded:1 --session one --json one.json -- ./lost").exits(0);
    assert!(one.stdout.contains("all schedules with up to 1 preemption were run"), "{}", one.stdout);
    let report = place.call("report --session one --json").exits(0).json();
    let search = &report["search"];
    assert_eq!(search["covered"]["preemptions"], 1);
    assert_eq!(search["covered"]["schedules"], search["policies"][0]["runs"]);
    assert_eq!(search["policies"][0]["name"], "bounded");
    // The same schedules every time: nothing in the search is left to chance.
    place.call("run --schedule bounded:1 --session again --seed 99 -- ./lost").exits(0);
    let again = place.call("report --session again --json").exits(0).json();
    assert_eq!(again["runs"], report["runs"]);
}

#[test]
fn a_mixture_learns_and_tells() {
    let place = place();
    let seen = place.call("run --seed 5 --runs 40 --session mixed -- ./lost").exits(0);
    assert!(seen.stdout.contains("runs that failed: "), "{}", seen.stdout);
    assert!(seen.stdout.contains("orders of accesses: "), "{}", seen.stdout);
    let plans: Vec<String> =
        place.runs("mixed").iter().map(|run| run["plan"].as_str().unwrap().to_owned()).collect();
    assert!(plans[0].contains("schedule=free") && plans[1].contains("schedule=random"), "{plans:?}");
    for wanted in ["schedule=pct,points=", "schedule=pos", ",weights=", "schedule=free,points="] {
        assert!(plans.iter().any(|plan| plan.contains(wanted)), "{wanted} in {plans:?}");
    }
    let search = &place.call("report --session mixed --json").exits(0).json()["search"];
    let policies = search["policies"].as_array().unwrap();
    let runs: u64 = policies.iter().map(|policy| policy["runs"].as_u64().unwrap()).sum();
    assert_eq!(runs, 40);
    assert!(policies[0]["failed"].as_u64() > Some(0), "{search}");
    assert!(search["orders"]["seen"].as_u64() <= search["orders"]["predicted"].as_u64());
}

#[test]
fn orders_that_were_never_seen_are_gone_for() {
    let place = Workplace::new();
    // The reader is far behind: without a hint it never comes first.
    let source = r#"
#include <pthread.h>
#include <unistd.h>
volatile int ready, result;
static void *reader(void *argument) {
    usleep(20000);
    result = ready;
    return argument;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, reader, 0);
    ready = 1;
    pthread_join(thread, 0);
    return result != 1;
}
"#;
    place.compile(&format!("{UNSNARL} cc"), "late", source);
    place.call("run --seed 1 --runs 24 --session late -- ./late");
    let search = &place.call("report --session late --json").json()["search"];
    assert_eq!(search["orders"]["predicted"], 2);
    let directed = &search["directed"];
    assert!(directed["runs"].as_u64() > Some(0), "{search}");
    let undirected = place.call("run --seed 1 --runs 20 --undirected --session undirected -- ./late");
    assert!(!undirected.stdout.contains("directed at"), "{}", undirected.stdout);
}

#[test]
fn a_misspelt_schedule_is_told() {
    let place = Workplace::new();
    let seen = place.call("run --schedule later -- ./lost").exits(2);
    assert!(seen.stderr.contains("known: mixed, free, random, pct, pos, surw, bounded"), "{}", seen.stderr);
}
