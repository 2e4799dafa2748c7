//! Interleavings that do harm at some values only, in the verdict.

mod support;

use localize::*;
use support::{Session, reasons, verdict_on};

/// A thread sees that so many are left, another one takes one, and the first one takes one, too.
fn crossed(left: u64) -> String {
    let rest = left - 1;
    format!("R1(left)@ask={left} R2(left)@take.look={left} W2(left)@take={rest} R1(left)@take.look={rest} ")
}

/// One after the other.
fn in_turn(left: u64) -> String {
    let rest = left - 1;
    format!("R1(left)@ask={left} R1(left)@take.look={left} W1(left)@take={rest} R2(left)@ask={rest} ")
}

/// The last one of three is taken twice in failing runs. Passing ones cross when there are plenty, which most of them do, and count what they do in
/// any order, which goes with failing a little.
fn session() -> String {
    let passing = [
        format!("P: {} W1(n)@count W2(n)@count R1(n)@read", crossed(3)),
        format!("P: {} {} W1(n)@count R1(n)@read", crossed(2), in_turn(1)),
        format!("P: {} W1(n)@count R1(n)@read", in_turn(1)),
        format!("P: {} W1(n)@count R1(n)@read", crossed(3)),
    ];
    let failing = format!("F: {} {} W1(n)@count W2(n)@count R1(n)@read", crossed(3), crossed(1));
    let mut traces = String::new();
    for nth in 0..28 {
        traces += &format!("{}\n", passing[nth % 4]);
        traces += &if nth % 3 == 0 { format!("{failing}\n") } else { String::new() };
    }
    traces
}

fn sites<'s>(session: &'s Session, finding: &Finding) -> Vec<&'s str> {
    finding.pattern.sites().iter().map(|&site| session.site(site)).collect()
}

#[test]
fn what_does_harm_at_one_value_only_is_told_by_it() {
    let (session, findings) = verdict_on(&session());
    let first = &findings[0];
    assert_eq!(sites(&session, first), ["ask", "take", "take.look"]);
    assert_eq!((first.failed, first.passed), (10, 0));
    let values = Reason::Values {
        kinds: [AccessKind::Read, AccessKind::Write],
        values: [Value::Any, Value::Is(0)],
        passed: 21,
    };
    assert!(reasons(first).contains(&values), "{:?}", reasons(first));
    let expected = "it does harm where the second access writes 0; with other values 21 passing runs show it and do not fail";
    assert_eq!(values.to_string(), expected);
    // The example is one that does harm, not the first one of its run.
    let run = session.runs.iter().find(|run| run.id == first.example.run).unwrap();
    let read: Vec<Option<u64>> =
        first.example.accesses.iter().map(|&index| run.accesses[index].value).collect();
    assert_eq!(read, [Some(1), Some(0), Some(0)]);
}

/// Without values nothing tells the harmless from the harmful ones.
#[test]
fn nothing_is_said_of_values_that_are_not_known() {
    let traces: String = session()
        .split_inclusive(' ')
        .map(|word| match word.split_once('=') {
            Some((access, _)) => format!("{access} "),
            None => word.to_owned(),
        })
        .collect();
    let (_, findings) = verdict_on(&traces);
    let all: Vec<Reason> = findings.iter().flat_map(reasons).collect();
    assert!(!all.iter().any(|reason| matches!(reason, Reason::Values { .. })), "{all:?}");
}

/// Where no passing run writes that value at all, it is what failing did.
#[test]
fn values_that_only_failing_runs_have_explain_nothing() {
    let traces =
        session().replace("W1(left)@take=0", "W1(left)@take=1").replace("W2(left)@take=0", "W2(left)@take=9");
    let (_, findings) = verdict_on(&traces.replace("take.look=0", "take.look=9"));
    let all: Vec<Reason> = findings.iter().flat_map(reasons).collect();
    let is_new = |reason: &Reason| matches!(reason, Reason::Values { values: [_, Value::Is(9)], .. });
    assert!(!all.iter().any(is_new), "{all:?}");
}
