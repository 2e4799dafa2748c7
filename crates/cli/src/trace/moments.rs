//! A run moment by moment, before it is put into words: that takes far longer than to choose what is worth it.

use localize::{Outcome, Profile, Run, Sleep, SyncEvent, SyncKind, SyncTarget, Wait};

use super::tracer::identity;

/// Something that a thread did, or could not do.
#[derive(Clone, Copy)]
pub enum Moment<'a> {
    /// An access, by its index in the run.
    Access(usize),
    Synchronization(&'a SyncEvent),
    Sleep(&'a Sleep),
    /// The run has hung, and this thread waits in vain.
    Stuck(&'a Wait),
}

/// A whole run, in the order of time.
pub fn moments(profile: &Profile) -> Vec<Moment<'_>> {
    let run = &profile.run;
    let mut moments = Vec::with_capacity(run.accesses.len() + run.synchronization.len() + run.sleeps.len());
    let mut between = between_accesses(run).into_iter().peekable();
    for index in 0..run.accesses.len() {
        while let Some((_, moment)) = between.next_if(|(before, _)| *before <= index) {
            moments.push(moment);
        }
        moments.push(Moment::Access(index));
    }
    moments.extend(between.map(|(_, moment)| moment));
    if run.outcome == Outcome::Hang {
        moments.extend(run.waits.iter().map(Moment::Stuck));
    }
    moments
}

/// What is no access, each with the access that it came before.
fn between_accesses(run: &Run) -> Vec<(usize, Moment<'_>)> {
    let mut all = Vec::with_capacity(run.synchronization.len() + run.sleeps.len());
    let mut sleeps = run.sleeps.iter().peekable();
    for (index, event) in run.synchronization.iter().enumerate() {
        while let Some(sleep) = sleeps.next_if(|sleep| sleep.synchronized <= index) {
            all.push((sleep.before, Moment::Sleep(sleep)));
        }
        all.push((event.before, Moment::Synchronization(event)));
    }
    all.extend(sleeps.map(|sleep| (sleep.before, Moment::Sleep(sleep))));
    all
}

impl Moment<'_> {
    /// What it is about, as a number; none if it is about nothing but its thread.
    pub fn object(self, profile: &Profile) -> Option<u64> {
        match self {
            Moment::Access(index) => Some(identity(0, profile.run.accesses[index].location.0)),
            Moment::Synchronization(event) if matches!(event.kind, SyncKind::Start | SyncKind::End) => None,
            Moment::Synchronization(event) => Some(target(event.target)),
            Moment::Sleep(_) => None,
            Moment::Stuck(wait) => Some(target(wait.target)),
        }
    }
}

fn target(target: SyncTarget) -> u64 {
    match target {
        SyncTarget::Thread(thread) => identity(1, thread.0),
        SyncTarget::Object(object) => identity(2, object.0),
    }
}

/// The moments to be shown where a run has more than `most`: those around the marked ones, or else how it ended.
/// `object` tells what each is about.
pub fn around(all: usize, marks: &[usize], most: usize, object: impl Fn(usize) -> Option<u64>) -> Vec<usize> {
    if all <= most {
        return (0..all).collect();
    }
    let [first, last] = [marks.iter().min(), marks.iter().max()].map(|mark| mark.copied().unwrap_or(all - 1));
    if last - first < most {
        let start = first.saturating_sub((most - (last - first)) / 2).min(all - most);
        return (start..start + most).collect();
    }
    // They lie far apart: of what is between them, that which they are about matters most.
    let objects: Vec<u64> = marks.iter().filter_map(|&mark| object(mark)).collect();
    let is_near = |index: usize| [first, last].iter().any(|mark| index.abs_diff(*mark) <= most / 8);
    let mut room = most / 2;
    let is_shown = |index: &usize| {
        let near = marks.contains(index) || is_near(*index);
        let shown = near || room > 0 && object(*index).is_some_and(|object| objects.contains(&object));
        room -= usize::from(shown && !near);
        shown
    };
    (0..all).filter(is_shown).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_runs_are_shown_around_what_is_marked() {
        const MOST: usize = 800;
        for (all, marks) in [
            (MOST, vec![0]),
            (9 * MOST, vec![]),
            (9 * MOST, vec![4, 8]),
            (9 * MOST, vec![3 * MOST, 3 * MOST + 90]),
            (9 * MOST, vec![9, 8 * MOST]),
            (9 * MOST, vec![0, 4 * MOST, 9 * MOST - 1]),
        ] {
            let object = |index: usize| (index.is_multiple_of(7) || marks.contains(&index)).then_some(1);
            let shown = around(all, &marks, MOST, object);
            assert!(shown.len() <= MOST && shown.is_sorted(), "{} moments", shown.len());
            assert!(marks.iter().all(|mark| shown.contains(mark)), "{marks:?}");
            if marks.is_empty() {
                assert_eq!(shown.last(), Some(&(all - 1)), "its end");
            }
        }
        let far = around(9 * MOST, &[9, 8 * MOST], MOST, |index| (index % 7 == 2).then_some(5));
        assert!(far.contains(&(7 * 200 + 2)) && !far.contains(&(7 * 200 + 3)), "what they are about");
    }
}
