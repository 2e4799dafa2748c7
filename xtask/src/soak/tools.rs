//! Programs that turn input into output.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, ensure};

use super::ground::{Ground, bytes_of};
use crate::bench::programs::{Source, text};
use crate::bench::variants::Build;

pub fn pbzip2(ground: &Ground) -> anyhow::Result<String> {
    let program = built(ground, "pbzip2", Source::Pbzip2, Build::Recorded)?;
    survives_compression(ground, &program, &["-p2", "-b1"])
}

/// A measured program, built in this way.
pub fn built(ground: &Ground, name: &str, source: Source, build: Build) -> anyhow::Result<PathBuf> {
    let folder = ground.folder.join(name);
    let programs = ground.built(&format!("{name} {build:?}"), || {
        Ok(source.build(build, &ground.tool, &folder)?.into_iter().collect())
    })?;
    programs.into_iter().next().context("it was not built")
}

pub fn zstd(ground: &Ground) -> anyhow::Result<String> {
    let program = built(ground, "zstd", Source::Zstd, Build::Recorded)?;
    survives_compression(ground, &program, &["-T2", "-q"])
}

pub fn xz(ground: &Ground) -> anyhow::Result<String> {
    let program = built(ground, "xz", Source::Xz, Build::Recorded)?;
    survives_compression(ground, &program, &["-T2", "-1", "--block-size=500KiB"])
}

/// Compresses a text, decompresses it, and compares. Both programs take the same arguments.
fn survives_compression(ground: &Ground, program: &Path, options: &[&str]) -> anyhow::Result<String> {
    let recordings = ground.recordings()?;
    let folder = tempfile::tempdir_in(&ground.folder)?;
    let (plain, packed) = (folder.path().join("text"), folder.path().join("text.packed"));
    let original = text(if ground.is_controlled { 250_000 } else { 4_000_000 }, 1);
    fs::write(&plain, &original)?;
    fs::write(&packed, bytes_of(recordings.command(program).args(options).args(["-k", "-c"]).arg(&plain))?)?;
    ensure!(fs::metadata(&packed)?.len() < original.len() as u64 * 3 / 4, "it did not compress anything");
    let again = bytes_of(recordings.command(program).args(options).args(["-d", "-c"]).arg(&packed))?;
    ensure!(again == original.as_bytes(), "what was decompressed is not what was compressed");
    recordings.check()
}

pub fn ripgrep(ground: &Ground) -> anyhow::Result<String> {
    let files = if ground.is_controlled { 1 } else { 2 };
    let arguments = Source::Ripgrep.run(files, &ground.folder.join("ripgrep"))?.arguments;
    let recordings = ground.recordings()?;
    let mut found = Vec::new();
    for build in [Build::Native, Build::Recorded] {
        let program = built(ground, "ripgrep", Source::Ripgrep, build)?;
        let printed = String::from_utf8(bytes_of(recordings.command(&program).args(&arguments))?)?;
        let mut lines: Vec<String> = printed.lines().map(str::to_owned).collect();
        lines.sort_unstable();
        found.push(lines);
    }
    ensure!(!found[0].is_empty() && found[0] == found[1], "it found something else");
    recordings.check()
}
