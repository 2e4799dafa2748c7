//! unsnarl itself, built for release.

use std::io::BufReader;
use std::path::{self, Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, bail};
use cargo_metadata::Message;

use crate::workspace;

/// The built tool.
pub struct Tool {
    /// The `unsnarl` program.
    program: PathBuf,
    /// Where its build script left the recorder.
    recorder: PathBuf,
}

impl Tool {
    /// Builds it.
    pub fn build() -> anyhow::Result<Tool> {
        let mut cargo = workspace::cargo();
        cargo.args([
            "build",
            "--release",
            "--package",
            "unsnarl",
            "--message-format=json-render-diagnostics",
        ]);
        let mut building = cargo.stdout(Stdio::piped()).spawn().context("cannot start cargo")?;
        let messages = building.stdout.take().context("cargo has no output")?;
        let (mut program, mut recorder) = (None, None);
        for message in Message::parse_stream(BufReader::new(messages)) {
            match message? {
                Message::CompilerArtifact(artifact) if artifact.target.name == "unsnarl" => {
                    program = artifact.executable.or(program);
                }
                Message::BuildScriptExecuted(script) if script.out_dir.join("libtsan.so.2").exists() => {
                    recorder = Some(script.out_dir);
                }
                _ => {}
            }
        }
        if !building.wait()?.success() {
            bail!("unsnarl cannot be built");
        }
        Ok(Tool {
            program: program.context("cargo built no `unsnarl`")?.into(),
            recorder: recorder.context("the build left no recorder")?.into(),
        })
    }

    /// One that was built before, for chores that link no recorder. It is called from other folders as well.
    pub fn given(program: &Path) -> anyhow::Result<Tool> {
        Ok(Tool { program: path::absolute(program)?, recorder: PathBuf::new() })
    }

    /// The `unsnarl` program.
    pub fn program(&self) -> &Path {
        &self.program
    }

    /// A command line that begins with `unsnarl`.
    pub fn command(&self) -> Command {
        Command::new(&self.program)
    }

    /// The folder to put on the library path, so that the recorder stands in for gcc's runtime.
    pub fn recorder_folder(&self) -> &Path {
        &self.recorder
    }
}
