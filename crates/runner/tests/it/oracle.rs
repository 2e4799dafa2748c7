use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use runner::process::{Launch, run};
use runner::{Oracle, Outcome};

use crate::{PATIENCE, Workshop, shell, shell_within};

fn judge(oracle: &Oracle, script: &str) -> Outcome {
    let scratch = tempfile::tempdir().unwrap();
    oracle.judge(&shell(script), scratch.path(), &AtomicBool::new(false)).unwrap()
}

fn fail(reason: &str) -> Outcome {
    Outcome::Fail { reason: reason.to_owned() }
}

#[test]
fn exit_codes_and_signals_decide_by_default() {
    let oracle = Oracle::default();
    assert_eq!(judge(&oracle, "exit 0"), Outcome::Pass);
    assert_eq!(judge(&oracle, "exit 3"), fail("exit code 3"));
    assert_eq!(judge(&oracle, "kill -SEGV $$"), fail("SIGSEGV"));
}

#[test]
fn a_real_assertion_is_recognized() {
    let workshop = Workshop::new();
    workshop.write("queue_test.c", "#include <assert.h>\nint main(int n, char **v) {\n  assert(n > 5);\n}\n");
    workshop.tool("gcc queue_test.c -o queue_test");
    let outcome = judge(&Oracle::default(), &format!("exec {}", workshop.path("queue_test").display()));
    assert_eq!(outcome, fail("SIGABRT, assertion `n > 5` at queue_test.c:3"));
}

#[test]
fn a_run_that_does_not_end_hangs() {
    let scratch = tempfile::tempdir().unwrap();
    let finished = shell_within("sleep 1000", Duration::from_millis(100));
    let outcome = Oracle::default().judge(&finished, scratch.path(), &AtomicBool::new(false)).unwrap();
    assert_eq!(outcome, Outcome::hang());
    assert!(outcome.is_failing());
}

#[test]
fn what_a_run_that_hangs_has_said_is_told() {
    let scratch = tempfile::tempdir().unwrap();
    let dies = r#"printf 'Exception in thread "main" java.lang.Error: 3 left\n\tat Main.main(Main.java:7)\n' >&2; sleep 1000"#;
    let finished = shell_within(dies, Duration::from_millis(500));
    let outcome = Oracle::default().judge(&finished, scratch.path(), &AtomicBool::new(false)).unwrap();
    assert!(outcome.is_hang());
    assert_eq!(outcome.reason(), "did not end in time, uncaught java.lang.Error: … left at Main.java:7");
}

#[test]
fn a_pattern_fails_runs_that_exit_with_0() {
    let oracle = Oracle::default().fail_on_pattern("lost [0-9]+").unwrap();
    let judged = |script: &str| {
        let arguments = ["-c".into(), script.into()];
        let launch = Launch {
            program: Path::new("/bin/sh"),
            arguments: &arguments,
            input: None,
            environment: &[],
            timeout: Some(PATIENCE),
            pattern: oracle.pattern(),
            fixed_addresses: false,
            recordings: None,
            pace: None,
        };
        let finished = run(&launch, &AtomicBool::new(false)).unwrap();
        oracle.judge(&finished, Path::new("/nonexistent"), &AtomicBool::new(false)).unwrap()
    };
    assert_eq!(judged("echo fine"), Outcome::Pass);
    assert_eq!(judged("echo lost 3 items; yes | head -c 1000000"), fail("printed `lost 3 items`"));
    assert_eq!(judged("printf 'lost 4' >&2"), fail("printed `lost 4`"));
}

#[test]
fn expected_output_must_be_printed_to_the_byte() {
    let workshop = Workshop::new();
    let expected = workshop.write("expected", "1\n2\n3\n");
    let oracle = Oracle::default().expect_stdout(&expected).unwrap();
    assert_eq!(judge(&oracle, "seq 3"), Outcome::Pass);
    assert_eq!(judge(&oracle, "seq 3; exit 1"), fail("exit code 1"));
    assert_eq!(judge(&oracle, "seq 4"), fail("output differs from the expected one in line 4"));
    let flood = fail("output differs from the expected one");
    assert_eq!(judge(&oracle, "seq 3; yes | head -c 1000000"), flood);
    let error = Oracle::default().expect_stdout(&workshop.path("nothing")).unwrap_err().to_string();
    assert!(error.starts_with("cannot read "), "{error}");
}

#[test]
fn a_command_can_decide_in_place_of_the_exit_status() {
    let oracle = |command: &str| Oracle::default().fail_if(command.into());
    let sees_output = oracle("grep -q broken \"$UNSNARL_STDOUT\" \"$UNSNARL_STDERR\"");
    assert_eq!(judge(&sees_output, "echo fine; exit 9"), Outcome::Pass);
    assert_eq!(
        judge(&sees_output, "echo broken >&2; exit 9"),
        fail("the --fail-if command says so, exit code 9")
    );
    let sees_code = oracle("test \"$UNSNARL_EXIT_CODE\" -gt 5");
    assert_eq!(judge(&sees_code, "exit 5"), Outcome::Pass);
    assert!(judge(&sees_code, "exit 6").is_failing());
    let sees_signal = oracle("test \"$UNSNARL_SIGNAL\" = 11");
    assert!(judge(&sees_signal, "kill -SEGV $$").is_failing());
}

#[test]
fn a_command_that_cannot_decide_does_not_pass_or_fail_the_run() {
    let oracle = Oracle::default().fail_if("no-such-command-here".into());
    assert_eq!(
        judge(&oracle, "exit 0"),
        Outcome::Damaged {
            why: "the --fail-if command ended with 127, neither 0 (failed) nor 1 (passed)".into()
        }
    );
}
