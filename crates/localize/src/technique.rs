//! The techniques by name. A new one is a file with a function from a run to its occurrences, and a row here.

use std::fmt;
use std::str::FromStr;

use crate::name::{self, UnknownName};
use crate::occurrences::Occurrences;
use crate::options::Options;
use crate::run::Run;
use crate::{falcon, unicorn};

/// A way to find patterns in runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Technique {
    /// Patterns on a single variable.
    Falcon,
    /// Patterns on one or two variables.
    Unicorn,
}

struct Row {
    technique: Technique,
    name: &'static str,
    summary: &'static str,
    occurrences: fn(&Run, &Options) -> Occurrences,
}

/// In the order of the enum, so that a technique is the index of its row.
const TABLE: [Row; 2] = [
    Row {
        technique: Technique::Falcon,
        name: "falcon",
        summary: "order and atomicity violations on a single variable",
        occurrences: falcon::occurrences,
    },
    Row {
        technique: Technique::Unicorn,
        name: "unicorn",
        summary: "order and atomicity violations on one or two variables",
        occurrences: unicorn::occurrences,
    },
];

impl Technique {
    /// Every technique, in the order of the table.
    pub fn all() -> impl Iterator<Item = Self> {
        TABLE.iter().map(|row| row.technique)
    }

    /// The name by which it is asked for.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// What it finds, in a few words.
    pub fn summary(self) -> &'static str {
        self.row().summary
    }

    /// The patterns that `run` shows: all that has to be known of it. Runs can be looked at in parallel.
    pub fn occurrences(self, run: &Run, options: &Options) -> Occurrences {
        (self.row().occurrences)(run, options)
    }

    fn row(self) -> &'static Row {
        &TABLE[self as usize]
    }
}

impl fmt::Display for Technique {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Technique {
    type Err = UnknownName;

    fn from_str(given: &str) -> Result<Self, UnknownName> {
        let all: Vec<Self> = Self::all().collect();
        name::pick("technique", &all, Self::name, given)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_back_to_their_technique() {
        for technique in Technique::all() {
            assert_eq!(technique.to_string().parse(), Ok(technique));
            assert_eq!(technique.row().technique, technique);
        }
        assert_eq!(
            "falkon".parse::<Technique>().unwrap_err().to_string(),
            "unknown technique `falkon` (known: falcon, unicorn)"
        );
    }
}
