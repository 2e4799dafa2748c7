//! Builds a corpus program: as it is, for the recorder, and its fixed twin for the recorder.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context as _;

use crate::tool::Tool;
use crate::truth::{Language, Subject};
use crate::workspace;

/// The programs of one subject.
pub struct Programs {
    /// Without any of us.
    pub native: PathBuf,
    /// With the recorder inside.
    pub recorded: PathBuf,
    /// With the recorder inside and without the bug.
    pub fixed: PathBuf,
}

impl Programs {
    /// Builds them into `folder`.
    pub fn build(subject: &Subject, tool: &Tool, folder: &Path) -> anyhow::Result<Programs> {
        std::fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
        let (standard, native, recording) = match subject.truth.language {
            Language::C => ("-std=gnu11", "gcc", "cc"),
            Language::Cxx => ("-std=gnu++17", "g++", "c++"),
        };
        let build = |mut compiler: Command, name: &str, more: &[&str]| -> anyhow::Result<PathBuf> {
            let program = folder.join(name);
            compiler.current_dir(&subject.folder).args([standard, "-O1", "-g", "-pthread"]).args(more);
            workspace::run(compiler.args(&subject.truth.sources).arg("-o").arg(&program))?;
            Ok(program)
        };
        let unsnarl = || {
            let mut unsnarl = tool.command();
            unsnarl.arg(recording);
            unsnarl
        };
        Ok(Programs {
            native: build(Command::new(native), "native", &[])?,
            recorded: build(unsnarl(), "recorded", &[])?,
            fixed: build(unsnarl(), "fixed", &["-DFIXED"])?,
        })
    }
}
