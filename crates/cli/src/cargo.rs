//! `cargo unsnarl build|run|test|nextest …`: cargo, building for the recorder.
//!
//! Everything but the standard library, which is used as shipped, is compiled with `-Zsanitizer=thread`, and
//! programs are linked with the static recorder. It goes to a target folder of its own, so that ordinary
//! builds are not disturbed.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::args::{CargoArguments, RunArguments};
use crate::exit::{self, Complaint};
use crate::{input, recorder, run, sessions};
use anyhow::Context as _;
use clap::Args as _;

mod build;
mod choice;

use build::{Build, Built};

/// What is run again and again, with what, and where.
struct Subject {
    program: PathBuf,
    arguments: Vec<OsString>,
    /// Tests run in their package's folder; a program where the user is.
    folder: Option<PathBuf>,
    /// What to call the session; after the program if empty.
    name: String,
    /// What makes cargo build it anew.
    build_words: Vec<OsString>,
}

/// `cargo unsnarl …`.
pub fn cargo(arguments: CargoArguments) -> anyhow::Result<ExitCode> {
    let CargoArguments { run: mut arguments } = arguments;
    let loops = arguments.java.loops;
    let words = std::mem::take(&mut arguments.command);
    let Some((command, rest)) = words.split_first() else {
        return Err(usage(
            "say what to do:  cargo unsnarl test NAME,  cargo unsnarl run,  cargo unsnarl build",
        ));
    };
    if let Some(flag) = misplaced_flag(rest) {
        return Err(usage(&format!(
            "{flag} is for unsnarl, not for cargo: say it before `{0}`:  cargo unsnarl {flag} … {0} …",
            command.display()
        )));
    }
    arguments.cargo_words.clone_from(&words);
    arguments.stdin = arguments.stdin.or_else(input::redirected);
    let build = Build { recorder: recorder::unpack()?, loops };
    match (command.to_str(), rest.first().and_then(|word| word.to_str())) {
        (Some("test" | "t"), _) => localize(choice::of_cargo(&build, rest)?, arguments),
        (Some("nextest"), Some("run" | "r")) => localize(choice::of_nextest(&build, &rest[1..])?, arguments),
        (Some("run" | "r"), _) => localize(program(&build, rest)?, arguments),
        (Some("build" | "b" | "check" | "clippy" | "bench" | "nextest"), _) => {
            let mut cargo = build.command(&[command], rest)?;
            let status = cargo.status().context("cannot start cargo")?;
            Ok(ExitCode::from(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1)))
        }
        _ => Err(usage(&format!(
            "cargo unsnarl does not know `{}`: use build, run, test, bench or nextest",
            command.display()
        ))),
    }
}

/// A flag of `unsnarl run` that stands where cargo's flags do, and that cargo does not know.
fn misplaced_flag(words: &[OsString]) -> Option<String> {
    /// Flags that both have.
    const CARGOS: [&str; 4] = ["jobs", "json", "help", "version"];
    let flags = RunArguments::augment_args(clap::Command::new("run"));
    let is_ours = |flag: &str| {
        let mut known = flags.get_arguments().filter_map(|known| known.get_long());
        !CARGOS.contains(&flag) && known.any(|known| known == flag)
    };
    split_at_dashes(words).0.iter().find_map(|word| {
        let flag = word.to_str()?.strip_prefix("--")?.split('=').next()?;
        is_ours(flag).then(|| format!("--{flag}"))
    })
}

fn usage(what: &str) -> anyhow::Error {
    Complaint::usage(what.to_owned()).into()
}

fn not_built(what: &str) -> anyhow::Error {
    Complaint { code: exit::NOT_BUILT, what: what.to_owned(), advice: "" }.into()
}

/// Runs it until its interleaving is found.
fn localize(subject: Subject, mut arguments: RunArguments) -> anyhow::Result<ExitCode> {
    arguments.command = vec![subject.program.into_os_string()];
    arguments.command.extend(subject.arguments);
    arguments.build_words = subject.build_words;
    if let Some(folder) = subject.folder {
        let here = std::env::current_dir().context("cannot tell the current folder")?;
        if arguments.session.is_none() {
            arguments.session = Some(run::session_name(&subject.name));
        }
        if folder != here {
            stay_with(&mut arguments, &here);
        }
        sessions::go_to(&folder)?;
    }
    run::run(&arguments)
}

/// Files that the user named mean the same from another folder.
fn stay_with(arguments: &mut RunArguments, here: &Path) {
    let is_bare = |path: &Path| path.parent() == Some(Path::new(""));
    if let Some(session) = &mut arguments.session {
        let store = if is_bare(session) { here.join(sessions::STORE) } else { here.to_owned() };
        *session = store.join(&*session);
    }
    let is_file = |path: &&mut PathBuf| path.as_os_str() != "-";
    for path in arguments
        .json
        .iter_mut()
        .chain(&mut arguments.oracle.expect_stdout)
        .chain(&mut arguments.stdin)
        .filter(is_file)
    {
        *path = here.join(&*path);
    }
}

/// The program that `cargo run` would run.
fn program(build: &Build, words: &[OsString]) -> anyhow::Result<Subject> {
    let (cargo_words, program_words) = split_at_dashes(words);
    let command = build.command(&[OsStr::new("build")], cargo_words)?;
    let program =
        the_only(build::executables(command, false)?, "no program was built that could be run")?.program;
    let arguments = program_words.to_vec();
    let build_words = build_again(&[], cargo_words);
    Ok(Subject { program, arguments, folder: None, name: String::new(), build_words })
}

/// The words after `cargo unsnarl` that build the same, with the same options.
fn build_again(what: &[&str], options: &[OsString]) -> Vec<OsString> {
    ["build"].iter().chain(what).map(OsString::from).chain(options.iter().cloned()).collect()
}

/// The only one of several programs.
fn the_only(mut programs: Vec<Built>, none: &str) -> anyhow::Result<Built> {
    match programs.len() {
        0 => Err(usage(none)),
        1 => Ok(programs.remove(0)),
        n => {
            let list: String = programs.iter().map(|built| format!("\n  {}", built.flags)).collect();
            Err(usage(&format!("{n} programs qualify; choose one by{list}")))
        }
    }
}

/// What is for cargo, and what is for the program.
fn split_at_dashes(words: &[OsString]) -> (&[OsString], &[OsString]) {
    match words.iter().position(|word| word == "--") {
        Some(at) => (&words[..at], &words[at + 1..]),
        None => (words, &[]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dashes_separate_cargo_from_the_program() {
        let words: Vec<OsString> = ["a", "--", "b", "--", "c"].map(OsString::from).to_vec();
        assert_eq!(split_at_dashes(&words), (&words[..1], &words[2..]));
        assert_eq!(split_at_dashes(&words[..1]), (&words[..1], &[][..]));
    }

    #[test]
    fn files_mean_the_same_from_another_folder() {
        let words = ["--session", "taking", "--json", "-", "--expect-stdout", "out", "--", "./test"];
        let mut arguments = RunArguments::of(words.map(OsString::from));
        stay_with(&mut arguments, Path::new("/here"));
        assert_eq!(arguments.session.as_deref(), Some(Path::new("/here/.unsnarl/taking")));
        assert_eq!(arguments.json.as_deref(), Some(Path::new("-")));
        assert_eq!(arguments.oracle.expect_stdout.as_deref(), Some(Path::new("/here/out")));
    }
}
