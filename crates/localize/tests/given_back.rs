//! The lock that a wait gives back, also where that is not on record.

mod deeds;
mod support;

use localize::evidence::{Action, Span, advise_standstill};
use localize::{
    ObjectId, SiteId, StackId, Standstill, StandstillKind, StandstillStep, SyncEvent, SyncKind, SyncTarget,
    ThreadId, Wait,
};

use deeds::{advice_on, run};

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

#[test]
fn a_lock_that_is_given_back_to_wait_is_not_kept() {
    let text = "1:lock(a)@1 1:R(x)@2 1:unlock(a) 2:lock(a)@3 2:W(x)@4 2:unlock(a) 1:lock(a)@1 1:R(x)@2";
    let mut looking = run(text);
    assert_eq!(advice_on(&looking, &[0, 1, 2]).map(|fix| fix.action), Some(Action::ExtendLock));
    let (kind, target) = (SyncKind::WaitBegin, SyncTarget::Object(ObjectId(1)));
    let (thread, site, stack) = (ThreadId(1), SiteId(7), StackId(7));
    looking.synchronization.push(SyncEvent { before: 1, thread, kind, target, site, stack });
    assert_eq!(advice_on(&looking, &[0, 1, 2]), None);
    // What was tested once is used elsewhere.
    let mut once = run(&text.replace("1:lock(a)@1 1:R(x)@2", "1:lock(a)@1 1:R(x)@5").replacen("@5", "@2", 1));
    once.synchronization.push(SyncEvent { before: 1, thread, kind, target, site, stack });
    let fix = advice_on(&once, &[0, 1, 2]).unwrap();
    assert_eq!((fix.action, fix.locks, fix.spans.len()), (Action::TestAgain, vec![ObjectId(0)], 2));
    // Another variable of the same test tells already.
    let text = "1:lock(a)@1 1:R(y)@6 1:R(x)@2 1:unlock(a) 2:lock(a)@3 2:W(y)@9 2:W(x)@4 2:unlock(a) 1:lock(a)@1 1:R(y)@6 1:R(x)@5";
    let mut in_loop = run(text);
    in_loop.synchronization.push(SyncEvent { before: 2, thread, kind, target, site, stack });
    assert_ne!(advice_on(&in_loop, &[1, 3, 5]).map(|fix| fix.action), Some(Action::TestAgain));
}
