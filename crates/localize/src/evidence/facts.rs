//! Facts about the accesses of a finding.

use rustc_hash::{FxHashMap, FxHashSet};

use super::order::HappensBefore;
use super::sleeping::sleep_before;
use crate::run::{Access, LocationId, Run, ThreadId};
use crate::synchronization::{Lock, ObjectId, SyncKind, SyncTarget};

/// Something that holds for accesses of a finding. Accesses are named by their place in the finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fact {
    /// None of these accesses to one location is made under a lock. Not claimed where something orders them: that may
    /// be a lock of the program's own making.
    Unlocked {
        /// All of the finding's accesses to the location.
        accesses: Vec<usize>,
    },
    /// These accesses to one location hold locks, or some of them do, but none that is the same for all.
    NoCommonLock {
        /// All of the finding's accesses to the location, with the locks they hold.
        accesses: Vec<(usize, Vec<ObjectId>)>,
    },
    /// All of these accesses to one location hold this lock.
    CommonLock {
        /// The lock.
        lock: ObjectId,
        /// All of the finding's accesses to the location.
        accesses: Vec<usize>,
    },
    /// A thread holds this lock at two of its accesses, and gave it back in between.
    ReleasedBetween {
        /// The lock.
        lock: ObjectId,
        /// The earlier access.
        from: usize,
        /// The later access.
        to: usize,
    },
    /// A thread holds this lock at an access between two of another thread's, which did therefore not hold it all the
    /// time. Told where the locks held at the first of these are not known.
    TakenBetween {
        /// The lock.
        lock: ObjectId,
        /// The access with the lock.
        between: usize,
        /// The access before it.
        from: usize,
        /// The access after it, which holds the lock as well.
        to: usize,
    },
    /// Nothing makes one access happen before the other: they came in this order by luck.
    Unordered {
        /// The earlier access.
        first: usize,
        /// The later access, by another thread.
        second: usize,
    },
    /// Other accesses to this location hold a lock that the finding's accesses to it do not.
    UsuallyLocked {
        /// The lock.
        lock: ObjectId,
        /// The finding's accesses to the location that do not hold it.
        accesses: Vec<usize>,
        /// How many other accesses hold it.
        holding: usize,
        /// Of how many.
        of: usize,
    },
    /// The thread of one access had created that of another before the access.
    CreatedBefore {
        /// The access of the creator.
        creator: usize,
        /// The access of the created thread.
        created: usize,
        /// The creation, by its place in [`Run::synchronization`].
        event: usize,
    },
    /// The thread of one access had created that of another and not waited for its end when it made its access.
    NotJoined {
        /// The access of the creator.
        creator: usize,
        /// The access of the thread that still ran.
        running: usize,
    },
    /// The thread of the first access had slept in place of waiting for that of the second.
    Slept {
        /// The sleep, by its place in [`Run::sleeps`].
        sleep: usize,
    },
    /// The memory of this access had been given back by another one.
    AfterFree {
        /// The access that freed it.
        free: usize,
        /// The access to what was no more.
        access: usize,
    },
}

/// A lock that others hold at a smaller share of accesses is not what guards a location.
const USUAL: f64 = 0.6;

/// What one run can tell about findings that are shown in it. Made once for all of them, since each of its parts has to
/// go through the whole run.
pub struct Witness<'run> {
    pub(super) run: &'run Run,
    order: HappensBefore,
    /// All accesses to the locations of the findings.
    pub(super) at_location: FxHashMap<LocationId, Vec<usize>>,
    /// Locations that are accessed atomically now and then.
    atomics: FxHashSet<LocationId>,
    /// The creation of each thread, by its place in the run's synchronization.
    created: FxHashMap<ThreadId, usize>,
    /// Before which access each thread was joined.
    joined: FxHashMap<ThreadId, usize>,
    /// Before which accesses each lock changed hands, ascending, and by whom.
    moved: FxHashMap<ObjectId, Vec<(usize, ThreadId)>>,
}

impl<'run> Witness<'run> {
    /// Hears the run about findings whose examples are these accesses.
    pub fn of(run: &'run Run, accesses: &[usize]) -> Self {
        let mut at_location: FxHashMap<LocationId, Vec<usize>> =
            accesses.iter().map(|&index| (run.accesses[index].location, Vec::new())).collect();
        let mut atomics = FxHashSet::default();
        for (index, access) in run.accesses.iter().enumerate() {
            if let Some(all) = at_location.get_mut(&access.location) {
                all.push(index);
            }
            if access.atomic {
                atomics.insert(access.location);
            }
        }
        let (mut created, mut joined) = (FxHashMap::default(), FxHashMap::default());
        let mut moved: FxHashMap<ObjectId, Vec<(usize, ThreadId)>> = FxHashMap::default();
        for (place, event) in run.synchronization.iter().enumerate() {
            match (event.kind, event.target) {
                (SyncKind::Create, SyncTarget::Thread(thread)) => drop(created.insert(thread, place)),
                (SyncKind::Join, SyncTarget::Thread(thread)) => drop(joined.insert(thread, event.before)),
                (SyncKind::Acquire | SyncKind::Release, SyncTarget::Object(lock)) => {
                    moved.entry(lock).or_default().push((event.before, event.thread));
                }
                _ => {}
            }
        }
        let order = HappensBefore::of(run, &atomics, accesses);
        Self { run, order, at_location, atomics, created, joined, moved }
    }

    /// All facts about the accesses with these indices, in time order.
    pub fn facts(&self, accesses: &[usize]) -> Vec<Fact> {
        let scene = Scene { witness: self, accesses };
        let mut facts: Vec<Fact> = scene.slept().into_iter().collect();
        for location in scene.locations() {
            facts.extend(scene.guard(location));
            facts.extend(scene.usual_lock(location));
        }
        facts.extend(scene.released());
        facts.extend(scene.taken_between());
        facts.extend(scene.unordered());
        facts.extend(scene.creations());
        facts.extend(scene.frees());
        facts
    }

    /// How many accesses came before a thread began, or its first one where that is not recorded.
    pub(super) fn begin_of(&self, thread: ThreadId) -> usize {
        let mut starts = self.run.synchronization.iter().filter(|event| event.kind == SyncKind::Start);
        let start = starts.find(|event| event.thread == thread).map(|event| event.before);
        start.or_else(|| self.run.accesses.iter().position(|access| access.thread == thread)).unwrap_or(0)
    }

    /// The place of a thread's creation among the run's synchronizations, if that is recorded.
    pub(super) fn creation_of(&self, thread: ThreadId) -> Option<usize> {
        self.created.get(&thread).copied()
    }

    /// Whether the access with this index is to a location that is accessed atomically. (The access that ends a turn
    /// is on record without saying that it is atomic.)
    pub(super) fn is_atomic(&self, index: usize) -> bool {
        self.atomics.contains(&self.run.accesses[index].location)
    }
}

/// The accesses of one finding.
struct Scene<'a> {
    witness: &'a Witness<'a>,
    accesses: &'a [usize],
}

impl<'a> Scene<'a> {
    fn access(&self, place: usize) -> &'a Access {
        &self.witness.run.accesses[self.accesses[place]]
    }

    fn thread(&self, place: usize) -> ThreadId {
        self.access(place).thread
    }

    /// The locks held at an access, if these are known.
    fn held(&self, place: usize) -> Option<&'a [Lock]> {
        self.witness.run.held(self.access(place))
    }

    fn locations(&self) -> Vec<LocationId> {
        let mut locations: Vec<LocationId> = Vec::new();
        for place in 0..self.accesses.len() {
            let location = self.access(place).location;
            if !locations.contains(&location) {
                locations.push(location);
            }
        }
        locations
    }

    fn places_at(&self, location: LocationId) -> Vec<usize> {
        (0..self.accesses.len()).filter(|&place| self.access(place).location == location).collect()
    }

    /// Which lock guards the finding's accesses to a location, if it is known for all of them.
    fn guard(&self, location: LocationId) -> Option<Fact> {
        let accesses = self.places_at(location);
        if accesses.len() < 2 {
            return None;
        }
        let held: Vec<(usize, &[Lock])> =
            accesses.iter().map(|&place| Some((place, self.held(place)?))).collect::<Option<_>>()?;
        if held.iter().all(|(_, locks)| locks.is_empty()) {
            let is_atomic = self.witness.atomics.contains(&location);
            let is_racing = accesses.windows(2).any(|pair| self.is_unordered(pair[0], pair[1]));
            return (is_atomic || is_racing).then_some(Fact::Unlocked { accesses });
        }
        let common = held[0].1.iter().find(|lock| held.iter().all(|(_, locks)| holds(locks, lock.object)));
        Some(match common {
            Some(lock) => Fact::CommonLock { lock: lock.object, accesses },
            None => {
                let objects = |locks: &[Lock]| locks.iter().map(|lock| lock.object).collect();
                Fact::NoCommonLock {
                    accesses: held.iter().map(|(place, locks)| (*place, objects(locks))).collect(),
                }
            }
        })
    }

    /// The lock that other accesses to a location hold.
    fn usual_lock(&self, location: LocationId) -> Option<Fact> {
        let mut counts: Vec<(ObjectId, usize)> = Vec::new();
        let mut of = 0;
        for index in &self.witness.at_location[&location] {
            let held = self.witness.run.held(&self.witness.run.accesses[*index]);
            let Some(locks) = held.filter(|_| !self.accesses.contains(index)) else { continue };
            of += 1;
            for lock in locks {
                match counts.iter_mut().find(|(object, _)| *object == lock.object) {
                    Some((_, count)) => *count += 1,
                    None => counts.push((lock.object, 1)),
                }
            }
        }
        let &(lock, holding) =
            counts.iter().max_by_key(|(object, count)| (*count, std::cmp::Reverse(*object)))?;
        let without = |place: &usize| self.held(*place).is_some_and(|locks| !holds(locks, lock));
        let accesses: Vec<usize> = self.places_at(location).into_iter().filter(without).collect();
        let is_usual = holding >= 2 && holding as f64 >= USUAL * of as f64;
        (is_usual && !accesses.is_empty()).then_some(Fact::UsuallyLocked { lock, accesses, holding, of })
    }

    /// Where a thread gave a lock back between two of its accesses.
    fn released(&self) -> Vec<Fact> {
        let mut facts = Vec::new();
        for from in 0..self.accesses.len() {
            let later = (from + 1..self.accesses.len()).find(|&to| self.thread(to) == self.thread(from));
            let Some(to) = later else { continue };
            let (Some(first), Some(last)) = (self.held(from), self.held(to)) else { continue };
            for one in first {
                let Some(other) = last.iter().find(|other| other.object == one.object) else { continue };
                if one.taken_at != other.taken_at || self.is_released(one, from, to) {
                    facts.push(Fact::ReleasedBetween { lock: one.object, from, to });
                }
            }
        }
        facts
    }

    /// What another thread holds between two accesses of a thread, if it is not known what that held at the first.
    fn taken_between(&self) -> Option<Fact> {
        let [from, between, to] = [0, 1, 2];
        let is_triple = self.accesses.len() == 3 && self.thread(from) == self.thread(to);
        if !is_triple || self.thread(between) == self.thread(from) || self.held(from).is_some() {
            return None;
        }
        let last = self.held(to)?;
        let lock = self.held(between)?.iter().find(|lock| !lock.shared && holds(last, lock.object))?;
        Some(Fact::TakenBetween { lock: lock.object, between, from, to })
    }

    /// Whether something between two accesses of a thread shows that it did not hold this lock all the time.
    fn is_released(&self, lock: &Lock, from: usize, to: usize) -> bool {
        let others_hold = (from + 1..to).any(|between| {
            let held = self.held(between).unwrap_or_default();
            let is_held = held.iter().any(|held| held.object == lock.object && !held.shared);
            self.thread(between) != self.thread(from) && is_held
        });
        let moved = self.witness.moved.get(&lock.object).map_or(&[][..], Vec::as_slice);
        let next = moved.partition_point(|&(before, _)| before <= self.accesses[from]);
        let mut meanwhile = moved[next..].iter().take_while(|&&(before, _)| before <= self.accesses[to]);
        // Others take for reading what this thread has for reading.
        others_hold || meanwhile.any(|&(_, by)| !lock.shared || by == self.thread(from))
    }

    /// Neighbours of different threads at one location that nothing orders. Atomic accesses need not be ordered.
    fn unordered(&self) -> Vec<Fact> {
        let mut facts = Vec::new();
        for location in self.locations() {
            for pair in self.places_at(location).windows(2) {
                let (first, second) = (pair[0], pair[1]);
                if self.is_unordered(first, second) && !self.witness.atomics.contains(&location) {
                    facts.push(Fact::Unordered { first, second });
                }
            }
        }
        facts
    }

    fn is_unordered(&self, first: usize, second: usize) -> bool {
        let conflict = self.access(first).kind.writes() || self.access(second).kind.writes();
        let differ = self.thread(first) != self.thread(second);
        let guarded = match (self.held(first), self.held(second)) {
            (Some(one), Some(other)) => one.iter().any(|lock| holds(other, lock.object)),
            _ => false,
        };
        let ordered = self.witness.order.orders(self.accesses[first], self.accesses[second]);
        conflict && differ && !guarded && ordered == Some(false)
    }

    /// Which of the threads created which, and had or had not waited for its end.
    fn creations(&self) -> Vec<Fact> {
        let mut facts = Vec::new();
        for creator in 0..self.accesses.len() {
            for created in 0..self.accesses.len() {
                let child = self.thread(created);
                let Some(&event) = self.witness.created.get(&child) else { continue };
                let creation = &self.witness.run.synchronization[event];
                let at = self.accesses[creator];
                if creation.thread != self.thread(creator) || creation.before > at {
                    continue;
                }
                facts.push(Fact::CreatedBefore { creator, created, event });
                if self.witness.joined.get(&child).is_none_or(|&joined| joined > at) {
                    facts.push(Fact::NotJoined { creator, running: created });
                }
            }
        }
        facts
    }

    /// Whether two accesses came in an order that a sleep was to prevent.
    fn slept(&self) -> Option<Fact> {
        let &[first, second] = self.accesses else { return None };
        let is_pair = self.thread(0) != self.thread(1);
        let sleep = is_pair.then(|| sleep_before(self.witness, first, second)).flatten()?;
        Some(Fact::Slept { sleep })
    }

    fn frees(&self) -> Vec<Fact> {
        let mut facts = Vec::new();
        for free in (0..self.accesses.len()).filter(|&place| self.access(place).frees) {
            for access in free + 1..self.accesses.len() {
                let same = self.access(access).location == self.access(free).location;
                if same && self.thread(access) != self.thread(free) {
                    facts.push(Fact::AfterFree { free, access });
                }
            }
        }
        facts
    }
}

fn holds(locks: &[Lock], object: ObjectId) -> bool {
    locks.iter().any(|lock| lock.object == object)
}
