//! Controlled runs: one thread at a time, the same for the same seed, and never the end of the target's progress.

use recording::{Course, ENV_SCHEDULE, EventKind, Recording, SavedSchedule, Switch};

use crate::kit::{Program, c, cpp};

pub fn controlled(source: &str, seed: u32) -> Program {
    c(source).plan(&plan(seed))
}

fn plan(seed: u32) -> String {
    format!("seed={seed},schedule=random")
}

/// Everything that a schedule decides: all of a recording but ids that the system gives out, and the time.
fn decided(recording: &Recording) -> String {
    let Recording { header, threads, locations, contexts, events, .. } = recording;
    let mut threads = threads.clone();
    threads.iter_mut().for_each(|thread| thread.os_id = 0);
    format!("{} {threads:?} {locations:?} {contexts:?} {events:?}", header.tick)
}

/// Every way in which threads wait for one another.
pub const MANY_WAYS: &str = r#"
#include <threads.h>
volatile long counter, sum;
_Atomic long atomic_sum;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
pthread_rwlock_t table = PTHREAD_RWLOCK_INITIALIZER;
pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
pthread_spinlock_t spin;
pthread_barrier_t barrier;
sem_t items;
mtx_t plain;
volatile int box, boxed;
static void *work(void *argument) {
    pthread_barrier_wait(&barrier);
    for (int i = 0; i < 20; i++) {
        sem_wait(&items);
        pthread_mutex_lock(&lock);
        counter++;
        pthread_mutex_unlock(&lock);
        pthread_rwlock_rdlock(&table);
        atomic_sum += sum;
        pthread_rwlock_unlock(&table);
        pthread_rwlock_wrlock(&table);
        sum++;
        pthread_rwlock_unlock(&table);
        pthread_spin_lock(&spin);
        box++;
        pthread_spin_unlock(&spin);
        mtx_lock(&plain);
        boxed++;
        mtx_unlock(&plain);
    }
    pthread_mutex_lock(&lock);
    counter += 1000;
    pthread_cond_signal(&filled);
    pthread_mutex_unlock(&lock);
    return argument;
}
int main(void) {
    sem_init(&items, 0, 0);
    mtx_init(&plain, mtx_plain);
    pthread_spin_init(&spin, 0);
    pthread_barrier_init(&barrier, NULL, 4);
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        threads[i] = start(work, NULL);
    pthread_barrier_wait(&barrier);
    for (int i = 0; i < 60; i++)
        sem_post(&items);
    pthread_mutex_lock(&lock);
    while (counter < 3000)
        pthread_cond_wait(&filled, &lock);
    pthread_mutex_unlock(&lock);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    printf("%ld %ld %d %d\n", counter, sum, box, boxed);
    return 0;
}
"#;

#[test]
fn the_same_seed_gives_the_same_recording() {
    let mut different = Vec::new();
    for (seed, schedule) in
        [(1, "random"), (2, "random"), (1, "pct"), (1, "pos"), (3, "surw"), (1, "bounded")]
    {
        let program = c(MANY_WAYS).plan(&format!("seed={seed},schedule={schedule}"));
        assert_eq!(program.run_well().stdout(), "3060 60 60 60\n");
        let twice = program.run_well();
        let [first, second] = &twice.recordings[..] else { panic!("two recordings") };
        assert!(decided(first) == decided(second), "{schedule} {seed}");
        different.push(decided(first));
    }
    different.sort();
    different.dedup();
    // Hundreds of choices each: no two agree in all of them.
    assert_eq!(different.len(), 6);
}

/// The program, to follow so many switches of a recording.
fn following(program: Program, recording: &Recording, followed: u64) -> Program {
    following_switches(program, &recording.switches(), recording.header.seed, followed)
}

pub fn following_switches(program: Program, switches: &[Switch], seed: u64, followed: u64) -> Program {
    let mut schedule = Vec::new();
    SavedSchedule::write(Course::recorded(switches, seed), followed, None, &mut schedule);
    let file = program.folder().join(format!("schedule-{followed}"));
    std::fs::write(&file, schedule).unwrap();
    program.env(ENV_SCHEDULE, file).with_own_recordings()
}

#[test]
fn a_recorded_schedule_is_followed_whatever_the_seed() {
    for schedule in ["random", "pct"] {
        let program = c(MANY_WAYS).plan(&format!("seed=1,schedule={schedule}"));
        let first = program.run_well().recordings.remove(0);
        let program = following(program, &first, u64::MAX).plan("seed=2,schedule=random");
        let second = program.run_well().recordings.remove(0);
        assert!(decided(&first) == decided(&second), "{schedule}");
    }
}

/// As test harnesses wait for the test: with a time-out that is far away.
const PATIENT: &str = r#"
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t done = PTHREAD_COND_INITIALIZER;
volatile int is_done;
static void *work(void *argument) {
    pthread_mutex_lock(&lock);
    is_done = 1;
    pthread_cond_signal(&done);
    pthread_mutex_unlock(&lock);
    return argument;
}
int main(void) {
    struct timespec end;
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += 20;
    pthread_t thread = start(work, NULL);
    int result = 0;
    pthread_mutex_lock(&lock);
    while (!is_done && result == 0)
        result = pthread_cond_timedwait(&done, &lock, &end);
    pthread_mutex_unlock(&lock);
    pthread_join(thread, NULL);
    printf("%d\n", result);
    return 0;
}
"#;

#[test]
fn a_schedule_that_does_not_fit_lets_no_time_pass_while_others_can_run() {
    // The first thread never has so many stops.
    let switches = [Switch { to: 2, from: 1, stop: 1_000_000, flags: 0 }];
    for seed in 1..=3 {
        let program = following_switches(controlled(PATIENT, seed), &switches, 1, u64::MAX);
        assert_eq!(program.run_well().stdout(), "0\n", "{seed}");
    }
}

#[test]
fn a_part_of_a_schedule_is_followed_and_chance_goes_on() {
    let program = controlled(MANY_WAYS, 1);
    let first = program.run_well().recordings.remove(0);
    let program = following(program, &first, 100).plan(&plan(2));
    let second = program.run_well().recordings.remove(0);
    let (first, second) = (first.switches(), second.switches());
    assert_eq!(first[..100], second[..100]);
    // Hundreds of choices each: they do not agree in all of them.
    assert_ne!(first, second);
}

/// The threads in the order in which they got to run.
fn switches(recording: &Recording) -> Vec<u32> {
    recording
        .events
        .iter()
        .filter(|event| event.kind == EventKind::Switch)
        .map(|event| event.thread)
        .collect()
}

#[test]
fn threads_run_one_at_a_time() {
    let program = controlled(
        r#"
volatile long unprotected;
THREAD(worker) {
    for (int i = 0; i < 2000; i++)
        unprotected++;
    return NULL;
}
int main(void) {
    unprotected = 0;
    pthread_t threads[] = {start(worker, NULL), start(worker, NULL), start(worker, NULL)};
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
"#,
        7,
    );
    let finished = program.run_well();
    let recording = &finished.recordings[0];
    assert!(switches(recording).len() > 1000, "they take turns");
    let uncertain = |event: &&recording::ThreadEvent| event.event.flags & recording::flag::UNCERTAIN != 0;
    assert_eq!(recording.events.iter().filter(uncertain).count(), 0);
    assert!(recording.header.points >= 3 * 2 * 2000, "each access is a point");
}

/// A thread can be cancelled where it waits, and its cleanup handlers hold what they may count on.
#[test]
fn waiting_threads_can_be_cancelled() {
    let waits = [
        "pthread_cond_wait(&never, &lock)",
        "sem_wait(&empty)",
        "sleep(1000)",
        "pthread_join(main_thread, NULL)",
        "pause()",
    ];
    for (seed, wait) in (1..).zip(waits) {
        let program = controlled(
            &format!(
                r#"
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t never = PTHREAD_COND_INITIALIZER;
pthread_t main_thread;
sem_t empty;
volatile int cleaned;
static void clean(void *argument) {{
    CHECK(argument == &cleaned);
    pthread_mutex_unlock(&lock);
    cleaned = 1;
}}
THREAD(waiter) {{
    pthread_mutex_lock(&lock);
    pthread_cleanup_push(clean, (void *)&cleaned);
    while (1)
        {wait};
    pthread_cleanup_pop(0);
    return NULL;
}}
int main(void) {{
    void *result;
    main_thread = pthread_self();
    sem_init(&empty, 0, 0);
    pthread_t thread = start(waiter, NULL);
    pthread_cancel(thread);
    pthread_join(thread, &result);
    CHECK(result == PTHREAD_CANCELED);
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
    // It may have been cancelled before it could begin.
    return 0;
}}
"#
            ),
            seed,
        );
        program.run_well();
    }
}

#[test]
fn forks_signals_exits_and_errors_are_the_targets_own() {
    let program = controlled(
        r#"
pthread_mutex_t checked;
volatile int handled, shared;
sem_t posted;
static void handler(int number) {
    handled = number;
    shared++;
    sem_post(&posted);
}
THREAD(waiter) {
    shared++;
    sem_wait(&posted);
    shared++;
    pthread_exit(NULL);
}
THREAD(endless) {
    while (1)
        shared++;
    return NULL;
}
int main(void) {
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ERRORCHECK);
    pthread_mutex_init(&checked, &attributes);
    pthread_mutex_lock(&checked);
    CHECK(pthread_mutex_lock(&checked) == EDEADLK);
    pthread_mutex_unlock(&checked);
    CHECK(pthread_mutex_unlock(&checked) == EPERM);
    sem_init(&posted, 0, 0);
    signal(SIGUSR1, handler);
    pthread_t thread = start(waiter, NULL);
    raise(SIGUSR1);
    pthread_join(thread, NULL);
    // To one that waits without the token.
    thread = start(waiter, NULL);
    usleep(1000);
    pthread_kill(thread, SIGUSR1);
    pthread_join(thread, NULL);
    int status;
    pid_t child = fork();
    if (child == 0) {
        thread = start(waiter, NULL);
        sem_post(&posted);
        pthread_join(thread, NULL);
        _exit(shared > 0 ? 7 : 1);
    }
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 7);
    child = fork();
    if (child == 0) {
        execl("/bin/true", "true", NULL);
        _exit(1);
    }
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    start(endless, NULL);
    start(endless, NULL);
    shared++;
    exit(0);
}
"#,
        3,
    );
    let finished = program.run();
    finished.expect_success();
    assert_eq!(finished.stderr(), "");
}

/// Logical time stands still while the holder waits where nobody sees it, for one that sleeps.
#[test]
fn sleeps_end_while_the_holder_waits_unseen() {
    let program = controlled(
        r#"
static sigset_t wanted;
volatile int heard;
static void *waiter(void *argument) {
    int number;
    for (int i = 0; i < 20; i++) {
        sigwait(&wanted, &number);
        heard++;
    }
    return argument;
}
int main(void) {
    alarm(20);
    sigemptyset(&wanted);
    sigaddset(&wanted, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &wanted, NULL);
    pthread_t thread = start(waiter, NULL);
    for (int i = 0; i < 20; i++) {
        pthread_kill(thread, SIGUSR1);
        while (__atomic_load_n(&heard, __ATOMIC_SEQ_CST) == i)
            usleep(100);
    }
    pthread_join(thread, NULL);
    return 0;
}
"#,
        5,
    );
    program.run().expect_success();
}

#[test]
fn more_threads_than_seats() {
    let program = controlled(
        r#"
#define THREADS 1100
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
pthread_barrier_t barrier;
int counter;
THREAD(worker) {
    pthread_barrier_wait(&barrier);
    pthread_mutex_lock(&lock);
    counter++;
    pthread_mutex_unlock(&lock);
    return NULL;
}
int main(void) {
    static pthread_t threads[THREADS];
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 64 << 10);
    pthread_barrier_init(&barrier, NULL, THREADS);
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], &attributes, worker, NULL) == 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    return counter != THREADS;
}
"#,
        1,
    );
    program.run_well();
}

#[test]
fn cpp_threads_are_controlled_too() {
    let program = cpp(r#"
#include <condition_variable>
#include <chrono>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>
std::mutex lock;
std::condition_variable filled;
std::deque<int> queue;
long sum;
std::once_flag once;
int main() {
    std::vector<std::thread> threads;
    for (int t = 0; t < 3; t++)
        threads.emplace_back([] {
            std::call_once(once, [] { sum = 0; });
            for (int i = 0; i < 20; i++) {
                std::unique_lock<std::mutex> guard(lock);
                filled.wait(guard, [] { return !queue.empty(); });
                sum += queue.front();
                queue.pop_front();
            }
        });
    for (int i = 0; i < 60; i++) {
        std::lock_guard<std::mutex> guard(lock);
        queue.push_back(1);
        filled.notify_one();
    }
    for (auto &thread : threads)
        thread.join();
    std::unique_lock<std::mutex> guard(lock);
    auto status = filled.wait_for(guard, std::chrono::milliseconds(5));
    return sum != 60 || status != std::cv_status::timeout;
}
"#);
    let program = program.plan(&plan(5));
    program.run_well();
    let twice = program.run_well();
    let [first, second] = &twice.recordings[..] else { panic!("two recordings") };
    assert_eq!(switches(first), switches(second));
}

/// Two threads with two accesses each to what they share.
const TWO_AND_TWO: &str = r#"
volatile int shared, also;
THREAD(worker) {
    shared = 1;
    also = 1;
    return NULL;
}
int main(void) {
    pthread_t threads[] = {start(worker, NULL), start(worker, NULL)};
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
"#;

#[test]
fn later_plans_learn_how_often_threads_come_to_which_site() {
    let program = controlled(TWO_AND_TWO, 3);
    let finished = program.run_well();
    let recording = &finished.recordings[0];
    // The first thread creates and joins, which is no access.
    let of_seat = |seat| recording.visits.iter().filter(move |visit| visit.seat == seat && visit.count == 1);
    assert_eq!([2, 3].map(|seat| of_seat(seat).count()), [2, 2], "{:?}", recording.visits);
    let sites = |seat| of_seat(seat).map(|visit| visit.site).collect::<Vec<_>>();
    assert_eq!(sites(2), sites(3));
    assert_eq!(recording.decisions, [], "nobody enumerates these");
}

#[test]
fn bounded_runs_record_their_choices() {
    let program = c(TWO_AND_TWO).plan("schedule=bounded");
    let usual = program.run_well();
    let decisions = &usual.recordings[0].decisions;
    // Three threads can run once both are created; the first one goes on, and then has to wait.
    assert!(
        decisions.iter().any(|decision| decision.preempts == 0 && decision.candidates == 2),
        "{decisions:?}"
    );
    assert!(decisions.iter().all(|decision| (2..=3).contains(&decision.candidates)), "{decisions:?}");
    let free = decisions.iter().position(|decision| decision.preempts == 0).expect("a choice after a wait");
    let deviating = c(TWO_AND_TWO).plan(&format!("schedule=bounded,deviations={free}:1"));
    let other = deviating.run_well();
    assert_eq!(other.recordings[0].decisions[..free], decisions[..free], "all the same until there");
    assert_ne!(switches(&other.recordings[0]), switches(&usual.recordings[0]));
}

/// Who is kept waiting at a string has not looked at it yet: what it finds is what the threads before it have left there.
#[test]
fn strings_are_looked_at_in_their_turn() {
    let source = r#"
static char x[8];
static volatile unsigned long length, place;
THREAD(reader) {
    length = strlen(x); //@read
    place = strchr(x, 'd') != NULL; //@find
    return NULL;
}
int main(void) {
    memcpy(x, "word", 5);
    pthread_t thread = start(reader, NULL);
    x[0] = 0; //@clear
    pthread_join(thread, NULL);
    printf("%lu %lu", length, place);
    return 0;
}
"#;
    let mut program = c(source);
    let mut seen = std::collections::BTreeSet::new();
    for seed in 0..16 {
        program = program.plan(&plan(seed)).with_own_recordings();
        let finished = program.run_well();
        let said = finished.stdout();
        let history = finished.only_process().history("x");
        let (_, later) = history.lines().next().unwrap().split_once("@clear").unwrap();
        let found = |marker: &str, before: u32| if later.contains(marker) { 0 } else { before };
        assert_eq!(said, format!("{} {}", found("@read", 4), found("@find", 1)), "{history}");
        seen.insert(said);
    }
    assert_eq!(seen.len(), 3, "{seen:?}");
}
