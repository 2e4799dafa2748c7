//! What another thread had done just before it was overlooked.
//!
//! A read that comes before another thread's write is in order by itself. It goes wrong where the reader has just seen, in the same section
//! of code, something that the other thread did before: the other one is in between two steps. Unicorn's quadruples
//! keep the last write of a turn; here it is the first write after the read, each where it comes first in a run.

use crate::occurrences::Occurrence;
use crate::pattern::{Crossing, Pattern, PatternId};
use crate::run::{AccessKind, LocationId, Run};
use crate::scan::Scan;

/// How many accesses before the read are looked at, of all threads and of the reader: what was seen just before is near.
const REACH: u32 = 256;
const OWN: usize = 8;

/// Each different read before another thread's write, together with the step of that thread before that which the reader saw.
pub(super) fn crossings(scan: &Scan) -> Vec<(Pattern, Occurrence)> {
    before_writes(scan, PatternId::P1)
}

/// The same where the reader updates what the other thread then writes: it reads what is not up to date all the same, as who counts itself in
/// while another one has begun a new round and not yet set the count to zero. Among Unicorn's pairs an update is a write, so
/// that none of its quadruples tells this.
pub(super) fn with_updates(scan: &Scan) -> Vec<(Pattern, Occurrence)> {
    before_writes(scan, PatternId::P3)
}

fn before_writes(scan: &Scan, pair: PatternId) -> Vec<(Pattern, Occurrence)> {
    let mut found = Vec::new();
    for (known, places) in scan.digest().dependencies() {
        let [look, write] = places.first.accesses;
        let reads = scan.run.accesses[look as usize].kind != AccessKind::Write;
        if !known.is_immediate || known.id != pair || !reads {
            continue;
        }
        let Some((seen, [step, sight])) = step_before(scan.run, look, write) else { continue };
        let Some(id) = PatternId::quadruple(seen, PatternId::P1, Crossing::Apart) else { continue };
        let accesses = [step, sight, look, write];
        let sites = accesses.map(|index| scan.run.accesses[index as usize].site);
        found.push((Pattern::new(id, &sites), Occurrence::new(id, &accesses)));
    }
    // The same code may run in several threads.
    found.sort_unstable_by_key(|(pattern, occurrence)| (*pattern, occurrence.accesses()[3]));
    found.dedup_by_key(|(pattern, _)| *pattern);
    found
}

/// The last access of the writing thread before the read that an access of the reading one follows and conflicts with: one that it made right before
/// the read, or with the same locks in hand; with which kind of pair the two are. Others may have come in between: the writing thread has done its step all the same.
fn step_before(run: &Run, look: u32, write: u32) -> Option<(PatternId, [u32; 2])> {
    let [read, written] = [look, write].map(|index| &run.accesses[index as usize]);
    let mut own: Vec<(LocationId, u32)> = Vec::new();
    let mut is_over = false;
    for index in (look.saturating_sub(REACH)..look).rev() {
        let access = &run.accesses[index as usize];
        if access.thread == read.thread {
            if access.location == read.location || own.iter().any(|&(known, _)| known == access.location) {
                continue;
            }
            is_over |= !own.is_empty() && access.locks != read.locks || own.len() == OWN;
            if !is_over {
                own.push((access.location, index));
            }
            continue;
        }
        if access.thread != written.thread {
            continue;
        }
        let sight = own.iter().find(|&&(location, _)| location == access.location).map(|&(_, sight)| sight);
        let Some(sight) = sight else { continue };
        let kinds = [access.kind, run.accesses[sight as usize].kind].map(plain);
        let pair = PatternId::pair(kinds[0], kinds[1]);
        if let Some(pair @ (PatternId::P1 | PatternId::P2)) = pair {
            return Some((pair, [index, sight]));
        }
    }
    None
}

/// An update counts as a write.
fn plain(kind: AccessKind) -> AccessKind {
    if kind.writes() { AccessKind::Write } else { AccessKind::Read }
}
