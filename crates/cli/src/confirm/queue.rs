//! Trials that go on at the same time and are judged one after the other.
//!
//! Which of them is done first depends on the machine. So whoever asks is told what came of them in the order in which they began, and
//! what was begun on the chance that it would be needed is forgotten where it is not: nothing that is counted depends on how many go
//! on at the same time.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// How often one who waits looks whether there is to be no more.
const INTERRUPT_CHECK: Duration = Duration::from_millis(50);

/// Who asks for trials.
pub trait Inquiry {
    type Trial: Send;
    type Answer: Send;

    /// The next trial to begin. None where there is none before another answer, or none at all.
    fn next(&mut self) -> Option<Self::Trial>;

    /// Takes the answer of the first trial that has none yet. False if no more are wanted.
    fn take(&mut self, answer: Self::Answer) -> bool;
}

/// Makes the trials of an inquiry, so many at the same time at most. `perform` makes one, and may give it up once it is told that nobody wants
/// it any more, as all are once `interrupted` is set.
pub fn work_off<I: Inquiry>(
    inquiry: &mut I,
    places: NonZeroUsize,
    interrupted: &AtomicBool,
    perform: impl Fn(I::Trial, &AtomicBool) -> I::Answer + Sync,
) {
    let unwanted = &AtomicBool::new(false);
    let perform = &perform;
    thread::scope(|scope| {
        let (answers, answered) = mpsc::channel();
        let (mut begun, mut under_way, mut taken) = (0, 0, 0);
        let mut early = BTreeMap::new();
        loop {
            while under_way < places.get()
                && !unwanted.load(Ordering::Relaxed)
                && let Some(trial) = inquiry.next()
            {
                let answers = answers.clone();
                let number = begun;
                scope.spawn(move || answers.send((number, perform(trial, unwanted))));
                begun += 1;
                under_way += 1;
            }
            if under_way == 0 {
                break;
            }
            if let Ok((number, answer)) = answered.recv_timeout(INTERRUPT_CHECK) {
                under_way -= 1;
                early.insert(number, answer);
            }
            while !unwanted.load(Ordering::Relaxed)
                && let Some(answer) = early.remove(&taken)
            {
                taken += 1;
                if !inquiry.take(answer) {
                    unwanted.store(true, Ordering::Relaxed);
                }
            }
            unwanted.fetch_or(interrupted.load(Ordering::Relaxed), Ordering::Relaxed);
        }
    });
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use super::*;

    /// Numbers from zero, at most so many ahead of the answers, until this one is answered.
    struct Numbers {
        next: usize,
        ahead: usize,
        last: usize,
        answers: Vec<usize>,
    }

    impl Numbers {
        fn until(last: usize, ahead: usize) -> Numbers {
            Numbers { next: 0, ahead, last, answers: Vec::new() }
        }
    }

    impl Inquiry for Numbers {
        type Trial = usize;
        type Answer = usize;

        fn next(&mut self) -> Option<usize> {
            let number = (self.next < self.answers.len() + self.ahead).then_some(self.next)?;
            self.next += 1;
            Some(number)
        }

        fn take(&mut self, answer: usize) -> bool {
            self.answers.push(answer);
            answer < self.last
        }
    }

    fn places(number: usize) -> NonZeroUsize {
        NonZeroUsize::new(number).unwrap()
    }

    /// Takes longer the lower its number is, unless nobody wants it.
    fn answer(number: usize, unwanted: &AtomicBool) -> usize {
        for _ in number..12 {
            if !unwanted.load(Ordering::Relaxed) {
                thread::sleep(Duration::from_millis(1));
            }
        }
        number
    }

    #[test]
    fn answers_are_taken_in_order_up_to_the_last_that_is_wanted() {
        for at_once in [1, 2, 5] {
            for ahead in [1, 3, 9] {
                let mut numbers = Numbers::until(7, ahead);
                work_off(&mut numbers, places(at_once), &AtomicBool::new(false), answer);
                assert_eq!(numbers.answers, (0..=7).collect::<Vec<_>>(), "{at_once} of {ahead}");
            }
        }
    }

    #[test]
    fn no_more_go_on_than_there_are_places() {
        let (under_way, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        work_off(&mut Numbers::until(9, 20), places(3), &AtomicBool::new(false), |number, unwanted| {
            most.fetch_max(under_way.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            let answer = answer(number, unwanted);
            under_way.fetch_sub(1, Ordering::SeqCst);
            answer
        });
        assert_eq!(most.into_inner(), 3);
    }

    #[test]
    fn nothing_is_begun_or_taken_after_an_interruption() {
        let interrupted = AtomicBool::new(false);
        let mut numbers = Numbers::until(100, 1);
        work_off(&mut numbers, places(2), &interrupted, |number, unwanted| {
            interrupted.store(number == 3, Ordering::Relaxed);
            answer(number, unwanted)
        });
        assert_eq!(numbers.next, 4);
    }
}
