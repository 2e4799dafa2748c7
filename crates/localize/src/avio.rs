//! AVIO: unserializable interleavings on a single variable that no passing run shows.
//!
//! Shan Lu, Joseph Tucek, Feng Qin, Yuanyuan Zhou: *AVIO: Detecting Atomicity Violations via Access
//! Interleaving Invariants* (ASPLOS 2006), as described in the Falcon and Recon papers.
//!
//! **Finds** two accesses of one thread to a location that follow each other in that thread, with an access
//! of another thread in between that makes the three unserializable: RWR, WWR, WRW and RWW. What passing runs
//! show is allowed; every other triple of a failing run violates an invariant. These are ranked by the number
//! of failing runs that show them, and then by when they are first complete, since the method itself has no
//! score.
//!
//! **Misses** atomicity violations that passing runs survive; order violations; anything on several variables.
//!
//! Deviations, with why:
//!
//! 1. An invariant is about three sites. In AVIO it is about the thread's own two: once any access has come
//!    between these in a passing run, none is reported. The third site tells an allowed intruder from a new
//!    one.
//! 2. An update is a read and then a write with nobody in between.
//! 3. Of accesses that repeat others of their turn the recorder keeps the first and the last, which are the
//!    ones that a triple's own thread makes. Of the other thread's writes, those in the midst of a turn are
//!    not known.
//! 4. Nothing is concluded across a gap.

use rustc_hash::FxHashMap;

use crate::counts::Counts;
use crate::finding::{self, Finding};
use crate::occurrences::{self, Occurrence, Occurrences};
use crate::options::Options;
use crate::pattern::PatternId;
use crate::run::{AccessKind, LocationId, Run, ThreadId};

/// The unserializable triples that `run` shows.
pub(crate) fn occurrences(run: &Run, _: &Options) -> Occurrences {
    let mut found = Occurrences::of(run);
    each_triple(run, |id, accesses| {
        // The method's four cases do not have WWW.
        if id != PatternId::P8 {
            found.add_first(occurrences::pattern(run, id, &accesses), Occurrence::new(id, &accesses));
        }
    });
    found
}

/// Tells `found` each unserializable triple of `run` whose first and third access follow each other in their
/// thread, in the order of the third.
pub(crate) fn each_triple(run: &Run, mut found: impl FnMut(PatternId, [u32; 3])) {
    let mut locations: FxHashMap<LocationId, History> = FxHashMap::default();
    let mut gaps = run.gaps.iter().peekable();
    for (index, access) in (0u32..).zip(&run.accesses) {
        while let Some(gap) = gaps.next_if(|gap| gap.before <= index as usize) {
            locations.remove(&gap.location);
        }
        let history = locations.entry(access.location).or_default();
        // With nobody between an update's read and its write, only the read can be the third access.
        let third = if access.kind == AccessKind::Write { AccessKind::Write } else { AccessKind::Read };
        history.each_triple(access.thread, third, |id, [first, middle]| found(id, [first, middle, index]));
        history.add(access.thread, index, access.kind);
    }
}

/// What violates an invariant, by the number of runs and by time.
pub(crate) fn findings(counts: &Counts, _: &Options) -> Vec<Finding> {
    finding::rank_by_time(counts.only_in_failing_runs())
}

/// The reads and writes of a location.
#[derive(Default)]
struct History {
    events: Vec<(u32, AccessKind)>,
    /// Each thread with the place of its last event.
    last: Vec<(ThreadId, usize)>,
}

impl History {
    /// Tells `found` the first two accesses of each triple whose third access is a `third` by `thread`.
    fn each_triple(&self, thread: ThreadId, third: AccessKind, mut found: impl FnMut(PatternId, [u32; 2])) {
        let Some(&(_, place)) = self.last.iter().find(|(other, _)| *other == thread) else { return };
        let (first, first_kind) = self.events[place];
        for &(middle, middle_kind) in &self.events[place + 1..] {
            if let Some(id) = PatternId::triple(first_kind, middle_kind, third) {
                found(id, [first, middle]);
            }
        }
    }

    fn add(&mut self, thread: ThreadId, index: u32, kind: AccessKind) {
        if kind != AccessKind::Write {
            self.events.push((index, AccessKind::Read));
        }
        if kind.writes() {
            self.events.push((index, AccessKind::Write));
        }
        let place = self.events.len() - 1;
        match self.last.iter_mut().find(|(other, _)| *other == thread) {
            Some((_, last)) => *last = place,
            None => self.last.push((thread, place)),
        }
    }
}
