//! Exit codes, and what to say when something is wrong: the error, and what to do next.

use std::fmt;
use std::process::ExitCode;

use runner::Error;

use crate::screen;

/// There is a finding to show.
pub const FOUND: u8 = 0;
/// Something went wrong that has no code of its own.
pub const TROUBLE: u8 = 1;
/// The command line makes no sense (clap's own code).
pub const USAGE: u8 = 2;
/// The program was not built for recording.
pub const NOT_INSTRUMENTED: u8 = 3;
/// There is no such program.
pub const NOT_FOUND: u8 = 4;
/// The program cannot be started.
pub const NOT_EXECUTABLE: u8 = 5;
/// A program could not be compiled.
pub const NOT_BUILT: u8 = 6;
/// The session's folder, or that for temporary files, cannot be written.
pub const UNWRITABLE: u8 = 7;
/// The disk is full.
pub const DISK_FULL: u8 = 8;
/// What was given is no session, or one of another version.
pub const NO_SESSION: u8 = 9;
/// No run failed.
pub const NO_FAILING_RUN: u8 = 10;
/// No run passed.
pub const NO_PASSING_RUN: u8 = 11;
/// Runs failed and runs passed, but nothing tells them apart.
pub const NOTHING_FOUND: u8 = 12;
/// No run recorded anything, or ran a test.
pub const NOTHING_RECORDED: u8 = 13;
/// Sessions of different programs, or a program that was rebuilt since.
pub const DIFFERENT_PROGRAMS: u8 = 14;
/// The finding is not the cause.
pub const REFUTED: u8 = 15;
/// Nothing follows from the trials.
pub const UNDECIDED: u8 = 16;
/// The run did not fail again in the same way.
pub const NOT_REPRODUCED: u8 = 17;
/// What was to be mended still fails.
pub const STILL_FAILS: u8 = 18;
/// The user ended it: twice, or before the first run was done (what shells say of SIGINT).
pub const INTERRUPTED: u8 = 130;

pub const CODES_HELP: &str = "\
Exit codes:
   0  there is a finding to show             8  the disk is full
   1  unexpected trouble                     9  not a session, or one of another version
   2  wrong usage                           10  no run failed
   3  program not built for recording       11  no run passed
   4  program not found                     12  failing and passing runs look alike
   5  program cannot be started             13  nothing recorded, or no test ran
   6  compilation failed                    14  different or rebuilt programs
   7  a folder cannot be written            15  the finding is not the cause
  16  nothing follows from the trials       17  the run did not fail again in the same way
  18  what was to be mended still fails     130  interrupted twice, or before the first run was done";

/// What to say of a finding that there is not.
pub fn no_finding(number: usize, present: usize) -> String {
    match present {
        0 => format!("there is no finding {number}: the report has none"),
        1 => format!("there is no finding {number}: the report has 1"),
        _ => format!("there is no finding {number}: the report has 1 to {present}"),
    }
}

/// Something wrong that no library knows of, with all that there is to say about it.
#[derive(Debug)]
pub struct Complaint {
    pub code: u8,
    pub what: String,
    /// What to do next; empty if that is plain.
    pub advice: &'static str,
}

impl Complaint {
    /// For arguments that make no sense.
    pub fn usage(what: String) -> Complaint {
        Complaint { code: USAGE, what, advice: "" }
    }
}

impl fmt::Display for Complaint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}

impl std::error::Error for Complaint {}

/// Prints an error with what to do next, and gives its exit code.
pub fn explain(error: &anyhow::Error) -> ExitCode {
    screen::say(&format!("error: {}\n", in_one_line(error)));
    let (code, advice) = if let Some(error) = error.downcast_ref::<Error>() {
        advise(error)
    } else if let Some(complaint) = error.downcast_ref::<Complaint>() {
        (complaint.code, complaint.advice)
    } else {
        (TROUBLE, "")
    };
    if !advice.is_empty() {
        screen::say(&format!("{advice}\n"));
    }
    ExitCode::from(code)
}

/// An error and its causes. Some messages have their cause in them already.
pub fn in_one_line(error: &anyhow::Error) -> String {
    let mut line = error.to_string();
    for cause in error.chain().skip(1).map(ToString::to_string) {
        if !line.ends_with(&cause) {
            line = format!("{line}: {cause}");
        }
    }
    line
}

fn advise(error: &Error) -> (u8, &'static str) {
    match error {
        Error::NoCommand => (USAGE, "  say what to run:  unsnarl run -- ./test arguments"),
        Error::CommandNotFound { name } if name.contains('/') => {
            (NOT_FOUND, "  is it built, and is this the right folder?")
        }
        Error::CommandNotFound { .. } => {
            (NOT_FOUND, "  a program in this folder needs its path:  unsnarl run -- ./test")
        }
        Error::IsDirectory { .. } => (NOT_EXECUTABLE, "  name the program inside it"),
        Error::NotExecutable { .. } => (NOT_EXECUTABLE, "  make it executable:  chmod +x FILE"),
        Error::Start { .. } => {
            (NOT_EXECUTABLE, "  a script needs a first line that names its interpreter, as in #!/bin/sh")
        }
        Error::OtherMachine { .. } => (NOT_EXECUTABLE, "  build it for the machine that unsnarl runs on"),
        Error::NotInstrumented { .. } => (
            NOT_INSTRUMENTED,
            "  build it with      CC=\"unsnarl cc\" CXX=\"unsnarl c++\" make\n  \
             or with            gcc -fsanitize=thread -g …",
        ),
        Error::StaticTsan { .. } | Error::OtherTsan { .. } => (
            NOT_INSTRUMENTED,
            "  rebuild it with    UNSNARL_CC=clang UNSNARL_CXX=clang CC=\"unsnarl cc\" CXX=\"unsnarl c++\" make\n  \
             or link it with    clang -fsanitize=thread -shared-libsan …   (a shared runtime can be replaced)\n  \
             or with gcc 12     gcc -fsanitize=thread -g …",
        ),
        Error::BadPattern { .. } | Error::BadSessionName { .. } => (USAGE, ""),
        Error::UnsupportedCompiler { .. } => (
            USAGE,
            "  choose one by --with, UNSNARL_CC or UNSNARL_CXX: gcc, g++, clang, clang++, or any path to them",
        ),
        Error::NoStaticLibrary { .. } => (USAGE, "  install it (Debian: libc6-dev), or link without -static"),
        Error::DiskFull { .. } => (
            DISK_FULL,
            "  all runs done so far are kept. Make room (unsnarl sessions delete NAME), or keep the session \
             elsewhere with --session PATH; recordings under way are in TMPDIR",
        ),
        Error::Unwritable { path, .. } | Error::Io { doing: "write", path, .. }
            if *path == std::env::temp_dir() =>
        {
            (UNWRITABLE, "  TMPDIR has to name a folder that there is, and that can be written")
        }
        Error::Unwritable { .. } => (UNWRITABLE, "  keep the session elsewhere with --session PATH"),
        Error::NotASession { .. } => (NO_SESSION, "  see which there are:  unsnarl sessions list"),
        Error::OtherVersion { .. } => {
            (NO_SESSION, "  use the unsnarl that made it, or record again with this one")
        }
        Error::DamagedManifest { .. } | Error::DamagedRun { .. } => (NO_SESSION, "  record again"),
        Error::DifferentBinaries { .. } => (
            DIFFERENT_PROGRAMS,
            "  runs can only be compared if they ran the same build: record again with one of them",
        ),
        Error::Rebuilt { .. } => (DIFFERENT_PROGRAMS, "  restore that build, or record again with this one"),
        _ => (TROUBLE, ""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::Context as _;
    use std::io;

    #[test]
    fn causes_are_told_once() {
        let source = io::Error::from(io::ErrorKind::NotFound);
        let error = anyhow::Error::from(Error::Io { doing: "open", path: "x".into(), source });
        assert_eq!(in_one_line(&error), "cannot open x: entity not found");
        let error = Err::<(), _>(io::Error::from(io::ErrorKind::NotFound)).context("no luck").unwrap_err();
        assert_eq!(in_one_line(&error), "no luck: entity not found");
    }
}
