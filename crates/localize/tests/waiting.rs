//! Who waits and then goes on without another look.

mod support;

use localize::{
    Detail, ObjectId, Options, Reason, SiteId, StackId, SyncEvent, SyncKind, SyncTarget, Technique, ThreadId,
    localize,
};
use support::runs_like;

/// The first finding of failing runs in which thread 1 waits after its look, if it does, and whether it is told why.
fn first(waits: bool, uses: &str) -> (String, bool) {
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
    for run in session.runs.iter_mut().take(22).filter(|_| waits) {
        run.synchronization.push(SyncEvent {
            before: 4,
            thread: ThreadId(1),
            kind: SyncKind::WaitBegin,
            target: SyncTarget::Object(ObjectId(1)),
            site: SiteId(99),
            stack: StackId(99),
        });
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
