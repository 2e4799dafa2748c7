//! The techniques by name. A new one is a file of its own and a row here.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use crate::collector::{Form, Reduced};
use crate::counts::Counts;
use crate::finding::Finding;
use crate::name::{self, UnknownName};
use crate::occurrences::Occurrences;
use crate::options::Options;
use crate::run::Run;
use crate::scan::Scan;
use crate::{avio, bugaboo, cci, defuse, falcon, finding, pset, recon, unicorn, verdict};

/// A way to find suspects in runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Technique {
    /// Causes, by all that the others see.
    Verdict,
    /// Patterns on a single variable.
    Falcon,
    /// Patterns on one or two variables.
    Unicorn,
    /// Unicorn's patterns, put together to causes.
    Griffin,
    /// Communications with what surrounds them.
    Recon,
    /// Communications in their context.
    Bugaboo,
    /// Pairs that tell one failing run from the passing ones.
    Locon,
    /// Unserializable triples that passing runs never show.
    Avio,
    /// Definition–use pairs that passing runs never show.
    Defuse,
    /// Sites after an access by their own or another thread.
    Cci,
    /// Accesses that follow what they never follow in passing runs.
    Pset,
}

struct Row {
    technique: Technique,
    name: &'static str,
    summary: &'static str,
    method: Method,
}

/// What is made of each run, and then of all.
pub(crate) enum Method {
    /// Suspects are found in each run, and the runs that show them are counted.
    Counting { occurrences: fn(&Scan) -> Arc<Occurrences>, findings: fn(&Counts, &Options) -> Vec<Finding> },
    /// The runs that show communications are counted, and the failing ones looked at again once all are known.
    Communications { findings: fn(&recon::Graphs) -> Vec<Finding> },
    /// Each failing run is compared with all passing ones.
    Locon,
    /// Clues of several techniques are weighed and put together.
    Verdict,
}

/// In the order of the enum, so that a technique is the index of its row.
const TABLE: [Row; 11] = [
    Row {
        technique: Technique::Verdict,
        name: "verdict",
        summary: "causes, weighed by what all techniques see",
        method: Method::Verdict,
    },
    Row {
        technique: Technique::Falcon,
        name: "falcon",
        summary: "order and atomicity violations on a single variable",
        method: Method::Counting {
            occurrences: |scan| falcon::occurrences(scan).into(),
            findings: by_formula,
        },
    },
    Row {
        technique: Technique::Unicorn,
        name: "unicorn",
        summary: "order and atomicity violations on one or two variables",
        method: Method::Counting { occurrences: unicorn::occurrences, findings: by_formula },
    },
    Row {
        technique: Technique::Griffin,
        name: "griffin",
        summary: "the same, put together to causes by the runs that fail and the calls that lead there",
        method: Method::Counting { occurrences: unicorn::occurrences, findings: by_formula },
    },
    Row {
        technique: Technique::Recon,
        name: "recon",
        summary: "communications between threads, with what surrounds them in failing runs",
        method: Method::Communications { findings: recon::Graphs::findings },
    },
    Row {
        technique: Technique::Bugaboo,
        name: "bugaboo",
        summary: "communications between threads, in the context of those before",
        method: Method::Communications { findings: |graphs| bugaboo::findings(&graphs.counts) },
    },
    Row {
        technique: Technique::Locon,
        name: "locon",
        summary: "pairs of accesses that tell a single failing run from the passing ones",
        method: Method::Locon,
    },
    Row {
        technique: Technique::Avio,
        name: "avio",
        summary: "atomicity violations on a single variable that no passing run shows",
        method: Method::Counting {
            occurrences: |scan| avio::occurrences(scan).into(),
            findings: avio::findings,
        },
    },
    Row {
        technique: Technique::Defuse,
        name: "defuse",
        summary: "values read from where no passing run reads them",
        method: Method::Counting {
            occurrences: |scan| defuse::occurrences(scan).into(),
            findings: defuse::findings,
        },
    },
    Row {
        technique: Technique::Cci,
        name: "cci",
        summary: "accesses just after another thread's, or just after their own thread's",
        method: Method::Counting {
            occurrences: |scan| cci::occurrences(scan).into(),
            findings: cci::findings,
        },
    },
    Row {
        technique: Technique::Pset,
        name: "pset",
        summary: "accesses that follow another thread's as in no passing run",
        method: Method::Counting {
            occurrences: |scan| pset::occurrences(scan).into(),
            findings: pset::findings,
        },
    },
];

/// All suspects by the formula that the user chose, also those that only passing runs show.
fn by_formula(counts: &Counts, options: &Options) -> Vec<Finding> {
    finding::rank_by_score(counts.findings(|_, seen| options.formula.score(seen)))
}

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

    /// The technique that gathers the same and ranks it otherwise, or itself: a collector of the one has the findings of
    /// the other, too.
    pub fn basis(self) -> Self {
        match self {
            Self::Griffin => Self::Unicorn,
            Self::Bugaboo => Self::Recon,
            other => other,
        }
    }

    /// All that has to be known of `run`. Runs can be looked at in parallel.
    pub fn reduce(self, run: &Run, options: &Options) -> Reduced {
        self.reduce_scanned(&Scan::new(run, options))
    }

    /// The same for a run that other techniques look at, too: what they need alike is made once.
    pub fn reduce_scanned(self, scan: &Scan) -> Reduced {
        Reduced(match self.method() {
            Method::Counting { occurrences, .. } => Form::Occurrences(occurrences(scan)),
            Method::Communications { .. } => Form::Graph(Arc::clone(scan.graph())),
            Method::Locon => Form::Pairs(scan.pairs().clone()),
            Method::Verdict => Form::Clues(Box::new(verdict::clues(scan))),
        })
    }

    pub(crate) fn method(self) -> &'static Method {
        &self.row().method
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
            "unknown technique `falkon` (known: verdict, falcon, unicorn, griffin, recon, bugaboo, locon, avio, defuse, cci, pset)"
        );
    }
}
