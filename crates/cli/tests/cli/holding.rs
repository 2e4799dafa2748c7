//! Where threads are held back to force or to forbid an interleaving, so that what they wait for can happen meanwhile.
//! Runs are controlled and seeds are fixed, so that nothing here depends on chance.

use serde_json::Value;

use crate::kit::{UNSNARL, Workplace};

/// A Rust program, built for the recorder: its place and its path.
fn rust(source: &str) -> (Workplace, String) {
    let place = Workplace::new();
    let manifest = "[package]\nname = \"held\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[workspace]\n";
    place.write("Cargo.toml", manifest);
    place.write("src/main.rs", source);
    place.call("cargo build --offline --quiet").exits(0);
    let program = place.shell("ls target/unsnarl/*/debug/held").trim().to_owned();
    (place, program)
}

/// Both can hold the lock for reading when one of them is to be kept from making what the other is about to make: then
/// it is too late. It is held back before it reads.
#[test]
fn readers_are_kept_apart_before_they_read() {
    let source = r#"
use std::sync::RwLock;
use std::sync::atomic::{AtomicUsize, Ordering};
static PAGES: [RwLock<u32>; 2] = [const { RwLock::new(0) }; 2];
static MADE: AtomicUsize = AtomicUsize::new(0);
#[inline(never)]
fn is_missing(page: &RwLock<u32>) -> bool {
    *page.read().unwrap() == 0
}
#[inline(never)]
fn make(page: &RwLock<u32>) {
    *page.write().unwrap() = 1;
}
fn view() {
    for page in &PAGES {
        if is_missing(page) {
            make(page);
            MADE.fetch_add(1, Ordering::Relaxed);
        }
    }
}
fn main() {
    std::thread::scope(|scope| [scope.spawn(view), scope.spawn(view)].map(drop));
    std::process::exit(i32::from(MADE.load(Ordering::Relaxed) != PAGES.len()));
}
"#;
    let (place, program) = rust(source);
    place.call(&format!("run --session pages --schedule random --runs 40 --seed 3 -- {program}")).exits(0);
    let report = place.call("report --json").exits(0).json();
    let is_cause = |finding: &Value| {
        finding["pattern"] == "RWW"
            && finding["accesses"][0]["function"].as_str().unwrap().ends_with("is_missing")
    };
    let number = 1 + report["findings"].as_array().unwrap().iter().position(is_cause).unwrap();
    let seen = place.call(&format!("confirm {number}")).exits(0);
    assert!(seen.stdout.contains("forbidden: 0 of "), "{}", seen.stdout);
}

/// The one who sends has to tell of its progress before the other hangs up: held back as soon as it has sent, it
/// would wait forever.
#[test]
fn what_lies_between_two_steps_is_done_if_others_wait_for_it() {
    let source = r#"
#include <pthread.h>
#include <sched.h>
#include <unistd.h>
static int tail, progress;
static int send(void) {
    if (__atomic_load_n(&tail, __ATOMIC_SEQ_CST) & 1)
        return 0;
    __atomic_fetch_add(&tail, 2, __ATOMIC_SEQ_CST);
    return 1;
}
static void *sender(void *argument) {
    for (int i = 0; i < 8; i++) {
        send();
        __atomic_store_n(&progress, i + 1, __ATOMIC_SEQ_CST);
    }
    if (!send())
        _exit(1);
    return argument;
}
static void *receiver(void *argument) {
    while (__atomic_load_n(&progress, __ATOMIC_SEQ_CST) < 8)
        sched_yield();
    __atomic_fetch_or(&tail, 1, __ATOMIC_SEQ_CST);
    return argument;
}
int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], 0, sender, 0);
    pthread_create(&threads[1], 0, receiver, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
    return 0;
}
"#;
    let place = Workplace::new();
    place.compile(&format!("{UNSNARL} cc"), "late", source);
    place.call("run --session late --schedule random --runs 60 --seed 3 -- ./late").exits(0);
    let report = place.call("report --json").exits(0).json();
    let findings = report["findings"].as_array().unwrap();
    let number = 1 + findings.iter().position(|finding| finding["pattern"] == "WWR").unwrap();
    let seen = place.call(&format!("confirm {number}")).exits(0);
    assert!(seen.stdout.starts_with("confirmed"), "{}", seen.stdout);
}

/// A program that waits for one flag after the other, each at a condition variable of its own of the standard library,
/// whose insides have no hooks.
fn waiting(notify: &str) -> (Workplace, String) {
    let source = r#"
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex};
static REACHED: AtomicUsize = AtomicUsize::new(0);
static DONE: [AtomicBool; 16] = [const { AtomicBool::new(false) }; 16];
static LOCK: Mutex<()> = Mutex::new(());
static CHANGED: [Condvar; 16] = [const { Condvar::new() }; 16];
fn wait() {
    for (done, changed) in DONE.iter().zip(&CHANGED) {
        REACHED.fetch_add(1, Ordering::SeqCst);
        let mut guard = LOCK.lock().unwrap();
        while !done.load(Ordering::SeqCst) {
            guard = changed.wait(guard).unwrap();
        }
    }
}
fn notify() {
    for (number, (done, changed)) in DONE.iter().zip(&CHANGED).enumerate() {
        while REACHED.load(Ordering::SeqCst) <= number {
            std::thread::yield_now();
        }
        NOTIFY
    }
}
fn main() {
    std::thread::scope(|scope| [scope.spawn(wait), scope.spawn(notify)].map(drop));
}
"#;
    rust(&source.replace("NOTIFY", notify))
}

/// With the mutex in hand, nobody can come between the look at the flag and the wait.
#[test]
fn no_signal_is_missed_under_the_mutex() {
    let (place, program) = waiting(
        "let _guard = LOCK.lock().unwrap(); done.store(true, Ordering::SeqCst); changed.notify_all();",
    );
    place.call(&format!("run --session heard --schedule random --runs 30 --seed 3 -- {program}"));
    assert!(place.outcomes("heard").iter().all(|outcome| outcome == "pass"));
}

/// The compiler has put eight copies of the loop's body one after the other. Which of the calls finds the entry empty is luck, so that
/// forcing one of them alone often brings nothing about.
#[test]
fn all_copies_of_a_step_are_the_step() {
    let source = r#"
#include <pthread.h>
static int length, entries[8], is_empty;
static void *append(void *argument) {
    for (int i = 0; i < 6; i++) {
        int at = __atomic_fetch_add(&length, 1, __ATOMIC_SEQ_CST);
        __atomic_store_n(&entries[at], 7, __ATOMIC_SEQ_CST);
    }
    return argument;
}
static __attribute__((noinline)) void look(void) {
    int at = __atomic_load_n(&length, __ATOMIC_SEQ_CST);
    if (at > 0 && __atomic_load_n(&entries[at - 1], __ATOMIC_SEQ_CST) == 0)
        is_empty = 1;
}
static void *watch(void *argument) {
#pragma GCC unroll 8
    for (int i = 0; i < 8; i++)
        look();
    return argument;
}
int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], 0, append, 0);
    pthread_create(&threads[1], 0, watch, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
    return is_empty;
}
"#;
    let place = Workplace::new();
    place.compile(&format!("{UNSNARL} cc -O2"), "copies", source);
    place.call("run --session copies --schedule random --runs 60 --seed 3 -- ./copies").exits(0);
    let report = place.call("report --json").exits(0).json();
    let findings = report["findings"].as_array().unwrap();
    let number = 1 + findings.iter().position(|finding| finding["pattern"] == "WRRW").unwrap();
    place.call(&format!("confirm {number}")).exits(0);
    let report = place.call("report --json").exits(0).json();
    let confirmation = &report["findings"][number - 1]["confirmation"];
    assert_eq!(confirmation["came_about"], confirmation["enforced"]["runs"], "{confirmation}");
}

/// Whoever has taken the list takes one session after the other: until it has given the list back, nobody else may begin.
#[test]
fn a_lock_that_is_kept_for_many_others_keeps_threads_out_for_as_long() {
    let source = r#"
#include <pthread.h>
static pthread_mutex_t list = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t sessions[3] =
    {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static void *publish(void *argument) {
    pthread_mutex_lock(&list);
    for (int i = 0; i < 3; i++) {
        pthread_mutex_lock(&sessions[i]);
        pthread_mutex_unlock(&sessions[i]);
    }
    pthread_mutex_unlock(&list);
    return argument;
}
static void *end(void *session) {
    pthread_mutex_lock(session);
    pthread_mutex_lock(&list);
    pthread_mutex_unlock(&list);
    pthread_mutex_unlock(session);
    return session;
}
int main(void) {
    pthread_t threads[4];
    pthread_create(&threads[0], 0, publish, 0);
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i + 1], 0, end, &sessions[i]);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], 0);
    return 0;
}
"#;
    let place = Workplace::new();
    place.compile(&format!("{UNSNARL} cc"), "many", source);
    place.call("run --session many --schedule random --runs 30 --seed 3 -- ./many").exits(0);
    let seen = place.call("confirm 1").exits(0);
    assert!(seen.stdout.starts_with("confirmed   forced: "), "{}", seen.stdout);
    assert!(seen.stdout.contains("forbidden: 0 of "), "{}", seen.stdout);
}

/// A loop gives its lock back each time round and takes it again at one place. That leads to the next step, and does not end what is
/// to be kept together.
#[test]
fn a_loop_is_kept_together_where_it_takes_its_lock_again() {
    let source = r#"
#include <pthread.h>
#include <sched.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int told, list[3] = {1, 2, 3}, length = 3, seen[4];
static void notify(int topic) {
    pthread_mutex_lock(&lock);
    for (int i = 0; i < length; i++) {
        int one = list[i];
        pthread_mutex_unlock(&lock);
        seen[one] |= topic;
        pthread_mutex_lock(&lock);
    }
    pthread_mutex_unlock(&lock);
}
static void *notify_all(void *argument) {
    for (int topic = 1; topic < 32; topic *= 2)
    {
        __atomic_fetch_add(&told, 1, __ATOMIC_SEQ_CST);
        notify(topic);
    }
    return argument;
}
static void *leave(void *argument) {
    while (__atomic_load_n(&told, __ATOMIC_SEQ_CST) < 2)
        sched_yield();
    pthread_mutex_lock(&lock);
    for (int i = 1; i < length; i++)
        list[i - 1] = list[i];
    length = length - 1;
    pthread_mutex_unlock(&lock);
    return argument;
}
int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], 0, notify_all, 0);
    pthread_create(&threads[1], 0, leave, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
    return seen[2] != 31 || seen[3] != 31;
}
"#;
    let place = Workplace::new();
    place.compile(&format!("{UNSNARL} cc"), "walk", source);
    place
        .call("run --technique unicorn --session walk --schedule random --runs 60 --seed 3 -- ./walk")
        .exits(0);
    let report = place.call("report --technique unicorn --json").exits(0).json();
    let variables = ["list[1]", "list[1]", "length", "length"];
    let is_walk = |finding: &Value| {
        let accesses = finding["accesses"].as_array().unwrap();
        finding["pattern"] == "RWWR" && accesses.iter().map(|access| &access["variable"]).eq(variables)
    };
    let number = 1 + report["findings"].as_array().unwrap().iter().position(is_walk).unwrap();
    let seen = place.call(&format!("confirm {number} --technique unicorn"));
    assert!(seen.stdout.contains("forbidden: 0 of "), "{}", seen.stdout);
}

/// The entry that the reader comes to by mistake was made before: it cannot be read before that, so that nothing follows from
/// runs in which the reader waits.
#[test]
fn what_has_no_other_order_is_not_confirmed() {
    let place = Workplace::new();
    let source = r#"
#include <pthread.h>
#include <stdlib.h>
static int *table;
static int mask = 3, is_lost, inserted;
static int *make(int size) {
    int *new = malloc(size * sizeof *new);
    for (int i = 0; i < size; i++)
        __atomic_store_n(&new[i], 0, __ATOMIC_SEQ_CST);
    return new;
}
static void *grow(void *argument) {
    for (int i = 0; i < 6; i++)
        __atomic_fetch_add(&inserted, 1, __ATOMIC_SEQ_CST);
    int *new = make(8);
    __atomic_store_n(&new[7], 7, __ATOMIC_SEQ_CST);
    __atomic_store_n(&table, new, __ATOMIC_SEQ_CST);
    __atomic_store_n(&mask, 7, __ATOMIC_SEQ_CST);
    return argument;
}
static void *find(void *argument) {
    for (int i = 0; i < 4; i++) {
        __atomic_load_n(&inserted, __ATOMIC_SEQ_CST);
        int at = 7 & __atomic_load_n(&mask, __ATOMIC_SEQ_CST);
        int *seen = __atomic_load_n(&table, __ATOMIC_SEQ_CST);
        if (__atomic_load_n(&seen[at], __ATOMIC_SEQ_CST) != 7)
            is_lost = 1;
    }
    return argument;
}
int main(void) {
    pthread_t threads[2];
    table = make(4);
    table[3] = 7;
    pthread_create(&threads[0], 0, grow, 0);
    pthread_create(&threads[1], 0, find, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
    return is_lost;
}
"#;
    place.compile(&format!("{UNSNARL} cc"), "grown", source);
    place.call("run --session grown --schedule random --runs 100 --seed 3 -- ./grown").exits(0);
    let report = place.call("report --json").exits(0).json();
    let is_effect = |finding: &Value| {
        finding["accesses"][0]["function"] == "make" && finding["accesses"][1]["function"] == "find"
    };
    let number = 1 + report["findings"].as_array().unwrap().iter().position(is_effect).unwrap();
    let seen = place.call(&format!("confirm {number}")).exits(16);
    assert!(seen.stdout.starts_with("inconclusive"), "{}", seen.stdout);
}

/// What was looked up under the lock is used under the lock, but not under the same hold of it. To keep the sweeper from
/// coming first takes keeping both together: at its own step it has the lock that the user needs.
#[test]
fn looking_up_and_using_are_kept_together() {
    let place = Workplace::new();
    let source = r#"
#include <pthread.h>
#include <unistd.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int listed = 1, alive = 1;
static int look_up(void) {
    pthread_mutex_lock(&lock);
    int found = listed;
    pthread_mutex_unlock(&lock);
    return found;
}
static void use(void) {
    pthread_mutex_lock(&lock);
    if (!alive)
        _exit(1);
    pthread_mutex_unlock(&lock);
}
static void *user(void *argument) {
    if (look_up())
        use();
    return argument;
}
static void *sweeper(void *argument) {
    pthread_mutex_lock(&lock);
    listed = 0;
    alive = 0;
    pthread_mutex_unlock(&lock);
    return argument;
}
int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], 0, user, 0);
    pthread_create(&threads[1], 0, sweeper, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
    return 0;
}
"#;
    place.compile(&format!("{UNSNARL} cc"), "look", source);
    place.call("run --session look --schedule random --runs 40 --seed 3 -- ./look").exits(0);
    // The verdict tells both variables.
    let report = place.call("report --technique falcon --json").exits(0).json();
    let findings = report["findings"].as_array().unwrap();
    let number = 1 + findings.iter().position(|finding| finding["pattern"] == "WR").unwrap();
    let seen = place.call(&format!("confirm {number} --technique falcon")).exits(0);
    assert!(seen.stdout.contains("forbidden: 0 of "), "{}", seen.stdout);
}

/// What a thread has looked up under a lock, it uses without: it is kept whole from the look on, as if it had kept the lock.
#[test]
fn what_was_looked_up_is_kept_until_it_is_used() {
    let source = r#"
#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct item { int alive; } items[4];
static int current, dead;
static struct item *look_up(void) {
    pthread_mutex_lock(&lock);
    struct item *item = &items[current];
    pthread_mutex_unlock(&lock);
    return item;
}
static void *use(void *argument) {
    for (int i = 0; i < 3; i++)
        if (!look_up()->alive)
            __atomic_store_n(&dead, 1, __ATOMIC_SEQ_CST);
    return argument;
}
static void *renew(void *argument) {
    for (int i = 0; i < 3; i++) {
        pthread_mutex_lock(&lock);
        items[current].alive = 0;
        current++;
        pthread_mutex_unlock(&lock);
    }
    return argument;
}
int main(void) {
    pthread_t threads[3];
    for (int i = 0; i < 4; i++)
        items[i].alive = 1;
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], 0, i < 2 ? use : renew, 0);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], 0);
    return dead;
}
"#;
    forbids_all("looked_up", source, |finding| {
        finding["pattern"] == "WR" && finding["accesses"][1]["function"] == "use"
    });
}

/// No run fails in which the first finding of this kind is forbidden.
fn forbids_all(name: &str, source: &str, is_it: impl Fn(&Value) -> bool) {
    let place = Workplace::new();
    place.compile(&format!("{UNSNARL} cc"), name, source);
    place.call(&format!("run --session s --schedule random --runs 60 --seed 3 -- ./{name}"));
    let report = place.call("report --json").exits(0).json();
    let number = 1 + report["findings"].as_array().unwrap().iter().position(is_it).unwrap();
    let seen = place.call(&format!("confirm {number}"));
    assert!(seen.stdout.contains("forbidden: 0 of "), "{}", seen.stdout);
}
