//! Who waits for whom, in runs that hang and in runs that might have.

use serde_json::json;

use crate::kit::{Workplace, compiled};

/// Two threads take two locks in opposite orders: one after the other, or, with an argument, at the same time.
const CROSSING: &str = r#"
#include <pthread.h>
#include <stddef.h>

static pthread_mutex_t left = PTHREAD_MUTEX_INITIALIZER, right = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t both_hold_one;
static int together;

static void take(pthread_mutex_t *first, pthread_mutex_t *second)
{
    pthread_mutex_lock(first);
    if (together)
        pthread_barrier_wait(&both_hold_one);
    pthread_mutex_lock(second);
    pthread_mutex_unlock(second);
    pthread_mutex_unlock(first);
}

static void *one_way(void *unused) { take(&left, &right); return unused; }
static void *other_way(void *unused) { take(&right, &left); return unused; }

int main(int argc, char **argv)
{
    pthread_t threads[2];
    (void)argv;
    together = argc > 1;
    pthread_barrier_init(&both_hold_one, NULL, 2);
    pthread_create(&threads[0], NULL, one_way, NULL);
    if (!together)
        pthread_join(threads[0], NULL);
    pthread_create(&threads[1], NULL, other_way, NULL);
    if (together)
        pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    return 0;
}
"#;

#[test]
fn a_deadlock_is_told_with_what_each_thread_holds_and_wants() {
    let place = Workplace::new();
    let program = compiled("crossing", CROSSING);
    place
        .call(&format!("run --runs 1 --timeout 2s -- {} together", program.display()))
        .says(&["Deadlock on `left` and `right`", "in the same order everywhere"]);
    let report = place.call("report --json -").json();
    let hang = &report["hangs"][0];
    assert_eq!((&hang["kind"], &hang["runs"]), (&json!("deadlock"), &json!(1)));
    assert_eq!(
        hang["threads"],
        json!([
            "thread 2 (one_way) waits for `right` at crossing.c:14, holding `left` from crossing.c:11",
            "thread 3 (other_way) waits for `left` at crossing.c:14, holding `right` from crossing.c:11",
        ])
    );
}

/// Nobody waits ten minutes here.
#[test]
fn a_controlled_run_in_which_all_wait_for_one_another_is_ended_at_once() {
    let place = Workplace::new();
    let program = compiled("crossing", CROSSING);
    place
        .call(&format!("run --runs 1 --schedule random --timeout 10m -- {} together", program.display()))
        .says(&["Deadlock on `left` and `right`"]);
}

/// Nobody is left to raise the semaphore, neither a thread nor a signal handler.
#[test]
fn a_controlled_run_that_waits_for_a_semaphore_in_vain_is_ended_at_once() {
    let place = Workplace::new();
    let program = compiled(
        "drained",
        r#"
#include <pthread.h>
#include <semaphore.h>
#include <stddef.h>
static sem_t slots;
static void *taker(void *unused) { sem_wait(&slots); return unused; }
int main(void)
{
    pthread_t threads[2];
    sem_init(&slots, 0, 1);
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, taker, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
"#,
    );
    place
        .call(&format!("run --runs 1 --schedule random --timeout 10m -- {}", program.display()))
        .says(&["Threads wait forever in 1 run", "waits for `slots` at drained.c:6"]);
}

/// The only thread waits, but not for another one: a signal handler gives it what it waits for, some time later.
#[test]
fn a_run_that_waits_for_a_signal_does_not_hang() {
    let place = Workplace::new();
    let program = compiled(
        "signalled",
        r#"
#include <semaphore.h>
#include <signal.h>
#include <sys/time.h>
static sem_t rung;
static void ring(int signal) { (void)signal; sem_post(&rung); }
int main(void)
{
    struct itimerval soon = { .it_value = { .tv_usec = 500000 } };
    sem_init(&rung, 0, 0);
    signal(SIGALRM, ring);
    setitimer(ITIMER_REAL, &soon, 0);
    while (sem_wait(&rung) != 0)
        ;
    return 0;
}
"#,
    );
    place.call(&format!("run --runs 1 --schedule random -- {}", program.display())).exits(10);
}

#[test]
fn a_deadlock_that_did_not_happen_is_told_too() {
    let place = Workplace::new();
    let program = compiled("crossing", CROSSING);
    place.call(&format!("run --runs 2 -- {}", program.display())).exits(10);
    let report = place.call("report --json -").exits(10).json();
    let hang = &report["hangs"][0];
    assert_eq!(
        (&hang["kind"], &hang["runs"], &hang["passed"]),
        (&json!("potential-deadlock"), &json!(2), &json!(2))
    );
    assert_eq!(
        hang["threads"],
        json!([
            "thread 2 (one_way) takes `right` at crossing.c:14 while it holds `left` from crossing.c:11",
            "thread 3 (other_way) takes `left` at crossing.c:14 while it holds `right` from crossing.c:11",
        ])
    );
}

/// Whoever does not get the second lock gives the first one back.
#[test]
fn a_lock_that_is_tried_is_not_waited_for() {
    let place = Workplace::new();
    let tries = CROSSING.replace(
        "pthread_mutex_lock(second);",
        "if (pthread_mutex_trylock(second) != 0) { pthread_mutex_unlock(first); return; }",
    );
    let program = compiled("tries", &tries);
    place.call(&format!("run --runs 2 -- {}", program.display())).exits(10);
    assert_eq!(place.call("report --json -").exits(10).json()["hangs"], json!(null));
}

/// Two threads are each other's only hope, and the one that started them looks every ten minutes.
const LOOKED_AFTER: &str = r#"
#include <pthread.h>
#include <stddef.h>
#include <time.h>

static pthread_mutex_t left = PTHREAD_MUTEX_INITIALIZER, right = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ended = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t both_hold_one;
static int count;

static void take(pthread_mutex_t *first, pthread_mutex_t *second)
{
    pthread_mutex_lock(first);
    pthread_barrier_wait(&both_hold_one);
    pthread_mutex_lock(second);
    pthread_mutex_lock(&lock);
    count++;
    pthread_cond_signal(&ended);
    pthread_mutex_unlock(&lock);
}

static void *one_way(void *unused) { take(&left, &right); return unused; }
static void *other_way(void *unused) { take(&right, &left); return unused; }

int main(void)
{
    pthread_t threads[2];
    struct timespec later;
    clock_gettime(CLOCK_REALTIME, &later);
    later.tv_sec += 600;
    pthread_barrier_init(&both_hold_one, NULL, 2);
    pthread_create(&threads[0], NULL, one_way, NULL);
    pthread_create(&threads[1], NULL, other_way, NULL);
    pthread_mutex_lock(&lock);
    while (count < 2 && pthread_cond_timedwait(&ended, &lock, &later) == 0)
        ;
    pthread_mutex_unlock(&lock);
    return count < 2;
}
"#;

#[test]
fn nobody_waits_for_a_wait_that_ends_after_the_run() {
    let place = Workplace::new();
    let program = compiled("looked_after", LOOKED_AFTER);
    for schedule in ["random", "free"] {
        let run = format!("run --runs 1 --schedule {schedule} --timeout 60s --session {schedule} -- ");
        place.call(&(run + &program.display().to_string())).says(&["1 of them hung"]);
        let report = place.call(&format!("report --json - --session {schedule}")).json();
        let seconds = report["session"]["wall_seconds"].as_f64().unwrap();
        assert!(seconds < 60.0, "{schedule}: the time-out was waited for: {seconds} s");
    }
}

/// Two threads count together, up to a few or, from the second run in a folder on, forever.
const COUNTS: &str = r#"
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>
static atomic_long count;
static long end = 50;
static void *work(void *unused) { while (count < end) count++; return unused; }
int main(void)
{
    pthread_t threads[2];
    if (open("counted", O_CREAT | O_EXCL, 0600) < 0)
        end = 1L << 62;
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], 0, work, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
    return 0;
}
"#;

/// No run passes, but nobody has to be told that such threads never go on.
#[test]
fn a_deadlock_in_every_run_is_found() {
    let place = Workplace::new();
    let program = compiled("crossing", CROSSING);
    let seen = place.call(&format!("run --seed 1 -- {} together", program.display())).exits(0);
    seen.says(&["Deadlock on `left` and `right`"]).complains(&["more would hardly change the first cause"]);
    let report = place.call("report --json -").exits(0).json();
    assert_eq!(report["findings"][0]["kind"], json!("deadlock"));
    assert_eq!(report["runs"]["passed"], json!(0));
}

/// What makes it slow is ours.
#[test]
fn a_controlled_run_that_goes_on_when_its_time_is_up_has_not_failed() {
    let place = Workplace::new();
    let program = compiled("counts", COUNTS);
    place.write("counted", "");
    place
        .call(&format!("run --runs 1 --schedule random --timeout 2s -- {}", program.display()))
        .exits(13)
        .says(&["1 damaged", "far slower with one thread at a time", "run --schedule free"]);
}

/// This one has come to many more points than the one that passed, and nobody waits ten minutes for it.
#[test]
fn a_controlled_run_that_goes_round_in_circles_hangs() {
    let place = Workplace::new();
    let program = compiled("counts", COUNTS);
    place.call(&format!("run --runs 2 --jobs 1 --schedule random --timeout 10m -- {}", program.display()));
    assert_eq!(place.outcomes("counts"), ["pass", "hang"]);
}
