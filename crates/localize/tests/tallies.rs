//! What is only ever counted, in the verdict.

mod support;

use support::{reasons, verdict_on};

use localize::*;

/// One thread's look and act under one lock each, at one of two entries, with a count of both.
fn steps(thread: u32, entry: &str, acts: bool) -> [String; 2] {
    let count = |at: &str| format!("R{thread}(uses)@{at}.read W{thread}(uses)@{at}.count ");
    let act = format!("W{thread}({entry})@put.{entry} {}", count("put"));
    [format!("R{thread}({entry})@look.{entry} {}", count("look")), if acts { act } else { String::new() }]
}

/// Two threads take the same entry in failing runs; which one it is differs, and what is counted does not.
fn session() -> String {
    let mut traces = String::new();
    for nth in 0..36 {
        let entry = if nth == 0 { "b" } else { "a" };
        let [look, act] = steps(1, entry, true);
        let [late, _] = steps(2, entry, false);
        traces += &format!("P: {look}{act}{late}\n");
        let ([look, act], [late, _]) = (steps(2, entry, true), steps(1, entry, false));
        traces += &format!("P: {look}{act}{late}\n");
        if nth % 3 == 0 {
            let ([one, first], [other, second]) = (steps(1, entry, true), steps(2, entry, true));
            traces += &format!("F: {one}{other}{second}{first}\n");
        }
    }
    traces
}

#[test]
fn a_count_goes_behind_what_is_looked_at_beside_it() {
    let (session, findings) = verdict_on(&session());
    let is_count = |finding: &Finding| {
        finding
            .pattern
            .sites()
            .iter()
            .all(|&site| session.site(site).contains("read") || session.site(site).contains("count"))
    };
    assert!(!is_count(&findings[0]), "{:?}", findings[0].pattern);
    let counts = findings.iter().find(|finding| is_count(finding)).expect("counts are still told");
    assert!(reasons(counts).contains(&Reason::Tally), "{:?}", reasons(counts));
    assert!(counts.failed > findings[0].failed, "{} {}", counts.failed, findings[0].failed);
}

/// A step that another one breaks into is a lost update.
#[test]
fn a_count_that_loses_something_is_none() {
    let mut traces = String::new();
    for nth in 0..20 {
        traces += "P: R1(n)@read W1(n)@count R2(n)@read W2(n)@count\n";
        traces += if nth % 3 == 0 { "F: R1(n)@read R2(n)@read W2(n)@count W1(n)@count\n" } else { "" };
    }
    let (session, findings) = verdict_on(&traces);
    let sites: Vec<&str> = findings[0].pattern.sites().iter().map(|&site| session.site(site)).collect();
    assert_eq!(sites, ["read", "count", "count"]);
    assert!(!reasons(&findings[0]).contains(&Reason::Tally), "{:?}", reasons(&findings[0]));
}

/// Of a turn of several steps, not all that lies between its first and its last is on record: here what the second one of three writes.
#[test]
fn a_turn_of_many_steps_is_counted() {
    let step = |thread: u32, at: &str| format!("R{thread}(n)@{at}.read W{thread}(n)@{at}.count ");
    let [one, two, other] = [step(1, "look"), step(1, "put"), step(2, "look")];
    let many = format!("{other}R2(n)@put.read W2(own)@note {other}");
    let traces: String = (0..20)
        .map(|nth| match nth % 3 {
            0 => format!("P: {one}{two}{other}\nF: {one}{many}{two}\n"),
            _ => format!("P: {one}{two}{other}\n"),
        })
        .collect();
    let (_, findings) = verdict_on(&traces);
    assert!(reasons(&findings[0]).contains(&Reason::Tally), "{:?}", reasons(&findings[0]));
}
