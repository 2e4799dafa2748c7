//! Failing runs that end before a clue is complete.
//!
//! A thread that reads two variables which do not fit ends the run, and the write of the second one, before which it read for certain,
//! never comes. Where all passing runs come to that write, such a run speaks for the clue as those do in which the write came in time to be
//! seen. That goes for clues whose harm is done by then: P12 and P13, which end with a write after another thread's reads. The
//! second variable may not be on record at all, since only one thread has used it: then the reader's record has to end with the first one.
//! The write of the first and the reads have to be among the last accesses of their threads: what happened long before did not end the run.
//! A writer that came to its own end was not kept from anything: there is no write that it would still have made.
//!
//! In a loop the write has come in earlier rounds. There, the run has ended within a round if the writer has not come to it again since it has written
//! the first variable, and the reader reads both after that, all among their last accesses. A passing run that ends so as well speaks against
//! the clue: where the write of the first variable is the last that the writer ever does, all runs do.

use std::collections::BTreeMap;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::cci::Sightings;
use crate::codes::Codes;
use crate::histories::Moment;
use crate::pattern::{Pattern, PatternId};
use crate::run::{SiteId, ThreadId};
use crate::scan::Scan;
use crate::synchronization::SyncKind;

use super::evidence::{Evidence, KnownRun, Seen};
use super::regions;
use super::scale::Clue;

/// Accesses of a thread that count as its last ones. Who has found what is wrong may have to say so.
const TAIL: usize = 8;

/// How far a run came.
#[derive(Clone, Debug, Default)]
pub(super) struct Reach {
    /// Where it accesses what threads share, and when it does first; nothing for a passing run, which came to its end.
    sites: FxHashMap<SiteId, u32>,
    /// The last accesses of each thread, the newest first.
    tails: Vec<Vec<Last>>,
    /// Of a failing run, which threads came to their own end, by their numbers.
    ended: Vec<bool>,
}

/// One of the last accesses of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Last {
    index: u32,
    thread: u32,
    location: u32,
    site: SiteId,
}

impl Reach {
    pub fn of(scan: &Scan) -> Arc<Self> {
        let is_failing = scan.run.outcome.is_failing();
        let first = |(site, seen): (&SiteId, &Sightings)| Some((*site, seen.first()?));
        let sites = scan.sites().iter().filter(|_| is_failing).filter_map(first).collect();
        let codes = scan.histories.codes();
        let wanted = codes.accesses_by_thread().into_iter().map(|accesses| TAIL.min(accesses as usize)).sum();
        let events =
            scan.run.synchronization.iter().filter(|event| is_failing && event.kind == SyncKind::End);
        let have_ended: FxHashSet<ThreadId> = events.map(|event| event.thread).collect();
        let ended = codes.threads().map(|thread| have_ended.contains(&thread)).collect();
        Arc::new(Self { sites, tails: tails(scan.histories.moments(), codes, wanted), ended })
    }

    /// When a failing run makes its first access at a site; none if it never comes there.
    pub fn comes_to(&self, site: SiteId) -> Option<u32> {
        self.sites.get(&site).copied()
    }

    /// Whether a thread's last accesses have this write, and another thread's have both reads after it: of what was written, and the other
    /// one. That one may not be on record, where the reader's record ends with the first.
    fn ends_around(&self, first: [SiteId; 2], other_read: SiteId) -> bool {
        let may_end_with_first = self.comes_to(other_read).is_none();
        self.tails.iter().flatten().any(|last| self.is_followed(last, first, other_read, may_end_with_first))
    }

    /// The same with both reads on record, and the writer has not come to its second write since.
    fn ends_within(&self, first: [SiteId; 2], other_read: SiteId, second: SiteId) -> bool {
        let since = |tail: &Vec<Last>| tail.iter().take_while(|last| last.site != second).copied().collect();
        let since: Vec<Vec<Last>> = self.tails.iter().map(since).collect();
        since.iter().flatten().any(|last| self.is_followed(last, first, other_read, false))
    }

    /// Whether this is the write, and among its own last accesses another thread does both reads after it.
    fn is_followed(
        &self,
        written: &Last,
        [write, read]: [SiteId; 2],
        other_read: SiteId,
        may_end_with_first: bool,
    ) -> bool {
        written.site == write
            && !self.ended[written.thread as usize]
            && self.tails.iter().any(|tail| {
                let is_after = |last: &&Last| last.index > written.index && last.thread != written.thread;
                let after = || tail.iter().filter(is_after);
                let is_read = |last: &Last| (last.site, last.location) == (read, written.location);
                let ends_with_first = may_end_with_first && after().next().is_some_and(is_read);
                after().any(is_read) && (ends_with_first || after().any(|last| last.site == other_read))
            })
    }
}

/// The last accesses of each thread, the newest first, which are so many in all.
fn tails(moments: &[Moment], codes: &Codes, mut wanted: usize) -> Vec<Vec<Last>> {
    let mut tails: Vec<Vec<Last>> = vec![Vec::new(); codes.thread_count()];
    for (index, &Moment { location, code }) in moments.iter().enumerate().rev() {
        if wanted == 0 {
            break;
        }
        let thread = codes.thread_number(code);
        let tail = &mut tails[thread as usize];
        if tail.len() < TAIL {
            tail.push(Last { index: index as u32, thread, location, site: codes.site(code) });
            wanted -= 1;
        }
    }
    tails
}

/// The runs that a clue counts for, as bits, and how many of these are failing ones that end before it. None if no failing run
/// does.
pub(super) fn runs_of(clue: Pattern, seen: &Seen, evidence: &Evidence) -> Option<(u32, Vec<u64>)> {
    let beginning = Beginning::of(clue, evidence)?;
    let mut runs = seen.runs.clone();
    runs.resize(evidence.runs.len().div_ceil(64), 0);
    let mut ended = 0;
    for (number, run) in evidence.runs.iter().enumerate() {
        if !is_in(&runs, number) && beginning.is_all_of(number, run, evidence) {
            runs[number / 64] |= 1 << (number % 64);
            ended += u32::from(run.is_failing);
        }
    }
    (ended > 0).then_some((ended, runs))
}

/// A pair that is seen in no other runs than those that a longer clue counts for, whose end it is, is the same cause.
pub(super) fn take_in_ends(clues: &mut [Clue], evidence: &Evidence) {
    let mut wholes: BTreeMap<Pattern, Vec<u64>> = BTreeMap::new();
    for clue in &*clues {
        let end = regions::parts(&clue.pattern).find(|part| part.shape() == PatternId::P1.into());
        if let (Some(end), Some((_, runs))) = (end, &clue.unfinished) {
            let known = wholes.entry(end).or_default();
            if count(runs) > count(known) {
                known.clone_from(runs);
            }
        }
    }
    for clue in clues.iter_mut().filter(|clue| clue.unfinished.is_none()) {
        let Some(runs) = wholes.get(&clue.pattern) else { continue };
        let is_within =
            (0..clue.seen.runs.len() * 64).all(|run| !is_in(&clue.seen.runs, run) || is_in(runs, run));
        if is_within {
            let [failed, _] = evidence.outcomes(runs);
            clue.unfinished = Some((failed - clue.seen.failed, runs.clone()));
        }
    }
}

fn count(runs: &[u64]) -> u32 {
    runs.iter().map(|word| word.count_ones()).sum()
}

fn is_in(runs: &[u64], number: usize) -> bool {
    runs.get(number / 64).is_some_and(|word| word >> (number % 64) & 1 == 1)
}

/// A clue but for its last access, the write of the second variable.
struct Beginning {
    /// What happens to the first variable.
    first: Pattern,
    /// The read of the second.
    read: SiteId,
    last: SiteId,
}

impl Beginning {
    /// None if the clue is of another kind, or if runs that pass do not always come to its last access.
    fn of(clue: Pattern, evidence: &Evidence) -> Option<Self> {
        // What was overlooked may have come.
        let always = evidence.visited_by_all.as_ref().filter(|_| evidence.overlooked == 0.0)?;
        let last = *clue.sites().last().filter(|last| always.contains(last))?;
        if !matches!(clue.shape().row(), Some(PatternId::P12 | PatternId::P13)) {
            return None;
        }
        let pair_of = |row| regions::parts(&clue).find(|part| part.shape().row() == Some(row));
        let read = *pair_of(PatternId::P1)?.sites().first()?;
        Some(Self { first: pair_of(PatternId::P2)?, read, last })
    }

    /// Whether a run, told by its number too, shows it and ends before the last access, or before its next time in a loop.
    fn is_all_of(&self, number: usize, run: &KnownRun, evidence: &Evidence) -> bool {
        let Some(reach) = evidence.reaches.get(&run.id) else { return false };
        let Some(&first) = self.first.sites().first_chunk() else { return false };
        if !run.is_failing || reach.comes_to(self.last).is_some() {
            return reach.ends_within(first, self.read, self.last);
        }
        // A run that crashes for another reason comes to none of what would have followed, either.
        let shows_first = || evidence.clues.get(&self.first).is_some_and(|seen| is_in(&seen.runs, number));
        shows_first() && reach.ends_around(first, self.read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::AccessKind;

    /// To stop when all is known leaves nothing out: one thread has few accesses, and these come first.
    #[test]
    fn the_ends_of_threads_are_what_a_look_at_all_accesses_tells() {
        let threads = [vec![7, 7, 7], (0..100).map(|nth| nth % 2).collect()].concat();
        let mut codes = Codes::default();
        let by = |thread| Moment {
            location: 0,
            code: codes.add(ThreadId(thread), SiteId(thread), AccessKind::Read),
        };
        let moments: Vec<Moment> = threads.into_iter().map(by).collect();
        let told = |wanted| tails(&moments, &codes, wanted);
        assert_eq!(told(3 + 2 * TAIL), told(usize::MAX));
        assert_eq!(told(usize::MAX).iter().map(Vec::len).collect::<Vec<_>>(), [3, TAIL, TAIL]);
        assert_eq!(told(2 * TAIL)[1..], told(usize::MAX)[1..]);
    }
}
