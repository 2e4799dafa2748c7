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

use crate::counts::Counts;
use crate::finding::{self, Finding};
use crate::histories::Entry;
use crate::occurrences::Occurrences;
use crate::options::Options;
use crate::pattern::PatternId;
use crate::run::{AccessKind, ThreadId};
use crate::scan::Scan;

/// The unserializable triples that a run shows.
pub(crate) fn occurrences(scan: &Scan) -> Occurrences {
    // The method's four cases do not have WWW.
    scan.digest().triples(scan, |known| (known.id != PatternId::P8).then_some(known.id))
}

/// Tells `found` each unserializable triple among the accesses of a location whose first and third access follow each
/// other in their thread, in the order of the third.
pub(crate) fn each_triple(
    stretch: &[Entry],
    history: &mut History,
    mut found: impl FnMut(PatternId, [Entry; 3]),
) {
    history.clear();
    for &access in stretch {
        // With nobody between an update's read and its write, only the read can be the third access.
        let third = if access.kind == AccessKind::Write { AccessKind::Write } else { AccessKind::Read };
        history.each_triple(access.thread, third, |id, [first, middle]| found(id, [first, middle, access]));
        history.add(access);
    }
}

/// What violates an invariant, by the number of runs and by time.
pub(crate) fn findings(counts: &Counts, _: &Options) -> Vec<Finding> {
    finding::rank_by_time(counts.only_in_failing_runs())
}

/// The reads and writes of a location.
#[derive(Default)]
pub(crate) struct History {
    events: Vec<(Entry, AccessKind)>,
    /// Each thread with the place of its last event.
    last: Vec<(ThreadId, usize)>,
}

impl History {
    fn clear(&mut self) {
        self.events.clear();
        self.last.clear();
    }

    /// Tells `found` the first two accesses of each triple whose third access is a `third` by `thread`.
    fn each_triple(&self, thread: ThreadId, third: AccessKind, mut found: impl FnMut(PatternId, [Entry; 2])) {
        let Some(&(_, place)) = self.last.iter().find(|(other, _)| *other == thread) else { return };
        let (first, first_kind) = self.events[place];
        for &(middle, middle_kind) in &self.events[place + 1..] {
            if let Some(id) = PatternId::triple(first_kind, middle_kind, third) {
                found(id, [first, middle]);
            }
        }
    }

    fn add(&mut self, access: Entry) {
        if access.kind != AccessKind::Write {
            self.events.push((access, AccessKind::Read));
        }
        if access.kind.writes() {
            self.events.push((access, AccessKind::Write));
        }
        let place = self.events.len() - 1;
        match self.last.iter_mut().find(|(other, _)| *other == access.thread) {
            Some((_, last)) => *last = place,
            None => self.last.push((access.thread, place)),
        }
    }
}
