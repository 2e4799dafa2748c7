//! A signal for one that woke a thread which waits at the same condition for something else: it looks, finds nothing for it and waits again, and the signal is used up. A
//! buffer whose takers and putters share a condition stands still so when a taker wakes a taker.
//!
//! All of it is in the run that hung: who still waits began to before the signal, the signal's thread has changed what it had looked at, that is as it was left,
//! and whoever woke has looked at that elsewhere in the code, changed none of it and waits again.

use rustc_hash::{FxHashMap, FxHashSet};

use super::unsignalled::{looks, section_before};
use super::{Action, DECISIVE_WRITES, Standstill, StandstillKind, StandstillStep};
use crate::run::{Access, LocationId, Run, SiteId, StackId, ThreadId};
use crate::synchronization::{SyncEvent, SyncKind, SyncTarget, Wait};

/// Both waits and the signal.
pub(super) fn woke_in_vain(run: &Run, wait: &Wait) -> Option<Standstill> {
    let SyncTarget::Object(condition) = wait.target else { return None };
    let events = &run.synchronization;
    let is_own = |event: &SyncEvent| event.thread == wait.thread && event.target == wait.target;
    let begun = events.iter().rposition(|event| event.kind == SyncKind::WaitBegin && is_own(event))?;
    let reaches = |event: &SyncEvent| event.target == wait.target || is_shared(run, event, wait);
    let last =
        events.iter().rposition(|event| is_signal(event) && reaches(event)).filter(|&at| at > begun)?;
    let signal = &events[last];
    let (_, other, up) = woken(events, last).filter(|(thread, ..)| *thread != wait.thread)?;
    if signal.kind != SyncKind::Signal || signal.thread == wait.thread {
        return None;
    }
    let again = events[up..].iter().find(|event| {
        event.thread == other.thread && (event.kind == SyncKind::WaitBegin || is_signal(event))
    })?;
    let section = section_before(run, wait.thread, &events[..=begun]);
    let own = |access: &Access| (access.location, access.site);
    let seen: FxHashMap<LocationId, SiteId> = looks(run, wait.thread, section).map(own).collect();
    let write = change_before(run, &seen, signal)?;
    let (location, end) = (run.accesses[write].location, again.before.min(run.accesses.len()));
    // Whoever looks at the same place waits for the same.
    let since_woken = events[up].before.min(end)..end;
    let mut others =
        looks(run, other.thread, since_woken).filter(|look| look.location == location).peekable();
    let is_for_something_else =
        others.peek().is_some() && others.all(|look| seen.get(&location) != Some(&look.site));
    let is_changed_again =
        run.accesses[write + 1..].iter().any(|access| access.location == location && access.kind.writes());
    if again.kind != SyncKind::WaitBegin || !is_for_something_else || is_changed_again {
        return None;
    }
    let step = |role, thread, action, site, stack| StandstillStep { role, thread, action, site, stack };
    let steps = vec![
        step(1, wait.thread, Action::Wait(condition), wait.site, wait.stack),
        step(2, other.thread, Action::Wait(condition), other.site, other.stack),
        step(3, signal.thread, Action::Signal(condition), signal.site, signal.stack),
    ];
    Some(Standstill { kind: StandstillKind::WokeAnother, steps })
}

fn is_signal(event: &SyncEvent) -> bool {
    matches!(event.kind, SyncKind::Signal | SyncKind::Broadcast)
}

/// Whom a signal woke, as far as it is on record: the thread, where it had begun to wait, and its waking up.
fn woken(events: &[SyncEvent], signal: usize) -> Option<(ThreadId, &SyncEvent, usize)> {
    let target = events[signal].target;
    let wakes = |event: &SyncEvent| event.kind == SyncKind::WaitEnd && event.target == target;
    let up = signal + events[signal..].iter().position(wakes)?;
    let thread = events[up].thread;
    let begins = |event: &&SyncEvent| {
        (event.thread, event.target, event.kind) == (thread, target, SyncKind::WaitBegin)
    };
    Some((thread, events[..signal].iter().rfind(begins)?, up))
}

/// Whether a signal is for the condition that a thread waits for, as far as the run shows: in parking_lot each has something of its own to wait at. Places of signals that have woken who waited
/// at one place signal the same, and who was woken by one place has waited for the same.
fn is_shared(run: &Run, signal: &SyncEvent, wait: &Wait) -> bool {
    let events = &run.synchronization;
    let place = |event: &SyncEvent| (event.site, event.stack);
    let signals = (0..events.len()).filter(|&at| is_signal(&events[at]));
    let wakes = signals.filter_map(|at| Some([place(&events[at]), place(woken(events, at)?.1)]));
    let wakes: Vec<[(SiteId, StackId); 2]> = wakes.collect();
    let mut known = FxHashSet::from_iter([place(signal)]);
    // No place signals and waits.
    while let Some(new) = wakes.iter().find(|ends| {
        ends.iter().any(|end| known.contains(end)) && !ends.iter().all(|end| known.contains(end))
    }) {
        known.extend(new);
    }
    known.contains(&(wait.site, wait.stack))
}

/// The last write before a signal, by its thread, to one of these locations.
fn change_before(run: &Run, seen: &FxHashMap<LocationId, SiteId>, signal: &SyncEvent) -> Option<usize> {
    let before = 0..signal.before.min(run.accesses.len());
    let is_own = |&at: &usize| run.accesses[at].thread == signal.thread && run.accesses[at].kind.writes();
    before
        .rev()
        .filter(is_own)
        .take(DECISIVE_WRITES)
        .find(|&at| seen.contains_key(&run.accesses[at].location))
}
