//! `cargo xtask search`: how many runs, and how much time, it takes until a corpus program fails for the first time, and
//! until its cause is confirmed, for each way to run it, side by side.
//!
//! Twenty trials of all programs in all ways take hours. So each trial is kept, in docs/search.jsonl, and the same command goes
//! on where it was interrupted, on another day as well; all programs have one trial before any has a second one, and in a
//! trial all ways are searched right after each other. `--anew` forgets what was searched before.
//!
//! How many runs it takes without the tool follows from how often it fails by itself, which is counted for a while: to
//! wait for the first of rare failures again and again would take all the time.

mod native;
mod table;
mod trial;

use std::cmp::Ordering;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::bail;
use serde::{Deserialize, Serialize};

use crate::document;
use crate::evaluate::build::{self, Variant};
use crate::ledger::Ledger;
use crate::tool::Tool;
use crate::truth::{self, Language, Subject};
use crate::workspace;
use native::Stress;
use trial::{Program, Search, Trial};

#[derive(clap::Args)]
pub struct Arguments {
    /// Search only in this program (may be given several times)
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,
    /// Compare only this way with native stress (may be given several times) [default: all]
    #[arg(long, value_name = "NAME", value_parser = way_named)]
    way: Vec<usize>,
    /// Search with this unsnarl [default: built for release]
    #[arg(long, value_name = "PROGRAM")]
    tool: Option<PathBuf>,
    /// How often to search, for each program and way; the median counts
    #[arg(long, value_name = "N", default_value_t = 20)]
    trials: u32,
    /// Time for one search, from the first run to the report, after which it was in vain
    #[arg(long, value_name = "T", default_value = "4s", value_parser = humantime::parse_duration)]
    time: Duration,
    /// How long to run each program without the tool, for each trial
    #[arg(long, value_name = "T", default_value = "400ms", value_parser = humantime::parse_duration)]
    native: Duration,
    /// Begin no trial after this time; what is left can be searched by the same command later
    #[arg(long, value_name = "T", value_parser = humantime::parse_duration)]
    total: Option<Duration>,
    /// Forget what was searched before
    #[arg(long)]
    anew: bool,
    /// What all random choices come from
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Put the tables into docs/search.md
    #[arg(long, conflicts_with = "only")]
    write: bool,
}

impl Arguments {
    /// The ways that are compared, in the order of the table.
    fn ways(&self) -> Vec<usize> {
        (0..WAYS.len()).filter(|way| self.way.is_empty() || self.way.contains(way)).collect()
    }

    fn as_typed(&self) -> String {
        let [time, native] = [self.time, self.native].map(humantime::format_duration);
        let mut typed =
            format!(" --trials {} --time {time} --native {native} --seed {}", self.trials, self.seed);
        for &way in &self.way {
            typed += &format!(" --way {}", WAYS[way].typed());
        }
        typed
    }
}

/// A way to run a program.
struct Way {
    name: &'static str,
    /// Of `unsnarl run`.
    flags: &'static [&'static str],
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

const WAYS: [Way; 8] = [
    Way { name: "noise", flags: &["--schedule", "free"] },
    Way { name: "random", flags: &["--schedule", "random"] },
    Way { name: "pct", flags: &["--schedule", "pct"] },
    Way { name: "pos", flags: &["--schedule", "pos"] },
    Way { name: "surw", flags: &["--schedule", "surw"] },
    Way { name: "near", flags: &["--schedule", "near"] },
    Way { name: "mixed", flags: &["--schedule", "mixed", "--undirected"] },
    Way { name: "mixed, directed", flags: &["--schedule", "mixed"] },
];

/// Below this rate a failure counts as rare.
const RARE: f64 = 0.01;

/// What came of looking for a failure, or for the proof.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Found {
    /// Runs until it was found, or all of them.
    runs: u32,
    seconds: f64,
    is_found: bool,
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
    searches.sort_by(|one, other| other.is_found.cmp(&one.is_found).then_with(|| by(one, other)));
    searches.get(searches.len().checked_sub(1)? / 2).copied()
}

/// So many searches for a proof in vain, and none else, are enough: the median will be one of them.
const IN_VAIN: usize = 3;

/// A program with what came of each way.
struct Line {
    name: String,
    native: Stress,
    trials: usize,
    /// The median search until the first failure.
    found: Vec<Option<Found>>,
    /// Until the confirmed cause, by seconds and by runs.
    proven: Vec<Option<Found>>,
    proven_by_runs: Vec<Option<Found>>,
    /// Median seconds from the start to the report.
    until_report: Vec<Option<f64>>,
    /// Of each way, searches that came to the confirmed cause, and all of them.
    proofs: Vec<[usize; 2]>,
}

impl Line {
    fn new(name: &str, trials: &[&Trial]) -> Line {
        let searches = |way: &Way| -> Vec<&Search> {
            trials.iter().filter_map(|trial| trial.searches.get(way.name)).collect()
        };
        let medians = |found: fn(&Search) -> Found, by: fn(&Found, &Found) -> Ordering| {
            let of = |way: &Way| median(searches(way).into_iter().map(found).collect(), by);
            WAYS.iter().map(of).collect()
        };
        let until_report = |way: &Way| {
            let mut seconds: Vec<f64> = searches(way).into_iter().map(Search::until_report).collect();
            seconds.sort_by(f64::total_cmp);
            seconds.get(seconds.len().checked_sub(1)? / 2).copied()
        };
        let proofs = |way: &Way| {
            let searches = searches(way);
            [searches.iter().filter(|search| search.until_proof().is_found).count(), searches.len()]
        };
        Line {
            name: name.to_owned(),
            native: trials.iter().fold(Stress::default(), |all, trial| all.and(&trial.native)),
            trials: trials.len(),
            found: medians(Search::until_failure, by_runs),
            proven: medians(Search::until_proof, by_seconds),
            proven_by_runs: medians(Search::until_proof, by_runs),
            until_report: WAYS.iter().map(until_report).collect(),
            proofs: WAYS.iter().map(proofs).collect(),
        }
    }
}

/// All trials so far.
struct Searches {
    ledger: Ledger<Trial>,
}

impl Searches {
    fn key(name: &str, nth: u32) -> String {
        format!("{name} {}", nth + 1)
    }

    /// The trials of a program, from the first on.
    fn of(&self, name: &str) -> Vec<&Trial> {
        (0..).map_while(|nth| self.ledger.get(&Self::key(name, nth))).collect()
    }

    /// Whether a way has been searched in vain often enough.
    fn is_in_vain(&self, name: &str, way: &Way) -> bool {
        let trials = self.of(name);
        let searches = || trials.iter().filter_map(|trial| trial.searches.get(way.name));
        searches().count() >= IN_VAIN && searches().all(|search| !search.until_proof().is_found)
    }

    /// Makes a trial of a program, or what is missing of it.
    fn make(
        &mut self,
        program: &Program,
        nth: u32,
        tool: &Tool,
        arguments: &Arguments,
    ) -> anyhow::Result<()> {
        let name = &program.subject.truth.name;
        let key = Self::key(name, nth);
        let mut trial = self.ledger.get(&key).cloned().unwrap_or_default();
        let is_missing = |way: &&Way| !trial.searches.contains_key(way.name) && !self.is_in_vain(name, way);
        let missing: Vec<&Way> =
            arguments.ways().into_iter().map(|way| &WAYS[way]).filter(is_missing).collect();
        if missing.is_empty() && trial.native.runs > 0 {
            return Ok(());
        }
        trial.date = document::today();
        if trial.native.runs == 0 {
            trial.native.go_on(&program.native, &program.subject, arguments.native)?;
        }
        for way in missing {
            let search = program.search(tool, way, arguments.seed + u64::from(nth), arguments.time)?;
            trial.searches.insert(way.name.to_owned(), search);
        }
        self.ledger.put(&key, trial)
    }
}

pub fn search(arguments: &Arguments) -> anyhow::Result<()> {
    let tool = match &arguments.tool {
        Some(program) => Tool::given(program)?,
        None => Tool::build()?,
    };
    let folder = workspace::scratch("search")?;
    let mut programs = Vec::new();
    for subject in chosen(arguments)? {
        let folder = folder.join(&subject.truth.name);
        let recorded = build::build(&subject, &tool, &folder, Variant::Buggy, 1)?;
        let native = build::build_native(&subject, &folder, Variant::Buggy, 1)?;
        programs.push(Program { subject, folder, recorded, native });
    }
    let docs = workspace::root().join("docs");
    let mut searches = Searches { ledger: Ledger::open(&docs, "search", arguments.anew)? };
    let begun = Instant::now();
    let is_over = || arguments.total.is_some_and(|total| begun.elapsed() >= total);
    let agenda = (0..arguments.trials).flat_map(|nth| programs.iter().map(move |program| (nth, program)));
    for (nth, program) in agenda.take_while(|_| !is_over()) {
        eprintln!("{:.0?}: {}, trial {}", begun.elapsed(), program.subject.truth.name, nth + 1);
        searches.make(program, nth, &tool, arguments)?;
    }
    let names = programs.iter().map(|program| &program.subject.truth.name);
    let trials: Vec<(&String, Vec<&Trial>)> = names.map(|name| (name, searches.of(name))).collect();
    let dates = trials.iter().flat_map(|(_, trials)| trials.iter().map(|trial| trial.date.as_str()));
    let dates = (dates.clone().min().unwrap_or_default(), dates.max().unwrap_or_default());
    let lines: Vec<Line> = trials.iter().map(|(name, trials)| Line::new(name, trials)).collect();
    let text = table::markdown(&lines, dates, arguments);
    println!("{text}");
    if arguments.write {
        document::update(&docs.join("search.md"), "search", &text)?;
    }
    Ok(())
}

fn chosen(arguments: &Arguments) -> anyhow::Result<Vec<Subject>> {
    let mut subjects = truth::subjects()?;
    // The schedule of a Java virtual machine is its own.
    subjects.retain(|subject| subject.truth.has_bug() && subject.truth.language != Language::Java);
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
        let found = |runs, is_found| Found { runs, seconds: 1.0, is_found };
        let all = vec![found(50, true), found(10, false), found(3, true)];
        assert_eq!(median(all, by_runs), Some(found(50, true)));
        let others = vec![found(10, false), found(20, false), found(3, true)];
        assert_eq!(median(others, by_runs), Some(found(10, false)));
        assert_eq!(median(Vec::new(), by_runs), None);
    }

    #[test]
    fn proofs_are_compared_by_the_clock() {
        let found = |runs, seconds| Found { runs, seconds, is_found: true };
        let all = vec![found(90, 1.0), found(50, 3.0), found(70, 2.0)];
        assert_eq!(median(all.clone(), by_seconds), Some(found(70, 2.0)));
        assert_eq!(
            median(vec![found(90, 1.0), found(50, 3.0), found(95, 2.0)], by_seconds),
            Some(found(95, 2.0))
        );
    }
}
