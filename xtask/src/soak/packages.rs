//! Packages that come with a configure script.

use std::path::Path;
use std::process::Command;

use super::ground::Ground;
use crate::workspace;

/// Configures a package for the recorder, unless it has been, and makes one of its targets.
pub fn make(ground: &Ground, source: &Path, options: &[&str], target: &str) -> anyhow::Result<()> {
    if !source.join("Makefile").exists() {
        let mut configure = Command::new("./configure");
        workspace::run_quietly(configure.current_dir(source).arg(ground.compiler()).args(options))?;
    }
    let mut make = Command::new("make");
    // Debian's patches are newer than the files that automake and its kin have made; these tools need not be there to make
    // them again.
    make.current_dir(source).args(["AUTOMAKE=:", "AUTOCONF=:", "ACLOCAL=:", "AUTOHEADER=:"]);
    workspace::run_quietly(make.args(["-j2", target]))
}
