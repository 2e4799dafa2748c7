//! Where things are, and how to start programs.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, bail};

/// The project's root folder.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in the project's root")
}

/// The recorder, which is a workspace of its own.
pub fn recorder_manifest() -> PathBuf {
    root().join("crates/native-runtime/Cargo.toml")
}

/// The cargo that started us.
pub fn cargo() -> Command {
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(root());
    cargo
}

/// A folder for what a chore builds, within cargo's own.
pub fn scratch(chore: &str) -> anyhow::Result<PathBuf> {
    let metadata = cargo_metadata::MetadataCommand::new().current_dir(root()).no_deps().exec()?;
    let folder = metadata.target_directory.into_std_path_buf().join(chore);
    std::fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
    Ok(folder)
}

/// Runs a command that must succeed; what it prints is seen.
pub fn run(command: &mut Command) -> anyhow::Result<()> {
    let status = command.status().with_context(|| format!("cannot start {command:?}"))?;
    if !status.success() {
        bail!("{command:?} failed: {status}");
    }
    Ok(())
}

/// Runs a command that must succeed; what it prints is seen only if it does not.
pub fn run_quietly(command: &mut Command) -> anyhow::Result<()> {
    output_of(command).map(drop)
}

/// Runs a command that must succeed and gives what it printed.
pub fn output_of(command: &mut Command) -> anyhow::Result<String> {
    let output = command.output().with_context(|| format!("cannot start {command:?}"))?;
    if !output.status.success() {
        bail!("{command:?} failed: {}\n{}", output.status, String::from_utf8_lossy(&output.stderr));
    }
    String::from_utf8(output.stdout).with_context(|| format!("{command:?} did not print text"))
}
/// What rustc compiles for.
pub fn host() -> anyhow::Result<String> {
    let text = output_of(Command::new("rustc").arg("-vV"))?;
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).context("rustc does not say which machine it compiles for")
}
