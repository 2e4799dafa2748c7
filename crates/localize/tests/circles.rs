//! Locks taken in circles, and threads that wait for each other.

mod deeds;
mod support;

use localize::evidence::{lock_cycles, waiting_cycle};
use localize::*;

use deeds::run;

fn circles(text: &str) -> Vec<Vec<(u32, u32, u32)>> {
    let cycles = lock_cycles(&run(text));
    let step = |step: &evidence::LockStep| (step.thread.0, step.held.0, step.taken.0);
    cycles.iter().map(|cycle| cycle.steps.iter().map(step).collect()).collect()
}

const ONE_WAY: &str = "1:lock(a)@1 1:lock(b)@2 1:unlock(b) 1:unlock(a)";
const OTHER_WAY: &str = "2:lock(b)@3 2:lock(a)@4 2:unlock(a) 2:unlock(b)";

#[test]
fn locks_in_opposite_orders_may_deadlock() {
    assert_eq!(circles(&format!("{ONE_WAY} {OTHER_WAY}")), [[(1, 0, 1), (2, 1, 0)]]);
    let three = "1:lock(a)@1 1:lock(b)@1 2:lock(b)@1 2:lock(c)@1 3:lock(c)@1 3:lock(a)@1";
    assert_eq!(circles(three), [[(1, 0, 1), (2, 1, 2), (3, 2, 0)]]);
}

#[test]
fn one_order_one_thread_gates_and_readers_do_not() {
    assert_eq!(circles(&format!("{ONE_WAY} {}", ONE_WAY.replace("1:", "2:"))).len(), 0);
    assert_eq!(circles(&format!("{ONE_WAY} {}", OTHER_WAY.replace("2:", "1:"))).len(), 0, "one thread");
    let gated = format!("1:lock(g)@9 {ONE_WAY} 1:unlock(g) 2:lock(g)@9 {OTHER_WAY} 2:unlock(g)");
    assert_eq!(circles(&gated).len(), 0, "a gate");
    let readers = format!("{ONE_WAY} {OTHER_WAY}").replace("lock(", "share(").replace("unshare(", "unlock(");
    assert_eq!(circles(&readers).len(), 0, "readers");
}

#[test]
fn a_lock_that_is_tried_and_not_waited_for_closes_no_circle() {
    let tried = OTHER_WAY.replace("lock(a)@4", "try(a)@4");
    assert_eq!(circles(&format!("{ONE_WAY} {tried}")).len(), 0);
    let held = OTHER_WAY.replace("lock(b)@3", "try(b)@3");
    assert_eq!(circles(&format!("{ONE_WAY} {held}")).len(), 1, "who has it has it");
}

#[test]
fn threads_that_wait_for_each_other_are_told() {
    let waits =
        |text: &str| -> Vec<u32> { waiting_cycle(&run(text)).iter().map(|wait| wait.thread.0).collect() };
    assert_eq!(waits("1:lock(a)@1 2:lock(b)@2 1:wait(b)@3 2:wait(a)@4"), [1, 2]);
    assert_eq!(waits("1:lock(a)@1 2:wait(a)@4").len(), 0, "the holder does not wait");
    assert_eq!(waits("3:wait(a)@9 1:lock(a)@1 2:lock(b)@2 1:wait(b)@3 2:wait(a)@4"), [1, 2], "a bystander");
}
