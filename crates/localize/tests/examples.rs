//! Which occurrence of a pattern is shown.

mod deeds;
mod support;

use localize::evidence::telling_example;
use localize::*;

/// The example that is shown of a pattern on two variables, in place of the one with these accesses.
fn shown(text: &str, accesses: [usize; 4]) -> Vec<usize> {
    let example = Example { run: RunId(1), id: PatternId::P12.into(), accesses: accesses.to_vec() };
    telling_example(&deeds::run(text), &example).accesses
}

/// A reader goes through items of a value and a check each, which another thread changes: the value of one and the check of the next are
/// of two rounds.
#[test]
fn an_example_on_two_variables_is_of_one_round() {
    let text = "1:R(v1)@51 1:R(c1)@52 2:W(v1)@28 2:W(c1)@29 1:R(v2)@51 2:W(v2)@28 2:W(c2)@29 1:R(c2)@52";
    assert_eq!(shown(text, [0, 2, 6, 7]), [4, 5, 6, 7]);
    assert_eq!(shown(text, [4, 5, 6, 7]), [4, 5, 6, 7]);
}

/// A waiter that counts itself in two rounds: what another thread saw after the first is no harm done in the second.
#[test]
fn what_was_done_in_an_earlier_round_is_none_of_the_next() {
    let round = "1:R(free)@30 1:W(waiters)@32 2:W(free)@40 2:R(waiters)@46 1:W(waiters)@34";
    let text = format!("{round} 1:R(free)@30 2:W(free)@40 2:R(waiters)@46 1:W(waiters)@32");
    assert_eq!(shown(&text, [0, 2, 3, 8]), [5, 6, 7, 8]);
}

/// Where no occurrence is of one round, or the steps of a loop over all items are at one place, it stays as it is.
#[test]
fn other_examples_stay() {
    let rounds = "1:R(v1)@51 1:R(c1)@52 2:W(v1)@28 2:W(c2)@29 1:R(v2)@51 1:R(c2)@52";
    assert_eq!(shown(rounds, [0, 2, 3, 5]), [0, 2, 3, 5]);
    let items = "1:R(a)@1 2:W(a)@2 1:R(b)@1 2:W(c)@3 1:R(c)@1 1:R(a)@1 2:W(a)@2 2:W(c)@3 1:R(c)@1";
    assert_eq!(shown(items, [0, 1, 3, 4]), [0, 1, 3, 4]);
}
