//! Programs that turn input into output.

use std::fs;
use std::path::Path;

use anyhow::ensure;

use super::ground::{Ground, bytes_of};
use crate::bench::programs::{Source, text};
use crate::bench::variants::Build;
use crate::{sources, workspace};

pub fn pbzip2(ground: &Ground) -> anyhow::Result<String> {
    let folder = ground.folder.join("pbzip2");
    let program = Source::Pbzip2.build(Build::Recorded, &ground.tool, &folder)?;
    let program = program.ok_or_else(|| anyhow::anyhow!("it was not built"))?;
    survives_compression(ground, &program, &["-p2", "-b2"])
}

pub fn zstd(ground: &Ground) -> anyhow::Result<String> {
    let source = sources::debian("libzstd")?.join("programs");
    let mut make = std::process::Command::new("make");
    make.current_dir(&source).args(["zstd", "-j2", "HAVE_ZLIB=0", "HAVE_LZMA=0", "HAVE_LZ4=0"]);
    workspace::run_quietly(make.arg(ground.compiler()))?;
    survives_compression(ground, &source.join("zstd"), &["-T2", "-q"])
}

/// Compresses a text, decompresses it, and compares. Both programs take the same arguments.
fn survives_compression(ground: &Ground, program: &Path, options: &[&str]) -> anyhow::Result<String> {
    let recordings = ground.recordings()?;
    let folder = tempfile::tempdir_in(&ground.folder)?;
    let (plain, packed) = (folder.path().join("text"), folder.path().join("text.packed"));
    let original = text(4_000_000, 1);
    fs::write(&plain, &original)?;
    fs::write(&packed, bytes_of(recordings.command(program).args(options).args(["-k", "-c"]).arg(&plain))?)?;
    ensure!(fs::metadata(&packed)?.len() < original.len() as u64 * 3 / 4, "it did not compress anything");
    let again = bytes_of(recordings.command(program).args(options).args(["-d", "-c"]).arg(&packed))?;
    ensure!(again == original.as_bytes(), "what was decompressed is not what was compressed");
    recordings.check()
}

pub fn ripgrep(ground: &Ground) -> anyhow::Result<String> {
    let folder = ground.folder.join("ripgrep");
    let arguments = Source::Ripgrep.arguments(2, &folder)?;
    let recordings = ground.recordings()?;
    let mut found = Vec::new();
    for build in [Build::Native, Build::Recorded] {
        let program = Source::Ripgrep.build(build, &ground.tool, &folder)?;
        let program = program.ok_or_else(|| anyhow::anyhow!("it was not built"))?;
        let printed = String::from_utf8(bytes_of(recordings.command(&program).args(&arguments))?)?;
        let mut lines: Vec<String> = printed.lines().map(str::to_owned).collect();
        lines.sort_unstable();
        found.push(lines);
    }
    ensure!(!found[0].is_empty() && found[0] == found[1], "it found something else");
    recordings.check()
}
