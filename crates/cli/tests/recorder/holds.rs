//! Threads that are held back for an order that cannot be had: those who wait for them by looking again and again get to see
//! what they wait for all the same, and soon. Seeds are fixed, so that nothing depends on chance.

use std::collections::BTreeSet;

use recording::Site;

use crate::history::Process;
use crate::kit::{Compiler, Program, c};

/// The items are filled in before they are published, and nobody takes one that is not: what takes them waits by looking and
/// yielding, and so do those who are to publish the next one.
const RING: &str = r#"
#include <stdatomic.h>
static int items[8];
static _Atomic long claimed, published, taken;
THREAD(produce) {
    for (int i = 0; i < 4; i++) {
        long mine = atomic_fetch_add(&claimed, 1);
        items[mine] = 7; //@fill
        while (atomic_load(&published) != mine) { PAUSE; }
        atomic_store(&published, mine + 1);
    }
    return NULL;
}
THREAD(consume) {
    for (long next = 0; next < 8; next++) {
        while (atomic_load(&published) <= next) { PAUSE; }
        CHECK(items[next] == 7); //@take
        atomic_fetch_add(&taken, 1);
    }
    return NULL;
}
int main(void) {
    pthread_t threads[] = {start(consume, NULL), start(produce, NULL), start(produce, NULL)};
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
"#;

/// Where the line with this marker accesses memory.
fn step(process: &Process, marker: &str) -> Site {
    let accesses = process.recording.events.iter().filter(|event| event.kind.is_access());
    let leaf = accesses.map(|event| event.event.leaf).find(|&leaf| process.site(leaf) == marker);
    let frame = process.recording.frames(leaf.expect("it was recorded")).next().unwrap();
    let module = &process.recording.modules[frame.module.expect("it is the program's")];
    Site::new(&module.build_id, frame.address - module.bias).expect("gcc gives programs build ids")
}

/// The program, in which the first of two steps is to come before the second.
fn forced(program: Program, first: &str, second: &str, seed: u32) -> Program {
    let process = program.record();
    let [first, second] = [first, second].map(|marker| step(&process, marker));
    drop(process);
    let plan =
        format!("seed={seed},schedule=random,directed=yes,interleaving=enforce:1.0@{first};2.0@{second}");
    program.plan(&plan).with_own_recordings()
}

/// Eight items are held back at most, each until somebody has yielded a hundred times; with other points than those that it takes to yield, some
/// thousands would pass each time.
#[test]
fn who_yields_to_threads_that_are_held_back_is_not_kept_waiting() {
    let mut held = 0;
    for seed in 1..=12 {
        let program = forced(c(&RING.replace("PAUSE", "sched_yield()")), "take", "fill", seed);
        let header = program.run_well().recordings[0].header;
        assert!(header.points < 2000, "seed {seed}: {}", header.points);
        held += header.held;
    }
    assert!(held > 0);
}

/// However long they are held back: what others do meanwhile is told apart from what they do by themselves.
#[test]
fn points_at_which_threads_are_held_back_are_told_apart() {
    let mut longest = 0;
    for seed in 1..=12 {
        let program = forced(c(&RING.replace("PAUSE", "")), "take", "fill", seed);
        let header = program.run_well().recordings[0].header;
        assert!(header.free_points() < 200, "seed {seed}: {} of {}", header.free_points(), header.points);
        longest = longest.max(header.points);
    }
    assert!(longest > 2000, "{longest}");
}

/// Nobody knows which time a thread comes to an access matters, so it is not always kept waiting at the first.
#[test]
fn directed_runs_differ_in_where_they_hold_a_thread() {
    let source = r#"
static int done;
THREAD(writer) {
    usleep(3000);
    __atomic_store_n(&done, 1, __ATOMIC_RELAXED); //@store
    return NULL;
}
int main(void) {
    int looks = 0;
    pthread_t thread = start(writer, NULL);
    while (looks < 40 && !__atomic_load_n(&done, __ATOMIC_RELAXED)) //@look
        looks++;
    pthread_join(thread, NULL);
    printf("%d\n", looks);
    return 0;
}
"#;
    // Six of ten runs hold it at the first look: all of these in one of four million tries, and none in one of nine hundred thousand million.
    let looks = |seed| forced(c(source), "store", "look", seed).run_well().stdout();
    let counts: BTreeSet<String> = (1..=30).map(looks).collect();
    assert!(counts.len() > 1 && counts.contains("0\n"), "{counts:?}");
}

/// All who work count themselves out, and the last one tells that nobody is left. Whoever is the first to do so is not the one who goes on to tell.
#[test]
fn another_thread_may_be_the_one_that_goes_on() {
    let source = r#"
#include <stdatomic.h>
static _Atomic int working = 3, told;
THREAD(work) {
    if (atomic_fetch_sub(&working, 1) == 1) //@leave
        atomic_store(&told, 1); //@tell
    return NULL;
}
int main(void) {
    pthread_t threads[3];
    int seen = atomic_load(&working); //@look
    for (int i = 0; i < 3; i++)
        threads[i] = start(work, NULL);
    seen += atomic_load(&told); //@ask
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    return seen < 3;
}
"#;
    let program = c(source);
    let process = program.record();
    let [look, leave, tell, ask] = ["look", "leave", "tell", "ask"].map(|marker| step(&process, marker));
    drop(process);
    let interleaving = format!("enforce:1.0@{look};2.0@{leave};2.1@{tell};1.1@{ask}");
    let plan = format!("seed=1,schedule=random,interleaving={interleaving}");
    let program = program.plan(&plan).with_own_recordings();
    assert_eq!(program.run_well().recordings[0].header.interleavings, 1);
}

/// Who has looked may go on to the barrier without a store, and keeps the others out until they have waited long enough, or nobody else can
/// run. They come in one by one then, too.
#[test]
fn who_has_waited_long_enough_does_not_break_in_with_another_who_has() {
    let source = r#"
#include <barrier>
#include <thread>
#include <vector>
// Not captured, which takes accesses of its own in the same lines.
static int best, scores[3];
int main() {
    std::barrier meeting(3);
    {
        std::vector<std::jthread> threads;
        for (int own = 0; own < 3; own++)
            threads.emplace_back([&, own] {
                for (int round = 0; round < 3; round++) {
                    scores[own] += own + round;
                    meeting.arrive_and_wait();
                    int seen = __atomic_load_n(&best, __ATOMIC_SEQ_CST); //@look
                    if (scores[own] > seen)
                        __atomic_store_n(&best, scores[own], __ATOMIC_SEQ_CST); //@store
                    meeting.arrive_and_wait();
                }
            });
    }
    printf("%d\n", best);
}
"#;
    let mut program = Compiler::cpp().flags("-O1 -std=c++20").program(source);
    let process = program.record();
    let [look, store] = ["look", "store"].map(|marker| step(&process, marker));
    drop(process);
    let forbidden = format!("interleaving=forbid:1.0@{look};2.0@{store};1.0@{store}");
    program = program.with_own_recordings();
    let mut broken = Vec::new();
    for seed in 1..=40 {
        program = program.plan(&format!("seed={seed},schedule=random,{forbidden}"));
        let out = program.run_well().stdout();
        broken.extend((out != "9\n").then(|| format!("{seed}: {out}")));
    }
    assert!(broken.is_empty(), "{broken:?}");
}
