//! What the runs read from their standard input. One input cannot be shared by all of them, so that each opens a file anew.

use std::fs;
use std::path::{Path, PathBuf};

use crate::exit::Complaint;

const OWN: &str = "/proc/self/fd/0";

/// The file that unsnarl's own standard input comes from, as in `unsnarl run -- ./test < input`. A pipe or a terminal could
/// be read by one run only.
pub fn redirected() -> Option<PathBuf> {
    let path = fs::read_link(OWN).ok()?;
    // What was deleted since has a name that leads nowhere.
    fs::metadata(&path).is_ok_and(|found| found.is_file()).then_some(path)
}

/// The same file, if it can be read.
pub fn checked(path: Option<&Path>) -> Result<Option<PathBuf>, Complaint> {
    let unreadable =
        |path: &Path, error| Complaint::usage(format!("the runs cannot read {}: {error}", path.display()));
    if let Some(path) = path {
        fs::File::open(path).map_err(|error| unreadable(path, error))?;
    }
    Ok(path.map(Path::to_owned))
}
