//! What to do about what threads do in one round after the other.

mod deeds;
mod support;

use localize::Run;
use localize::evidence::{Action, Fix, Witness, advise};

use deeds::run;

fn advice_on(run: &Run, accesses: &[usize]) -> Option<Fix> {
    let witness = Witness::of(run, accesses);
    let facts = witness.facts(accesses);
    advise(&witness, accesses, &facts, &|_, _| false)
}

/// From one round of a thread to the next its lock is taken at the same place.
#[test]
fn a_lock_that_is_taken_at_one_place_is_held_in_two_rounds() {
    let of_two_rounds = |text: &str| {
        let run = run(text);
        let fix = advice_on(&run, &[0, 1, 2]).unwrap();
        assert_eq!(fix.action, Action::ExtendLock);
        fix.is_of_two_rounds(&run, &[0, 1, 2])
    };
    let rounds = "1:lock(a)@1 1:W(x)@2 1:unlock(a) 2:lock(a)@3 2:W(x)@4 2:unlock(a) 1:lock(a)@1 1:R(x)@5";
    assert!(of_two_rounds(rounds));
    assert!(!of_two_rounds(&rounds.replace("1:lock(a)@1 1:R", "1:lock(a)@6 1:R")));
}

/// A buffer is replaced by a larger one, from which the other thread is to take more.
#[test]
fn the_end_of_a_thread_is_not_waited_for_that_is_given_more_to_do() {
    let grows = "1:create(2)@3 2:start(1) 1:W(y)@6 2:R(y)@7 1:F(x)@5 2:R(x)@4";
    let advice = |text: &str| advice_on(&run(text), &[2, 3]).map(|fix| fix.action);
    assert_eq!(advice(&format!("{grows} 1:W(y)@6")), Some(Action::Wait));
    assert_eq!(advice(grows), Some(Action::Join), "that was all");
    assert_eq!(advice(&format!("{grows} 1:W(y)@8")), Some(Action::Join), "it is told to end");
}
