//! Who waits and then goes on without another look.

mod support;

use localize::{
    Detail, Lock, LocksetId, ObjectId, Options, Reason, SiteId, StackId, SyncEvent, SyncKind, SyncTarget,
    Technique, ThreadId, localize,
};
use support::runs_like;

/// The first finding of failing runs in which thread 1 waits after its look, if it does, and whether it is told why.
fn first(waits: bool, uses: &str) -> (String, bool) {
    first_under(waits, uses, None)
}

/// The same where the wait gives back a lock, and the look was made with this one in hand.
fn first_under(waits: bool, uses: &str, lock: Option<u32>) -> (String, bool) {
    // A note that goes along with the section tells the runs a little better.
    let broken = format!(
        "W1(note)@begin W2(note)@begin R1(note)@end R1(places)@test R2(places)@test W2(places)@take {uses}"
    );
    let lucky = format!(
        "W1(note)@begin R1(note)@end W2(note)@begin R1(places)@test R2(places)@test W2(places)@take {uses}"
    );
    let right = "W1(note)@begin R1(note)@end R1(places)@test R1(places)@use W2(note)@begin R2(places)@test W2(places)@take";
    let traces = runs_like("F", &broken, 20) + &runs_like("P", &lucky, 2) + &runs_like("P", right, 40);
    let mut session = support::parse(&traces);
    let event = |kind: SyncKind, object: u32| SyncEvent {
        before: 4,
        thread: ThreadId(1),
        kind,
        target: SyncTarget::Object(ObjectId(object)),
        site: SiteId(99),
        stack: StackId(99),
    };
    for run in session.runs.iter_mut().take(22).filter(|_| waits) {
        run.synchronization.push(event(SyncKind::WaitBegin, 1));
        let Some(lock) = lock else { continue };
        run.synchronization.push(event(SyncKind::Release, 2));
        let (object, taken_in, taken_at) = (ObjectId(lock), SiteId(98), StackId(98));
        run.accesses[3].locks = Some(LocksetId(run.locksets.len() as u32));
        run.locksets.push(vec![Lock { object, taken_in, taken_at, shared: false, tried: false }]);
    }
    let findings = localize(Technique::Verdict, &session.runs, &Options::default());
    let Detail::Verdict(reasoning) = &findings[0].detail else { panic!("no verdict") };
    (session.in_short(&findings[0]), reasoning.reasons.contains(&Reason::TestedOnce))
}

#[test]
fn a_look_that_is_not_made_again_after_a_wait_is_to_blame() {
    let goes_along = "P5 begin begin end".to_owned();
    assert_eq!(first(false, "R1(places)@use"), (goes_along.clone(), false));
    assert_eq!(first(true, "R1(places)@use"), ("P4 test take use".to_owned(), true));
    assert_eq!(first(true, "R1(places)@test R1(places)@use"), (goes_along, false), "it looks again");
    assert!(!first(true, "R1(note)@end R1(places)@use").1, "another part of what it waits for tells already");
}

/// A thread of a pool looks at something in one task, and waits for the next one.
#[test]
fn who_looked_without_the_lock_of_the_wait_waits_for_something_else() {
    let told = |lock: u32| first_under(true, "R1(places)@use", Some(lock));
    assert_eq!(told(2), ("P4 test take use".to_owned(), true));
    assert_eq!(told(7), ("P5 begin begin end".to_owned(), false));
}
