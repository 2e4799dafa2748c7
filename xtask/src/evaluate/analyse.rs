//! Lets every technique judge draws of a program's runs, and compares what it says with the truth.

use std::collections::BTreeSet;
use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::Path;

use anyhow::Context as _;
use serde::{Deserialize, Serialize};

use super::clusters;
use super::data::{Analysis, Scores, Seconds};
use super::explanation::explained;
use super::obstacle::obstacle;
use super::pool::{Draw, Pool, Size};
use super::record::{self, Recording};
use super::report::Report;
use super::reports;
use super::score::Key;
use super::table;
use crate::tool::Tool;
use crate::truth::Subject;

/// The most runs of both kinds: what a user with some patience has.
pub const FULL: Size = Size { failing: 25, passing: 100 };

/// A single failing run.
pub const SINGLE: Size = Size { failing: 1, passing: 100 };

/// The numbers of runs of the tables: how many draws for each. Which single run failed matters most.
pub const GRID: [(Size, u64); 6] = [
    (Size { failing: 1, passing: 25 }, 5),
    (SINGLE, 5),
    (Size { failing: 5, passing: 25 }, 1),
    (Size { failing: 5, passing: 100 }, 1),
    (Size { failing: 25, passing: 25 }, 1),
    (FULL, 1),
];

/// Further numbers for the plots.
pub const BETWEEN: [Size; 6] = [
    Size { failing: 25, passing: 1 },
    Size { failing: 25, passing: 5 },
    Size { failing: 25, passing: 10 },
    Size { failing: 25, passing: 50 },
    Size { failing: 2, passing: 100 },
    Size { failing: 10, passing: 100 },
];

/// Where there is nothing to be found.
const BLIND: [(Size, u64); 3] = [(SINGLE, 2), (Size { failing: 5, passing: 100 }, 2), (FULL, 2)];

/// Sessions where there is nothing to be found, of runs that `draw_runs` draws: each that has runs of both kinds, once. A small
/// pool gives the same runs for several sizes, and one false alarm would count as many.
pub fn blind_draws(pool: &Pool, draw_runs: fn(&Pool, Size, u64) -> Draw, seed: u64) -> Vec<(Size, Draw)> {
    let mut known: BTreeSet<[Vec<u32>; 2]> = BTreeSet::new();
    let sizes = BLIND.into_iter().flat_map(|(size, draws)| (0..draws).map(move |draw| (size, draw)));
    let drawn = sizes.map(|(size, draw)| (size, draw_runs(pool, size, seed + draw)));
    let is_new = |(_, draw): &(Size, Draw)| {
        let runs = [&draw.failing, &draw.passing].map(|runs| {
            let mut numbers: Vec<u32> = runs.iter().map(|run| run.0).collect();
            numbers.sort_unstable();
            numbers
        });
        runs.iter().all(|runs| !runs.is_empty()) && known.insert(runs)
    };
    drawn.filter(is_new).collect()
}

/// The text of all that has a say in the answers: when it changes, the techniques are asked again.
const JUDGES: [&str; 9] = [
    include_str!("analyse.rs"),
    include_str!("clusters.rs"),
    include_str!("explanation.rs"),
    include_str!("obstacle.rs"),
    include_str!("pool.rs"),
    include_str!("report.rs"),
    include_str!("reports.rs"),
    include_str!("score.rs"),
    include_str!("../truth.rs"),
];

/// How much to ask of the techniques.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Extent {
    /// All numbers of runs.
    Whole,
    /// A single failing run and all of them.
    Ends,
    /// All runs.
    Full,
}

/// What the techniques are asked about.
pub struct Question<'a> {
    pub subject: &'a Subject,
    pub techniques: &'a [String],
    pub extent: Extent,
    pub seed: u64,
    /// Runs of the program itself.
    pub runs: &'a Recording,
    /// Runs of its fixed twin, if it has one.
    pub fixed: Option<&'a Recording>,
    /// For sessions and for what is known from last time.
    pub folder: &'a Path,
}

#[derive(Serialize, Deserialize)]
struct Known {
    fingerprint: u64,
    analysis: Analysis,
    seconds: Seconds,
}

impl Question<'_> {
    /// The answers, from last time if nothing has changed since.
    pub fn answer(&self, tool: &Tool) -> anyhow::Result<(Analysis, Seconds)> {
        let path = self.folder.join("analysis.json");
        let fingerprint = self.fingerprint(tool)?;
        let known = fs::read(&path).ok().and_then(|text| serde_json::from_slice::<Known>(&text).ok());
        if let Some(known) = known.filter(|known| known.fingerprint == fingerprint) {
            return Ok((known.analysis, known.seconds));
        }
        let (analysis, seconds) = self.ask(tool)?;
        let known = Known { fingerprint, analysis, seconds };
        fs::write(&path, serde_json::to_string(&known)?)
            .with_context(|| format!("cannot write {}", path.display()))?;
        Ok((known.analysis, known.seconds))
    }

    fn fingerprint(&self, tool: &Tool) -> anyhow::Result<u64> {
        let mut hasher = DefaultHasher::new();
        record::hash_of_file(Path::new(tool.command().get_program()))?.hash(&mut hasher);
        record::hash_of_file(&self.subject.folder.join("truth.toml"))?.hash(&mut hasher);
        (JUDGES, self.techniques, self.extent, self.seed, self.runs.fingerprint).hash(&mut hasher);
        self.fixed.map(|fixed| fixed.fingerprint).hash(&mut hasher);
        Ok(hasher.finish())
    }

    fn ask(&self, tool: &Tool) -> anyhow::Result<(Analysis, Seconds)> {
        let (mut analysis, mut seconds) = (Analysis::default(), Seconds::default());
        if self.subject.truth.has_bug() {
            let between = BETWEEN.iter().map(|&size| (size, 1)).filter(|_| self.extent == Extent::Whole);
            let is_meant = |size: Size| match self.extent {
                Extent::Whole => true,
                Extent::Ends => size == FULL || size == SINGLE,
                Extent::Full => size == FULL,
            };
            let grid = GRID.into_iter().filter(|(size, _)| is_meant(*size));
            let sizes =
                grid.chain(between).flat_map(|(size, draws)| (0..draws).map(move |draw| (size, draw)));
            let (sizes, draws): (Vec<Size>, Vec<Draw>) = sizes
                .map(|(size, draw)| {
                    let drawn = self.runs.pool.draw(size, self.seed + draw);
                    let explained = table::headline(self.techniques)
                        .filter(|_| size == FULL)
                        .into_iter()
                        .cloned()
                        .collect();
                    (size, Draw { explained, ..drawn })
                })
                .unzip();
            self.reports(tool, &self.runs.pool, &draws, |draw, reports| {
                self.judge(sizes[draw], &reports, &mut analysis)
            })?;
            if self.extent != Extent::Full {
                seconds = self.seconds(tool)?;
            }
        } else {
            self.ask_blind(tool, &self.runs.pool, Pool::draw, &mut analysis)?;
        }
        if let Some(fixed) = self.fixed {
            self.ask_blind(tool, &fixed.pool, Pool::draw_blind, &mut analysis)?;
        }
        Ok((analysis, seconds))
    }

    /// Asks about runs that failed by chance.
    fn ask_blind(
        &self,
        tool: &Tool,
        pool: &Pool,
        draw_runs: fn(&Pool, Size, u64) -> Draw,
        analysis: &mut Analysis,
    ) -> anyhow::Result<()> {
        let key = Key { answers: &[], own_files: &[] };
        let (sizes, draws): (Vec<Size>, Vec<Draw>) =
            blind_draws(pool, draw_runs, self.seed).into_iter().unzip();
        self.reports(tool, pool, &draws, |draw, reports| {
            for (technique, report) in self.techniques.iter().zip(&reports) {
                let scores = analysis.blind.entry(technique.clone()).or_default();
                add(scores, sizes[draw], key.score(report));
            }
            Ok(())
        })
    }

    /// Has `judge` hear what each technique says about each draw.
    fn reports(
        &self,
        tool: &Tool,
        pool: &Pool,
        draws: &[Draw],
        judge: impl FnMut(usize, Vec<Report>) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        let own_files = self.subject.truth.own_files();
        let asked = (self.techniques, own_files.as_slice());
        reports::each_draw(tool, (pool, draws), asked, &self.folder.join("pool"), judge)
    }

    /// How long each technique takes for all runs.
    fn seconds(&self, tool: &Tool) -> anyhow::Result<Seconds> {
        let draw = self.runs.pool.draw(FULL, self.seed);
        let folder = self.folder.join("draw");
        let seconds = reports::seconds(tool, (&self.runs.pool, &draw), self.techniques, &folder)?;
        Ok(self.techniques.iter().cloned().zip(seconds).collect())
    }

    fn judge(&self, size: Size, reports: &[Report], analysis: &mut Analysis) -> anyhow::Result<()> {
        let truth = &self.subject.truth;
        let (answers, own_files) = (truth.answers()?, truth.own_files());
        let key = Key { answers: &answers, own_files: &own_files };
        let headline = table::headline(self.techniques);
        for (technique, report) in self.techniques.iter().cloned().zip(reports) {
            add(analysis.scores.entry(technique.clone()).or_default(), size, key.score(report));
            if size != FULL {
                continue;
            }
            if let Some(best) = key.best(report).filter(|_| Some(&technique) == headline) {
                analysis.explained.insert(technique.clone(), explained(best, truth));
            }
            if let Some(obstacle) = obstacle(report, &key) {
                analysis.obstacles.insert(technique.clone(), obstacle);
            }
            // Whoever finds most of a bug's patterns knows best which runs failed by it.
            let reference = reports.iter().max_by_key(|report| report.findings.len()).unwrap_or(report);
            if let Some(clusters) = clusters::clusters(report, reference, &key) {
                analysis.clusters.insert(technique, clusters);
            }
        }
        Ok(())
    }
}

fn add(all: &mut Vec<Scores>, size: Size, score: super::score::Score) {
    match all.iter_mut().find(|scores| scores.size == size) {
        Some(scores) => scores.draws.push(score),
        None => all.push(Scores { size, draws: vec![score] }),
    }
}
