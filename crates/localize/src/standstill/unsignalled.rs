//! A change that others wait for and that this time no signal follows, though it does at other times: `if (was_empty) signal()`. One of two that wait is woken for the first
//! change, and nobody for the second, since the guard finds what the first has left.
//!
//! All of it is in the run that hung: the thread waits, a place in the code changes what it had looked at, and somewhere else in the run the same place is followed
//! by a signal of its thread.

use std::ops::Range;

use rustc_hash::FxHashSet;

use super::{Action, DECISIVE_WRITES, Standstill, StandstillKind, StandstillStep};
use crate::run::{Access, AccessKind, LocationId, Run, SiteId, ThreadId};
use crate::synchronization::{SyncEvent, SyncKind, SyncTarget, Wait};

/// A thread that waits for a condition, after the first change since its last signal, and since the wait began, that none followed. The wait goes on, so it comes last.
pub(super) fn unsignalled(run: &Run, wait: &Wait) -> Option<Standstill> {
    let SyncTarget::Object(condition) = wait.target else { return None };
    let events = &run.synchronization;
    let is_own = |event: &SyncEvent| event.thread == wait.thread && event.target == wait.target;
    let begun = events.iter().rposition(|event| event.kind == SyncKind::WaitBegin && is_own(event))?;
    let looks = looks_before(run, wait.thread, &events[..=begun]);
    let signals = signals_like(run, wait);
    let usual = usual_places(run, &looks, &signals);
    let last_signal = signals.last().map_or(0, |signal| signal.before);
    let since = last_signal.max(events[begun].before);
    let is_usual = |access: &Access| {
        access.thread != wait.thread
            && access.kind.writes()
            && looks.contains(&access.location)
            && usual.contains(&access.site)
    };
    let write = (since..run.accesses.len()).find(|&at| is_usual(&run.accesses[at]))?;
    if is_as_it_was(run, wait.thread, run.accesses[write].location, events[begun].before) {
        return None;
    }
    let Access { thread, site, stack, .. } = run.accesses[write];
    let changes = StandstillStep { role: 1, thread, action: Action::Write(write), site, stack };
    let waits = StandstillStep {
        role: 2,
        thread: wait.thread,
        action: Action::Wait(condition),
        site: wait.site,
        stack: wait.stack,
    };
    Some(Standstill { kind: StandstillKind::Unsignalled, steps: vec![changes, waits] })
}

/// Of a standstill of this kind, the last signal that followed a change at the place of the one that none did.
pub fn usual_signal<'run>(run: &'run Run, standstill: &Standstill) -> Option<&'run SyncEvent> {
    let [write, waits] = standstill.steps.as_slice() else { return None };
    let wait = run.waits.iter().find(|wait| wait.thread == waits.thread)?;
    let Action::Write(write) = write.action else { return None };
    let looks = FxHashSet::from_iter([run.accesses[write].location]);
    let of_place = |signal: &&SyncEvent| change_before(run, &looks, signal) == Some(run.accesses[write].site);
    signals_like(run, wait).into_iter().rfind(of_place)
}

/// What a thread has looked at in the section in which it went on to wait; `until` ends with the beginning of the wait.
fn looks_before(run: &Run, waiter: ThreadId, until: &[SyncEvent]) -> FxHashSet<LocationId> {
    looks(run, waiter, section_before(run, waiter, until)).map(|access| access.location).collect()
}

/// The accesses of that section, of all threads.
pub(super) fn section_before(run: &Run, waiter: ThreadId, until: &[SyncEvent]) -> Range<usize> {
    let begins = |event: &&SyncEvent| {
        event.thread == waiter && matches!(event.kind, SyncKind::Acquire | SyncKind::WaitEnd)
    };
    let end = until.last().map_or(0, |wait| wait.before).min(run.accesses.len());
    let begin = until.iter().rfind(begins).map_or(0, |event| event.before).min(end);
    begin..end
}

/// What a thread looks at within some accesses.
pub(super) fn looks(run: &Run, thread: ThreadId, within: Range<usize>) -> impl Iterator<Item = &Access> {
    let is_look = move |access: &&Access| access.thread == thread && access.kind != AccessKind::Write;
    run.accesses[within].iter().filter(is_look)
}

/// The signals by other threads for this thread's condition, and for those at which others wait at the same place (parking_lot has one for each).
fn signals_like<'run>(run: &'run Run, wait: &Wait) -> Vec<&'run SyncEvent> {
    let begins_there = |event: &&SyncEvent| {
        event.kind == SyncKind::WaitBegin && (event.site, event.stack) == (wait.site, wait.stack)
    };
    let mut targets: FxHashSet<SyncTarget> =
        run.synchronization.iter().filter(begins_there).map(|event| event.target).collect();
    targets.insert(wait.target);
    let is_signal = |event: &&SyncEvent| {
        matches!(event.kind, SyncKind::Signal | SyncKind::Broadcast)
            && targets.contains(&event.target)
            && event.thread != wait.thread
    };
    run.synchronization.iter().filter(is_signal).collect()
}

/// Where the threads that signalled had just changed what was looked at.
fn usual_places(run: &Run, looks: &FxHashSet<LocationId>, signals: &[&SyncEvent]) -> FxHashSet<SiteId> {
    signals.iter().filter_map(|signal| change_before(run, looks, signal)).collect()
}

/// Where the thread of a signal wrote one of these locations the last time before it.
fn change_before(run: &Run, looks: &FxHashSet<LocationId>, signal: &SyncEvent) -> Option<SiteId> {
    let before = &run.accesses[..signal.before.min(run.accesses.len())];
    let own_writes = before.iter().rev().filter(|a| a.thread == signal.thread && a.kind.writes());
    let mut writes = own_writes.take(DECISIVE_WRITES);
    writes.find(|access| looks.contains(&access.location)).map(|access| access.site)
}

/// Whether a location ends up with the value that the waiting thread saw before it began to wait: then there is nothing to be told of.
fn is_as_it_was(run: &Run, waiter: ThreadId, location: LocationId, begun: usize) -> bool {
    let of_it = |access: &&Access| access.location == location;
    let before = &run.accesses[..begun.min(run.accesses.len())];
    let seen = before.iter().filter(of_it).rfind(|access| access.thread == waiter);
    let left = run.accesses.iter().rfind(of_it);
    seen.zip(left).is_some_and(|(seen, left)| seen.value.is_some() && seen.value == left.value)
}
