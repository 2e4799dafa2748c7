//! Atomic operations do what they should and are recorded in the order in which they took effect.

use recording::{EventKind, flag};

use crate::kit::{Compiler, c};

#[test]
fn results_are_right_under_contention_at_every_width() {
    for (kind, flags) in [
        ("uint8_t", ""),
        ("uint16_t", ""),
        ("uint32_t", ""),
        ("uint64_t", ""),
        ("unsigned __int128", "-mcx16 -latomic"),
    ] {
        let program = Compiler::c().flags(flags).program(&format!(
            r#"
typedef {kind} number;
#define N 2000
#define ORDER __ATOMIC_SEQ_CST
number total, flips, by_cas, bits_on, bits_off = (number)-1, swapped = 100, nanded;
number taken[4];
static void *work(void *argument) {{
    int me = (int)(intptr_t)argument;
    number sum = 0;
    for (int i = 0; i < N; i++) {{
        __atomic_fetch_add(&total, 3, ORDER);
        __atomic_fetch_sub(&total, 1, ORDER);
        __atomic_fetch_xor(&flips, (number)1 << me, ORDER);
        number old = __atomic_load_n(&by_cas, ORDER);
        while (!__atomic_compare_exchange_n(&by_cas, &old, old + 1, i & 1, ORDER, ORDER)) {{}}
        sum += __atomic_exchange_n(&swapped, (number)me, ORDER);
    }}
    __atomic_fetch_or(&bits_on, (number)1 << me, ORDER);
    __atomic_fetch_and(&bits_off, ~((number)1 << me), ORDER);
    taken[me] = sum;
    return NULL;
}}
int main(void) {{
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        threads[i] = start(work, (void *)(intptr_t)i);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    CHECK(total == (number)(4 * N * 2));
    CHECK(by_cas == (number)(4 * N));
    CHECK(flips == 0);
    CHECK(bits_on == 15);
    CHECK(bits_off == (number)~(number)15);
    // Whatever was put in was taken out, but for the last one.
    number in = 100, out = swapped;
    for (int i = 0; i < 4; i++) {{
        in += (number)(N * i);
        out += taken[i];
    }}
    CHECK(in == out);
    number found = 12;
    __atomic_store_n(&nanded, 12, ORDER);
    CHECK(__atomic_fetch_nand(&nanded, 10, ORDER) == 12);
    CHECK(nanded == (number)~(number)8);
    __atomic_store_n(&nanded, 5, ORDER);
    CHECK(!__atomic_compare_exchange_n(&nanded, &found, 6, 0, ORDER, ORDER));
    CHECK(found == 5 && nanded == 5);
    number high = (number)3 << (sizeof(number) * 8 - 2);
    CHECK(__atomic_exchange_n(&nanded, high, ORDER) == 5);
    CHECK(__atomic_load_n(&nanded, ORDER) == high);
    CHECK(__sync_val_compare_and_swap(&nanded, high, 7) == high);
    CHECK(__sync_val_compare_and_swap(&nanded, high, 8) == 7);
    CHECK(nanded == 7);
    return 0;
}}
"#
        ));
        let process = program.record();
        process.expect_whole();
    }
}

#[test]
fn kinds_of_operations() {
    let program = c(r#"
int x;
THREAD(other) {
    int expected = 5;
    __atomic_compare_exchange_n(&x, &expected, 6, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); //@fails
    __atomic_compare_exchange_n(&x, &expected, 6, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); //@succeeds
    return NULL;
}
THREAD(adder) {
    __atomic_fetch_add(&x, 1, __ATOMIC_RELAXED); //@add
    __atomic_fetch_add(&x, 1, __ATOMIC_RELAXED); //@add-again
    return NULL;
}
THREAD(storer) {
    __atomic_store_n(&x, 1, __ATOMIC_RELEASE); //@store
    return NULL;
}
int main(void) {
    __atomic_store_n(&x, 1, __ATOMIC_RELEASE); //@init
    in_thread(other);
    in_thread(adder);
    in_thread(storer);
    return __atomic_load_n(&x, __ATOMIC_ACQUIRE) != 1; //@load
}
"#);
    let process = program.record();
    assert_eq!(
        process.history("x"),
        "main w@init | other R@fails U@succeeds | adder U@add U@add-again | storer W@store | main R@load"
    );
    let marked = |event: &recording::ThreadEvent| event.event.flags & flag::ATOMIC != 0;
    let (location, _) = process
        .lasting_locations()
        .find(|(_, location)| location.address == process.address("x"))
        .expect("it is shared");
    assert!(process.accesses(location).filter(|event| !event.is_stamped()).all(marked));
}

/// Who finds a lock taken that it does not wait for learns by that what another thread is doing.
#[test]
fn attempts_at_a_lock_are_accesses() {
    let program = c(r#"
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
THREAD(loser) {
    CHECK(pthread_mutex_trylock(&lock) == EBUSY); //@fails
    return NULL;
}
THREAD(winner) {
    CHECK(pthread_mutex_trylock(&lock) == 0); //@succeeds
    in_thread(loser);
    pthread_mutex_unlock(&lock); //@unlock
    return NULL;
}
THREAD(waiter) {
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
    return NULL;
}
int main(void) {
    in_thread(winner);
    in_thread(waiter);
    CHECK(pthread_mutex_trylock(&lock) == 0); //@next
    return 0;
}
"#);
    assert_eq!(
        program.record().history("lock"),
        "+0:4 winner r@succeeds w@succeeds | loser R@fails | winner W@unlock | main U@next"
    );
}

#[test]
fn order_of_updates_is_the_order_of_values() {
    let program = c(r#"
uint32_t ticket;
static void *take(void *argument) {
    for (int i = 0; i < 5000; i++) {
        __atomic_fetch_add(&ticket, 1, __ATOMIC_RELAXED);
        if (i % 16 == 0)
            sched_yield();
    }
    return argument;
}
int main(void) {
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        threads[i] = start(take, NULL);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    return ticket != 20000;
}
"#);
    let process = program.record();
    // Every update that was recorded found a higher value than all before it.
    let values: Vec<u64> = process
        .recording
        .events
        .iter()
        .filter(|event| event.kind == EventKind::Update)
        .filter(|event| {
            process.recording.locations[event.event.object as usize].address == process.address("ticket")
        })
        .map(|event| event.event.value)
        .collect();
    assert!(values.len() >= 3, "there were handovers: {values:?}");
    assert!(values.is_sorted_by(|a, b| a < b), "{values:?}");
}

/// A free run does on a short way what a controlled one looks at closely.
#[test]
fn operations_in_the_midst_of_a_turn_leave_the_same_record_on_the_short_way() {
    let source = r#"
uint32_t x;
sem_t mine[2];
static void *take_turns(void *argument) {
    int self = argument != NULL;
    for (int turn = 0; turn < 3; turn++) {
        while (sem_wait(&mine[self]) != 0)
            ;
        for (int i = 0; i < 4; i++) {
            __atomic_fetch_add(&x, 1, __ATOMIC_RELAXED); //@add
            uint32_t seen = __atomic_load_n(&x, __ATOMIC_ACQUIRE); //@load
            __atomic_compare_exchange_n(&x, &seen, seen + 1, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); //@swap
            __atomic_compare_exchange_n(&x, &seen, 7, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); //@fails
            if (turn == 1)
                __atomic_store_n(&x, seen + self, __ATOMIC_RELEASE); //@store
            if (i == 3 && self)
                __atomic_load_n(&x, __ATOMIC_RELAXED); //@last
        }
        sem_post(&mine[!self]);
    }
    return NULL;
}
int main(void) {
    sem_init(&mine[0], 0, 1);
    sem_init(&mine[1], 0, 0);
    pthread_t one = start(take_turns, NULL), other = start(take_turns, &x);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    return 0;
}
"#;
    let record = |plan: &str| -> Vec<String> {
        let program = c(source).plan(plan);
        let process = program.record();
        let x = process.address("x");
        let (location, _) =
            process.lasting_locations().find(|(_, location)| location.address == x).expect("it is shared");
        let told = |event: &recording::ThreadEvent| {
            let site = process.site(event.event.leaf);
            format!("{} {:?}@{site} {}", event.actor(), event.kind, event.event.value)
        };
        process.accesses(location).map(told).collect()
    };
    let short = record("noise=off");
    assert_eq!(short, record("seed=1,schedule=random"));
    assert!(short.iter().any(|access| access.contains("@last")), "{short:?}");
}
