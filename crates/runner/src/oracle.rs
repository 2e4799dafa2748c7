//! Says whether a run passed.

use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use regex::bytes::Regex;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::process::{self, End, Finished, Launch};
use crate::{nothing_tested, signature};

/// What came out of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "lowercase")]
pub enum Outcome {
    /// It passed.
    Pass,
    /// It failed.
    Fail {
        /// In a few words that are the same for runs that failed alike.
        reason: String,
    },
    /// It did not end in time. Counts as failing, but is told apart.
    Hang {
        /// The same, with what it said last.
        #[serde(default = "hung")]
        reason: String,
    },
    /// Trouble of our own; says nothing about the test.
    Damaged {
        /// What the trouble was.
        why: String,
    },
}

fn hung() -> String {
    "did not end in time".to_owned()
}

impl Outcome {
    /// One that did not end in time and said nothing.
    pub fn hang() -> Outcome {
        Outcome::Hang { reason: hung() }
    }

    /// Did it not end in time?
    pub fn is_hang(&self) -> bool {
        matches!(self, Outcome::Hang { .. })
    }

    /// Does it count as failing?
    pub fn is_failing(&self) -> bool {
        matches!(self, Outcome::Fail { .. } | Outcome::Hang { .. })
    }

    /// What a person is told about a failing run.
    pub fn reason(&self) -> &str {
        match self {
            Outcome::Pass => "passed",
            Outcome::Fail { reason } | Outcome::Hang { reason } => reason,
            Outcome::Damaged { why } => why,
        }
    }
}

/// How it is said of a run that it says nothing since no test's name was what was asked for.
pub const RAN_NO_TEST: &str = "it ran no test";

/// The longest that a `--fail-if` command may take.
const FAIL_IF_TIMEOUT: Duration = Duration::from_secs(60);

/// The rules by which runs are judged. Any of them can fail a run.
///
/// A `--fail-if` command stands in for the exit status, which it can see: only so can a program be tested
/// that exits with a nonzero code when all is well.
#[derive(Clone, Debug, Default)]
pub struct Oracle {
    fail_pattern: Option<Regex>,
    expected_stdout: Option<Vec<u8>>,
    fail_if: Option<OsString>,
}

impl Oracle {
    /// Fails runs that print a line with this regular expression in it, to standard output or error. Several may be
    /// given.
    pub fn fail_on_pattern(mut self, pattern: &str) -> Result<Oracle> {
        let bad =
            |error: regex::Error| Error::BadPattern { pattern: pattern.to_owned(), why: error.to_string() };
        let regex = Regex::new(pattern).map_err(bad)?;
        self.fail_pattern = Some(match self.fail_pattern {
            Some(other) => Regex::new(&format!("(?:{other})|(?:{pattern})")).map_err(bad)?,
            None => regex,
        });
        Ok(self)
    }

    /// Fails runs whose standard output differs from this file's content in any byte.
    pub fn expect_stdout(mut self, file: &Path) -> Result<Oracle> {
        self.expected_stdout = Some(fs::read(file).map_err(Error::reading("read", file))?);
        Ok(self)
    }

    /// Fails runs after which this shell command ends with 0. It ends with 1 if the run passed; anything else
    /// means that it could not tell. It sees `UNSNARL_STDOUT` and `UNSNARL_STDERR` (files with the beginning
    /// and the end of what was printed), `UNSNARL_EXIT_CODE` and `UNSNARL_SIGNAL` (empty where none).
    pub fn fail_if(mut self, command: OsString) -> Oracle {
        self.fail_if = Some(command);
        self
    }

    /// What to look for in the outputs: belongs into [`Launch::pattern`].
    pub fn pattern(&self) -> Option<&Regex> {
        self.fail_pattern.as_ref()
    }

    /// Judges a run. `scratch` is a folder for the files that a `--fail-if` command gets.
    pub fn judge(&self, finished: &Finished, scratch: &Path, cancelled: &AtomicBool) -> Result<Outcome> {
        let fail = |reason: String| Ok(Outcome::Fail { reason });
        let end = match finished.end {
            End::TimedOut => {
                // What killed one thread may be what the others wait for.
                let (stderr, stdout) = (finished.stderr.text(), finished.stdout.text());
                return Ok(Outcome::Hang { reason: signature::describe(&hung(), &stderr, &stdout) });
            }
            End::TooSlow => {
                let why = "it was ended, since it is far slower with one thread at a time";
                return Ok(Outcome::Damaged { why: why.to_owned() });
            }
            End::Cancelled => return Ok(Outcome::Damaged { why: "cancelled".to_owned() }),
            End::Exited(code) => format!("exit code {code}"),
            End::Signaled(signal) => signature::signal_name(signal),
        };
        if self.fail_if.is_none() && finished.end != End::Exited(0) {
            return fail(signature::describe(&end, &finished.stderr.text(), &finished.stdout.text()));
        }
        if let Some(line) = finished.stderr.matched().or(finished.stdout.matched()) {
            return fail(signature::of_line(line, &finished.stderr.text()));
        }
        if let Some(expected) = &self.expected_stdout
            && !finished.stdout.is(expected)
        {
            let line = first_difference(&finished.stdout.text(), expected);
            return fail(match finished.stdout.is_whole() {
                true => format!("output differs from the expected one in line {line}"),
                false => "output differs from the expected one".to_owned(),
            });
        }
        match &self.fail_if {
            Some(command) => run_fail_if(command, finished, scratch, cancelled, &end),
            None => Ok(passed(finished)),
        }
    }
}

/// It passed, unless there was no test to pass.
fn passed(finished: &Finished) -> Outcome {
    match nothing_tested::told([&*finished.stdout.text(), &*finished.stderr.text()]) {
        Some(line) => Outcome::Damaged { why: format!("{RAN_NO_TEST}: `{line}`") },
        None => Outcome::Pass,
    }
}

/// The line in which printed and expected text part.
fn first_difference(printed: &[u8], expected: &[u8]) -> usize {
    let same = printed.iter().zip(expected).take_while(|(a, b)| a == b).count();
    1 + printed[..same].iter().filter(|&&byte| byte == b'\n').count()
}

fn run_fail_if(
    command: &OsString,
    finished: &Finished,
    scratch: &Path,
    cancelled: &AtomicBool,
    end: &str,
) -> Result<Outcome> {
    let file = |name: &str, content: &[u8]| {
        let path = scratch.join(name);
        fs::write(&path, content).map_err(Error::writing(&path))?;
        Ok(path.into_os_string())
    };
    let (code, signal) = match finished.end {
        End::Exited(code) => (code.to_string(), String::new()),
        End::Signaled(signal) => (String::new(), signal.to_string()),
        End::TimedOut | End::TooSlow | End::Cancelled => (String::new(), String::new()),
    };
    let environment = [
        ("UNSNARL_STDOUT".into(), file("stdout", &finished.stdout.text())?),
        ("UNSNARL_STDERR".into(), file("stderr", &finished.stderr.text())?),
        ("UNSNARL_EXIT_CODE".into(), code.into()),
        ("UNSNARL_SIGNAL".into(), signal.into()),
    ];
    let verdict = process::run(
        &Launch {
            program: Path::new("/bin/sh"),
            arguments: &["-c".into(), command.clone()],
            input: None,
            environment: &environment,
            timeout: Some(FAIL_IF_TIMEOUT),
            pattern: None,
            fixed_addresses: false,
            recordings: None,
            pace: None,
        },
        cancelled,
    )?;
    let broken = |how: String| Ok(Outcome::Damaged { why: format!("the --fail-if command {how}") });
    match verdict.end {
        End::Exited(0) => {
            let reason = signature::describe(
                &format!("the --fail-if command says so, {end}"),
                &finished.stderr.text(),
                &finished.stdout.text(),
            );
            Ok(Outcome::Fail { reason })
        }
        End::Exited(1) => Ok(Outcome::Pass),
        End::Exited(code) => broken(format!("ended with {code}, neither 0 (failed) nor 1 (passed)")),
        End::Signaled(signal) => broken(format!("was ended by {}", signature::signal_name(signal))),
        End::TimedOut | End::TooSlow => broken("did not end".to_owned()),
        End::Cancelled => broken("was cancelled".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bad_pattern_is_named() {
        let error = Oracle::default().fail_on_pattern("(").unwrap_err().to_string();
        assert!(error.starts_with("the pattern `(` is not a regular expression"), "{error}");
    }

    #[test]
    fn the_first_differing_line_is_told() {
        assert_eq!(first_difference(b"a\nb\nc", b"a\nB\nc"), 2);
        assert_eq!(first_difference(b"a\n", b"a\nb\n"), 2);
        assert_eq!(first_difference(b"a", b"a\n"), 1);
    }
}
