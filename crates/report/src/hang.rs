//! Threads that are in each other's way.

use serde::{Deserialize, Serialize};

/// Threads that wait, or could wait, for each other, or take from each other what is still in use.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hang {
    /// What it is.
    pub kind: HangKind,
    /// How many runs show it.
    pub runs: u64,
    /// How many of these passed.
    pub passed: u64,
    /// One sentence for each thread: what it holds and what it waits for, or takes; or for each use of what is freed.
    pub threads: Vec<String>,
    /// What to do about it; empty if unknown.
    pub advice: String,
}

/// How threads are in each other's way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HangKind {
    /// Threads wait for each other in a circle.
    Deadlock,
    /// The same, but at least one of them waits for another's end.
    AwaitedEnd,
    /// Threads wait for something that nobody brings about any more.
    Waiting,
    /// Threads use memory that others have freed, in runs that pass all the same.
    UseAfterFree,
    /// Threads take locks in a circle, though they did not meet.
    PotentialDeadlock,
}
