//! How runs are made: by all schedules of a small test, and by a mixture that learns.

use recording::{Beginning, RunPlan, Switch};
use runner::{RunNumber, Schedules, Session};

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

/// The runs of a bounded search and how many of them failed, besides those from which it learned.
fn bounded(place: &Workplace, bound: u32, seed: u32) -> (u64, u64) {
    let session = format!("bounded-{bound}-{seed}");
    let seen =
        place.call(&format!("run --schedule bounded:{bound} --seed {seed} --session {session} -- ./lost"));
    assert!(seen.stdout.contains(&format!("all schedules with up to {bound} preemption")), "{}", seen.stdout);
    let search = &place.call(&format!("report --session {session} --json")).json()["search"];
    let policies = search["policies"].as_array().unwrap();
    let found = policies.iter().find(|policy| policy["name"] == "bounded").unwrap();
    let count = |key: &str| found[key].as_u64().unwrap();
    assert_eq!(search["covered"]["preemptions"], bound);
    assert_eq!(search["covered"]["schedules"], count("runs"));
    (count("runs"), count("failed"))
}

#[test]
fn a_bounded_search_says_when_it_has_covered_everything() {
    let place = place();
    assert_eq!(bounded(&place, 0, 1).1, 0, "no update is lost unless a thread is interrupted");
    let once = bounded(&place, 1, 1);
    assert!(once.1 > 0, "{once:?}");
    // The same schedules every time: nothing in the search is left to chance.
    assert_eq!(bounded(&place, 1, 99), once);
}

#[test]
fn a_mixture_learns_and_tells() {
    let place = place();
    place.call("run --seed 5 --runs 40 --session mixed -- ./lost").exits(0);
    let page = std::fs::read_to_string(place.path(".unsnarl/mixed/report.html")).unwrap();
    assert!(page.contains("failed by schedule: ") && page.contains("orders of accesses: "), "{page}");
    let plans: Vec<String> =
        place.runs("mixed").iter().map(|run| run["plan"].as_str().unwrap().to_owned()).collect();
    // They go on at the same time, so that either may be done first.
    for wanted in ["schedule=free", "schedule=pos"] {
        assert!(plans[..2].iter().any(|plan| plan.contains(wanted)), "{wanted} in {plans:?}");
    }
    // The seed says which controlled runs fail: one of the first does.
    for wanted in ["schedule=pos,points=", "beginning=", "schedule=free,points="] {
        assert!(plans.iter().any(|plan| plan.contains(wanted)), "{wanted} in {plans:?}");
    }
    let search = &place.call("report --session mixed --json").exits(0).json()["search"];
    let policies = search["policies"].as_array().unwrap();
    let runs: u64 = policies.iter().map(|policy| policy["runs"].as_u64().unwrap()).sum();
    assert_eq!(runs, 40);
    assert!(policies[0]["failed"].as_u64() > Some(0), "{search}");
    assert!(search["orders"]["seen"].as_u64() <= search["orders"]["predicted"].as_u64());
}

/// What is forced loses an update in every run, and what is forbidden in none.
#[test]
fn a_directed_search_ends_with_the_proof_and_others_when_runs_have_settled_it() {
    let place = place();
    let directed = place.call("run --confirm 3 --seed 5 --session directed -- ./lost").exits(0);
    directed.complains(&["the first cause is proved"]);
    let report = place.call("report --session directed --json").exits(0).json();
    assert_eq!(report["findings"][0]["confirmation"]["verdict"], "confirmed", "{report:#}");
    for (session, flags) in
        [("mixed", "--confirm 3 --undirected"), ("pos", "--confirm 3 --schedule pos"), ("runs", "")]
    {
        let seen = place.call(&format!("run {flags} --seed 5 --session {session} -- ./lost")).exits(0);
        seen.complains(&["more would hardly change the first cause"]);
        let report = place.call(&format!("report --session {session} --json")).exits(0).json();
        assert!(report["runs"]["passed"].as_u64() >= Some(20), "{report:#}");
    }
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
    usleep(200000);
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
    // As nothing fails, this way is let in: the fourth, each after eight runs.
    place.call("run --seed 1 --runs 24 --jobs 1 --session late -- ./late");
    let search = &place.call("report --session late --json").json()["search"];
    assert_eq!(search["orders"]["predicted"], 2);
    let directed = &search["directed"];
    assert!(directed["runs"].as_u64() > Some(0), "{search}");
    let undirected = place.call("run --seed 1 --runs 4 --undirected --session undirected -- ./late");
    assert!(!undirected.stdout.contains("directed at"), "{}", undirected.stdout);
}

/// One update is lost if the other thread comes between two of many steps.
const SELDOM_LOST: &str = r#"
#include <pthread.h>
static int steps, balance;
static void step(void) {
    __atomic_fetch_add(&steps, 1, __ATOMIC_SEQ_CST);
}
static void *worker(void *argument) {
    for (int i = 0; i < 8; i++)
        step();
    int seen = __atomic_load_n(&balance, __ATOMIC_SEQ_CST);
    step();
    __atomic_store_n(&balance, seen + 1, __ATOMIC_SEQ_CST);
    for (int i = 0; i < 8; i++)
        step();
    return argument;
}
int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], 0, worker, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
    return balance != 2;
}
"#;

/// Of a run of the only process of a program.
fn switches(session: &Session, run: u32) -> Vec<Switch> {
    let schedules = Schedules::of(&session.load(RunNumber(run)).unwrap()).unwrap();
    schedules.processes()[0].switches()
}

#[test]
fn runs_are_made_near_one_that_failed() {
    let place = Workplace::new();
    place.compile(&format!("{UNSNARL} cc"), "seldom", SELDOM_LOST);
    // The update is lost in about a third of these runs; the seed says which.
    place.call("run --schedule near --seed 3 --runs 24 --jobs 1 --session near -- ./seldom").exits(0);
    let session = Session::open(&place.path(".unsnarl/near")).unwrap();
    let mut outcomes = Vec::new();
    for record in session.runs() {
        let plan: RunPlan = record.plan.parse().unwrap();
        let Some(Beginning { run, switches: followed }) = plan.beginning else { continue };
        let trunk = &session.runs()[run as usize - 1];
        assert!(trunk.outcome.is_failing() && !trunk.plan.contains("beginning="), "{trunk:?}");
        let (own, old) = (switches(&session, record.run.0), switches(&session, run));
        let followed = followed as usize;
        assert!(followed <= old.len() && own.starts_with(&old[..followed]), "{followed}: {own:?} {old:?}");
        outcomes.push((record.run.0, record.outcome.is_failing()));
    }
    assert!(outcomes.len() > 4, "{outcomes:?}");
    let policies = &place.call("report --session near --json").exits(0).json()["search"]["policies"];
    let near = policies.as_array().unwrap().iter().find(|policy| policy["name"] == "near").unwrap();
    assert_eq!(near["runs"], outcomes.len());
    // Such a run has a schedule of its own.
    let (run, failed) = outcomes[0];
    let again = place.call(&format!("replay {run} --session near")).exits(0);
    assert!(
        again.stdout.contains("switches followed") && again.stdout.contains("reproduced"),
        "{failed}: {again}"
    );
}

#[test]
fn a_misspelt_schedule_is_told() {
    let place = Workplace::new();
    let seen = place.call("run --schedule later -- ./lost").exits(2);
    assert!(
        seen.stderr.contains("known: mixed, near, free, random, pct, pos, surw, bounded"),
        "{}",
        seen.stderr
    );
}
