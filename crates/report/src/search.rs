//! How the runs of a session were made, and what came of each way: part of the model.

use serde::{Deserialize, Serialize};

use crate::model::Trial;

/// How the runs were made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Search {
    /// What came of each way to run the test, the one with the most failing runs first.
    pub policies: Vec<PolicyRuns>,
    /// Orders of accesses that runs could show; `null` where nobody looked.
    pub orders: Option<Orders>,
    /// Runs that went for an order which was never seen before; `null` if there were none.
    pub directed: Option<Trial>,
    /// The others, but for those near a failing run.
    pub undirected: Trial,
    /// What a systematic search has covered; `null` if it was none, or something was missed.
    pub covered: Option<Covered>,
}

/// The runs that were made in one way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PolicyRuns {
    /// The way: `noise`, `delays`, `directed-delays`, `random`, `pct`, `pos`, `surw`, `directed`, `near` or
    /// `bounded`.
    pub name: String,
    /// All of its runs that passed or failed.
    pub runs: u64,
    /// Those that failed.
    pub failed: u64,
    /// How long they took together.
    pub seconds: f64,
}

/// Orders of two conflicting accesses by two threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Orders {
    /// All that runs could show.
    pub predicted: u64,
    /// Those that some run has shown.
    pub seen: u64,
}

/// What a systematic search has covered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Covered {
    /// All schedules with up to so many preemptions.
    pub preemptions: u32,
    /// Schedules that were run.
    pub schedules: u64,
}
