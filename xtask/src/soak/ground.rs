//! What all trials need: the tool, a folder, and commands that are recorded.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, ensure};
use tempfile::TempDir;

use crate::tool::Tool;
use crate::workspace;

/// In seconds: far longer than any of the tasks takes, on a busy machine too.
const PATIENCE: &str = "3000";

pub struct Ground {
    pub tool: Tool,
    /// For what trials build.
    pub folder: PathBuf,
    /// How runs are to go, as the recorder reads it.
    pub plan: String,
    /// Whether one thread runs at a time: tasks have to be smaller then.
    pub is_controlled: bool,
    /// What trials have built since we were started, which is not built again.
    built: RefCell<HashMap<String, Vec<PathBuf>>>,
}

impl Ground {
    pub fn prepare() -> anyhow::Result<Ground> {
        let plan = "seed=1,noise=low".to_owned();
        let (tool, folder) = (Tool::build()?, workspace::scratch("soak")?);
        Ok(Ground { tool, folder, plan, is_controlled: false, built: RefCell::default() })
    }

    /// The programs that `build` leaves, which is asked once.
    pub fn built(
        &self,
        name: &str,
        build: impl FnOnce() -> anyhow::Result<Vec<PathBuf>>,
    ) -> anyhow::Result<Vec<PathBuf>> {
        if let Some(programs) = self.built.borrow().get(name) {
            return Ok(programs.clone());
        }
        let programs = build()?;
        self.built.borrow_mut().insert(name.to_owned(), programs.clone());
        Ok(programs)
    }

    /// `CC=` of a build for the recorder.
    pub fn compiler(&self) -> String {
        format!("CC={} cc --with gcc", self.tool.program().display())
    }

    /// A place for recordings.
    pub fn recordings(&self) -> anyhow::Result<Recordings> {
        Ok(Recordings { folder: tempfile::tempdir_in(&self.folder)?, plan: self.plan.clone() })
    }
}

/// The recordings that a trial's processes make.
pub struct Recordings {
    folder: TempDir,
    plan: String,
}

impl Recordings {
    /// A command whose processes are recorded, and which hangs if it takes longer than [`PATIENCE`].
    pub fn command(&self, program: &Path) -> Command {
        let mut command = Command::new("timeout");
        command.args(["--kill-after=5", PATIENCE]).arg(program);
        command.env("UNSNARL_DIR", self.folder.path()).env("UNSNARL_PLAN", &self.plan);
        command
    }

    /// Whether all went well in the recorder too. Says how much it has recorded.
    pub fn check(&self) -> anyhow::Result<String> {
        let (mut processes, mut threads, mut locations, mut events) = (0, 0, 0, 0);
        for entry in fs::read_dir(self.folder.path())? {
            let path = entry?.path();
            if path.extension().is_none_or(|ending| ending != "raw") {
                continue;
            }
            // SAFETY: the process that wrote it has ended.
            let raw = unsafe { memmap2::Mmap::map(&File::open(&path)?) }?;
            let recording = recording::parse(&recording::compact(&raw)?)?;
            ensure!(recording.damage.is_empty(), "a recording is damaged: {:?}", recording.damage);
            let fault = recording.header.fault;
            ensure!(fault == recording::fault::NONE, "the recorder stopped early: fault {fault}");
            processes += 1;
            threads += recording.threads.len().saturating_sub(1);
            locations += recording.locations.len().saturating_sub(1);
            events += recording.events.len();
        }
        ensure!(processes > 0, "nothing was recorded");
        Ok(format!("{threads} threads in {processes} processes, {locations} locations, {events} events"))
    }
}

/// Runs a command that must succeed and gives what it printed, as bytes.
pub fn bytes_of(command: &mut Command) -> anyhow::Result<Vec<u8>> {
    let output = command.output().with_context(|| format!("cannot start {command:?}"))?;
    ensure!(
        output.status.success(),
        "{command:?} ended with {}: {}",
        output.status,
        String::from_utf8_lossy(&output.stderr)
    );
    Ok(output.stdout)
}
