//! The project's own chores: `cargo xtask tidy`, `ci`, `evaluate`, `stories`, `bench`, `search`, `prove`,
//! `peers`, `replay`, `soak` and `jdk`. Whatever CI does is one of these, so that it can be done on any machine.

mod bench;
mod chart;
mod ci;
mod document;
mod evaluate;
mod jdk;
mod ledger;
mod measure;
mod peers;
mod prove;
mod replay;
mod search;
mod soak;
mod sources;
mod stories;
mod tidy;
mod tool;
mod truth;
mod workspace;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Chores of the unsnarl project
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Check what no compiler checks: arrows between crates, licences, paths in the docs, truth files
    Tidy,
    /// Do all that CI does
    Ci(ci::Arguments),
    /// Localize every corpus program's bug and compare with its truth
    Evaluate(evaluate::Arguments),
    /// Keep what is said about every corpus program's bug, for a test to look at
    Stories,
    /// Measure what recording costs, side by side with the native program, TSan and Helgrind
    Bench(bench::Arguments),
    /// Find and confirm every corpus program's bug, as a user would
    Prove(prove::Arguments),
    /// Compare what TSan, Helgrind and unsnarl say of every corpus program's bug
    Peers(peers::Arguments),
    /// Replay failing runs of the corpus and say how many fail again
    Replay(replay::Arguments),
    /// Count the runs and the time until each corpus program fails, for each way to run it
    Search(search::Arguments),
    /// Try real programs under the recorder
    Soak(soak::Arguments),
    /// Try the Java platform itself under the agent
    Jdk(jdk::Arguments),
}

fn main() -> ExitCode {
    let done = match Arguments::parse().command {
        Command::Tidy => tidy::tidy(),
        Command::Ci(arguments) => ci::ci(&arguments),
        Command::Evaluate(arguments) => evaluate::evaluate(&arguments),
        Command::Stories => stories::stories(),
        Command::Bench(arguments) => bench::bench(&arguments),
        Command::Prove(arguments) => prove::prove(&arguments),
        Command::Peers(arguments) => peers::peers(&arguments),
        Command::Replay(arguments) => replay::replay(&arguments),
        Command::Search(arguments) => search::search(&arguments),
        Command::Soak(arguments) => soak::soak(&arguments),
        Command::Jdk(arguments) => jdk::jdk(&arguments),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
