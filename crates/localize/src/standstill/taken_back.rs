//! A thread that waits for what it has written over itself.

use crate::run::{AccessKind, Run, ThreadId};
use crate::synchronization::{ObjectId, SyncEvent, SyncKind, SyncTarget};

use super::DECISIVE_WRITES;

/// The last write before a signal, by its thread, that the waiting thread wrote over without a look, in the section in which it went on to wait, and looked at
/// after that: it would have found what was written for it had it not written there itself, and no signal could have told it more. As a timer that marks
/// itself as idle after it has fired, though it was armed again meanwhile. `until` ends where it begins to wait.
pub(super) fn taken_back(
    run: &Run,
    waiter: ThreadId,
    signal: &SyncEvent,
    until: &[SyncEvent],
) -> Option<usize> {
    let takes = |event: &&SyncEvent| event.thread == waiter && event.kind == SyncKind::Acquire;
    let (accesses, last) = (&run.accesses, run.accesses.len());
    let begins = until.iter().rfind(takes)?.before.min(last);
    let signalled = signal.before.min(last);
    let writes =
        (0..signalled).rev().filter(|&at| accesses[at].thread == signal.thread && accesses[at].kind.writes());
    writes.take(DECISIVE_WRITES).find(|&written| {
        let own = |at: &usize| {
            accesses[*at].thread == waiter && accesses[*at].location == accesses[written].location
        };
        let mut afterwards = (written..last).filter(own);
        let over = afterwards.next();
        over.is_some_and(|over| over >= begins && accesses[over].kind == AccessKind::Write)
            && afterwards.any(|look| accesses[look].kind == AccessKind::Read)
    })
}

/// The lock that a thread gave back when it began to wait for a condition the last time. A monitor is the condition itself.
pub(crate) fn given_back(run: &Run, waiter: ThreadId, condition: ObjectId) -> Option<ObjectId> {
    let begins = |event: &SyncEvent| event.thread == waiter && event.kind == SyncKind::WaitBegin;
    let begun = run.synchronization.iter().rposition(begins);
    let released = begun.and_then(|begun| released_after(waiter, &run.synchronization[begun..]));
    released.or_else(|| is_lock(run, condition).then_some(condition))
}

/// The same of the wait that these events begin with, which need not be the last.
pub(crate) fn given_back_by(run: &Run, events: &[SyncEvent]) -> Option<ObjectId> {
    let (wait, rest) = events.split_first()?;
    let own = rest.iter().find(|event| event.thread == wait.thread);
    let at_once = own.and_then(|own| released_after(wait.thread, std::slice::from_ref(own)));
    match wait.target {
        SyncTarget::Object(condition) => at_once.or_else(|| is_lock(run, condition).then_some(condition)),
        _ => at_once,
    }
}

fn released_after(waiter: ThreadId, events: &[SyncEvent]) -> Option<ObjectId> {
    events.iter().find_map(|event| match (event.kind, event.target) {
        (SyncKind::Release, SyncTarget::Object(lock)) if event.thread == waiter => Some(lock),
        _ => None,
    })
}

fn is_lock(run: &Run, object: ObjectId) -> bool {
    run.locksets.iter().flatten().any(|lock| lock.object == object)
}
