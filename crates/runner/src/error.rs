//! Everything that can go wrong on unsnarl's side.

use std::io;
use std::path::{Path, PathBuf};

use crate::elf::BuildId;

/// The result of everything here that can fail.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What went wrong. Messages say what and where; the command line adds what to do next.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "each variant is documented by its message, each field by its name")]
pub enum Error {
    #[error("no command was given")]
    NoCommand,
    #[error("{name}: command not found")]
    CommandNotFound { name: String },
    #[error("{} is a directory", path.display())]
    IsDirectory { path: PathBuf },
    #[error("{} is not executable", path.display())]
    NotExecutable { path: PathBuf },
    #[error("{} was not built for recording: it calls none of the __tsan_ functions", path.display())]
    NotInstrumented { path: PathBuf },
    #[error(
        "{} has a thread sanitizer of its own linked into it, which leaves no room for the recorder", path.display()
    )]
    StaticTsan { path: PathBuf },
    #[error("{} needs {soname}, but the recorder can only stand in for {supported} and clang's shared runtime", path.display())]
    OtherTsan { path: PathBuf, soname: String, supported: &'static str },
    #[error("{} was built for {machine}, not for this machine", path.display())]
    OtherMachine { path: PathBuf, machine: String },
    #[error("cannot start {}: {source}", program.display())]
    Start { program: PathBuf, source: io::Error },

    #[error("the pattern `{pattern}` is not a regular expression: {why}")]
    BadPattern { pattern: String, why: String },

    #[error("no space left on the disk of {}", path.display())]
    DiskFull { path: PathBuf },
    #[error("cannot write to {}: {source}", path.display())]
    Unwritable { path: PathBuf, source: io::Error },
    #[error("cannot {doing} {}: {source}", path.display())]
    Io { doing: &'static str, path: PathBuf, source: io::Error },

    #[error("`{name}` cannot be the name of a session")]
    BadSessionName { name: String },
    #[error("{} is not a session", path.display())]
    NotASession { path: PathBuf },
    #[error("{} was written in format {found}, but this unsnarl reads format {supported}", path.display())]
    OtherVersion { path: PathBuf, found: u64, supported: u64 },
    #[error("{} is damaged at byte {offset}: {why}", path.display())]
    DamagedRun { path: PathBuf, offset: u64, why: String },
    #[error("{} is damaged: {why}", path.display())]
    DamagedManifest { path: PathBuf, why: String },
    #[error("sessions `{first}` and `{second}` ran different programs: {difference}")]
    DifferentBinaries { first: String, second: String, difference: String },

    #[error("{} was rebuilt since: its build id was {recorded} and is {found} now", path.display())]
    Rebuilt { path: PathBuf, recorded: BuildId, found: BuildId },
    #[error("cannot read symbols from {}: {why}", path.display())]
    Symbols { path: PathBuf, why: String },

    #[error("{compiler} has no static C library (libc.a), which a statically linked program needs")]
    NoStaticLibrary { compiler: String },
    #[error("{compiler} is not a compiler that unsnarl can drive: {why}")]
    UnsupportedCompiler { compiler: String, why: &'static str },
}

impl Error {
    /// An error while reading, under the name of what was being done ("open", "read", …).
    pub(crate) fn reading(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Error {
        let path = path.to_owned();
        move |source| Error::Io { doing, path, source }
    }

    /// An error while writing: the two that a user can do something about have variants of their own.
    pub fn writing(path: &Path) -> impl FnOnce(io::Error) -> Error {
        let path = path.to_owned();
        move |source| match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Error::DiskFull { path },
            io::ErrorKind::PermissionDenied
            | io::ErrorKind::ReadOnlyFilesystem
            | io::ErrorKind::NotADirectory
            // A file where a folder is to be made.
            | io::ErrorKind::AlreadyExists => Error::Unwritable { path, source },
            _ => Error::Io { doing: "write", path, source },
        }
    }
}
