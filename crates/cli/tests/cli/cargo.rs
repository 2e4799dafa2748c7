//! Rust tests through cargo: built for the recorder, found by name, localized.

use serde_json::{Value, json};

use crate::kit::{Workplace, present};

/// Two workers share a queue with one item. In every other run the second one takes the item between the first
/// one's question and its own taking; channels keep the order.
const TAKING: &str = r#"
use std::sync::mpsc::channel;
use std::sync::Mutex;

#[derive(Default)]
pub struct Queue {
    items: Mutex<Vec<u32>>,
}

impl Queue {
    pub fn push(&self, item: u32) {
        self.items.lock().unwrap().push(item);
    }

    pub fn size(&self) -> usize {
        self.items.lock().unwrap().len()
    }

    pub fn pop(&self) -> Option<u32> {
        self.items.lock().unwrap().pop()
    }
}

/// Counts its calls in a file.
fn is_odd_run() -> bool {
    let path = std::env::var("COUNTER").unwrap();
    let count = std::fs::read_to_string(&path).map_or(0, |text| text.trim().parse::<u32>().unwrap());
    std::fs::write(&path, (count + 1).to_string()).unwrap();
    count % 2 == 1
}

#[test]
fn the_last_item_is_taken_once() {
    let in_between = is_odd_run();
    let queue = Queue::default();
    queue.push(7);
    let (asked, go_on) = (channel(), channel());
    std::thread::scope(|scope| {
        let queue = &queue;
        let (tell_asked, wait_asked) = asked;
        let (tell_done, wait_done) = go_on;
        let second = scope.spawn(move || {
            wait_asked.recv().unwrap();
            queue.pop();
            tell_done.send(()).unwrap();
        });
        let has_some = queue.size() > 0;
        if in_between {
            tell_asked.send(()).unwrap();
            wait_done.recv().unwrap();
            assert!(!has_some || queue.pop().is_some(), "somebody was faster");
        } else {
            assert!(!has_some || queue.pop().is_some(), "somebody was faster");
            tell_asked.send(()).unwrap();
            wait_done.recv().unwrap();
        }
        second.join().unwrap();
    });
}

#[test]
fn nothing_is_in_an_empty_queue() {
    assert_eq!(Queue::default().pop(), None);
}
"#;

fn package() -> Workplace {
    let place = Workplace::new();
    place.write(
        "Cargo.toml",
        "[package]\nname = \"taking\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[workspace]\n",
    );
    place.write("src/lib.rs", TAKING);
    place
}

fn unsnarl(place: &Workplace, words: &str) -> crate::kit::Seen {
    let mut command = place.unsnarl(words);
    command.env("COUNTER", place.path("count")).env_remove("CARGO_TARGET_DIR").env_remove("RUSTFLAGS");
    crate::kit::Seen::of(words, command.output().unwrap())
}

#[test]
fn a_static_c_library_is_refused_with_what_to_do() {
    let place = package();
    let words = "cargo --runs 2 test the_last_item_is_taken_once";
    for flags in ["-C target-feature=+crt-static", "-Ctarget-feature=+aes,+crt-static"] {
        let mut command = place.unsnarl(words);
        command.env("RUSTFLAGS", flags);
        let seen = crate::kit::Seen::of(words, command.output().unwrap()).exits(2);
        seen.complains(&["rustc instruments no program with a static C library", "leave `+crt-static` out"]);
    }
}

#[test]
fn a_rust_test_is_localized_by_name() {
    let place = package();
    let flags =
        "--runs 10 --jobs 1 --seed 1 --schedule free --technique avio --session taking --json report.json";
    let seen = unsnarl(&place, &format!("cargo {flags} test the_last_item_is_taken_once")).exits(0);
    seen.says(&["cargo unsnarl build --tests && unsnarl check"]);
    let report: Value = serde_json::from_slice(&std::fs::read(place.path("report.json")).unwrap()).unwrap();
    assert_eq!(report["runs"], json!({"passed": 5, "failed": 5, "hung": 0, "damaged": 0}));
    assert!(
        report["failures"][0]["description"].as_str().unwrap().contains("somebody was faster"),
        "{report:#}"
    );
    // The vector's length: read by the question, changed by the other thread, read again.
    let lines_of_the_queue = |finding: &Value| -> Vec<String> {
        let accesses = finding["accesses"].as_array().unwrap();
        let own_frame = |access: &Value| {
            let stack = access["stack"].as_array().unwrap();
            stack
                .iter()
                .find(|frame| frame["file"].as_str().is_some_and(|file| file.ends_with("src/lib.rs")))
                .cloned()
        };
        accesses
            .iter()
            .filter_map(own_frame)
            .map(|frame| frame["function"].as_str().unwrap().to_owned())
            .collect()
    };
    let finding = &report["findings"][0];
    assert_eq!((&finding["pattern"], &finding["tied"]), (&json!("RWR"), &json!(1)), "{report:#}");
    let functions = lines_of_the_queue(finding);
    assert_eq!(functions, ["Queue::size", "Queue::pop", "Queue::pop"]);
    // The other thread has the mutex, whose own words are no suspects; what the first access held is not on record.
    assert_eq!(finding["accesses"][1]["locks"].as_array().unwrap().len(), 1, "{finding:#}");
    // What the harness does with a failing test's output is no suspect, nor is what a panic cleans up.
    for finding in report["findings"].as_array().unwrap() {
        let accesses = finding["accesses"].as_array().unwrap().len();
        assert_eq!(lines_of_the_queue(finding).len(), accesses, "{finding:#}");
    }
    let session = runner::Session::open(&place.path(".unsnarl/taking")).unwrap();
    for record in session.runs() {
        let run = session.load(record.run).unwrap();
        let recording = recording::parse(&run.processes[0].bytes).unwrap();
        let panicked = recording.events.iter().any(|event| event.kind == recording::EventKind::Panic);
        assert_eq!(panicked, record.outcome.is_failing(), "run {}", record.run);
    }
}

const DOOR: &str = r#"use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::*};

static CLOSED: AtomicBool = AtomicBool::new(false);
static REFUSED: AtomicUsize = AtomicUsize::new(0);
static INSIDE: AtomicUsize = AtomicUsize::new(0);

fn enter() -> Result<(), ()> {
    if CLOSED.load(SeqCst) {
        REFUSED.fetch_add(1, Relaxed);
        return Err(());
    }
    INSIDE.fetch_add(1, SeqCst);
    Ok(())
}

fn main() {
    for closed in [false, true] {
        CLOSED.store(closed, SeqCst);
        let visitors = [(); 2].map(|()| std::thread::spawn(enter));
        visitors.map(|visitor| assert_eq!(visitor.join().unwrap().is_err(), closed));
    }
}
"#;

/// Both ways through a function end in the same hook: each has a call to it of its own, or nobody could tell the lines apart.
#[test]
fn branches_that_end_alike_have_lines_of_their_own() {
    let place = Workplace::new();
    place.write(
        "Cargo.toml",
        "[package]\nname = \"door\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[workspace]\n",
    );
    place.write("src/main.rs", DOOR);
    unsnarl(&place, "cargo --runs 1 --seed 1 --session door run");
    let trace = unsnarl(&place, "trace 1").exits(0);
    let updated = |variable: &str, at: &str| {
        let lines: Vec<&str> = trace.stdout.lines().filter(|line| line.ends_with(variable)).collect();
        assert!(lines.len() >= 2 && lines.iter().all(|line| line.contains(at)), "{variable}: {trace}");
    };
    updated("door::REFUSED", "main.rs:9 ");
    updated("door::INSIDE", "main.rs:12 ");
}

/// Runs what it is given in threads of its own, and keeps account of them: code that somebody else wrote.
const POOL: &str = r#"
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

pub static TURNS: AtomicU32 = AtomicU32::new(0);

pub fn run(jobs: Vec<Box<dyn FnOnce() + Send>>) {
    let spawn = |job: Box<dyn FnOnce() + Send>| {
        std::thread::spawn(move || {
            TURNS.fetch_add(1, SeqCst);
            job();
            TURNS.fetch_add(1, SeqCst);
        })
    };
    let threads: Vec<_> = jobs.into_iter().map(spawn).collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}
"#;

const POOL_USER: &str = r#"
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

static SUM: AtomicU32 = AtomicU32::new(0);

fn main() {
    let job = || -> Box<dyn FnOnce() + Send> { Box::new(|| { SUM.fetch_add(1, SeqCst); }) };
    pool::run(vec![job(), job(), job()]);
}
"#;

/// An executor's own threads touch what they share on its own account; what they do for the program has the program's code in its
/// calls.
#[test]
fn what_a_fetched_package_does_by_itself_is_no_suspect() {
    let place = Workplace::new();
    let package = |name: &str, more: &str| {
        format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n{more}")
    };
    place.write(
        "Cargo.toml",
        package("user", "[workspace]\n[dependencies]\npool = { path = \"registry/src/here-0123456789abcdef/pool-0.1.0\" }\n"),
    );
    place.write("src/main.rs", POOL_USER);
    place.write("registry/src/here-0123456789abcdef/pool-0.1.0/Cargo.toml", package("pool", ""));
    place.write("registry/src/here-0123456789abcdef/pool-0.1.0/src/lib.rs", POOL);
    unsnarl(&place, "cargo --runs 1 --seed 1 --session pool run");
    let trace = unsnarl(&place, "trace 1").exits(0).says(&["SUM"]);
    assert!(!trace.stdout.contains("TURNS"), "{trace}");
}

#[test]
fn mistakes_are_explained() {
    let place = package();
    unsnarl(&place, "cargo").exits(2).complains(&["say what to do", "cargo unsnarl test NAME"]);
    unsnarl(&place, "cargo publish").exits(2).complains(&["does not know `publish`"]);
    unsnarl(&place, "cargo test anything --runs 4")
        .exits(2)
        .complains(&["--runs is for unsnarl", "cargo unsnarl --runs … test"]);
    unsnarl(&place, "cargo test no_such_test")
        .exits(2)
        .complains(&["no test program has a test of that name: `no_such_test`"]);
    unsnarl(&place, "cargo test last_item_taken_once")
        .exits(2)
        .complains(&["is it one of these?", "  the_last_item_is_taken_once"]);
    unsnarl(&place, "cargo test --doc").exits(2).complains(&["tests in documentation are not built"]);
    place.write("src/lib.rs", "this is not Rust");
    unsnarl(&place, "cargo test anything").exits(6).complains(&["cargo could not build it"]);
}

/// Fails in every other run if the feature is on. Threads share a counter, so that there is something to record.
const SALES: &str = r#"
use std::sync::atomic::{AtomicU32, Ordering};

static SOLD: AtomicU32 = AtomicU32::new(0);

fn sell() -> u32 {
    std::thread::spawn(|| SOLD.fetch_add(1, Ordering::Relaxed)).join().unwrap();
    SOLD.load(Ordering::Relaxed)
}

#[test]
fn sells_once() {
    let path = std::env::var("COUNTER").unwrap();
    let count = std::fs::read_to_string(&path).map_or(0, |text| text.trim().parse::<u32>().unwrap());
    std::fs::write(&path, (count + 1).to_string()).unwrap();
    // Found only from the package's folder.
    let expected = std::fs::read_to_string("tests/expected").unwrap();
    let is_unlucky = cfg!(feature = "strict") && count % 2 == 1;
    assert_eq!(sell() + u32::from(is_unlucky), expected.trim().parse::<u32>().unwrap());
}

#[test]
fn sells_nothing_to_nobody() {}

#[test]
#[ignore]
fn the_second_is_refused() {
    assert_eq!(sell(), 2, "sold");
}
"#;

/// Two packages, one of them with a test program, a feature and an example.
fn workspace() -> Workplace {
    let place = Workplace::new();
    place.write("Cargo.toml", "[workspace]\nresolver = \"2\"\nmembers = [\"shop\", \"street\"]\n");
    let package =
        |name: &str| format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2021\"\n");
    place.write("street/Cargo.toml", package("street"));
    place.write("street/src/lib.rs", "#[test]\nfn is_long() {}\n");
    place.write("shop/Cargo.toml", package("shop") + "[features]\nstrict = []\n");
    place.write("shop/src/lib.rs", "");
    place.write(
        "shop/examples/open.rs",
        "fn main() { assert_eq!(std::env::args().nth(1).unwrap(), \"early\"); }",
    );
    place.write("shop/tests/sales.rs", SALES);
    place.write("shop/tests/expected", "1\n");
    place
}

#[test]
fn tests_of_a_workspace_run_in_their_packages() {
    let place = workspace();
    unsnarl(&place, "cargo --runs 4 --jobs 1 test --release --features shop/strict sells_once")
        .says(&["2 passed", "2 failed"]);
    assert!(place.path(".unsnarl/sells_once").is_dir(), "a session stays where the user is");
    let from_member = place
        .unsnarl("cargo --runs 2 --jobs 1 test sells_once")
        .current_dir(place.path("shop"))
        .env("COUNTER", place.path("count"))
        .env_remove("CARGO_TARGET_DIR")
        .output()
        .unwrap();
    crate::kit::Seen::of("in shop", from_member)
        .exits(10)
        .says(&["2 passed", "cargo unsnarl --noise high test sells_once"]);
    assert!(!place.path("shop/target").exists(), "there is one target folder");
    unsnarl(&place, "cargo --runs 2 run -p shop --example open -- early").exits(10).says(&["2 passed"]);
    // A library without tests is no choice, one with some is.
    unsnarl(&place, "cargo --runs 2 --jobs 1 test -p shop").exits(10).says(&["2 passed"]);
    unsnarl(&place, "cargo --runs 2 test").exits(2).complains(&[
        "2 programs qualify",
        "  -p shop --test sales\n",
        "  -p street --lib\n",
    ]);
    unsnarl(&place, "cargo --runs 2 test the_second_is_refused")
        .exits(11)
        .says(&["2 failed"])
        .complains(&["`the_second_is_refused` is marked #[ignore]: it is run all the same"]);
    let optimized = "`dev` profile [optimized + debuginfo]";
    let built = unsnarl(&place, "cargo build --workspace").exits(0);
    assert!(built.stderr.contains(optimized), "so that loads at two places are two: {}", built.stderr);
    let manifest = std::fs::read_to_string(place.path("Cargo.toml")).unwrap();
    place.write("Cargo.toml", format!("{manifest}[profile.dev]\nopt-level = 0\n"));
    let built = unsnarl(&place, "cargo build --workspace").exits(0);
    assert!(!built.stderr.contains(optimized), "whoever has chosen keeps it: {}", built.stderr);
}

#[test]
fn nextest_chooses_the_test() {
    if !present("cargo-nextest") {
        return;
    }
    let place = workspace();
    let words = "cargo --runs 4 --jobs 1 nextest run --features shop/strict -E test(sells_once)";
    unsnarl(&place, words).says(&["2 passed", "2 failed", "assertion"]);
    assert!(place.path(".unsnarl/sells_once").is_dir());
    unsnarl(&place, "cargo nextest run").exits(2).complains(&[
        "3 tests match; choose one",
        "sells_once",
        "sells_nothing_to_nobody",
        "is_long",
    ]);
    unsnarl(&place, "cargo nextest run no_such_test").exits(2).complains(&["no test matches"]);
}
