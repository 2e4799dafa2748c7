//! Gathers pairs and triples of accesses, of which long runs repeat a few very often.

use crate::numbering::Numbering;
use crate::occurrences::{Occurrence, Occurrences};
use crate::pattern::{Pattern, PatternId};
use crate::run::{Run, SiteId};

/// Each different pair or triple, with its earliest occurrence.
pub(crate) struct Gathering {
    numbers: Numbering<(PatternId, [SiteId; 3])>,
    earliest: Vec<(u32, [u32; 3])>,
}

impl Gathering {
    pub fn new() -> Self {
        Self { numbers: Numbering::new(), earliest: Vec::new() }
    }

    /// Adds two or three accesses, given as index and site in time order. Of several occurrences the one with the
    /// least `time` stays, and of these the first that is added.
    pub fn add(&mut self, id: PatternId, accesses: &[(u32, SiteId)], time: u32) {
        let (mut sites, mut indices) = ([SiteId(0); 3], [0; 3]);
        for (nth, &(index, site)) in accesses.iter().enumerate() {
            (indices[nth], sites[nth]) = (index, site);
        }
        let (number, is_new) = self.numbers.number((id, sites));
        if is_new {
            self.earliest.push((time, indices));
        } else if time < self.earliest[number as usize].0 {
            self.earliest[number as usize] = (time, indices);
        }
    }

    /// What was gathered, in no order: the row, the pattern, and the indices of the accesses.
    pub fn each(&self, mut found: impl FnMut(PatternId, Pattern, &[u32])) {
        for ((id, sites), number) in self.numbers.iter() {
            let length = id.steps().len();
            let (_, indices) = &self.earliest[number as usize];
            found(id, Pattern::new(id, &sites[..length]), &indices[..length]);
        }
    }

    /// What was gathered, as occurrences in `run`.
    pub fn into_occurrences(self, run: &Run) -> Occurrences {
        let mut found = Occurrences::of(run);
        self.each(|id, pattern, accesses| {
            found.suspects.insert(pattern.into(), Occurrence::new(id, accesses));
        });
        found
    }
}
