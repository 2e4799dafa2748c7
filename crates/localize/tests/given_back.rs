//! The lock that a wait gives back, where that is not on record.

mod deeds;
mod support;

use localize::evidence::{Action, Span, advise_standstill};
use localize::{
    ObjectId, SiteId, StackId, Standstill, StandstillKind, StandstillStep, SyncKind, SyncTarget, ThreadId,
    Wait,
};

use deeds::run;

/// Where nobody else takes it, it is the one that the thread held as it looked, and has no more.
#[test]
fn what_is_held_at_the_look_and_no_more_at_the_wait_is_given_back() {
    let mut alone = run("1:lock(a)@1 1:lock(b)@2 1:R(x)@3 1:unlock(b) 1:R(y)@4 2:W(x)@5");
    let locks = alone.accesses[1].locks.unwrap();
    alone.accesses.remove(1);
    // That of a lock which nobody else takes is not on record.
    alone.synchronization.retain(|event| event.kind != SyncKind::Release);
    let (site, stack, condition) = (SiteId(6), StackId(6), ObjectId(9));
    let (kind, target, thread) = (SyncKind::WaitBegin, SyncTarget::Object(condition), ThreadId(1));
    alone.waits.push(Wait { thread, kind, target, site, stack, locks });
    let step = |role: u32, action| StandstillStep { role, thread: ThreadId(role), action, site, stack };
    let missed = Standstill {
        kind: StandstillKind::MissedSignal,
        steps: vec![
            step(1, localize::Action::Read(0)),
            step(2, localize::Action::Write(1)),
            step(2, localize::Action::Signal(condition)),
            step(1, localize::Action::Wait(condition)),
        ],
    };
    let fix = advise_standstill(&alone, &missed).unwrap();
    let change = Span { from: 1, to: 2 };
    assert_eq!((fix.action, fix.locks, fix.spans), (Action::TakeLock, vec![ObjectId(1)], vec![change]));
}
