//! Falcon on traces whose findings are known.

mod support;

use localize::{Options, Technique};
use support::window;

#[track_caller]
fn check(options: &Options, traces: &str, expected: &str) {
    support::check(Technique::Falcon, options, traces, expected);
}

/// Figure 1 of the paper: x and y are both wrong only if statement 4 follows 1 and 5 follows 2.
const FIGURE_1: &str = "
    P: R1(x)@1 W1(x)@1 R3(x)@6 W3(x)@6 R2(x)@4 R1(y)@2 W1(y)@2 R3(y)@7 W3(y)@7 R2(y)@5 R1(x)@3 R1(y)@3
    P: R1(x)@1 W1(x)@1 R3(x)@6 W3(x)@6 R2(x)@4 R1(y)@2 W1(y)@2 R2(y)@5 W2(y)@5 R3(y)@7 R1(x)@3 R1(y)@3
    P: R1(x)@1 W1(x)@1 R2(x)@4 W2(x)@4 R3(x)@6 R1(y)@2 W1(y)@2 R3(y)@7 W3(y)@7 R2(y)@5 R1(x)@3 R1(y)@3
    F: R1(x)@1 W1(x)@1 R2(x)@4 W2(x)@4 R3(x)@6 R1(y)@2 W1(y)@2 R2(y)@5 W2(y)@5 R3(y)@7 R1(x)@3 R1(y)@3
";

#[test]
fn figure_1() {
    let expected = "
        1/6 0.50 f=1 p=1 P5 W1(x)@1 W2(x)@4 R1(x)@3
        1/6 0.50 f=1 p=1 P2 W1(x)@4 R2(x)@6
        1/6 0.50 f=1 p=1 P2 W1(x)@4 R2(x)@3
        1/6 0.50 f=1 p=1 P5 W1(x)@2 W2(x)@5 R1(x)@3
        1/6 0.50 f=1 p=1 P2 W1(x)@5 R2(x)@7
        1/6 0.50 f=1 p=1 P2 W1(x)@5 R2(x)@3
        7/6 0.00 f=0 p=2 P5 W1(x)@1 W2(x)@6 R1(x)@3
        7/6 0.00 f=0 p=2 P2 W1(x)@6 R2(x)@4
        7/6 0.00 f=0 p=2 P2 W1(x)@6 R2(x)@3
        7/6 0.00 f=0 p=2 P5 W1(x)@2 W2(x)@7 R1(x)@3
        7/6 0.00 f=0 p=2 P2 W1(x)@7 R2(x)@5
        7/6 0.00 f=0 p=2 P2 W1(x)@7 R2(x)@3
    ";
    check(&Options::default(), FIGURE_1, expected);
    check(&window(4), FIGURE_1, expected);
}

/// The first access of each triple leaves before the third comes, so only pairs remain of them.
#[test]
fn figure_1_with_a_window_too_small() {
    check(
        &window(3),
        FIGURE_1,
        "
        1/8 0.50 f=1 p=1 P3 W1(x)@1 W2(x)@4
        1/8 0.50 f=1 p=1 P2 W1(x)@1 R2(x)@6
        1/8 0.50 f=1 p=1 P2 W1(x)@4 R2(x)@6
        1/8 0.50 f=1 p=1 P2 W1(x)@4 R2(x)@3
        1/8 0.50 f=1 p=1 P3 W1(x)@2 W2(x)@5
        1/8 0.50 f=1 p=1 P2 W1(x)@2 R2(x)@7
        1/8 0.50 f=1 p=1 P2 W1(x)@5 R2(x)@7
        1/8 0.50 f=1 p=1 P2 W1(x)@5 R2(x)@3
        9/8 0.00 f=0 p=2 P3 W1(x)@1 W2(x)@6
        9/8 0.00 f=0 p=2 P2 W1(x)@1 R2(x)@4
        9/8 0.00 f=0 p=2 P2 W1(x)@6 R2(x)@4
        9/8 0.00 f=0 p=2 P2 W1(x)@6 R2(x)@3
        9/8 0.00 f=0 p=2 P3 W1(x)@2 W2(x)@7
        9/8 0.00 f=0 p=2 P2 W1(x)@2 R2(x)@5
        9/8 0.00 f=0 p=2 P2 W1(x)@7 R2(x)@5
        9/8 0.00 f=0 p=2 P2 W1(x)@7 R2(x)@3
        ",
    );
}

#[test]
fn a_pair_counts_only_without_a_triple() {
    check(
        &Options::default(),
        "F: R1(x)@a W2(x)@b R1(x)@c",
        "
        1/2 1.00 f=1 p=0 P4 R1(x)@a W2(x)@b R1(x)@c
        1/2 1.00 f=1 p=0 P2 W1(x)@b R2(x)@c
        ",
    );
}

#[test]
fn serializable_triples_and_two_reads_are_nothing() {
    check(&Options::default(), "F: R1(x)@a R2(x)@b R1(x)@c", "");
    check(&Options::default(), "F: W1(x)@a R2(x)@b R1(x)@c", "1/1 1.00 f=1 p=0 P2 W1(x)@a R2(x)@b");
    check(
        &Options::default(),
        "F: W1(x)@a W1(x)@b R1(y)@c W2(y)@d R2(z)@e",
        "1/1 1.00 f=1 p=0 P1 R1(x)@c W2(x)@d",
    );
}

#[test]
fn a_turn_is_its_last_write_else_its_last_read() {
    check(
        &Options::default(),
        "F: R1(x)@a W1(x)@b W1(x)@c R1(x)@d R2(x)@e R2(x)@f",
        "1/1 1.00 f=1 p=0 P2 W1(x)@c R2(x)@f",
    );
}

#[test]
fn other_threads_may_come_between() {
    check(
        &Options::default(),
        "F: R1(x)@a R3(x)@b W2(x)@c R4(x)@d W1(x)@e",
        "
        1/6 1.00 f=1 p=0 P7 R1(x)@a W2(x)@c W1(x)@e
        1/6 1.00 f=1 p=0 P1 R1(x)@b W2(x)@c
        1/6 1.00 f=1 p=0 P1 R1(x)@b W2(x)@e
        1/6 1.00 f=1 p=0 P2 W1(x)@c R2(x)@d
        1/6 1.00 f=1 p=0 P3 W1(x)@c W2(x)@e
        1/6 1.00 f=1 p=0 P1 R1(x)@d W2(x)@e
        ",
    );
}

/// An update is a write in each role, also where the papers would have its read.
#[test]
fn an_update_is_a_write() {
    check(
        &Options::default(),
        "F: R1(x)@a U2(x)@b R2(x)@c U1(x)@d",
        "
        1/2 1.00 f=1 p=0 P7 R1(x)@a W2(x)@b W1(x)@d
        1/2 1.00 f=1 p=0 P3 W1(x)@b W2(x)@d
        ",
    );
}

/// The second turns of threads 2 and 3 would fill the window and push the first write out.
#[test]
fn a_reader_counts_once_per_write() {
    check(
        &window(4),
        "F: W1(x)@a R2(x)@b R3(x)@c R2(x)@b R3(x)@c R2(x)@b R3(x)@c W1(x)@d",
        "
        1/4 1.00 f=1 p=0 P6 W1(x)@a R2(x)@b W1(x)@d
        1/4 1.00 f=1 p=0 P6 W1(x)@a R2(x)@c W1(x)@d
        1/4 1.00 f=1 p=0 P1 R1(x)@b W2(x)@d
        1/4 1.00 f=1 p=0 P1 R1(x)@c W2(x)@d
        ",
    );
}

#[test]
fn a_reader_at_two_sites_counts_for_each() {
    check(
        &Options::default(),
        "F: R2(x)@a R3(x)@b R2(x)@c W1(x)@d",
        "
        1/3 1.00 f=1 p=0 P1 R1(x)@a W2(x)@d
        1/3 1.00 f=1 p=0 P1 R1(x)@b W2(x)@d
        1/3 1.00 f=1 p=0 P1 R1(x)@c W2(x)@d
        ",
    );
}

#[test]
fn nothing_is_concluded_across_a_gap() {
    check(&Options::default(), "F: W1(x)@a gap(x) R2(x)@b", "");
    check(
        &Options::default(),
        "F: W1(x)@a gap(y) R2(x)@b W2(y)@c gap(y)",
        "1/1 1.00 f=1 p=0 P2 W1(x)@a R2(x)@b",
    );
    // What was in the window before the gap counts.
    check(&Options::default(), "F: W1(x)@a R2(x)@b gap(x) W1(x)@c", "1/1 1.00 f=1 p=0 P2 W1(x)@a R2(x)@b");
}
