//! Procedure II: pairs that a failing run lacks, although passing runs have them (Algorithm 2 of the paper).

use crate::run::LocationId;

use super::evidence::{Evidence, InPassing};
use super::presence::{Presence, Signatures};

/// The pairs of passing runs, by the runs that show them. Pairs are told by number.
pub(super) struct Absence {
    /// Shown by all passing runs.
    always: Vec<u32>,
    /// Shown by the same passing runs, and not by all.
    together: Vec<Vec<u32>>,
}

/// On which variables some pairs are.
enum Variables {
    One(LocationId),
    Several,
}

impl Absence {
    pub fn new(evidence: &Evidence) -> Self {
        let whole_runs = evidence.passing.iter().filter(|run| run.is_whole).count();
        let mut signatures = Signatures::default();
        let mut groups: Vec<Vec<u32>> = Vec::new();
        let mut always = Vec::new();
        for (number, pair) in (0u32..).zip(&evidence.pairs) {
            let runs = evidence.runs_of(pair).filter(|&run| evidence.passing[run as usize].is_whole);
            let presence = Presence::new(runs);
            if presence.is_empty() {
                continue;
            }
            if presence.len() == whole_runs {
                always.push(number);
                continue;
            }
            let signature = signatures.number(presence) as usize;
            groups.resize_with(groups.len().max(signature + 1), Vec::new);
            groups[signature].push(number);
        }
        groups.retain(|group| group.len() > 1);
        Self { always, together: groups }
    }

    /// The pairs that a run should have, if it has those for which `has` says so.
    pub fn missing(&self, evidence: &Evidence, has: impl Fn(u32) -> bool) -> Vec<u32> {
        let mut missing: Vec<u32> = self.always.iter().copied().filter(|&pair| !has(pair)).collect();
        for group in &self.together {
            let (present, absent): (Vec<u32>, Vec<u32>) = group.iter().partition(|&&pair| has(pair));
            let Some(variables) = variables(present.iter().map(|&pair| &evidence.pairs[pair as usize]))
            else {
                continue;
            };
            missing.extend(absent.into_iter().filter(|&pair| {
                let own = evidence.pairs[pair as usize].location();
                match variables {
                    Variables::Several => true,
                    Variables::One(location) => own != Some(location),
                }
            }));
        }
        missing
    }
}

/// On which variables these pairs are in the first run that shows them, which is the same for all.
fn variables<'a>(mut pairs: impl Iterator<Item = &'a InPassing>) -> Option<Variables> {
    let first = pairs.next()?.location();
    match first {
        Some(location) if pairs.all(|pair| pair.location() == first) => Some(Variables::One(location)),
        _ => Some(Variables::Several),
    }
}
