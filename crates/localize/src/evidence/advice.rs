//! What to do about a finding, as far as its facts tell. Silence is better than wrong advice: a rule that does not
//! fit without doubt gives none.

use super::facts::{Fact, Witness};
use crate::run::{Access, AccessKind};
use crate::synchronization::ObjectId;

/// What kind of change a finding asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Action {
    /// Keep a lock that is held already, instead of giving it back in between.
    ExtendLock,
    /// Take a lock that others take for the same data.
    TakeLock,
    /// Guard the accesses by one lock; there is none yet that all could use.
    AddLock,
    /// Guard the accesses by the same lock, instead of each by another.
    UseOneLock,
    /// Make a load and a store one atomic operation.
    AtomicOperation,
    /// Wait for the end of a thread first.
    Join,
    /// Create a thread only when all is ready for it.
    CreateLater,
    /// Wait until another thread has done its part.
    Wait,
}

/// A change, in terms of the finding's accesses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fix {
    /// What to do.
    pub action: Action,
    /// The locks that it is about.
    pub locks: Vec<ObjectId>,
    /// Where: the first for the thread that must change.
    pub spans: Vec<Span>,
    /// The creation of a thread that it is about, by its place in [`Run::synchronization`](crate::Run::synchronization).
    pub creation: Option<usize>,
}

/// From one access of a thread to another of its own, or the same one; both are places in the finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// The first access.
    pub from: usize,
    /// The last access.
    pub to: usize,
}

/// What to do about the accesses with these indices, in time order.
pub fn advise(witness: &Witness<'_>, accesses: &[usize], facts: &[Fact]) -> Option<Fix> {
    let threads: Vec<_> = accesses.iter().map(|&index| witness.run.accesses[index].thread).collect();
    let case = Case { witness, accesses, facts };
    match threads.as_slice() {
        [a, b] if a != b => case.order(),
        [a, b, c] if a == c && a != b => case.region(),
        [a, b, c, d] if a != b && [a, b].contains(&c) && [a, b].contains(&d) && c != d => {
            case.two_variables()
        }
        _ => None,
    }
}

struct Case<'a> {
    witness: &'a Witness<'a>,
    accesses: &'a [usize],
    facts: &'a [Fact],
}

impl Case<'_> {
    /// Another thread came between two accesses to one location.
    fn region(&self) -> Option<Fix> {
        const REGION: Span = Span { from: 0, to: 2 };
        const OTHER: Span = Span { from: 1, to: 1 };
        let held: Vec<Vec<ObjectId>> = (0..3).map(|place| self.held(place)).collect::<Option<_>>()?;
        for fact in self.facts {
            if let Fact::ReleasedBetween { lock, from: 0, to: 2 } = fact
                && held[1].contains(lock)
            {
                return Some(fix(Action::ExtendLock, vec![*lock], vec![REGION]));
            }
        }
        // The other thread holds a lock, and the region does not hold it all the time.
        if let Some(&lock) = held[1].first() {
            let within = [0, 2].map(|place| held[place].contains(&lock));
            return match within {
                [false, false] if held[0].is_empty() && held[2].is_empty() => {
                    Some(fix(Action::TakeLock, vec![lock], vec![REGION]))
                }
                [true, false] | [false, true] => Some(fix(Action::ExtendLock, vec![lock], vec![REGION])),
                _ => Some(fix(Action::UseOneLock, distinct(held.concat()), vec![REGION, OTHER])),
            };
        }
        // The region holds a lock, and the other thread does not.
        if let Some(&lock) = held[0].iter().find(|lock| held[2].contains(lock)) {
            return Some(fix(Action::TakeLock, vec![lock], vec![OTHER]));
        }
        if let Some(lock) = self.usual_lock() {
            return Some(fix(Action::TakeLock, vec![lock], vec![REGION, OTHER]));
        }
        if !held[0].is_empty() || !held[2].is_empty() {
            return None;
        }
        if self.witness.is_atomic(self.accesses[0]) {
            let reads_then_writes = self.access(0).kind == AccessKind::Read && self.access(2).kind.writes();
            return reads_then_writes.then(|| fix(Action::AtomicOperation, vec![], vec![REGION]));
        }
        self.is_unlocked().then(|| fix(Action::AddLock, vec![], vec![REGION, OTHER]))
    }

    /// Whether it is known that no lock is held, rather than only none known.
    fn is_unlocked(&self) -> bool {
        self.facts.iter().any(|fact| matches!(fact, Fact::Unlocked { .. }))
    }

    /// Two accesses came in the wrong order.
    fn order(&self) -> Option<Fix> {
        let [first, second] = [0, 1].map(|place| self.access(place));
        let own = |place: usize| Span { from: place, to: place };
        // What the first access destroys or takes away, the second still needs.
        if first.kind.writes() && self.facts.contains(&Fact::NotJoined { creator: 0, running: 1 }) {
            let destroys = first.frees || first.value == Some(0);
            return destroys.then(|| fix(Action::Join, vec![], vec![own(0), own(1)]));
        }
        if first.kind.writes() {
            return first.frees.then(|| fix(Action::Wait, vec![], vec![own(0), own(1)]));
        }
        // The first access reads what the second has not written yet.
        if !second.kind.writes() || second.frees {
            return None;
        }
        let created = self.facts.iter().find_map(|fact| match fact {
            Fact::CreatedBefore { creator: 1, created: 0, event } => Some(*event),
            _ => None,
        });
        if let Some(event) = created {
            let fix = fix(Action::CreateLater, vec![], vec![own(1), own(0)]);
            return Some(Fix { creation: Some(event), ..fix });
        }
        Some(fix(Action::Wait, vec![], vec![own(0), own(1)]))
    }

    /// Two variables that belong together were accessed in pieces.
    fn two_variables(&self) -> Option<Fix> {
        let held: Vec<Vec<ObjectId>> = (0..4).map(|place| self.held(place)).collect::<Option<_>>()?;
        let first = self.access(0).thread;
        let (own, other): (Vec<usize>, Vec<usize>) =
            (0..4).partition(|&place| self.access(place).thread == first);
        let spans = [own, other].map(|places| Span { from: places[0], to: places[1] });
        let common = held[0].iter().find(|lock| held.iter().all(|locks| locks.contains(lock)));
        if let Some(&lock) = common {
            let released: Vec<Span> =
                spans.into_iter().filter(|span| self.is_released(lock, *span)).collect();
            return (!released.is_empty()).then(|| fix(Action::ExtendLock, vec![lock], released));
        }
        if held.iter().all(Vec::is_empty) {
            return self.is_unlocked().then(|| fix(Action::AddLock, vec![], spans.to_vec()));
        }
        // One thread holds a lock over both of its accesses; the other needs it too.
        for (guarded, bare) in [(spans[0], spans[1]), (spans[1], spans[0])] {
            let lock = held[guarded.from].iter().find(|lock| held[guarded.to].contains(lock));
            let is_bare = held[bare.from].is_empty() && held[bare.to].is_empty();
            if let Some(&lock) = lock.filter(|&&lock| is_bare && !self.is_released(lock, guarded)) {
                return Some(fix(Action::TakeLock, vec![lock], vec![bare]));
            }
        }
        Some(fix(Action::UseOneLock, distinct(held.concat()), spans.to_vec()))
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

fn fix(action: Action, locks: Vec<ObjectId>, spans: Vec<Span>) -> Fix {
    Fix { action, locks, spans, creation: None }
}

fn distinct(mut locks: Vec<ObjectId>) -> Vec<ObjectId> {
    locks.sort_unstable();
    locks.dedup();
    locks
}
