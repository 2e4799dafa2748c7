//! Whether two accesses of a thread belong to one round of a loop.
//!
//! A thread that does the first of them again before the second is in another round by then, and so is one that has done the second
//! since the first, if that is a write: in a later round, the first may be left out, while reading may be repeated within a round. That counts only if others have used the
//! location meanwhile: of accesses in one turn it is not known exactly when they came, compared with those to other locations.

use crate::histories::{Entry, Histories};
use crate::run::{SiteId, ThreadId};
use crate::spare;

/// For each access, when the same thread does the same again in a later turn: at the same site, to the same location.
pub(super) struct Rounds<'h> {
    histories: &'h Histories,
    /// That, or the highest number if it never does; and when its own turn begins.
    times: Vec<[u32; 2]>,
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
        let mut times: Vec<[u32; 2]> = spare::take();
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
        Self { histories, times }
    }

    /// When the thread does the same again.
    pub fn again(&self, access: u32) -> u32 {
        self.times[access as usize][0]
    }

    /// Whether two accesses of a thread are of one round. The later one stands for its turn, which may have begun long before.
    pub fn are_one(&self, one: u32, other: u32) -> bool {
        let (first, second) = (one.min(other), one.max(other));
        self.again(first) >= self.times[second as usize][1] && !self.is_done_since(first, second)
    }

    /// Whether the thread has done the second, a write, in an earlier turn, one that began after the first. Few are asked about, so they are
    /// looked for.
    fn is_done_since(&self, first: u32, second: u32) -> bool {
        let own = &self.histories.moments()[second as usize];
        if !own.kind.writes() {
            return false;
        }
        let turns = self.histories.before(second).chunk_by(|one, next| one.thread == next.thread).rev();
        let is_own =
            |turn: &[Entry]| turn.iter().any(|entry| (entry.thread, entry.site) == (own.thread, own.site));
        let began_since = turns.take_while(|turn| turn[0].index > first);
        began_since.filter(|turn| turn[0].index < self.times[second as usize][1]).any(is_own)
    }
}

impl Drop for Rounds<'_> {
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
