//! One trial of a program: how often it fails by itself for a while, and one search in each way, from the first run to the
//! confirmed cause. The first failure is on the way there, so that one search tells of both.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::native::Stress;
use super::{Found, Way};
use crate::evaluate::report::Spent;
use crate::prove::attempt::Target;
use crate::tool::Tool;
use crate::truth::Subject;

/// A trial as it is kept.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Trial {
    pub date: String,
    pub native: Stress,
    /// By the names of their ways.
    pub searches: BTreeMap<String, Search>,
}

/// What came of one `unsnarl run`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Search {
    /// Runs up to the first failing one, and the seconds that these took; none if none failed.
    first_failure: Option<(u32, f64)>,
    /// All runs until a finding that is right was confirmed, those that make failing runs shorter and those that try findings out included.
    /// If none was, until the report.
    runs: u32,
    seconds: f64,
    is_proven: bool,
    /// Seconds from the start to the report.
    until_report: f64,
}

impl Search {
    pub fn until_failure(&self) -> Found {
        match self.first_failure {
            Some((runs, seconds)) => Found { runs, seconds, is_found: true },
            None => Found { runs: self.runs, seconds: self.seconds, is_found: false },
        }
    }

    pub fn until_report(&self) -> f64 {
        self.until_report
    }

    pub fn until_proof(&self) -> Found {
        Found { runs: self.runs, seconds: self.seconds, is_found: self.is_proven }
    }
}

/// A program, built for the searches.
pub struct Program {
    pub subject: Subject,
    /// For its sessions.
    pub folder: PathBuf,
    pub recorded: PathBuf,
    pub native: PathBuf,
}

impl Program {
    /// One search, as `unsnarl run` goes about it by itself.
    pub fn search(&self, tool: &Tool, way: &Way, seed: u64, time: Duration) -> anyhow::Result<Search> {
        let seed = seed.to_string();
        let flags: Vec<&str> = way.flags.iter().copied().chain(["--seed", &seed]).collect();
        let (subject, program, folder) = (&self.subject, &*self.recorded, &*self.folder);
        let attempt = Target { tool, subject, program, folder, time: Some(time) }.attempt(&flags, 0)?;
        let first_failure = attempt.first_failure.map(|(runs, seconds)| (runs, rounded(seconds)));
        // What is told first may be right without being what was confirmed first.
        let until_proof = attempt.until_proof.filter(|_| attempt.rank == Some(1) && attempt.is_proven());
        let Spent { runs, seconds } = until_proof.unwrap_or(attempt.spent);
        let until_report = rounded(attempt.spent.seconds);
        let is_proven = attempt.is_proven();
        Ok(Search { first_failure, runs, seconds: rounded(seconds), is_proven, until_report })
    }
}

/// What is kept is read by people, too.
fn rounded(seconds: f64) -> f64 {
    (seconds * 1e4).round() / 1e4
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_failure_is_on_the_way_to_the_proof() {
        let search = Search {
            first_failure: Some((3, 0.1)),
            runs: 50,
            seconds: 0.8,
            is_proven: false,
            until_report: 0.9,
        };
        assert_eq!(search.until_failure(), Found { runs: 3, seconds: 0.1, is_found: true });
        assert_eq!(search.until_proof(), Found { runs: 50, seconds: 0.8, is_found: false });
        let in_vain = Search { first_failure: None, ..search };
        assert_eq!(in_vain.until_failure(), Found { runs: 50, seconds: 0.8, is_found: false });
    }
}
