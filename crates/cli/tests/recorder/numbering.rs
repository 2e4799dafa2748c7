//! How far a thread has come, by a count that does not depend on what others did before.

use std::collections::BTreeSet;

use recording::{Course, ENV_SCHEDULE, EventKind, Numbering, Recording, SavedSchedule, Site, Switch};

use crate::control::{MANY_WAYS, controlled};
use crate::kit::{Program, c};

/// Where bytes that several threads use are accessed.
fn sites(recording: &Recording) -> Vec<Site> {
    use EventKind::{LastRead, LastWrite, Read, Update, Within, Write};
    let is_access = |kind: EventKind| matches!(kind, Read | Write | Update | LastRead | LastWrite | Within);
    let accesses = recording.events.iter().filter(|event| is_access(event.kind));
    let sites = accesses.map(|event| {
        let (_, address) = recording.resolve_leaf(event.event.leaf).unwrap();
        let module = &recording.modules[recording.module_of_code(address).unwrap()];
        Site::new(&module.build_id, address - module.bias).unwrap()
    });
    sites.collect::<BTreeSet<Site>>().into_iter().collect()
}

fn following(program: Program, course: Course<'_>) -> Program {
    let mut schedule = Vec::new();
    SavedSchedule::write(course, u64::MAX, None, &mut schedule);
    let file = program.folder().join(format!("schedule-{:?}", course.numbering));
    std::fs::write(&file, schedule).unwrap();
    program.env(ENV_SCHEDULE, file).plan("seed=1,schedule=bounded").with_own_recordings()
}

/// Thread 2 writes each cell twice and thread 3 once. Whose they are when thread 2 comes to them depends on who was first.
const CELLS: &str = r#"
volatile int cells[50];
THREAD(twice) {
    for (int i = 0; i < 100; i++)
        cells[i % 50] = 2;
    return NULL;
}
THREAD(once) {
    for (int i = 0; i < 50; i++)
        cells[i] = 3;
    return NULL;
}
int main(void) {
    pthread_t one = start(twice, NULL), other = start(once, NULL);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    int last = 0;
    for (int i = 0; i < 50; i++)
        last += cells[i] == 2;
    printf("%d\n", last);
    return 0;
}
"#;

/// How many cells thread 2 was the last to write.
fn last_written(legs: &[(u32, u32)]) -> u32 {
    printed(CELLS, legs)
}

/// The number that a program prints whose threads run one after the other.
fn printed(source: &str, legs: &[(u32, u32)]) -> u32 {
    by(source, legs).run_well().stdout().trim().parse().unwrap()
}

/// A program whose threads run one after the other, each as far as it is given.
fn by(source: &str, legs: &[(u32, u32)]) -> Program {
    let program = controlled(source, 1);
    let sites = sites(&program.run_well().recordings[0]);
    let (mut switches, mut before) = (Vec::new(), (0, 0));
    for &leg in legs {
        switches.push(Switch { to: leg.0, from: before.0, stop: before.1, flags: 0 });
        before = leg;
    }
    let course = Course { numbering: Numbering::Progress, sites: &sites, ..Course::recorded(&switches, 1) };
    following(program, course)
}

const FOREVER: u32 = Switch::AS_LONG_AS_IT_CAN;

#[test]
fn a_thread_is_held_at_the_same_place_whoever_was_there_before() {
    let held_at = |progress: u32, first: u32| {
        last_written(&[(1, FOREVER), (3, first), (2, progress), (3, FOREVER), (2, FOREVER)])
    };
    // In the second round all cells are the thread's own, unless the other one has been there.
    let alone = held_at(75, 0);
    assert!((20..=30).contains(&alone), "{alone}");
    assert_eq!(held_at(76, 0), alone - 1, "every step can be the last");
    assert_eq!(held_at(77, 0), alone - 2);
    // The other one has done one thing less than it has come: it has begun. What it wrote before is written over.
    assert_eq!(held_at(75, 10), alone + 9);
    assert_eq!(held_at(76, 10), alone - 1 + 9);
}

#[test]
fn who_has_come_so_far_already_does_not_run() {
    let held_at = |progress: u32| {
        last_written(&[(1, FOREVER), (2, 75), (3, 20), (2, progress), (3, FOREVER), (2, FOREVER)])
    };
    let here = held_at(75);
    assert_eq!(here, last_written(&[(1, FOREVER), (2, 75), (3, FOREVER), (2, FOREVER)]));
    assert_eq!(held_at(76), here - 1);
}

/// Thread 2 looks a thousand times at most, and sleeps in between, for what thread 3 does.
const POLLING: &str = r#"
#include <unistd.h>
volatile int done;
static int looks;
THREAD(look) {
    while (looks < 1000 && !done) {
        looks++;
        usleep(100);
    }
    return NULL;
}
THREAD(finish) {
    done = 1;
    return NULL;
}
int main(void) {
    pthread_t one = start(look, NULL), other = start(finish, NULL);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    printf("%d\n", looks);
    return 0;
}
"#;

#[test]
fn who_sleeps_to_look_again_lets_others_run_meanwhile() {
    let looks = printed(POLLING, &[(1, FOREVER), (2, FOREVER), (3, FOREVER)]);
    // A sleep or two may come before what it is to do.
    assert!((2..=10).contains(&looks), "{looks}");
}

/// Thread 2 fills four cells that nobody else has used by then, in an order of its own, and thread 3 looks at them.
const FILLED: &str = r#"
volatile int cells[4];
THREAD(fill) {
    cells[2] = 1;
    cells[0] = 1;
    cells[3] = 1;
    cells[1] = 1;
    return NULL;
}
THREAD(look) {
    return (void *)(long)(cells[0] + cells[1] + cells[2] + cells[3]);
}
int main(void) {
    pthread_t one = start(fill, NULL), other = start(look, NULL);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    return 0;
}
"#;

#[test]
fn what_a_thread_does_to_bytes_of_its_own_is_in_order() {
    let program = by(FILLED, &[(1, FOREVER), (2, FOREVER), (3, FOREVER)]);
    let recording = &program.run_well().recordings[0];
    let writes = recording.events.iter().filter(|event| event.kind == EventKind::LastWrite);
    let mut placed: Vec<(u64, u64)> =
        writes.map(|event| (recording.resolve_leaf(event.event.leaf).unwrap().1, event.event.tick)).collect();
    placed.sort_unstable();
    assert_eq!(placed.len(), 4, "{placed:?}");
    assert!(placed.is_sorted_by(|(_, tick), (_, next)| tick < next), "{placed:?}");
}

/// What each thread did with what, in which order; what is in the midst of a turn and closes one is written down later.
fn doings(recording: &Recording) -> Vec<(u32, EventKind, u32)> {
    let told = recording.events.iter().filter(|event| !event.is_stamped() && event.kind != EventKind::Switch);
    told.map(|event| (event.thread, event.kind, event.event.object)).collect()
}

#[test]
fn a_recorded_schedule_is_the_same_by_progress() {
    for schedule in ["random", "pct", "pos"] {
        let program = c(MANY_WAYS).plan(&format!("seed=1,schedule={schedule}"));
        let first = program.run_well().recordings.remove(0);
        let sites = sites(&first);
        let (switches, seed) = (first.switches(), first.header.seed);
        let course = Course {
            numbering: Numbering::FromStopsToProgress,
            sites: &sites,
            ..Course::recorded(&switches, seed)
        };
        let program = following(program, course);
        let second = program.run_well().recordings.remove(0);
        assert!(doings(&first) == doings(&second), "{schedule}");
        let switches = second.switches();
        assert!(switches != first.switches(), "its stops have other numbers");
        let course =
            Course { numbering: Numbering::Progress, sites: &sites, ..Course::recorded(&switches, seed) };
        let third = following(program, course).run_well().recordings.remove(0);
        assert!(doings(&first) == doings(&third), "{schedule}");
    }
}
