//! What can be set about an analysis.

use std::num::NonZeroUsize;

use crate::suspiciousness::Formula;
use crate::verdict::Tuning;

/// How to look for patterns and how to score them. The defaults are those of the papers' evaluations.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// Slots in the access window of a location.
    pub window: NonZeroUsize,
    /// With how many of the pairs that follow it Unicorn combines a pair.
    pub distance: usize,
    /// How counts become a score.
    pub formula: Formula,
    /// What the verdict assumes.
    pub tuning: Tuning,
}

impl Default for Options {
    fn default() -> Self {
        let (formula, tuning) = (Formula::Jaccard, Tuning::default());
        Self { window: NonZeroUsize::new(5).unwrap(), distance: 100, formula, tuning }
    }
}
