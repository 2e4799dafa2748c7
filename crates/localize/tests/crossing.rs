//! The verdict on threads that come in between what another one does to two variables.

mod support;

use localize::{Options, PatternId, Technique, Tuning, localize};
use support::runs_like;

/// What comes first: pattern and sites, as `P4 ask take look`.
fn first(traces: &str) -> String {
    first_by(Tuning::default(), traces)
}

fn first_by(tuning: Tuning, traces: &str) -> String {
    let session = support::parse(traces);
    let findings = localize(Technique::Verdict, &session.runs, &Options { tuning, ..Options::default() });
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

/// The same where nobody enters any more once the door is closed, so that the order of the count alone tells failing from passing runs. It can only be so
/// for who had looked before.
#[test]
fn a_decision_is_told_with_the_look_that_it_goes_by() {
    let late = "R1(closed)@look W2(closed)@close R2(count)@ask W1(count)@enter";
    let in_time = "R1(closed)@look W1(count)@enter W2(closed)@close R2(count)@ask";
    let lucky = "R1(closed)@look W2(closed)@close W1(count)@enter R2(count)@ask";
    let refused = "W2(closed)@close R2(count)@ask R1(closed)@look";
    let traces = many(&[in_time, lucky, refused], &[late]);
    check_first(&traces, "P18 look close ask enter");
    // Whoever comes without a look need not have looked.
    let without = "R2(count)@ask W1(count)@enter R1(closed)@look W2(closed)@close";
    check_first(&many(&[in_time, lucky, refused], &[late, without]), "P1 ask enter");
}

/// A new window of time begins, and then its count.
const WINDOWS: [&str; 3] = [
    "R1(start)@look W1(start)@begin W1(count)@clear U1(count)@enter R2(start)@look U2(count)@enter",
    "R1(start)@look R2(start)@look W1(start)@begin W1(count)@clear U1(count)@enter W2(start)@begin \
     W2(count)@clear U2(count)@enter",
    "R1(start)@look R2(start)@look W2(start)@begin W1(start)@begin W2(count)@clear U2(count)@enter \
     W1(count)@clear U1(count)@enter",
];

/// Who comes in between sees the new one and counts itself in with the old. That it counts itself in before the count is begun anew does no harm
/// where both have begun the window, one after the other.
#[test]
fn who_updates_has_looked_as_well() {
    let between =
        "R1(start)@look W1(start)@begin R2(start)@look U2(count)@enter W1(count)@clear U1(count)@enter";
    check_first(&many(&WINDOWS, &[between]), "P12 begin look enter clear");
}

/// An exchange that fails only reads, so that the same code does one and the other.
#[test]
fn who_reads_at_one_time_and_updates_at_another_is_counted_once() {
    let update =
        "R1(start)@look W1(start)@begin R2(start)@look U2(count)@enter W1(count)@clear U1(count)@enter";
    let read = "W1(s)@begin R2(s)@look R2(c)@enter W1(c)@clear";
    let session = support::parse(&many(&WINDOWS, &[&format!("{update} {read}")]));
    let findings = localize(Technique::Verdict, &session.runs, &Options::default());
    assert_eq!(findings[0].example.id, PatternId::P12.into());
    assert_eq!((findings[0].failed, findings[0].failing_runs.len()), (5, 5));
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

/// A flag is set before what it announces is there. All runs see the flag, most of them late enough; that the value is read too early is told with it. What is read may
/// be one thing or another.
#[test]
fn what_is_published_too_early_is_told_with_what_tells_of_it() {
    let published = "W2(ready)@say R1(ready)@see";
    let early = |value: &str| format!("{published} R1({value})@read_{value} W2({value})@make_{value}");
    let lucky = format!("{published} W2(one)@make_one W2(two)@make_two R1(one)@read_one R1(two)@read_two");
    let late = "R1(ready)@see W2(ready)@say W2(one)@make_one W2(two)@make_two R1(ready)@see R1(one)@read_one R1(two)@read_two";
    let passing = [lucky.as_str(), late];
    check_first(&many(&passing, &[&early("one")]), "P12 say see read_one make_one");
    let both = many(&passing, &[&early("one"), &early("one"), &early("two")]);
    check_first(&both, "P12 say see read_one make_one");
    let session = support::parse(&both);
    let findings = localize(Technique::Verdict, &session.runs, &Options::default());
    assert!(findings[0].score > 0.8, "one cause for all failing runs: {}", findings[0].score);
}

/// The same where the reader comes by once more, so that no window has the look that let it in any longer.
#[test]
fn what_is_published_too_early_is_told_although_it_is_seen_again() {
    let early = "W2(ready)@say R1(ready)@see R1(one)@read W2(one)@make R1(ready)@again";
    let lucky = "W2(ready)@say R1(ready)@see W2(one)@make R1(one)@read R1(ready)@again";
    let late = "R1(ready)@see W2(ready)@say W2(one)@make R1(ready)@see R1(one)@read R1(ready)@again";
    let traces = many(&[lucky, late], &[early]);
    check_first(&traces, "P12 say see read make");
    let not_entered = Tuning { entered: false, ..Tuning::default() };
    assert_eq!(first_by(not_entered, &traces), "P1 read make");
}

/// The same where the one has created the other, where much else comes in between, and with a single failing run.
#[test]
fn what_is_far_apart_is_not_told_together() {
    let early = |other: &str| format!("W2(ready)@say R1(ready)@see {other} R1(one)@read W2(one)@make");
    let much: String = (0..12).map(|nth| format!("R1(v{nth})@other W3(v{nth})@more ")).collect();
    let lucky = format!("W2(ready)@say R1(ready)@see W2(one)@make R1(one)@read {much}");
    let late = format!("R1(ready)@see W2(ready)@say W2(one)@make R1(ready)@see R1(one)@read {much}");
    check_first(&many(&[&lucky, &late], &[&early("")]), "P12 say see read make");
    check_first(&many(&[&lucky, &late], &[&early(&much)]), "P1 read make");
    let one = format!("F: {}\n{}", early(""), format!("P: {lucky}\nP: {late}\n").repeat(20));
    check_first(&one, "P1 read make");
}

/// A thing is looked up, taken out and ended by another thread, and used then. Nearly all runs look it up before it is taken out.
#[test]
fn what_is_used_after_its_end_is_told_with_the_look() {
    let used = "R1(list)@find W2(list)@remove W2(open)@close R1(open)@use";
    let in_time = "R1(list)@find R1(open)@use W2(list)@remove W2(open)@close";
    let gone = "W2(list)@remove W2(open)@close R1(list)@find";
    let lines = |outcome: &str, trace: &str, times| format!("{outcome}: {trace}\n").repeat(times);
    let traces = lines("F", used, 10) + &lines("P", in_time, 60) + &lines("P", gone, 2);
    assert_eq!(first(&traces), "P14 find remove close use");
}

/// Who copies takes what nobody else uses for its own, and another thread begins to use it: that this one then sees it change is what follows.
#[test]
fn what_lets_a_thread_in_goes_before_what_it_breaks() {
    let broken = "R2(users)@alone W1(users)@join R1(length)@look W2(length)@grow R1(length)@again";
    let before = "R2(users)@alone W2(length)@grow W1(users)@join R1(length)@look R1(length)@again";
    let after = "W1(users)@join R1(length)@look R2(users)@alone W2(length)@grow";
    check_first(&many(&[before, after], &[broken]), "P18 alone join look grow");
    // Passing runs show it as well where nobody looks again.
    let given = "W2(idle)@give W1(idle)@take W1(used)@begin W2(used)@reset R1(used)@check";
    let in_time = "W2(idle)@give W2(used)@reset W1(idle)@take W1(used)@begin R1(used)@check";
    let lucky = "W2(idle)@give W1(idle)@take W1(used)@begin R1(used)@check W2(used)@reset";
    let other = "W1(idle)@take W2(idle)@give W1(used)@begin W2(used)@reset";
    let lines = |outcome: &str, trace: &str, times| format!("{outcome}: {trace}\n").repeat(times);
    let passing = lines("P", in_time, 40) + &lines("P", lucky, 4) + &lines("P", other, 20);
    let traces = lines("F", given, 30) + &passing;
    assert_eq!(first(&traces), "P9 give take begin reset");
}

/// A lost update, right before which one thread has happened to read what the other had just written elsewhere. That is in passing runs as well, and opens nothing.
#[test]
fn what_happens_to_come_before_a_triple_does_not_let_it_in() {
    let traces = runs_like("P", "R1(n)@read W1(k)@put R2(k)@get W1(n)@write R2(n)@read W2(n)@write", 15)
        + &runs_like("P", "R2(k)@get R2(n)@read W2(n)@write R1(n)@read W1(k)@put W1(n)@write", 15)
        + &runs_like("F", "R1(n)@read W1(k)@put R2(k)@get R2(n)@read W1(n)@write W2(n)@write", 10);
    assert_eq!(first(&traces), "P7 read write write");
}
