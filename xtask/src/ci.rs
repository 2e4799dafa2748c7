//! `cargo xtask ci`: all that CI does, as named steps. Every step runs even if one before it failed, so that one
//! push tells everything.

use std::env;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};

use crate::{tidy, workspace};

#[derive(clap::Args)]
pub struct Arguments {
    /// Only these steps
    #[arg(value_name = "STEP", value_parser = clap::builder::PossibleValuesParser::new(STEPS.map(|step| step.name)))]
    steps: Vec<String>,
}

struct Step {
    name: &'static str,
    run: fn() -> anyhow::Result<()>,
}

const STEPS: [Step; 9] = [
    Step { name: "format", run: || workspace::run(workspace::cargo().args(["fmt", "--all", "--check"])) },
    Step { name: "format-recorder", run: || workspace::run(recorder("fmt").arg("--check")) },
    Step {
        name: "lint",
        run: || {
            let mut clippy = workspace::cargo();
            workspace::run(clippy.args([
                "clippy",
                "--workspace",
                "--all-targets",
                "--",
                "--deny",
                "warnings",
            ]))
        },
    },
    Step {
        name: "lint-recorder",
        run: || workspace::run(recorder("clippy").args(["--locked", "--", "--deny", "warnings"])),
    },
    Step { name: "build-aarch64", run: build_for_aarch64 },
    Step {
        name: "doc",
        run: || {
            let mut doc = workspace::cargo();
            doc.args(["doc", "--workspace", "--no-deps"]);
            workspace::run(doc.env("RUSTDOCFLAGS", with_denied_warnings(env::var("RUSTDOCFLAGS").ok())))
        },
    },
    Step { name: "tidy", run: tidy::tidy },
    Step {
        name: "doctest",
        run: || workspace::run(workspace::cargo().args(["test", "--workspace", "--doc"])),
    },
    // Last, so that the output ends with how many tests ran.
    Step { name: "test", run: test },
];

pub fn ci(arguments: &Arguments) -> anyhow::Result<()> {
    let mut results: Vec<(&str, Duration, bool)> = Vec::new();
    for step in STEPS
        .iter()
        .filter(|step| arguments.steps.is_empty() || arguments.steps.iter().any(|name| name == step.name))
    {
        eprintln!("── {}", step.name);
        let begun = Instant::now();
        let result = (step.run)();
        if let Err(error) = &result {
            eprintln!("error: {error:#}");
        }
        results.push((step.name, begun.elapsed(), result.is_ok()));
    }
    eprintln!("── summary");
    for (name, time, succeeded) in &results {
        let word = if *succeeded { "ok" } else { "FAILED" };
        eprintln!("{name:<16} {word:<6} {:>7.1} s", time.as_secs_f64());
    }
    let failed: Vec<&str> = results.iter().filter(|(_, _, ok)| !ok).map(|(name, _, _)| *name).collect();
    if !failed.is_empty() {
        bail!("failed: {} (again: cargo xtask ci {})", failed.join(", "), failed.join(" "));
    }
    Ok(())
}

/// A cargo command on the recorder's own workspace.
fn recorder(subcommand: &str) -> Command {
    let mut cargo = workspace::cargo();
    cargo.arg(subcommand).arg("--manifest-path").arg(workspace::recorder_manifest());
    cargo
}

/// The recorder for a processor that nobody here has: at least it compiles, assembly included. Where Rust has no
/// library for it, that is said and left out.
fn build_for_aarch64() -> anyhow::Result<()> {
    const TARGET: &str = "aarch64-unknown-linux-gnu";
    let folder = Command::new("rustc").args(["--print", "target-libdir", "--target", TARGET]).output()?;
    if !Path::new(String::from_utf8_lossy(&folder.stdout).trim()).is_dir() {
        eprintln!("SKIPPED: rustup target add {TARGET}");
        return Ok(());
    }
    let mut rustc = recorder("rustc");
    // An archive needs no linker.
    rustc.args(["--locked", "--profile=dev", "--target", TARGET, "--crate-type=staticlib"]);
    rustc.arg("--target-dir").arg(workspace::root().join("target/recorder-aarch64"));
    workspace::run(&mut rustc)
}

fn with_denied_warnings(flags: Option<String>) -> String {
    flags.into_iter().chain(["--deny warnings".to_owned()]).collect::<Vec<_>>().join(" ")
}

/// nextest keeps tests that end their process, or hang, apart from the others; without it, cargo does.
fn test() -> anyhow::Result<()> {
    let nextest = workspace::cargo()
        .args(["nextest", "--version"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    let mut cargo = workspace::cargo();
    if !nextest.is_ok_and(|status| status.success()) {
        return workspace::run(cargo.args(["test", "--workspace", "--all-targets", "--no-fail-fast"]));
    }
    let results = workspace::root().join("target/nextest/default/junit.xml");
    // Those of an earlier run would tell nothing.
    drop(fs::remove_file(&results));
    let result = workspace::run(cargo.args(["nextest", "run", "--workspace", "--no-fail-fast"]));
    let printed = fs::read_to_string(&results).with_context(|| {
        format!("which tests were left out is not known: cannot read {}", results.display())
    })?;
    skips(&printed).for_each(|skip| eprintln!("{skip}"));
    result
}

/// What tests said that could not do their task here: nextest shows nothing of tests that pass.
fn skips(printed: &str) -> impl Iterator<Item = &str> {
    printed.lines().filter_map(|line| line.find("SKIPPED ").map(|at| &line[at..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_that_were_left_out_are_told() {
        let printed = "<system-out>running 1 test</system-out>\n<system-err>SKIPPED by_maven: there is no Maven\n</system-err>";
        assert_eq!(skips(printed).collect::<Vec<_>>(), ["SKIPPED by_maven: there is no Maven"]);
    }
}
