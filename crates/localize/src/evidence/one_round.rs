//! Of all occurrences of a pattern on two variables in a run, one in which each thread does its two steps in one round of its loops.
//!
//! What a thread has read of one item and what it reads of the next are two accesses of one thread, too, and the technique tells the occurrence
//! that begins first. Whoever is shown that sees two variables that have nothing to do with each other, and locks given back in between.

use crate::finding::Example;
use crate::run::{Access, Run};

/// So many occurrences are looked at, each over so many accesses, at most.
const MOST: usize = 2000;
const LONGEST: usize = 10_000;

/// The accesses of such an occurrence, if those of the example are of several rounds.
pub(super) fn in_one_round(run: &Run, example: &Example) -> Option<Vec<usize>> {
    let steps = Steps::of(run, example.accesses.as_slice().try_into().ok()?)?;
    if steps.are_one_round(run, &steps.example) {
        return None;
    }
    let begins = (0..run.accesses.len()).filter(|&index| steps.fits(run, 0, index));
    let mut complete = begins.take(MOST).filter_map(|first| steps.from(run, first));
    complete.find(|found| steps.are_one_round(run, found)).map(|found| found.to_vec())
}

/// The steps of two threads on two variables.
struct Steps {
    example: [usize; 4],
    /// For each step an earlier one of the same thread, and one to the same variable.
    same_thread: [Option<usize>; 4],
    same_variable: [Option<usize>; 4],
}

impl Steps {
    fn of(run: &Run, example: [usize; 4]) -> Option<Steps> {
        let accesses = example.map(|index| &run.accesses[index]);
        let earlier = |step: usize, same: &dyn Fn(&Access, &Access) -> bool| {
            (0..step).find(|&before| same(accesses[before], accesses[step]))
        };
        let same_thread = [0, 1, 2, 3].map(|step| earlier(step, &|one, other| one.thread == other.thread));
        let same_variable =
            [0, 1, 2, 3].map(|step| earlier(step, &|one, other| one.location == other.location));
        let are_two = |same: &[Option<usize>; 4]| same.iter().flatten().count() == 2;
        let is_in_order = example.is_sorted();
        (is_in_order && are_two(&same_thread) && are_two(&same_variable)).then_some(Steps {
            example,
            same_thread,
            same_variable,
        })
    }

    /// Is this access at the place of the step?
    fn fits(&self, run: &Run, step: usize, index: usize) -> bool {
        let (one, other) = (&run.accesses[self.example[step]], &run.accesses[index]);
        one.site == other.site && one.kind == other.kind
    }

    /// The occurrence that begins here and takes the next access that fits for each step.
    fn from(&self, run: &Run, first: usize) -> Option<[usize; 4]> {
        let mut found = [first; 4];
        for step in 1..4 {
            let end = run.accesses.len().min(first + LONGEST);
            let mut later = (found[step - 1] + 1)..end;
            found[step] = later.find(|&index| {
                self.fits(run, step, index) && self.is_like_example(run, &found[..step], step, index)
            })?;
        }
        Some(found)
    }

    /// Is it by the thread and to the variable that the steps before it say?
    fn is_like_example(&self, run: &Run, before: &[usize], step: usize, index: usize) -> bool {
        let access = &run.accesses[index];
        before.iter().enumerate().all(|(nth, &other)| {
            let other = &run.accesses[other];
            let fits = |same: &[Option<usize>; 4], is_same: bool| {
                let is_meant = same[step].is_some_and(|known| known == nth || same[nth] == Some(known));
                is_meant == is_same
            };
            fits(&self.same_thread, other.thread == access.thread)
                && fits(&self.same_variable, other.location == access.location)
        })
    }

    /// Does each thread do neither of its steps once more in between, and does nobody else write to a variable between its two?
    fn are_one_round(&self, run: &Run, found: &[usize; 4]) -> bool {
        (0..4).all(|step| {
            let once = self.same_thread[step].is_none_or(|before| is_once(run, found[before], found[step]));
            once && self.same_variable[step].is_none_or(|before| is_kept(run, found[before], found[step]))
        })
    }
}

/// A loop over items whose steps are at one place is one round.
fn is_once(run: &Run, from: usize, to: usize) -> bool {
    let (first, last) = (&run.accesses[from], &run.accesses[to]);
    let mut between =
        run.accesses[from + 1..to].iter().take(LONGEST).filter(|access| access.thread == first.thread);
    first.site == last.site || !between.any(|access| access.site == first.site || access.site == last.site)
}

fn is_kept(run: &Run, from: usize, to: usize) -> bool {
    let location = run.accesses[from].location;
    let mut between = run.accesses[from + 1..to].iter().take(LONGEST);
    !between.any(|access| access.location == location && access.kind.writes())
}
