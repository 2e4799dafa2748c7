//! What is said about a finding: values, names, threads, advice.

use serde_json::{Value, json};

use crate::kit::{UNSNARL, Workplace};

/// Every second run looks at the door before it is opened.
const EARLY: &str = r#"
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

enum state { CLOSED, OPEN };
static struct { enum state state; const char *sign; } doors[2];
static pthread_barrier_t seen;
static int early;

static void *close_door(void *unused)
{
    doors[1].state = CLOSED;
    return unused;
}

static void *open_door(void *unused)
{
    if (early)
        pthread_barrier_wait(&seen);
    doors[1].state = OPEN; /* write */
    return unused;
}

static int is_open(void)
{
    return doors[1].state == OPEN; /* read */
}

int main(void)
{
    pthread_t thread;
    int was_open;

    early = access("turn", F_OK) == 0;
    if (early)
        unlink("turn");
    else
        close(open("turn", O_CREAT | O_WRONLY, 0644));
    pthread_barrier_init(&seen, 0, 2);
    pthread_create(&thread, 0, close_door, 0);
    pthread_join(thread, 0);
    pthread_create(&thread, 0, open_door, 0); /* create */
    if (!early)
        pthread_join(thread, 0);
    was_open = is_open();
    if (early) {
        pthread_barrier_wait(&seen);
        pthread_join(thread, 0);
    }
    return was_open & is_open() ? 0 : 1;
}
"#;

fn line_of(marker: &str) -> usize {
    EARLY.lines().position(|line| line.contains(&format!("/* {marker} */"))).unwrap() + 1
}

#[test]
fn values_read_as_their_types_and_threads_say_who_they_are() {
    let place = Workplace::new();
    place.write("early.c", EARLY);
    place.call("cc -O1 -g -fno-inline -pthread early.c -o early").exits(0);
    place.call("run --runs 8 --jobs 1 -- ./early").exits(0).says(&[
        "doors[1].state",
        "read CLOSED",
        "CLOSED → OPEN",
    ]);
    let report = place.call("report --json").exits(0).json();
    let first = &report["findings"][0];
    assert_eq!(first["pattern"], "RW", "{first:#}");
    let [read, write] = [0, 1].map(|nth| &first["accesses"][nth]);
    assert_eq!((&read["line"], &write["line"]), (&json!(line_of("read")), &json!(line_of("write"))));
    assert_eq!((&read["value"], &read["shown"], &read["old"]), (&json!("0"), &json!("CLOSED"), &json!(null)));
    assert_eq!(
        (&write["value"], &write["shown"], &write["old"]),
        (&json!("1"), &json!("OPEN"), &json!("CLOSED"))
    );
    let created_at = format!("early.c:{}", line_of("create"));
    let [main, other] = [0, 1].map(|nth| &first["threads"][nth]);
    assert_eq!(*main, json!({ "thread": 1, "start": "main" }));
    assert_eq!((&other["start"], &other["created_at"]), (&json!("open_door"), &json!(created_at)));
    let story = first["story"].as_str().unwrap();
    assert!(
        story.contains("and finds CLOSED. Then thread 2 changes it from CLOSED to OPEN in open_door()"),
        "{story}"
    );
}

/// Every second run sleeps and looks before the work is done.
const SLEEPER: &str = r#"
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t seen;
static int early, done;

static void *work(void *unused)
{
    for (int i = 0; i < 3; i++) {
        if (early && i == 2)
            pthread_barrier_wait(&seen);
        pthread_mutex_lock(&lock);
        done++; /* write */
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

int main(void)
{
    pthread_t thread;
    int all;

    early = access("turn", F_OK) == 0;
    if (early)
        unlink("turn");
    else
        close(open("turn", O_CREAT | O_WRONLY, 0644));
    pthread_barrier_init(&seen, 0, 2);
    pthread_create(&thread, 0, work, 0);
    usleep(20000); /* sleep */
    if (!early)
        pthread_join(thread, 0);
    pthread_mutex_lock(&lock);
    all = done == 3; /* read */
    pthread_mutex_unlock(&lock);
    if (early) {
        pthread_barrier_wait(&seen);
        pthread_join(thread, 0);
    }
    return all ? 0 : 1;
}
"#;

#[test]
fn who_sleeps_in_place_of_waiting_is_told_so() {
    let place = Workplace::new();
    place.write("sleeper.c", SLEEPER);
    place.call("cc -O1 -g -pthread sleeper.c -o sleeper").exits(0);
    place.call("run --runs 8 --jobs 1 -- ./sleeper").exits(0);
    let report = place.call("report --json").exits(0).json();
    let first = &report["findings"][0];
    let line = |marker: &str| {
        SLEEPER.lines().position(|line| line.contains(&format!("/* {marker} */"))).unwrap() + 1
    };
    assert_eq!(first["pattern"], "RW", "{first:#}");
    let slept = format!(
        "thread 1 slept at sleeper.c:{} for 20ms instead of waiting for thread 2, which may take longer",
        line("sleep")
    );
    assert_eq!(first["evidence"][0], slept.as_str(), "{first:#}");
    let [read, write, sleep] = ["read", "write", "sleep"].map(line);
    let advice = format!(
        "Let sleeper.c:{read} in main() wait until sleeper.c:{write} in work() is done, for the end of that thread or for a \
         condition that it signals, and do not sleep at sleeper.c:{sleep} in the hope that it will be."
    );
    assert_eq!((&first["advice"], &first["fix"]["action"]), (&json!(advice), &json!("wait")), "{first:#}");
}

/// Whether there is room is asked in one critical section, and used in another.
const ROOM: &str = r#"
#include <pthread.h>
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int seats[2], next;
static void sit_down(int who) {
    pthread_mutex_lock(&lock);
    int taken = seats[0]; // asked
    pthread_mutex_unlock(&lock);
    if (taken)
        return;
    pthread_mutex_lock(&lock);
    seats[next++] = who; // used
    pthread_mutex_unlock(&lock);
}
static void *guest(void *who) { sit_down(*(int *)who); return 0; }
int main(void) {
    pthread_t guests[2];
    int names[2] = { 1, 2 };
    for (int i = 0; i < 2; i++)
        pthread_create(&guests[i], 0, guest, &names[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(guests[i], 0);
    return seats[1] != 0;
}
"#;

#[test]
fn twins_keep_the_lock_instead_of_waiting_for_each_other() {
    let place = Workplace::new();
    place.compile(&format!("{UNSNARL} cc"), "room", ROOM);
    // The seed decides which runs fail.
    place.call("run --schedule random --runs 30 --seed 1 -- ./room").exits(0);
    let report = place.call("report --technique falcon --json").exits(0).json();
    let line = |marker: &str| ROOM.lines().position(|line| line.ends_with(marker)).unwrap() as u64 + 1;
    let lines = [line("// asked"), line("// used")];
    let is_meant = |finding: &&Value| {
        let accesses = finding["accesses"].as_array().unwrap();
        finding["pattern"] == "RW" && accesses.iter().map(|access| &access["line"]).eq(lines)
    };
    let findings = report["findings"].as_array().unwrap();
    let finding = findings.iter().find(is_meant).unwrap_or_else(|| panic!("{report:#}"));
    assert_eq!(finding["fix"]["action"], "extend-lock", "{finding:#}");
    let place = &finding["fix"]["places"][0];
    assert_eq!([&place["first_line"], &place["last_line"]], lines);
}

/// Every second run uses a service that has been made, but not set up yet.
const PREMATURE: &str = r#"
#include <atomic>
#include <cstdlib>
#include <fcntl.h>
#include <mutex>
#include <new>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>

struct Service { int calls[4]; int timeout; };
static Service *current;
static std::once_flag opened;
static std::atomic<int> is_open, is_used;

static void set_up(bool early)
{
    std::call_once(opened, [] {
        void *room = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        current = new (room) Service();
        is_open = 1;
    });
    while (early && !is_used)
        std::this_thread::yield();
    current->timeout = 30;
    is_used = 1;
}

static int use(Service *service)
{
    return service->timeout;
}

int main()
{
    bool early = access("turn", F_OK) == 0;
    if (early)
        unlink("turn");
    else
        close(open("turn", O_CREAT | O_WRONLY, 0644));
    std::thread thread(set_up, early);
    while (!(early ? is_open : is_used))
        std::this_thread::yield();
    if (use(current) == 0)
        _exit(1);
    thread.join();
}
"#;

#[test]
fn what_is_made_unmentioned_is_named_by_who_reads_it_and_stacks_are_the_programs_own() {
    let place = Workplace::new();
    place.write("premature.cpp", PREMATURE);
    place.call("c++ -O1 -g -pthread premature.cpp -o premature").exits(0);
    place
        .call("run --runs 4 --jobs 1 --schedule free --technique falcon --json r.json -- ./premature")
        .exits(0);
    let report: Value = serde_json::from_slice(&std::fs::read(place.path("r.json")).unwrap()).unwrap();
    let accesses: Vec<&Value> = report["findings"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|finding| finding["accesses"].as_array().unwrap())
        .collect();
    assert!(accesses.iter().any(|access| access["variable"] == "service->timeout"), "{accesses:#?}");
    let frames = accesses.iter().flat_map(|access| access["stack"].as_array().unwrap());
    let files: Vec<&str> = frames.filter_map(|frame| frame["file"].as_str()).collect();
    assert!(files.iter().any(|file| file.ends_with("premature.cpp")), "{files:?}");
    assert!(!files.iter().any(|file| file.contains("native-runtime") || file.contains("nptl")), "{files:?}");
}
