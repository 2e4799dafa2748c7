//! The ways in which a workload is built and run.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::workloads::Workload;
use crate::tool::Tool;
use crate::workspace;

/// What a user's release build with debug information has.
const FLAGS: [&str; 4] = ["-std=gnu11", "-O2", "-g", "-pthread"];

/// One way to run a workload.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Variant {
    /// As it is.
    Native,
    /// As it is, with Helgrind's input.
    NativeSmall,
    /// With gcc's thread sanitizer.
    Tsan,
    /// Under valgrind's Helgrind.
    Helgrind,
    /// Built by `unsnarl cc`.
    Static,
    /// The sanitizer's build, taken over by the recorder.
    Takeover,
}

impl Variant {
    /// All of them, in the order in which they take turns.
    pub const ALL: [Variant; 6] = [
        Variant::Native,
        Variant::Tsan,
        Variant::Static,
        Variant::Takeover,
        Variant::NativeSmall,
        Variant::Helgrind,
    ];

    /// What it is compared with: the native program with the same input.
    pub fn baseline(self) -> Variant {
        match self {
            Variant::Helgrind | Variant::NativeSmall => Variant::NativeSmall,
            _ => Variant::Native,
        }
    }
}

/// One workload, built in every way.
pub struct Programs<'a> {
    workload: &'a Workload,
    tool: &'a Tool,
    native: PathBuf,
    tsan: PathBuf,
    recorded: PathBuf,
}

impl<'a> Programs<'a> {
    /// Builds the workload into `folder`.
    pub fn build(workload: &'a Workload, tool: &'a Tool, folder: &Path) -> anyhow::Result<Programs<'a>> {
        let source = workspace::root().join("xtask/bench").join(workload.source);
        let build = |mut compiler: Command, suffix: &str, more: &[&str]| -> anyhow::Result<PathBuf> {
            let program = folder.join(format!("{}-{suffix}", workload.name));
            workspace::run(compiler.args(FLAGS).args(more).arg(&source).arg("-o").arg(&program))?;
            Ok(program)
        };
        let mut unsnarl_cc = tool.command();
        unsnarl_cc.arg("cc");
        Ok(Programs {
            workload,
            tool,
            native: build(Command::new("gcc"), "native", &[])?,
            tsan: build(Command::new("gcc"), "tsan", &["-fsanitize=thread"])?,
            recorded: build(unsnarl_cc, "recorded", &[])?,
        })
    }

    /// The command for a run, which may leave files in `scratch`.
    pub fn command(&self, variant: Variant, scratch: &Path) -> Command {
        let mut command = match variant {
            Variant::Native | Variant::NativeSmall => Command::new(&self.native),
            Variant::Tsan | Variant::Takeover => Command::new(&self.tsan),
            Variant::Static => Command::new(&self.recorded),
            Variant::Helgrind => {
                let mut valgrind = Command::new("valgrind");
                valgrind.args(["--quiet", "--tool=helgrind"]).arg(&self.native);
                valgrind
            }
        };
        let small = variant.baseline() == Variant::NativeSmall;
        let scale = if small { self.workload.small_scale } else { self.workload.scale };
        command.arg(scale.to_string());
        if matches!(variant, Variant::Static | Variant::Takeover) {
            command.env("UNSNARL_DIR", scratch).env("UNSNARL_PLAN", "noise=off");
        }
        if variant == Variant::Takeover {
            command.env("LD_LIBRARY_PATH", self.tool.recorder_folder());
        }
        command
    }
}
