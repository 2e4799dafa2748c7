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
        match subject.truth.language {
            Language::C => Programs::compile(subject, tool, folder, ("-std=gnu11", "gcc", "cc")),
            Language::Cxx => Programs::compile(subject, tool, folder, ("-std=gnu++17", "g++", "c++")),
            Language::Rust => Programs::build_packages(subject, tool, folder),
        }
    }

    /// With gcc's command line: the standard, the compiler, and what unsnarl calls it.
    fn compile(
        subject: &Subject,
        tool: &Tool,
        folder: &Path,
        (standard, native, recording): (&str, &str, &str),
    ) -> anyhow::Result<Programs> {
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

    fn build_packages(subject: &Subject, tool: &Tool, folder: &Path) -> anyhow::Result<Programs> {
        let build = |mut cargo: Command, name: &str, flags: &str| -> anyhow::Result<PathBuf> {
            let target = folder.join(name);
            cargo.current_dir(&subject.folder).args(["build", "--release", "--quiet"]);
            workspace::run(cargo.env("CARGO_TARGET_DIR", &target).env("RUSTFLAGS", flags))?;
            Ok(target)
        };
        let unsnarl = || {
            let mut unsnarl = tool.command();
            unsnarl.arg("cargo");
            unsnarl
        };
        let name = Path::new("release").join(&subject.truth.name);
        Ok(Programs {
            native: build(workspace::cargo(), "native", "")?.join(&name),
            recorded: recorded_program(&build(unsnarl(), "recorded", "")?, &name)?,
            fixed: recorded_program(&build(unsnarl(), "fixed", "--cfg fixed")?, &name)?,
        })
    }
}

/// `cargo unsnarl` builds into a folder of its own, and there into one that is named after the machine.
fn recorded_program(target: &Path, name: &Path) -> anyhow::Result<PathBuf> {
    let folder = target.join("unsnarl");
    let machines = std::fs::read_dir(&folder).with_context(|| format!("cannot list {}", folder.display()))?;
    let mut programs = machines.filter_map(|machine| Some(machine.ok()?.path().join(name)));
    programs
        .find(|program| program.exists())
        .with_context(|| format!("cargo unsnarl left no {} in {}", name.display(), folder.display()))
}
