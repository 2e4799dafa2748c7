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
/// would wait for ever.
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
