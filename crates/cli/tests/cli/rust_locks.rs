//! Locks of Rust's standard library and of parking_lot, which are atomic operations inlined into the program and, where
//! a thread has to wait, code without hooks: seen as locks and waits all the same.

use std::path::Path;

use recording::{EventKind, Recording, ThreadEvent};
use runner::{RunNumber, Session};

use crate::kit::{Seen, Workplace};

/// A package that uses parking_lot in the version that unsnarl's own lock file names, so that nothing is fetched. It wants its debug info
/// in files of their own.
fn package() -> Workplace {
    let place = Workplace::new();
    let manifest = "[package]\nname = \"locks\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[workspace]\n\
                    [dependencies]\nparking_lot = \"0.12\"\n[profile.dev]\nsplit-debuginfo = \"unpacked\"\n";
    place.write("Cargo.toml", manifest);
    let lock_file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../Cargo.lock");
    place.write("Cargo.lock", std::fs::read(lock_file).unwrap());
    place.write("src/main.rs", include_str!("programs/rust_locks/main.rs"));
    place
}

/// One recorded run of a scenario.
struct Run {
    recording: Recording,
    /// Address of the value that the lock protects.
    value: u64,
    lock: std::ops::Range<u64>,
}

impl Run {
    fn of(place: &Workplace, program: &str, scenario: &str) -> Run {
        place.call(&format!(
            "run --runs 1 --noise high --seed 3 --session {scenario} -- {program} {scenario}"
        ));
        let session = Session::open(&place.path(&format!(".unsnarl/{scenario}"))).unwrap();
        assert_eq!(session.runs()[0].outcome.reason(), "passed", "{scenario}");
        let file = session.load(RunNumber(1)).unwrap();
        let recording = recording::parse(&file.processes[0].bytes).unwrap();
        let addresses = std::fs::read_to_string(place.path("addresses")).unwrap();
        let numbers: Vec<u64> = addresses.split(' ').map(|number| number.parse().unwrap()).collect();
        Run { recording, value: numbers[0], lock: numbers[1]..numbers[1] + numbers[2] }
    }

    fn events(&self, kinds: &[EventKind]) -> impl Iterator<Item = &ThreadEvent> {
        self.recording.events.iter().filter(move |event| kinds.contains(&event.kind))
    }

    fn at_lock(&self, kinds: &[EventKind]) -> usize {
        self.events(kinds).filter(|event| self.lock.contains(&event.event.value)).count()
    }

    /// The addresses of the locks held at each recorded access to the value.
    fn locks_at_value(&self) -> Vec<Vec<u64>> {
        let mut sets = std::collections::HashMap::from([(0, Vec::new())]);
        let mut locks = Vec::new();
        for event in &self.recording.events {
            let at = event.event;
            if event.kind == EventKind::Lockset {
                let mut set: Vec<u64> = sets[&at.other].clone();
                set.push(at.value);
                sets.insert(at.object, set);
            } else if matches!(event.kind, EventKind::Read | EventKind::Write)
                && self.recording.locations[at.object as usize].address == self.value
            {
                locks.push(sets[&at.other].clone());
            }
        }
        locks
    }

    /// Every access to the value is under the lock, and the lock itself is no location.
    #[track_caller]
    fn check_protected(&self, scenario: &str) {
        let locks = self.locks_at_value();
        assert!(!locks.is_empty(), "{scenario}: nothing was recorded");
        for held in &locks {
            assert!(
                matches!(held[..], [lock] if self.lock.contains(&lock)),
                "{scenario}: {held:x?} where {:x?} was to be held, in {locks:x?}",
                self.lock
            );
        }
        let words = self.recording.locations.iter().filter(|location| self.lock.contains(&location.address));
        assert_eq!(words.count(), 0, "{scenario}: the lock's word is taken for data");
    }
}

fn check_all(profile: &str) {
    let place = package();
    let mut build = place.unsnarl(&format!("cargo build --offline {profile}"));
    build.env_remove("CARGO_TARGET_DIR").env_remove("RUSTFLAGS");
    Seen::of("build", build.output().unwrap()).exits(0);
    let folder = if profile.is_empty() { "debug" } else { "release" };
    let program = place.shell(&format!("ls target/unsnarl/*/{folder}/locks"));
    let run = |scenario: &str| Run::of(&place, program.trim(), scenario);

    use EventKind::{Acquire, AcquireShared, Broadcast, Release, Signal, WaitBegin, WaitEnd};
    let scenarios = [
        "mutex",
        "try_lock",
        "rwlock",
        "parking_lot_mutex",
        "parking_lot_rwlock",
        "parking_lot_timed_mutex",
        "parking_lot_timed_rwlock",
    ];
    for scenario in scenarios {
        let run = run(scenario);
        run.check_protected(scenario);
        // From the first thread to the second and back at least, once each has been at the value.
        assert!(run.at_lock(&[Acquire]) >= 2, "{scenario}");
        assert!(run.at_lock(&[Release]) >= 1, "{scenario}");
        assert_eq!(run.at_lock(&[AcquireShared]) > 0, scenario.contains("rwlock"), "{scenario}");
        assert_eq!(run.at_lock(&[WaitBegin, Signal, Broadcast]), 0, "{scenario}: a lock is no condition");
    }
    for scenario in ["condvar", "parking_lot_condvar"] {
        let run = run(scenario);
        let locks = run.locks_at_value();
        assert!(locks.iter().all(|held| held.len() == 1) && !locks.is_empty(), "{scenario}: {locks:x?}");
        assert_eq!(run.events(&[WaitBegin]).count(), run.events(&[WaitEnd]).count(), "{scenario}");
        if scenario == "condvar" {
            assert_eq!(run.at_lock(&[Signal]), 1);
        }
    }
    for scenario in ["park", "channel", "once", "parking_lot_given_up"] {
        let run = run(scenario);
        assert_eq!(run.events(&[WaitBegin]).count(), run.events(&[WaitEnd]).count(), "{scenario}");
        assert!(run.locks_at_value().iter().all(Vec::is_empty), "{scenario}");
        if scenario == "once" {
            let words =
                run.recording.locations.iter().filter(|location| run.lock.contains(&location.address));
            assert!(words.count() <= 1, "the state of a OnceLock is no data, its content is");
        }
        if scenario == "park" {
            let is_named = |thread: &recording::ThreadRecord| thread.name.starts_with(b"sleeper\0");
            assert!(run.recording.threads.iter().any(is_named));
        }
    }
}

#[test]
fn locks_are_seen_as_such() {
    check_all("");
}

#[test]
fn locks_are_seen_as_such_where_they_are_inlined() {
    check_all("--release");
}
