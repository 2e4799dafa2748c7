//! `cargo unsnarl …`, by which cargo finds it: hands everything to the `unsnarl` beside it.

use std::os::unix::process::CommandExt as _;
use std::process::{Command, ExitCode};

fn main() -> ExitCode {
    // Cargo passes the subcommand's own name first.
    let words = std::env::args_os().skip(1).skip_while(|word| word == "unsnarl");
    let beside = std::env::current_exe().map(|own| own.with_file_name("unsnarl"));
    let unsnarl = beside.unwrap_or_else(|_| "unsnarl".into());
    let error = Command::new(&unsnarl).arg("cargo").args(words).exec();
    eprintln!("error: cannot start {}: {error}", unsnarl.display());
    ExitCode::FAILURE
}
