//! The patterns that one run shows.

use std::collections::hash_map::Entry;

use rustc_hash::FxHashMap;

use crate::pattern::{Pattern, PatternId};
use crate::run::{Outcome, Run, RunId, SiteId};

/// Each pattern that a run shows, once, with its earliest occurrence. What a technique makes of a run.
#[derive(Clone, Debug)]
pub struct Occurrences {
    pub(crate) run: RunId,
    pub(crate) outcome: Outcome,
    pub(crate) earliest: FxHashMap<Pattern, Occurrence>,
}

/// One occurrence of a pattern in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Occurrence {
    /// The row as which the pattern shows itself here.
    pub id: PatternId,
    /// Global indices in time order; only as many as the row has accesses mean something.
    indices: [u32; Pattern::MAX_ACCESSES],
}

impl Occurrences {
    /// No occurrences in `run` yet.
    pub(crate) fn of(run: &Run) -> Self {
        Self { run: run.id, outcome: run.outcome, earliest: FxHashMap::default() }
    }

    /// Adds the occurrence of `id` at the accesses with these indices of the run that this is of, in time order.
    /// It replaces one whose first access is later; otherwise the first that is added stays.
    pub(crate) fn add(&mut self, run: &Run, id: PatternId, accesses: &[u32]) {
        let mut sites = [SiteId(0); Pattern::MAX_ACCESSES];
        let mut indices = [0; Pattern::MAX_ACCESSES];
        for (nth, &index) in accesses.iter().enumerate() {
            sites[nth] = run.accesses[index as usize].site;
            indices[nth] = index;
        }
        let occurrence = Occurrence { id, indices };
        match self.earliest.entry(Pattern::new(id, &sites[..accesses.len()])) {
            Entry::Vacant(entry) => {
                entry.insert(occurrence);
            }
            Entry::Occupied(mut entry) => {
                if indices[0] < entry.get().indices[0] {
                    entry.insert(occurrence);
                }
            }
        }
    }

    /// The number of different patterns.
    pub fn len(&self) -> usize {
        self.earliest.len()
    }

    /// Whether the run shows no pattern at all.
    pub fn is_empty(&self) -> bool {
        self.earliest.is_empty()
    }
}

impl Occurrence {
    /// Global indices of the accesses, in time order.
    pub fn accesses(&self) -> impl Iterator<Item = usize> + '_ {
        self.indices[..self.id.steps().len()].iter().map(|&index| index as usize)
    }
}
