//! `unsnarl`: flags and wiring. What it does is in the crates it wires together.

mod analysis;
mod answer;
mod args;
mod cargo;
mod causes;
mod check;
mod compile;
mod conduct;
mod confirm;
mod crowding;
mod demo;
mod draws;
mod evidence;
mod exit;
mod explain;
mod failures;
mod flags;
mod freed_uses;
mod hangs;
mod input;
mod interleaving;
mod java;
mod junit;
mod leftovers;
mod look;
mod manual;
mod names;
mod narrow;
mod recorder;
mod replay;
mod run;
mod runs;
mod screen;
mod search;
mod sessions;
mod source_names;
mod threads;
mod trace;
mod values;
mod watch;
mod written_over;

use std::process::ExitCode;

use clap::Parser;

use args::{Arguments, Command};

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let result = match arguments.command {
        Command::Run(mut arguments) => {
            arguments.stdin = arguments.stdin.or_else(input::redirected);
            junit::applied(arguments).and_then(|arguments| run::run(&arguments))
        }
        Command::Demo(arguments) => demo::demo(&arguments),
        Command::Report(arguments) => look::report(&arguments),
        Command::Show(arguments) => look::show(&arguments),
        Command::Trace(arguments) => trace::trace(&arguments),
        Command::Draws(arguments) => draws::draws(&arguments),
        Command::Confirm(arguments) => confirm::confirm(&arguments),
        Command::Replay(arguments) => replay::replay(&arguments),
        Command::Check(arguments) => check::check(&arguments),
        Command::Sessions(arguments) => sessions::sessions(&arguments),
        Command::Cargo(arguments) => cargo::cargo(arguments),
        Command::Completions(arguments) => manual::completions(&arguments),
        Command::Man => manual::man(),
        Command::Cc(arguments) => compile::compile(runner::compiler::Language::C, &arguments),
        Command::Cxx(arguments) => compile::compile(runner::compiler::Language::Cxx, &arguments),
    };
    result.unwrap_or_else(|error| exit::explain(&error))
}
