//! `unsnarl cc` and `unsnarl c++`.

use std::ffi::OsString;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, ExitCode};

use anyhow::Context as _;
use runner::compiler::{Compiler, Language};

use crate::args::CompileArguments;
use crate::recorder;

/// Becomes the real compiler: its output, signals and exit code are the user's.
pub fn compile(language: Language, arguments: &CompileArguments) -> anyhow::Result<ExitCode> {
    let OwnFlags { with, loops, rest } = OwnFlags::of(&arguments.arguments);
    let compiler = Compiler::choose(language, with)?;
    let announcing = if loops { compiler.flags_for_loops() } else { &[] };
    let words: Vec<OsString> = announcing.iter().map(OsString::from).chain(rest.iter().cloned()).collect();
    let line = compiler.command_line(&recorder::unpack()?, &words)?;
    let (program, words) = line.split_first().context("the compiler's command line is empty")?;
    let error = Command::new(program).args(words).exec();
    Err(error).with_context(|| format!("cannot start {}", program.display()))
}

/// What is meant for `unsnarl cc` itself and not for the compiler. It comes first, so that no argument of the
/// compiler's is ever taken for it.
struct OwnFlags<'a> {
    with: Option<&'a str>,
    loops: bool,
    rest: &'a [OsString],
}

impl<'a> OwnFlags<'a> {
    fn of(arguments: &'a [OsString]) -> OwnFlags<'a> {
        let mut flags = OwnFlags { with: None, loops: false, rest: arguments };
        loop {
            match flags.rest {
                [flag, name, rest @ ..] if flag == "--with" => {
                    (flags.with, flags.rest) = (name.to_str(), rest);
                }
                [flag, rest @ ..] if flag == "--loops" => (flags.loops, flags.rest) = (true, rest),
                _ => return flags,
            }
        }
    }
}
