//! Griffin: which failing runs fail for the same reason, which patterns are that reason, and in which functions
//! it lies.
//!
//! Sangmin Park: *Effective Fault Localization Techniques for Concurrent Software* (thesis, Georgia Institute
//! of Technology, 2014), chapter 5.
//!
//! **Finds** causes in an already ranked list of patterns, whatever technique ranked them (the thesis: Unicorn).
//! Step 2 groups the failing runs by their most suspicious patterns ([`failing_run_groups`], Algorithm 3). Step 3
//! clusters the patterns of each group by the calls that lead to them ([`causes`], Algorithm 4), names for each of
//! the two threads the function in which its accesses come together, and draws the accesses of a whole cluster as
//! one [`BugGraph`] (Figure 12).
//!
//! **Misses** that two bugs strike together in most runs: they are one group. A pattern with fewer than two threads
//! belongs to no cluster.
//!
//! Deviations, with why:
//!
//! 1. The top patterns of a group of runs are those of any of its runs, which the thesis leaves open.
//! 2. A pattern counts by the square of its score in Equation 4, and the similarity asked for is 0.5. Counted alike,
//!    a bug with three patterns leaves room for 27 innocent ones among a run's top 30, and these differ from run to
//!    run. On the corpus this gives `two_bugs` two groups, `vector_ctor` three, and all but four of the 45 programs
//!    with one bug a single group.
//! 3. The patterns of a group are scored as if the other failing runs were not there. By the ranking of all runs,
//!    those of a bug that strikes rarely come behind innocent ones that every run shows.
//! 4. Of equally similar pairs of groups the one with the smallest run numbers is merged, so that the result
//!    depends on nothing but the runs.
//! 5. Call stacks are compared by functions, as Figure 9 does it: the lines within the function that encloses an
//!    atomic region differ by necessity.
//! 6. Threads have no numbers across patterns, so two clusters are compared both ways round.
//! 7. The bug graph leaves out an order that would contradict one shown by a more suspicious pattern.

mod graph;
mod patterns;
mod runs;

pub use graph::{BugGraph, GraphNode};
pub use patterns::{Call, Cause, Side, causes};
pub use runs::{RunGroup, failing_run_groups};

/// What Griffin's clustering may be told. The defaults are the thesis's but for deviation 2.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Clustering {
    /// How many of a run's most suspicious patterns tell why it fails: Algorithm 3's t.
    pub run_patterns: usize,
    /// How similar two groups must be to be one, from 0 to 1: Algorithm 3's s.
    pub similarity: f64,
    /// How many patterns of a group are looked at together: Algorithm 4's t.
    pub cause_patterns: usize,
    /// What share of a group's best score a pattern needs to be offered as its cause.
    pub least_share: f64,
}

impl Default for Clustering {
    fn default() -> Self {
        Self { run_patterns: 30, similarity: 0.5, cause_patterns: 20, least_share: 0.5 }
    }
}
