//! An interleaving as it comes about: which of its occurrences have begun, and how often one came to its end.
//!
//! Nobody knows which occurrence of a step matters, so every one of them can begin an [`Instance`]: from then on it is
//! known which threads and variables the other steps are about. Several are followed at the same time, of several threads.

use recording::Interleaving;

use super::instance::{Bytes, Instance, Pattern};
use super::is_over;
use super::news::News;
use crate::cells::Kind;
use crate::control::Operation;
use crate::control::seats::Locks;

/// Instances that are followed at the same time.
const MOST_INSTANCES: usize = 32;
/// Places where the second of two steps was done, by address.
const MOST_SECONDS: usize = 256;
const SEVERAL: usize = usize::MAX;

pub struct Followed {
    pub pattern: Option<Pattern>,
    instances: [Instance; MOST_INSTANCES],
    /// Instances that came to their end.
    completed: u64,
    /// The first of two steps is being done, and nobody has done the second.
    is_at_first: bool,
    /// Of two steps: who has done the second to what. More than one thread is [`SEVERAL`].
    seconds: [(usize, usize); MOST_SECONDS],
    /// The same for whatever it was done to; zero if nobody has.
    second_by: usize,
}

/// Instances that ended at a point.
#[derive(Default)]
pub struct Ended {
    pub complete: u32,
    /// Those that took too long.
    pub late: u32,
}

/// How long an instance may take.
#[derive(Clone, Copy)]
pub struct Time<'a> {
    pub points: u32,
    pub patience: u32,
    pub news: &'a News,
}

impl Followed {
    pub const fn new() -> Followed {
        Followed {
            pattern: None,
            instances: [Instance::NONE; MOST_INSTANCES],
            completed: 0,
            is_at_first: false,
            seconds: [(0, 0); MOST_SECONDS],
            second_by: 0,
        }
    }

    pub unsafe fn start(&mut self, interleaving: Interleaving, is_exact: bool) -> &Pattern {
        self.pattern.insert(Pattern::new(interleaving, is_exact))
    }

    pub fn active(&self) -> impl Iterator<Item = &Instance> + Clone {
        self.instances.iter().filter(|instance| instance.is_active())
    }

    /// The thread of this seat did this, holding these locks, and has come to its next point.
    pub fn done(&mut self, seat: usize, operation: Operation, locks: &Locks, time: Time) -> Ended {
        let mut ended = Ended::default();
        let Some(pattern) = &self.pattern else { return ended };
        self.is_at_first = false;
        if pattern.is_pair() && pattern.is_at(1, operation) {
            let entry = &mut self.seconds[place_of(operation.address)];
            let is_first = entry.0 != operation.address || entry.1 == seat;
            *entry = (operation.address, if is_first { seat } else { SEVERAL });
            self.second_by = if [0, seat].contains(&self.second_by) { seat } else { SEVERAL };
        }
        let bytes = Bytes::of(operation);
        for instance in self.instances.iter_mut().filter(|instance| instance.is_active()) {
            if let Some(step) = instance.next_step(pattern, seat, operation) {
                instance.advance(pattern, step, seat, operation, locks);
                if instance.is_complete(pattern) {
                    self.completed += u64::from(!instance.is_counted);
                    ended.complete += 1;
                    *instance = Instance::NONE;
                }
            } else if instance.is_too_early(pattern, seat, operation)
                || instance.is_elsewhere(pattern, seat, operation)
                || pattern.is_pair()
                    && instance.role_of(seat).is_some()
                    && operation.size != 0
                    && operation.kind != Kind::Read
                    && instance.is_about(bytes)
            {
                *instance = Instance::NONE;
            } else if is_over(time, instance.begun_at) {
                ended.late += 1;
                *instance = Instance::NONE;
            }
        }
        ended
    }

    /// If what this thread did is a first step, an instance begins.
    pub fn begin(&mut self, seat: usize, operation: Operation, locks: &Locks, now: u32) {
        let Some(pattern) = &self.pattern else { return };
        let Some(step) = Instance::NONE.next_step(pattern, seat, operation) else { return };
        let bytes = Bytes::of(operation);
        let is_again = |instance: &Instance| instance.is_only_of(seat) && instance.is_about(bytes);
        let place = self.instances.iter().position(is_again);
        let place = place.or_else(|| self.instances.iter().position(|instance| !instance.is_active()));
        let oldest = || {
            let own = (0..MOST_INSTANCES).filter(|&at| self.instances[at].is_only_of(seat));
            own.min_by_key(|&at| self.instances[at].begun_at)
        };
        if let Some(place) = place.or_else(oldest).and_then(|at| self.instances.get_mut(at)) {
            *place = Instance::NONE;
            place.begun_at = now;
            place.advance(pattern, step, seat, operation, locks);
        }
    }

    /// The thread of this seat does this now. It may be the last that it does: what takes all steps but this one has come
    /// about, even if nobody comes to the next point. So has the first of two: whatever ends the run now comes before the second.
    pub fn goes_on(&mut self, seat: usize, operation: Operation) {
        let Some(pattern) = &self.pattern else { return };
        let is_at_first = pattern.is_pair() && pattern.is_at(0, operation);
        self.is_at_first = is_at_first && !self.is_second_done(seat, operation);
        for instance in self.instances.iter_mut().filter(|instance| instance.is_active()) {
            let step = instance.next_step(pattern, seat, operation);
            if step.is_some_and(|step| instance.lacks_only(pattern, step)) && !instance.is_counted {
                instance.is_counted = true;
                self.completed += 1;
            }
        }
    }

    /// Whether a thread that begins to wait in the midst of this may never come to its next point: where a step is the last of
    /// its thread, waiting is what it is about.
    pub fn ends_in_waiting(&self, operation: Operation) -> bool {
        let Some(pattern) = &self.pattern else { return false };
        pattern.steps().any(|step| {
            pattern.is_at(step, operation)
                && !pattern.is_ready(step, 0)
                && pattern.steps_of(pattern.role(step)).next_back() == Some(step)
        })
    }

    /// The thread of this seat is gone.
    pub fn left(&mut self, seat: usize) {
        let Some(pattern) = &self.pattern else { return };
        for instance in self.instances.iter_mut().filter(|instance| instance.is_active()) {
            instance.leave(pattern, seat);
        }
    }

    /// How often the interleaving has come about, as far as is known if the run ends here.
    pub fn come_about(&self) -> u64 {
        self.completed + u64::from(self.is_at_first)
    }

    /// What came to its end so far does not count.
    pub fn forget_completed(&mut self) {
        self.completed = 0;
    }

    /// Of two steps: would this operation of this thread do the first before anybody has done the second, or the second
    /// after the first? Whoever had the lock under which the first is done would keep the others from the second.
    pub fn keeps_order(&self, pattern: &Pattern, seat: usize, operation: Operation) -> bool {
        let comes_first = pattern.is_at(0, operation) && !self.is_second_done(seat, operation);
        let leads_to_first = pattern.is_at_guard(0, operation) && [0, seat].contains(&self.second_by);
        comes_first
            || leads_to_first
            || self.active().any(|instance| instance.next_step(pattern, seat, operation).is_some())
    }

    /// Would this operation of this thread join in an instance that others have begun, or take the lock to do so? Beginning one
    /// of its own counts, too: each of the two would have to wait for the other to finish.
    pub fn keeps_out(&self, seat: usize, operation: Operation) -> bool {
        let Some(pattern) = &self.pattern else { return false };
        if pattern.is_pair() {
            return self.keeps_order(pattern, seat, operation);
        }
        let mut others = self.active().filter(|instance| instance.role_of(seat).is_none());
        others.any(|instance| instance.is_joined_by(pattern, operation))
    }

    /// Has another thread done the second step to this before?
    fn is_second_done(&self, seat: usize, operation: Operation) -> bool {
        let (address, by) = self.seconds[place_of(operation.address)];
        address == operation.address && by != seat
    }
}

fn place_of(address: usize) -> usize {
    (address as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) as usize >> 56
}
