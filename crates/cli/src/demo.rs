//! `unsnarl demo`: the whole way on a shipped program, a queue whose `size` and `pop` are each locked but not
//! both together. There is no data race in it, so race detectors are silent.

use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode};

use anyhow::Context as _;
use runner::compiler::{Compiler, Language};

use crate::args::{DemoArguments, RunArguments};
use crate::{exit, recorder, run};

/// The program, laid out as in the corpus, so that its includes work.
const FILES: [(&str, &str); 5] = [
    ("background.h", include_str!("../../../corpus/background.h")),
    ("work.h", include_str!("../../../corpus/work.h")),
    ("c/claim/claim.c", include_str!("../../../corpus/c/claim/claim.c")),
    ("c/claim/queue.c", include_str!("../../../corpus/c/claim/queue.c")),
    ("c/claim/queue.h", include_str!("../../../corpus/c/claim/queue.h")),
];

/// `unsnarl demo`.
pub fn demo(arguments: &DemoArguments) -> anyhow::Result<ExitCode> {
    let folder = &arguments.folder;
    for (name, text) in FILES {
        let path = folder.join(name);
        let parent = path.parent().unwrap_or(folder);
        let text = without_markers(text);
        fs::create_dir_all(parent)
            .and_then(|()| fs::write(&path, text))
            .map_err(|source| runner::Error::Unwritable { path: path.clone(), source })?;
    }
    let program = folder.join("claim");
    let sources = [folder.join("c/claim/claim.c"), folder.join("c/claim/queue.c")];
    println!(
        "a crawler with a queue: {}",
        sources.each_ref().map(|path| path.display().to_string()).join(", ")
    );
    println!("$ unsnarl cc -O1 -pthread claim.c queue.c -o claim");
    if !compile(&program, &sources.each_ref().map(|path| path.as_path()))? {
        eprintln!("error: the demo could not be compiled");
        eprintln!("  it needs gcc:  apt-get install gcc libc6-dev");
        return Ok(ExitCode::from(exit::NOT_BUILT));
    }
    println!("$ unsnarl run -- ./claim\n");
    run::run(&as_run(arguments, &program))
}

/// The corpus marks the lines that are to blame; here they are to be found.
fn without_markers(text: &str) -> String {
    let unmarked = |line: &str| match line.find("/* truth:") {
        Some(marker) => line[..marker].trim_end().to_owned(),
        None => line.to_owned(),
    };
    text.lines().map(|line| unmarked(line) + "\n").collect()
}

fn compile(program: &Path, sources: &[&Path]) -> anyhow::Result<bool> {
    let Ok(compiler) = Compiler::choose(Language::C, None) else { return Ok(false) };
    let mut words = ["-O1", "-g", "-pthread", "-o"].map(Into::into).to_vec();
    words.push(program.into());
    words.extend(sources.iter().map(|path| path.into()));
    let line = compiler.command_line(&recorder::unpack()?, &words)?;
    let (compiler, words) = line.split_first().context("the compiler's command line is empty")?;
    Ok(Command::new(compiler).args(words).status().is_ok_and(|status| status.success()))
}

/// What the printed command line stands for, with a seed that makes the demo repeatable.
fn as_run(arguments: &DemoArguments, program: &Path) -> RunArguments {
    let seed = arguments.seed.to_string();
    let flags = ["--timeout", "10s", "--seed", &seed, "--session"];
    let mut words = flags.map(OsString::from).to_vec();
    words.push(arguments.folder.join("session").into());
    words.push("--".into());
    // With its folder, so that it is found whether or not that is a relative path.
    words.push(Path::new(".").join(program).into());
    RunArguments::of(words)
}
