//! Bugaboo: communications in a context that failing runs show more often than passing ones.
//!
//! Brandon Lucia, Luis Ceze: *Finding Concurrency Bugs with Context-Aware Communication Graphs* (MICRO 2009),
//! as described and carried on in the Recon paper (see `communication.rs`).
//!
//! **Finds** a pair of accesses, the source and the sink of data, that is wrong in the situation in which it
//! happens, even if the same pair is right in others: the contexts tell these apart. One edge of the graph is
//! one suspect. Its score is the ratio of the shares of failing and of passing runs that show it
//! ([`frequency_ratio`]).
//!
//! **Misses** what is wrong without a communication that passing runs lack or have less often, such as data
//! that never arrive; and it does not say which of the accesses before and after belong to the error.
//!
//! Deviations, with why:
//!
//! 1. Those of the graph.
//! 2. The score is Recon's first feature, so that the two techniques differ only in the reconstruction.

use crate::communication::Which;
use crate::edge_counts::EdgeCounts;
use crate::finding::{self, Finding};
use crate::suspiciousness::Spectrum;

/// The communications of failing runs by their score. Passing runs have far too many others to be worth a finding.
pub(crate) fn findings(counts: &EdgeCounts) -> Vec<Finding> {
    let findings = counts.in_failing_runs();
    let findings = findings
        .map(|(edge, seen, counts)| seen.finding(edge, counts, frequency_ratio(counts), Which::First));
    finding::rank_by_score(findings.collect())
}

/// `(f/F) / (p/P)`, with `1/(P+1)` for `p/P` where no passing run shows it: less than if one did.
pub(crate) fn frequency_ratio(seen: Spectrum) -> f64 {
    let [f, p] = [seen.failed, seen.passed].map(f64::from);
    let [all_f, all_p] = [seen.all_failed, seen.all_passed].map(f64::from);
    match (seen.failed, seen.passed) {
        (0, _) => 0.0,
        (_, 0) => f * (all_p + 1.0) / all_f,
        // One quotient of whole numbers, so that equal scores share a rank.
        _ => f * all_p / (all_f * p),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frequency_ratio_at_its_edges() {
        let ratio = |failed, passed, all_failed, all_passed| {
            frequency_ratio(Spectrum { failed, passed, all_failed, all_passed })
        };
        assert_eq!(ratio(2, 1, 4, 10), 5.0);
        assert_eq!(ratio(4, 0, 4, 10), 11.0);
        assert_eq!(ratio(2, 0, 4, 10), 5.5);
        assert_eq!(ratio(1, 0, 1, 0), 1.0);
        assert_eq!(ratio(0, 3, 4, 10), 0.0);
        assert_eq!(ratio(0, 3, 0, 10), 0.0);
    }
}
