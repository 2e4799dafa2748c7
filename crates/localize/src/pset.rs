//! PSet: accesses that follow a remote access which they never follow in passing runs.
//!
//! Jie Yu, Satish Narayanasamy: *A Case for an Interleaving Constrained Shared-Memory Multi-Processor* (ISCA
//! 2009), as described in the Recon paper.
//!
//! **Finds** an access and the access of another thread on which it immediately depends. For each access,
//! passing runs give the set of those that it may follow (its predecessor set); what a failing run shows
//! besides violates it. Violations are ranked by the number of failing runs that show them, and then by when
//! they first happen, since the method enforces its sets and ranks nothing.
//!
//! **Misses** what does not follow anything that it should; and any error in which each pair is allowed and
//! only their combination is wrong.
//!
//! Deviations, with why:
//!
//! 1. Immediate dependencies are those of `dependencies.rs`: of a thread's reads with no write in between,
//!    the first follows the write, and the write after them follows the last. The hardware of the paper sees
//!    no more either, since the others hit the thread's own cache. The recorder keeps both.
//! 2. An update is a write.

use crate::counts::Counts;
use crate::finding::{self, Finding};
use crate::occurrences::Occurrences;
use crate::options::Options;
use crate::scan::Scan;

/// The accesses with their predecessors that a run shows.
pub(crate) fn occurrences(scan: &Scan) -> Occurrences {
    scan.digest().pairs(scan, |known| known.is_immediate.then_some(known.id))
}

/// What violates a set, by the number of runs and by time.
pub(crate) fn findings(counts: &Counts, _: &Options) -> Vec<Finding> {
    finding::rank_by_time(counts.only_in_failing_runs())
}
