//! Which findings it takes to explain all failing runs.

use std::collections::BTreeSet;

use crate::model::Report;

/// Findings that together explain as many failing runs as all do.
pub(crate) struct Needed {
    /// By index, best first: each is seen in a failing run that shows none of those before it.
    pub findings: Vec<usize>,
    /// How many failing runs show one of them.
    pub explained: u64,
}

pub(crate) fn needed(report: &Report) -> Needed {
    let mut explained = BTreeSet::new();
    let explains_more = |index: &usize| {
        let before = explained.len();
        explained.extend(report.findings[*index].failing_runs.iter().copied());
        explained.len() > before
    };
    let findings = (0..report.findings.len()).filter(explains_more).collect();
    Needed { findings, explained: explained.len() as u64 }
}
