//! The suspects that one run shows.

use crate::pattern::{Pattern, PatternId};
use crate::run::{Outcome, Run, RunId, SiteId};
use crate::shape::Shape;
use crate::suspect::Suspect;

/// Each suspect that a run shows, once, with one of its occurrences.
#[derive(Clone, Debug)]
pub(crate) struct Occurrences {
    pub run: RunId,
    pub outcome: Outcome,
    pub suspects: Vec<(Suspect, Occurrence)>,
}

/// One occurrence of a suspect in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Occurrence {
    /// The shape in which the accesses show themselves here.
    pub shape: Shape,
    /// Global indices in time order; only as many as were recorded mean something.
    indices: [u32; Pattern::MAX_ACCESSES],
    recorded: u8,
}

impl Occurrences {
    /// No occurrences in `run` yet.
    pub fn of(run: &Run) -> Self {
        Self { run: run.id, outcome: run.outcome, suspects: Vec::new() }
    }

    /// Adds the row `id` of the table at these sites, with the global indices of its accesses, both in time order. More of
    /// them than the row has do not matter.
    pub fn push(&mut self, id: PatternId, sites: &[SiteId], accesses: &[u32]) {
        let length = id.steps().len();
        let pattern = Pattern::new(id, &sites[..length]);
        self.suspects.push((pattern.into(), Occurrence::new(id, &accesses[..length])));
    }
}

impl Occurrence {
    /// At the accesses with these global indices, in time order.
    pub fn new(shape: impl Into<Shape>, accesses: &[u32]) -> Self {
        let mut indices = [0; Pattern::MAX_ACCESSES];
        indices[..accesses.len()].copy_from_slice(accesses);
        Self { shape: shape.into(), indices, recorded: accesses.len() as u8 }
    }

    /// Global indices of the accesses, in time order.
    pub fn accesses(&self) -> &[u32] {
        &self.indices[..self.recorded as usize]
    }
}
