//! `cargo xtask search`: how many runs, and how much time, it takes until a corpus program fails for the first time, and
//! until its cause is confirmed, for each way to run it, side by side. What was searched is kept and not searched
//! again, as long as neither the program nor the tool changes: who was interrupted goes on.
//!
//! How many runs it takes without the tool follows from how often it fails by itself, which is counted for a while: to
//! wait for the first of rare failures again and again would take all the time.

mod agenda;
mod native;
mod table;

use std::cmp::Ordering;
use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use runner::Session;
use serde::{Deserialize, Serialize};

use crate::document;
use crate::evaluate::build::{self, Variant};
use crate::evaluate::record::{hash_of_file, healthy};
use crate::prove::attempt::Target;
use crate::tool::Tool;
use crate::truth::{self, Language, Subject};
use crate::workspace;
use agenda::{Goal, Item};
use native::Stress;

#[derive(clap::Args)]
pub struct Arguments {
    /// Search only in this program (may be given several times)
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,
    /// Only in programs that fail more rarely than this by themselves
    #[arg(long, value_name = "RATE", default_value_t = 1.0)]
    below: f64,
    /// Compare only this way with native stress (may be given several times) [default: all]
    #[arg(long, value_name = "NAME", value_parser = way_named)]
    way: Vec<usize>,
    /// Search with this unsnarl [default: built for release]
    #[arg(long, value_name = "PROGRAM")]
    tool: Option<PathBuf>,
    /// How often to search, for each program and way; the median counts
    #[arg(long, value_name = "N", default_value_t = 3)]
    trials: u32,
    /// Time for one search, after which it has failed
    #[arg(long, value_name = "T", default_value = "3s", value_parser = humantime::parse_duration)]
    time: Duration,
    /// How long to run each program without the tool, for each trial
    #[arg(long, value_name = "T", default_value = "1s", value_parser = humantime::parse_duration)]
    native: Duration,
    /// Also search until the cause is confirmed, in the ways that have made the program fail
    #[arg(long)]
    proof: bool,
    /// Search until the cause is confirmed and for nothing else
    #[arg(long, conflicts_with = "proof")]
    only_proof: bool,
    /// Time for one search for a confirmed cause, from the first run to the report, after which it has failed
    #[arg(long, value_name = "T", default_value = "20s", value_parser = humantime::parse_duration)]
    proof_time: Duration,
    /// Begin no search after this time; what is left can be searched by the same command later
    #[arg(long, value_name = "T", value_parser = humantime::parse_duration)]
    total: Option<Duration>,
    /// What all random choices come from
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Put the table into docs/search.md
    #[arg(long, conflicts_with = "only")]
    write: bool,
}

impl Arguments {
    fn goals(&self) -> &'static [Goal] {
        match (self.proof, self.only_proof) {
            (_, true) => &[Goal::Proof],
            (true, false) => &[Goal::Failure, Goal::Proof],
            (false, false) => &[Goal::Failure],
        }
    }

    /// The ways that are compared, in the order of the table. How often programs fail by themselves is always told.
    fn ways(&self) -> Vec<usize> {
        (0..WAYS.len()).filter(|way| *way == 0 || self.way.is_empty() || self.way.contains(way)).collect()
    }

    fn as_typed(&self) -> String {
        let mut typed = format!(
            " --trials {} --time {}ms --native {}ms --below {} --seed {}",
            self.trials,
            self.time.as_millis(),
            self.native.as_millis(),
            self.below,
            self.seed
        );
        for &way in &self.way {
            typed += &format!(" --way {}", WAYS[way].typed());
        }
        if let Some(total) = self.total {
            typed += &format!(" --total {}", humantime::format_duration(total));
        }
        for (is_asked, flag) in [(self.proof, "proof"), (self.only_proof, "only-proof")] {
            if is_asked {
                typed += &format!(" --{flag} --proof-time {}ms", self.proof_time.as_millis());
            }
        }
        typed
    }
}

/// A way to run a program.
struct Way {
    name: &'static str,
    /// Of `unsnarl run`; none for the program as it is.
    flags: Option<&'static [&'static str]>,
}

impl Way {
    /// Its name on the command line.
    fn typed(&self) -> String {
        self.name.replace(", ", "-")
    }
}

fn way_named(text: &str) -> Result<usize, String> {
    let known = || WAYS.iter().map(Way::typed).collect::<Vec<_>>().join(", ");
    WAYS.iter().position(|way| way.typed() == text).ok_or_else(|| format!("known ways: {}", known()))
}

const WAYS: [Way; 9] = [
    Way { name: "native", flags: None },
    Way { name: "noise", flags: Some(&["--schedule", "free"]) },
    Way { name: "random", flags: Some(&["--schedule", "random"]) },
    Way { name: "pct", flags: Some(&["--schedule", "pct"]) },
    Way { name: "pos", flags: Some(&["--schedule", "pos"]) },
    Way { name: "surw", flags: Some(&["--schedule", "surw"]) },
    Way { name: "near", flags: Some(&["--schedule", "near"]) },
    Way { name: "mixed", flags: Some(&["--schedule", "mixed", "--undirected"]) },
    Way { name: "mixed, directed", flags: Some(&["--schedule", "mixed"]) },
];

/// In a program's folder: its searches so far.
const KEPT: &str = "searches.json";

/// Below this rate a failure counts as rare.
const RARE: f64 = 0.01;

/// One search.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Found {
    /// Runs up to the first failure, or all of them.
    runs: u32,
    seconds: f64,
    /// Whether there was a failure.
    failed: bool,
}

/// What searches are compared by: runs until a failure, seconds until the proof.
fn by_runs(one: &Found, other: &Found) -> Ordering {
    one.runs.cmp(&other.runs)
}

fn by_seconds(one: &Found, other: &Found) -> Ordering {
    one.seconds.total_cmp(&other.seconds)
}

/// The median search of a program in one way. A search in vain took longer than any other.
fn median(mut searches: Vec<Found>, by: fn(&Found, &Found) -> Ordering) -> Option<Found> {
    searches.sort_by(|one, other| other.failed.cmp(&one.failed).then_with(|| by(one, other)));
    searches.get(searches.len().checked_sub(1)? / 2).copied()
}

/// So many searches for a proof in vain, and none else, are enough: the median will be one of them.
const IN_VAIN: usize = 3;

/// A program with what came of each way.
struct Line {
    name: String,
    native: Stress,
    /// How often was searched for a failure, and for the confirmed cause.
    searches: [usize; 2],
    /// The median search for a failure.
    found: Vec<Option<Found>>,
    /// The median search for the confirmed cause, by seconds and by runs.
    proven: Vec<Option<Found>>,
    proven_by_runs: Vec<Option<Found>>,
}

/// All searches of a program so far, by way and trial.
#[derive(Default, Serialize, Deserialize)]
struct Searches {
    /// Of the program, the tool and the flags.
    fingerprint: u64,
    /// What came of running it without the tool.
    native: Stress,
    found: Vec<Vec<Found>>,
    proven: Vec<Vec<Found>>,
}

/// A program that is searched.
struct Searched {
    subject: Subject,
    folder: PathBuf,
    recorded: PathBuf,
    native: PathBuf,
    searches: Searches,
}

impl Searched {
    fn prepare(
        subject: Subject,
        tool: &Tool,
        folder: PathBuf,
        arguments: &Arguments,
    ) -> anyhow::Result<Searched> {
        let recorded = build::build(&subject, tool, &folder, Variant::Buggy, 1)?;
        let native = build::build_native(&subject, &folder, Variant::Buggy, 1)?;
        let mut hasher = DefaultHasher::new();
        let hashes = (hash_of_file(&recorded)?, hash_of_file(tool.program())?);
        (hashes, arguments.time, arguments.proof_time, arguments.seed).hash(&mut hasher);
        let fingerprint = hasher.finish();
        let kept = fs::read(folder.join(KEPT)).ok().and_then(|text| serde_json::from_slice(&text).ok());
        let none = || vec![Vec::new(); WAYS.len()];
        let searches = kept.filter(|kept: &Searches| kept.fingerprint == fingerprint).unwrap_or_else(|| {
            Searches { fingerprint, found: none(), proven: none(), ..Searches::default() }
        });
        Ok(Searched { subject, folder, recorded, native, searches })
    }

    /// One trial in one way, unless there is one.
    fn search(&mut self, item: Item, way: usize, tool: &Tool, arguments: &Arguments) -> anyhow::Result<()> {
        let searches = match item.goal {
            Goal::Failure => &self.searches.found,
            Goal::Proof => &self.searches.proven,
        };
        if searches[way].len() > item.trial as usize {
            return Ok(());
        }
        let seed = arguments.seed + u64::from(item.trial);
        match (item.goal, WAYS[way].flags) {
            (Goal::Failure, None) => {
                if self.searches.native.trials > item.trial {
                    return Ok(());
                }
                self.searches.native.go_on(&self.native, &self.subject, arguments.native)?;
            }
            (Goal::Failure, Some(flags)) => {
                let found = self.campaign(tool, flags, seed, arguments.time)?;
                self.searches.found[way].push(found);
            }
            (Goal::Proof, None) => return Ok(()),
            (Goal::Proof, Some(_)) if self.is_in_vain(way) => return Ok(()),
            (Goal::Proof, Some(flags)) => {
                let proven = self.proof(tool, flags, seed, arguments.proof_time)?;
                self.searches.proven[way].push(proven);
            }
        }
        let path = self.folder.join(KEPT);
        let next = path.with_extension("new");
        fs::write(&next, serde_json::to_vec(&self.searches)?)
            .and_then(|()| fs::rename(&next, &path))
            .with_context(|| format!("cannot write {}", path.display()))
    }

    /// Whether all searches for a failure in this way found none, so that there is nothing to be proven, or some for a proof did not.
    fn is_in_vain(&self, way: usize) -> bool {
        let is_in_vain = |searches: &[Found], enough: usize| {
            searches.len() >= enough && searches.iter().all(|found| !found.failed)
        };
        is_in_vain(&self.searches.found[way], 1) || is_in_vain(&self.searches.proven[way], IN_VAIN)
    }

    fn campaign(&self, tool: &Tool, flags: &[&str], seed: u64, time: Duration) -> anyhow::Result<Found> {
        let session = self.folder.join("session");
        drop(fs::remove_dir_all(&session));
        let mut unsnarl = tool.command();
        unsnarl.arg("run").arg("--session").arg(&session).args(flags);
        unsnarl.args(["--until-failures", "1", "--seed", &seed.to_string()]);
        unsnarl.args(["--time", &format!("{}ms", time.as_millis())]);
        unsnarl.args(["--timeout", &format!("{}s", self.subject.truth.timeout_seconds)]);
        // What the runs have to say is not looked at.
        unsnarl.args(["--no-confirm", "--technique", "avio", "--findings", "1"]);
        healthy(unsnarl.arg("--").arg(&self.recorded))?;
        let session = Session::open(&session)?;
        let failed = session.runs().iter().any(|record| record.outcome.is_failing());
        Ok(Found { runs: session.runs().len() as u32, seconds: session.manifest().wall_seconds, failed })
    }

    /// From the first run to the report, as `unsnarl run` goes about it by itself: what counts is a confirmed finding that is right.
    fn proof(&self, tool: &Tool, flags: &[&str], seed: u64, time: Duration) -> anyhow::Result<Found> {
        let seed = seed.to_string();
        let flags: Vec<&str> = flags.iter().copied().chain(["--seed", &seed]).collect();
        let (subject, program, folder) = (&self.subject, &*self.recorded, &*self.folder);
        let attempt = Target { tool, subject, program, folder, time: Some(time) }.attempt(&flags, 0)?;
        let (runs, failed) = (attempt.runs + attempt.trials, attempt.is_proven());
        Ok(Found { runs, seconds: attempt.seconds, failed })
    }

    fn line(self) -> Line {
        let Searches { native, found, proven, .. } = self.searches;
        let count = |all: &[Vec<Found>]| all.iter().map(Vec::len).max().unwrap_or(0);
        let medians = |all: &[Vec<Found>], by: fn(&Found, &Found) -> Ordering| {
            all.iter().map(|searches| median(searches.clone(), by)).collect()
        };
        let mut line = Line {
            name: self.subject.truth.name,
            native,
            searches: [count(&found), count(&proven)],
            found: medians(&found, by_runs),
            proven: medians(&proven, by_seconds),
            proven_by_runs: medians(&proven, by_runs),
        };
        line.found[0] = native.median();
        line
    }
}

pub fn search(arguments: &Arguments) -> anyhow::Result<()> {
    let tool = match &arguments.tool {
        Some(program) => Tool::given(program.clone()),
        None => Tool::build()?,
    };
    let folder = workspace::scratch("search")?;
    let mut programs = Vec::new();
    for subject in chosen(arguments)? {
        let place = folder.join(&subject.truth.name);
        programs.push(Searched::prepare(subject, &tool, place, arguments)?);
    }
    let rare: Vec<bool> =
        programs.iter().map(|program| program.subject.truth.natural_failure_rate < RARE).collect();
    let agenda = agenda::agenda(&rare, arguments.trials, arguments.goals());
    let begun = Instant::now();
    let is_over = || arguments.total.is_some_and(|total| begun.elapsed() >= total);
    for item in agenda.into_iter().take_while(|_| !is_over()) {
        let program = &mut programs[item.program];
        let name = &program.subject.truth.name;
        eprintln!("{:.0?}: {:?} of {name}, trial {}", begun.elapsed(), item.goal, item.trial + 1);
        for way in arguments.ways().into_iter().take_while(|_| !is_over()) {
            program.search(item, way, &tool, arguments)?;
        }
    }
    let lines: Vec<Line> = programs.into_iter().map(Searched::line).collect();
    let text = table::markdown(&lines, arguments);
    println!("{text}");
    if arguments.write {
        document::update(&workspace::root().join("docs/search.md"), "search", &text)?;
    }
    Ok(())
}

fn chosen(arguments: &Arguments) -> anyhow::Result<Vec<Subject>> {
    let mut subjects = truth::subjects()?;
    // The schedule of a Java virtual machine is its own.
    subjects.retain(|subject| subject.truth.has_bug() && subject.truth.language != Language::Java);
    subjects.retain(|subject| subject.truth.natural_failure_rate < arguments.below);
    let only = &arguments.only;
    subjects.retain(|subject| only.is_empty() || only.contains(&subject.truth.name));
    if subjects.is_empty() {
        bail!("no program of the corpus is meant: see corpus/README.md for their names");
    }
    Ok(subjects)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ways_are_told_by_their_names() {
        assert_eq!(way_named("mixed-directed"), Ok(WAYS.len() - 1));
        assert!(way_named("best").unwrap_err().contains("noise, random"));
        assert!((0..WAYS.len()).all(|way| way_named(&WAYS[way].typed()) == Ok(way)));
    }

    #[test]
    fn a_search_in_vain_is_the_longest() {
        let found = |runs, failed| Found { runs, seconds: 1.0, failed };
        let all = vec![found(50, true), found(10, false), found(3, true)];
        assert_eq!(median(all, by_runs), Some(found(50, true)));
        let others = vec![found(10, false), found(20, false), found(3, true)];
        assert_eq!(median(others, by_runs), Some(found(10, false)));
        assert_eq!(median(Vec::new(), by_runs), None);
    }

    #[test]
    fn proofs_are_compared_by_the_clock() {
        let found = |runs, seconds| Found { runs, seconds, failed: true };
        let all = vec![found(90, 1.0), found(50, 3.0), found(70, 2.0)];
        assert_eq!(median(all.clone(), by_seconds), Some(found(70, 2.0)));
        assert_eq!(
            median(vec![found(90, 1.0), found(50, 3.0), found(95, 2.0)], by_seconds),
            Some(found(95, 2.0))
        );
    }
}
