//! `unsnarl completions SHELL` and `unsnarl man`: the command line as shells and manual readers know it.

use std::process::ExitCode;

use clap::CommandFactory as _;

use crate::args::{Arguments, CompletionsArguments};
use crate::screen;

/// `unsnarl completions SHELL`.
pub fn completions(arguments: &CompletionsArguments) -> anyhow::Result<ExitCode> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Arguments::command(), "unsnarl", &mut script);
    print(&script)
}

/// `unsnarl man`: the pages of all commands, one after the other.
pub fn man() -> anyhow::Result<ExitCode> {
    let mut command = Arguments::command();
    command.build();
    let mut pages = Vec::new();
    clap_mangen::Man::new(command.clone()).render(&mut pages)?;
    let is_told = |part: &&clap::Command| !part.is_hide_set() && part.get_name() != "help";
    for part in command.get_subcommands().filter(is_told) {
        clap_mangen::Man::new(part.clone()).render(&mut pages)?;
    }
    print(&pages)
}

fn print(text: &[u8]) -> anyhow::Result<ExitCode> {
    screen::print(&String::from_utf8_lossy(text))?;
    Ok(ExitCode::SUCCESS)
}
