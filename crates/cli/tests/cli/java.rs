//! Tests that run on a Java virtual machine.

use std::path::Path;

use serde_json::Value;

use crate::kit::{Seen, Workplace, present, skip};

pub const BANK: &str = include_str!("programs/Bank.java");
const TRANSFER: &str = include_str!("programs/Transfer.java");
const WAYS: &str = include_str!("programs/Ways.java");
const HANDLES: &str = include_str!("programs/Handles.java");
const OWN: &str = include_str!("programs/Own.java");
const ZOO: &str = include_str!("programs/Zoo.java");
const CONSTANTS: &str = include_str!("programs/Constants.java");
const MAKE_CONSTANTS: &str = include_str!("programs/MakeConstants.java");

/// None, said aloud, if there is no Java to compile and run.
pub fn workplace(name: &str, source: &str) -> Option<Workplace> {
    if !present("java") || !present("javac") {
        return None;
    }
    let place = Workplace::new();
    place.write(name, source);
    place.shell(&format!("javac -g -d classes {name}"));
    Some(place)
}

/// The number of the line of `source` that ends in this comment.
pub fn line(source: &str, comment: &str) -> u64 {
    let position = source.lines().position(|line| line.ends_with(comment));
    position.unwrap() as u64 + 1
}

#[test]
fn rewritten_classes_pass_the_verifier_and_do_the_same() {
    let Some(place) = workplace("Zoo.java", ZOO) else { return };
    place.shell("java -cp classes Zoo > expected");
    for include in ["", "--include java.util.**"] {
        let flags = format!("--expect-stdout expected --noise high --runs 2 --seed 1 {include}");
        // 10: no run failed.
        place.call(&format!("run {flags} -- java -Xverify:all -cp classes Zoo")).exits(10);
    }
}

/// Class files have them since Java 11, from compilers of other languages.
#[test]
fn constants_that_code_computes_are_left_as_they_are() {
    if !present("java") || !present("javac") {
        return;
    }
    let place = Workplace::new();
    place.write("MakeConstants.java", MAKE_CONSTANTS);
    place.write("Constants.java", CONSTANTS);
    let access = "--add-exports java.base/jdk.internal.org.objectweb.asm=ALL-UNNAMED";
    let compile = format!("javac {access} -d tool MakeConstants.java");
    if !place.shell(&format!("{compile} 2>/dev/null || echo failed")).is_empty() {
        return skip("the JDK has no library for class files inside (17 has)");
    }
    place.shell(&format!("mkdir classes && java {access} -cp tool MakeConstants classes/Made.class"));
    place.shell("javac -g -cp classes -d classes Constants.java");
    place.write("expected", "28 2\n");
    let flags = "--expect-stdout expected --schedule random --runs 2 --seed 1 --session constants";
    // 10: no run failed.
    place.call(&format!("run {flags} -- java -Xverify:all -cp classes Constants")).exits(10);
    place.call("trace 1 --session constants").exits(0).says(&["Made.total"]);
}

#[test]
fn a_lost_update_is_found_with_names_values_stacks_and_locks() {
    let Some(place) = workplace("src/test/java/shop/Bank.java", BANK) else { return };
    // The seed decides which runs fail.
    place.call("run --schedule pos --runs 14 --jobs 2 --seed 1 -- java -cp classes shop.Bank").exits(0);
    let report = place.call("report --session Bank --technique falcon --json").exits(0).json();
    let first = report["findings"].as_array().unwrap().iter().filter(|finding| finding["rank"] == 1);
    let truth = first.filter(|finding| finding["pattern"] == "RWW").find(|finding| {
        finding["accesses"].as_array().unwrap().iter().all(|access| access["variable"] == "Account.balance")
    });
    let truth = truth.unwrap_or_else(|| panic!("{report:#}"));
    let accesses = truth["accesses"].as_array().unwrap();
    let lines: Vec<&Value> = accesses.iter().map(|access| &access["line"]).collect();
    assert_eq!(lines, [line(BANK, "// read"), line(BANK, "// write"), line(BANK, "// write")]);
    let threads: Vec<&Value> = accesses.iter().map(|access| &access["thread"]).collect();
    assert_eq!(threads, [1, 2, 1]);
    for access in accesses {
        assert_eq!(access["file"], "shop/Bank.java");
        // Each teller has one of its own.
        assert_eq!(access["locks"], serde_json::json!([format!("ReentrantLock #{}", access["thread"])]));
        let stack = access["stack"].as_array().unwrap();
        let functions: Vec<&Value> = stack.iter().map(|frame| &frame["function"]).collect();
        assert_eq!(functions, ["Account.book", "Bank.teller", "Bank.main.lambda"]);
    }
    assert_eq!(accesses[0]["value"], "100");
    assert_eq!(accesses[1]["value"], "110");
    assert_eq!(accesses[0]["source"].as_str().unwrap().trim(), "int before = balance; // read");
    // Forced, the update is lost at one of the twelve accounts; forbidden, at none.
    let number = 1 + report["findings"].as_array().unwrap().iter().position(|one| one == truth).unwrap();
    let seen = place.call(&format!("confirm {number} --technique falcon --runs 8")).exits(0);
    seen.says(&["confirmed", "forbidden: 0 of"]);
}

#[test]
fn two_monitors_of_one_class_are_told_apart() {
    let Some(place) = workplace("Transfer.java", TRANSFER) else { return };
    // The seed decides which runs fail.
    let flags = "--schedule pos --runs 12 --jobs 2 --seed 1";
    place.call(&format!("run {flags} -- java -cp classes Transfer")).exits(0);
    let report = place.call("report --session Transfer --json").exits(0).json();
    let finding = &report["findings"][0];
    let fix = &finding["fix"];
    assert_eq!(fix["action"], "take-lock", "{finding:#}");
    // The lock of the account whose balance it is, which the deposit holds.
    let [lock, held] = [&fix["locks"][0], &fix["held"][0]].map(|name| name.as_str().unwrap().to_owned());
    assert_eq!([lock.as_str(), held.as_str()].map(|name| name.starts_with("Transfer #")), [true, true]);
    assert_ne!(lock, held);
    for access in finding["accesses"].as_array().unwrap() {
        let is_deposit = access["function"] == "Transfer.deposit";
        assert_eq!(access["locks"][0], if is_deposit { lock.as_str() } else { held.as_str() });
    }
    let part = format!("the `Transfer.balance` here is that of `{lock}`");
    assert!(finding["evidence"].as_array().unwrap().iter().any(|said| said == part.as_str()), "{finding:#}");
    // From where the balance is read: with the lock from the write on, it would be outdated all the same.
    let place = &fix["places"][0];
    assert_eq!(place["first_line"], line(TRANSFER, "// first"));
    assert_eq!(place["last_line"], line(TRANSFER, "// last"));
}

/// Unless another thread comes to it while its object is still being made.
#[test]
fn what_is_final_is_no_variable_once_it_is_written() {
    let source = "public class Card {
        static Card escaped;
        final int early;
        final int late;
        Card() throws InterruptedException {
            early = 1;
            escaped = this;
            Thread reader = new Thread(() -> System.out.println(escaped.early + escaped.late)); // reads
            reader.start();
            reader.join();
            late = 2; // writes
        }
        public static void main(String[] arguments) throws InterruptedException {
            new Card();
        }
    }";
    let Some(place) = workplace("Card.java", source) else { return };
    // 10: no run failed.
    place.call("run --noise off --runs 1 --seed 1 -- java -cp classes Card").exits(10);
    let trace = place.call("trace 1").exits(0).stdout;
    for (comment, kind) in [("// reads", "read 0"), ("// writes", "write")] {
        let told = format!("Card.java:{}  {kind}  Card.late", line(source, comment));
        assert!(trace.contains(&told), "{comment}: {trace}");
    }
    assert!(!trace.contains("Card.early"), "{trace}");
}

#[test]
fn an_uncaught_exception_in_any_thread_fails_a_run() {
    let Some(place) = workplace("Bank.java", BANK) else { return };
    // 11: no run passed, although all exit with 0.
    let seen = place.call("run --runs 2 --seed 1 -- java -cp classes shop.Bank throw").exits(11);
    seen.says(&[
        "both failures look alike: uncaught java.lang.IllegalStateException: asked for at Bank.java:67",
    ]);
}

#[test]
fn java_is_recorded_behind_a_script() {
    let Some(place) = workplace("Bank.java", BANK) else { return };
    place.script("test.sh", "#!/bin/sh\nexec java -cp classes shop.Bank\n");
    place.call("run --runs 3 --noise off --seed 1 --session script -- ./test.sh");
    assert!(place.runs("script").iter().all(|run| run["processes"] == 1));
}

/// What the user has set there stays, whichever way the agent comes in; one that is named twice is there once.
#[test]
fn options_of_the_environment_are_kept() {
    let source = "public class Asked {
        static int count;
        public static void main(String[] arguments) throws Exception {
            Thread other = new Thread(() -> count++);
            other.start();
            count++;
            other.join();
            System.exit(\"blue sky\".equals(System.getProperty(\"colour\")) ? 0 : 1);
        }
    }";
    let Some(place) = workplace("Asked.java", source) else { return };
    place.script("test.sh", "#!/bin/sh\nexec java -cp classes Asked\n");
    for (session, command) in [("plain", "java -cp classes Asked"), ("script", "./test.sh")] {
        let line = format!("run --runs 2 --noise off --seed 1 --session {session} -- {command}");
        let own = "-Dother=1 \"-Dcolour=blue sky\"";
        let output = place.unsnarl(&line).env("JAVA_TOOL_OPTIONS", own).output().unwrap();
        // 10: no run failed.
        Seen::of(&line, output).exits(10);
        assert!(place.runs(session).iter().all(|run| run["processes"] == 1));
    }
}

#[test]
fn a_virtual_machine_that_runs_no_code_under_test_leaves_no_recording() {
    if !present("java") {
        return;
    }
    let place = Workplace::new();
    // 13: nothing recorded.
    place.call("run --runs 2 --seed 1 -- java -version").exits(13);
    assert!(!Path::new(&place.path(".unsnarl/java/runs/000001.run")).exists());
}

/// What a schedule decides about the first run of a session: all events, without ids that the system gives out.
fn decided(place: &Workplace, session: &str) -> Vec<String> {
    let session = runner::Session::open(&place.path(&format!(".unsnarl/{session}"))).unwrap();
    let run = session.load(runner::RunNumber(1)).unwrap();
    let [process] = &run.processes[..] else { panic!("one process") };
    let recording = recording::parse(&process.bytes).unwrap();
    recording.events.iter().map(|event| format!("{event:?}")).collect()
}

#[test]
fn the_same_seed_gives_the_same_recording() {
    let Some(place) = workplace("Ways.java", WAYS) else { return };
    place.write("expected", "12 12 12 12 12 29\n");
    for schedule in ["random", "pct", "pos"] {
        let [first, second] = ["first", "second"].map(|session| {
            let flags = format!("--schedule {schedule} --seed 2 --runs 1 --session {session}");
            // 10: no run failed.
            place.call(&format!("run {flags} --expect-stdout expected -- java -cp classes Ways")).exits(10);
            decided(&place, session)
        });
        let differs = first.iter().zip(&second).position(|(one, other)| one != other);
        assert_eq!(differs.map(|index| (index, &first[index], &second[index])), None, "{schedule}");
        assert_eq!(first.len(), second.len(), "{schedule}");
    }
}

#[test]
fn what_is_reached_by_other_means_than_instructions_is_seen() {
    let Some(place) = workplace("Handles.java", HANDLES) else { return };
    place.write("expected", "10 2 2 xx 2\n");
    // The seed decides who comes second to what, and 10 is: no run failed.
    let flags = "--schedule random --seed 1 --runs 1 --session handles --expect-stdout expected";
    place.call(&format!("run {flags} -- java -Xverify:all -cp classes Handles")).exits(10);
    let trace = place.call("trace 1 --session handles").exits(0).stdout;
    for (comment, kind, variable) in [
        ("// plain", "read", "Node.plain"),
        ("// plain", "write", "Node.plain"),
        ("// wide", "update", "Node.wide"),
        ("// seen", "read", "Node.shared"),
        ("// shared", "update", "Node.shared"),
        ("// viewed", "write", "Handles.viewed[2]"),
        ("// updated", "update", "Node.updated"),
        ("// text", "update", "Node.text"),
        ("// offset", "read", "Node.byOffset"),
        ("// offset", "write", "Node.byOffset"),
        ("// array", "update", "Handles.viewed[3]"),
        ("// copied", "read", "Handles.source[1]"),
        ("// copied", "write", "Handles.copied[2]"),
        ("// cloned", "read", "Handles.copied[0]"),
        ("// attempts", "update", "Handles.attempts"),
        ("// exchanged", "write", "Handles.attempts"),
        ("// counted", "write 1", "Handles.counts[1]"),
        ("// raised", "write 1", "Handles.raised"),
        ("// tried", "lock", "Handles.stamped"),
        ("// unlocked", "unlock", "Handles.stamped"),
    ] {
        let place = format!("Handles.java:{}  {kind} ", line(HANDLES, comment));
        let is_told = |told: &str| told.contains(&place) && told.contains(variable);
        assert!(trace.lines().any(is_told), "{comment}: no {kind} of {variable}: {trace}");
    }
    let bytes = format!("Handles.java:{} ", line(HANDLES, "// bytes"));
    assert!(!trace.contains(&bytes), "which of them is not known: {trace}");
}

/// Hooks at what is one thread's alone stay in Java; what they note is all there when another thread comes.
#[test]
fn what_a_thread_did_alone_is_told_by_its_last_accesses() {
    let Some(place) = workplace("Own.java", OWN) else { return };
    place.write("expected", "399980004 8 8\n");
    let flags = "--noise off --seed 1 --runs 1 --session own --expect-stdout expected";
    place.call(&format!("run {flags} -- java -Xverify:all -cp classes Own")).exits(10);
    let trace = place.call("trace 1 --session own").exits(0).stdout;
    let told = |comment: &str, kind: &str, variable: &str| {
        let place = format!("Own.java:{}  {kind} ", line(OWN, comment));
        trace.lines().any(|told| told.contains(&place) && told.contains(variable))
    };
    assert!(told("// last write", "write", "Own.value"), "{trace}");
    assert!(told("// last element", "read", "Own.value"), "{trace}");
    assert!(told("// last element", "write", "Own.items[3]"), "{trace}");
    for (index, _) in OWN.lines().enumerate().filter(|(_, line)| line.ends_with("// often")) {
        assert!(!trace.contains(&format!("Own.java:{} ", index + 1)), "{trace}");
    }
}

/// For the comparison in docs/performance.md.
#[test]
fn every_access_has_an_event_where_that_is_asked_for() {
    let Some(place) = workplace("Own.java", OWN) else { return };
    let mut command =
        place.unsnarl("run --noise off --seed 1 --runs 1 --session own -- java -cp classes Own");
    let output = command.env("UNSNARL_JVM_EVERY_ACCESS", "yes").output().unwrap();
    Seen::of("run", output).exits(10);
    let writes = decided(&place, "own").into_iter().filter(|event| event.contains("kind: Write")).count();
    // Those of the loop, and a few more.
    assert!((40_000..40_020).contains(&writes), "{writes}");
}

/// Under every schedule that is repeatable, a run that failed fails again by its switches.
#[test]
fn a_failing_run_is_replayed() {
    let Some(place) = workplace("Bank.java", BANK) else { return };
    // The seed decides which runs fail.
    let flags = "--runs 14 --jobs 2 --seed 1";
    place.call(&format!("run {flags} --schedule pos -- java -cp classes shop.Bank")).exits(0);
    place.call("replay").exits(0).says(&["reproduced", "(all ", " switches followed)"]);
    place.call("check --runs 4").exits(18).says(&["saved schedules"]);
    place.call("replay --gdb").exits(2).complains(&["gdb", "unsnarl trace"]);
}

/// Under noise, too, threads take turns, so that these runs have a schedule.
#[test]
fn a_run_with_noise_is_replayed() {
    let Some(place) = workplace("Bank.java", BANK) else { return };
    // More than one in four of these runs fail, so that one of sixty does but for 3 cases in 100 million.
    let flags = "--until-failures 1 --runs 60 --jobs 2 --seed 1 --schedule free";
    place.call(&format!("run {flags} -- java -cp classes shop.Bank")).exits(0);
    place.call("replay").exits(0).says(&["reproduced", "(all ", " switches followed)"]);
}

/// What only fails where a thread is preempted is found by runs that try all places for it.
#[test]
fn all_schedules_with_few_preemptions_are_run() {
    let source = "public class Flag {
        static int seats = 1;
        static int sold;
        static void buy() {
            if (seats > 0) {
                seats--;
                sold++;
            }
        }
        public static void main(String[] arguments) throws Exception {
            Thread other = new Thread(Flag::buy);
            other.start();
            buy();
            other.join();
            System.exit(sold > 1 ? 1 : 0);
        }
    }";
    let Some(place) = workplace("Flag.java", source) else { return };
    let flags = "--schedule bounded:1 --runs 60 --jobs 1 --seed 1";
    let seen = place.call(&format!("run {flags} -- java -cp classes Flag")).exits(0);
    seen.says(&["all schedules with up to 1 preemption were run", "Flag.seats"]);
    assert!(place.outcomes("Flag").iter().any(|outcome| outcome != "pass"));
}

/// Whoever looks before it takes the lock can be overtaken in between.
#[test]
fn a_look_before_a_lock_is_outdated_in_some_schedule() {
    let source = "public class Bell {
        static final Object bell = new Object();
        static volatile boolean rung;
        static void await() {
            try {
                if (!rung) {
                    synchronized (bell) {
                        bell.wait();
                    }
                }
            } catch (InterruptedException stopped) {
                Thread.currentThread().interrupt();
            }
        }
        public static void main(String[] arguments) throws Exception {
            Thread guest = new Thread(Bell::await);
            rung = false;
            guest.start();
            rung = true;
            synchronized (bell) {
                bell.notifyAll();
            }
            guest.join();
        }
    }";
    let Some(place) = workplace("Bell.java", source) else { return };
    let flags = "--schedule bounded:2 --runs 100 --jobs 1 --seed 1";
    place
        .call(&format!("run {flags} -- java -cp classes Bell"))
        .exits(0)
        .says(&["Missed signal", "Bell.rung"]);
    assert!(place.outcomes("Bell").iter().any(|outcome| outcome == "hang"));
}
