//! Whether two accesses of a thread belong to one round of a loop.
//!
//! A thread that does the first of them again before the second is in another round by then, and so is one that has done the second
//! since the first, if that is a write: in a later round, the first may be left out, while reading may be repeated within a round. That
//! counts only if others have used the location meanwhile: of accesses in one turn it is not known exactly when they came, compared with those to other locations.

use crate::histories::{Entry, Histories};
use crate::run::{SiteId, ThreadId};
use crate::spare;

/// To look at an access so many times takes as long as to know all about it (measured in instructions).
const LOOKS: usize = 8;

/// Whether a thread does the same again in a later turn: at the same site, to the same location. Few accesses are asked about in most
/// runs, so that each is looked up; once that has taken as long as to know it of all, all are.
pub(super) struct Rounds<'h> {
    histories: &'h Histories,
    /// How many accesses lookups have gone through.
    looked_at: usize,
    all: Option<All>,
}

/// When the thread of an access does the same in a later turn: the highest number if it never does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Again(pub u32);

/// What is known of an access.
#[derive(Clone, Copy, Debug)]
struct Times {
    again: Again,
    /// When its turn begins.
    begin: u32,
    /// One more than when the last of the earlier turns began in which the thread did the same; 0 if there is none.
    before: u32,
}

/// Of each access.
struct All {
    times: Vec<Times>,
}

impl<'h> Rounds<'h> {
    pub fn of(histories: &'h Histories) -> Self {
        Self { histories, looked_at: 0, all: None }
    }

    /// Whether two accesses of a thread are of one round.
    pub fn are_one(&mut self, one: u32, other: u32) -> bool {
        let (first, second) = (one.min(other), one.max(other));
        let again = self.again(first);
        self.is_in_round(first, again, second)
    }

    /// The same if it is known which comes first and when that is done again. The second stands for its turn, which may have begun
    /// long before.
    pub fn is_in_round(&mut self, first: u32, again: Again, second: u32) -> bool {
        again >= Again(self.begin(second)) && !self.is_done_since(first, second)
    }

    /// When the thread of an access does the same again.
    pub fn again(&mut self, access: u32) -> Again {
        if let Some(all) = self.all() {
            return all.times[access as usize].again;
        }
        let (_, rest) = self.histories.around(access);
        let Entry { thread, site, .. } = rest[0];
        let mut looked_at = 0;
        let mut others_since =
            rest.iter().inspect(|_| looked_at += 1).skip_while(|entry| entry.thread == thread);
        let same = others_since.find(|entry| (entry.thread, entry.site) == (thread, site));
        self.looked_at += looked_at;
        Again(same.map_or(u32::MAX, |entry| entry.index))
    }

    /// When the turn of an access begins.
    fn begin(&mut self, access: u32) -> u32 {
        if let Some(all) = self.all() {
            return all.times[access as usize].begin;
        }
        let (before, rest) = self.histories.around(access);
        let length = length_of_turn(before, rest[0].thread);
        self.looked_at += length + 1;
        before[before.len() - length..].first().map_or(access, |entry| entry.index)
    }

    /// Whether the thread has done the second, a write, in an earlier turn, one that began after the first.
    fn is_done_since(&mut self, first: u32, second: u32) -> bool {
        let (before, rest) = self.histories.around(second);
        let Entry { thread, site, kind, .. } = rest[0];
        if !kind.writes() {
            return false;
        }
        if let Some(all) = self.all() {
            return all.times[second as usize].before > first + 1;
        }
        let earlier = &before[..before.len() - length_of_turn(before, thread)];
        let turns = earlier.chunk_by(|one, next| one.thread == next.thread).rev();
        let mut since =
            turns.inspect(|turn| self.looked_at += turn.len()).take_while(|turn| turn[0].index > first);
        since.any(|turn| turn[0].thread == thread && turn.iter().any(|entry| entry.site == site))
    }

    /// What is known of all accesses, once it is worth it.
    fn all(&mut self) -> Option<&All> {
        if self.all.is_none() && self.looked_at > LOOKS * self.histories.moments().len() {
            self.all = Some(All::of(self.histories));
        }
        self.all.as_ref()
    }
}

/// How many of the latest accesses are by this thread.
fn length_of_turn(accesses: &[Entry], thread: ThreadId) -> usize {
    accesses.iter().rev().take_while(|entry| entry.thread == thread).count()
}

impl All {
    fn of(histories: &Histories) -> Self {
        let mut times: Vec<Times> = spare::take();
        times.resize(histories.moments().len(), Times { again: Again(u32::MAX), begin: 0, before: 0 });
        let mut known = Known::new();
        for location in histories.locations() {
            let turns = || location.chunk_by(|one, next| one.thread == next.thread);
            known.begin_location();
            for (number, turn) in (0u32..).zip(turns()) {
                for entry in turn {
                    let times = &mut times[entry.index as usize];
                    times.begin = turn[0].index;
                    times.before = known.in_earlier_turns(entry, number, turn[0].index + 1).unwrap_or(0);
                }
            }
            known.begin_location();
            for (number, turn) in (0u32..).zip(turns().rev()) {
                for entry in turn.iter().rev() {
                    let later = known.in_earlier_turns(entry, number, entry.index);
                    times[entry.index as usize].again = Again(later.unwrap_or(u32::MAX));
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

/// What is known of each thread at each site of one location, whose turns are gone through one after another. Runs have so many
/// locations, most of them with few accesses, that to empty a map for each would take longest: here, what is left of earlier locations
/// counts as free.
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
    /// In which turn that was last, and its time.
    turn: u32,
    time: u32,
    /// The time of the last turn before.
    earlier: Option<u32>,
}

impl Known {
    fn new() -> Self {
        Self { places: vec![Place::FREE; 16], location: 0, used: 0 }
    }

    fn begin_location(&mut self) {
        self.location += 1;
        self.used = 0;
    }

    /// Notes a time for what an access in this turn does, and gives the one that was noted last for the same in a turn before.
    #[inline]
    fn in_earlier_turns(&mut self, access: &Entry, turn: u32, time: u32) -> Option<u32> {
        let Entry { thread, site, .. } = *access;
        let mut at = self.find(thread, site);
        let is_new = self.places[at].location != self.location;
        if is_new && 2 * self.used >= self.places.len() {
            self.grow();
            at = self.find(thread, site);
        }
        self.used += usize::from(is_new);
        let place = &mut self.places[at];
        let earlier = match *place {
            _ if is_new => None,
            known if known.turn == turn => known.earlier,
            known => Some(known.time),
        };
        *place = Place { location: self.location, thread, site, turn, time, earlier };
        earlier
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
    const FREE: Self =
        Self { location: 0, thread: ThreadId(0), site: SiteId(0), turn: 0, time: 0, earlier: None };
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
                kind: if below(2) == 0 { AccessKind::Read } else { AccessKind::Write },
                uncertain: false,
                value: None,
                before: None,
                locks: Some(LocksetId(0)),
                iteration: None,
                atomic: false,
                frees: false,
            }));
            let histories = Histories::of(&run);
            let mut known = Rounds { all: Some(All::of(&histories)), ..Rounds::of(&histories) };
            let mut all_along = Rounds::of(&histories);
            for (access, other) in (0..length).flat_map(|one| (one..length).map(move |other| (one, other))) {
                for rounds in [&mut Rounds::of(&histories), &mut all_along] {
                    assert_eq!(rounds.again(access), known.again(access), "{access}");
                    assert_eq!(rounds.begin(access), known.begin(access), "{access}");
                    let is_done = rounds.is_done_since(access, other);
                    assert_eq!(is_done, known.is_done_since(access, other), "{access} {other}");
                }
            }
            assert!(length < 20 || all_along.all.is_some(), "no more lookups than are worth it");
        }
    }
}
