//! Why threads wait in vain, as something to be enforced.

use localize::{Action, Code, ObjectId, Run, Standstill, StandstillKind, StandstillStep, SyncKind};
use recording::{Interleaving, InterleavingStep, Treatment};

use super::{Forcible, place};

/// None if there is nothing to enforce.
pub fn of_standstill(standstill: &Standstill, run: &Run, code: &Code) -> Option<Forcible> {
    // What a thread does all by itself cannot be brought about by holding others back, nor can it be held back until
    // another one waits for its lock: that step is never done.
    if standstill.kind == StandstillKind::Deadlock && matches!(standstill.steps.len(), 2 | 3) {
        let (first, last) = (standstill.steps.first()?, standstill.steps.last()?);
        if first.role == last.role {
            return None;
        }
        if holder_awaits_signal(standstill, run) {
            return None;
        }
    }
    // Which of several threads a signal wakes is not for us to say, nor what a guard finds.
    if matches!(standstill.kind, StandstillKind::WokeAnother | StandstillKind::Unsignalled) {
        return None;
    }
    let mut objects: Vec<Option<ObjectId>> = Vec::new();
    let mut variable = |action: Action| {
        let object = match action {
            Action::Lock(object) | Action::Signal(object) | Action::Wait(object) => Some(object),
            // The two accesses of an outdated decision are to one variable.
            Action::Read(_) | Action::Write(_) => None,
        };
        let known = objects.iter().position(|&known| known == object);
        known.unwrap_or_else(|| {
            objects.push(object);
            objects.len() - 1
        })
    };
    let steps = standstill.steps.iter().map(|step| {
        let (thread, variable) = (u8::try_from(step.role).ok()?, u8::try_from(variable(step.action)).ok()?);
        let place = place(step.site, step.stack, code)?;
        Some(InterleavingStep { thread, variable, guard: monitor_of(step, run, code).unwrap_or(0), ..place })
    });
    let steps = steps.collect::<Option<Vec<_>>>()?;
    let mut interleaving = Interleaving::new(Treatment::Enforce, &steps)?;
    let threads = steps.len() / 2;
    let is_circle = standstill.kind == StandstillKind::Deadlock && threads >= 2;
    if is_circle {
        // First all take their lock, in any order, then all wait.
        let waits = threads..steps.len();
        let orders: Vec<(usize, usize)> =
            waits.flat_map(|wait| (0..threads).map(move |take| (take, wait))).collect();
        interleaving = interleaving.with_orders(&orders)?;
    }
    let accesses = (0..steps.len()).collect();
    Some(Forcible {
        interleaving,
        wider: None,
        accesses,
        example: None,
        is_circle,
        is_missed_signal: standstill.kind == StandstillKind::MissedSignal,
        is_effect: false,
        is_one_place: false,
        is_new_code: false,
        is_count: false,
        is_round: false,
        unfinished: 0,
        leading: Vec::new(),
        whole: None,
        own: None,
        narrowed: None,
    })
}

/// Whether who holds the lock waits for a signal meanwhile: in passing runs it takes the lock first as well, and the signal comes all the same.
fn holder_awaits_signal(standstill: &Standstill, run: &Run) -> bool {
    let [holder, _] = standstill.steps.as_slice() else { return false };
    run.waits.iter().any(|wait| wait.thread == holder.thread && wait.kind == SyncKind::WaitBegin)
}

/// Where the monitor was entered within which a thread signals or waits, if it is an object's own as in Java.
fn monitor_of(step: &StandstillStep, run: &Run, code: &Code) -> Option<u64> {
    if !matches!(step.action, Action::Signal(_) | Action::Wait(_)) {
        return None;
    }
    let events = &run.synchronization;
    let at = events.iter().rposition(|event| event.site == step.site && event.thread == step.thread)?;
    let taken = events[..at].iter().rfind(|event| {
        event.kind == SyncKind::Acquire && event.thread == step.thread && event.target == events[at].target
    })?;
    let (taken, own) = (code.site(taken.site), code.site(step.site));
    (taken.module == own.module).then_some(taken.address)
}

#[cfg(test)]
mod tests {
    use localize::{LocksetId, Outcome, RunId, SiteId, StackId, SyncTarget, ThreadId, Wait};

    use super::*;

    /// A printer waits for its next job with its own monitor in its hands, and whoever has one for it waits for that.
    #[test]
    fn a_lock_whose_holder_waits_for_a_signal_is_no_order() {
        let lock = Action::Lock(ObjectId(1));
        let step = |role| StandstillStep {
            role,
            thread: ThreadId(role),
            action: lock,
            site: SiteId(role),
            stack: StackId(0),
        };
        let standstill = Standstill { kind: StandstillKind::Deadlock, steps: vec![step(1), step(2)] };
        let wait = |thread, kind| Wait {
            thread: ThreadId(thread),
            kind,
            target: SyncTarget::Object(ObjectId(thread)),
            site: SiteId(0),
            stack: StackId(0),
            locks: LocksetId(0),
        };
        let of = |waits: &[Wait]| {
            holder_awaits_signal(
                &standstill,
                &Run { waits: waits.to_vec(), ..Run::new(RunId(1), Outcome::Hang) },
            )
        };
        assert!(of(&[wait(1, SyncKind::WaitBegin), wait(2, SyncKind::Acquire)]));
        assert!(!of(&[wait(2, SyncKind::Acquire)]), "it has ended");
        assert!(!of(&[wait(1, SyncKind::Acquire), wait(2, SyncKind::Acquire)]), "they wait in a circle");
    }
}
