//! A few words for what a failing run looked like, the same for runs that failed alike.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::{Captures, Regex};

use crate::oracle::Outcome;

/// Longer messages are cut: a signature is read in a line among others.
const LONGEST: usize = 160;

/// Between how a run ended and what it said.
const JOINT: &str = ", ";

/// What a failing program says last, and how that reads as a signature. The first that occurs counts, so the
/// more telling ones come first. `$name` stands for the pattern's group, `file` without its folders and `said`, which the
/// program makes up as it goes, without its numbers; where it says nothing, the colon goes too.
const MESSAGES: &[(&str, &str)] = &[
    // glibc's assert
    (
        r"(?m)^(?:.*: )?(?<file>[^\s:]+):(?<line>\d+): .*: Assertion [`'](?<what>.*)' failed\.$",
        "assertion `$what` at $file:$line",
    ),
    // musl's assert
    (
        r"(?m)^Assertion failed: (?<what>.*) \((?<file>[^\s:]+): .*: (?<line>\d+)\)$",
        "assertion `$what` at $file:$line",
    ),
    // libstdc++'s terminate
    (
        r"(?m)^terminate called after throwing an instance of '(?<type>.*)'\n +what\(\): +(?<said>.*)$",
        "uncaught $type: $said",
    ),
    (r"(?m)^terminate called after throwing an instance of '(?<type>.*)'$", "uncaught $type"),
    (r"(?m)^terminate called without an active exception$", "terminate without an active exception"),
    // Rust's panic
    (r"(?m)panicked at (?<file>[^\s:]+):(?<line>\d+):\d+:\n(?<said>.*)$", "panic `$said` at $file:$line"),
    // glibc's checks of its heap and stack
    (
        r"(?m)^(?<what>(?:malloc|calloc|realloc|free|munmap_chunk|malloc_consolidate)\(\): .*|double free or corruption.*|corrupted .*)$",
        "$what",
    ),
    (r"(?m)^\*\*\* (?<what>.*) \*\*\*:? .*$", "$what"),
    // An exception that ended a thread of a Java virtual machine, at the first place that is not the platform's own
    (
        r#"(?m)^Exception in thread "[^"\n]*" (?<type>[\w.$]+)(?:: (?<said>.*))?(?:\n\tat (?:java|jdk|sun)[\w.]*[./].*)*\n\tat .*\((?<file>[^():\n]+):(?<line>\d+)\)$"#,
        "uncaught $type: $said at $file:$line",
    ),
    (r#"(?m)^Exception in thread "[^"\n]*" (?<type>[\w.$]+)(?:: (?<said>.*))?$"#, "uncaught $type: $said"),
    // What JUnit's console launcher prints of the first test that failed, at the first place that is neither its own nor the platform's
    (
        r"(?m)^ +=> (?<type>[\w.$]+)(?:: (?<said>.*))?(?:\n +(?:[\w.]+/+)?(?:java|jdk|sun|org\.junit|org\.hamcrest|org\.assertj)\.\S*\(.*\))*\n +\S+\((?<file>[^():\n]+):(?<line>\d+)\)$",
        "$type: $said at $file:$line",
    ),
    // GoogleTest's and Catch2's first failing check
    (r"(?m)^(?<file>[^\s:]+):(?<line>\d+): (?:Failure|FAILED:?)$", "check failed at $file:$line"),
];

static PATTERNS: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
    let compile = |&(pattern, form): &(&str, &'static str)| Some((Regex::new(pattern).ok()?, form));
    MESSAGES.iter().filter_map(compile).collect()
});

/// Addresses, and what Java's objects have in their place, differ between runs that failed alike.
static CHANGING: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(0x)[0-9a-fA-F]+|(@)[0-9a-f]{5,8}\b").ok());

/// So do numbers, in what a program says about them.
static NUMBERS: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"\b[0-9][0-9.,_]*[0-9]\b|\b[0-9]\b").ok());

/// And how many of them a list has.
static LISTS: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"([\[{])…(?:, …)+([\]}])").ok());

/// Adds what the program said to how it ended.
pub(crate) fn describe(end: &str, stderr: &[u8], stdout: &[u8]) -> String {
    let message = [stderr, stdout].into_iter().find_map(|output| message(&String::from_utf8_lossy(output)));
    match message {
        Some(message) => format!("{end}{JOINT}{}", steady(&message)),
        None => end.to_owned(),
    }
}

/// What a run printed that tells that it failed: this line, or what the line is the beginning of.
pub(crate) fn of_line(line: &str, stderr: &[u8]) -> String {
    let stderr = String::from_utf8_lossy(stderr);
    let from_line = stderr.find(line).map_or(line, |at| &stderr[at..]);
    let is_meant = |groups: &Captures<'_>| groups.get(0).is_some_and(|all| all.start() == 0);
    let told = PATTERNS.iter().find_map(|(pattern, form)| {
        pattern.captures(from_line).filter(is_meant).map(|groups| fill(form, &groups))
    });
    told.map_or_else(|| format!("printed `{}`", steady(line)), |told| steady(&told))
}

/// Whether nothing in what a failing run printed is known to tell of a failure.
pub(crate) fn is_untold(outcome: &Outcome) -> bool {
    outcome.is_failing() && !outcome.reason().contains(JOINT)
}

/// What a program printed last, which most often says what went wrong.
pub(crate) fn last_line(stderr: &[u8], stdout: &[u8]) -> Option<String> {
    let last = |output: &[u8]| {
        let text = String::from_utf8_lossy(output);
        let line = text.lines().rev().map(str::trim).find(|line| !line.is_empty())?;
        Some(steady(line))
    };
    last(stderr).or_else(|| last(stdout))
}

/// Makes a text the same for runs that failed alike, and short.
pub(crate) fn steady(text: &str) -> String {
    let text = match &*CHANGING {
        Some(changing) => changing.replace_all(text, "$1$2…"),
        None => Cow::Borrowed(text),
    };
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.into_owned(),
    }
}

fn message(text: &str) -> Option<String> {
    PATTERNS.iter().find_map(|(pattern, form)| Some(fill(form, &pattern.captures(text)?)))
}

fn fill(form: &str, groups: &Captures<'_>) -> String {
    let group = |name: &str| groups.name(name).map_or("", |group| group.as_str());
    let file = group("file");
    let form = if group("said").is_empty() { form.replace(": $said", "") } else { form.to_owned() };
    form.replace("$file", file.rsplit('/').next().unwrap_or(file))
        .replace("$line", group("line"))
        .replace("$type", group("type"))
        .replace("$what", group("what"))
        .replace("$said", &without_numbers(group("said")))
}

/// A text without what may differ between runs that failed alike.
pub fn without_numbers(text: &str) -> String {
    let text = NUMBERS.as_ref().map_or(Cow::Borrowed(text), |numbers| numbers.replace_all(text, "…"));
    LISTS.as_ref().map_or(Cow::Borrowed(&*text), |lists| lists.replace_all(&text, "$1…$2")).into_owned()
}

/// A signal's usual name.
pub(crate) fn signal_name(signal: i32) -> String {
    let name = match signal {
        libc::SIGABRT => "SIGABRT",
        libc::SIGALRM => "SIGALRM",
        libc::SIGBUS => "SIGBUS",
        libc::SIGFPE => "SIGFPE",
        libc::SIGHUP => "SIGHUP",
        libc::SIGILL => "SIGILL",
        libc::SIGINT => "SIGINT",
        libc::SIGKILL => "SIGKILL",
        libc::SIGPIPE => "SIGPIPE",
        libc::SIGQUIT => "SIGQUIT",
        libc::SIGSEGV => "SIGSEGV",
        libc::SIGSYS => "SIGSYS",
        libc::SIGTERM => "SIGTERM",
        libc::SIGTRAP => "SIGTRAP",
        libc::SIGUSR1 => "SIGUSR1",
        libc::SIGUSR2 => "SIGUSR2",
        libc::SIGXCPU => "SIGXCPU",
        libc::SIGXFSZ => "SIGXFSZ",
        other => return format!("signal {other}"),
    };
    name.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_is_valid() {
        assert_eq!(PATTERNS.len(), MESSAGES.len());
        assert!(CHANGING.is_some() && NUMBERS.is_some() && LISTS.is_some());
    }

    #[test]
    fn messages_become_signatures() {
        let check = |stderr: &str, expected: &str| {
            assert_eq!(describe("END", stderr.as_bytes(), b""), expected);
        };
        check("", "END");
        check("something else\n", "END");
        check(
            "warming up\nqueue_test: tests/queue_test.c:88: main: Assertion `item != NULL' failed.\n",
            "END, assertion `item != NULL` at queue_test.c:88",
        );
        check(
            "a.out: q.cc:7: void pop(T&) [with T = int]: Assertion `n > 0' failed.\n",
            "END, assertion `n > 0` at q.cc:7",
        );
        check(
            "terminate called after throwing an instance of 'std::out_of_range'\n  what():  vector::_M_range_check: at 0x7ff01\n",
            "END, uncaught std::out_of_range: vector::_M_range_check: at 0x…",
        );
        check(
            "Exception in thread \"main\" java.lang.IllegalStateException: task Job@35e4649a rejected\n",
            "END, uncaught java.lang.IllegalStateException: task Job@… rejected",
        );
        check("terminate called after throwing an instance of 'int'\n", "END, uncaught int");
        check("thread 'main' panicked at src/lib.rs:3:5:\nboom\nnote: …\n", "END, panic `boom` at lib.rs:3");
        check(
            "thread 'main' panicked at a.rs:3:5:\nserved 52 of 50 by worker2: -1.5\n",
            "END, panic `served … of … by worker2: -…` at a.rs:3",
        );
        for list in ["[21, 24, 31]", "[21, 31]", "[7]"] {
            let stderr = format!("thread 'main' panicked at a.rs:3:5:\nclock went down: {list}\n");
            check(&stderr, "END, panic `clock went down: […]` at a.rs:3");
        }
        check("double free or corruption (fasttop)\n", "END, double free or corruption (fasttop)");
        check("*** stack smashing detected ***: terminated\n", "END, stack smashing detected");
    }

    #[test]
    fn java_exceptions_become_signatures_wherever_they_are_thrown() {
        let check = |stderr: &str, expected: &str| {
            assert_eq!(describe("END", stderr.as_bytes(), b""), format!("END, {expected}"));
            let line = stderr.lines().find(|line| line.starts_with("Exception in")).unwrap();
            assert_eq!(of_line(line, stderr.as_bytes()), expected);
        };
        check(
            "hello\nException in thread \"Thread-0\" shop.Empty: 3 of 17 left in cart7\n\tat shop.Cart.take(Cart.java:12)\n",
            "uncaught shop.Empty: … of … left in cart7 at Cart.java:12",
        );
        check(
            "Exception in thread \"main\" java.util.ConcurrentModificationException\n\tat java.base/java.util.ArrayList$Itr.next(ArrayList.java:967)\n\tat app//shop.Cart.sum(Cart.java:40)\n",
            "uncaught java.util.ConcurrentModificationException at Cart.java:40",
        );
        check(
            "Exception in thread \"main\" java.lang.OutOfMemoryError\n",
            "uncaught java.lang.OutOfMemoryError",
        );
        check(
            "Exception in thread \"a\" java.lang.Error: no\n\tat java.base/java.lang.Thread.run(Thread.java:840)\n",
            "uncaught java.lang.Error: no at Thread.java:840",
        );
        assert_eq!(of_line("lost 3 items", b"lost 3 items\n"), "printed `lost 3 items`");
    }

    #[test]
    fn frameworks_that_print_to_stdout_are_heard_too() {
        let stdout = b"[ RUN      ] Queue.Pop\n/src/queue_test.cc:12: Failure\nExpected 1\n";
        assert_eq!(describe("exit code 1", b"", stdout), "exit code 1, check failed at queue_test.cc:12");
    }

    #[test]
    fn what_junit_says_of_a_failed_test_is_its_signature() {
        let stdout = "│     └─ eq() ✘ rows ==> expected: <3> but was: <2>\n\nFailures (1):\n  JUnit Jupiter:FooTest:eq()\n    => \
                      org.opentest4j.AssertionFailedError: rows ==> expected: <3> but was: <2>\n       \
                      org.junit.jupiter.api.Assertions.assertEquals(Assertions.java:560)\n       \
                      FooTest.eq(FooTest.java:3)\n       java.base/java.lang.reflect.Method.invoke(Method.java:569)\n";
        let expected = "exit code 1, org.opentest4j.AssertionFailedError: rows ==> expected: <…> but was: <…> at FooTest.java:3";
        assert_eq!(describe("exit code 1", b"", stdout.as_bytes()), expected);
        let stdout = "    => java.lang.UnsupportedOperationException\n       \
                      java.base/java.util.ImmutableCollections$ListItr.remove(ImmutableCollections.java:380)\n       \
                      FooTest.npe(FooTest.java:4)\n";
        let expected = "exit code 1, java.lang.UnsupportedOperationException at FooTest.java:4";
        assert_eq!(describe("exit code 1", b"", stdout.as_bytes()), expected);
    }

    #[test]
    fn of_what_nobody_knows_the_last_line_is_told() {
        let last = |stderr: &str, stdout: &str| last_line(stderr.as_bytes(), stdout.as_bytes());
        assert_eq!(
            last("starting\nbind: Address in use\n\n", "1 of 3\n").as_deref(),
            Some("bind: Address in use")
        );
        assert_eq!(last("\n", "sold 3 seats at 0x7ffe48\n").as_deref(), Some("sold 3 seats at 0x…"));
        assert_eq!(last("", " \n"), None);
        let failed = |reason: &str| is_untold(&Outcome::Fail { reason: reason.to_owned() });
        assert!(failed("exit code 7") && !failed(&describe("SIGABRT", b"free(): invalid pointer\n", b"")));
        assert!(!is_untold(&Outcome::Pass));
    }

    #[test]
    fn long_texts_are_cut_between_characters() {
        let cut = steady(&"é".repeat(500));
        assert_eq!(cut.chars().count(), LONGEST + 1);
        assert!(cut.ends_with('…'));
    }
}
