//! Which findings it takes to explain all failing runs.

use std::collections::BTreeSet;

use crate::model::{Finding, Report};

/// Findings that together explain as many failing runs as all do.
pub(crate) struct Needed {
    /// By index, best first: each is seen in a failing run that shows none of those before it.
    pub findings: Vec<usize>,
    /// How many failing runs show one of them.
    pub explained: u64,
}

/// A finding stands for the others of its cause, and for the failing runs that show one of them.
pub(crate) fn needed(report: &Report) -> Needed {
    let mut explained: BTreeSet<u64> = BTreeSet::new();
    let explains_more = |index: &usize| {
        let finding = &report.findings[*index];
        if finding.failing_runs.iter().all(|run| explained.contains(run)) {
            return false;
        }
        let same_cause = |other: &&Finding| other.cluster.is_some() && other.cluster == finding.cluster;
        let together = report.findings.iter().filter(same_cause).chain([finding]);
        explained.extend(together.flat_map(|finding| &finding.failing_runs));
        true
    };
    let findings = (0..report.findings.len()).filter(explains_more).collect();
    Needed { findings, explained: explained.len() as u64 }
}
