//! The evaluation as data. It depends on the recordings alone, so that the same recordings give the same bytes; what
//! the clock says is kept apart.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::explanation::Explained;
use super::pool::Size;
use super::report::Runs;
use super::score::Score;

/// The whole evaluation.
#[derive(Serialize, Deserialize)]
pub struct Evaluation {
    /// The days of the first and the last recording.
    pub recorded: (String, String),
    pub command: String,
    pub techniques: Vec<String>,
    pub programs: Vec<Program>,
}

/// What came of one program with one size of noise.
#[derive(Serialize, Deserialize)]
pub struct Program {
    pub name: String,
    /// Kind and pattern of its bug, as its truth file says; `none` for a correct program.
    pub kind: String,
    pub pattern: String,
    /// Without us, as its truth file says.
    pub natural_failure_rate: f64,
    /// How much innocent sharing was built in.
    pub noise_size: u8,
    /// What went wrong with the evaluation itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trouble: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<Outcome>,
}

#[derive(Serialize, Deserialize)]
pub struct Outcome {
    pub runs: Runs,
    /// The level of scheduling noise at which the runs were recorded.
    pub noise: String,
    /// The fixed twin's runs, if the program has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fixed_runs: Option<Runs>,
    #[serde(flatten)]
    pub analysis: Analysis,
}

/// What the techniques made of a program's runs.
#[derive(Serialize, Deserialize, Default)]
pub struct Analysis {
    /// By technique.
    pub scores: BTreeMap<String, Vec<Scores>>,
    /// What was said where there is nothing to be found, by technique.
    pub blind: BTreeMap<String, Vec<Scores>>,
    /// Why the truth is not first and alone with all runs, by technique, where that is so.
    pub obstacles: BTreeMap<String, String>,
    /// How well failing runs were told apart by bug, by technique, where it does so.
    pub clusters: BTreeMap<String, Clusters>,
    /// What was said about the truth besides, by technique.
    pub explained: BTreeMap<String, Explained>,
}

/// How well a technique did on sets of runs of one size.
#[derive(Serialize, Deserialize, Clone, Debug)]
pub struct Scores {
    #[serde(flatten)]
    pub size: Size,
    /// One for each draw.
    pub draws: Vec<Score>,
}

/// Clusters of failing runs against the bugs that made them fail.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq)]
pub struct Clusters {
    pub bugs: usize,
    pub clusters: usize,
    pub f_measure: f64,
}

/// What the clock says, which differs from time to time.
#[derive(Default, Clone)]
pub struct Times {
    /// Seconds for a report on all runs, by technique.
    pub seconds: Seconds,
    /// Of a run by being recorded: the recorded program's time as a multiple of the native one's.
    pub slowdown: Option<f64>,
}

/// How long a report took, by technique.
pub type Seconds = BTreeMap<String, f64>;

impl Analysis {
    /// The scores of a technique at one size.
    pub fn at(&self, technique: &str, size: Size) -> Option<&[Score]> {
        let scores = self.scores.get(technique)?.iter().find(|scores| scores.size == size)?;
        Some(&scores.draws)
    }
}

impl Program {
    pub fn has_bug(&self) -> bool {
        self.kind != crate::truth::NO_BUG
    }

    pub fn analysis(&self) -> Option<&Analysis> {
        self.result.as_ref().map(|result| &result.analysis)
    }
}
