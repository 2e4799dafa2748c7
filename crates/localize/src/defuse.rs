//! DefUse: values read from a place in the code from which passing runs never read them.
//!
//! Yao Shi, Soyeon Park, Zuoning Yin, Shan Lu, Yuanyuan Zhou, Wenguang Chen, Weimin Zheng: *Do I Use the
//! Wrong Definition? DefUse: Definition-Use Invariants for Detecting Concurrency and Sequential Bugs* (OOPSLA
//! 2010), as described in section 2.2 of Park's thesis.
//!
//! **Finds** a write and a read by another thread that gets the written value. What passing runs show is
//! allowed; every other such pair of a failing run violates an invariant. These are ranked by the number of
//! failing runs that show them, and then by when they first happen, since the thesis gives no score.
//!
//! **Misses** values that are read too early and so come from nowhere; wrong overwriting; and any error in
//! which each pair is allowed and only their combination is wrong.
//!
//! Deviations, with why:
//!
//! 1. Only pairs between two threads count, as in the thesis: the recorder leaves out what a thread reads of
//!    its own.
//! 2. An update reads and defines.
//! 3. A use need not be a thread's first read of what was written. The recorder keeps one for each site.

use crate::counts::Counts;
use crate::digest::KnownDependency;
use crate::finding::{self, Finding};
use crate::occurrences::Occurrences;
use crate::options::Options;
use crate::pattern::PatternId;
use crate::scan::Scan;

/// The definition–use pairs that a run shows.
pub(crate) fn occurrences(scan: &Scan) -> Occurrences {
    let defines = |known: &KnownDependency| known.id != PatternId::P1;
    scan.digest().pairs(scan, |known| (defines(known) && known.reads).then_some(PatternId::P2))
}

/// What violates an invariant, by the number of runs and by time.
pub(crate) fn findings(counts: &Counts, _: &Options) -> Vec<Finding> {
    finding::rank_by_time(counts.only_in_failing_runs())
}
