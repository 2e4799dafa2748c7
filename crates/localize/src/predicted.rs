//! Orders of two accesses that runs could show, and which of them they have shown.
//!
//! After Maple (J. Yu, S. Narayanasamy, C. Pereira, G. Pokam, "Maple: a coverage-driven testing tool for multithreaded
//! programs", OOPSLA 2012), which predicts interleavings from those that it has seen, and TSVD (G. Li et al.,
//! "Efficient scalable thread-safety-violation detection", SOSP 2019), which looks for accesses that nearly meet.
//!
//! Two sites whose accesses conflict at one location, in two threads, can come in two orders, unless the creation or
//! the end of a thread lies between them. Where runs have shown one order only, the other one is worth a run, the
//! sooner the nearer the two have come to each other.
//!
//! Deviations: (1) pairs of single accesses, where Maple has chains over several; (2) nearness is counted in recorded
//! accesses, not in time, so that it does not depend on the machine; (3) conditions, semaphores and flags order nothing
//! here: what they make impossible is tried a few times in vain.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use crate::run::{Access, LocationId, Run, SiteId, ThreadId};
use crate::synchronization::{SyncKind, SyncTarget};

/// What the runs so far show.
#[derive(Clone, Debug, Default)]
pub struct Predicted {
    /// By the two sites, the smaller one first.
    pairs: BTreeMap<[SiteId; 2], Pair>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Pair {
    /// The smaller site first, and second.
    seen: [bool; 2],
    /// How few accesses came between the two.
    distance: usize,
    /// Runs that were to show the order that is missing.
    tries: u32,
}

/// How many orders are predicted, and how many of them were seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    /// All that could be.
    pub predicted: u64,
    /// Those that some run has shown.
    pub seen: u64,
}

/// Runs after which an order that does not come about is taken to be impossible. Where a thread comes to an access many
/// times, each run is directed at one of them.
const MOST_TRIES: u32 = 40;

impl Predicted {
    /// Looks at one more run.
    pub fn observe(&mut self, run: &Run) {
        for ([first, second], distance) in orders(run) {
            let is_turned = first > second;
            let sites = if is_turned { [second, first] } else { [first, second] };
            let pair = self.pairs.entry(sites).or_insert(Pair { distance: usize::MAX, ..Pair::default() });
            pair.seen[usize::from(is_turned)] = true;
            pair.distance = pair.distance.min(distance);
        }
    }

    /// How much of what could be was seen.
    pub fn coverage(&self) -> Coverage {
        let seen = self.pairs.values().flat_map(|pair| pair.seen).filter(|seen| *seen).count();
        Coverage { predicted: 2 * self.pairs.len() as u64, seen: seen as u64 }
    }

    /// Whether there is an order left to be tried.
    pub fn has_unseen(&self) -> bool {
        self.pairs.values().any(|pair| pair.seen != [true; 2] && pair.tries < MOST_TRIES)
    }

    /// An order that no run has shown yet: the site that is to come first, and the other. The least tried ones come
    /// first, and of these the nearest. None if all were seen, or tried often enough.
    pub fn next_unseen(&mut self) -> Option<[SiteId; 2]> {
        let missing = self.pairs.iter_mut().filter(|(_, pair)| pair.seen != [true; 2]);
        let (sites, pair) = missing.min_by_key(|(_, pair)| (pair.tries, pair.distance))?;
        if pair.tries == MOST_TRIES {
            return None;
        }
        pair.tries += 1;
        let &[small, large] = sites;
        Some(if pair.seen[0] { [large, small] } else { [small, large] })
    }
}

/// A location with more sites in more threads than this is looked at no further, as for the verdict.
const MOST_VISITORS: usize = 64;

/// The latest access of a thread at a site, to some location.
struct Visitor {
    site: SiteId,
    thread: ThreadId,
    writes: bool,
    /// The index of the access.
    index: usize,
    /// How far its thread had come.
    epoch: u32,
}

/// The orders of conflicting accesses that nothing but luck decides, with how near they came.
fn orders(run: &Run) -> FxHashMap<[SiteId; 2], usize> {
    let mut found = FxHashMap::default();
    let mut lives = Lives::default();
    let mut events = run.synchronization.iter().peekable();
    let mut locations: FxHashMap<LocationId, Vec<Visitor>> = FxHashMap::default();
    for (index, access) in run.accesses.iter().enumerate() {
        while let Some(event) = events.next_if(|event| event.before <= index) {
            if let SyncTarget::Thread(other) = event.target {
                lives.note(event.thread, event.kind, other);
            }
        }
        let visitors = locations.entry(access.location).or_default();
        let own = visitors.iter().position(|one| (one.site, one.thread) == (access.site, access.thread));
        let told = own.map_or(0, |own| visitors[own].index);
        for other in visitors.iter().filter(|other| own.is_none() || other.index >= told) {
            let conflict = other.writes || access.kind.writes();
            if other.thread != access.thread
                && other.site != access.site
                && conflict
                && !lives.orders(other.thread, other.epoch, access.thread)
            {
                let nearest = found.entry([other.site, access.site]).or_insert(usize::MAX);
                *nearest = (*nearest).min(index - other.index);
            }
        }
        note(visitors, own, index, access, lives.epoch(access.thread));
    }
    found
}

fn note(visitors: &mut Vec<Visitor>, own: Option<usize>, index: usize, access: &Access, epoch: u32) {
    match own {
        Some(own) => {
            let visitor = &mut visitors[own];
            (visitor.index, visitor.epoch) = (index, epoch);
            visitor.writes |= access.kind.writes();
        }
        None if visitors.len() < MOST_VISITORS => visitors.push(Visitor {
            site: access.site,
            thread: access.thread,
            writes: access.kind.writes(),
            index,
            epoch,
        }),
        None => {}
    }
}

/// What the creation and the end of threads order.
#[derive(Default)]
struct Lives {
    /// For each thread how far it knows the others to have come: its own epoch grows with what others learn from it.
    clocks: FxHashMap<ThreadId, FxHashMap<ThreadId, u32>>,
}

impl Lives {
    fn epoch(&self, thread: ThreadId) -> u32 {
        self.known(thread, thread)
    }

    fn known(&self, by: ThreadId, of: ThreadId) -> u32 {
        self.clocks.get(&by).and_then(|clock| clock.get(&of)).copied().unwrap_or(0)
    }

    /// Did what `first` did in this epoch come before anything that `second` does now?
    fn orders(&self, first: ThreadId, epoch: u32, second: ThreadId) -> bool {
        self.known(second, first) > epoch
    }

    fn note(&mut self, thread: ThreadId, kind: SyncKind, other: ThreadId) {
        match kind {
            SyncKind::Create => self.teach(thread, other),
            SyncKind::Join => self.teach(other, thread),
            _ => {}
        }
    }

    /// All that `from` did so far comes before all that `to` does from now on.
    fn teach(&mut self, from: ThreadId, to: ThreadId) {
        *self.clocks.entry(from).or_default().entry(from).or_default() += 1;
        let known = self.clocks[&from].clone();
        let clock = self.clocks.entry(to).or_default();
        for (thread, epoch) in known {
            let present = clock.entry(thread).or_default();
            *present = epoch.max(*present);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::{AccessKind, LocksetId, Outcome, RunId, StackId};
    use crate::synchronization::SyncEvent;

    /// Steps such as `1w7` (thread 1 writes at site 7), `1c2` (creates thread 2), `1j2` (joins it), on one location.
    fn run(steps: &str) -> Run {
        let mut run = Run::new(RunId(1), Outcome::Pass);
        for step in steps.split(' ') {
            let numbers: Vec<u32> =
                step.split(|c: char| !c.is_ascii_digit()).map(|number| number.parse().unwrap()).collect();
            let thread = ThreadId(numbers[0]);
            let letter = step.chars().find(|c| !c.is_ascii_digit()).unwrap();
            let sync = |kind| SyncEvent {
                before: run.accesses.len(),
                thread,
                kind,
                target: SyncTarget::Thread(ThreadId(numbers[1])),
                site: SiteId(0),
                stack: StackId(0),
            };
            match letter {
                'c' => run.synchronization.push(sync(SyncKind::Create)),
                'j' => run.synchronization.push(sync(SyncKind::Join)),
                _ => run.accesses.push(Access {
                    thread,
                    location: LocationId(0),
                    site: SiteId(numbers[1]),
                    stack: StackId(0),
                    kind: if letter == 'w' { AccessKind::Write } else { AccessKind::Read },
                    uncertain: false,
                    before: None,
                    value: None,
                    locks: Some(LocksetId(0)),
                    iteration: None,
                    atomic: false,
                    frees: false,
                }),
            }
        }
        run
    }

    fn predicted(runs: &[&str]) -> Predicted {
        let mut predicted = Predicted::default();
        runs.iter().for_each(|steps| predicted.observe(&run(steps)));
        predicted
    }

    fn next(predicted: &mut Predicted) -> Option<[u32; 2]> {
        predicted.next_unseen().map(|sites| sites.map(|site| site.0))
    }

    #[test]
    fn the_order_that_was_not_seen_is_asked_for() {
        let mut one_order = predicted(&["1c2 1w7 2r8"]);
        assert_eq!(one_order.coverage(), Coverage { predicted: 2, seen: 1 });
        assert_eq!(next(&mut one_order), Some([8, 7]));
        let mut both = predicted(&["1c2 1w7 2r8", "1c2 2r8 1w7"]);
        assert_eq!(both.coverage(), Coverage { predicted: 2, seen: 2 });
        assert_eq!(next(&mut both), None);
        assert_eq!(next(&mut predicted(&["1c2 2r8 1w7"])), Some([7, 8]));
    }

    #[test]
    fn threads_that_begin_later_or_have_ended_cannot_be_overtaken() {
        assert_eq!(predicted(&["1w7 1c2 2r8"]).coverage().predicted, 0);
        assert_eq!(predicted(&["1c2 2w8 1j2 1r7"]).coverage().predicted, 0);
        assert_eq!(predicted(&["1c2 2w8 1j2 1c3 3r9"]).coverage().predicted, 0);
        assert_eq!(predicted(&["1c2 1c3 2w8 1j2 3r9"]).coverage().predicted, 2);
        // Only the first of two accesses at site 7 came before thread 2.
        assert_eq!(predicted(&["1w7 1c2 1w7 2r8"]).coverage().predicted, 2);
    }

    #[test]
    fn what_does_not_conflict_has_no_order() {
        assert_eq!(predicted(&["1c2 1r7 2r8 1r9"]).coverage().predicted, 0);
        assert_eq!(predicted(&["1c2 1w7 2w7"]).coverage().predicted, 0, "one site, one order");
    }

    #[test]
    fn the_nearest_comes_first_and_nothing_is_tried_for_ever() {
        let mut two = predicted(&["1c2 1w7 1w6 2r8"]);
        assert_eq!(next(&mut two), Some([8, 6]));
        assert_eq!(next(&mut two), Some([8, 7]));
        let tries = std::iter::from_fn(|| next(&mut two)).count();
        assert_eq!(tries as u32, 2 * MOST_TRIES - 2);
    }
}
