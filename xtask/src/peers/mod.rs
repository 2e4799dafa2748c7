//! `cargo xtask peers`: what detectors that look at single runs say of the corpus, side by side with `unsnarl run`. What
//! was tried is kept, so that this can be stopped and taken up again.

mod complaint;
mod detector;
mod table;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, bail};
use serde::{Deserialize, Serialize};

use crate::evaluate::build::{self, Variant};
use crate::evaluate::score::Key;
use crate::ledger::Ledger;
use crate::prove::attempt::{Attempt, Target};
use crate::tool::Tool;
use crate::truth::{self, Language, Subject};
use crate::{document, workspace};
use complaint::Complaint;
use detector::Detector;

#[derive(clap::Args)]
pub struct Arguments {
    /// Only this program (may be given several times)
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,
    /// For the runs of each program under each detector, and half of it for those of its fixed twin
    #[arg(long, value_name = "TIME", default_value = "3s", value_parser = humantime::parse_duration)]
    time: Duration,
    /// What all random choices of unsnarl come from
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Forget what was tried before instead of going on from there
    #[arg(long)]
    anew: bool,
    /// Put the table into docs/peers.md
    #[arg(long, conflicts_with = "only")]
    write: bool,
}

/// What one detector said of a program and of its fixed twin.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
struct Said {
    runs: u32,
    /// Different complaints.
    complaints: usize,
    /// Which of them was the first that is all about the bug, counted from one.
    at_the_bug: Option<usize>,
    /// Different complaints about the twin without the bug.
    of_the_twin: usize,
}

/// What all said of a program.
#[derive(Serialize, Deserialize, Clone)]
struct Entry {
    detectors: Vec<(String, Said)>,
    unsnarl: Attempt,
}

/// A program and what was said of it.
struct Line {
    name: String,
    kind: String,
    entry: anyhow::Result<Entry>,
}

pub fn peers(arguments: &Arguments) -> anyhow::Result<()> {
    let tool = Tool::build()?;
    let folder = workspace::scratch("peers")?;
    let detectors = detector::installed();
    let mut ledger = Ledger::open(&folder, "peers", arguments.anew)?;
    let mut lines = Vec::new();
    for subject in chosen(&arguments.only)? {
        let name = subject.truth.name.clone();
        let entry = match ledger.get(&name) {
            Some(kept) => Ok(Entry::clone(kept)),
            None => ask(&subject, &tool, &detectors, &folder.join(&name), arguments),
        };
        eprintln!("{name}: {}", table::in_short(&entry));
        if let Ok(entry) = &entry {
            ledger.put(&name, entry.clone())?;
        }
        lines.push(Line { name, kind: subject.truth.kind.clone(), entry });
    }
    let names: Vec<&str> = detectors.iter().map(|detector| detector.name()).collect();
    let time = humantime::format_duration(arguments.time);
    let command = format!("cargo xtask peers --time {time} --seed {}", arguments.seed);
    let text = table::markdown(&lines, &names, &command);
    println!("{text}");
    if arguments.write {
        document::update(&workspace::root().join("docs/peers.md"), "peers", &text)?;
    }
    Ok(())
}

/// The programs with a bug that these detectors can run.
fn chosen(only: &[String]) -> anyhow::Result<Vec<Subject>> {
    let mut subjects = truth::subjects()?;
    subjects.retain(|Subject { truth, .. }| {
        truth.has_bug() && truth.language != Language::Java && (only.is_empty() || only.contains(&truth.name))
    });
    if subjects.is_empty() {
        bail!("no native program of the corpus is meant: see corpus/README.md for their names");
    }
    Ok(subjects)
}

fn ask(
    subject: &Subject,
    tool: &Tool,
    detectors: &[Detector],
    folder: &Path,
    arguments: &Arguments,
) -> anyhow::Result<Entry> {
    fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    let mut said = Vec::new();
    for &detector in detectors {
        let buggy = watch(detector, subject, folder, Variant::Buggy, arguments.time)?;
        let fixed = match subject.truth.has_twin {
            true => watch(detector, subject, folder, Variant::Fixed, arguments.time / 2)?.1.len(),
            false => 0,
        };
        said.push((detector.name().to_owned(), judge(subject, buggy, fixed)?));
    }
    let program = build::build(subject, tool, folder, Variant::Buggy, 1)?;
    let target = Target { tool, subject, program: &program, folder, time: None };
    let unsnarl = target.attempt(&["--seed", &arguments.seed.to_string()], 0)?;
    Ok(Entry { detectors: said, unsnarl })
}

/// Runs, and the different complaints of all of them, in the order in which they were made.
fn watch(
    detector: Detector,
    subject: &Subject,
    folder: &Path,
    variant: Variant,
    time: Duration,
) -> anyhow::Result<(u32, Vec<Complaint>)> {
    let program = detector.build(subject, folder, variant)?;
    let (printed, runs) = detector.watch(&program, time, subject.truth.timeout_seconds)?;
    let mut seen = BTreeSet::new();
    let mut complaints = complaint::read(&printed, &subject.truth.own_files());
    complaints.retain(|complaint| seen.insert(complaint.clone()));
    Ok((runs, complaints))
}

fn judge(subject: &Subject, buggy: (u32, Vec<Complaint>), of_the_twin: usize) -> anyhow::Result<Said> {
    let (answers, own_files) = (subject.truth.answers()?, subject.truth.own_files());
    let key = Key { answers: &answers, own_files: &own_files };
    let bug = key.places();
    let (runs, complaints) = buggy;
    let at_the_bug = complaints.iter().position(|complaint| complaint.is_at(&bug)).map(|nth| nth + 1);
    Ok(Said { runs, complaints: complaints.len(), at_the_bug, of_the_twin })
}
