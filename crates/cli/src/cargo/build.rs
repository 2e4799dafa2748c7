//! Has cargo build for the recorder.

use std::ffi::{OsStr, OsString};
use std::io::BufRead as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::Context as _;
use runner::Recorder;

use super::not_built;
use crate::exit;

/// A program that cargo built.
pub(super) struct Built {
    pub program: PathBuf,
    /// Of its package.
    pub folder: PathBuf,
    /// What tells cargo that it is this one that is meant: `-p queue --test drains`.
    pub flags: String,
}

/// What is compiled into the code.
pub(super) struct Build {
    pub recorder: Recorder,
    /// Announcements of all basic blocks: see [`runner::loops`].
    pub loops: bool,
}

impl Build {
    /// A cargo command (`test`, or `nextest list`) with its arguments, that builds for the recorder.
    pub fn command(&self, command: &[&OsStr], words: &[OsString]) -> anyhow::Result<Command> {
        let mut cargo = cargo();
        cargo.args(command);
        // Naming the target keeps build scripts and procedural macros free of instrumentation.
        if !words.iter().any(|word| word.to_string_lossy().starts_with("--target=") || word == "--target") {
            cargo.arg("--target").arg(host()?);
        }
        cargo.args(words);
        let workspace = Workspace::of(words)?;
        cargo.env("CARGO_TARGET_DIR", workspace.target.join("unsnarl"));
        if !self.loops && !workspace.chooses_optimization() {
            // Unless they are inlined, all loads of a program are one and the same instruction. But this level takes some
            // loops apart.
            cargo.env(OPTIMIZATION, "1");
        }
        // The flags are not stable; the standard library that was shipped is, and stays as it is.
        cargo.env("RUSTC_BOOTSTRAP", "1");
        cargo.env("CARGO_ENCODED_RUSTFLAGS", self.rustflags()?);
        cargo.env_remove("RUSTFLAGS");
        Ok(cargo)
    }

    /// The user's own flags, and those that make the compiler call the recorder.
    fn rustflags(&self) -> anyhow::Result<OsString> {
        let mut flags: Vec<String> = match std::env::var("CARGO_ENCODED_RUSTFLAGS") {
            Ok(encoded) if !encoded.is_empty() => encoded.split('\x1f').map(str::to_owned).collect(),
            _ => {
                std::env::var("RUSTFLAGS").unwrap_or_default().split_whitespace().map(str::to_owned).collect()
            }
        };
        if flags.iter().any(|flag| flag.split(['=', ',']).any(|part| part == "+crt-static")) {
            return Err(exit::Complaint {
                code: exit::USAGE,
                what: "rustc instruments no program with a static C library".to_owned(),
                advice: "  leave `+crt-static` out of RUSTFLAGS for this",
            }
            .into());
        }
        flags.extend(INSTRUMENTATION.map(str::to_owned));
        if self.loops {
            flags.extend(ANNOUNCEMENTS.map(str::to_owned));
        }
        flags.push("-Clink-arg=-Wl,--whole-archive".to_owned());
        flags.push(format!("-Clink-arg={}", self.recorder.archive().display()));
        flags.push("-Clink-arg=-Wl,--no-whole-archive".to_owned());
        flags.push("-Clink-arg=-Wl,--wrap=_Unwind_RaiseException".to_owned());
        flags.push("-Clink-arg=-Wl,--build-id".to_owned());
        Ok(flags.join("\x1f").into())
    }
}

const INSTRUMENTATION: [&str; 8] = [
    "-Zsanitizer=thread",
    "-Zexternal-clangrt",
    "-Cunsafe-allow-abi-mismatch=sanitizer",
    // Without it the read of `x += 1` is left out, and a lost update looks like three writes.
    "-Cllvm-args=-tsan-instrument-read-before-write=1",
    // Two branches that each end in a hook would share its call, which then has the line of neither.
    "-Cllvm-args=-enable-tail-merge=0",
    "-Cdebuginfo=2",
    // Locks are told by what the program itself has of it.
    "-Csplit-debuginfo=off",
    // A release profile strips what it did not ask for.
    "-Cstrip=none",
];

/// Of all blocks; and no jumps through tables, or iterations unrolled.
const ANNOUNCEMENTS: [&str; 7] = [
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=2",
    "-Cllvm-args=-sanitizer-coverage-trace-pc",
    "-Cllvm-args=-sanitizer-coverage-prune-blocks=0",
    "-Cjump-tables=no",
    "-Cllvm-args=-unroll-threshold=0",
    "-Cllvm-args=-unroll-full-max-count=0",
];

fn cargo() -> Command {
    Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// How much cargo optimizes what is not built for release.
const OPTIMIZATION: &str = "CARGO_PROFILE_DEV_OPT_LEVEL";

struct Workspace {
    root: PathBuf,
    /// Where cargo would build otherwise, wherever in the workspace the user is.
    target: PathBuf,
}

impl Workspace {
    fn of(words: &[OsString]) -> anyhow::Result<Workspace> {
        let mut question = cargo();
        question.args(["metadata", "--no-deps", "--format-version=1", "--offline"]);
        let mut following = words.iter().skip_while(|word| *word != "--manifest-path");
        if let (Some(flag), Some(path)) = (following.next(), following.next()) {
            question.arg(flag).arg(path);
        }
        question.args(words.iter().filter(|word| word.to_string_lossy().starts_with("--manifest-path=")));
        let output = question.stderr(Stdio::inherit()).output().context("cannot start cargo")?;
        let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
        match [&answer["workspace_root"], &answer["target_directory"]].map(|path| path.as_str()) {
            [Some(root), Some(target)] => Ok(Workspace { root: root.into(), target: target.into() }),
            _ => Err(not_built("cargo finds no package here that it can read")),
        }
    }

    /// Whether somebody has said how much to optimize.
    fn chooses_optimization(&self) -> bool {
        let manifest = std::fs::read_to_string(self.root.join("Cargo.toml"));
        std::env::var_os(OPTIMIZATION).is_some() || manifest.is_ok_and(|text| text.contains("opt-level"))
    }
}

fn host() -> anyhow::Result<String> {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(&rustc).arg("-vV").output().context("cannot start rustc")?;
    let text = String::from_utf8_lossy(&output.stdout);
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).context("rustc does not say which machine it compiles for")
}

/// Runs the build and returns the executables it reports: test programs, or the others.
pub(super) fn executables(mut build: Command, tests: bool) -> anyhow::Result<Vec<Built>> {
    build.arg("--message-format=json-render-diagnostics").stdout(Stdio::piped());
    let mut child = build.spawn().context("cannot start cargo")?;
    let output = child.stdout.take().context("cargo's output is not there")?;
    let mut found = Vec::new();
    for line in std::io::BufReader::new(output).lines() {
        let message: serde_json::Value = match serde_json::from_str(&line?) {
            Ok(message) => message,
            Err(_) => continue,
        };
        let is_test = message["profile"]["test"].as_bool().unwrap_or(false);
        let manifest = message["manifest_path"].as_str().map(Path::new).and_then(Path::parent);
        if let (Some(path), Some(folder), true) = (message["executable"].as_str(), manifest, is_test == tests)
        {
            found.push(Built { program: path.into(), folder: folder.to_owned(), flags: flags_of(&message) });
        }
    }
    if !child.wait()?.success() {
        return Err(not_built("cargo could not build it"));
    }
    Ok(found)
}

/// How to choose what a message of cargo's says that it has built.
fn flags_of(message: &serde_json::Value) -> String {
    let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    // `…/queue#0.1.0`, or `…/folder#queue@0.1.0` where the folder has another name.
    let id = text(&message["package_id"]);
    let (path, version) = id.rsplit_once('#').unwrap_or((&id, ""));
    let package = match version.split_once('@') {
        Some((name, _)) => name,
        None => path.rsplit('/').next().unwrap_or_default(),
    };
    let (kind, name) = (text(&message["target"]["kind"][0]), text(&message["target"]["name"]));
    let target = match kind.as_str() {
        "bin" | "test" | "example" | "bench" => format!("--{kind} {name}"),
        _ => "--lib".to_owned(),
    };
    format!("-p {package} {target}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cargo_has_built_can_be_chosen() {
        let flags = |id: &str, kind: &str| {
            flags_of(&serde_json::json!({"package_id": id, "target": {"kind": [kind], "name": "drains"}}))
        };
        assert_eq!(flags("path+file:///x/core#queue@0.1.0", "test"), "-p queue --test drains");
        assert_eq!(flags("path+file:///x/queue#0.1.0", "rlib"), "-p queue --lib");
        assert_eq!(flags("path+file:///x/queue#0.1.0", "bin"), "-p queue --bin drains");
    }
}
