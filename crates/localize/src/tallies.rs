//! What is only ever counted: each thread that reads it writes it right after that, and nobody comes in between.
//!
//! Statistics and logs are kept like this in the very section in which something is looked at or changed, and so they are seen in the
//! same interleavings as what matters there. But whoever adds one to a count decides nothing by it, as little as by an atomic update.
//! Where a step is broken into, as in a lost update, nothing is said.

use rustc_hash::FxHashMap;

use crate::histories::{Entry, Histories, Spot};
use crate::run::{AccessKind, Run, ThreadId};

/// Which locations of a run are only ever counted, by number.
#[derive(Debug)]
pub(crate) struct Tallies {
    are_tallies: Vec<bool>,
}

impl Tallies {
    pub fn of(run: &Run, histories: &Histories) -> Self {
        let next = next_of_its_thread(run);
        let is_tally = |spots: &[Spot]| is_counted(histories, spots, &next);
        Self { are_tallies: histories.locations().map(is_tally).collect() }
    }

    /// Whether all of these accesses, by global index, are to such locations.
    pub fn have_all(&self, histories: &Histories, accesses: &[u32]) -> bool {
        let location = |&index: &u32| histories.moments()[index as usize].location as usize;
        accesses.iter().map(location).all(|location| self.are_tallies[location])
    }
}

/// For each access, the next one of its thread.
fn next_of_its_thread(run: &Run) -> Vec<Option<u32>> {
    let mut next = vec![None; run.accesses.len()];
    let mut latest: FxHashMap<ThreadId, usize> = FxHashMap::default();
    for (index, access) in run.accesses.iter().enumerate() {
        if let Some(before) = latest.insert(access.thread, index) {
            next[before] = Some(index as u32);
        }
    }
    next
}

/// Whether the accesses to a location are steps of counting, but for its beginning, which is written, and looks of the same thread in the end.
fn is_counted(histories: &Histories, spots: &[Spot], next: &[Option<u32>]) -> bool {
    let entries: Vec<_> = spots.iter().map(|&spot| histories.entry(spot)).collect();
    let Some(maker) = entries.first().map(|entry| entry.thread) else { return false };
    let is_makers = |kind: AccessKind| move |entry: &&Entry| entry.thread == maker && entry.kind == kind;
    let beginning = entries.iter().take_while(is_makers(AccessKind::Write)).count();
    let end = entries.iter().rev().take_while(is_makers(AccessKind::Read)).count();
    let steps = entries.get(beginning..entries.len() - end).unwrap_or_default();
    let is_step = |step: &[Entry]| match step {
        [read, write] => {
            (read.kind, write.kind) == (AccessKind::Read, AccessKind::Write)
                && next[read.index as usize] == Some(write.index)
        }
        _ => false,
    };
    !steps.is_empty() && steps.chunks(2).all(is_step)
}
