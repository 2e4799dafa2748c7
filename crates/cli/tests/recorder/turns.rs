//! What a turn keeps, and what leaves no record.

use recording::EventKind;

use crate::kit::c;

#[test]
fn last_access_of_a_long_stretch_is_the_one_handed_over() {
    let program = c(r#"
volatile int counter;
__attribute__((noinline)) static void first_stretch(void) {
    for (int i = 0; i < 100000; i++)
        counter++; //@first
}
__attribute__((noinline)) static void last_stretch(void) {
    for (int i = 0; i < 100000; i++)
        counter += 2; //@last
}
__attribute__((noinline)) static void both(void) {
    first_stretch();
    last_stretch();
}
THREAD(reader) {
    CHECK(counter == 300000); //@check
    return NULL;
}
THREAD(writer) {
    both();
    return NULL;
}
int main(void) {
    both();
    in_thread(reader);
    in_thread(writer);
    return counter != 600000; //@end
}
"#);
    let process = program.record();
    process.expect_whole();
    assert_eq!(
        process.history("counter"),
        // The first read after the turn's first write is recorded like a new site.
        "main r@last w@last | reader R@check | writer R@first W@first R@first R@last r@last w@last | main R@end"
    );
    assert_eq!(
        process.stacks("counter"),
        "last: last_stretch < both < main\n\
         check: reader\n\
         first: first_stretch < both < writer\n\
         last: last_stretch < both < writer\n\
         end: main"
    );
}

#[test]
fn reads_are_recorded_once_per_site_and_the_last_one_again() {
    let program = c(r#"
volatile int shared;
volatile int sink;
THREAD(reader) {
    for (int i = 0; i < 1000; i++) {
        sink = shared; //@a
        sink = shared; //@b
    }
    sink = shared; //@c
    sink = shared; //@a-again
    sink = shared; //@d
    for (int i = 0; i < 1000; i++)
        sink = shared; //@e
    return NULL;
}
int main(void) {
    shared = 1; //@init
    in_thread(reader);
    shared = 2; //@after
    return 0;
}
"#);
    assert_eq!(
        program.record().history("shared"),
        "main w@init | reader R@a R@b R@c R@a-again R@d R@e r@e | main W@after"
    );
}

#[test]
fn many_reading_sites_in_turn_do_not_grow_the_recording() {
    let program = c(r#"
volatile int shared;
volatile int sink;
#define READ sink = shared
THREAD(reader) {
    for (int i = 0; i < 20000; i++) {
        READ; READ; READ; READ; READ; READ; READ; READ; READ; READ; //@ten
    }
    return NULL;
}
int main(void) {
    shared = 1; //@init
    in_thread(reader);
    shared = 2; //@after
    return 0;
}
"#);
    let process = program.record();
    let reads = process.history("shared").matches("R@ten").count();
    assert_eq!(reads, 10, "each of the ten sites once");
}

#[test]
fn many_reading_sites_are_recorded_again_after_a_write_by_another_thread() {
    let program = c(r#"
volatile int shared;
volatile int sink;
_Atomic int step;
static void wait_for(int wanted) {
    while (__atomic_load_n(&step, __ATOMIC_ACQUIRE) != wanted)
        sched_yield();
}
static void read_all(void) {
    for (int i = 0; i < 100; i++) {
        sink = shared; //@a
        sink = shared; //@b
        sink = shared; //@c
        sink = shared; //@d
        sink = shared; //@e
    }
    sink = shared; //@end
}
THREAD(reader) {
    for (int turn = 0; turn < 2; turn++) {
        read_all();
        __atomic_store_n(&step, 2 * turn + 1, __ATOMIC_RELEASE);
        if (turn == 0)
            wait_for(2);
    }
    return NULL;
}
int main(void) {
    shared = 1; //@init
    pthread_t thread = start(reader, NULL);
    wait_for(1);
    shared = 2; //@between
    __atomic_store_n(&step, 2, __ATOMIC_RELEASE);
    pthread_join(thread, NULL);
    shared = 3; //@after
    return 0;
}
"#);
    let reads = "reader R@a R@b R@c R@d R@e R@end";
    assert_eq!(
        program.record().history("shared"),
        format!("main w@init | {reads} | main W@between | {reads} | main W@after")
    );
}

#[test]
fn what_is_new_among_bytes_that_pass_from_thread_to_thread_is_recorded() {
    let program = c(r#"
volatile unsigned char buffer[65536];
volatile unsigned sum;
THREAD(reader) {
    for (int i = 0; i < 65536; i++)
        sum += buffer[i]; //@read
    return NULL;
}
int main(void) {
    for (int i = 0; i < 65536; i++)
        buffer[i] = 1; //@fill
    buffer[40001] = 2; //@corrected
    in_thread(reader);
    return sum != 65537;
}
"#);
    let history = program.record().history("buffer");
    let corrected: Vec<&str> = history.lines().filter(|line| line.contains("@corrected")).collect();
    assert_eq!(corrected.len(), 1, "{corrected:?}");
    assert!(corrected[0].ends_with("main w@corrected | reader R@read"), "{corrected:?}");
    assert!(history.lines().count() < 40_000, "what repeats is not");
}

#[test]
fn bytes_that_nobody_took_over_stay_with_whoever_filled_them() {
    let program = c(r#"
volatile unsigned char buffer[65536];
volatile unsigned sum;
THREAD(reader) {
    for (int i = 0; i < 65536; i++)
        if (i <= 60000 || i > 60003)
            sum += buffer[i]; //@read
    return NULL;
}
THREAD(late) {
    buffer[60000] = 2; //@taken
    buffer[60001] = 2; //@left
    return NULL;
}
int main(void) {
    for (int i = 0; i < 65536; i++)
        buffer[i] = 1; //@fill
    in_thread(reader);
    in_thread(late);
    return sum != 65533;
}
"#);
    let history = program.record().history("buffer");
    let late: Vec<&str> = history.lines().filter(|line| line.contains("late")).collect();
    assert_eq!(late, ["+60000:1 reader r@read | late W@taken", "+60001:1 main w@fill | late W@left"]);
}

#[test]
fn alternating_readers_do_not_grow_the_recording() {
    let program = c(r#"
#define ROUNDS 100000
volatile int shared;
volatile long seen[16];
_Atomic int turn;
static void read_in_turn(int me) {
    for (int i = 0; i < ROUNDS; i++) {
        while (__atomic_load_n(&turn, __ATOMIC_ACQUIRE) != me)
            sched_yield();
        seen[me * 8] += shared; //@read
        __atomic_store_n(&turn, !me, __ATOMIC_RELEASE);
    }
}
THREAD(even) { read_in_turn(0); return NULL; }
THREAD(odd) { read_in_turn(1); return NULL; }
int main(void) {
    shared = 1; //@init
    pthread_t threads[] = {start(even, NULL), start(odd, NULL)};
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    shared = 2; //@after
    return seen[0] != ROUNDS || seen[8] != ROUNDS;
}
"#)
    .plan("seed=1,noise=off,budget=1000000000");
    let process = program.record();
    let history = process.history("shared");
    assert_eq!(history.matches("R@read").count(), 2, "{history}");
    assert_eq!(history.matches("r@read").count(), 2, "{history}");
    assert!(history.ends_with("| main W@after"), "{history}");
}

#[test]
fn lock_protected_increments_are_turns_of_read_and_write() {
    let program = c(r#"
volatile int counter;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
sem_t go[2];
static void steps(int me) {
    for (int i = 0; i < 3; i++) {
        sem_wait(&go[me]);
        pthread_mutex_lock(&lock);
        counter++; //@increment
        pthread_mutex_unlock(&lock);
        sem_post(&go[!me]);
    }
}
THREAD(ping) { steps(0); return NULL; }
THREAD(pong) { steps(1); return NULL; }
int main(void) {
    sem_init(&go[0], 0, 1);
    sem_init(&go[1], 0, 0);
    pthread_t threads[] = {start(ping, NULL), start(pong, NULL)};
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    return counter != 6; //@end
}
"#);
    let turn = |thread: &str| format!("{thread} R@increment W@increment");
    let expected = format!(
        "ping r@increment w@increment | {} | {} | {} | {} | {} | main R@end",
        turn("pong"),
        turn("ping"),
        turn("pong"),
        turn("ping"),
        turn("pong")
    );
    assert_eq!(program.record().history("counter"), expected);
}

#[test]
fn last_read_and_last_write_keep_their_order() {
    let program = c(r#"
volatile int x, y, sink;
THREAD(worker) {
    for (int i = 0; i < 10; i++) {
        x = i; //@write
        sink = x; //@read
        y++; //@increment
    }
    return NULL;
}
int main(void) {
    x = y = -1; //@init
    in_thread(worker);
    x = y = -2; //@after
    return 0;
}
"#);
    let process = program.record();
    assert_eq!(process.history("x"), "main w@init | worker W@write R@read w@write r@read | main W@after");
    assert_eq!(
        process.history("y"),
        "main w@init | worker R@increment W@increment R@increment r@increment w@increment | main W@after"
    );
}

#[test]
fn values_are_those_before_the_access() {
    let program = c(r#"
volatile int shared = 7;
THREAD(writer) {
    shared = 8; //@write
    return NULL;
}
int main(void) {
    shared = 7; //@init
    in_thread(writer);
    return shared != 8; //@read
}
"#);
    let process = program.record();
    let (location, _) = process
        .lasting_locations()
        .find(|(_, location)| location.address == process.address("shared"))
        .expect("it is shared");
    let values: Vec<_> = process
        .accesses(location)
        .filter(|event| event.event.flags & recording::flag::VALUE != 0)
        .map(|event| (event.kind, event.event.value))
        .collect();
    assert_eq!(values, [(EventKind::Write, 7), (EventKind::Read, 8)]);
}

/// Two thousand handovers, of which the budget has room for some: what is new is kept even when it comes late, and so
/// is what came last.
#[test]
fn beyond_the_budget_each_handovers_first_and_newest_occurrences_are_kept() {
    let program = c(r#"
volatile int shared;
THREAD(worker) {
    shared++; //@worker
    return NULL;
}
THREAD(once) {
    shared++; //@once
    return NULL;
}
int main(void) {
    for (int i = 0; i < 1000; i++) {
        shared++; //@main
        if (i == 700)
            in_thread(once);
        in_thread(worker);
    }
    return shared != 2001; //@end
}
"#)
    .plan("seed=1,noise=off,budget=16384");
    let process = program.record();
    assert!(process.recording.header.thinned > 1000);
    let history = process.history("shared").replace(char::is_numeric, "");
    let turns: Vec<&str> = history.split(" | ").collect();
    assert!(turns.len() < 200, "{} turns are recorded", turns.len());
    let around_once = ["main w@main", "once R@once W@once w@once", "worker R@worker W@worker"];
    let place = turns.iter().position(|turn| turn.starts_with("once")).expect("the one that came late");
    assert_eq!(turns[place - 1..=place + 1], around_once);
    let newest = ["main R@main W@main w@main", "worker R@worker W@worker w@worker", "main R@end r@end"];
    assert_eq!(turns[turns.len() - 3..], newest);
    // Where handovers were left out, nothing is taken to have happened in a row.
    let gaps = process.recording.events.iter().filter(|event| event.kind == EventKind::Gap).count();
    assert!((2..10).contains(&gaps), "{gaps} gaps");
}

/// A turn reads at more sites than one record of it has room for, in another order each time: what is kept of it is the last.
#[test]
fn beyond_the_budget_the_last_of_many_reading_sites_is_kept() {
    for last in 0..5 {
        let program = c(&format!(
            r#"
volatile int shared, sink;
static void read_at(int site) {{
    switch (site) {{
    case 0: sink = shared; break; //@r0
    case 1: sink = shared; break; //@r1
    case 2: sink = shared; break; //@r2
    case 3: sink = shared; break; //@r3
    case 4: sink = shared; break; //@r4
    }}
}}
static sem_t turn[2];
enum {{ ROUNDS = 2000 + {last} }};
THREAD(reader) {{
    for (int round = 0; round < ROUNDS; round++) {{
        sem_wait(&turn[1]);
        for (int i = 0; i <= 8; i++)
            read_at((round + i) % 5);
        sem_post(&turn[0]);
    }}
    return NULL;
}}
THREAD(writer) {{
    for (int round = 0; round <= ROUNDS; round++) {{
        sem_wait(&turn[0]);
        shared = round; //@write
        sem_post(&turn[1]);
    }}
    return NULL;
}}
int main(void) {{
    sem_init(&turn[0], 0, 1);
    sem_init(&turn[1], 0, 0);
    pthread_t threads[] = {{start(reader, NULL), start(writer, NULL)}};
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}}
"#
        ))
        .plan("seed=1,noise=off,budget=16384");
        let process = program.record();
        assert!(process.recording.header.thinned > 1000);
        let history = process.history("shared");
        // The newest of each of the five pairs of sites, and the last of all.
        let turns: Vec<&str> = history.split(" | ").collect();
        let read_last = format!("r@r{}", (2000 + last - 1 + 8) % 5);
        let [.., reader, writer] = turns[..] else { panic!("{history}") };
        assert!(reader.starts_with("reader ") && reader.ends_with(&read_last), "{reader}");
        assert!(writer.starts_with("writer W@write"), "{writer}");
        for site in 0..5 {
            assert!(turns.iter().any(|turn| turn.ends_with(&format!("r@r{site}"))), "{site}: {history}");
        }
    }
}

/// Recursion makes more pairs of places than can be counted: 160 depths of the one function by 160 of the other.
#[test]
fn handovers_between_countless_places_stay_within_the_budget() {
    let program = c(r#"
enum { DEPTHS = 160 };
static long words[DEPTHS][DEPTHS], sum;
static void fill(int depth) {
    for (int i = 0; i < DEPTHS; i++)
        words[depth][i] = i;
    if (depth + 1 < DEPTHS)
        fill(depth + 1);
    sum++;
}
static long add(int depth) {
    long all = 0;
    for (int i = 0; i < DEPTHS; i++)
        all += words[i][depth];
    return all + (depth + 1 < DEPTHS ? add(depth + 1) : 0);
}
THREAD(filler) { fill(0); return NULL; }
THREAD(adder) { CHECK(add(0) == 160L * 160 * 159 / 2); return NULL; }
int main(void) { in_thread(filler); in_thread(adder); return 0; }
"#)
    .plan("seed=1,noise=off,budget=1000000");
    let process = program.record();
    // The budget has room for 1,953 locations, and 16,384 pairs of places are told apart.
    let locations = process.lasting_locations().count();
    assert!((10_000..=16_384 + 1_954).contains(&locations), "{locations} locations");
}

#[test]
fn a_lock_that_changes_hands_for_ever_stays_within_the_budget() {
    let program = c(r#"
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int turn;
static void alternate(int me) {
    for (int i = 0; i < 5000; i++) {
        while (__atomic_load_n(&turn, __ATOMIC_ACQUIRE) != me)
            sched_yield();
        pthread_mutex_lock(&lock);
        pthread_mutex_unlock(&lock);
        __atomic_store_n(&turn, !me, __ATOMIC_RELEASE);
    }
}
THREAD(even) { alternate(0); return NULL; }
THREAD(odd) { alternate(1); return NULL; }
int main(void) {
    pthread_t threads[] = {start(even, NULL), start(odd, NULL)};
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    return 0;
}
"#)
    .plan("seed=1,noise=off,budget=16384");
    let process = program.record();
    let used = process.recording.header.regions[recording::RegionId::Chunks as usize].used;
    assert!(used < 100_000, "{used} bytes of events");
}
