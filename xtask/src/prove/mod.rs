//! `cargo xtask prove`: is the cause of every corpus program's bug found and confirmed, and nothing else? What was
//! tried is kept and not tried again, as long as neither the program nor the tool changes.

pub mod attempt;
mod table;

use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::Path;

use anyhow::{Context as _, bail};
use serde::{Deserialize, Serialize};

use crate::document;
use crate::evaluate::build::{self, Variant};
use crate::evaluate::record::hash_of_file;
use crate::tool::Tool;
use crate::truth::{self, Language, Subject};
use crate::workspace;
use attempt::{Attempt, Target};

#[derive(clap::Args)]
pub struct Arguments {
    /// Only this program (may be given several times)
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,
    /// Java programs too
    #[arg(long)]
    java: bool,
    /// Findings that are not right to try out besides, of each program
    #[arg(long, value_name = "N", default_value_t = 2)]
    others: usize,
    /// What all random choices come from
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Put the table into docs/confirmation.md
    #[arg(long, conflicts_with = "only")]
    write: bool,
}

/// What is kept of an attempt.
#[derive(Serialize, Deserialize)]
struct Kept {
    /// Of the program, the tool and the flags.
    fingerprint: u64,
    attempt: Attempt,
}

/// A program and what came of it.
struct Line {
    name: String,
    language: Language,
    /// Among the causes there are planted decoys.
    is_planted: bool,
    attempt: anyhow::Result<Attempt>,
}

pub fn prove(arguments: &Arguments) -> anyhow::Result<()> {
    let tool = Tool::build()?;
    let folder = workspace::scratch("prove")?;
    let mut lines = Vec::new();
    for (subject, is_planted) in chosen(arguments)? {
        let name = subject.truth.name.clone();
        let attempt = try_out(&subject, &tool, &folder.join(&name), arguments);
        eprintln!("{name}: {}", table::in_short(&attempt));
        lines.push(Line { name, language: subject.truth.language, is_planted, attempt });
    }
    let text = table::markdown(&lines, &command_line(arguments));
    println!("{text}");
    if arguments.write {
        document::update(&workspace::root().join("docs/confirmation.md"), "prove", &text)?;
    }
    Ok(())
}

fn command_line(arguments: &Arguments) -> String {
    let java = if arguments.java { " --java" } else { "" };
    format!("cargo xtask prove --others {} --seed {}{java}", arguments.others, arguments.seed)
}

/// The programs with a bug, and whether they have planted decoys.
fn chosen(arguments: &Arguments) -> anyhow::Result<Vec<(Subject, bool)>> {
    let corpus = truth::subjects()?.into_iter().map(|subject| (subject, false));
    let planted = truth::planted()?.into_iter().map(|subject| (subject, true));
    let mut subjects: Vec<(Subject, bool)> = corpus.chain(planted).collect();
    subjects.retain(|(Subject { truth, .. }, _)| {
        truth.has_bug()
            && (arguments.java || truth.language != Language::Java)
            && (arguments.only.is_empty() || arguments.only.contains(&truth.name))
    });
    if subjects.is_empty() {
        bail!("no program of the corpus is meant: see corpus/README.md for their names");
    }
    Ok(subjects)
}

fn try_out(subject: &Subject, tool: &Tool, folder: &Path, arguments: &Arguments) -> anyhow::Result<Attempt> {
    let program = build::build(subject, tool, folder, Variant::Buggy, 1)?;
    let mut hasher = DefaultHasher::new();
    let hashes = (hash_of_file(&program)?, hash_of_file(tool.program())?);
    (hashes, arguments.others, arguments.seed).hash(&mut hasher);
    let fingerprint = hasher.finish();
    let path = folder.join("attempt.json");
    let kept = fs::read(&path).ok().and_then(|text| serde_json::from_slice::<Kept>(&text).ok());
    if let Some(kept) = kept.filter(|kept| kept.fingerprint == fingerprint) {
        return Ok(kept.attempt);
    }
    let target = Target { tool, subject, program: &program, folder, time: None };
    let attempt = target.attempt(&["--seed", &arguments.seed.to_string()], arguments.others)?;
    let kept = Kept { fingerprint, attempt };
    fs::write(&path, serde_json::to_vec(&kept)?)
        .with_context(|| format!("cannot write {}", path.display()))?;
    Ok(kept.attempt)
}
