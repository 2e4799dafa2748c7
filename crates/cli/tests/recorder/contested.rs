//! Beyond the budget, locations that threads fight for by atomic operations.

use std::collections::BTreeSet;
use std::fs::{self, File};

use recording::{CONTESTED, EventKind, Location, Recording, ThreadEvent};

use crate::history::Process;
use crate::kit::c;

const LITTLE_BUDGET: &str = "seed=1,noise=off,budget=16384";

/// The last location of a variable, with its number.
fn location_of<'p>(process: &'p Process<'_>, variable: &str) -> (u32, &'p Location) {
    let address = process.address(variable);
    let found = process.lasting_locations().filter(|(_, location)| location.address == address).last();
    found.expect("the variable is shared")
}

/// Events of a location in their order, gaps included.
fn events_of(process: &Process<'_>, location: u32) -> Vec<ThreadEvent> {
    let is_of = |event: &&ThreadEvent| {
        (event.kind.is_access() || event.kind == EventKind::Gap) && event.event.object == location
    };
    process.recording.events.iter().filter(is_of).copied().collect()
}

/// Who drew which ticket is known from the program itself: handovers that are kept have happened just so, and the newest is among them. All
/// three draw between two barriers, so that there are two handovers at least each time, however busy the machine is.
#[test]
fn what_is_kept_of_a_fight_is_what_happened() {
    let program = c(r#"
enum { THREADS = 3, DRAWN = 20000 };
uint32_t ticket;
char drawer[THREADS * DRAWN + 1];
pthread_barrier_t together;
static void *draw(void *argument) {
    for (int i = 0; i < DRAWN; i++) {
        drawer[__atomic_fetch_add(&ticket, 1, __ATOMIC_RELAXED)] = *(char *)argument;
        if (i % 32 == 0)
            pthread_barrier_wait(&together);
    }
    return NULL;
}
int main(void) {
    pthread_t threads[THREADS];
    char names[] = "abc";
    pthread_barrier_init(&together, NULL, THREADS);
    for (int i = 0; i < THREADS; i++)
        threads[i] = start(draw, &names[i]);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    puts(drawer);
    return 0;
}
"#)
    .plan(LITTLE_BUDGET);
    let finished = program.run_well();
    let output = finished.stdout();
    let drawers = output.trim().as_bytes();
    assert_eq!(drawers.len(), 60_000);
    let process = finished.only_process();
    let (number, location) = location_of(&process, "ticket");
    assert_ne!(location.lock & CONTESTED, 0, "it has become contested");

    let first_id = process.thread_id("draw");
    let name_of = |thread: u32| b'a' + (thread - first_id) as u8;
    let events = events_of(&process, number);
    let mut checked = 0;
    for pair in events.windows(2) {
        let [last, next] = [&pair[0], &pair[1]];
        if next.kind != EventKind::Update {
            continue;
        }
        let value = next.event.value as usize;
        assert_eq!(drawers[value], name_of(next.actor()), "who drew {value}");
        if last.kind == EventKind::LastWrite && last.actor() != next.actor() {
            assert_eq!(drawers[value - 1], name_of(last.actor()), "who drew the one before {value}");
            checked += 1;
        }
    }
    assert!(checked > 3, "{checked} handovers");
    let newest = (1..drawers.len()).rev().find(|&at| drawers[at] != drawers[at - 1]).expect("a handover");
    let is_newest =
        |event: &ThreadEvent| event.kind == EventKind::Update && event.event.value == newest as u64;
    assert!(events.iter().any(is_newest), "the handover to {newest} is kept");
    let end = events.last().expect("events");
    assert_eq!((end.kind, name_of(end.actor())), (EventKind::LastWrite, drawers[59_999]));
}

/// The same is kept of a location that is contested and of one that no longer is, since a plain access came to it.
#[test]
fn what_is_kept_does_not_depend_on_how() {
    let history_with = |plain_at: &str| {
        let program = c(&r#"
uint32_t shared, sink;
THREAD(worker) {
    sink += __atomic_load_n(&shared, __ATOMIC_ACQUIRE); //@look
    __atomic_fetch_add(&shared, 1, __ATOMIC_RELAXED); //@worker
    return NULL;
}
THREAD(once) {
    shared++; //@once
    return NULL;
}
THREAD(reader) {
    sink += __atomic_load_n(&shared, __ATOMIC_ACQUIRE); //@reader
    return NULL;
}
int main(void) {
    for (int i = 0; i < 1000; i++) {
        __atomic_fetch_add(&shared, 1, __ATOMIC_RELAXED); //@main
        if (i == PLAIN_AT)
            in_thread(once);
        if (i == 700) {
            in_thread(reader);
            in_thread(reader);
        }
        in_thread(worker);
    }
    return 0;
}
"#
        .replace("PLAIN_AT", plain_at))
        .plan(LITTLE_BUDGET);
        let process = program.record();
        let is_contested = location_of(&process, "shared").1.lock & CONTESTED != 0;
        (is_contested, process.history("shared").replace(char::is_numeric, ""))
    };
    let (is_contested, fought_for) = history_with("-1");
    assert!(is_contested);
    let (is_contested, ordinary) = history_with("600");
    assert!(!is_contested);

    // The plain access ends what is contested, and is seen between those before and after it.
    let around_once = "main r@main w@main | once R@once W@once w@once | worker R@look";
    assert!(remove_twins(&ordinary).contains(around_once), "{ordinary}");
    let late = |history: &str| history.split_once(" | reader ").map(|(_, late)| late.to_owned());
    assert!(late(&ordinary).is_some_and(|late| late.contains("reader")), "{ordinary}");
    assert_eq!(late(&fought_for), late(&ordinary));
}

/// What ended by two accesses is kept with each of them.
fn remove_twins(history: &str) -> String {
    history.replace("r@main w@main r@main w@main", "r@main w@main")
}

/// Killed in the midst of a fight, again and again: what is on record of who drew which ticket is what the program has noted in
/// a file of its own, as far as it came to that.
#[test]
fn killed_in_the_midst_of_a_fight() {
    let program = c(r#"
enum { THREADS = 3, MOST = 1 << 28 };
uint32_t ticket;
static char *drawer;
__attribute__((no_sanitize("thread"))) static void note(uint32_t drawn, char name) {
    drawer[drawn] = name;
}
/* Without this, a busy machine may let one thread draw for so long that there is no fight. */
__attribute__((no_sanitize("thread"))) static void let_another_draw(uint32_t drawn) {
    for (int looks = 0; looks < 1000 && ((volatile char *)drawer)[drawn + 1] == 0; looks++)
        sched_yield();
}
static void *draw(void *argument) {
    char name = *(char *)argument;
    for (uint32_t drawn = 0; drawn < MOST - THREADS;) {
        drawn = __atomic_fetch_add(&ticket, 1, __ATOMIC_RELAXED);
        note(drawn, name);
        if (drawn % 8 == 0)
            let_another_draw(drawn);
    }
    return NULL;
}
int main(void) {
    int file = open("drawers", O_RDWR | O_CREAT | O_TRUNC, 0600);
    CHECK(ftruncate(file, MOST) == 0);
    drawer = mmap(NULL, MOST, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    char names[] = "abc";
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        threads[i] = start(draw, &names[i]);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
"#)
    .plan(LITTLE_BUDGET);
    for _ in 0..10 {
        let program = &program;
        let is_contested = |recordings: &[Recording]| {
            recordings.iter().any(|it| it.locations.iter().any(|location| location.lock & CONTESTED != 0))
        };
        let finished = program.start(&[]).kill_once("it is contested", is_contested);
        finished.expect_signal(libc::SIGKILL);
        let process = finished.only_process();
        let (number, _) = location_of(&process, "ticket");
        let file = File::open(program.folder().join("drawers")).expect("the program's own file");
        // SAFETY: the program has ended, and nobody else knows the file.
        let drawers = unsafe { memmap2::Mmap::map(&file) }.expect("it can be mapped");
        let first_id = process.thread_id("draw");
        let name_of = |thread: u32| b'a' + (thread - first_id) as u8;
        let events = events_of(&process, number);
        let mut checked = 0;
        for (at, event) in events.iter().enumerate().filter(|(_, it)| it.kind == EventKind::Update) {
            let value = event.event.value as usize;
            // What each thread drew last it may not have come to note.
            if drawers[value] != 0 {
                assert_eq!(drawers[value], name_of(event.actor()), "who drew {value}");
                checked += 1;
            }
            if let Some(last) = at.checked_sub(1).map(|before| &events[before])
                && last.kind == EventKind::LastWrite
                && last.actor() != event.actor()
                && drawers[value - 1] != 0
            {
                assert_eq!(drawers[value - 1], name_of(last.actor()), "who drew the one before {value}");
            }
        }
        assert!(checked > 3, "{checked} of {} events", events.len());
        fs::remove_dir_all(program.directory()).expect("recordings can be removed");
        fs::create_dir(program.directory()).expect("there is room for the next");
    }
}

/// Whichever instruction of an operation is its last, nobody is on record with another's access. The program goes through the operation
/// instruction by instruction, and stops at each.
#[cfg(target_arch = "x86_64")]
#[test]
fn wherever_an_operation_is_cut_short() {
    let program = c(r#"
uint32_t shared;
static volatile int steps;
__attribute__((no_sanitize("thread"))) static void stop(int signal) {
    (void)signal;
    steps++;
    syscall(SYS_kill, getpid(), SIGSTOP);
}
#define STEP(on) __asm__ volatile( \
    "lea -128(%%rsp), %%rsp; pushfq; andq $~0x100, (%%rsp); orq %0, (%%rsp); popfq; lea 128(%%rsp), %%rsp" \
    : : "r"((on) ? 0x100ul : 0ul) : "memory", "cc")
THREAD(worker) {
    __atomic_fetch_add(&shared, 1, __ATOMIC_RELAXED); //@worker
    return NULL;
}
int main(void) {
    signal(SIGTRAP, stop);
    for (int i = 0; i < 1000; i++) {
        __atomic_fetch_add(&shared, 1, __ATOMIC_RELAXED); //@main
        in_thread(worker);
    }
    STEP(1);
    __atomic_fetch_add(&shared, 1, __ATOMIC_RELAXED); //@stepped
    STEP(0);
    CHECK(steps > 50);
    return 0;
}
"#)
    .plan(LITTLE_BUDGET);
    // Main's thread, and the leaf, of each access on record.
    let mut at_stops = Vec::new();
    program.start(&[]).look_at_each_stop(|recordings| {
        let [recording] = recordings else { panic!("{} recordings", recordings.len()) };
        assert_eq!(recording.damage, []);
        let contested = recording.locations.iter().position(|it| it.lock & CONTESTED != 0);
        let contested = contested.expect("it is contested") as u32;
        let accesses =
            recording.events.iter().filter(|it| it.kind.is_access() && it.event.object == contested);
        at_stops.push(accesses.map(|it| (it.actor() == 1, it.event.leaf)).collect::<BTreeSet<_>>());
    });
    let whole = [&at_stops[0], &at_stops[at_stops.len() - 1]];
    assert_ne!(whole[0], whole[1], "the operation is on record in the end");
    for (step, accesses) in at_stops.iter().enumerate() {
        let strange: Vec<_> =
            accesses.iter().filter(|access| whole.iter().all(|it| !it.contains(access))).collect();
        assert!(strange.is_empty(), "after {step} of {} steps: {strange:?}", at_stops.len());
    }
}
