//! The detectors that a user would try otherwise, and how a corpus program is built and run for each.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use anyhow::Context as _;

use crate::bench::variants::first_installed;
use crate::evaluate::build::{self, Variant};
use crate::truth::Subject;

/// A detector that looks at single runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Detector {
    /// gcc's; rustc's for Rust.
    Tsan,
    Helgrind,
}

impl Detector {
    pub const ALL: [Detector; 2] = [Detector::Tsan, Detector::Helgrind];

    pub fn name(self) -> &'static str {
        match self {
            Detector::Tsan => "TSan",
            Detector::Helgrind => "Helgrind",
        }
    }

    /// Builds the program for it into `folder`.
    pub fn build(self, subject: &Subject, folder: &Path, variant: Variant) -> anyhow::Result<PathBuf> {
        let folder = folder.join(self.name().to_lowercase());
        fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
        match self {
            Detector::Helgrind => build::build_native(subject, &folder, variant, 1),
            Detector::Tsan => build::build_for_tsan(subject, &folder, variant, 1),
        }
    }

    /// What it prints in as many runs as begin within the time, and how many these were.
    pub fn watch(self, program: &Path, time: Duration, hangs_after: u32) -> anyhow::Result<(String, u32)> {
        let (mut printed, mut runs) = (String::new(), 0);
        let begun = Instant::now();
        while runs == 0 || begun.elapsed() < time {
            let output = self.run(program, hangs_after)?;
            printed += &String::from_utf8_lossy(&output.stderr);
            runs += 1;
        }
        Ok((printed, runs))
    }

    fn run(self, program: &Path, hangs_after: u32) -> anyhow::Result<Output> {
        // A deadlock is reported by what was printed before, or not at all.
        let mut command = Command::new("timeout");
        command.arg(hangs_after.to_string());
        if self == Detector::Helgrind {
            command.args(["valgrind", "--tool=helgrind"]);
        }
        // Both kinds of complaint, and the whole of either.
        command.arg(program).env("TSAN_OPTIONS", "detect_deadlocks=1 second_deadlock_stack=1 history_size=7");
        let output = command.stdin(Stdio::null()).output();
        output.with_context(|| format!("cannot start {command:?}"))
    }
}

/// The detectors that this machine has; says which are left out.
pub fn installed() -> Vec<Detector> {
    let mut detectors = Detector::ALL.to_vec();
    if first_installed(&["valgrind"]).is_none() {
        eprintln!("valgrind is not installed: Helgrind is left out");
        detectors.retain(|&detector| detector != Detector::Helgrind);
    }
    detectors
}
