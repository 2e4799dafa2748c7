//! Exit codes, and what to say when something is wrong: the error, and what to do next.

use std::process::ExitCode;

use runner::Error;

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
/// The session's folder cannot be written.
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
/// The program ran but recorded nothing.
pub const NOTHING_RECORDED: u8 = 13;
/// Sessions of different programs, or a program that was rebuilt since.
pub const DIFFERENT_PROGRAMS: u8 = 14;

pub const CODES_HELP: &str = "\
Exit codes:
   0  there is a finding to show             8  the disk is full
   1  unexpected trouble                     9  not a session, or one of another version
   2  wrong usage                           10  no run failed
   3  program not built for recording       11  no run passed
   4  program not found                     12  failing and passing runs look alike
   5  program cannot be started             13  the program recorded nothing
   6  compilation failed                    14  different or rebuilt programs
   7  session folder cannot be written";

/// Prints an error with what to do next, and gives its exit code.
pub fn explain(error: &anyhow::Error) -> ExitCode {
    eprintln!("error: {error:#}");
    let (code, advice) = match error.downcast_ref::<Error>() {
        Some(error) => advise(error),
        None => (TROUBLE, String::new()),
    };
    if !advice.is_empty() {
        eprintln!("{advice}");
    }
    ExitCode::from(code)
}

fn advise(error: &Error) -> (u8, String) {
    let (code, advice) = match error {
        Error::NoCommand => (USAGE, "  say what to run:  unsnarl run -- ./test arguments"),
        Error::CommandNotFound { .. } => {
            (NOT_FOUND, "  a program in this folder needs its path:  unsnarl run -- ./test")
        }
        Error::IsDirectory { .. } => (NOT_EXECUTABLE, "  name the program inside it"),
        Error::NotExecutable { .. } => (NOT_EXECUTABLE, "  make it executable:  chmod +x FILE"),
        Error::Start { .. } | Error::OtherMachine { .. } => (NOT_EXECUTABLE, ""),
        Error::NotInstrumented { .. } => (
            NOT_INSTRUMENTED,
            "  build it with      CC=\"unsnarl cc\" CXX=\"unsnarl c++\" make\n  \
             or with            gcc -fsanitize=thread -g …",
        ),
        Error::StaticTsan { .. } | Error::OtherTsan { .. } => (
            NOT_INSTRUMENTED,
            "  rebuild it with    CC=\"unsnarl cc\" CXX=\"unsnarl c++\" make\n  \
             or with gcc 12     gcc -fsanitize=thread -g …   (its shared runtime can be replaced)",
        ),
        Error::BadPattern { .. } | Error::BadSessionName { .. } => (USAGE, ""),
        Error::UnsupportedCompiler { .. } => (USAGE, "  choose gcc with UNSNARL_CC=gcc or UNSNARL_CXX=g++"),
        Error::DiskFull { .. } => (
            DISK_FULL,
            "  all runs done so far are kept. Make room (unsnarl sessions delete NAME), or keep the session \
             elsewhere with --session PATH; recordings under way are in TMPDIR",
        ),
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
    };
    (code, advice.to_owned())
}
