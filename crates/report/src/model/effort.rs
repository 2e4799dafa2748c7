//! What an answer took.

use serde::{Deserialize, Serialize};

/// All runs that were made for it, those that make a failing run shorter and those that try findings out included, and how long it took.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spent {
    /// Runs of every kind.
    pub runs: u64,
    /// By the wall clock, from the start of the command.
    pub seconds: f64,
}

/// What `unsnarl run` took.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Effort {
    /// Until the report.
    #[serde(flatten)]
    pub spent: Spent,
    /// Until the first finding was confirmed; none if it was not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until_proof: Option<Spent>,
}
