//! The suspects that one run shows.

use rustc_hash::FxHashMap;

use crate::pattern::{Pattern, PatternId};
use crate::run::{Outcome, Run, RunId, SiteId};
use crate::shape::Shape;
use crate::suspect::Suspect;

/// Each suspect that a run shows, once, with one of its occurrences.
#[derive(Clone, Debug)]
pub(crate) struct Occurrences {
    pub run: RunId,
    pub outcome: Outcome,
    pub suspects: FxHashMap<Suspect, Occurrence>,
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
        Self { run: run.id, outcome: run.outcome, suspects: FxHashMap::default() }
    }

    /// Adds the occurrence of a row of the table at the accesses with these indices, in time order. Of several
    /// occurrences the one that begins first stays, and of these the first that is added.
    pub fn add(&mut self, run: &Run, id: PatternId, accesses: &[u32]) {
        let new = Occurrence::new(id, accesses);
        self.suspects
            .entry(pattern(run, id, accesses).into())
            .and_modify(|known| {
                if new.indices[0] < known.indices[0] {
                    *known = new;
                }
            })
            .or_insert(new);
    }

    /// Adds an occurrence of a suspect. Of several the first that is added stays.
    pub fn add_first(&mut self, suspect: impl Into<Suspect>, occurrence: Occurrence) {
        self.suspects.entry(suspect.into()).or_insert(occurrence);
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

/// The pattern that shows itself as the row `id` at the accesses with these indices.
pub(crate) fn pattern(run: &Run, id: PatternId, accesses: &[u32]) -> Pattern {
    let mut sites = [SiteId(0); Pattern::MAX_ACCESSES];
    for (site, &index) in sites.iter_mut().zip(accesses) {
        *site = run.accesses[index as usize].site;
    }
    Pattern::new(id, &sites[..accesses.len()])
}
