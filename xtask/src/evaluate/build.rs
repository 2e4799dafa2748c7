//! Builds a corpus program in one of its variants, for the recorder.

use std::path::{Path, PathBuf};

use anyhow::Context as _;

use crate::tool::Tool;
use crate::truth::{Language, Subject};
use crate::workspace;

/// Which of the programs that the same sources make.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Variant {
    /// With the bug.
    Buggy,
    /// The twin without it.
    Fixed,
    /// A correct program that fails by chance now and then.
    Flaky,
    /// A correct program with so many threads.
    Threads(u32),
}

impl Variant {
    pub fn name(self) -> &'static str {
        match self {
            Variant::Buggy => "buggy",
            Variant::Fixed => "fixed",
            Variant::Flaky => "flaky",
            Variant::Threads(_) => "threads",
        }
    }

    /// For a C compiler.
    fn definition(self) -> Option<String> {
        match self {
            Variant::Buggy => None,
            Variant::Fixed => Some("-DFIXED".to_owned()),
            Variant::Flaky => Some("-DFLAKY".to_owned()),
            Variant::Threads(threads) => Some(format!("-DTHREADS={threads}")),
        }
    }

    /// For rustc, which knows no number of threads.
    fn configuration(self) -> &'static str {
        match self {
            Variant::Buggy | Variant::Threads(_) => "",
            Variant::Fixed => "--cfg fixed",
            Variant::Flaky => "--cfg flaky",
        }
    }
}

/// Builds a program with the recorder inside into `folder` and says where it is.
pub fn build(
    subject: &Subject,
    tool: &Tool,
    folder: &Path,
    variant: Variant,
    noise_size: u8,
) -> anyhow::Result<PathBuf> {
    std::fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    let output = folder.join(variant.name());
    let mut unsnarl = tool.command();
    unsnarl.current_dir(&subject.folder);
    match subject.truth.language {
        Language::C => unsnarl.args(["cc", "-std=gnu11"]),
        Language::Cxx => unsnarl.args(["c++", "-std=gnu++17"]),
        Language::Rust => {
            // C code inside of crates is compiled by their build scripts, which ask for these.
            unsnarl
                .args(["cargo", "build", "--release", "--quiet"])
                .env("TARGET_CFLAGS", "-fsanitize=thread -g");
            let flags = format!("--cfg noise=\"{noise_size}\" {}", variant.configuration());
            workspace::run(unsnarl.env("CARGO_TARGET_DIR", &output).env("RUSTFLAGS", flags))?;
            return recorded_program(&output, &Path::new("release").join(&subject.truth.name));
        }
    };
    unsnarl
        .args(subject.truth.loops.then_some("--loops"))
        .args(["-O1", "-g", "-pthread"])
        .arg(format!("-DNOISE={noise_size}"))
        .args(variant.definition());
    workspace::run(unsnarl.args(&subject.truth.sources).arg("-o").arg(&output))?;
    Ok(output)
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
