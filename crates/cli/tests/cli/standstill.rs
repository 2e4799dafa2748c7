//! A program that hangs, and why.

use serde_json::json;

use crate::kit::Workplace;

/// Every second run takes its two locks in opposite orders, and both threads have one before they ask for the other.
const CROSSED: &str = r#"
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

static pthread_mutex_t left = PTHREAD_MUTEX_INITIALIZER, right = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t both;
static int crossed;

static void take(pthread_mutex_t *first, pthread_mutex_t *second)
{
    pthread_mutex_lock(first); /* held */
    if (crossed)
        pthread_barrier_wait(&both);
    pthread_mutex_lock(second); /* awaited */
    pthread_mutex_unlock(second);
    pthread_mutex_unlock(first);
}

static void *other(void *unused)
{
    take(crossed ? &right : &left, crossed ? &left : &right);
    return unused;
}

int main(void)
{
    pthread_t thread;

    crossed = access("turn", F_OK) == 0;
    if (crossed)
        unlink("turn");
    else
        close(open("turn", O_CREAT | O_WRONLY, 0644));
    pthread_barrier_init(&both, 0, 2);
    pthread_create(&thread, 0, other, 0);
    take(&left, &right);
    pthread_join(thread, 0);
    return 0;
}
"#;

fn line_of(marker: &str) -> usize {
    CROSSED.lines().position(|line| line.contains(&format!("/* {marker} */"))).unwrap() + 1
}

#[test]
fn a_deadlock_is_told_with_its_locks() {
    let place = Workplace::new();
    place.write("crossed.c", CROSSED);
    place.call("cc -O1 -g -pthread crossed.c -o crossed").exits(0);
    place
        .call("run --runs 4 --jobs 1 --timeout 5s -- ./crossed")
        .exits(0)
        .says(&["Deadlock on", "2 of them hung"]);
    let report = place.call("report --json").exits(0).json();
    let first = &report["findings"][0];
    assert_eq!((&first["kind"], &first["pattern"]), (&json!("deadlock"), &json!("LLLL")), "{first:#}");
    assert_eq!((&first["failed"], &first["passed"], &first["tied"]), (&json!(2), &json!(0), &json!(1)));
    let steps: Vec<_> = first["accesses"].as_array().unwrap().iter().collect();
    let threads: Vec<_> = steps.iter().map(|step| step["thread"].as_u64().unwrap()).collect();
    assert_eq!(threads, [1, 2, 1, 2]);
    let lines: Vec<_> = steps.iter().map(|step| step["line"].as_u64().unwrap() as usize).collect();
    assert_eq!(lines, [line_of("held"), line_of("held"), line_of("awaited"), line_of("awaited")]);
    let locks: Vec<_> = steps.iter().map(|step| step["variable"].as_str().unwrap()).collect();
    assert_eq!((locks[0], locks[1]), (locks[3], locks[2]), "each waits for what the other holds");
    assert_eq!(std::collections::BTreeSet::from_iter(locks), ["left", "right"].into());
    assert!(steps.iter().all(|step| step["kind"] == "lock"));
    assert_eq!(first["fix"]["action"], "lock-order");
    assert!(first["evidence"][0].as_str().unwrap().ends_with("are taken in opposite orders"), "{first:#}");
    let starts: Vec<_> = first["threads"].as_array().unwrap().iter().map(|role| &role["start"]).collect();
    assert!(starts.contains(&&json!("main")) && starts.contains(&&json!("other")), "{first:#}");
}

/// A thread takes a lock twice that can be held once, and the other one waits for its end.
const OWN: &str = r#"
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *other(void *unused)
{
    pthread_mutex_lock(&lock);
    pthread_mutex_lock(&lock);
    return unused;
}

int main(void)
{
    pthread_t thread;

    pthread_create(&thread, 0, other, 0);
    pthread_join(thread, 0);
    return 0;
}
"#;

/// The time that a run has is far more than it takes to see that nobody can go on.
#[test]
fn a_thread_that_waits_for_itself_is_not_waited_for() {
    let place = Workplace::new();
    place.write("own.c", OWN);
    place.call("cc -O1 -g -pthread own.c -o own").exits(0);
    place.call("run --session itself --runs 1 --schedule random --timeout 60s -- ./own");
    let run = &place.runs("itself")[0];
    assert_eq!(run["outcome"], "hang");
    assert!(run["seconds"].as_f64() < Some(30.0), "{run:#}");
}
