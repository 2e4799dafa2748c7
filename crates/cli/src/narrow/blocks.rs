//! What a thread was about to do at an edge: an access, or all that it does in the section of a lock that it was about to take or to
//! give back there, since others are kept out of that as a whole.

use std::ops::Range;

use localize::profile::TokenSwitch;
use localize::{Access, Code, ObjectId, Profile, SiteId, StackId, ThreadId};

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
    let last = section_before(profile, thread, left);
    let Some(next) = (back..accesses.len()).find(of_thread) else {
        return Some(Held { between: left..back, next: Vec::new(), step: last.clone(), last });
    };
    let place = goes_on.and_then(|switch| switch.stack);
    if place.is_some_and(|stack| is_same_place(code, stack, accesses[next].stack)) {
        // All that one instruction does.
        let same = |&index: &usize| is_same_place(code, accesses[next].stack, accesses[index].stack);
        let next: Vec<usize> = (next..accesses.len()).filter(of_thread).take_while(same).collect();
        return Some(Held { between: left..back, step: next.clone(), next, last });
    }
    let lock = outermost(profile, &accesses[next]);
    let within = |&index: &usize| lock.is_some() && outermost(profile, &accesses[index]) == lock;
    let rest = (next + 1..accesses.len()).filter(of_thread).take_while(within);
    let section: Vec<usize> = std::iter::once(next).chain(rest).collect();
    let takes_lock = place.is_none_or(|stack| is_taken_at(profile, code, &accesses[next], stack));
    let step = if takes_lock { section.clone() } else { last.clone() };
    Some(Held { between: left..back, next: section, step, last })
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
fn section_before(profile: &Profile, thread: ThreadId, index: usize) -> Vec<usize> {
    let accesses = &profile.run.accesses;
    let mut own = (0..index.min(accesses.len())).rev().filter(|&index| accesses[index].thread == thread);
    let Some(last) = own.next() else { return Vec::new() };
    let lock = outermost(profile, &accesses[last]);
    let within = |&index: &usize| lock.is_some() && outermost(profile, &accesses[index]) == lock;
    let mut section: Vec<usize> = std::iter::once(last).chain(own.take_while(within)).collect();
    section.reverse();
    section
}

/// The lock around a section: which, and where it was taken.
fn outermost(profile: &Profile, access: &Access) -> Option<(ObjectId, StackId)> {
    profile.run.held(access)?.first().map(|lock| (lock.object, lock.taken_at))
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
