//! Runs that passed because they tested nothing: a filter that no test's name matches is no failure to most harnesses.

use std::sync::LazyLock;

use regex::Regex;

/// What a harness prints that has run no test.
const NOTHING: &[&str] = &[
    // Rust's own
    r"(?m)^running 0 tests$",
    // nextest
    r"(?m)^\s*Starting 0 tests across ",
    // GoogleTest
    r"(?m)^\[=+\] Running 0 tests from 0 test (?:suites|cases)\.",
    // Catch2, of versions that take this for no failure
    r"(?m)^No test cases matched ",
    r"(?m)^No tests ran$",
    // CTest
    r"(?m)^No tests were found!!!$",
    // JUnit's console launcher
    r"(?m)^\[ +0 tests found +\]$",
];

/// What one prints that has run some: another of several programs may have.
const SOME: &str = r"(?m)^running [1-9]\d* tests?$";

static PATTERNS: LazyLock<Vec<Regex>> =
    LazyLock::new(|| NOTHING.iter().filter_map(|pattern| Regex::new(pattern).ok()).collect());

static HAS_SOME: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(SOME).ok());

/// The line that says so, of a run that tested nothing.
pub(crate) fn told<'a>(outputs: impl IntoIterator<Item = &'a [u8]>) -> Option<String> {
    let mut nothing = None;
    for output in outputs {
        let text = String::from_utf8_lossy(output);
        if HAS_SOME.as_ref().is_some_and(|some| some.is_match(&text)) {
            return None;
        }
        let line =
            || PATTERNS.iter().find_map(|pattern| Some(pattern.find(&text)?.as_str().trim().to_owned()));
        nothing = nothing.or_else(line);
    }
    nothing
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_is_valid() {
        assert_eq!(PATTERNS.len(), NOTHING.len());
        assert!(HAS_SOME.is_some());
    }

    #[test]
    fn a_run_without_a_test_is_told_from_one_that_passed() {
        let told = |stdout: &str| told([&b""[..], stdout.as_bytes()]);
        let rust = "\nrunning 0 tests\n\ntest result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 3 filtered out\n";
        assert_eq!(told(rust).as_deref(), Some("running 0 tests"));
        let google = "Note: Google Test filter = Bnak.*\n[==========] Running 0 tests from 0 test suites.\n";
        assert!(told(google).unwrap().contains("Running 0 tests"));
        assert!(told("Filters: [nosuch]\nNo test cases matched '[nosuch]'\n").is_some());
        assert!(told("Test project /x\nNo tests were found!!!\n").is_some());
        // The first of several programs that cargo has run.
        assert_eq!(told(&format!("\nrunning 1 test\ntest a ... ok\n{rust}")), None);
        assert_eq!(told("we are running 0 tests today\n"), None);
        assert_eq!(told(""), None);
    }
}
