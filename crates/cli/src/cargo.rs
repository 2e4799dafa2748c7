//! `cargo unsnarl build|run|test …`: cargo, building for the recorder.
//!
//! Everything but the standard library, which is used as shipped, is compiled with `-Zsanitizer=thread`, and
//! programs are linked with the static recorder. It goes to a target folder of its own, so that ordinary
//! builds are not disturbed.

use std::ffi::{OsStr, OsString};
use std::io::BufRead as _;
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};

use anyhow::Context as _;
use runner::Recorder;

use crate::args::{CargoArguments, RunArguments};
use crate::exit::{self, Complaint};
use crate::{recorder, run};

/// `cargo unsnarl …`.
pub fn cargo(arguments: CargoArguments) -> anyhow::Result<ExitCode> {
    let mut arguments = arguments.run;
    let words = std::mem::take(&mut arguments.command);
    let Some((command, rest)) = words.split_first() else {
        return Err(usage(
            "say what to do:  cargo unsnarl test NAME,  cargo unsnarl run,  cargo unsnarl build",
        ));
    };
    let recorder = recorder::unpack()?;
    match command.to_str() {
        Some("test" | "t" | "run" | "r") => localize_one(&recorder, command, rest, arguments),
        Some("build" | "b" | "check" | "clippy" | "bench" | "nextest") => {
            let status = instrumented(&recorder, command, rest)?.status().context("cannot start cargo")?;
            Ok(ExitCode::from(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1)))
        }
        _ => Err(usage(&format!(
            "cargo unsnarl does not know `{}`: use build, run, test, bench or nextest",
            command.display()
        ))),
    }
}

fn usage(what: &str) -> anyhow::Error {
    Complaint::usage(what.to_owned()).into()
}

/// Builds the test or program and runs it until its interleaving is found.
fn localize_one(
    recorder: &Recorder,
    command: &OsStr,
    words: &[OsString],
    arguments: RunArguments,
) -> anyhow::Result<ExitCode> {
    let is_test = matches!(command.to_str(), Some("test" | "t"));
    let (cargo_words, program_words) = split_at_dashes(words);
    let (options, filter) = if is_test { split_filter(cargo_words) } else { (cargo_words.to_vec(), None) };
    let building: OsString = if is_test { "test".into() } else { "build".into() };
    let mut build = instrumented(recorder, &building, &options)?;
    if is_test {
        build.arg("--no-run");
    }
    let executables = executables(build, is_test)?;
    let mut chosen = match &filter {
        Some(filter) => with_test(executables, filter)?,
        None => executables,
    };
    let program = match chosen.len() {
        0 => {
            return Err(usage(match filter {
                Some(_) => "no test program has a test of that name",
                None => "no program was built that could be run",
            }));
        }
        1 => chosen.remove(0),
        n => {
            let list: String = chosen.iter().map(|path| format!("\n  {}", path.display())).collect();
            return Err(usage(&format!(
                "{n} programs qualify; choose one with --lib, --bin or --test:{list}"
            )));
        }
    };
    let mut test = vec![program.into_os_string()];
    if let Some(filter) = filter {
        test.push(filter);
    }
    test.extend(program_words.iter().cloned());
    run::run(&RunArguments { command: test, ..arguments })
}

/// A cargo command that builds for the recorder.
fn instrumented(recorder: &Recorder, command: &OsStr, words: &[OsString]) -> anyhow::Result<Command> {
    let host = host()?;
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.arg(command);
    // Naming the target keeps build scripts and procedural macros free of instrumentation.
    if !words.iter().any(|word| word.to_string_lossy().starts_with("--target=") || word == "--target") {
        cargo.arg("--target").arg(&host);
    }
    cargo.args(words);
    let folder = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| PathBuf::from("target"), PathBuf::from);
    cargo.env("CARGO_TARGET_DIR", folder.join("unsnarl"));
    // The flags are not stable; the standard library that was shipped is, and stays as it is.
    cargo.env("RUSTC_BOOTSTRAP", "1");
    cargo.env("CARGO_ENCODED_RUSTFLAGS", rustflags(recorder));
    cargo.env_remove("RUSTFLAGS");
    Ok(cargo)
}

/// The user's own flags, and those that make the compiler call the recorder.
fn rustflags(recorder: &Recorder) -> OsString {
    let mut flags: Vec<String> = match std::env::var("CARGO_ENCODED_RUSTFLAGS") {
        Ok(encoded) if !encoded.is_empty() => encoded.split('\x1f').map(str::to_owned).collect(),
        _ => std::env::var("RUSTFLAGS").unwrap_or_default().split_whitespace().map(str::to_owned).collect(),
    };
    flags.extend(
        [
            "-Zsanitizer=thread",
            "-Zexternal-clangrt",
            "-Cunsafe-allow-abi-mismatch=sanitizer",
            // Without it the read of `x += 1` is left out, and a lost update looks like three writes.
            "-Cllvm-args=-tsan-instrument-read-before-write=1",
            "-Cdebuginfo=2",
            // A release profile strips what it did not ask for.
            "-Cstrip=none",
            "-Clink-arg=-Wl,--whole-archive",
        ]
        .map(str::to_owned),
    );
    flags.push(format!("-Clink-arg={}", recorder.archive().display()));
    flags.push("-Clink-arg=-Wl,--no-whole-archive".to_owned());
    flags.push("-Clink-arg=-Wl,--build-id".to_owned());
    flags.join("\x1f").into()
}

fn host() -> anyhow::Result<String> {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(&rustc).arg("-vV").output().context("cannot start rustc")?;
    let text = String::from_utf8_lossy(&output.stdout);
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).context("rustc does not say which machine it compiles for")
}

/// Runs the build and returns the executables it reports.
fn executables(mut build: Command, tests: bool) -> anyhow::Result<Vec<PathBuf>> {
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
        if let (Some(path), true) = (message["executable"].as_str(), is_test == tests) {
            found.push(PathBuf::from(path));
        }
    }
    if !child.wait()?.success() {
        let what = "cargo could not build it".to_owned();
        return Err(Complaint { code: exit::NOT_BUILT, what, advice: "" }.into());
    }
    Ok(found)
}

/// Those of the test programs that have a test whose name contains `filter`.
fn with_test(programs: Vec<PathBuf>, filter: &OsStr) -> anyhow::Result<Vec<PathBuf>> {
    let filter = filter.to_string_lossy().into_owned();
    let mut having = Vec::new();
    for program in programs {
        let output = Command::new(&program).args(["--list", "--format=terse"]).output();
        let output = output.with_context(|| format!("cannot start {}", program.display()))?;
        let listed = String::from_utf8_lossy(&output.stdout);
        if listed.lines().filter_map(|line| line.strip_suffix(": test")).any(|name| name.contains(&filter)) {
            having.push(program);
        }
    }
    Ok(having)
}

/// What is for cargo, and what is for the program.
fn split_at_dashes(words: &[OsString]) -> (&[OsString], &[OsString]) {
    match words.iter().position(|word| word == "--") {
        Some(at) => (&words[..at], &words[at + 1..]),
        None => (words, &[]),
    }
}

/// The test's name among cargo's arguments: the one word that is neither an option nor the value of one.
fn split_filter(words: &[OsString]) -> (Vec<OsString>, Option<OsString>) {
    const WITH_VALUE: [&str; 17] = [
        "-p",
        "--package",
        "--exclude",
        "--bin",
        "--example",
        "--test",
        "--bench",
        "-F",
        "--features",
        "-j",
        "--jobs",
        "--profile",
        "--target",
        "--target-dir",
        "--manifest-path",
        "--color",
        "--config",
    ];
    let mut options = Vec::new();
    let mut filter = None;
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let text = word.to_string_lossy();
        if !text.starts_with('-') && filter.is_none() {
            filter = Some(word.clone());
            continue;
        }
        options.push(word.clone());
        if WITH_VALUE.contains(&&*text) {
            options.extend(words.next().cloned());
        }
    }
    (options, filter)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tests_name_is_told_from_options() {
        let words = |text: &str| text.split_whitespace().map(OsString::from).collect::<Vec<_>>();
        let cases = [
            ("queue_drains", "", Some("queue_drains")),
            ("-p queue --release drains", "-p queue --release", Some("drains")),
            ("--features a,b", "--features a,b", None),
            ("--test it drains --locked", "--test it --locked", Some("drains")),
        ];
        for (given, options, filter) in cases {
            assert_eq!(split_filter(&words(given)), (words(options), filter.map(OsString::from)), "{given}");
        }
    }

    #[test]
    fn dashes_separate_cargo_from_the_program() {
        let words: Vec<OsString> = ["a", "--", "b", "--", "c"].map(OsString::from).to_vec();
        assert_eq!(split_at_dashes(&words), (&words[..1], &words[2..]));
        assert_eq!(split_at_dashes(&words[..1]), (&words[..1], &[][..]));
    }
}
