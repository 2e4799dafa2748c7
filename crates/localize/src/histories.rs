//! The accesses of a run as techniques go through them: in few bytes each, by time and location by location. A location's
//! state then stays in the processor's cache, and no access has to look it up.

use std::ops::Range;

use rustc_hash::FxHashMap;

use crate::codes::{Code, Codes};
use crate::run::{Access, AccessKind, LocationId, Run, SiteId, ThreadId};
use crate::spare;

/// The accesses by time, and those to each location by time.
#[derive(Debug)]
pub(crate) struct Histories {
    moments: Vec<Moment>,
    spots: Vec<Spot>,
    /// Where each access stands among the spots, by its global index.
    places: Vec<u32>,
    /// Where each location begins, and the end.
    starts: Vec<u32>,
    /// Those of one location with no gap among them.
    stretches: Vec<Range<u32>>,
    numbers: LocationNumbers,
    codes: Codes,
    has_loops: bool,
}

/// What techniques need to know of an access that they come to by time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment {
    /// The number of its location.
    pub location: u32,
    pub code: Code,
}

/// What they need to know of one that they come to by location.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spot {
    /// Its global index. Indices are kept small, since there are many; a run of 2³² accesses would not fit into memory.
    pub index: u32,
    pub code: Code,
}

/// The same with what its code means.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    pub index: u32,
    pub thread: ThreadId,
    pub site: SiteId,
    pub kind: AccessKind,
}

/// An access, told by its global index, whose location is known.
#[derive(Clone, Copy, Debug)]
pub(crate) struct At {
    pub index: u32,
    /// The number of its location.
    pub location: u32,
}

impl Histories {
    /// Sorts the accesses of `run`, by counting.
    pub fn of(run: &Run) -> Self {
        let mut numbers = LocationNumbers::Own;
        let Numbered { moments, mut starts, codes, has_loops } =
            numbered(run, &mut numbers).unwrap_or_else(|| {
                numbers = LocationNumbers::Given(FxHashMap::default());
                numbered(run, &mut numbers).unwrap_or_default()
            });
        for location in 1..starts.len() {
            starts[location] += starts[location - 1];
        }
        let (spots, places) = by_location(&moments, starts.clone());
        let mut cuts = starts.clone();
        for gap in &run.gaps {
            if let Some(location) = numbers.find(gap.location).filter(|&location| location + 1 < starts.len())
            {
                let all = &spots[starts[location] as usize..starts[location + 1] as usize];
                let before = all.partition_point(|spot| (spot.index as usize) < gap.before);
                cuts.push(starts[location] + before as u32);
            }
        }
        cuts.sort_unstable();
        let stretches = cuts.windows(2).map(|ends| ends[0]..ends[1]).filter(|stretch| !stretch.is_empty());
        let stretches = stretches.collect();
        Self { moments, spots, places, starts, stretches, numbers, codes, has_loops }
    }

    /// All accesses, in time order.
    pub fn moments(&self) -> &[Moment] {
        &self.moments
    }

    /// Whether some access is known to be in a loop.
    pub fn has_loops(&self) -> bool {
        self.has_loops
    }

    /// All locations have smaller numbers.
    pub fn location_count(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// The number of a location, if it was accessed.
    pub fn number_of(&self, location: LocationId) -> Option<usize> {
        self.numbers.find(location).filter(|&number| number < self.location_count())
    }

    /// Whether the access with this global index is the first to its location.
    pub fn is_first(&self, index: u32) -> bool {
        let (before, _) = self.around(At { index, location: self.moments[index as usize].location });
        before.is_empty()
    }

    /// Whether the second of two accesses to one location, by global index, is the next one after the first.
    pub fn is_next(&self, first: u32, second: u32) -> bool {
        self.places[second as usize] == self.places[first as usize] + 1
    }

    /// The accesses to its location before an access, and those from it on.
    pub fn around(&self, access: At) -> (&[Spot], &[Spot]) {
        let location = access.location as usize;
        let [start, end] = [self.starts[location], self.starts[location + 1]].map(|place| place as usize);
        let place = self.places[access.index as usize] as usize;
        (&self.spots[start..place], &self.spots[place..end])
    }

    /// Has the processor fetch what [`Self::around`] tells of accesses: of the first of each two what follows, of the second what comes
    /// before. All at once: to look at them one by one, it would wait for each.
    pub fn fetch(&self, accesses: impl Iterator<Item = [At; 2]> + Clone) {
        let places = accesses.map(|accesses| accesses.map(|access| self.places[access.index as usize]));
        std::hint::black_box(places.clone().fold(0, |all, [first, second]| all ^ first ^ second));
        // A line of the cache has eight spots.
        let spot = |place: u32| self.spots.get(place as usize).map_or(0, |spot| spot.index);
        let spots = places.map(|[first, second]| {
            spot(first) ^ spot(first.saturating_add(8)) ^ spot(second) ^ spot(second.saturating_sub(8))
        });
        std::hint::black_box(spots.fold(0, |all, spot| all ^ spot));
    }

    /// All accesses to one location, for each location.
    pub fn locations(&self) -> impl Iterator<Item = &[Spot]> {
        self.starts.windows(2).map(|ends| &self.spots[ends[0] as usize..ends[1] as usize])
    }

    /// The accesses to one location with no gap among them, for each location: nothing may be concluded across a gap.
    pub fn stretches(&self) -> impl Iterator<Item = &[Spot]> {
        self.stretches.iter().map(|stretch| &self.spots[stretch.start as usize..stretch.end as usize])
    }

    /// All accesses, location by location: the stretches, one after another.
    pub fn spots(&self) -> &[Spot] {
        &self.spots
    }

    /// What the accesses' codes mean.
    pub fn codes(&self) -> &Codes {
        &self.codes
    }

    /// An access with what its code means.
    pub fn entry(&self, Spot { index, code }: Spot) -> Entry {
        Entry { index, thread: self.codes.thread(code), site: self.codes.site(code), kind: code.kind() }
    }
}

#[derive(Default)]
struct Numbered {
    moments: Vec<Moment>,
    /// Behind 0 how many there are to each location.
    starts: Vec<u32>,
    codes: Codes,
    has_loops: bool,
}

/// The accesses in few bytes each. Nothing if the locations have no small numbers. Goes through the accesses only once: they are far
/// larger than any cache.
fn numbered(run: &Run, numbers: &mut LocationNumbers) -> Option<Numbered> {
    let most = 2 * run.accesses.len() + 1024;
    let mut moments = spare::take();
    moments.reserve(run.accesses.len());
    let mut counts: Vec<u32> = Vec::new();
    let mut codes = Codes::default();
    let mut has_loops = false;
    for &Access { thread, location, site, kind, iteration, .. } in &run.accesses {
        has_loops |= iteration.is_some();
        let location = numbers.add(location);
        if counts.len() < location + 2 {
            if location >= most {
                return None;
            }
            counts.resize(location + 2, 0);
        }
        counts[location + 1] += 1;
        moments.push(Moment { location: location as u32, code: codes.add(thread, site, kind) });
    }
    Some(Numbered { moments, starts: counts, codes, has_loops })
}

impl Drop for Histories {
    fn drop(&mut self) {
        spare::give(std::mem::take(&mut self.moments));
        spare::give(std::mem::take(&mut self.spots));
        spare::give(std::mem::take(&mut self.places));
    }
}

/// So many accesses are put in their places at a time.
const FETCHED: usize = 64;

/// Puts the accesses to each location where it begins, and tells where each has come.
fn by_location(moments: &[Moment], mut next: Vec<u32>) -> (Vec<Spot>, Vec<u32>) {
    let Some(first) = moments.first() else { return (Vec::new(), Vec::new()) };
    let mut spots = spare::take_filled(moments.len(), Spot { index: 0, code: first.code });
    let mut places = spare::take();
    places.reserve(moments.len());
    let mut index = 0;
    for some in moments.chunks(FETCHED) {
        // The processor goes for the places of all of these at once, in place of waiting for each.
        let fetched = some.iter().map(|moment| spots[next[moment.location as usize] as usize].index);
        std::hint::black_box(fetched.fold(0, |all, index| all ^ index));
        for &Moment { location, code } in some {
            let place = &mut next[location as usize];
            spots[*place as usize] = Spot { index, code };
            places.push(*place);
            *place += 1;
            index += 1;
        }
    }
    (spots, places)
}

/// Locations by number, from 0 on.
#[derive(Debug)]
enum LocationNumbers {
    /// They are numbered well enough by themselves.
    Own,
    /// In the order in which they come.
    Given(FxHashMap<LocationId, usize>),
}

impl LocationNumbers {
    /// The number of a location that is accessed.
    fn add(&mut self, location: LocationId) -> usize {
        match self {
            Self::Own => location.0 as usize,
            Self::Given(given) => {
                let next = given.len();
                *given.entry(location).or_insert(next)
            }
        }
    }

    /// None if it was never accessed; but it may be none of those that were.
    fn find(&self, location: LocationId) -> Option<usize> {
        match self {
            Self::Own => Some(location.0 as usize),
            Self::Given(given) => given.get(&location).copied(),
        }
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

    fn indices<'h>(parts: impl Iterator<Item = &'h [Spot]>) -> Vec<Vec<u32>> {
        let mut parts: Vec<Vec<u32>> = parts
            .filter(|part| !part.is_empty())
            .map(|part| part.iter().map(|spot| spot.index).collect())
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
