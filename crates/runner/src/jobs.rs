//! How many runs go on at the same time. In a controlled run one thread runs at a time, so that it takes one processor; threads that run
//! freely need more than one to interleave as they usually do.

use std::num::NonZeroUsize;
use std::thread;

use recording::{RunPlan, Schedule};

/// How many runs of a kind go on at the same time, if there are none of the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Jobs {
    /// Of those whose threads run freely.
    pub free: NonZeroUsize,
    /// Of those that are controlled.
    pub controlled: NonZeroUsize,
}

impl Jobs {
    /// One run after the other.
    pub const ONE: Jobs = Jobs::each(NonZeroUsize::MIN);

    /// So many of either kind.
    pub const fn each(number: NonZeroUsize) -> Jobs {
        Jobs { free: number, controlled: number }
    }

    /// What the machine has room for: two processors for each free run, one for each controlled one.
    pub fn of_machine() -> Jobs {
        let processors = thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
        let free = NonZeroUsize::new(processors.get() / 2).unwrap_or(NonZeroUsize::MIN);
        Jobs { free, controlled: processors }
    }
}

/// Who decides which of a run's threads runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Free,
    Controlled,
}

impl Kind {
    pub fn of(plan: &RunPlan) -> Kind {
        if plan.schedule == Schedule::Free { Kind::Free } else { Kind::Controlled }
    }
}

/// The runs under way, and how much room they leave.
#[derive(Debug)]
pub(crate) struct UnderWay {
    jobs: Jobs,
    free: usize,
    controlled: usize,
}

impl UnderWay {
    pub fn none(jobs: Jobs) -> UnderWay {
        UnderWay { jobs, free: 0, controlled: 0 }
    }

    pub fn is_empty(&self) -> bool {
        self.free + self.controlled == 0
    }

    /// Whether there is room for a run of some kind.
    pub fn has_room(&self) -> bool {
        let Jobs { free, controlled } = self.jobs;
        self.taken() + free.min(controlled).get() <= self.room()
    }

    pub fn has_room_for(&self, kind: Kind) -> bool {
        self.taken() + self.size_of(kind) <= self.room()
    }

    pub fn begin(&mut self, kind: Kind) {
        *self.of_kind(kind) += 1;
    }

    pub fn end(&mut self, kind: Kind) {
        *self.of_kind(kind) -= 1;
    }

    /// The more runs of a kind there is room for, the less room each of them takes.
    fn size_of(&self, kind: Kind) -> usize {
        match kind {
            Kind::Free => self.jobs.controlled.get(),
            Kind::Controlled => self.jobs.free.get(),
        }
    }

    fn room(&self) -> usize {
        self.jobs.free.get() * self.jobs.controlled.get()
    }

    fn taken(&self) -> usize {
        self.free * self.jobs.controlled.get() + self.controlled * self.jobs.free.get()
    }

    fn of_kind(&mut self, kind: Kind) -> &mut usize {
        match kind {
            Kind::Free => &mut self.free,
            Kind::Controlled => &mut self.controlled,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn jobs(free: usize, controlled: usize) -> Jobs {
        Jobs { free: NonZeroUsize::new(free).unwrap(), controlled: NonZeroUsize::new(controlled).unwrap() }
    }

    /// How many runs begin that are asked for in this order, if none of them ends.
    fn begun(jobs: Jobs, asked: &[Kind]) -> usize {
        let mut under_way = UnderWay::none(jobs);
        let fits = |kind: &&Kind| {
            let fits = under_way.has_room_for(**kind);
            assert!(under_way.has_room() || !fits);
            under_way.begin(**kind);
            fits
        };
        asked.iter().take_while(fits).count()
    }

    #[test]
    fn a_controlled_run_takes_one_processor_and_a_free_one_two() {
        use Kind::*;
        assert_eq!(begun(jobs(1, 2), &[Controlled; 9]), 2);
        assert_eq!(begun(jobs(1, 2), &[Free; 9]), 1);
        assert_eq!(begun(jobs(1, 2), &[Controlled, Free]), 1);
        assert_eq!(begun(jobs(4, 8), &[Free, Free, Free, Controlled, Controlled, Controlled]), 5);
        assert_eq!(begun(jobs(1, 3), &[Free, Controlled]), 1);
        assert_eq!(begun(Jobs::each(NonZeroUsize::new(3).unwrap()), &[Controlled, Free, Free, Free]), 3);
        assert_eq!(begun(Jobs::ONE, &[Free, Free]), 1);
    }

    #[test]
    fn a_run_that_ends_leaves_its_room_to_others() {
        let mut under_way = UnderWay::none(jobs(1, 2));
        under_way.begin(Kind::Controlled);
        under_way.begin(Kind::Controlled);
        assert!(!under_way.has_room());
        under_way.end(Kind::Controlled);
        assert!(under_way.has_room_for(Kind::Controlled) && !under_way.has_room_for(Kind::Free));
        under_way.end(Kind::Controlled);
        assert!(under_way.is_empty() && under_way.has_room_for(Kind::Free));
    }
}
