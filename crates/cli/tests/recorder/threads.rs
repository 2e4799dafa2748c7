//! Many threads, short-lived ones, and every way for a thread to end.

use crate::kit::c;

#[test]
fn a_thousand_threads_at_a_time() {
    let program = c(r#"
#define N 1000
int arrived;
volatile int x;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
pthread_barrier_t barrier;
THREAD(worker) {
    pthread_barrier_wait(&barrier);
    pthread_mutex_lock(&lock);
    x++;
    pthread_mutex_unlock(&lock);
    __atomic_fetch_add(&arrived, 1, __ATOMIC_SEQ_CST);
    return NULL;
}
int main(void) {
    static pthread_t threads[N];
    pthread_barrier_init(&barrier, NULL, N);
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 64 << 10);
    for (int i = 0; i < N; i++)
        CHECK(pthread_create(&threads[i], &attributes, worker, NULL) == 0);
    for (int i = 0; i < N; i++)
        pthread_join(threads[i], NULL);
    return x != N || arrived != N;
}
"#);
    let process = program.record();
    process.expect_whole();
    assert_eq!(process.recording.threads.len(), 1002, "and the unused first one");
}

#[test]
fn readers_that_have_ended_make_way() {
    let program = c(r#"
volatile int limit;
THREAD(reader) {
    int sum = 0;
    for (int i = 0; i < 1000; i++)
        sum += limit; //@read
    return (void *)(long)sum;
}
int main(void) {
    limit = 1; //@set
    for (int i = 0; i < 3000; i++)
        in_thread(reader);
    limit = 2; //@change
    return 0;
}
"#);
    let process = program.record();
    process.expect_whole();
    let history = process.history("limit");
    assert_eq!(history.matches(" R@read r@read | ").count(), 3000, "what they did last is on record");
    // Whoever comes to a location looks at all of its slots.
    let bytes = process.recording.header.regions[recording::RegionId::Slots as usize].used;
    let slots = bytes as usize / size_of::<recording::Slot>();
    assert!(slots < 1000, "{slots} slots");
}

#[test]
fn a_hundred_thousand_short_lived_threads() {
    let program = c(r#"
volatile int x;
THREAD(worker) {
    x++;
    return NULL;
}
int main(void) {
    for (int i = 0; i < 100000; i++)
        in_thread(worker);
    return x != 100000;
}
"#);
    let process = program.record();
    process.expect_whole();
    let recording = &process.recording;
    assert_eq!(recording.threads.iter().filter(|thread| thread.ended == 1).count(), 100_000);
    // Chunks of ended threads are used on: a few events each, not a chunk each.
    let events = recording.header.regions[recording::RegionId::Chunks as usize].used;
    assert!(events < 100_000 * 400, "{events} bytes of events");
}

#[test]
fn every_way_to_end_a_thread() {
    let program = c(r#"
volatile int x;
sem_t ready, never;
static void clean(void *argument) {
    (void)argument;
    x++; //@clean
}
THREAD(returns) { x++; return NULL; } //@returns
__attribute__((noinline)) static void leave(void) {
    x++; //@leave
    pthread_exit(NULL);
}
THREAD(exits) {
    leave();
    return NULL;
}
THREAD(cancelled) {
    pthread_cleanup_push(clean, NULL);
    x++; //@cancelled
    sem_post(&ready);
    for (;;)
        pause();
    pthread_cleanup_pop(0);
    return NULL;
}
THREAD(torn_away) {
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
    x++; //@torn
    sem_post(&ready);
    for (;;) {
    }
    return NULL;
}
THREAD(detached) {
    x++; //@detached
    sem_post(&ready);
    sem_wait(&never);
    return NULL;
}
static void cancel(kit_routine routine) {
    pthread_t thread = start(routine, NULL);
    sem_wait(&ready);
    CHECK(pthread_cancel(thread) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
}
int main(void) {
    sem_init(&ready, 0, 0);
    sem_init(&never, 0, 0);
    x = 0; //@init
    in_thread(returns);
    in_thread(exits);
    cancel(cancelled);
    cancel(torn_away);
    CHECK(pthread_detach(start(detached, NULL)) == 0);
    sem_wait(&ready);
    CHECK(x == 6); //@end
    return 0;
}
"#);
    let process = program.record();
    process.expect_whole();
    assert_eq!(
        process.history("x"),
        "main w@init | returns R@returns W@returns | exits R@leave W@leave | \
         cancelled R@cancelled W@cancelled R@clean w@clean | torn_away R@torn W@torn | \
         detached R@detached W@detached | main R@end"
    );
    for (thread, ended) in [("returns", 1), ("exits", 1), ("cancelled", 1), ("torn_away", 1), ("detached", 0)]
    {
        let id = process.thread_id(thread) as usize;
        assert_eq!(process.recording.threads[id].ended, ended, "{thread}");
    }
}

/// An unwinder asks the loader for all modules, which locks its list, and calls back meanwhile. The recorder must not
/// wait for that lock to learn what function another thread has entered.
#[test]
fn a_thread_in_the_loaders_list_does_not_wait_for_one_that_wants_it() {
    let program = c(r#"
#include <link.h>
int listing, entering;
volatile int x;
__attribute__((noinline)) static void entered_by_lister(void) { x++; }
__attribute__((noinline)) static void entered_by_other(void) { x++; }
static int each(struct dl_phdr_info *info, size_t size, void *data) {
    (void)info, (void)size, (void)data;
    __atomic_store_n(&listing, 1, __ATOMIC_SEQ_CST);
    while (!__atomic_load_n(&entering, __ATOMIC_SEQ_CST))
        sched_yield();
    usleep(20000); // Time enough for the other to reach the loader.
    entered_by_lister();
    return 1;
}
THREAD(lister) {
    dl_iterate_phdr(each, NULL);
    return NULL;
}
THREAD(other) {
    while (!__atomic_load_n(&listing, __ATOMIC_SEQ_CST))
        sched_yield();
    __atomic_store_n(&entering, 1, __ATOMIC_SEQ_CST);
    entered_by_other();
    return NULL;
}
int main(void) {
    pthread_t threads[] = {start(lister, NULL), start(other, NULL)};
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    return 0;
}
"#);
    program.record().expect_whole();
}

#[test]
fn a_lock_whose_holder_has_died_is_taken_once() {
    let program = c(r#"
pthread_mutex_t lock;
volatile int x;
THREAD(worker) {
    CHECK(pthread_mutex_lock(&lock) == 0); //@left
    return NULL;
}
int main(void) {
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&lock, &attributes);
    in_thread(worker);
    CHECK(pthread_mutex_lock(&lock) == EOWNERDEAD); //@taken
    CHECK(pthread_mutex_consistent(&lock) == 0);
    CHECK(pthread_mutex_unlock(&lock) == 0); //@given
    CHECK(pthread_mutex_lock(&lock) == 0); //@again
    CHECK(pthread_mutex_unlock(&lock) == 0);
    return 0;
}
"#);
    let told = program.record().synchronization("lock");
    assert!(told.contains("@left") && told.contains("@taken"), "{told}");
}
