//! Dependencies between threads, as Locon, DefUse and PSet have them: two accesses of different threads to
//! one location, at least one of them a write, with no write in between. A dependency is immediate if no
//! other between these two threads, with the order of accesses within each, says as much: a thread's first
//! read depends immediately on the last write, and the next write on each other thread's last read. This is
//! what Table 1 of the Locon paper counts. Reads of third threads in between do not matter.
//!
//! An update is a write. At a gap, the location is begun anew: nothing may be concluded across it.
//!
//! The recorder keeps, of the reads between two writes of a location, each thread's first at each site and its
//! last. So all immediate dependencies are there, and of the others all with different sites.

use rustc_hash::FxHashMap;

use crate::pattern::PatternId;
use crate::run::{LocationId, Run, ThreadId};

/// Two accesses of which the later depends on the earlier.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dependency {
    /// Global index of the earlier access.
    pub head: u32,
    /// Global index of the later access.
    pub tail: u32,
    /// P1, P2 or P3.
    pub id: PatternId,
    /// Whether no other dependency says as much.
    pub is_immediate: bool,
}

/// Tells `found` each dependency of `run`, by ascending tail and then head.
pub(crate) fn each(run: &Run, mut found: impl FnMut(Dependency)) {
    let mut locations: FxHashMap<LocationId, State> = FxHashMap::default();
    let mut gaps = run.gaps.iter().peekable();
    let thread = |index: u32| run.accesses[index as usize].thread;
    for (tail, access) in (0u32..).zip(&run.accesses) {
        while let Some(gap) = gaps.next_if(|gap| gap.before <= tail as usize) {
            locations.remove(&gap.location);
        }
        let state = locations.entry(access.location).or_default();
        let writer = state.writer.filter(|&writer| thread(writer) != access.thread);
        if access.kind.writes() {
            if let Some(head) = writer {
                let has_read =
                    |&(reader, _): &(ThreadId, u32)| reader == thread(head) || reader == access.thread;
                let is_immediate = !state.last_reads.iter().any(has_read);
                found(Dependency { head, tail, id: PatternId::P3, is_immediate });
            }
            for &head in state.reads.iter().filter(|&&head| thread(head) != access.thread) {
                let is_immediate = state.last_reads.contains(&(thread(head), head));
                found(Dependency { head, tail, id: PatternId::P1, is_immediate });
            }
            state.writer = Some(tail);
            state.reads.clear();
            state.last_reads.clear();
        } else {
            let last = state.last_reads.iter_mut().find(|(reader, _)| *reader == access.thread);
            if let Some(head) = writer {
                found(Dependency { head, tail, id: PatternId::P2, is_immediate: last.is_none() });
            }
            state.reads.push(tail);
            match last {
                Some((_, index)) => *index = tail,
                None => state.last_reads.push((access.thread, tail)),
            }
        }
    }
}

/// The last write to a location and the reads since.
#[derive(Default)]
struct State {
    writer: Option<u32>,
    reads: Vec<u32>,
    /// Each reading thread with its last read.
    last_reads: Vec<(ThreadId, u32)>,
}
