//! Facts about accesses, and what follows from them.

mod deeds;
mod support;

use localize::evidence::{Action, Fact, Fix, Span, Witness, advise, advise_standstill, counterpart};
use localize::*;

use deeds::{advice_on, run};

/// The facts about all accesses of a trace, and the advice.
fn judged(text: &str) -> (Vec<Fact>, Option<Fix>) {
    let run = run(text);
    let accesses: Vec<usize> = (0..run.accesses.len()).collect();
    let witness = Witness::of(&run, &accesses);
    let facts = witness.facts(&accesses);
    let fix = advise(&witness, &accesses, &facts, &|_, _| false);
    (facts, fix)
}

const A: ObjectId = ObjectId(0);
const B: ObjectId = ObjectId(1);
const REGION: Span = Span { from: 0, to: 2 };
const OTHER: Span = Span { from: 1, to: 1 };

#[track_caller]
fn check(text: &str, facts: &[Fact], action: Option<(Action, &[ObjectId], &[Span])>) {
    let (found, fix) = judged(text);
    assert_eq!(found, facts);
    let fix = fix.as_ref().map(|fix| (fix.action, fix.locks.as_slice(), fix.spans.as_slice()));
    assert_eq!(fix, action);
}

#[test]
fn a_lock_given_back_in_between_is_held_longer() {
    check(
        "1:lock(a)@1 1:R(x)@2 1:unlock(a) 2:lock(a)@3 2:W(x)@4 2:unlock(a) 1:lock(a)@1 1:R(x)@5 1:unlock(a)",
        &[
            Fact::CommonLock { lock: A, accesses: vec![0, 1, 2] },
            Fact::ReleasedBetween { lock: A, from: 0, to: 2 },
        ],
        Some((Action::ExtendLock, &[A], &[REGION])),
    );
}

/// Another thread takes it for reading, too, and gives it back; this one has had it all the time.
#[test]
fn a_lock_for_reading_is_not_given_back_by_another_reader() {
    let (facts, fix) = judged("1:share(a)@1 1:R(x)@2 2:share(a)@3 2:W(x)@4 2:unlock(a) 1:W(x)@5 1:unlock(a)");
    assert!(!facts.iter().any(|fact| matches!(fact, Fact::ReleasedBetween { .. })), "{facts:?}");
    assert_ne!(fix.map(|fix| fix.action), Some(Action::ExtendLock));
}

#[test]
fn a_missing_lock_is_added() {
    check(
        "1:R(x)@2 2:W(x)@4 1:W(x)@5",
        &[
            Fact::Unlocked { accesses: vec![0, 1, 2] },
            Fact::Unordered { first: 0, second: 1 },
            Fact::Unordered { first: 1, second: 2 },
        ],
        Some((Action::AddLock, &[], &[REGION, OTHER])),
    );
}

/// What orders the accesses may be a lock that we do not know: nothing is said about locks then.
#[test]
fn what_something_orders_may_be_locked() {
    let handed = "1:R(x)@2 1:W!(flag)@7 2:R!(flag)@8 2:W(x)@4 2:W!(flag)@9 1:R!(flag)@8 1:W(x)@5";
    let run = run(handed);
    let accesses = [0, 3, 6];
    let witness = Witness::of(&run, &accesses);
    let facts = witness.facts(&accesses);
    assert_eq!(facts, []);
    assert_eq!(advise(&witness, &accesses, &facts, &|_, _| false), None);
}

#[test]
fn a_lock_that_only_one_side_takes_is_taken_by_both() {
    let (_, fix) = judged("1:R(x)@2 2:lock(a)@3 2:W(x)@4 2:unlock(a) 1:R(x)@5");
    let fix = fix.unwrap();
    assert_eq!((fix.action, fix.locks, fix.spans), (Action::TakeLock, vec![A], vec![REGION]));
    let (_, fix) = judged("1:lock(a)@1 1:R(x)@2 2:W(x)@4 1:R(x)@5 1:unlock(a)");
    let fix = fix.unwrap();
    assert_eq!((fix.action, fix.locks, fix.spans), (Action::TakeLock, vec![A], vec![OTHER]));
    assert_eq!(fix.read_before, None);
}

/// A buffer is filled without a lock and read under one, as if that were enough.
#[test]
fn a_lock_that_is_taken_too_late_is_not_enough() {
    let (facts, fix) = judged("1:W(x)@2 2:W(x)@2 1:lock(a)@1 1:R(x)@5 1:unlock(a)");
    assert!(facts.iter().any(|fact| matches!(fact, Fact::NoCommonLock { .. })), "{facts:?}");
    let fix = fix.unwrap();
    assert_eq!((fix.action, fix.locks, fix.spans), (Action::UseOneLock, vec![A], vec![REGION, OTHER]));
}

#[test]
fn no_lock_is_advised_over_the_life_of_a_thread() {
    let run = run("1:W(x)@1 1:create(2)@2 2:start(1) 2:R(x)@3 2:R(y)@4 1:W(y)@5");
    assert!(advice_on(&run, &[0, 1, 2, 3]).is_none());
}

#[test]
fn what_is_read_amid_a_change_waits_for_its_lock() {
    let run = run("1:lock(a)@1 1:W(x)@2 2:R(x)@3 1:W(y)@4 1:unlock(a)");
    let fix = advice_on(&run, &[0, 1]).unwrap();
    assert_eq!((fix.action, fix.locks, fix.spans), (Action::TakeLock, vec![A], vec![OTHER]));
    // The change was complete, as far as is known.
    let run = self::run("1:lock(a)@1 1:W(x)@2 1:unlock(a) 2:R(x)@3 1:W(y)@4");
    assert_eq!(advice_on(&run, &[0, 1]), None);
}

#[test]
fn what_was_read_before_the_write_belongs_to_it() {
    let run = run("1:lock(a)@1 2:R(x)@3 1:R(x)@2 2:W(x)@4 1:W(x)@5 1:unlock(a)");
    let fix = advice_on(&run, &[1, 2, 3]).unwrap();
    assert_eq!((fix.action, fix.spans, fix.read_before), (Action::TakeLock, vec![OTHER], Some(0)));
}

#[test]
fn different_locks_guard_nothing() {
    let (facts, fix) = judged("1:lock(a)@1 1:R(x)@2 2:lock(b)@3 2:W(x)@4 1:W(x)@5");
    assert_eq!(facts[0], Fact::NoCommonLock { accesses: vec![(0, vec![A]), (1, vec![B]), (2, vec![A])] });
    let fix = fix.unwrap();
    assert_eq!((fix.action, fix.locks, fix.spans), (Action::UseOneLock, vec![A, B], vec![REGION, OTHER]));
}

/// `containsKey`, then `get`: each of them is in order, but the answers need not fit.
#[test]
fn what_is_looked_at_twice_is_looked_at_once() {
    let unlocked = [Fact::Unlocked { accesses: vec![0, 1, 2] }];
    check("1:R!(x)@2 2:W!(x)@4 1:R!(x)@5", &unlocked, Some((Action::ReadOnce, &[], &[REGION])));
    // The next round of a loop has to look again.
    check("1:R!(x)@2 2:W!(x)@4 1:R!(x)@2", &unlocked, None);
}

#[test]
fn a_load_and_a_store_become_one_atomic_operation() {
    check(
        "1:R!(x)@2 2:W!(x)@4 1:W(x)@5",
        &[Fact::Unlocked { accesses: vec![0, 1, 2] }],
        Some((Action::AtomicOperation, &[], &[REGION])),
    );
}

#[test]
fn the_lock_that_others_use_is_named() {
    let others = "3:lock(a)@9 3:W(x)@9 3:R(x)@9 3:unlock(a) 1:R(x)@2 2:W(x)@4 1:W(x)@5";
    let run = run(others);
    let accesses = [2, 3, 4];
    let witness = Witness::of(&run, &accesses);
    let facts = witness.facts(&accesses);
    let usual = Fact::UsuallyLocked { lock: A, accesses: vec![0, 1, 2], holding: 2, of: 2 };
    assert!(facts.contains(&usual), "{facts:?}");
    assert_eq!(advise(&witness, &accesses, &facts, &|_, _| false).unwrap().action, Action::TakeLock);
}

#[test]
fn a_thread_that_runs_too_early_is_created_later() {
    check(
        "2:create(1)@3 1:start(2) 1:R(x)@4 2:W(x)@5",
        &[
            Fact::Unlocked { accesses: vec![0, 1] },
            Fact::Unordered { first: 0, second: 1 },
            Fact::CreatedBefore { creator: 1, created: 0, event: 0 },
            Fact::NotJoined { creator: 1, running: 0 },
        ],
        Some((Action::CreateLater, &[], &[Span { from: 1, to: 1 }, Span { from: 0, to: 0 }])),
    );
}

#[test]
fn what_is_done_in_each_round_cannot_be_done_before_a_thread_is_created() {
    for (rounds, pair, is_created_later) in [
        ("1:R(x)@4 2:W(x)@5 2:W(x)@5", [0, 1], true),
        ("1:R(x)@4 2:W(x)@5 1:R(x)@4 2:W(x)@5", [0, 1], false),
        ("2:W(x)@5 1:R(x)@4 2:W(x)@5", [1, 2], false),
    ] {
        let fix = advice_on(&run(&format!("2:create(1)@3 1:start(2) {rounds}")), &pair);
        assert_eq!(fix.is_some_and(|fix| fix.action == Action::CreateLater), is_created_later, "{rounds}");
    }
}

#[test]
fn who_sleeps_in_place_of_waiting_is_told_to_wait() {
    let sleeps = "1:create(2)@3 2:start(1) 2:W(x)@4 1:sleep(20)@5 2:W(x)@4 1:R(x)@6 2:W(x)@4";
    let early = run(sleeps);
    let witness = Witness::of(&early, &[2, 3]);
    assert_eq!(witness.facts(&[2, 3])[0], Fact::Slept { sleep: 0 });
    let fix = advice_on(&early, &[2, 3]).unwrap();
    assert_eq!((fix.action, fix.waits_at), (Action::Wait, Some(StackId(5))), "whatever was written before");
    for (text, pair, why) in [
        ("1:create(2)@3 2:start(1) 1:sleep(0)@5 1:R(x)@6 2:W(x)@4", [0, 1], "it gives way"),
        ("1:sleep(20)@5 1:create(2)@3 2:start(1) 1:R(x)@6 2:W(x)@4", [0, 1], "there was nobody to wait for"),
        ("1:create(2)@3 2:start(1) 1:sleep(20)@5 1:R!(y)@5 1:R(x)@6 2:W(x)@4", [1, 2], "it was told by `y`"),
        (
            "1:create(2)@3 2:start(1) 1:R(x)@6 1:sleep(20)@5 1:R(x)@6 2:W(x)@4",
            [1, 2],
            "it looks now and then",
        ),
        (
            "1:create(2)@3 1:create(3)@3 2:start(1) 3:start(1) 1:sleep(20)@5 3:end(3) 1:join(3)@7 1:R(x)@6 2:W(x)@4",
            [0, 1],
            "it waits for another thread",
        ),
        ("1:create(2)@3 2:start(1) 2:sleep(20)@5 1:R(x)@6 2:W(x)@4", [0, 1], "the other one sleeps"),
    ] {
        let run = run(text);
        let facts = Witness::of(&run, &pair).facts(&pair);
        assert!(!facts.iter().any(|fact| matches!(fact, Fact::Slept { .. })), "{why}: {facts:?}");
    }
}

#[test]
fn what_is_taken_away_from_a_running_thread_waits_for_its_end() {
    for (destroys, expected) in
        [("F(x)@5", Some(Action::Join)), ("W(x)@5=0", Some(Action::Join)), ("W(x)@5=3", None)]
    {
        let (_, fix) = judged(&format!("1:create(2)@3 2:start(1) 1:{destroys} 2:R(x)@4"));
        assert_eq!(fix.map(|fix| fix.action), expected, "{destroys}");
    }
    let guarded =
        "1:create(2)@3 2:start(1) 1:lock(a)@6 1:W(x)@5=0 1:unlock(a) 2:lock(a)@7 2:R(x)@4 2:unlock(a)";
    assert_eq!(judged(guarded).1, None, "a list is emptied under its lock");
    // Who does so again and again cannot wait for the other's end each time.
    let again = run("1:create(2)@3 2:start(1) 2:R(y)@4 1:W(y)@5=0 2:R(x)@4 1:W(x)@5=0 2:R(x)@4");
    assert_eq!(advice_on(&again, &[3, 4]).map(|fix| fix.action), Some(Action::Wait));
    let (facts, _) = judged("1:create(2)@3 2:start(1) 1:F(x)@5 2:R(x)@4");
    assert!(facts.contains(&Fact::AfterFree { free: 0, access: 1 }));
}

#[test]
fn joins_and_creations_order() {
    let (facts, _) = judged("1:W(x)@1 1:create(2)@3 2:start(1) 2:W(x)@4 2:end(2) 1:join(2)@6 1:R(x)@7");
    assert!(
        !facts.iter().any(|fact| matches!(fact, Fact::Unordered { .. } | Fact::NotJoined { creator: 2, .. }))
    );
}

#[test]
fn two_variables_get_one_lock() {
    let again = |text: &str| advice_on(&run(&format!("{text} 1:W(x)@1 1:W(y)@4")), &[0, 1, 2, 3]).unwrap();
    let bare = "1:W(x)@1 2:R(x)@2 2:R(y)@3 1:W(y)@4";
    let spans = [Span { from: 0, to: 3 }, Span { from: 1, to: 2 }];
    let fix = again(bare);
    assert_eq!((fix.action, fix.spans.as_slice()), (Action::AddLock, &spans[..]));
    let each = "1:lock(a)@1 1:W(x)@1 1:unlock(a) 2:lock(a)@2 2:R(x)@2 2:unlock(a) \
                2:lock(b)@3 2:R(y)@3 2:unlock(b) 1:lock(b)@4 1:W(y)@4 1:unlock(b)";
    let fix = again(each);
    assert_eq!((fix.action, fix.locks), (Action::UseOneLock, vec![A, B]));
    let one_side = "1:lock(a)@1 1:W(x)@1 2:R(x)@2 2:R(y)@3 1:W(y)@4 1:unlock(a)";
    let fix = again(one_side);
    assert_eq!((fix.action, fix.locks, fix.spans), (Action::TakeLock, vec![A], vec![spans[1]]));
}

#[test]
fn what_is_written_once_is_published_when_it_is_ready() {
    let once = "2:start(1) 1:lock(a)@1 1:W(x)@1 2:R(x)@2 2:R(y)@3 1:W(y)@4 1:unlock(a)";
    let spans = [Span { from: 0, to: 0 }, Span { from: 3, to: 3 }];
    let fix = judged(once).1.unwrap();
    assert_eq!((fix.action, fix.spans.as_slice()), (Action::PublishLater, &spans[..]));
}

#[test]
fn a_passing_run_has_the_same_accesses_in_another_order() {
    let pattern = Pattern::new(PatternId::P4, &[SiteId(2), SiteId(4), SiteId(5)]);
    let passing = run("3:R(y)@2 1:R(x)@2 1:R(x)@5 2:W(x)@4 1:W(x)@5");
    assert_eq!(counterpart(&passing, &pattern), Some(vec![1, 3, 2]));
    assert_eq!(counterpart(&run("1:R(x)@2 1:R(x)@5 1:W(x)@4"), &pattern), None, "the same thread");
    assert_eq!(counterpart(&run("1:R(x)@2 1:R(x)@5 2:W(y)@4"), &pattern), None, "another variable");
}

/// A worker looks, finds nothing, and looks again in its next round before it takes: the looks of one round belong together,
/// although the earlier one is nearer to what the other thread did.
#[test]
fn steps_of_a_passing_run_are_of_one_round_of_the_loop() {
    let run = run("1:W(x)@2 2:R(x)@1 3:W(x)@9 2:R(x)@1 2:R(x)@3");
    let pattern = Pattern::new(PatternId::P4, &[SiteId(1), SiteId(2), SiteId(3)]);
    assert_eq!(counterpart(&run, &pattern), Some(vec![3, 0, 4]));
}

#[test]
fn unknown_locks_prove_nothing() {
    let mut run = run("1:lock(a)@1 1:R(x)@2 2:W(x)@4 1:R(x)@5");
    run.accesses[1].locks = None;
    let accesses = [0, 1, 2];
    let witness = Witness::of(&run, &accesses);
    let facts = witness.facts(&accesses);
    assert!(facts.iter().all(|fact| matches!(fact, Fact::Unordered { .. })), "{facts:?}");
    assert_eq!(advise(&witness, &accesses, &facts, &|_, _| false), None);
}

#[test]
fn of_two_locks_the_one_of_the_object_is_meant() {
    let region = run("1:lock(a)@1 1:R(x)@2 2:lock(b)@3 2:W(x)@4 2:unlock(b) 1:W(x)@5 1:unlock(a)");
    let fix = advice_on(&region, &[0, 1, 2]).unwrap();
    assert_eq!((fix.action, fix.locks, fix.held), (Action::TakeLock, vec![A], vec![B]));
    assert_eq!(fix.spans, [OTHER]);
    let other = run("2:lock(a)@3 1:lock(b)@1 1:R(x)@2 2:W(x)@4 2:unlock(a) 1:W(x)@5 1:unlock(b)");
    let fix = advice_on(&other, &[0, 1, 2]).unwrap();
    assert_eq!((fix.action, fix.locks, fix.held), (Action::TakeLock, vec![A], vec![B]));
    assert_eq!(fix.spans, [REGION]);
}

#[test]
fn who_acts_on_an_outdated_look_should_have_kept_the_lock() {
    let look = "1:lock(a)@1 1:R(x)@2 1:unlock(a)";
    let change = "2:lock(a)@3 2:W(x)@4 2:W(y)@5 2:unlock(a)";
    let act = "1:lock(a)@6 1:W(y)@7 1:unlock(a)";
    let outdated = run(&format!("{look} {change} {act}"));
    let fix = advice_on(&outdated, &[2, 3]).unwrap();
    assert_eq!((fix.action, fix.locks, fix.further), (Action::ExtendLock, vec![A], Some(0)));
    assert_eq!(fix.spans, [Span { from: 2, to: 1 }]);
    // What nobody has changed since is no reason, nor is what another thread did without the lock.
    for unchanged in
        ["2:lock(a)@3 2:W(z)@4 2:W(y)@5 2:unlock(a)", "2:W(x)@4 2:lock(a)@3 2:W(y)@5 2:unlock(a)"]
    {
        let run = run(&format!("{look} {unchanged} {act}"));
        assert_eq!(advice_on(&run, &[2, 3]), None);
    }
    let looked_after = run(&format!("{change} {look} {act}"));
    assert_eq!(advice_on(&looked_after, &[1, 3]), None);
    let next_round = run(&format!("{look} {change} 1:lock(a)@1 1:W(y)@7 1:unlock(a)"));
    assert_eq!(advice_on(&next_round, &[2, 3]), None, "the section begins anew");
    let did_the_same = "1:lock(a)@1 1:R(x)@2 1:W(y)@7 1:unlock(a)";
    let called_again = run(&format!("{did_the_same} {change} {act}"));
    assert_eq!(advice_on(&called_again, &[3, 4]), None, "the same code, called from elsewhere");
}

#[test]
fn what_is_written_back_is_no_mistake_of_order() {
    let lost = run("1:R(x)@1 2:W(x)@2 1:W(x)@3");
    let fix = advice_on(&lost, &[0, 1]).unwrap();
    assert_eq!((fix.action, fix.further, fix.spans), (Action::AddLock, Some(2), vec![REGION, OTHER]));
    let read_again = run("1:R(x)@1 2:W(x)@2 1:R(x)@3 1:W(x)@4");
    let fix = advice_on(&read_again, &[0, 1]).unwrap();
    assert_eq!((fix.action, fix.further), (Action::Wait, None));
}

/// A timer says that it fires, gives its lock back for that, and says that it is idle, though it was armed again meanwhile.
#[test]
fn what_is_written_over_is_to_be_looked_at_first() {
    let text = "1:lock(a)@1 1:W(x)@2 1:unlock(a) 2:lock(a)@3 2:W(x)@4 2:unlock(a) 1:lock(a)@1 1:W(x)@5";
    let fix = advice_on(&run(text), &[0, 1, 2]).unwrap();
    let spans = [2, 0].map(|place| Span { from: place, to: place });
    assert_eq!((fix.action, fix.locks, fix.spans), (Action::LookAgain, vec![A], spans.to_vec()));
    let action = |text: &str| advice_on(&run(text), &[0, 1, 2]).map(|fix| fix.action);
    assert_eq!(action(&text.replace("@5", "@2")), Some(Action::ExtendLock), "a loop's next round");
    assert_eq!(action(&text.replacen("1:W", "1:R", 1)), Some(Action::ExtendLock), "it goes by what it read");
}

#[test]
fn what_is_published_before_it_is_written_is_to_be_written_first() {
    let early = run("1:W!(ready)@1 2:R!(ready)@2 2:R(data)@3 1:W(data)@4");
    let fix = advice_on(&early, &[0, 1, 2, 3]).unwrap();
    let spans = [0, 3].map(|place| Span { from: place, to: place });
    assert_eq!((fix.action, fix.spans), (Action::PublishLater, spans.to_vec()));
    // Two values that change together are to be read together.
    let action = |text: &str, accesses: &[usize]| advice_on(&run(text), accesses).map(|fix| fix.action);
    let torn = "1:W(data)@4 1:W!(ready)@1 2:R!(ready)@2 2:R(data)@3 1:W(data)@4";
    assert_eq!(action(torn, &[1, 2, 3, 4]), Some(Action::AddLock));
    let counted = "1:R!(high)@5 1:W!(low)@1 2:R!(low)@2 2:R!(high)@3 1:W!(high)@4";
    assert_eq!(action(counted, &[1, 2, 3, 4]), Some(Action::AddLock), "it goes by what was there");
    let plain = "1:W(size)@1 2:R(size)@2 2:R(data)@3 1:W(data)@4";
    assert_eq!(action(plain, &[0, 1, 2, 3]), Some(Action::AddLock));
    let mut replaced = early.clone();
    replaced.accesses[2].value = Some(30);
    assert_eq!(
        advice_on(&replaced, &[0, 1, 2, 3]).map(|fix| fix.action),
        Some(Action::AddLock),
        "it finds what was there"
    );
}

/// Who waits for a barrier is woken, but another thread has begun the next round before it looks.
#[test]
fn what_is_over_again_when_a_thread_looks_is_to_be_counted() {
    let text = "1:lock(a)@1 1:R(x)@2 1:unlock(a) 2:lock(a)@3 2:W(x)@4 2:unlock(a) 1:lock(a)@1 1:R(x)@5";
    let mut late = run(text);
    let (target, thread, site, stack) = (SyncTarget::Object(B), ThreadId(1), SiteId(7), StackId(7));
    for kind in [SyncKind::WaitBegin, SyncKind::WaitEnd] {
        late.synchronization.push(SyncEvent { before: 2, thread, kind, target, site, stack });
    }
    assert_eq!(advice_on(&late, &[1, 2]), None, "no lock is kept over a wait");
    late.waits.push(Wait { thread, kind: SyncKind::WaitBegin, target, site, stack, locks: LocksetId(0) });
    let fix = advice_on(&late, &[1, 2]).unwrap();
    assert_eq!((fix.action, fix.spans), (Action::CountRounds, vec![OTHER]));
}

#[test]
fn who_waits_already_is_to_be_woken_later() {
    let mut early = run("1:lock(a)@1 1:R(x)@2 1:unlock(a) 2:lock(a)@3 2:W(x)@4 2:unlock(a)");
    let (kind, target, locks) = (SyncKind::WaitBegin, SyncTarget::Object(B), LocksetId(0));
    for (waiting, expected) in [(2, Action::Wait), (1, Action::SignalLater)] {
        let (thread, site, stack) = (ThreadId(waiting), SiteId(7), StackId(7));
        early.waits.push(Wait { thread, kind, target, site, stack, locks });
        assert_eq!(
            advice_on(&early, &[0, 1]).map(|fix| fix.action),
            Some(expected),
            "thread {waiting} waits"
        );
    }
    // It has begun to wait, and given back this lock by that.
    for (lock, expected) in [(None, Action::Wait), (Some(A), Action::SignalLater), (Some(B), Action::Wait)] {
        let (thread, site, stack) = (ThreadId(1), SiteId(7), StackId(7));
        let event = |kind, object| SyncEvent {
            before: 2,
            thread,
            kind,
            target: SyncTarget::Object(object),
            site,
            stack,
        };
        early.synchronization.push(event(SyncKind::WaitBegin, B));
        early.synchronization.extend(lock.map(|lock| event(SyncKind::Release, lock)));
        assert_eq!(advice_on(&early, &[0, 1]).map(|fix| fix.action), Some(expected), "{lock:?}");
    }
}

#[test]
fn who_looks_again_under_the_lock_is_not_to_wait() {
    let set = "2:lock(a)@3 2:W(x)@4 2:unlock(a)";
    let once = run(&format!("1:lock(a)@1 1:R(x)@2 1:unlock(a) {set}"));
    assert_eq!(advice_on(&once, &[0, 1]).map(|fix| fix.action), Some(Action::Wait));
    let again = run(&format!("1:lock(a)@1 1:R(x)@2 1:unlock(a) {set} 1:lock(a)@1 1:R(x)@2 1:unlock(a)"));
    assert_eq!(advice_on(&again, &[0, 1]), None);
}

#[test]
fn who_looks_at_what_it_has_written_itself_waits_for_nobody() {
    let own = run("1:W(x)@1 2:R(y)@8 1:R(x)@2 2:W(x)@3");
    assert_eq!(advice_on(&own, &[2, 3]).map(|fix| fix.action), Some(Action::AddLock));
    let anothers = run("1:W(x)@1 2:W(x)@3 1:R(x)@2 2:W(x)@3");
    assert_eq!(advice_on(&anothers, &[2, 3]), None, "what it looks at was written by another");
}

#[test]
fn what_is_written_all_the_time_is_not_waited_for() {
    let first = run("3:W(x)@9 1:R(y)@8 1:R(x)@1 2:W(x)@2");
    assert_eq!(advice_on(&first, &[2, 3]).map(|fix| fix.action), Some(Action::Wait));
    let one_of_many = run("1:R(y)@8 3:W(x)@9 1:R(x)@1 2:W(x)@2");
    assert_eq!(advice_on(&one_of_many, &[2, 3]), None);
    let begun_before = run("3:create(1)@7 1:start(3) 3:W(x)@9 1:R(x)@1 2:W(x)@2");
    assert_eq!(advice_on(&begun_before, &[1, 2]), None, "its first access came later");
}

#[test]
fn a_thread_created_between_two_writes_came_too_early() {
    let early = run("1:W(x)@1 1:create(2)@2 2:start(1) 2:R(x)@3 1:W(x)@4");
    let fix = advice_on(&early, &[0, 1, 2]).unwrap();
    assert_eq!((fix.action, fix.creation), (Action::CreateLater, Some(0)));
    assert_eq!(fix.spans, [Span { from: 2, to: 2 }, OTHER]);
    let late = run("1:create(2)@2 2:start(1) 1:W(x)@1 2:R(x)@3 1:W(x)@4");
    assert_eq!(advice_on(&late, &[0, 1, 2]).unwrap().action, Action::AddLock);
}

#[test]
fn a_lock_that_another_holds_in_between_is_not_held_throughout() {
    let mut first_turn = run("1:W(x)@1 2:lock(a)@2 2:W(x)@3 2:unlock(a) 1:lock(a)@4 1:R(x)@5 1:unlock(a)");
    first_turn.accesses[0].locks = None;
    let accesses = [0, 1, 2];
    let fix = advice_on(&first_turn, &accesses).unwrap();
    assert_eq!((fix.action, fix.locks, fix.spans), (Action::ExtendLock, vec![A], vec![REGION]));
    let witness = Witness::of(&first_turn, &accesses);
    let taken = Fact::TakenBetween { lock: A, between: 1, from: 0, to: 2 };
    assert!(witness.facts(&accesses).contains(&taken));
    // A lock for reading may be held by both at once.
    first_turn.locksets.iter_mut().flatten().for_each(|lock| lock.shared = true);
    assert_eq!(advice_on(&first_turn, &accesses), None);
}

#[test]
fn standstills_are_resolved_by_what_caused_them() {
    let step = |role: u32, action| StandstillStep {
        role,
        thread: ThreadId(role),
        action,
        site: SiteId(role),
        stack: StackId(role),
    };
    let lock = localize::Action::Lock;
    let deadlock = |steps| Standstill { kind: StandstillKind::Deadlock, steps };
    let circle = deadlock(vec![step(1, lock(A)), step(2, lock(B)), step(1, lock(B)), step(2, lock(A))]);
    let fix = advise_standstill(&run("1:R(x)@1"), &circle).unwrap();
    assert_eq!((fix.action, fix.locks), (Action::LockOrder, vec![A, B]));
    assert_eq!(fix.spans, [Span { from: 0, to: 2 }, Span { from: 1, to: 3 }]);
    let blocked = deadlock(vec![step(1, lock(A)), step(2, lock(A))]);
    let fix = advise_standstill(&run("1:lock(a)@1 1:end(1)"), &blocked).unwrap();
    assert_eq!((fix.action, fix.locks), (Action::Unlock, vec![A]));
    // The holder may do something else, and give the lock back once that is done.
    assert_eq!(advise_standstill(&run("1:lock(a)@1"), &blocked), None);
    let mut waiting = run("1:lock(a)@1");
    let (thread, kind, target) = (ThreadId(1), SyncKind::Join, SyncTarget::Thread(ThreadId(2)));
    let (site, stack, locks) = (SiteId(9), StackId(9), LocksetId(0));
    waiting.waits.push(Wait { thread, kind, target, site, stack, locks });
    let fix = advise_standstill(&waiting, &blocked).unwrap();
    assert_eq!((fix.action, fix.locks, fix.waits_at), (Action::WaitUnlocked, vec![A], Some(StackId(9))));
    for again in
        [vec![step(1, lock(A)), step(1, lock(A))], vec![step(1, lock(A)), step(2, lock(A)), step(1, lock(A))]]
    {
        let last = again.len() - 1;
        let fix = advise_standstill(&run("1:lock(a)@1"), &deadlock(again)).unwrap();
        assert_eq!((fix.action, fix.locks), (Action::TakeOnce, vec![A]));
        assert_eq!(fix.spans, [Span { from: last, to: last }, Span { from: 0, to: 0 }]);
    }
    let woke_another = Standstill {
        kind: StandstillKind::WokeAnother,
        steps: vec![
            step(1, localize::Action::Wait(B)),
            step(2, localize::Action::Wait(B)),
            step(3, localize::Action::Signal(B)),
        ],
    };
    let fix = advise_standstill(&run("3:W(x)@1"), &woke_another).unwrap();
    assert_eq!((fix.action, fix.locks), (Action::WakeAll, vec![B]));
    assert_eq!(fix.spans, [Span { from: 2, to: 2 }]);
    let missed = Standstill {
        kind: StandstillKind::MissedSignal,
        steps: vec![
            step(1, localize::Action::Read(0)),
            step(2, localize::Action::Write(1)),
            step(2, localize::Action::Signal(B)),
            step(1, localize::Action::Wait(B)),
        ],
    };
    let fix =
        advise_standstill(&run("1:lock(a)@1 1:R(x)@2 1:unlock(a) 2:lock(a)@3 2:W(x)@4 2:unlock(a)"), &missed);
    let fix = fix.unwrap();
    assert_eq!((fix.action, fix.locks), (Action::WaitInLoop, vec![A]));
    assert_eq!(fix.spans[0], Span { from: 0, to: 3 });
    // One that the wait does not give back would be held for as long as it waits.
    let text = "1:lock(b)@1 1:R(x)@2 1:unlock(b) 2:lock(b)@3 2:W(x)@4 2:unlock(b)";
    let mut another = run(text);
    let (target, thread) = (SyncTarget::Object(A), ThreadId(1));
    let (site, stack) = (SiteId(6), StackId(6));
    for kind in [SyncKind::WaitBegin, SyncKind::Release] {
        another.synchronization.push(SyncEvent { before: 2, thread, kind, target, site, stack });
    }
    let fix = advise_standstill(&another, &missed).unwrap();
    assert_eq!((fix.action, fix.locks), (Action::WaitInLoop, vec![A]));
    // A monitor is the lock that it gives back.
    let text =
        "1:lock(a)@1 1:R(x)@2 1:unlock(a) 2:lock(a)@3 2:W(x)@4 2:unlock(a) 2:lock(b)@5 2:W(y)@6 2:unlock(b)";
    let fix = advise_standstill(&run(text), &missed).unwrap();
    assert_eq!((fix.action, fix.locks), (Action::WaitInLoop, vec![B]));
    // What it gave back by itself after it had tried another lock in vain is not what the wait gives back.
    let mut tried = run("1:lock(a)@1 1:R(x)@2 1:unlock(a) 2:W(x)@4");
    let (target, thread) = (SyncTarget::Object(A), ThreadId(1));
    let (site, stack) = (SiteId(6), StackId(6));
    for (kind, target) in [
        (SyncKind::Release, target),
        (SyncKind::Acquire, SyncTarget::Object(B)),
        (SyncKind::WaitBegin, SyncTarget::Object(ObjectId(9))),
    ] {
        tried.synchronization.push(SyncEvent { before: 1, thread, kind, target, site, stack });
    }
    tried.waits.push(Wait { thread, kind: SyncKind::WaitBegin, target, site, stack, locks: LocksetId(0) });
    let fix = advise_standstill(&tried, &missed).unwrap();
    assert_eq!((fix.action, fix.locks), (Action::WaitInLoop, vec![B]));
    // The lock that the wait gives back, held at the test, must be held at the change too.
    let mut bare = run("1:lock(a)@1 1:R(x)@2 2:W(x)@4");
    for (kind, object) in [(SyncKind::WaitBegin, B), (SyncKind::Release, A)] {
        let (target, thread) = (SyncTarget::Object(object), ThreadId(1));
        let (site, stack) = (SiteId(6), StackId(6));
        bare.synchronization.push(SyncEvent { before: 2, thread, kind, target, site, stack });
    }
    let fix = advise_standstill(&bare, &missed).unwrap();
    assert_eq!(
        (fix.action, fix.locks, fix.spans),
        (Action::TakeLock, vec![A], vec![Span { from: 1, to: 2 }])
    );
}
