//! The verdict on threads that come in between what another one does to two variables.

mod support;

use localize::{Options, Technique, localize};

/// What comes first: pattern and sites, as `P4 ask take look`.
fn first(traces: &str) -> String {
    let session = support::parse(traces);
    let findings = localize(Technique::Verdict, &session.runs, &Options::default());
    let example = &findings[0].example;
    let run = session.runs.iter().find(|run| run.id == example.run).unwrap();
    let sites = example.accesses.iter().map(|&access| session.site(run.accesses[access].site));
    format!("{:?} {}", example.id, sites.collect::<Vec<_>>().join(" "))
}

#[track_caller]
fn check_first(traces: &str, expected: &str) {
    assert_eq!(first(traces), expected);
}

/// Runs that differ in nothing but the order, many times.
fn many(passing: &[&str], failing: &[&str]) -> String {
    let lines = |outcome: &str, traces: &[&str], times: usize| -> String {
        traces.iter().map(|trace| format!("{outcome}: {trace}\n").repeat(times)).collect()
    };
    lines("P", passing, 20) + &lines("F", failing, 5)
}

/// Each of two doctors leaves if the other is there. Whoever asks second stays, so that either half of what goes wrong tells it as well
/// as the other, and neither is wrong by itself.
#[test]
fn two_decisions_that_cross_are_told_as_such() {
    check_first(
        &many(
            &["R1(b)@ask_b W1(a)@leave_a R2(a)@ask_a", "R2(a)@ask_a W2(b)@leave_b R1(b)@ask_b"],
            &["R1(b)@ask_b R2(a)@ask_a W1(a)@leave_a W2(b)@leave_b"],
        ),
        "P20 ask_b ask_a leave_a leave_b",
    );
}

/// A request looks whether the door is closed and counts itself in; who closes it looks at the count. Each half alone does no harm.
#[test]
fn a_decision_that_another_crosses_is_told_with_both_variables() {
    check_first(
        &many(
            &[
                "R1(closed)@look W1(count)@enter W2(closed)@close R2(count)@ask",
                "R1(closed)@look W2(closed)@close W1(count)@enter R2(count)@ask",
                "W2(closed)@close R2(count)@ask R1(closed)@look W3(count)@enter",
            ],
            &["R1(closed)@look W2(closed)@close R2(count)@ask W1(count)@enter"],
        ),
        "P18 look close ask enter",
    );
}

/// A job is taken from the queue and then counted, and who sees the queue empty looks for the result. That it is read too early tells
/// failing from passing runs; that the queue was seen empty just then, in half of the passing runs too, is how that can be.
#[test]
fn an_order_that_comes_about_in_a_window_alone_is_told_with_it() {
    let lines = |outcome: &str, trace: &str, times| format!("{outcome}: {trace}\n").repeat(times);
    let early = "W2(queue)@pop R1(queue)@empty R1(done)@check W2(done)@finish";
    let lucky = "W2(queue)@pop R1(queue)@empty W2(done)@finish R1(done)@check";
    let late = "R1(queue)@empty W2(queue)@pop W2(done)@finish R1(done)@check";
    assert_eq!(
        first(&(lines("F", early, 30) + &lines("P", lucky, 15) + &lines("P", late, 45))),
        "P12 pop empty check finish"
    );
    // Where all runs see the queue empty, that explains nothing.
    assert_eq!(first(&(lines("F", early, 30) + &lines("P", lucky, 60))), "P1 check finish");
    // Where many failing runs do not, it is no condition.
    let otherwise = "R1(queue)@empty W2(queue)@pop R1(done)@check W2(done)@finish";
    let some = lines("F", early, 20) + &lines("F", otherwise, 10);
    assert_eq!(first(&(some + &lines("P", lucky, 15) + &lines("P", late, 45))), "P1 check finish");
}

/// A read that comes too early stands by itself, whatever the two threads do besides in each run.
#[test]
fn an_order_is_no_half_of_what_passing_runs_have_too() {
    check_first(
        &many(
            &[
                "R2(stop)@poll W2(x)@make R1(x)@use W1(stop)@end",
                "W2(x)@make R2(stop)@poll R1(x)@use W1(stop)@end",
            ],
            &[
                "R2(stop)@poll R1(x)@use W2(x)@make W1(stop)@end",
                "R1(x)@use R2(stop)@poll W2(x)@make W1(stop)@end",
            ],
        ),
        "P1 use make",
    );
}
