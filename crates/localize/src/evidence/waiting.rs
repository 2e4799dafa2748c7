//! What to do about threads that wait for what will never come.

use super::fix::{Action, Fix, Span, distinct};
use crate::run::{Run, ThreadId};
use crate::standstill::{self, Action as StandstillAction, Standstill, StandstillKind};
use crate::synchronization::{Lock, ObjectId, SyncEvent, SyncKind, SyncTarget, Wait};

/// What to do about threads that wait for what will never come.
pub fn advise_standstill(run: &Run, standstill: &Standstill) -> Option<Fix> {
    let steps = &standstill.steps;
    let all = |from: usize, to: usize| Span { from, to };
    match (standstill.kind, steps.as_slice()) {
        (StandstillKind::Deadlock, [taken, .., again]) if taken.thread == again.thread && steps.len() < 4 => {
            let StandstillAction::Lock(lock) = taken.action else { return None };
            let again = steps.len() - 1;
            Some(Fix::plain(Action::TakeOnce, vec![lock], vec![all(again, again), all(0, 0)]))
        }
        (StandstillKind::Deadlock, [taken, _]) => {
            let StandstillAction::Lock(lock) = taken.action else { return None };
            let has_ended = |event: &SyncEvent| event.kind == SyncKind::End && event.thread == taken.thread;
            if run.synchronization.iter().any(has_ended) {
                return Some(Fix::plain(Action::Unlock, vec![lock], vec![all(0, 0)]));
            }
            // The holder waits for something else, which does not come as long as it has the lock.
            let is_its = |wait: &&Wait| wait.thread == taken.thread;
            let wait = run.waits.iter().find(is_its)?;
            Some(Fix {
                waits_at: Some(wait.stack),
                ..Fix::plain(Action::WaitUnlocked, vec![lock], vec![all(0, 0)])
            })
        }
        (StandstillKind::Deadlock, _) => {
            let threads = steps.len() / 2;
            let taken = steps[..threads].iter().filter_map(|step| match step.action {
                StandstillAction::Lock(lock) => Some(lock),
                _ => None,
            });
            let spans = (0..threads).map(|thread| all(thread, threads + thread)).collect();
            Some(Fix::plain(Action::LockOrder, distinct(taken.collect()), spans))
        }
        (StandstillKind::MissedSignal, [read, write, _, _]) => {
            let (StandstillAction::Read(read), StandstillAction::Write(write)) = (read.action, write.action)
            else {
                return None;
            };
            let held = |index: usize| run.held(&run.accesses[index]).unwrap_or_default();
            let holds = |index: usize, lock: ObjectId| held(index).iter().any(|other| other.object == lock);
            // Held at the test and given back by the wait alone, it need only be held where the change is made.
            let StandstillAction::Wait(condition) = steps[3].action else { return None };
            let awaited = standstill::given_back(run, steps[3].thread, condition)
                .or_else(|| only_one_gone(run, steps[3].thread, read))
                .or_else(|| taken_last(run, steps[3].thread));
            if let Some(lock) = awaited.filter(|&lock| holds(read, lock) && !holds(write, lock)) {
                return Some(Fix::plain(Action::TakeLock, vec![lock], vec![all(1, 2)]));
            }
            // Another one would be held while the thread waits.
            let both = |lock: &&Lock| holds(write, lock.object);
            let common = || held(read).iter().filter(both).map(|lock| lock.object).collect();
            let locks = awaited.map_or_else(common, |lock| vec![lock]);
            Some(Fix::plain(Action::WaitInLoop, locks, vec![all(0, 3), all(3, 3)]))
        }
        (StandstillKind::MissedSignal, steps) => {
            let wait = steps.len().checked_sub(1)?;
            Some(Fix::plain(Action::WaitInLoop, vec![], vec![all(wait, wait)]))
        }
        (StandstillKind::WokeAnother, steps) => {
            let signal = steps.len().checked_sub(1)?;
            let StandstillAction::Signal(condition) = steps[signal].action else { return None };
            Some(Fix::plain(Action::WakeAll, vec![condition], vec![all(signal, signal)]))
        }
        (StandstillKind::Unsignalled, steps) => {
            let StandstillAction::Wait(condition) = steps.last()?.action else { return None };
            Some(Fix::plain(Action::SignalEach, vec![condition], vec![all(0, 0)]))
        }
    }
}

/// The only lock of those at a read that a thread does not hold any more as it waits, and has not given back before. That the wait gave it back is not on record
/// where nobody else has used it.
fn only_one_gone(run: &Run, waiter: ThreadId, read: usize) -> Option<ObjectId> {
    let is_it = |wait: &&Wait| wait.thread == waiter && wait.kind == SyncKind::WaitBegin;
    let kept = &run.locksets[run.waits.iter().find(is_it)?.locks.0 as usize];
    let is_gone = |lock: &&Lock| {
        kept.iter().all(|other| other.object != lock.object)
            && !is_given_back(run, waiter, lock.object, read + 1)
    };
    let mut gone = run.held(&run.accesses[read]).unwrap_or_default().iter().filter(is_gone);
    gone.next().filter(|_| gone.next().is_none()).map(|lock| lock.object)
}

/// The lock that a thread took last before it waits, if it has not given it back by itself.
fn taken_last(run: &Run, waiter: ThreadId) -> Option<ObjectId> {
    let of_lock = |event: &SyncEvent| match (event.kind, event.target) {
        (SyncKind::Acquire, SyncTarget::Object(lock)) if event.thread == waiter => Some((lock, event.before)),
        _ => None,
    };
    let (lock, since) = run.synchronization.iter().rev().find_map(of_lock)?;
    (!is_given_back(run, waiter, lock, since)).then_some(lock)
}

/// Whether a thread has given a lock back, from an access on and before it began to wait.
fn is_given_back(run: &Run, waiter: ThreadId, lock: ObjectId, since: usize) -> bool {
    let own = run.synchronization.iter().filter(|event| event.thread == waiter);
    let mut before_wait = own.take_while(|event| event.kind != SyncKind::WaitBegin || event.before < since);
    before_wait.any(|event| {
        event.kind == SyncKind::Release && event.target == SyncTarget::Object(lock) && event.before >= since
    })
}
