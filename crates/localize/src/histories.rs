//! The accesses of a run, location by location: what most techniques go through. A location's state then stays in the
//! processor's cache, and no access has to look it up.

use std::ops::Range;

use rustc_hash::FxHashMap;

use crate::run::{Access, AccessKind, LocationId, Run, SiteId, ThreadId};

/// The accesses to each location, in time order.
#[derive(Debug)]
pub(crate) struct Histories {
    entries: Vec<Entry>,
    /// Where each location begins, and the end.
    starts: Vec<usize>,
    /// Those of one location with no gap among them.
    stretches: Vec<Range<usize>>,
}

/// What techniques need to know of an access.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    /// Its global index. Indices are kept small, since there are many; a run of 2³² accesses would not fit into memory.
    pub index: u32,
    pub thread: ThreadId,
    pub site: SiteId,
    pub kind: AccessKind,
}

impl Entry {
    fn new(index: u32, access: &Access) -> Self {
        Self { index, thread: access.thread, site: access.site, kind: access.kind }
    }
}

impl Histories {
    /// Sorts the accesses of `run`, by counting.
    pub fn of(run: &Run) -> Self {
        let numbers = LocationNumbers::of(run);
        let mut starts = vec![0usize; numbers.count + 1];
        for access in &run.accesses {
            starts[numbers.of_location(access.location) + 1] += 1;
        }
        for location in 0..numbers.count {
            starts[location + 1] += starts[location];
        }
        let Some(first) = run.accesses.first() else {
            return Self { entries: Vec::new(), starts, stretches: Vec::new() };
        };
        let mut next = starts.clone();
        let mut entries = vec![Entry::new(0, first); run.accesses.len()];
        for (index, access) in (0u32..).zip(&run.accesses) {
            let place = &mut next[numbers.of_location(access.location)];
            entries[*place] = Entry::new(index, access);
            *place += 1;
        }
        let mut cuts = starts.clone();
        for gap in &run.gaps {
            if let Some(location) = numbers.find(gap.location) {
                let all = &entries[starts[location]..starts[location + 1]];
                let before = all.partition_point(|entry| (entry.index as usize) < gap.before);
                cuts.push(starts[location] + before);
            }
        }
        cuts.sort_unstable();
        let stretches = cuts.windows(2).map(|ends| ends[0]..ends[1]).filter(|stretch| !stretch.is_empty());
        let stretches = stretches.collect();
        Self { entries, starts, stretches }
    }

    /// All accesses to one location, for each location.
    pub fn locations(&self) -> impl Iterator<Item = &[Entry]> {
        self.starts.windows(2).map(|ends| &self.entries[ends[0]..ends[1]])
    }

    /// The accesses to one location with no gap among them, for each location: nothing may be concluded across a gap.
    pub fn stretches(&self) -> impl Iterator<Item = &[Entry]> {
        self.stretches.iter().map(|stretch| &self.entries[stretch.clone()])
    }
}

/// Locations by number, from 0 on.
pub(crate) struct LocationNumbers {
    /// Empty if locations are numbered well enough by themselves.
    given: FxHashMap<LocationId, usize>,
    pub count: usize,
}

impl LocationNumbers {
    pub fn of(run: &Run) -> Self {
        let most = run.accesses.iter().map(|access| access.location.0).max();
        let count = most.map_or(0, |most| most as usize + 1);
        if count <= 2 * run.accesses.len() + 1024 {
            return Self { given: FxHashMap::default(), count };
        }
        let mut given = FxHashMap::default();
        for access in &run.accesses {
            let next = given.len();
            given.entry(access.location).or_insert(next);
        }
        Self { count: given.len(), given }
    }

    /// The number of a location that is accessed.
    pub fn of_location(&self, location: LocationId) -> usize {
        if self.given.is_empty() { location.0 as usize } else { self.given[&location] }
    }

    /// None if it was never accessed.
    pub fn find(&self, location: LocationId) -> Option<usize> {
        let number = if self.given.is_empty() {
            Some(location.0 as usize)
        } else {
            self.given.get(&location).copied()
        };
        number.filter(|&number| number < self.count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::{Gap, LocksetId, Outcome, RunId, StackId};

    fn run(locations: &[u32], gaps: &[(u32, usize)]) -> Run {
        let mut run = Run::new(RunId(1), Outcome::Pass);
        run.accesses.extend(locations.iter().map(|&location| Access {
            thread: ThreadId(0),
            location: LocationId(location),
            site: SiteId(0),
            stack: StackId(0),
            kind: AccessKind::Read,
            uncertain: false,
            before: None,
            value: None,
            locks: Some(LocksetId(0)),
            iteration: None,
            atomic: false,
            frees: false,
        }));
        run.gaps
            .extend(gaps.iter().map(|&(location, before)| Gap { location: LocationId(location), before }));
        run
    }

    fn indices<'h>(parts: impl Iterator<Item = &'h [Entry]>) -> Vec<Vec<u32>> {
        let mut parts: Vec<Vec<u32>> = parts
            .filter(|part| !part.is_empty())
            .map(|part| part.iter().map(|entry| entry.index).collect())
            .collect();
        parts.sort();
        parts
    }

    #[test]
    fn accesses_stay_in_order_and_are_cut_at_gaps() {
        // Once with numbers that can be indices, and once with some that cannot.
        for far in [2, u32::MAX] {
            let gaps = [(0, 0), (7, 1), (0, 3), (far, 3), (far, 6)];
            let histories = Histories::of(&run(&[0, far, 0, 0, far, far], &gaps));
            assert_eq!(indices(histories.locations()), [vec![0, 2, 3], vec![1, 4, 5]]);
            assert_eq!(indices(histories.stretches()), [vec![0, 2], vec![1], vec![3], vec![4, 5]]);
        }
        assert_eq!(Histories::of(&run(&[], &[(3, 0)])).stretches().count(), 0);
    }
}
