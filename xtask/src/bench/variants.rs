//! The ways in which a workload is built and run.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::programs::Run;
use super::workloads::Workload;
use crate::tool::Tool;

/// One way to build a program.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Build {
    /// As it is.
    Native,
    /// With gcc's thread sanitizer.
    GccTsan,
    /// With clang's, or rustc's, which is the same.
    ClangTsan,
    /// By `unsnarl cc`, `unsnarl c++` or `cargo unsnarl`.
    Recorded,
}

impl Build {
    pub const ALL: [Build; 4] = [Build::Native, Build::GccTsan, Build::ClangTsan, Build::Recorded];
}

/// One way to run a workload.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Variant {
    /// As it is.
    Native,
    /// As it is, with valgrind's input.
    NativeSmall,
    /// With gcc's thread sanitizer.
    GccTsan,
    /// With clang's thread sanitizer.
    ClangTsan,
    /// Under valgrind's Helgrind.
    Helgrind,
    /// Under valgrind's DRD.
    Drd,
    /// Built for the recorder.
    Static,
    /// gcc's sanitizer's build, taken over by the recorder.
    Takeover,
}

impl Variant {
    /// All of them, in the order in which they take turns.
    pub const ALL: [Variant; 8] = [
        Variant::Native,
        Variant::GccTsan,
        Variant::ClangTsan,
        Variant::Static,
        Variant::Takeover,
        Variant::NativeSmall,
        Variant::Helgrind,
        Variant::Drd,
    ];

    /// What it is compared with: the native program with the same input.
    pub fn baseline(self) -> Variant {
        match self {
            Variant::Helgrind | Variant::Drd | Variant::NativeSmall => Variant::NativeSmall,
            _ => Variant::Native,
        }
    }

    /// The tool of valgrind's that it is run under.
    fn valgrind(self) -> Option<&'static str> {
        match self {
            Variant::Helgrind => Some("helgrind"),
            Variant::Drd => Some("drd"),
            _ => None,
        }
    }

    fn build(self) -> Build {
        match self {
            Variant::GccTsan | Variant::Takeover => Build::GccTsan,
            Variant::ClangTsan => Build::ClangTsan,
            Variant::Static => Build::Recorded,
            _ => Build::Native,
        }
    }
}

/// The first of these programs that the machine has.
pub fn first_installed<'a>(names: &[&'a str]) -> Option<&'a str> {
    names.iter().copied().find(|name| {
        let asked = Command::new(name).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
        asked.is_ok_and(|status| status.success())
    })
}

/// One workload, built in every way that the machine and the workload allow.
pub struct Programs<'a> {
    tool: &'a Tool,
    built: BTreeMap<Build, PathBuf>,
    has_valgrind: bool,
    /// With the usual and with valgrind's input.
    usual: Run,
    small: Run,
}

impl<'a> Programs<'a> {
    /// Builds the workload into `folder`.
    pub fn build(workload: &Workload, tool: &'a Tool, folder: &Path) -> anyhow::Result<Programs<'a>> {
        let mut built = BTreeMap::new();
        for build in Build::ALL {
            match workload.source.build(build, tool, &folder.join(workload.name))? {
                Some(program) => drop(built.insert(build, program)),
                None => eprintln!("{}: not built as {build:?}", workload.name),
            }
        }
        let has_valgrind = first_installed(&["valgrind"]).is_some();
        if !has_valgrind {
            eprintln!("valgrind is not installed: Helgrind and DRD are left out");
        }
        let run = |scale| workload.source.run(scale, &folder.join(workload.name));
        let (usual, small) = (run(workload.scale)?, run(workload.small_scale)?);
        Ok(Programs { tool, built, has_valgrind, usual, small })
    }

    /// The ways in which it can be run.
    pub fn variants(&self) -> Vec<Variant> {
        let possible = |variant: &Variant| {
            self.built.contains_key(&variant.build()) && (self.has_valgrind || variant.valgrind().is_none())
        };
        Variant::ALL.into_iter().filter(possible).collect()
    }

    /// The command for a run, which may leave files in `scratch`. Only for [`Programs::variants`].
    pub fn command(&self, variant: Variant, scratch: &Path) -> Command {
        let run = if variant.baseline() == Variant::NativeSmall { &self.small } else { &self.usual };
        let mut words = run.before.clone();
        if let Some(name) = variant.valgrind() {
            words.extend(["valgrind", "--quiet", &format!("--tool={name}")].map(OsString::from));
        }
        words.push(self.built[&variant.build()].clone().into());
        words.extend_from_slice(&run.arguments);
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]);
        if matches!(variant, Variant::Static | Variant::Takeover) {
            command.env("UNSNARL_DIR", scratch).env("UNSNARL_PLAN", "noise=off");
        }
        if variant == Variant::Takeover {
            command.env("LD_LIBRARY_PATH", self.tool.recorder_folder());
        }
        // Only what they cost is of interest, and not what they say.
        command.env("TSAN_OPTIONS", "report_bugs=0");
        command
    }
}
