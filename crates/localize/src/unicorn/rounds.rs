//! Whether two accesses of a thread belong to one round of a loop.
//!
//! A thread that does the first of them again before the second is in another round by then, and so is one that has done the second
//! since the first, if that is a write: in a later round, the first may be left out, while reading may be repeated within a round. That
//! counts only if others have used the location meanwhile: of accesses in one turn it is not known exactly when they came, compared with those to other locations.

use crate::histories::{Entry, Histories};
use crate::run::{SiteId, ThreadId};
use crate::spare;

/// To look at an access so many times takes as long as to know when it comes again (measured in instructions).
const LOOKS: usize = 8;

/// Whether a thread does the same again in a later turn: at the same site, to the same location. Few accesses are asked about in most
/// runs, so that each is looked up; once that has taken as long as to know it of all, all are.
pub(super) struct Rounds<'h> {
    histories: &'h Histories,
    /// How many accesses lookups have gone through.
    looked_at: usize,
    all: Option<All>,
}

/// When the thread does the same again, or the highest number if it never does; and when its own turn begins.
type Times = [u32; 2];

/// Of each access.
struct All {
    times: Vec<Times>,
}

/// The next time that a thread does something, in which turn, and when it does so in a turn after that.
#[derive(Clone, Copy)]
struct Next {
    index: u32,
    turn: u32,
    again: u32,
}

impl Next {
    const NEVER: Self = Self { index: u32::MAX, turn: u32::MAX, again: u32::MAX };
}

impl<'h> Rounds<'h> {
    pub fn of(histories: &'h Histories) -> Self {
        Self { histories, looked_at: 0, all: None }
    }

    /// Whether two accesses of a thread are of one round. The later one stands for its turn, which may have begun long before.
    pub fn are_one(&mut self, one: u32, other: u32) -> bool {
        let (first, second) = (one.min(other), one.max(other));
        let begin = self.turn_of(second);
        !self.is_repeated(first, begin) && !self.is_done_since(first, second, begin)
    }

    /// Whether the thread has done the second, a write whose turn begins at `begin`, in an earlier turn, one that began after the
    /// first.
    fn is_done_since(&mut self, first: u32, second: u32, begin: u32) -> bool {
        let own = self.histories.moments()[second as usize];
        if !own.kind.writes() {
            return false;
        }
        let (before, _) = self.around(second);
        let (until_first, since) = before.split_at(before.partition_point(|entry| entry.index <= first));
        let earlier = &since[..since.partition_point(|entry| entry.index < begin)];
        // Whoever was there already has begun that turn before the first.
        let there = until_first.last().map(|entry| entry.thread);
        let mut begun_since = earlier.iter().skip_while(|entry| Some(entry.thread) == there);
        begun_since.any(|entry| (entry.thread, entry.site) == (own.thread, own.site))
    }

    /// Whether the thread of an access does the same again before the access with the index `before`.
    pub fn is_repeated(&mut self, access: u32, before: u32) -> bool {
        if let Some(all) = self.all() {
            return all.times[access as usize][0] < before;
        }
        let (_, rest) = self.around(access);
        let Entry { thread, site, .. } = rest[0];
        let mut looked_at = 0;
        let meanwhile = rest.iter().take_while(|entry| entry.index < before).inspect(|_| looked_at += 1);
        let mut others_since = meanwhile.skip_while(|entry| entry.thread == thread);
        let is_repeated = others_since.any(|entry| (entry.thread, entry.site) == (thread, site));
        self.looked_at += looked_at;
        is_repeated
    }

    /// When the turn of an access begins.
    fn turn_of(&mut self, access: u32) -> u32 {
        if let Some(all) = self.all() {
            return all.times[access as usize][1];
        }
        let (before, rest) = self.around(access);
        let of_turn = before.iter().rev().take_while(|entry| entry.thread == rest[0].thread);
        let (length, begin) = of_turn.fold((0, access), |(length, _), entry| (length + 1, entry.index));
        self.looked_at += length;
        begin
    }

    /// What is known of all accesses, once it is worth it.
    fn all(&mut self) -> Option<&All> {
        if self.all.is_none() && self.looked_at > LOOKS * self.histories.moments().len() {
            self.all = Some(All::of(self.histories));
        }
        self.all.as_ref()
    }

    /// The accesses to its location before an access, and those from it on.
    fn around(&mut self, access: u32) -> (&'h [Entry], &'h [Entry]) {
        let location = self.histories.location_of(access);
        self.looked_at += location.len().ilog2() as usize + 1;
        location.split_at(location.partition_point(|entry| entry.index < access))
    }
}

impl All {
    fn of(histories: &Histories) -> Self {
        let mut times: Vec<Times> = spare::take();
        times.resize(histories.moments().len(), [u32::MAX, 0]);
        let mut known = Known::new();
        for location in histories.locations() {
            known.begin_location();
            let turns = location.chunk_by(|one, next| one.thread == next.thread);
            for (number, turn) in (0u32..).zip(turns.rev()) {
                for entry in turn.iter().rev() {
                    let next = known.next(entry.thread, entry.site);
                    let again = if next.turn == number { next.again } else { next.index };
                    times[entry.index as usize] = [again, turn[0].index];
                    *next = Next { index: entry.index, turn: number, again };
                }
            }
        }
        Self { times }
    }
}

impl Drop for All {
    fn drop(&mut self) {
        spare::give(std::mem::take(&mut self.times));
    }
}

/// What is known of each thread at each site of one location. Runs have so many locations, most of them with few accesses, that
/// to empty a map for each would take longest: here, what is left of earlier locations counts as free.
struct Known {
    /// Each where its hash says or behind. Their number is a power of two, and at least half of them are free.
    places: Vec<Place>,
    location: u32,
    /// Those of the location at hand.
    used: usize,
}

#[derive(Clone, Copy)]
struct Place {
    location: u32,
    thread: ThreadId,
    site: SiteId,
    next: Next,
}

impl Known {
    fn new() -> Self {
        Self { places: vec![Place::FREE; 16], location: 0, used: 0 }
    }

    fn begin_location(&mut self) {
        self.location += 1;
        self.used = 0;
    }

    /// When a thread comes to a site next, to be changed.
    #[inline]
    fn next(&mut self, thread: ThreadId, site: SiteId) -> &mut Next {
        let mut at = self.find(thread, site);
        if self.places[at].location != self.location {
            if 2 * self.used >= self.places.len() {
                self.grow();
                at = self.find(thread, site);
            }
            self.places[at] = Place { location: self.location, thread, site, next: Next::NEVER };
            self.used += 1;
        }
        &mut self.places[at].next
    }

    /// Where it is, or would be.
    #[inline]
    fn find(&self, thread: ThreadId, site: SiteId) -> usize {
        // The multiplier of SplitMix64; the upper half of a product is the one that all bits reach.
        let hash = (u64::from(thread.0) << 32 | u64::from(site.0)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut at = (hash >> 32) as usize & (self.places.len() - 1);
        while let place = &self.places[at]
            && place.location == self.location
            && (place.thread, place.site) != (thread, site)
        {
            at = (at + 1) & (self.places.len() - 1);
        }
        at
    }

    #[cold]
    fn grow(&mut self) {
        let larger = vec![Place::FREE; 4 * self.places.len()];
        let known = std::mem::replace(&mut self.places, larger);
        for place in known.into_iter().filter(|place| place.location == self.location) {
            let at = self.find(place.thread, place.site);
            self.places[at] = place;
        }
    }
}

impl Place {
    const FREE: Self = Self { location: 0, thread: ThreadId(0), site: SiteId(0), next: Next::NEVER };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::{Access, AccessKind, LocationId, LocksetId, Outcome, Run, RunId, StackId};

    /// What is looked up one by one is what is known of all.
    #[test]
    fn lookups_tell_what_is_known_of_all() {
        let mut random = 1u32;
        let mut below = |bound: u32| {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (random >> 16) % bound
        };
        for length in 0..100u32 {
            let mut run = Run::new(RunId(1), Outcome::Pass);
            run.accesses.extend((0..length).map(|_| Access {
                thread: ThreadId(below(3)),
                location: LocationId(below(4)),
                site: SiteId(below(3)),
                stack: StackId(0),
                kind: AccessKind::Read,
                uncertain: false,
                value: None,
                before: None,
                locks: Some(LocksetId(0)),
                iteration: None,
                atomic: false,
                frees: false,
            }));
            let histories = Histories::of(&run);
            let all = All::of(&histories);
            for (access, &[again, begin]) in (0..length).zip(&all.times) {
                for before in access + 1..length {
                    let mut rounds = Rounds::of(&histories);
                    assert_eq!(rounds.is_repeated(access, before), again < before, "{access} {before}");
                    assert_eq!(rounds.turn_of(access), begin, "{access}");
                }
            }
            let mut rounds = Rounds::of(&histories);
            for access in (0..length).cycle().take(1000) {
                assert_eq!(rounds.is_repeated(access, length), all.times[access as usize][0] < length);
                assert_eq!(rounds.turn_of(access), all.times[access as usize][1]);
            }
            assert!(length == 0 || rounds.all.is_some(), "no more lookups than are worth it");
        }
    }
}
