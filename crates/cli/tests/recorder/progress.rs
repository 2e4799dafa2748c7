//! Controlled runs come to their end: threads that wait unseen, spin, poll or sleep let others run.

use recording::{Switch, flag};

use crate::control::{controlled, following_switches};
use crate::kit::c;

#[test]
fn what_blocks_unseen_lets_others_run() {
    for seed in 1..=3 {
        let program = controlled(
            r#"
int ends[2];
volatile int steps;
pthread_once_t once = PTHREAD_ONCE_INIT;
static void initialise(void) {
    for (int i = 0; i < 20; i++)
        steps++;
}
THREAD(reader) {
    char byte;
    steps++;
    pthread_once(&once, initialise);
    CHECK(read(ends[0], &byte, 1) == 1);
    steps++;
    return NULL;
}
THREAD(writer) {
    for (int i = 0; i < 50; i++)
        steps++;
    pthread_once(&once, initialise);
    CHECK(write(ends[1], "x", 1) == 1);
    return NULL;
}
int main(void) {
    CHECK(pipe(ends) == 0);
    steps = 1;
    pthread_t threads[] = {start(reader, NULL), start(writer, NULL)};
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    return 0;
}
"#,
            seed,
        );
        program.run_well();
    }
}

/// A schedule to follow may want one that waits unseen in the place of another that does. Who is to end both waits gets to run.
#[test]
fn a_schedule_of_threads_that_all_wait_unseen_lets_others_run() {
    let program = controlled(
        r#"
int ends[2][2];
static void *reader(void *own) {
    char byte;
    CHECK(read(*(int *)own, &byte, 1) == 1);
    return NULL;
}
static void *writer(void *unused) {
    for (int i = 0; i < 2; i++)
        CHECK(write(ends[i][1], "x", 1) == 1);
    return unused;
}
int main(void) {
    CHECK(pipe(ends[0]) == 0 && pipe(ends[1]) == 0);
    pthread_t threads[] = {start(reader, &ends[0][0]), start(reader, &ends[1][0]), start(writer, NULL)};
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
"#,
        1,
    );
    let switch = |from, to, flags| Switch { from, to, stop: Switch::AS_LONG_AS_IT_CAN, flags };
    let away = u32::from(flag::AWAY);
    let switches = [switch(1, 2, 0), switch(2, 3, away), switch(3, 2, away)];
    following_switches(program, &switches, 1, u64::MAX).run_well();
}

/// A schedule that was made shorter may want a thread that is not there yet, while the one that runs waits for it by yielding. Who is to create it gets
/// to run.
#[test]
fn who_yields_to_one_that_is_to_come_lets_others_run() {
    let program = controlled(
        r#"
_Atomic int steps, closed;
THREAD(closer) {
    closed = 1;
    return NULL;
}
THREAD(worker) {
    while (!closed)
        sched_yield();
    return NULL;
}
int main(void) {
    pthread_t first = start(worker, NULL);
    for (int i = 0; i < 40; i++)
        steps++;
    pthread_t second = start(closer, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return 0;
}
"#,
        1,
    );
    let switch = |from, stop, to| Switch { from, to, stop, flags: 0 };
    let switches = [switch(1, 20, 2), switch(2, 3, 3)];
    following_switches(program, &switches, 1, u64::MAX).run_well();
}

/// Whoever blocks out of sight loses the token within milliseconds: some two hundred times in a row take a few seconds, and not the minute that
/// a program may run here.
#[test]
fn what_blocks_unseen_again_and_again_is_noticed_soon() {
    const TIMES: u64 = 125;
    let source = r#"
int there[2], back[2];
volatile int steps;
static void *answer(void *argument) {
    char byte;
    for (int i = 0; i < TIMES; i++) {
        CHECK(read(there[0], &byte, 1) == 1);
        steps++;
        CHECK(write(back[1], &byte, 1) == 1);
    }
    return argument;
}
int main(void) {
    char byte = 'x';
    CHECK(pipe(there) == 0 && pipe(back) == 0);
    pthread_t thread = start(answer, NULL);
    for (int i = 0; i < TIMES; i++) {
        steps++;
        CHECK(write(there[1], &byte, 1) == 1);
        CHECK(read(back[0], &byte, 1) == 1);
    }
    pthread_join(thread, NULL);
    return steps != 2 * TIMES;
}
"#;
    let program = controlled(&source.replace("TIMES", &TIMES.to_string()), 1);
    let finished = program.run_well();
    let taken_away = finished.recordings[0].header.taken_away;
    assert!(taken_away > TIMES / 2, "{taken_away} times");
}

#[test]
fn spinning_threads_let_others_run() {
    for flag in ["volatile int", "_Atomic int"] {
        for body in ["", "sched_yield()"] {
            let source = format!(
                r#"
{flag} ready, done;
THREAD(spinner) {{
    while (!ready) {{ {body}; }}
    done = 1;
    return NULL;
}}
int main(void) {{
    pthread_t thread = start(spinner, NULL);
    ready = 1;
    while (!done) {{ {body}; }}
    pthread_join(thread, NULL);
    return 0;
}}
"#
            );
            for seed in 1..=2 {
                controlled(&source, seed).run_well();
            }
        }
    }
}

/// A thread that looks for something to do again and again, under a lock and at many sites, does not keep the one from
/// running that would bring it. Without that the test misses with a probability of 1/2 for each seed of PCT, but is certain to
/// hang with bounded preemptions.
#[test]
fn polling_threads_let_others_run() {
    let source = r#"
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
sem_t begun;
int ready;
volatile int looks, idle;
static int look(void) {
    pthread_mutex_lock(&lock);
    int found = ready;
    pthread_mutex_unlock(&lock);
    looks++;
    return found;
}
THREAD(poller) {
    sem_post(&begun);
    while (!look())
        idle++;
    return NULL;
}
int main(void) {
    sem_init(&begun, 0, 0);
    looks = idle = ready = 0;
    pthread_t thread = start(poller, NULL);
    sem_wait(&begun);
    pthread_mutex_lock(&lock);
    ready = 1;
    pthread_mutex_unlock(&lock);
    pthread_join(thread, NULL);
    return 0;
}
"#;
    let mut program = c(source);
    for plan in ["seed=1,schedule=bounded", "seed=1,schedule=pct", "seed=2,schedule=pct"] {
        program = program.plan(plan);
        program.run_well();
    }
}

const SLEEPS: &str = r#"
#include <time.h>
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t never = PTHREAD_COND_INITIALIZER;
volatile int stop, rounds;
static struct timespec in_seconds(int seconds) {
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    time.tv_sec += seconds;
    return time;
}
THREAD(worker) {
    while (!stop)
        rounds++;
    return NULL;
}
THREAD(patient) {
    struct timespec time = in_seconds(SECONDS);
    pthread_mutex_lock(&lock);
    CHECK(pthread_cond_timedwait(&never, &lock, &time) == ETIMEDOUT);
    pthread_mutex_unlock(&lock);
    return NULL;
}
int main(void) {
    sem_t none;
    sem_init(&none, 0, 0);
    struct timespec time = in_seconds(SECONDS);
    CHECK(sem_timedwait(&none, &time) == -1 && errno == ETIMEDOUT);
    pthread_t other = start(patient, NULL);
    pthread_join(other, NULL);
    stop = 0;
    pthread_t thread = start(worker, NULL);
    usleep(20000);
    stop = 1;
    pthread_join(thread, NULL);
    sleep(SECONDS);
    return rounds < 1000;
}
"#;

/// Would take minutes otherwise, and the test would be ended.
#[test]
fn sleeps_can_be_skipped() {
    let source = format!(
        "#define SECONDS 500
{SLEEPS}"
    );
    c(&source).plan("seed=1,schedule=random,skip-sleeps=yes").run_well();
}

#[test]
fn sleeps_take_their_time_otherwise() {
    let started = std::time::Instant::now();
    controlled(
        &format!(
            "#define SECONDS 1
{SLEEPS}"
        ),
        1,
    )
    .run_well();
    assert!(started.elapsed().as_secs() >= 3);
}

#[test]
fn a_short_sleep_does_not_let_others_do_a_thousand_things() {
    // Twenty microseconds are twenty points; each of the other thread's rounds is one.
    let program = controlled(
        r#"
_Atomic int counter;
volatile int seen;
THREAD(sleeper) {
    usleep(20);
    seen = counter;
    return NULL;
}
THREAD(worker) {
    for (int i = 0; i < 3000; i++)
        counter++;
    return NULL;
}
int main(void) {
    pthread_t threads[] = {start(sleeper, NULL), start(worker, NULL)};
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return seen < 200 ? 0 : 1;
}
"#,
        5,
    );
    program.run_well();
}

/// One that computes for long before it sleeps goes on before the others by logical time, but later than them by the clock: by more than
/// a second, so that it does not matter when the machine wakes them.
#[test]
fn a_wait_is_not_over_late_because_another_thread_sleeps() {
    let source = r#"
#include <time.h>
volatile int woken;
long from;
static long now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000 + time.tv_nsec / 1000000;
}
THREAD(punctual) {
    usleep(1500000);
    CHECK(woken++ == 0);
    return NULL;
}
THREAD(busy) {
    // Nothing that others use: logical time stands still.
    long end = from + 1400;
    while (now() < end) {}
    usleep(1400000);
    woken++;
    return NULL;
}
int main(void) {
    from = now();
    pthread_t threads[] = {start(punctual, NULL), start(busy, NULL)};
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    return 0;
}
"#;
    controlled(source, 1).run_well();
}
