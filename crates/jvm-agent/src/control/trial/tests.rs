use super::super::Marks;
use super::super::What;
use super::*;

/// Two threads take two locks in opposite orders: at steps 0 and 1 their first, at 2 and 3 they wait.
const DEADLOCK: &str = ":1.0@ab+1;2.1@ab+1;1.1@ab+2;2.0@ab+2/1<3/2<3/1<4/2<4";

const LEFT: What = (7, 0);
const RIGHT: What = (8, 0);

fn trial(text: &str) -> Trial {
    let mut trial = Trial::new(1, text.parse().unwrap(), None);
    (trial.begins, trial.waits_for_first) = (ONE_IN_ALL, true);
    trial
}

/// What is done to a lock where these steps are.
fn at(what: What, steps: u16) -> Operation {
    Operation { what: Some(what), marks: Marks { steps, ..Marks::default() }, ..Operation::NONE }
}

/// Those of threads 1 to 3 who may run, if none of them is about to do anything in particular.
fn free(trial: &Trial) -> Vec<u32> {
    let candidates = [1, 2, 3].map(|thread| Candidate { thread, operation: Operation::NONE });
    trial.let_through(&candidates).iter().map(|candidate| candidate.thread).collect()
}

const FIRST: u16 = 0b0011;
const SECOND: u16 = 0b1100;

#[test]
fn of_a_deadlock_each_thread_takes_its_first_lock_before_any_takes_its_second() {
    let mut trial = trial(&format!("enforce{DEADLOCK}"));
    trial.step(1, at(LEFT, FIRST));
    assert_eq!(free(&trial), [2, 3]);
    // The same lock again is no second one.
    trial.step(3, at(LEFT, FIRST));
    assert_eq!(free(&trial), [2, 3]);
    trial.step(2, at(RIGHT, FIRST));
    assert_eq!(free(&trial), [1, 2]);
    trial.waits(2, at(LEFT, SECOND));
    assert_eq!((free(&trial), trial.completed()), (vec![1], 0));
    trial.waits(1, at(RIGHT, SECOND));
    assert_eq!(trial.completed(), 1);
}

#[test]
fn who_waits_for_its_first_lock_has_not_taken_it() {
    let mut trial = trial(&format!("enforce{DEADLOCK}"));
    trial.waits(1, at(LEFT, FIRST));
    assert_eq!(free(&trial), [1, 2, 3]);
}

#[test]
fn to_forbid_a_deadlock_one_thread_at_a_time_takes_its_locks() {
    let mut trial = trial(&format!("forbid{DEADLOCK}"));
    trial.step(2, at(RIGHT, FIRST));
    assert_eq!(free(&trial), [2]);
    trial.waits(2, at(LEFT, SECOND));
    assert_eq!(free(&trial), [2], "it has yet to get it");
    trial.step(2, at(LEFT, SECOND));
    assert_eq!((free(&trial), trial.completed()), (vec![1, 2, 3], 0));
}

#[test]
fn to_forbid_a_missed_signal_it_is_held_back_before_its_lock_is_taken() {
    let trial = trial("forbid:1.0@ab+1^3;2.0@ab+2");
    let takes_lock = Operation { marks: Marks { guarded: 1, ..Marks::default() }, ..at(LEFT, 0) };
    let candidates = [Candidate { thread: 1, operation: takes_lock }];
    assert!(trial.let_through(&candidates).is_empty());
}

#[test]
fn what_is_done_stays_done_when_its_thread_ends() {
    let mut trial = trial("enforce:1.0@ab+1;2.0@ab+2");
    trial.step(1, at(LEFT, 1));
    trial.left(1);
    trial.waits(2, at(LEFT, 2));
    assert_eq!(trial.completed(), 1);
}

/// A thread looks something up, and puts it there; another one puts it there in between.
const CHECK_THEN_ACT: &str = ":1.0@ab+1;2.0@ab+2;1.0@ab+2/1<2/2<3";
const LOOKS: u16 = 0b001;
const PUTS: u16 = 0b110;

fn access(what: What, steps: u16) -> Operation {
    Operation { is_access: true, ..at(what, steps) }
}

#[test]
fn who_never_finishes_its_part_keeps_nobody_from_finishing_theirs() {
    let mut trial = trial(&format!("forbid{CHECK_THEN_ACT}"));
    trial.step(1, access(LEFT, LOOKS));
    assert_eq!(free(&trial), [1]);
    // It has found what it looked for, and waits for something else.
    let others = [2, 3].map(|thread| Candidate { thread, operation: Operation::NONE });
    assert_eq!(trial.let_through(&others).len(), 2);
    trial.step(2, access(RIGHT, LOOKS));
    assert_eq!(free(&trial), [2], "what was begun last is finished first");
    trial.step(2, access(RIGHT, PUTS));
    assert_eq!(free(&trial), [1]);
    // Looking again begins again.
    trial.step(1, access(LEFT, LOOKS));
    assert_eq!(free(&trial), [1]);
    trial.step(1, access(LEFT, PUTS));
    assert_eq!(free(&trial), [1, 2, 3]);
}

/// As where an array is filled and then added up.
#[test]
fn what_is_begun_with_many_variables_is_finished_with_all_of_them() {
    let mut trial = trial(&format!("forbid{CHECK_THEN_ACT}"));
    trial.step(1, access(LEFT, LOOKS));
    trial.step(1, access(RIGHT, LOOKS));
    trial.step(1, access(LEFT, PUTS));
    assert_eq!(free(&trial), [1]);
    trial.step(1, access(RIGHT, PUTS));
    assert_eq!(free(&trial), [1, 2, 3]);
}

#[test]
fn who_takes_the_lock_under_which_it_looks_runs_alone_from_there() {
    let mut trial = trial("forbid:1.0@ab+1^9;2.0@ab+2;1.0@ab+2/1<2/2<3");
    let takes = at(RIGHT, 0).marked(Marks { guarded: 1, ..Marks::default() });
    trial.step(1, takes);
    assert_eq!(free(&trial), [1, 2, 3], "it is about to take it, and may have to wait");
    trial.took_guard(1, takes);
    assert_eq!(free(&trial), [1]);
    trial.step(1, at(RIGHT, 0));
    assert_eq!(free(&trial), [1, 2, 3], "it has given it back");
    trial.took_guard(1, takes);
    trial.step(1, access(LEFT, LOOKS));
    trial.step(1, at(RIGHT, 0));
    assert_eq!(free(&trial), [1]);
    trial.step(1, access(LEFT, PUTS));
    assert_eq!(free(&trial), [1, 2, 3]);
}

#[test]
fn who_looks_for_ever_lets_others_run_now_and_then() {
    let mut trial = trial(&format!("forbid{CHECK_THEN_ACT}"));
    let looks = |_| {
        trial.step(1, access(LEFT, LOOKS));
        free(&trial).len() == 3
    };
    assert!((0..100).any(looks));
}

/// The variable that matters may be another one.
#[test]
fn a_thread_is_not_held_for_ever_at_a_variable_that_nobody_else_comes_to() {
    let mut trial = trial(&format!("enforce{CHECK_THEN_ACT}"));
    trial.step(1, access(LEFT, LOOKS));
    assert_eq!(free(&trial), [2, 3]);
    let other = |_| {
        trial.step(2, access(RIGHT, PUTS));
        free(&trial).contains(&1)
    };
    assert!((0..1 << MOST_PATIENCE).any(other));
    // It counts all the same if it comes about later.
    trial.step(2, access(LEFT, PUTS));
    trial.step(1, access(LEFT, PUTS));
    assert_eq!(trial.completed(), 1);
}

#[test]
fn what_is_avoided_keeps_others_out_once_it_is_begun() {
    let avoided = format!("forbid{CHECK_THEN_ACT}").parse().ok();
    let mut trial = Trial::new(1, "enforce:1.0@cd+1;2.0@cd+2".parse().unwrap(), avoided);
    let avoided = |steps: u16| Marks { avoided: steps, ..Marks::default() };
    let puts = access(LEFT, 0).marked(avoided(PUTS));
    let other = |trial: &Trial| {
        let candidates = [(1, Operation::NONE), (2, puts)];
        let candidates = candidates.map(|(thread, operation)| Candidate { thread, operation });
        trial.let_through(&candidates).iter().any(|candidate| candidate.thread == 2)
    };
    assert!(other(&trial));
    trial.step(1, access(LEFT, 0).marked(avoided(LOOKS)));
    assert!(!other(&trial));
    trial.step(1, access(LEFT, 0xf000));
    assert!(other(&trial), "it will not come about any more");
    // If it does, what was forced counts for nothing.
    trial.step(1, access(RIGHT, 0b01));
    trial.step(2, access(RIGHT, 0b10));
    assert_eq!(trial.completed(), 1);
    trial.step(1, access(LEFT, 0).marked(avoided(LOOKS)));
    trial.step(2, puts);
    trial.step(1, puts);
    assert_eq!(trial.completed(), 0);
}

/// Who puts a key into a map changes its structure, which another thread goes through.
#[test]
fn a_step_may_be_about_a_key_or_about_all_of_them() {
    const STRUCTURE: What = (7, 99);
    const ITERATION: &str = "enforce:1.0@ab+1;2.0@ab+2;1.0@ab+1";
    let iterates = access(STRUCTURE, 0b101);
    let puts = |key: u32| Operation { also: Some(STRUCTURE), ..access((7, key), 0b010) };
    let mut iteration = trial(ITERATION);
    iteration.step(1, iterates);
    iteration.step(2, puts(1));
    iteration.step(1, iterates);
    assert_eq!(iteration.completed(), 1);
    // Other keys are other variables.
    let mut twice = trial("enforce:1.0@ab+1;2.0@ab+2");
    let both = |key: u32| Operation { also: Some(STRUCTURE), ..access((7, key), 0b11) };
    twice.step(1, both(1));
    twice.step(2, both(2));
    assert_eq!(twice.completed(), 0);
    twice.step(2, both(1));
    assert_eq!(twice.completed(), 1);
}

#[test]
fn what_comes_too_early_is_held_back_before_its_lock_or_with_it() {
    let first = |waits_at_guard| Trial { waits_at_guard, ..trial("enforce:1.0@ab+1;2.0@ab+2^3") };
    let takes_lock = Operation { marks: Marks { guarded: 2, ..Marks::default() }, ..at(LEFT, 0) };
    let is_held =
        |trial: &Trial, operation| trial.let_through(&[Candidate { thread: 2, operation }]).is_empty();
    assert!(is_held(&first(true), takes_lock) && !is_held(&first(false), takes_lock));
    assert!(is_held(&first(true), at(LEFT, 2)) && is_held(&first(false), at(LEFT, 2)));
    let calls = Operation { marks: Marks { begun: 2, ..Marks::default() }, ..at(LEFT, 0) };
    assert!(is_held(&first(true), calls) && is_held(&first(false), calls));
    let waits = |text: &str| {
        let drawn = (0..64).map(|seed| Trial::new(seed, text.parse().unwrap(), None).waits_at_guard);
        drawn.collect::<std::collections::BTreeSet<bool>>().len()
    };
    assert_eq!(waits("enforce:1.0@ab+1;2.0@ab+2^3"), 2);
    assert_eq!(waits("enforce:1.0@ab+1^4;2.0@ab+2^3"), 1, "the first may need the same lock");
}
