//! What a thread was about to do at an edge: an access, or all that it does in the section of a lock that it was about to take or to
//! give back there, since others are kept out of that as a whole.

use std::ops::Range;

use localize::profile::TokenSwitch;
use localize::{Access, Code, ObjectId, Profile, Run, SiteId, StackId, ThreadId};

/// A thread that was held at a stop.
pub struct Held {
    /// What others did meanwhile, by index.
    pub between: Range<usize>,
    /// The accesses of what it did first when it went on.
    pub next: Vec<usize>,
    /// Those of the step that it was about to make: the same, unless it was about to give back a lock, or to do something else that is no
    /// access.
    pub step: Vec<usize>,
    /// Those of what it had done last.
    pub last: Vec<usize>,
    /// Where it was held, if that is known.
    pub place: Option<StackId>,
}

/// None if the run never held it there.
pub fn at_stop(profile: &Profile, code: &Code, thread: ThreadId, stop: u32) -> Option<Held> {
    let is_held = |switch: &TokenSwitch| switch.from == Some(thread) && switch.stop >= stop;
    let held = profile.switches.iter().position(is_held)?;
    let left = profile.switches[held].before;
    let accesses = &profile.run.accesses;
    let goes_on = profile.switches[held..].iter().find(|switch| switch.to == thread);
    let back = goes_on.map_or(accesses.len(), |switch| switch.before);
    let of_thread = |index: &usize| accesses[*index].thread == thread;
    let last = section_before(&profile.run, thread, left);
    let Some(next) = (back..accesses.len()).find(of_thread) else {
        return Some(Held { between: left..back, next: Vec::new(), step: last.clone(), last, place: None });
    };
    let place = goes_on.and_then(|switch| switch.stack);
    if place.is_some_and(|stack| is_same_place(code, stack, accesses[next].stack)) {
        // All that one instruction does.
        let same = |&index: &usize| is_same_place(code, accesses[next].stack, accesses[index].stack);
        let steps: Vec<usize> = (next..accesses.len()).filter(of_thread).take_while(same).collect();
        // With a lock in hand that others need, it is all one to them how far it has come in the section.
        let step = match is_kept_from_others(&profile.run, &accesses[next]) {
            true => section_around(&profile.run, next),
            false => steps.clone(),
        };
        return Some(Held { between: left..back, step, next: steps, last, place });
    }
    let section = section_from(&profile.run, next);
    let takes_lock = place.is_none_or(|stack| is_taken_at(profile, code, &accesses[next], stack));
    let step = if takes_lock { section.clone() } else { last.clone() };
    Some(Held { between: left..back, next: section, step, last, place })
}

/// What a thread comes to in a run when it has made its last step as often as in another one, in which it was held right after that: the first thing at the place
/// where it was held there, or in the section of a lock that it takes there.
pub fn goes_on_at(
    (profile, code): (&Profile, &Code),
    thread: ThreadId,
    between: Range<usize>,
    [last, place]: [StackId; 2],
    times: usize,
) -> Vec<usize> {
    let run = &profile.run;
    let is_own = |index: &usize| run.accesses[*index].thread == thread;
    let is_last = |index: &usize| is_same_place(code, run.accesses[*index].stack, last);
    let since = match times.checked_sub(1) {
        None => Some(0),
        Some(nth) => (0..between.end).filter(is_own).filter(is_last).nth(nth),
    };
    let is_there = |&index: &usize| {
        let access = &run.accesses[index];
        is_same_place(code, place, access.stack) || is_taken_at(profile, code, access, place)
    };
    let from = since.map_or(between.end, |since| between.start.max(since + 1));
    let next = (from..between.end).filter(is_own).find(is_there);
    next.map_or_else(Vec::new, |next| section_from(run, next))
}

/// How often a thread does the same before an access.
pub fn times_at(profile: &Profile, code: &Code, last: usize) -> usize {
    let accesses = &profile.run.accesses;
    let is_same = |access: &&Access| {
        access.thread == accesses[last].thread && is_same_place(code, access.stack, accesses[last].stack)
    };
    accesses[..=last].iter().filter(is_same).count()
}

/// Places of a virtual machine are known by the line.
fn is_same_place(code: &Code, one: StackId, other: StackId) -> bool {
    let place = |stack: StackId| code.stack(stack).first().copied();
    let line = |site: SiteId| code.place(site).map(|place| (&place.function, place.line));
    match (place(one), place(other)) {
        (Some(one), Some(other)) => one == other || line(one).is_some() && line(one) == line(other),
        _ => false,
    }
}

/// The section that a thread has come to the end of.
pub fn section_before(run: &Run, thread: ThreadId, index: usize) -> Vec<usize> {
    let accesses = &run.accesses;
    let last = (0..index.min(accesses.len())).rev().find(|&index| accesses[index].thread == thread);
    last.map_or_else(Vec::new, |last| section_up_to(run, last))
}

/// Some accesses of a thread with what it does besides between the first of them and `until` in the section of the last one. A section that it comes to
/// again and again is left where it has been at the same place before.
pub fn whole_round(run: &Run, mut some: Vec<usize>, until: usize) -> Vec<usize> {
    let (Some(&first), Some(&last)) = (some.first(), some.last()) else { return some };
    let site = |index: usize| run.accesses[index].site;
    let mut round = vec![last];
    for index in of_section(run, last, (first..last).rev()) {
        if round.iter().any(|&later| site(later) == site(index)) {
            break;
        }
        round.push(index);
    }
    round.extend(of_section(run, last, last + 1..until));
    round.retain(|index| !some.contains(index));
    some.extend(round);
    some.sort_unstable();
    some
}

/// An access with what its thread does in the same section before it.
fn section_up_to(run: &Run, last: usize) -> Vec<usize> {
    let mut section: Vec<usize> = of_section(run, last, (0..last).rev()).collect();
    section.reverse();
    section.push(last);
    section
}

/// An access with what its thread does in the same section after it.
fn section_from(run: &Run, first: usize) -> Vec<usize> {
    let rest = of_section(run, first, first + 1..run.accesses.len());
    std::iter::once(first).chain(rest).collect()
}

fn section_around(run: &Run, index: usize) -> Vec<usize> {
    let mut section = section_up_to(run, index);
    section.extend(section_from(run, index).into_iter().skip(1));
    section
}

/// Of some accesses, those of the same thread in the same section, up to where that ends.
fn of_section(run: &Run, index: usize, others: impl Iterator<Item = usize>) -> impl Iterator<Item = usize> {
    let accesses = &run.accesses;
    let (thread, lock) = (accesses[index].thread, outermost(run, &accesses[index]));
    let own = others.filter(move |&other| accesses[other].thread == thread);
    own.take_while(move |&other| lock.is_some() && outermost(run, &accesses[other]) == lock)
}

/// Whether other threads use a lock that is held at an access.
fn is_kept_from_others(run: &Run, access: &Access) -> bool {
    let Some((lock, _)) = outermost(run, access) else { return false };
    let holds =
        |other: &Access| run.held(other).is_some_and(|locks| locks.iter().any(|held| held.object == lock));
    run.accesses.iter().any(|other| other.thread != access.thread && holds(other))
}

/// The lock around a section: which, and where it was taken.
fn outermost(run: &Run, access: &Access) -> Option<(ObjectId, StackId)> {
    run.held(access)?.first().map(|lock| (lock.object, lock.taken_at))
}

/// Whether a lock that is held at an access was taken there, or by what was called from there: a method that is entered takes its lock
/// before it has a line.
fn is_taken_at(profile: &Profile, code: &Code, access: &Access, stack: StackId) -> bool {
    let frames = code.stack(stack);
    let is_there = |taken: &[SiteId]| {
        taken == frames || taken.get(1..) == Some(frames) || frames.get(1..) == Some(taken)
    };
    profile.run.held(access).is_some_and(|locks| locks.iter().any(|lock| is_there(code.stack(lock.taken_at))))
}

#[cfg(test)]
mod tests {
    use localize::{AccessKind, LocationId, Lock, LocksetId, Outcome, RunId};

    use super::*;

    /// Reads by these threads, each with the lock that it holds, if any, and where it took that.
    fn run(reads: &[(u32, Option<(u32, u32)>)]) -> Run {
        let mut run = Run::new(RunId(1), Outcome::Pass);
        run.locksets.clear();
        for (nth, &(thread, lock)) in reads.iter().enumerate() {
            let lock = lock.map(|(object, taken_at)| Lock {
                object: ObjectId(object),
                taken_in: SiteId(taken_at),
                taken_at: StackId(taken_at),
                shared: false,
                tried: false,
            });
            run.locksets.push(lock.into_iter().collect());
            run.accesses.push(Access {
                thread: ThreadId(thread),
                location: LocationId(0),
                site: SiteId(nth as u32),
                stack: StackId(nth as u32),
                kind: AccessKind::Read,
                uncertain: false,
                value: None,
                before: None,
                locks: Some(LocksetId(nth as u32)),
                iteration: None,
                atomic: false,
                frees: false,
            });
        }
        run
    }

    const SECTION: Option<(u32, u32)> = Some((7, 1));
    const NEXT_SECTION: Option<(u32, u32)> = Some((7, 2));

    #[test]
    fn a_section_ends_where_its_lock_is_given_back() {
        let run = run(&[(1, None), (1, SECTION), (1, SECTION), (2, None), (1, SECTION), (1, NEXT_SECTION)]);
        assert_eq!(section_around(&run, 2), [1, 2, 4]);
        assert_eq!(section_from(&run, 2), [2, 4]);
        assert_eq!(section_before(&run, ThreadId(1), 3), [1, 2]);
        assert_eq!(section_before(&run, ThreadId(1), 1), [0], "no lock is held");
    }

    /// A list is read and emptied in each section; that it was emptied is on record only where another thread came to it.
    #[test]
    fn what_was_done_besides_in_the_round_is_looked_at_too() {
        let mut run = run(&[(1, SECTION); 7]);
        for (access, site) in run.accesses.iter_mut().zip([10, 11, 12, 10, 11, 12, 13]) {
            access.site = SiteId(site);
        }
        assert_eq!(whole_round(&run, vec![3, 5], 6), [3, 4, 5], "up to where it is held");
        assert_eq!(whole_round(&run, vec![3, 4], 7), [3, 4, 5, 6]);
        assert_eq!(
            whole_round(&run, vec![0, 5], 6),
            [0, 3, 4, 5],
            "what it did in an earlier round is another one's"
        );
        assert_eq!(whole_round(&run, Vec::new(), 7), [0; 0]);
    }

    #[test]
    fn a_lock_that_nobody_else_takes_keeps_nobody_out() {
        let run = |other| run(&[(1, SECTION), (2, other)]);
        let is_kept = |run: &Run| is_kept_from_others(run, &run.accesses[0]);
        assert!(is_kept(&run(NEXT_SECTION)));
        assert!(!is_kept(&run(Some((8, 1)))) && !is_kept(&run(None)));
    }

    /// A worker is about to announce itself in a section of its own, of which nothing is on record where nobody looks any more.
    #[test]
    fn what_was_about_to_be_done_is_known_from_the_run_in_which_it_was() {
        let run = run(&[(1, None), (2, None), (1, None), (1, SECTION), (1, SECTION), (1, NEXT_SECTION)]);
        let (threads, locations, objects, images) = Default::default();
        let (names, switches, warnings) = Default::default();
        let profile = Profile { run, threads, locations, objects, images, names, switches, warnings };
        let mut code = Code::default();
        let stacks: Vec<StackId> = (0..6).map(|site| code.stack_id(&[SiteId(site)])).collect();
        assert_eq!(stacks, (0..6).map(StackId).collect::<Vec<_>>(), "as the accesses have them");
        // It was held where it takes the lock of its section, right after its access without a lock.
        assert_eq!(times_at(&profile, &code, 2), 1);
        let at = [StackId(2), StackId(1)];
        let found = |between| goes_on_at((&profile, &code), ThreadId(1), between, at, 1);
        assert_eq!(found(0..6), [3, 4]);
        assert_eq!(found(0..3), [0; 0], "it comes to it too late");
    }
}
