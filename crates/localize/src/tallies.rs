//! What is only ever counted: each thread that reads it writes it right after that, and nobody comes in between.
//!
//! Statistics and logs are kept like this in the very section in which something is looked at or changed, and so they are seen in the
//! same interleavings as what matters there. But whoever adds one to a count decides nothing by it, as little as by an atomic update.
//! Where a step is broken into, as in a lost update, nothing is said.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::histories::{Entry, Histories, Spot};
use crate::run::{AccessKind, Run, SiteId, ThreadId};

/// Which locations of a run are only ever counted, by number.
#[derive(Debug)]
pub(crate) struct Tallies {
    are_tallies: Vec<bool>,
}

impl Tallies {
    pub fn of(run: &Run, histories: &Histories) -> Self {
        let counting = counting_sites(run, histories);
        let is_tally = |spots: &[Spot]| {
            let entries: Vec<Entry> = spots.iter().map(|&spot| histories.entry(spot)).collect();
            is_counted(&entries, &counting)
        };
        Self { are_tallies: histories.locations().map(is_tally).collect() }
    }

    /// Whether an access, by global index, is to such a location.
    pub fn has(&self, histories: &Histories, index: usize) -> bool {
        self.are_tallies[histories.moments()[index].location as usize]
    }

    /// Whether all of these accesses, by global index, are to such locations.
    pub fn have_all(&self, histories: &Histories, accesses: &[u32]) -> bool {
        accesses.iter().all(|&index| self.has(histories, index as usize))
    }
}

/// Where threads read something and write it with their very next access, and where they write it then.
fn counting_sites(run: &Run, histories: &Histories) -> FxHashSet<SiteId> {
    let mut sites = FxHashSet::default();
    let mut latest: FxHashMap<ThreadId, u32> = FxHashMap::default();
    for (index, access) in run.accesses.iter().enumerate() {
        let Some(before) = latest.insert(access.thread, index as u32) else { continue };
        let read = &run.accesses[before as usize];
        let is_step = (read.kind, access.kind) == (AccessKind::Read, AccessKind::Write)
            && read.location == access.location
            && histories.is_next(before, index as u32);
        if is_step {
            sites.extend([read.site, access.site]);
        }
    }
    sites
}

/// Whether the accesses to a location are steps of counting, but for its beginning, which is written, and looks of one thread in the end, as when all is printed. Of a turn
/// of many steps not all are on record, but with what it begins and with what it ends is.
fn is_counted(entries: &[Entry], counting: &FxHashSet<SiteId>) -> bool {
    let Some(maker) = entries.first().map(|entry| entry.thread) else { return false };
    let is_beginning = |entry: &&Entry| entry.thread == maker && entry.kind == AccessKind::Write;
    let beginning = entries.iter().take_while(is_beginning).count();
    let last = entries[entries.len() - 1].thread;
    let is_look = |entry: &&Entry| entry.thread == last && entry.kind == AccessKind::Read;
    let end = entries.iter().rev().take_while(is_look).count();
    let steps = entries.get(beginning..entries.len() - end).unwrap_or_default();
    let mut turns = steps.chunk_by(|one, other| one.thread == other.thread);
    let is_of_steps = |turn: &[Entry]| {
        let kinds = [turn.first(), turn.last()].map(|entry| entry.map(|entry| entry.kind));
        kinds == [Some(AccessKind::Read), Some(AccessKind::Write)]
            && turn.iter().all(|entry| counting.contains(&entry.site))
    };
    !steps.is_empty() && turns.all(is_of_steps)
}
