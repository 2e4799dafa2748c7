//! Locks, waits and threads: who took what from whom, who held what, who waits for what.

use recording::{EventKind, flag};

use crate::kit::{c, cpp};

#[test]
fn a_mutex_is_recorded_when_it_changes_hands() {
    let program = c(r#"
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void twice(void) {
    for (int i = 0; i < 2; i++) {
        pthread_mutex_lock(&lock); //@lock
        pthread_mutex_unlock(&lock); //@unlock
    }
}
THREAD(worker) {
    CHECK(pthread_mutex_trylock(&lock) == 0); //@try
    pthread_mutex_unlock(&lock); //@untry
    return NULL;
}
THREAD(loser) {
    CHECK(pthread_mutex_trylock(&lock) == EBUSY);
    return NULL;
}
int main(void) {
    twice();
    in_thread(worker);
    pthread_mutex_lock(&lock); //@again
    in_thread(loser);
    return 0;
}
"#);
    assert_eq!(
        program.record().synchronization("lock"),
        "main Acquire@lock, main Release@unlock, worker Acquire@try, worker Release@untry, main Acquire@again"
    );
}

/// Who sleeps again and again, and does nothing else that is on record, is told of once.
#[test]
fn sleeps_are_told_with_their_length() {
    let program = c(r#"
volatile int x;
THREAD(worker) {
    x = 1;
    return NULL;
}
int main(void) {
    struct timespec time = { .tv_nsec = 3000000 };
    for (int i = 0; i < 40; i++)
        usleep(1000); //@often
    x = 2;
    in_thread(worker);
    nanosleep(&time, NULL); //@once
    clock_nanosleep(CLOCK_MONOTONIC, 0, &time, NULL); //@clock
    return x - 1;
}
"#);
    let recorded = program.record();
    let sleeps = recorded.recording.events.iter().filter(|event| event.kind == EventKind::Sleep);
    let told: Vec<(String, u64)> =
        sleeps.map(|event| (recorded.site(event.event.leaf), event.event.value)).collect();
    let expected = [("often", 1_000_000), ("once", 3_000_000), ("clock", 3_000_000)];
    assert_eq!(told, expected.map(|(marker, time)| (marker.to_owned(), time)));
}

#[test]
fn accesses_know_the_locks_held() {
    let program = c(r#"
pthread_mutex_t outer = PTHREAD_MUTEX_INITIALIZER, inner = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t innermost = PTHREAD_MUTEX_INITIALIZER;
pthread_rwlock_t shared = PTHREAD_RWLOCK_INITIALIZER;
pthread_spinlock_t spin;
volatile int x;
THREAD(worker) {
    x = 1; //@bare
    return NULL;
}
THREAD(nested) {
    pthread_mutex_lock(&outer); //@o
    pthread_mutex_lock(&inner); //@i
    x = 2; //@two
    pthread_mutex_unlock(&outer);
    x = 3; //@three
    pthread_mutex_unlock(&inner);
    return NULL;
}
THREAD(hand_over_hand) {
    pthread_mutex_lock(&outer); //@o2
    pthread_mutex_lock(&inner); //@i2
    pthread_mutex_lock(&innermost); //@m2
    pthread_mutex_unlock(&outer);
    x = 2; //@two-inner
    pthread_mutex_unlock(&innermost);
    pthread_mutex_unlock(&inner);
    return NULL;
}
THREAD(others) {
    pthread_rwlock_rdlock(&shared); //@r
    pthread_spin_lock(&spin); //@s
    x = 4; //@both
    pthread_spin_unlock(&spin);
    pthread_rwlock_unlock(&shared);
    return NULL;
}
int main(void) {
    pthread_spin_init(&spin, 0);
    in_thread(worker);
    in_thread(nested);
    in_thread(hand_over_hand);
    in_thread(others);
    in_thread(worker);
    return 0;
}
"#);
    let process = program.record();
    let held: Vec<String> = process
        .recording
        .events
        .iter()
        .filter(|event| event.kind == EventKind::Write)
        .map(|event| format!("{}: {}", process.site(event.event.leaf), process.locks(event.event.other)))
        .collect();
    assert_eq!(
        held,
        ["two: outer@o inner@i", "two-inner: inner@i2 innermost@m2", "both: shared@r spin@s", "bare: "]
    );
    let closing = process.recording.events.iter().filter(|event| event.event.flags & flag::LOCKS != 0);
    let held: Vec<String> = closing
        .map(|event| {
            format!("{}: {}", process.site(event.event.leaf), process.locks(event.event.value as u32))
        })
        .collect();
    assert_eq!(held, ["three: inner@i"]);
}

#[test]
fn each_thread_that_nests_locks_is_told_once() {
    let program = c(r#"
pthread_mutex_t outer = PTHREAD_MUTEX_INITIALIZER, inner = PTHREAD_MUTEX_INITIALIZER;
THREAD(worker) {
    for (int i = 0; i < 3; i++) {
        pthread_mutex_lock(&outer); //@o
        pthread_mutex_lock(&inner); //@i
        pthread_mutex_unlock(&inner);
        pthread_mutex_unlock(&outer);
    }
    return NULL;
}
int main(void) {
    in_thread(worker);
    in_thread(worker);
    return 0;
}
"#);
    let process = program.record();
    let told: Vec<String> = process
        .recording
        .events
        .iter()
        .filter(|event| event.kind == EventKind::Lockset)
        .map(|event| format!("{}: {}", event.thread, process.locks(event.event.object)))
        .collect();
    assert_eq!(told, ["2: outer@o", "2: outer@o inner@i", "3: outer@o inner@i"]);
}

#[test]
fn recursive_locks_are_held_until_the_last_unlock() {
    let program = c(r#"
pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
volatile int x;
THREAD(worker) {
    pthread_mutex_lock(&lock); //@outer
    pthread_mutex_lock(&lock); //@inner
    pthread_mutex_unlock(&lock);
    x = 1; //@held
    pthread_mutex_unlock(&lock);
    return NULL;
}
int main(void) {
    x = 0;
    in_thread(worker);
    return 0;
}
"#);
    let process = program.record();
    let write =
        process.recording.events.iter().find(|event| event.kind == EventKind::Write).expect("a write");
    assert_eq!(process.locks(write.event.other), "lock@outer");
}

#[test]
fn read_write_locks_conditions_semaphores_and_barriers() {
    let program = c(r#"
pthread_rwlock_t shared = PTHREAD_RWLOCK_INITIALIZER;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
sem_t semaphore, waiting;
pthread_barrier_t barrier;
pthread_once_t once = PTHREAD_ONCE_INIT;
volatile int done, initialized;
static void initialize(void) { initialized++; }
THREAD(waiter) {
    pthread_rwlock_rdlock(&shared); //@read
    pthread_rwlock_unlock(&shared); //@unread
    pthread_mutex_lock(&lock);
    sem_post(&waiting);
    while (!done)
        pthread_cond_wait(&condition, &lock); //@wait
    pthread_mutex_unlock(&lock);
    sem_wait(&semaphore); //@down
    pthread_barrier_wait(&barrier); //@arrive
    return NULL;
}
int main(void) {
    struct timespec past = {0, 0};
    sem_init(&semaphore, 0, 0);
    sem_init(&waiting, 0, 0);
    pthread_barrier_init(&barrier, NULL, 2);
    CHECK(sem_trywait(&semaphore) == -1 && errno == EAGAIN);
    CHECK(sem_timedwait(&semaphore, &past) == -1 && errno == ETIMEDOUT);
    pthread_mutex_lock(&lock);
    CHECK(pthread_cond_timedwait(&condition, &lock, &past) == ETIMEDOUT); //@timed
    pthread_mutex_unlock(&lock);
    pthread_rwlock_wrlock(&shared); //@write
    CHECK(pthread_rwlock_tryrdlock(&shared) == EBUSY);
    pthread_rwlock_unlock(&shared); //@unwrite
    pthread_once(&once, initialize); //@once
    pthread_once(&once, initialize); //@once
    CHECK(initialized == 1);
    pthread_t thread = start(waiter, NULL);
    sem_wait(&waiting);
    pthread_mutex_lock(&lock);
    done = 1;
    pthread_cond_signal(&condition); //@signal
    pthread_cond_broadcast(&condition); //@broadcast
    pthread_mutex_unlock(&lock);
    sem_post(&semaphore); //@up
    pthread_barrier_wait(&barrier); //@arrive
    pthread_join(thread, NULL);
    return 0;
}
"#);
    let process = program.record();
    assert_eq!(
        process.synchronization("shared"),
        "main Acquire@write, main Release@unwrite, waiter AcquireShared@read, waiter Release@unread"
    );
    assert_eq!(
        process.synchronization("condition"),
        "main WaitBegin@timed, main WaitEnd@timed, waiter WaitBegin@wait, main Signal@signal, \
         main Broadcast@broadcast, waiter WaitEnd@wait"
    );
    assert_eq!(process.synchronization("semaphore"), "main SemaphorePost@up, waiter SemaphoreWait@down");
    assert_eq!(
        process.synchronization("once"),
        "main SemaphorePost@once, main SemaphoreWait@once, main SemaphorePost@once, main SemaphoreWait@once"
    );
    let barrier = process.synchronization("barrier");
    let last_arrival = barrier.rfind("BarrierEnter").expect("both arrive");
    let first_leave = barrier.find("BarrierLeave").expect("both leave");
    assert_eq!(barrier.matches("@arrive").count(), 4);
    assert!(last_arrival < first_leave, "nobody leaves before all have arrived: {barrier}");
}

#[test]
fn threads_are_created_named_started_ended_and_joined() {
    let program = c(r#"
#include <sys/prctl.h>
THREAD(other) {
    prctl(PR_SET_NAME, "a name that is too long for it");
    return NULL;
}
THREAD(child) {
    pthread_setname_np(pthread_self(), "busy bee");
    return argument;
}
__attribute__((noinline)) static void spawn(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, child, (void *)7); //@create
    void *result;
    CHECK(pthread_join(thread, &result) == 0 && result == (void *)7); //@join
}
int main(void) {
    spawn();
    in_thread(other);
    return 0;
}
"#);
    let process = program.record();
    let other = &process.recording.threads[process.thread_id("other") as usize];
    assert_eq!(&other.name, b"a name that is \0");
    let child = process.thread_id("child");
    let record = &process.recording.threads[child as usize];
    assert_eq!(&record.name, b"busy bee\0\0\0\0\0\0\0\0");
    assert_eq!(process.stack(record.created_at), "spawn < main");
    assert_eq!((record.parent, record.ended), (process.thread_id("main"), 1));
    let story: Vec<String> = process
        .recording
        .events
        .iter()
        .filter(|event| event.event.object == child)
        .filter(|event| (EventKind::ThreadCreate..=EventKind::ThreadJoin).contains(&event.kind))
        .map(|event| format!("{} {:?}", process.thread(event.thread), event.kind))
        .collect();
    assert_eq!(story, ["main ThreadCreate", "child ThreadStart", "child ThreadEnd", "main ThreadJoin"]);
}

#[test]
fn a_deadlock_shows_who_waits_for_what() {
    let program = c(r#"
pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
pthread_barrier_t both;
THREAD(ab) {
    pthread_mutex_lock(&a); //@a-first
    pthread_barrier_wait(&both);
    pthread_mutex_lock(&b); //@b-second
    return NULL;
}
THREAD(ba) {
    pthread_mutex_lock(&b); //@b-first
    pthread_barrier_wait(&both);
    pthread_mutex_lock(&a); //@a-second
    return NULL;
}
int main(void) {
    pthread_barrier_init(&both, NULL, 2);
    pthread_t thread = start(ab, NULL);
    start(ba, NULL);
    pthread_join(thread, NULL); //@join
    return 0;
}
"#);
    let all_wait = |recordings: &[recording::Recording]| {
        recordings.iter().any(|recording| {
            let threads = recording.threads.iter().skip(1);
            let locking = threads
                .filter(|thread| thread.waits_for != 0 && thread.waits_in != EventKind::BarrierEnter as u32);
            locking.count() == 3
        })
    };
    let finished = program.start(&[]).kill_once("all threads wait", all_wait);
    finished.expect_signal(libc::SIGKILL);
    let process = finished.only_process();
    let wait = |name: &str| {
        let thread = &process.recording.threads[process.thread_id(name) as usize];
        (process.variable(thread.waits_for), process.site(thread.waits_at), process.locks(thread.locks))
    };
    let words = |a: &str, b: &str, c: &str| (a.to_owned(), b.to_owned(), c.to_owned());
    assert_eq!(wait("ab"), words("b", "b-second", "a@a-first"));
    assert_eq!(wait("ba"), words("a", "a-second", "b@b-first"));
    let main = &process.recording.threads[process.thread_id("main") as usize];
    assert_eq!(main.waits_for, u64::from(process.thread_id("ab")));
    assert_eq!(main.waits_in, EventKind::ThreadJoin as u32);
}

#[test]
fn a_thread_cancelled_while_waiting_waits_no_more() {
    let program = c(r#"
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
sem_t waiting;
volatile int cleaned;
static void clean(void *argument) {
    cleaned = 1; //@clean
    pthread_mutex_unlock(&lock);
    (void)argument;
}
THREAD(waiter) {
    pthread_mutex_lock(&lock);
    pthread_cleanup_push(clean, NULL);
    sem_post(&waiting);
    for (;;)
        pthread_cond_wait(&condition, &lock);
    pthread_cleanup_pop(0);
    return NULL;
}
THREAD(exits) {
    pthread_exit((void *)5);
}
int main(void) {
    void *result;
    sem_init(&waiting, 0, 0);
    pthread_t thread = start(waiter, NULL);
    sem_wait(&waiting);
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
    pthread_cancel(thread);
    CHECK(pthread_join(thread, &result) == 0 && result == PTHREAD_CANCELED);
    CHECK(cleaned); //@read
    CHECK(pthread_mutex_lock(&lock) == 0);
    thread = start(exits, NULL);
    CHECK(pthread_join(thread, &result) == 0 && result == (void *)5);
    return 0;
}
"#);
    let process = program.record();
    let waiter = &process.recording.threads[process.thread_id("waiter") as usize];
    assert_eq!((waiter.waits_for, waiter.ended), (0, 1));
    assert_eq!(process.recording.threads[process.thread_id("exits") as usize].ended, 1);
    assert_eq!(process.history("cleaned"), "waiter w@clean | main R@read");
}

#[test]
fn destructors_that_run_to_the_last_do_not_bring_a_thread_back() {
    let program = c(r#"
pthread_key_t key;
volatile int rounds, shared;
static void again(void *value) {
    shared = ++rounds;
    pthread_setspecific(key, value);
}
THREAD(worker) {
    shared = 1;
    pthread_setspecific(key, (void *)1);
    return NULL;
}
int main(void) {
    pthread_key_create(&key, again);
    in_thread(worker);
    CHECK(rounds == PTHREAD_DESTRUCTOR_ITERATIONS && shared == rounds);
    return 0;
}
"#);
    let process = program.record();
    assert_eq!(process.recording.threads.len(), 3, "the unused one, main and the worker");
    assert_eq!(process.recording.threads[2].ended, 1);
}

#[test]
fn the_standard_librarys_locks_are_seen() {
    let program = cpp(r#"
#include <condition_variable>
#include <mutex>
#include <shared_mutex>
#include <thread>
std::mutex lock;
std::shared_mutex shared;
std::condition_variable condition;
bool ready;
int main() {
    std::thread waiter([] {
        std::unique_lock<std::mutex> guard(lock);
        condition.wait(guard, [] { return ready; });
        std::shared_lock<std::shared_mutex> reading(shared);
    });
    {
        std::lock_guard<std::mutex> guard(lock);
        ready = true;
    }
    condition.notify_all();
    waiter.join(); //@join
    std::unique_lock<std::shared_mutex> writing(shared);
    return 0;
}
"#);
    let process = program.record();
    process.expect_whole();
    assert!(process.synchronization("lock").contains("Acquire"));
    assert!(process.synchronization("condition").contains("Broadcast"));
    let shared = process.synchronization("shared");
    assert!(shared.contains("AcquireShared") && shared.contains("main Acquire@"), "{shared}");
    let created = process.recording.threads[2].created_at;
    let stack = process.stack(created);
    let is_told_by_the_program = !stack.contains("_M_start_thread") && stack.contains("main");
    assert!(is_told_by_the_program, "{stack}");
    let mut events = process.recording.events.iter();
    let join = events.find(|event| event.kind == EventKind::ThreadJoin).expect("one was joined");
    assert_eq!(process.site(join.event.leaf), "join");
}

#[test]
fn the_threads_and_locks_of_c11() {
    let program = c(r#"
#include <threads.h>
mtx_t lock;
cnd_t ready;
volatile int x;
static int worker(void *argument) {
    mtx_lock(&lock); //@lock
    x = *(int *)argument; //@write
    cnd_signal(&ready); //@signal
    mtx_unlock(&lock); //@unlock
    return 7;
}
int main(void) {
    thrd_t thread;
    int value = 3, result;
    mtx_init(&lock, mtx_plain);
    cnd_init(&ready);
    mtx_lock(&lock); //@first
    CHECK(thrd_create(&thread, worker, &value) == thrd_success);
    while (x == 0)
        cnd_wait(&ready, &lock); //@wait
    mtx_unlock(&lock); //@last
    CHECK(thrd_join(thread, &result) == thrd_success && result == 7 && x == 3);
    mtx_destroy(&lock);
    return 0;
}
"#);
    let process = program.record();
    process.expect_whole();
    assert_eq!(
        process.synchronization("lock"),
        "main Acquire@first, main Release@wait, worker Acquire@lock, worker Release@unlock, main Acquire@wait"
    );
    assert!(process.synchronization("ready").contains("worker Signal@signal"));
}

#[test]
fn locks_held_before_others_came_are_known() {
    let program = c(r#"
pthread_mutex_t outer = PTHREAD_MUTEX_INITIALIZER, inner = PTHREAD_MUTEX_INITIALIZER;
volatile int under_both, under_outer, under_none, after_all;
THREAD(worker) {
    return (void *)(long)(under_both + under_outer + under_none + after_all); //@worker
}
int main(void) {
    for (int i = 0; i < 3; i++) {
        pthread_mutex_lock(&outer); //@outer
        pthread_mutex_lock(&inner); //@inner
        under_both = i; //@both
        pthread_mutex_unlock(&inner);
        under_outer = i; //@one
        pthread_mutex_unlock(&outer);
        under_none = i; //@none
    }
    for (int i = 0; i < 1000; i++) {
        pthread_mutex_lock(&outer); //@outer
        pthread_mutex_unlock(&outer);
    }
    after_all = 1; //@late
    in_thread(worker);
    return 0;
}
"#);
    let process = program.record();
    let profile = localize::profile(
        localize::RunId(1),
        localize::Outcome::Pass,
        std::slice::from_ref(&process.recording),
        &mut localize::Code::default(),
    );
    let held = |variable: &str| {
        let at = |index: u32| profile.locations[index as usize].address == process.address(variable);
        let first = profile.run.accesses.iter().find(|access| at(access.location.0) && access.kind.writes());
        let locks = profile.run.held(first.expect("main wrote it"))?;
        let names =
            locks.iter().map(|lock| process.variable(profile.objects[lock.object.0 as usize].address));
        Some(names.collect::<Vec<_>>().join(" "))
    };
    let known = |names: &str| Some(names.to_owned());
    assert_eq!(
        ["under_both", "under_outer", "under_none", "after_all"].map(held),
        [known("outer inner"), known("outer"), known(""), None]
    );
}

#[test]
fn in_controlled_runs_a_word_that_has_changed_is_not_waited_for() {
    // Whoever was told so must not be woken in the place of a thread that waits.
    let program = r#"
#include <sys/syscall.h>
#include <linux/futex.h>
int word = 1;
static long futex(int operation, int value) {
    return syscall(SYS_futex, &word, operation | FUTEX_PRIVATE_FLAG, value, NULL, NULL, 0);
}
THREAD(waiter) {
    CHECK(futex(FUTEX_WAIT, 1) == 0);
    return NULL;
}
int main(void) {
    CHECK(futex(FUTEX_WAIT, 0) == -1 && errno == EAGAIN);
    CHECK(futex(FUTEX_WAKE, 1) == 0);
    pthread_t thread = start(waiter, NULL);
    while (futex(FUTEX_WAKE, 1) == 0)
        sched_yield();
    pthread_join(thread, NULL);
    return 0;
}
"#;
    for seed in 1..4 {
        c(program).plan(&format!("seed={seed},schedule=random")).run_well();
    }
}
