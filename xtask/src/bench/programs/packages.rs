//! Packages of Debian's that are built by their own makefiles, each in a copy of its source for each way to build it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{FLAGS, Language, driver};
use crate::bench::variants::Build;
use crate::tool::Tool;
use crate::{sources, workspace};

/// How a package is made.
pub struct Package {
    pub name: &'static str,
    /// The arguments of its configure script, if it has one.
    pub configured: Option<Vec<String>>,
    /// Where in the source its makefile is.
    pub folder: &'static str,
    /// The arguments of `make`.
    pub made: &'static [&'static str],
    /// What is wanted of it, from where its makefile is.
    pub result: &'static str,
}

impl Package {
    /// Makes it in `folder`, unless that was done before. None if the compiler is not installed.
    pub fn make(&self, build: Build, tool: &Tool, folder: &Path) -> anyhow::Result<Option<PathBuf>> {
        let Some(driver) = driver(build, Language::C, tool) else { return Ok(None) };
        let copy = folder.join(self.name);
        let result = copy.join(self.folder).join(self.result);
        // With another recorder, what is built for it is another program.
        if build != Build::Recorded && result.exists() {
            return Ok(Some(result));
        }
        if copy.exists() {
            fs::remove_dir_all(&copy)?;
        }
        let original = sources::debian(self.name)?;
        // With times and modes, which makefiles and configure scripts depend on.
        workspace::run(Command::new("cp").arg("-a").arg(original).arg(&copy))?;
        let (compiler, flags) = (format!("CC={}", driver.join(" ")), FLAGS.join(" "));
        if let Some(options) = &self.configured {
            let mut configure = Command::new("./configure");
            configure.current_dir(&copy).env("CFLAGS", &flags).arg(&compiler).args(options);
            workspace::run_quietly(&mut configure)?;
        }
        let mut make = Command::new("make");
        make.current_dir(copy.join(self.folder)).env("CFLAGS", &flags).arg(&compiler).arg("-j2");
        // Debian's patches are newer than the files that automake and its kin have made; these tools need not be there to make
        // them again.
        make.args(["AUTOMAKE=:", "AUTOCONF=:", "ACLOCAL=:", "AUTOHEADER=:"]).args(self.made);
        workspace::run_quietly(&mut make)?;
        Ok(Some(result))
    }
}
