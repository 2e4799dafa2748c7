//! What to do about a finding, as far as its facts tell. Silence is better than wrong advice: a rule that does not
//! fit without doubt gives none.

use super::facts::{Fact, Witness};
use super::fix::{Action, Fix, Span, distinct};
use super::outdated::look_before;
use crate::retest::tests_again;
use crate::run::{Access, AccessKind, LocationId, ThreadId};
use crate::standstill;
use crate::synchronization::{Lock, ObjectId, Sleep, SyncEvent, SyncKind, SyncTarget, Wait};

/// What to do about the accesses with these indices, in time order. `belongs` tells whether a lock is part of the same
/// object as a location.
pub fn advise(
    witness: &Witness<'_>,
    accesses: &[usize],
    facts: &[Fact],
    belongs: &dyn Fn(ObjectId, LocationId) -> bool,
) -> Option<Fix> {
    let threads: Vec<_> = accesses.iter().map(|&index| witness.run.accesses[index].thread).collect();
    let case = Case { witness, accesses, facts, belongs };
    match threads.as_slice() {
        [a, b] if a != b => case.order(),
        [a, b, c] if a == c && a != b => case.region(),
        [a, b, c, d] if a != b && [a, b].contains(&c) && [a, b].contains(&d) && c != d => {
            case.two_variables()
        }
        [a, b, c, d] if a == d && ![b, c].contains(&a) && b != c => case.two_variables(),
        _ => None,
    }
}

struct Case<'a> {
    witness: &'a Witness<'a>,
    accesses: &'a [usize],
    facts: &'a [Fact],
    belongs: &'a dyn Fn(ObjectId, LocationId) -> bool,
}

const REGION: Span = Span { from: 0, to: 2 };
const OTHER: Span = Span { from: 1, to: 1 };

impl Case<'_> {
    /// Another thread came between two accesses to one location.
    fn region(&self) -> Option<Fix> {
        let fix = self.region_alone()?;
        if !self.can_be_locked(&fix) {
            return self.tested_before_the_wait(&fix);
        }
        let read_before = if fix.spans.contains(&OTHER) { self.read_before() } else { None };
        Some(Fix { read_before, ..fix })
    }

    /// The same, whatever the other thread did before.
    fn region_alone(&self) -> Option<Fix> {
        if let Some(fix) = self.created_in_between().or_else(|| self.unknown_at_first()) {
            return Some(fix);
        }
        let held: Vec<Vec<ObjectId>> = (0..3).map(|place| self.held(place)).collect::<Option<_>>()?;
        for fact in self.facts {
            if let Fact::ReleasedBetween { lock, from: 0, to: 2 } = fact
                && held[1].contains(lock)
            {
                return Some(
                    self.written_over(*lock)
                        .unwrap_or_else(|| Fix::plain(Action::ExtendLock, vec![*lock], vec![REGION])),
                );
            }
        }
        if let Some(fix) = self.lock_of_the_object(&held) {
            return Some(fix);
        }
        // The other thread holds a lock, and the region does not hold it all the time.
        if let Some(&lock) = held[1].first() {
            let within = [0, 2].map(|place| held[place].contains(&lock));
            return match within {
                [false, false] if held[0].is_empty() && held[2].is_empty() => {
                    Some(Fix::plain(Action::TakeLock, vec![lock], vec![REGION]))
                }
                [true, false] | [false, true] => {
                    Some(Fix::plain(Action::ExtendLock, vec![lock], vec![REGION]))
                }
                _ => Some(Fix::plain(Action::UseOneLock, distinct(held.concat()), vec![REGION, OTHER])),
            };
        }
        // The region holds a lock, and the other thread does not.
        if let Some(&lock) = held[0].iter().find(|lock| held[2].contains(lock)) {
            return Some(Fix::plain(Action::TakeLock, vec![lock], vec![OTHER]));
        }
        if let Some(lock) = self.usual_lock() {
            return Some(Fix::plain(Action::TakeLock, vec![lock], vec![REGION, OTHER]));
        }
        // Of a region that a lock is held at the beginning or the end of, and of the other thread's access, all need one.
        if !held[0].is_empty() || !held[2].is_empty() {
            let is_bare = self.facts.iter().any(|fact| matches!(fact, Fact::NoCommonLock { .. }));
            return is_bare
                .then(|| Fix::plain(Action::UseOneLock, distinct(held.concat()), vec![REGION, OTHER]));
        }
        if self.witness.is_atomic(self.accesses[0]) {
            let reads_then_writes = self.access(0).kind == AccessKind::Read && self.access(2).kind.writes();
            let looks_twice = [0, 2].iter().all(|&place| self.access(place).kind == AccessKind::Read)
                && self.access(0).site != self.access(2).site;
            let action = match (reads_then_writes, looks_twice) {
                (true, _) => Action::AtomicOperation,
                (_, true) => Action::ReadOnce,
                _ => return None,
            };
            return Some(Fix::plain(action, vec![], vec![REGION]));
        }
        self.is_unlocked().then(|| Fix::plain(Action::AddLock, vec![], vec![REGION, OTHER]))
    }

    /// A thread writes, as to say that it is at work, gives the lock back for that, and writes again when it is done, whatever another one has written
    /// meanwhile. What it does without the lock may take long, or take the lock itself. The same write again is a loop's next round.
    fn written_over(&self, lock: ObjectId) -> Option<Fix> {
        let is_blind = [0, 1, 2].iter().all(|&place| self.access(place).kind == AccessKind::Write)
            && self.access(0).site != self.access(2).site;
        let spans = [2, 0].map(|place| Span { from: place, to: place });
        is_blind.then(|| Fix::plain(Action::LookAgain, vec![lock], spans.to_vec()))
    }

    /// A thread wrote, created another and wrote again, and the other one read what was there before.
    fn created_in_between(&self) -> Option<Fix> {
        let kinds = [0, 1, 2].map(|place| self.access(place).kind.writes());
        let event = self.facts.iter().find_map(|fact| match fact {
            Fact::CreatedBefore { creator: 2, created: 1, event } => Some(*event),
            _ => None,
        })?;
        let after_first = self.witness.run.synchronization[event].before > self.accesses[0];
        let spans = vec![Span { from: 2, to: 2 }, OTHER];
        (kinds == [true, false, true] && after_first)
            .then(|| Fix { creation: Some(event), ..Fix::plain(Action::CreateLater, vec![], spans) })
    }

    /// Of the first turn at a location the recorder keeps no locks. Even so, a lock that another thread holds in between
    /// was not held throughout.
    fn unknown_at_first(&self) -> Option<Fix> {
        self.facts.iter().find_map(|fact| match fact {
            Fact::TakenBetween { lock, from: 0, to: 2, .. } => {
                Some(Fix::plain(Action::ExtendLock, vec![*lock], vec![REGION]))
            }
            _ => None,
        })
    }

    /// Both threads hold a lock, but not the same, and one of these is part of the object that they access.
    fn lock_of_the_object(&self, held: &[Vec<ObjectId>]) -> Option<Fix> {
        let location = self.access(0).location;
        let belongs = |lock: &ObjectId| (self.belongs)(*lock, location);
        let over_region = held[0].iter().copied().filter(|lock| held[2].contains(lock));
        let own: Vec<ObjectId> = over_region.filter(belongs).collect();
        let others: Vec<ObjectId> = held[1].iter().copied().filter(belongs).collect();
        match (own.as_slice(), others.as_slice()) {
            ([lock], []) if !held[1].is_empty() && !self.is_released(*lock, REGION) => {
                Some(Fix { held: held[1].clone(), ..Fix::plain(Action::TakeLock, vec![*lock], vec![OTHER]) })
            }
            ([], [lock]) if held[0] == held[2] && !held[0].is_empty() => {
                Some(Fix { held: held[0].clone(), ..Fix::plain(Action::TakeLock, vec![*lock], vec![REGION]) })
            }
            _ => None,
        }
    }

    /// A thread that read what another one overwrites, and then wrote over that: its next access to the location, or its
    /// next write if one lock is held at all three.
    fn writes_back(&self) -> Option<usize> {
        let (first, second) = (self.access(0), self.accesses[1]);
        let all = &self.witness.at_location.get(&first.location)?[..];
        let after = &all[all.partition_point(|&index| index <= second)..];
        let accesses = &self.witness.run.accesses;
        let mut own = after.iter().copied().filter(|&index| accesses[index].thread == first.thread);
        let is_write = |index: &usize| accesses[*index].kind.writes() && !accesses[*index].frees;
        let next = own.next()?;
        if is_write(&next) {
            return Some(next);
        }
        let held = |index: usize| self.witness.run.held(&accesses[index]).unwrap_or_default();
        let write = own.find(is_write)?;
        let is_held = |at: usize, lock: &Lock| held(at).iter().any(|other| other.object == lock.object);
        let is_common =
            held(self.accesses[0]).iter().any(|lock| is_held(second, lock) && is_held(write, lock));
        is_common.then_some(write)
    }

    /// What the other thread read last before it wrote.
    fn read_before(&self) -> Option<usize> {
        let write = self.access(1);
        let all = self.witness.at_location.get(&write.location)?;
        let before = &all[..all.partition_point(|&index| index < self.accesses[1])];
        let accesses = &self.witness.run.accesses;
        let last = *before.iter().rev().find(|&&index| accesses[index].thread == write.thread)?;
        (write.kind == AccessKind::Write && accesses[last].kind == AccessKind::Read).then_some(last)
    }

    /// Whether it is known that no lock is held, rather than only none known.
    fn is_unlocked(&self) -> bool {
        self.facts.iter().any(|fact| matches!(fact, Fact::Unlocked { .. }))
    }

    /// Two accesses came in the wrong order.
    fn order(&self) -> Option<Fix> {
        let [first, second] = [0, 1].map(|place| self.access(place));
        let own = |place: usize| Span { from: place, to: place };
        if let Some(sleep) = self.sleep() {
            let fix = Fix::plain(Action::Wait, vec![], vec![own(0), own(1)]);
            return Some(Fix { waits_at: Some(sleep.stack), ..fix });
        }
        // What the first access destroys or takes away, the second still needs. What both do under one lock is meant to go on.
        if first.kind.writes()
            && !self.is_guarded()
            && self.facts.contains(&Fact::NotJoined { creator: 0, running: 1 })
        {
            let destroys = first.frees || first.value == Some(0);
            // Who comes there again and again, or has more for the other to do, cannot wait for its end.
            let goes_on = self.comes_again(0) || self.has_more_to_do();
            let action = if goes_on { Action::Wait } else { Action::Join };
            return destroys.then(|| Fix::plain(action, vec![], vec![own(0), own(1)]));
        }
        if first.kind.writes() {
            let late = first.frees.then(|| Fix::plain(Action::Wait, vec![], vec![own(0), own(1)]));
            return late
                .or_else(|| self.woken_too_late())
                .or_else(|| self.read_amid_change())
                .or_else(|| self.acted_on_outdated());
        }
        // The first access reads what the second has not written yet.
        if !second.kind.writes() || second.frees {
            return None;
        }
        let created = self.facts.iter().find_map(|fact| match fact {
            Fact::CreatedBefore { creator: 1, created: 0, event } => Some(*event),
            _ => None,
        });
        if let Some(event) = created.filter(|_| !self.goes_on()) {
            let fix = Fix::plain(Action::CreateLater, vec![], vec![own(1), own(0)]);
            return Some(Fix { creation: Some(event), ..fix });
        }
        if let Some(third) = self.writes_back() {
            let accesses = [self.accesses[0], self.accesses[1], third];
            let facts = self.witness.facts(&accesses);
            let case =
                Case { witness: self.witness, accesses: &accesses, facts: &facts, belongs: self.belongs };
            let fix = case.region()?;
            return Some(Fix { further: Some(third), ..fix });
        }
        // Who waits for ever since it looked has done its part; unless it waits for something else, as a pool's thread for its next task.
        let waits = |wait: &Wait| {
            wait.thread == first.thread && wait.kind == SyncKind::WaitBegin && self.looked_for(wait, first)
        };
        if self.witness.run.waits.iter().any(waits) {
            return Some(Fix::plain(Action::SignalLater, vec![], vec![own(0), own(1)]));
        }
        // Who looks at what it has written itself waits for nobody: what it does about it belongs to the look.
        if self.is_its_own() {
            return self.is_unlocked().then(|| Fix::plain(Action::AddLock, vec![], vec![own(0), own(1)]));
        }
        // Of what is written again and again, no one write is what the reader has to wait for; nor has who looks at it again and again,
        // under the lock that is meant for that.
        let is_in_vain = self.is_written_before() || self.is_guarded() && self.looks_again();
        (!is_in_vain).then(|| Fix::plain(Action::Wait, vec![], vec![own(0), own(1)]))
    }

    /// Whether both come back to what they do, the one after the other: what is written in each round of a thread's work cannot be
    /// written before the thread is created that waits for it.
    fn goes_on(&self) -> bool {
        let (reader, writer) = (self.access(0), self.access(1));
        let accesses = &self.witness.run.accesses;
        let all = self.witness.at_location.get(&reader.location).map_or(&[][..], |all| &all[..]);
        let is_written =
            |&index: &usize| (accesses[index].thread, accesses[index].site) == (writer.thread, writer.site);
        let is_read = |&index: &usize| accesses[index].thread == reader.thread;
        let before = self.witness.begin_of(reader.thread)..self.accesses[0];
        let mut after = all.iter().copied().filter(|&index| index > self.accesses[1]);
        all.iter().any(|index| before.contains(index) && is_written(index))
            || after.any(|index| is_read(&index)) && after.any(|index| is_written(&index))
    }

    /// Whether the thread of the first access reads the same again after the second.
    fn looks_again(&self) -> bool {
        let reader = self.access(0);
        let accesses = &self.witness.run.accesses;
        let all = self.witness.at_location.get(&reader.location).map_or(&[][..], |all| &all[..]);
        let is_its = |&index: &usize| {
            accesses[index].thread == reader.thread && accesses[index].kind != AccessKind::Write
        };
        all.iter().filter(|&&index| index > self.accesses[1]).any(is_its)
    }

    /// The sleep of a thread that should have waited.
    fn sleep(&self) -> Option<Sleep> {
        self.facts.iter().find_map(|fact| match fact {
            Fact::Slept { sleep } => Some(self.witness.run.sleeps[*sleep]),
            _ => None,
        })
    }

    /// Whether both of two accesses hold the same lock.
    fn is_guarded(&self) -> bool {
        let [first, second] = [0, 1].map(|place| self.held(place).unwrap_or_default());
        first.iter().any(|lock| second.contains(lock))
    }

    /// Whether another thread wrote the location before the first access, since the thread of that began.
    fn is_written_before(&self) -> bool {
        let reader = self.access(0).thread;
        self.writers_before().any(|writer| writer != reader)
    }

    /// Whether the thread of the first access wrote the location last before that, since it began.
    fn is_its_own(&self) -> bool {
        self.writers_before().last() == Some(self.access(0).thread)
    }

    /// The threads that wrote the location before the first access, since the thread of that began.
    fn writers_before(&self) -> impl Iterator<Item = ThreadId> {
        let reader = self.access(0);
        let accesses = &self.witness.run.accesses;
        let begun = self.witness.begin_of(reader.thread);
        let all = self.witness.at_location.get(&reader.location).map_or(&[][..], |all| &all[..]);
        let since = all.iter().copied().filter(move |index| (begun..self.accesses[0]).contains(index));
        since.map(|index| &accesses[index]).filter(|access| access.kind.writes()).map(|access| access.thread)
    }

    /// Whether the thread of an access was at the same place before the finding's first access, after the other thread of the
    /// finding had begun.
    fn comes_again(&self, place: usize) -> bool {
        let (access, other) = (self.access(place), self.access(1 - place));
        let earlier = &self.witness.run.accesses[..self.accesses[0]];
        let is_same = |earlier: &Access| (earlier.thread, earlier.site) == (access.thread, access.site);
        earlier.iter().skip(self.witness.begin_of(other.thread)).any(is_same)
    }

    /// Whether the thread of the first access goes on after it to write, at the same place as before, something else that the other one reads: as who
    /// replaces a buffer that is full, for the others to take more from the larger one.
    fn has_more_to_do(&self) -> bool {
        let (first, second) = (self.access(0), self.access(1));
        let accesses = &self.witness.run.accesses;
        let begun = self.witness.begin_of(second.thread);
        let is_read = |location: LocationId| {
            accesses.iter().any(|access| {
                (access.thread, access.location) == (second.thread, location)
                    && access.kind != AccessKind::Write
                    && !access.frees
            })
        };
        let is_its_write = |access: &&Access| {
            access.thread == first.thread
                && access.kind.writes()
                && !access.frees
                && access.location != first.location
        };
        let before: Vec<_> = accesses[begun.min(self.accesses[0])..self.accesses[0]]
            .iter()
            .filter(is_its_write)
            .map(|access| (access.site, access.location))
            .collect();
        let after = accesses[self.accesses[0] + 1..].iter().filter(is_its_write);
        let mut again = after.filter(|access| before.contains(&(access.site, access.location)));
        again.any(|access| is_read(access.location))
    }

    /// A thread without a lock read what another was about to change further under one.
    fn read_amid_change(&self) -> Option<Fix> {
        let run = self.witness.run;
        let (write, read) = (self.access(0), self.access(1));
        if read.kind != AccessKind::Read || !run.held(read)?.is_empty() {
            return None;
        }
        let after = &run.accesses[self.accesses[1] + 1..];
        let next = after.iter().find(|access| access.thread == write.thread)?;
        let still = |lock: &&Lock| run.held(next).unwrap_or_default().contains(lock);
        let lock = run.held(write)?.iter().find(still)?.object;
        Some(Fix::plain(Action::TakeLock, vec![lock], vec![OTHER]))
    }

    /// Whether a look may be what a thread's last wait goes by: if the lock that the wait gave back is known, it was held there. One that is not on
    /// record is nobody else's, and not the one of the look.
    fn looked_for(&self, wait: &Wait, look: &Access) -> bool {
        let SyncTarget::Object(condition) = wait.target else { return true };
        let run = self.witness.run;
        let begins = |event: &SyncEvent| {
            (event.kind, event.thread, event.target) == (SyncKind::WaitBegin, wait.thread, wait.target)
        };
        let held = run.held(look).filter(|_| run.synchronization.iter().any(begins));
        held.is_none_or(|held| match standstill::given_back(run, wait.thread, condition) {
            Some(lock) => held.iter().any(|known| known.object == lock),
            None => held.is_empty(),
        })
    }

    /// A thread was woken, finds that what it waited for is so no longer, and waits for ever.
    fn woken_too_late(&self) -> Option<Fix> {
        let (run, [_, look]) = (self.witness.run, [0, 1].map(|place| self.accesses[place]));
        let reader = self.access(1);
        let waits_still = |wait: &Wait| wait.thread == reader.thread && wait.kind == SyncKind::WaitBegin;
        let is_its = |access: &Access| (access.thread, access.location) == (reader.thread, reader.location);
        let last = run.accesses[..look].iter().rposition(is_its)?;
        let was_woken = |event: &SyncEvent| {
            event.thread == reader.thread
                && event.kind == SyncKind::WaitEnd
                && (last + 1..=look).contains(&event.before)
        };
        let is_late = reader.kind == AccessKind::Read
            && run.waits.iter().any(waits_still)
            && run.synchronization.iter().any(was_woken);
        is_late.then(|| Fix::plain(Action::CountRounds, vec![], vec![OTHER]))
    }

    /// A thread looked under a lock, gave it back and acted when it had it again, on what had changed in between. Not to wait for a condition:
    /// then it is to look again, as it does.
    fn acted_on_outdated(&self) -> Option<Fix> {
        let (lock, look) = look_before(self.witness, self.accesses[0], self.accesses[1])?;
        let thread = self.access(1).thread;
        let waits = |event: &SyncEvent| {
            event.thread == thread
                && event.kind == SyncKind::WaitBegin
                && (look + 1..=self.accesses[1]).contains(&event.before)
        };
        if self.witness.run.synchronization.iter().any(waits) {
            return None;
        }
        let since_the_look = Span { from: 2, to: 1 };
        Some(Fix { further: Some(look), ..Fix::plain(Action::ExtendLock, vec![lock], vec![since_the_look]) })
    }

    /// Who holds a lock while it creates other threads, waits for their end or for a condition may wait for ever.
    fn can_be_locked(&self, fix: &Fix) -> bool {
        const OUTLIVE: [SyncKind; 3] = [SyncKind::Create, SyncKind::Join, SyncKind::WaitBegin];
        let outlives = |event: &SyncEvent| OUTLIVE.contains(&event.kind);
        let by_lock = matches!(
            fix.action,
            Action::ExtendLock | Action::TakeLock | Action::AddLock | Action::UseOneLock
        );
        !by_lock
            || fix.spans.iter().all(|span| {
                let [from, to] = [span.from, span.to].map(|place| self.accesses[place]);
                let thread = self.access(span.from).thread;
                let within =
                    |event: &&SyncEvent| event.thread == thread && (from + 1..=to).contains(&event.before);
                !self.witness.run.synchronization.iter().filter(within).any(outlives)
            })
    }

    /// A thread read under a lock, gave that back to wait for a condition, and went on as if nobody else could come first. Who tests in a
    /// loop reads at the same place again.
    fn tested_before_the_wait(&self, fix: &Fix) -> Option<Fix> {
        let [test, using] = [self.access(0), self.access(2)];
        let span = self.accesses[0] + 1..=self.accesses[2];
        let waits = |event: &SyncEvent| {
            event.thread == test.thread
                && event.kind == SyncKind::WaitBegin
                && span.contains(&event.before)
                && !tests_again(self.witness.run, event, self.accesses[2])
        };
        let is_tested_once = test.kind == AccessKind::Read && test.site != using.site;
        let waited = is_tested_once && self.witness.run.synchronization.iter().any(waits);
        let spans = [0, 2].map(|place| Span { from: place, to: place });
        waited.then(|| Fix::plain(Action::TestAgain, fix.locks.clone(), spans.to_vec()))
    }

    /// Two variables that belong together were accessed in pieces.
    fn two_variables(&self) -> Option<Fix> {
        if let Some(fix) = self.published_too_early() {
            return Some(fix);
        }
        self.two_variables_alone().filter(|fix| self.can_be_locked(fix))
    }

    /// A thread wrote what leads others to something, and that only afterwards; one of them found nothing there. What is written more than once
    /// is another matter: then the two may have to change together, as where its writer goes by what was there before. But an atomic says that what is written for the first time after it is there.
    fn published_too_early(&self) -> Option<Fix> {
        let all = [0, 1, 2, 3].map(|place| self.access(place));
        let [published, seen, used, filled] = all;
        let is_so = published.kind.writes()
            && seen.kind != AccessKind::Write
            && used.kind == AccessKind::Read
            && filled.kind.writes()
            && !filled.frees
            && published.location == seen.location
            && used.location == filled.location
            && used.location != seen.location
            && (seen.thread, published.thread) == (used.thread, filled.thread);
        let accesses = &self.witness.run.accesses;
        let writes_to = |access: &Access| {
            let all = self.witness.at_location.get(&access.location).map_or(&[][..], |all| &all[..]);
            all.iter().copied().filter(|&index| accesses[index].kind.writes())
        };
        let is_written_once = |access: &Access| writes_to(access).count() == 1;
        // Whoever finds something there has come upon what was before, which goes with what was published before.
        let finds_nothing = used.value.is_none_or(|value| value == 0);
        // Who is created in between is created too early.
        let is_there = self.witness.begin_of(seen.thread) <= self.accesses[0];
        let is_ready_once = is_there && is_written_once(published) && is_written_once(filled);
        let is_atomic = [0, 1].iter().all(|&place| self.witness.is_atomic(self.accesses[place]));
        let is_earlier = |index: usize| index < self.accesses[3] && accesses[index].thread == filled.thread;
        let is_announced = is_atomic && !writes_to(filled).any(is_earlier);
        let is_changed = self.witness.at_location.get(&filled.location).is_some_and(|all| {
            let before = all.iter().take_while(|&&index| index < self.accesses[0]);
            before.map(|&index| &accesses[index]).any(|access| access.thread == filled.thread)
        });
        let spans = [0, 3].map(|place| Span { from: place, to: place });
        (is_so && finds_nothing && !is_changed && (is_ready_once || is_announced))
            .then(|| Fix::plain(Action::PublishLater, vec![], spans.to_vec()))
    }

    /// The same, whatever else the threads did in between.
    fn two_variables_alone(&self) -> Option<Fix> {
        let held: Vec<Vec<ObjectId>> = (0..4).map(|place| self.held(place)).collect::<Option<_>>()?;
        let spans = self.spans();
        let common = held[0].iter().find(|lock| held.iter().all(|locks| locks.contains(lock)));
        if let Some(&lock) = common {
            let released: Vec<Span> =
                spans.iter().copied().filter(|span| self.is_released(lock, *span)).collect();
            return (!released.is_empty()).then(|| Fix::plain(Action::ExtendLock, vec![lock], released));
        }
        if held.iter().all(Vec::is_empty) {
            return self.is_unlocked().then(|| Fix::plain(Action::AddLock, vec![], spans));
        }
        // One thread holds a lock over both of its accesses; the other needs it too.
        let sides = match spans[..] {
            [one, other] => vec![(one, other), (other, one)],
            _ => Vec::new(),
        };
        for (guarded, bare) in sides {
            let lock = held[guarded.from].iter().find(|lock| held[guarded.to].contains(lock));
            let is_bare = held[bare.from].is_empty() && held[bare.to].is_empty();
            if let Some(&lock) = lock.filter(|&&lock| is_bare && !self.is_released(lock, guarded)) {
                return Some(Fix::plain(Action::TakeLock, vec![lock], vec![bare]));
            }
        }
        Some(Fix::plain(Action::UseOneLock, distinct(held.concat()), spans))
    }

    /// What each thread does, from its first access to its last.
    fn spans(&self) -> Vec<Span> {
        let mut spans: Vec<Span> = Vec::new();
        for place in 0..self.accesses.len() {
            let thread = self.access(place).thread;
            match spans.iter_mut().find(|span| self.access(span.from).thread == thread) {
                Some(span) => span.to = place,
                None => spans.push(Span { from: place, to: place }),
            }
        }
        spans
    }

    fn is_released(&self, lock: ObjectId, span: Span) -> bool {
        self.facts.iter().any(|fact| {
            matches!(fact, Fact::ReleasedBetween { lock: given_back, from, to }
                if (*given_back, *from, *to) == (lock, span.from, span.to))
        })
    }

    fn usual_lock(&self) -> Option<ObjectId> {
        self.facts.iter().find_map(|fact| match fact {
            Fact::UsuallyLocked { lock, .. } => Some(*lock),
            _ => None,
        })
    }

    fn access(&self, place: usize) -> &Access {
        &self.witness.run.accesses[self.accesses[place]]
    }

    fn held(&self, place: usize) -> Option<Vec<ObjectId>> {
        Some(self.witness.run.held(self.access(place))?.iter().map(|lock| lock.object).collect())
    }
}
