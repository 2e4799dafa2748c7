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

use crate::histories::{Entry, Histories};
use crate::pattern::PatternId;
use crate::run::{LocationId, ThreadId};

/// Two accesses of which the later depends on the earlier.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dependency {
    /// The earlier access.
    pub head: Entry,
    /// The later access.
    pub tail: Entry,
    /// P1, P2 or P3.
    pub id: PatternId,
    /// Whether no other dependency says as much.
    pub is_immediate: bool,
}

/// Tells `found` each dependency among the accesses of a location, by ascending tail.
pub(crate) fn each(stretch: &[Entry], state: &mut State, mut found: impl FnMut(Dependency)) {
    state.clear();
    for &tail in stretch {
        let writer = state.writer.filter(|writer| writer.thread != tail.thread);
        if tail.kind.writes() {
            if let Some(head) = writer {
                let has_read =
                    |(reader, _): &(ThreadId, u32)| *reader == head.thread || *reader == tail.thread;
                let is_immediate = !state.last_reads.iter().any(has_read);
                found(Dependency { head, tail, id: PatternId::P3, is_immediate });
            }
            for &head in state.reads.iter().filter(|head| head.thread != tail.thread) {
                let is_immediate = state.last_reads.contains(&(head.thread, head.index));
                found(Dependency { head, tail, id: PatternId::P1, is_immediate });
            }
            state.clear();
            state.writer = Some(tail);
        } else {
            let last = state.last_reads.iter_mut().find(|(reader, _)| *reader == tail.thread);
            if let Some(head) = writer {
                found(Dependency { head, tail, id: PatternId::P2, is_immediate: last.is_none() });
            }
            state.reads.push(tail);
            match last {
                Some((_, index)) => *index = tail.index,
                None => state.last_reads.push((tail.thread, tail.index)),
            }
        }
    }
}

/// Tells `found` each dependency of a run, location by location and by ascending tail in each.
pub(crate) fn each_of_run(histories: &Histories, mut found: impl FnMut(Dependency)) {
    let (mut state, mut entries) = (State::default(), Vec::new());
    for stretch in histories.stretches() {
        entries.clear();
        entries.extend(stretch.iter().map(|&spot| histories.entry(spot)));
        each(&entries, &mut state, &mut found);
    }
}

/// The last write to a location and the reads since.
#[derive(Default)]
pub(crate) struct State {
    writer: Option<Entry>,
    reads: Vec<Entry>,
    /// Each reading thread with its last read.
    last_reads: Vec<(ThreadId, u32)>,
}

impl State {
    fn clear(&mut self) {
        self.writer = None;
        self.reads.clear();
        self.last_reads.clear();
    }
}

/// An occurrence of a dependency: global indices of head and tail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Instance {
    pub location: LocationId,
    pub accesses: [u32; 2],
}

impl Instance {
    /// When it is complete; of several at once, when it began.
    pub fn time(&self) -> [u32; 2] {
        let [head, tail] = self.accesses;
        [tail, head]
    }
}

/// Where dependencies that are alike come, in whichever order these are added.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Places {
    /// The first occurrence.
    pub first: Instance,
    /// The first occurrence on another location.
    pub other: Option<Instance>,
}

impl Places {
    /// One more occurrence.
    pub fn add(&mut self, new: Instance) {
        let Places { first, other } = self;
        keep_earliest(first, other, new, |known| known.location, Instance::time);
    }
}

/// Keeps the earliest of what is alike, and the earliest on another location, in whichever order they come.
#[inline]
pub(crate) fn keep_earliest<T, L: PartialEq, K: Ord>(
    first: &mut T,
    other: &mut Option<T>,
    new: T,
    location: impl Fn(&T) -> L,
    time: impl Fn(&T) -> K,
) {
    let is_earlier = |known: &T| time(&new) < time(known);
    if location(&new) == location(first) {
        if is_earlier(first) {
            *first = new;
        }
    } else if is_earlier(first) {
        *other = Some(std::mem::replace(first, new));
    } else if other.as_ref().is_none_or(is_earlier) {
        *other = Some(new);
    }
}
