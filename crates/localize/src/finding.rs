//! What techniques find, and the order in which it is shown.

use std::cmp::{Ordering, Reverse};

use crate::communication::Context;
use crate::locon::Procedure;
use crate::pattern::Pattern;
use crate::recon::Reconstruction;
use crate::run::RunId;
use crate::shape::Shape;
use crate::suspect::{Circumstance, Previous};
use crate::verdict::Reasoning;

/// A suspect with its evidence.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// One more than the number of better findings.
    pub rank: usize,
    /// How many findings have this rank; 1 if it is alone.
    pub tied: usize,
    /// How suspicious it is, by the rule of the technique. May be infinite for the formula DStar.
    pub score: f64,
    /// How many failing runs show it.
    pub failed: u32,
    /// How many passing runs show it.
    pub passed: u32,
    /// The accesses under suspicion.
    pub pattern: Pattern,
    /// The failing runs that show it, ascending.
    pub failing_runs: Vec<RunId>,
    /// An occurrence in the first failing run that shows it, else in the first passing one.
    pub example: Example,
    /// What the technique says besides.
    pub detail: Detail,
}

/// An occurrence of a pattern in a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Example {
    /// The run.
    pub run: RunId,
    /// The shape in which the pattern shows itself here.
    pub id: Shape,
    /// Indices into [`Run::accesses`](crate::Run::accesses) of that run, in the order of the shape. That is
    /// time order, except where [`Detail::Locon`] says that the accesses should have come in this order but
    /// did not. Empty if the run recorded none.
    pub accesses: Vec<usize>,
}

/// What a technique says about a suspect beyond its accesses.
#[derive(Clone, Debug, PartialEq)]
pub enum Detail {
    /// Nothing: the accesses say it all.
    Accesses,
    /// Bugaboo: the contexts in which the data's source and its sink communicated.
    Communication([Context; 2]),
    /// Recon: what else happened around this communication.
    Reconstruction(Box<Reconstruction>),
    /// CCI: who had accessed the location before.
    Previous(Previous),
    /// Locon: why these accesses are to blame.
    Locon(Procedure),
    /// The verdict: how sure it is, and why.
    Verdict(Box<Reasoning>),
}

impl From<Circumstance> for Detail {
    fn from(circumstance: Circumstance) -> Self {
        match circumstance {
            Circumstance::Any => Self::Accesses,
            Circumstance::Contexts(contexts) => Self::Communication(contexts),
            Circumstance::Previous(previous) => Self::Previous(previous),
        }
    }
}

impl Finding {
    /// When the last of its accesses happened in the example.
    fn completed(&self) -> Option<usize> {
        self.example.accesses.iter().copied().max()
    }
}

/// Ranks by score. Among equal scores, what more failing runs show goes first, then what occurs earlier in its
/// example.
pub(crate) fn rank_by_score(findings: Vec<Finding>) -> Vec<Finding> {
    rank(findings, |a, b| b.score.total_cmp(&a.score))
}

/// Ranks what has no score worth the name: what more failing runs show goes first, then what is complete
/// earlier in its example, since whatever the failure itself brings about comes after its cause.
pub(crate) fn rank_by_time(findings: Vec<Finding>) -> Vec<Finding> {
    rank(findings, |a, b| (Reverse(a.failed), a.completed()).cmp(&(Reverse(b.failed), b.completed())))
}

/// Sorts by `better`, and lets what it calls equal share a rank.
fn rank(mut findings: Vec<Finding>, better: impl Fn(&Finding, &Finding) -> Ordering) -> Vec<Finding> {
    findings.sort_unstable_by(|a, b| {
        better(a, b)
            .then(b.failed.cmp(&a.failed))
            .then_with(|| a.example.accesses.cmp(&b.example.accesses))
            .then(a.pattern.cmp(&b.pattern))
            .then_with(|| a.detail.circumstance().cmp(&b.detail.circumstance()))
    });
    let mut before = 0;
    for tie in findings.chunk_by_mut(|a, b| better(a, b) == Ordering::Equal) {
        let tied = tie.len();
        for finding in tie {
            finding.rank = before + 1;
            finding.tied = tied;
        }
        before += tied;
    }
    findings
}

impl Detail {
    /// Tells findings with the same pattern apart.
    fn circumstance(&self) -> Circumstance {
        match self {
            Self::Accesses | Self::Locon(_) | Self::Verdict(_) => Circumstance::Any,
            Self::Communication(contexts) => Circumstance::Contexts(*contexts),
            Self::Reconstruction(around) => Circumstance::Contexts(around.contexts()),
            Self::Previous(previous) => Circumstance::Previous(*previous),
        }
    }
}
