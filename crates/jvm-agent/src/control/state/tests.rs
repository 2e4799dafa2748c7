//! Tests of what is known about threads and monitors.

use recording::Switch;

use super::super::Marks;
use super::*;
use crate::recorder::Kind;

const MONITOR: u64 = 7;
/// The object of the thread before the first.
const OBJECTS: u64 = 100;

fn newcomer(id: u32) -> Newcomer {
    Newcomer { id, os_id: id, is_daemon: id == 3, desk: Desk::new().unwrap() }
}

/// Three threads that can run, whatever the seed, and one that takes no part.
fn three() -> State {
    let mut state = State::new(&RunPlan { schedule: recording::Schedule::Random, ..RunPlan::default() });
    state.strangers = 1;
    for id in 1..=3 {
        state.announce(id, OBJECTS + u64::from(id));
        state.sit_down(newcomer(id), Arc::default());
        assert!(state.arrive(id, Standing::Ready, Operation::NONE), "it was expected");
    }
    state
}

fn threads(state: &State) -> Vec<u32> {
    state.candidates().iter().map(|candidate| candidate.thread).collect()
}

#[test]
fn whoever_wants_a_monitor_runs_when_its_holder_has_left_it() {
    let mut state = three();
    state.enter(1, MONITOR, 1);
    state.enter(1, MONITOR, 1);
    state.arrive(2, Standing::Wants(MONITOR), Operation::NONE);
    assert_eq!(threads(&state), [1, 3]);
    // It has entered twice, and has left once it is at its next hook.
    state.will_exit(1, MONITOR);
    state.settle(1);
    state.will_exit(1, MONITOR);
    assert_eq!(threads(&state), [1, 3]);
    state.settle(1);
    assert_eq!(threads(&state), [1, 2, 3]);
}

#[test]
fn who_has_waited_longest_is_expected_when_the_monitor_is_left() {
    let mut state = three();
    for id in [2, 1] {
        state.enter(id, MONITOR, 2);
        state.stand(id, Standing::Away);
        state.wait(id, MONITOR, true);
    }
    state.enter(3, MONITOR, 1);
    state.notify(MONITOR, false);
    assert!(!state.is_anybody_expected());
    state.will_exit(3, MONITOR);
    state.settle(3);
    assert_eq!(state.stands(2), Some(Standing::Expected));
    assert_eq!(state.stands(1), Some(Standing::Away));
    assert_eq!(state.end_wait(2, MONITOR), 2, "it gets back what it had");
}

#[test]
fn so_is_a_circle_of_locks() {
    const OTHER: u64 = 8;
    let mut state = three();
    state.locks.took(1, MONITOR, false);
    state.locks.took(2, OTHER, false);
    for (id, wanted) in [(1, OTHER), (2, MONITOR)] {
        assert!(!state.stands_still(|_| true));
        state.locks.wants(id, wanted);
        state.stand(id, Standing::Parked);
        state.park(id, false);
    }
    assert!(!state.stands_still(|_| true), "one can run");
    state.stand(3, Standing::Parked);
    assert!(!state.stands_still(|_| true), "it may wake up by itself");
    state.park(3, false);
    assert!(state.stands_still(|_| true));
    state.locks.gave_back(2, OTHER);
    assert!(!state.stands_still(|_| true), "there is no circle");
}

#[test]
fn nobody_is_woken_by_who_has_died() {
    let mut state = three();
    state.stand_up(1);
    for id in [2, 3] {
        state.stand(id, Standing::Parked);
        state.park(id, id == 3);
    }
    state.has_anybody_died = true;
    assert!(!state.stands_still(|_| true), "one waits for some time only");
    state.park(3, false);
    assert!(state.stands_still(|_| true));
    state.has_anybody_died = false;
    assert!(!state.stands_still(|_| true));
}

#[test]
fn who_wants_to_write_waits_for_all_who_read() {
    const OTHER: u64 = 8;
    let mut state = three();
    for reader in [1, 2] {
        state.locks.took(reader, MONITOR, true);
    }
    state.locks.took(3, OTHER, false);
    for (id, wanted) in [(1, MONITOR), (2, OTHER), (3, MONITOR)] {
        state.locks.wants(id, wanted);
        state.stand(id, Standing::Parked);
        state.park(id, false);
    }
    assert!(state.stands_still(|_| true));
    state.locks.gave_back(1, MONITOR);
    assert!(state.stands_still(|_| true), "the second reader is left");
    state.locks.gave_back(2, MONITOR);
    assert!(!state.stands_still(|_| true));
}

#[test]
fn a_circle_of_monitors_is_a_standstill_once_nobody_else_can_go_on() {
    let mut state = three();
    let other = MONITOR + 1;
    for (id, own, wanted) in [(1, MONITOR, other), (2, other, MONITOR)] {
        state.enter(id, own, 1);
        assert!(!state.stands_still(|_| true));
        state.arrive(id, Standing::Wants(wanted), Operation::NONE);
    }
    assert!(!state.stands_still(|_| true), "one can run");
    for is_timed in [true, false] {
        state.stand(3, Standing::Away);
        state.wait(3, MONITOR + 2, is_timed);
        assert_eq!(state.stands_still(|_| true), !is_timed);
        state.end_wait(3, MONITOR + 2);
    }
    state.arrive(3, Standing::Wants(MONITOR), Operation::NONE);
    assert!(state.stands_still(|_| true), "it waits for those in the circle");
}

#[test]
fn who_waits_for_the_end_of_one_that_wants_its_monitor_waits_for_ever() {
    let mut state = three();
    state.enter(1, MONITOR, 1);
    state.arrive(2, Standing::Wants(MONITOR), Operation::NONE);
    state.stand_up(3);
    state.stand(1, Standing::Away);
    for (object, is_timed, is_final) in [(2, true, false), (3, false, false), (2, false, true)] {
        state.wait(1, OBJECTS + object, is_timed);
        assert_eq!(state.stands_still(|_| true), is_final, "{object} {is_timed}");
        state.end_wait(1, OBJECTS + object);
        state.goes_on(1);
        state.stand(1, Standing::Away);
    }
}

#[test]
fn those_whom_nobody_can_wake_wait_for_ever() {
    let mut state = three();
    for id in 1..=3 {
        state.stand(id, Standing::Away);
        state.wait(id, MONITOR, false);
    }
    assert!(!state.stands_still(|_| true), "somebody may come");
    state.strangers = 0;
    assert!(state.stands_still(|_| true));
    assert!(!state.stands_still(|os_id| os_id != 2), "one is on its way");
    state.unpark(1);
    assert!(!state.stands_still(|_| true), "one was interrupted");
    state.stand_up(1);
    state.stand_up(2);
    assert!(!state.stands_still(|_| true), "the last one keeps the virtual machine from nothing");
}

#[test]
fn a_permit_given_before_is_not_waited_for() {
    let mut state = three();
    state.unpark(1);
    assert!(state.take_permit(1));
    assert!(!state.take_permit(1));
    state.stand(1, Standing::Parked);
    state.unpark(1);
    assert_eq!(state.stands(1), Some(Standing::Expected));
}

#[test]
fn time_jumps_when_all_sleep() {
    let mut state = three();
    for (id, until) in [(1, 900), (2, 500), (3, 700)] {
        state.stand(id, Standing::Sleeping(until));
    }
    assert_eq!(state.choose(1, false), 2);
    assert!(state.time() >= 500);
    assert_eq!(state.counts().0, 1, "that took one choice");
}

/// Logical time does not pass by itself: the watchdog has to know that somebody waits for it.
#[test]
fn who_sleeps_is_kept_waiting_by_one_that_waits_unseen() {
    let mut state = three();
    [1, 2].into_iter().for_each(|id| state.stand(id, Standing::Away));
    state.stand(3, Standing::Sleeping(900));
    assert!(state.is_anybody_ready());
    assert_eq!(state.choose(0, false), 3);
}

#[test]
fn a_time_out_is_waited_for_if_it_is_short() {
    let mut state = three();
    for is_short in [true, false] {
        state.stand(2, Standing::Parked);
        state.wait_by_the_clock(2, true);
        assert!(state.is_anybody_expected());
        match is_short {
            true => assert!(state.arrive(2, Standing::Ready, Operation::NONE), "it was expected"),
            false => state.expect_no_more(),
        }
        assert!(!state.is_anybody_expected());
    }
    state.wait_by_the_clock(2, true);
    assert!(!state.is_anybody_expected(), "it was long before");
}

/// Thread 1 is held back until thread 2 has done the first step.
#[test]
fn who_is_waited_for_is_woken_if_that_is_soon() {
    for (until, next) in [(900, 2), (u64::MAX, 1)] {
        let interleaving = "enforce:1.0@ab+1;2.0@ab+2".parse().unwrap();
        let mut state = State { trial: Some(Trial::new(1, interleaving, None)), ..three() };
        state.stand_up(3);
        state.stand(2, Standing::Sleeping(until));
        let second = Marks { steps: 0b10, ..Marks::default() };
        state.arrive(1, Standing::Ready, Operation { what: Some((1, 0)), ..Operation::NONE }.marked(second));
        assert_eq!(state.choose(1, false), next);
    }
}

/// One run in which thread 1 comes to the second of its two accesses to something, which thread 2 is to come to.
fn is_broken_up(seed: u64) -> bool {
    let plan = RunPlan { seed, ..RunPlan::default() };
    let mut state = State::new(&plan);
    let access =
        |part| Operation { kind: Kind::Write, what: Some((1, part)), is_access: true, ..Operation::NONE };
    for id in 1..=2 {
        state.announce(id, OBJECTS + u64::from(id));
        state.sit_down(newcomer(id), Arc::default());
    }
    // Thread 1 does 0, 0; thread 2 does a hundred others before it comes to 0.
    let (mut first, mut second) = (0, 0);
    state.arrive(1, Standing::Ready, access(0));
    state.arrive(2, Standing::Ready, access(1));
    let mut running = state.choose(0, false);
    loop {
        if running == 1 {
            first += 1;
            if first == 2 {
                return second > 100;
            }
            state.arrive(1, Standing::Ready, access(0));
        } else {
            second += 1;
            state.arrive(2, Standing::Ready, access(if second < 100 { 1 + second } else { 0 }));
        }
        if second > 300 {
            return true;
        }
        running = state.choose(running, false);
    }
}

/// Of runs by chance alone, one in 2^98 would do it.
#[test]
fn runs_without_a_schedule_wait_for_who_comes_late() {
    assert!((0..100).any(is_broken_up));
}

fn switch(to: u32, from: u32, stop: u32) -> Switch {
    Switch { to, from, stop, flags: 0 }
}

/// Three threads that follow this.
fn following(switches: &[Switch]) -> State {
    State { replay: Replay::of(switches), ..three() }
}

#[test]
fn the_token_passes_where_it_did() {
    let mut state = following(&[switch(1, 0, 0), switch(3, 1, 2), switch(1, 3, 1), switch(2, 1, 9)]);
    assert_eq!([1, 1, 1, 3].map(|own| state.choose(own, false)), [1, 1, 3, 1]);
    assert_eq!((state.predecessor.thread, state.predecessor.stop), (3, 1));
    state.stand(1, Standing::Away);
    assert_eq!(state.choose(1, false), 2, "who ran waits earlier than it did");
    assert!(!state.replay.follows());
}

#[test]
fn whose_turn_it_is_runs_as_soon_as_it_can() {
    let mut state = following(&[switch(1, 0, 0), switch(3, 1, 1), switch(2, 3, 1)]);
    state.enter(2, MONITOR, 1);
    state.arrive(3, Standing::Wants(MONITOR), Operation::NONE);
    assert_eq!([1, 1].map(|own| state.choose(own, false)), [1, 1], "the next one cannot");
    state.stand(1, Standing::Sleeping(900));
    assert_eq!(state.choose(1, false), 2, "nor can this one any more");
    state.will_exit(2, MONITOR);
    state.settle(2);
    assert_eq!([2, 3].map(|own| state.choose(own, false)), [3, 2]);
}

/// Points come and go with what others do; what counts is how far a thread has come.
#[test]
fn a_schedule_of_our_own_counts_progress() {
    let switches = [switch(1, 0, 0), switch(3, 1, 7), switch(1, 3, Switch::AS_LONG_AS_IT_CAN)];
    let mut state = State { replay: Replay::by_progress(&switches), ..three() };
    assert_eq!(state.replay.next_stop(), 0);
    let at_point = |progress| Come { progress, is_at_point: true };
    let mut points = [2, 6, 7].into_iter().map(|progress| {
        state.note(1, at_point(progress));
        state.choose(1, false)
    });
    assert_eq!(points.by_ref().collect::<Vec<_>>(), [1, 1, 3]);
    assert_eq!((state.predecessor.thread, state.predecessor.stop), (1, 7), "that is told");
    state.note(3, at_point(40));
    assert_eq!(state.choose(3, false), 3, "as long as it can");
    assert_eq!(state.choose(3, true), 1, "it has nothing to do but to let others run");
}

/// Whoever gets the token where it is to lose it again does nothing meanwhile, unless it was in the midst of a wait.
#[test]
fn who_has_come_far_enough_goes_no_further() {
    for (is_at_point, next) in [(true, 2), (false, 3)] {
        let switches = [switch(1, 0, 0), switch(3, 1, 1), switch(2, 3, 5)];
        let mut state = State { replay: Replay::by_progress(&switches), ..three() };
        state.note(3, Come { progress: 5, is_at_point });
        state.note(1, Come { progress: 1, is_at_point: true });
        assert_eq!([1, 1].map(|own| state.choose(own, false))[0], next);
    }
}

#[test]
fn nobody_waits_for_the_turn_of_who_is_gone() {
    let mut state = following(&[switch(1, 0, 0), switch(3, 1, 1), switch(2, 3, 4), switch(1, 2, 1)]);
    state.stand_up(3);
    assert_eq!([1, 1, 2].map(|own| state.choose(own, false)), [1, 2, 1]);
}

#[test]
fn who_waits_by_the_clock_is_waited_for() {
    let mut state = following(&[switch(1, 0, 0), switch(3, 1, 1)]);
    state.stand(3, Standing::Parked);
    state.park(3, true);
    assert_eq!([1, 1].map(|own| state.choose(own, false)), [1, 0]);
    assert!(state.waits_for_next());
    assert_eq!([0, 1].map(|own| state.choose(own, false)), [1, 1], "that was in vain");
    state.arrive(3, Standing::Ready, Operation::NONE);
    assert_eq!(state.choose(1, false), 3);
    let mut patient = following(&[switch(1, 0, 0), switch(3, 1, 1)]);
    patient.stand(3, Standing::Parked);
    patient.park(3, false);
    assert_eq!([1, 1].map(|own| patient.choose(own, false)), [1, 1], "somebody has to wake it");
}

#[test]
fn one_that_was_taken_away_is_left_to_go_on_past_its_last_stop() {
    let mut state = three();
    state.passes_to(1, false);
    state.stops.insert(1, 4);
    state.stand(1, Standing::Away);
    assert_ne!(state.choose(0, false), 1);
    assert_eq!((state.predecessor.thread, state.predecessor.stop), (1, 5));
}

/// What is forbidden happens if the schedule says so. Behind its last switch, who has begun its part there goes on with it:
/// by chance it would do so 30 times in 3^30.
#[test]
fn a_trial_begins_where_the_schedule_ends() {
    let step = |number: u16| Operation {
        what: Some((7, 0)),
        is_access: true,
        marks: Marks { steps: 1 << number, ..Marks::default() },
        ..Operation::NONE
    };
    for seed in 0..30 {
        let forbidden = "forbid:1.0@ab+1;2.0@ab+2;1.0@ab+3".parse().unwrap();
        let mut state = State {
            trial: Some(Trial::new(seed, forbidden, None)),
            policy: policy::of_plan(&RunPlan { seed, ..RunPlan::default() }),
            ..following(&[switch(1, 0, 0), switch(2, 1, 1), switch(1, 2, 2), switch(2, 1, 3)])
        };
        let mut at = |own: u32, operation| {
            state.arrive(own, Standing::Ready, operation);
            (state.choose(own, false), state.counts().1)
        };
        assert_eq!(at(1, step(0)), (1, 0));
        assert_eq!(at(1, step(2)), (2, 0), "between the steps of the first");
        assert_eq!(at(2, step(1)), (2, 0));
        assert_eq!(at(2, Operation::NONE), (1, 0));
        assert_eq!(at(1, step(0)), (1, 0), "it came about on the way, which does not count");
        assert_eq!(at(1, step(2)), (2, 0));
        assert_eq!(at(2, step(1)), (1, 0), "{seed}");
    }
}
