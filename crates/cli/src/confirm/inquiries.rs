//! What is asked of trials: how often each kind of runs fails, compared with the others, or how often one does.

use std::collections::VecDeque;

use report::Verdict;

use super::decision::{Arm, Arms, BEYOND_DOUBT, FEWEST};
use super::queue::Inquiry;
use super::trials::{Asked, Limits, Seen};

/// Rounds of one run of each kind, of which all that are counted are whole: so there are as many looks at what follows as rounds.
pub struct Comparison<'c, F> {
    kinds: F,
    arms: &'c mut Arms,
    limits: &'c Limits,
    /// Of these first rounds, forced and delayed runs were counted before.
    known: u64,
    /// Rounds that began.
    begun: u32,
    /// Rounds that are counted.
    counted: u32,
    /// Trials of the latest round that have not begun.
    to_begin: VecDeque<Trial>,
    /// What came of the trials of the first round that is not counted.
    answers: Vec<Option<Seen>>,
    is_over: bool,
}

/// One of a round's: its place among the kinds.
type Trial = usize;

const FORBIDDEN: Trial = 1;

impl<'b, 'c, F: Fn(u32) -> [Asked<'b>; 3]> Comparison<'c, F> {
    pub fn new(kinds: F, arms: &'c mut Arms, limits: &'c Limits) -> Comparison<'c, F> {
        let known = arms.enforced.runs;
        let (to_begin, answers) = (VecDeque::new(), Vec::new());
        Comparison { kinds, arms, limits, known, begun: 0, counted: 0, to_begin, answers, is_over: false }
    }

    /// Those of a round. Runs that were forced or delayed before are as good as new ones.
    fn trials(&self, round: u32) -> &'static [Trial] {
        if u64::from(round) <= self.known { &[FORBIDDEN] } else { &[0, FORBIDDEN, 2] }
    }

    /// May the rounds under way be the last? Not before all is as clear as they can make it.
    fn may_be_enough(&self) -> bool {
        let mut best = *self.arms;
        for round in self.counted + 1..=self.begun {
            for &trial in self.trials(round) {
                let forced = trial == 0;
                arm_of(&mut best, trial).add(forced, forced);
            }
        }
        is_clear(&best)
    }

    fn count_round(&mut self) {
        self.counted += 1;
        for (&trial, seen) in self.trials(self.counted).iter().zip(std::mem::take(&mut self.answers)) {
            add(arm_of(self.arms, trial), seen);
        }
        let left = u64::from(self.limits.runs - self.counted);
        let is_in_vain = self.arms.forbidden.runs >= FEWEST && !self.arms.can_be_confirmed(left);
        self.is_over = left == 0 || is_clear(self.arms) || is_in_vain || self.limits.is_over();
    }
}

impl<'b, F: Fn(u32) -> [Asked<'b>; 3]> Inquiry for Comparison<'_, F> {
    type Trial = Asked<'b>;
    type Answer = Option<Seen>;

    fn next(&mut self) -> Option<Asked<'b>> {
        if self.to_begin.is_empty() {
            let is_first = self.begun == 0;
            let has_more = self.begun < self.limits.runs && !self.is_over;
            if !has_more || !is_first && (self.limits.is_over() || self.may_be_enough()) {
                return None;
            }
            self.begun += 1;
            self.to_begin = self.trials(self.begun).iter().copied().collect();
        }
        let trial = self.to_begin.pop_front()?;
        Some((self.kinds)(self.begun)[trial])
    }

    fn take(&mut self, seen: Option<Seen>) -> bool {
        self.answers.push(seen);
        if self.answers.len() == self.trials(self.counted + 1).len() {
            self.count_round();
        }
        !self.is_over
    }
}

fn is_clear(arms: &Arms) -> bool {
    arms.decide(BEYOND_DOUBT).verdict == Verdict::Confirmed
}

fn arm_of(arms: &mut Arms, trial: Trial) -> &mut Arm {
    match trial {
        0 => &mut arms.enforced,
        FORBIDDEN => &mut arms.forbidden,
        _ => &mut arms.delayed,
    }
}

/// Runs of one kind.
pub struct Repetition<F, E> {
    asked: F,
    runs: u32,
    are_enough: E,
    limits: Limits,
    begun: u32,
    pub arm: Arm,
    /// Whether the time was over before all had begun.
    pub is_cut_short: bool,
}

impl<'b, F: Fn(u32) -> Asked<'b>, E: Fn(&Arm) -> bool> Repetition<F, E> {
    pub fn new(asked: F, runs: u32, are_enough: E, limits: Limits) -> Repetition<F, E> {
        Repetition { asked, runs, are_enough, limits, begun: 0, arm: Arm::default(), is_cut_short: false }
    }
}

impl<'b, F: Fn(u32) -> Asked<'b>, E: Fn(&Arm) -> bool> Inquiry for Repetition<F, E> {
    type Trial = Asked<'b>;
    type Answer = Option<Seen>;

    fn next(&mut self) -> Option<Asked<'b>> {
        if self.begun == self.runs {
            return None;
        }
        if self.limits.is_over() {
            self.is_cut_short = true;
            return None;
        }
        self.begun += 1;
        Some((self.asked)(self.begun))
    }

    fn take(&mut self, seen: Option<Seen>) -> bool {
        add(&mut self.arm, seen);
        !(self.are_enough)(&self.arm)
    }
}

fn add(arm: &mut Arm, seen: Option<Seen>) {
    if let Some(seen) = seen {
        arm.add(seen.failed, seen.came_about);
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroUsize;
    use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
    use std::thread;
    use std::time::Duration;

    use recording::{Interleaving, InterleavingStep, Treatment};

    use super::*;
    use crate::confirm::queue;
    use crate::confirm::trials::kinds;

    const LIMITS: Limits = Limits { runs: 20, until: None };

    fn interleaving() -> Interleaving {
        let steps = [InterleavingStep { thread: 1, address: 7, ..InterleavingStep::default() }; 2];
        Interleaving::new(Treatment::Enforce, &steps).unwrap()
    }

    /// Compares runs that fail as `fails` says of their kind and round, so many at the same time, and says how many runs began.
    fn compared(arms: &mut Arms, at_once: usize, fails: impl Fn(Treatment, u32) -> bool + Sync) -> u32 {
        let begun = AtomicU32::new(0);
        let perform = |asked: Asked<'_>, _: &AtomicBool| {
            let nth = begun.fetch_add(1, Ordering::Relaxed);
            // Later ones are sometimes done before earlier ones.
            thread::sleep(Duration::from_micros(u64::from(nth * 7 % 5) * 200));
            let treatment = asked.interleaving.unwrap().treatment;
            let failed = fails(treatment, asked.number);
            Some(Seen::new(failed, treatment == Treatment::Enforce))
        };
        let mut comparison = Comparison::new(kinds(interleaving(), interleaving()), arms, &LIMITS);
        let places = NonZeroUsize::new(at_once).unwrap();
        queue::work_off(&mut comparison, places, &AtomicBool::new(false), perform);
        begun.into_inner()
    }

    fn counts(arms: &Arms) -> [(u64, u64); 3] {
        [arms.enforced, arms.forbidden, arms.delayed].map(|arm| arm.counts())
    }

    #[test]
    fn how_many_runs_go_on_at_the_same_time_changes_no_count() {
        let patterns: [fn(Treatment, u32) -> bool; 3] = [
            |treatment, number| treatment == Treatment::Enforce && number != 3,
            |treatment, number| treatment != Treatment::Forbid && number % 2 == 0,
            |_, number| number % 3 == 0,
        ];
        for fails in patterns {
            let one_by_one = |at_once| {
                let mut arms = Arms::new(1.0);
                compared(&mut arms, at_once, fails);
                counts(&arms)
            };
            let expected = one_by_one(1);
            assert!(
                expected.iter().all(|(_, runs)| *runs == expected[0].1),
                "rounds are whole: {expected:?}"
            );
            assert_eq!([one_by_one(2), one_by_one(8)], [expected; 2]);
        }
    }

    #[test]
    fn no_run_begins_while_those_before_may_be_enough() {
        for at_once in [1, 2, 16] {
            let mut arms = Arms::new(1.0);
            let begun = compared(&mut arms, at_once, |treatment, _| treatment == Treatment::Enforce);
            assert_eq!((begun, counts(&arms)), (21, [(7, 7), (0, 7), (0, 7)]));
        }
    }

    #[test]
    fn runs_that_were_forced_or_delayed_before_are_not_made_again() {
        let mut arms = Arms::new(1.0);
        compared(&mut arms, 2, |treatment, _| treatment == Treatment::Enforce);
        arms.forbidden = Arm::default();
        let begun = compared(&mut arms, 2, |_, _| false);
        assert_eq!((begun, counts(&arms)), (6, [(7, 7), (0, 6), (0, 7)]));
    }

    #[test]
    fn runs_are_repeated_until_they_are_enough() {
        let repeated = |passing: u32| {
            let asked = |number| Asked::of(number, interleaving());
            let passes = |arm: &Arm| arm.failed < arm.runs;
            let mut repetition = Repetition::new(asked, 9, passes, LIMITS);
            let perform = |asked: Asked<'_>, _: &AtomicBool| Some(Seen::new(asked.number != passing, true));
            queue::work_off(&mut repetition, NonZeroUsize::MIN, &AtomicBool::new(false), perform);
            repetition.arm.counts()
        };
        assert_eq!([repeated(1), repeated(4), repeated(10)], [(0, 1), (3, 4), (9, 9)]);
    }
}
