//! Whether two accesses of a thread belong to one round of a loop.
//!
//! A thread that does the first of them again before the second is in another round by then, and so is one that has done the second
//! since the first, if that is a write: in a later round, the first may be left out, while reading may be repeated within a round. That
//! counts only if others have used the location meanwhile: of accesses in one turn it is not known exactly when they came, compared with those to other locations.

use crate::codes::Codes;
use crate::histories::{At, Histories, Spot};
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
    pub fn are_one(&mut self, one: At, other: At) -> bool {
        let (first, second) = if one.index < other.index { (one, other) } else { (other, one) };
        let again = self.again(first);
        self.is_in_round(first.index, again, second)
    }

    /// The same if it is known which comes first and when that is done again. The second stands for its turn, which may have begun
    /// long before.
    pub fn is_in_round(&mut self, first: u32, again: Again, second: At) -> bool {
        let histories = self.histories;
        if let Some(all) = self.all() {
            let writes = histories.moments()[second.index as usize].code.writes();
            let Times { begin, before, .. } = all.times[second.index as usize];
            return again >= Again(begin) && !(writes && before > first + 1);
        }
        let (before, rest) = histories.around(second);
        let is_by_one_thread = |one: &Spot, other: &Spot| is_by_one_thread(histories.codes(), one, other);
        let own_turn = before.iter().rev().take_while(|spot| is_by_one_thread(spot, &rest[0])).count();
        let (earlier, own_turn) = before.split_at(before.len() - own_turn);
        self.looked_at += own_turn.len() + 1;
        let begin = own_turn.first().unwrap_or(&rest[0]).index;
        let writes = rest[0].code.writes();
        if !writes || again < Again(begin) {
            return again >= Again(begin);
        }
        let turns = earlier.chunk_by(is_by_one_thread).rev().inspect(|turn| self.looked_at += turn.len());
        let mut since = turns.take_while(|turn| turn[0].index > first);
        let actor = rest[0].code.actor();
        !since.any(|turn| turn.iter().any(|spot| spot.code.actor() == actor))
    }

    /// When the thread of an access does the same again.
    pub fn again(&mut self, access: At) -> Again {
        if let Some(all) = self.all() {
            return all.times[access.index as usize].again;
        }
        let (codes, (_, rest)) = (self.histories.codes(), self.histories.around(access));
        let own_turn = rest.iter().take_while(|spot| is_by_one_thread(codes, &rest[0], spot)).count();
        let actor = rest[0].code.actor();
        let others = rest[own_turn..].iter().take_while(|spot| spot.code.actor() != actor).count();
        self.looked_at += own_turn + others;
        Again(rest.get(own_turn + others).map_or(u32::MAX, |spot| spot.index))
    }

    /// What is known of all accesses, once it is worth it.
    fn all(&mut self) -> Option<&All> {
        if self.all.is_none() && self.looked_at > LOOKS * self.histories.moments().len() {
            self.all = Some(All::of(self.histories));
        }
        self.all.as_ref()
    }
}

fn is_by_one_thread(codes: &Codes, one: &Spot, other: &Spot) -> bool {
    codes.thread_number(one.code) == codes.thread_number(other.code)
}

impl All {
    fn of(histories: &Histories) -> Self {
        let mut times: Vec<Times> = spare::take();
        times.resize(histories.moments().len(), Times { again: Again(u32::MAX), begin: 0, before: 0 });
        let codes = histories.codes();
        let mut known = Known::new(codes.actor_count());
        for location in histories.locations() {
            let turns = || location.chunk_by(|one, next| is_by_one_thread(codes, one, next));
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

/// What is known of each actor at one location, whose turns are gone through one after another. Runs have so many locations, most of
/// them with few accesses, that to empty a list for each would take longest: here, what is left of earlier locations does not count.
struct Known {
    /// By actor.
    places: Vec<Place>,
    location: u32,
}

#[derive(Clone, Copy, Default)]
struct Place {
    location: u32,
    /// Its last turn so far, and the time of that.
    turn: u32,
    time: u32,
    /// The time of its last turn before.
    earlier: Option<u32>,
}

impl Known {
    fn new(actors: usize) -> Self {
        Self { places: vec![Place::default(); actors], location: 0 }
    }

    fn begin_location(&mut self) {
        self.location += 1;
    }

    /// Notes a time for what an access in this turn does, and gives the one that was noted last for the same in a turn before.
    #[inline]
    fn in_earlier_turns(&mut self, access: &Spot, turn: u32, time: u32) -> Option<u32> {
        let place = &mut self.places[access.code.actor()];
        let earlier = match *place {
            known if known.location != self.location => None,
            known if known.turn == turn => known.earlier,
            known => Some(known.time),
        };
        *place = Place { location: self.location, turn, time, earlier };
        earlier
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::{
        Access, AccessKind, LocationId, LocksetId, Outcome, Run, RunId, SiteId, StackId, ThreadId,
    };

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
                let [access, other] = [access, other]
                    .map(|index| At { index, location: histories.moments()[index as usize].location });
                for rounds in [&mut Rounds::of(&histories), &mut all_along] {
                    let again = rounds.again(access);
                    assert_eq!(again, known.again(access), "{access:?}");
                    for again in [again, Again(u32::MAX)] {
                        let is_in_round = rounds.is_in_round(access.index, again, other);
                        assert_eq!(
                            is_in_round,
                            known.is_in_round(access.index, again, other),
                            "{access:?} {other:?}"
                        );
                    }
                }
            }
            assert!(length < 20 || all_along.all.is_some(), "no more lookups than are worth it");
        }
    }
}
