//! `unsnarl cc` and `unsnarl c++`.

use std::os::unix::process::CommandExt as _;
use std::process::{Command, ExitCode};

use anyhow::Context as _;
use runner::compiler::{Compiler, Language};

use crate::args::CompileArguments;
use crate::recorder;

/// Becomes the real compiler: its output, signals and exit code are the user's.
pub fn compile(language: Language, arguments: &CompileArguments) -> anyhow::Result<ExitCode> {
    let (with, rest) = match arguments.arguments.split_first() {
        Some((flag, rest)) if flag == "--with" && !rest.is_empty() => (rest[0].to_str(), &rest[1..]),
        _ => (None, arguments.arguments.as_slice()),
    };
    let line = Compiler::choose(language, with)?.command_line(&recorder::unpack()?, rest)?;
    let (program, words) = line.split_first().context("the compiler's command line is empty")?;
    let error = Command::new(program).args(words).exec();
    Err(error).with_context(|| format!("cannot start {}", program.display()))
}
