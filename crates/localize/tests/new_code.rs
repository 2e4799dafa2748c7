//! Code that no passing run comes to, and what comes before and after it.

mod support;

use localize::{
    Options, SiteId, StackId, SyncEvent, SyncKind, SyncTarget, Technique, ThreadId, Tuning, localize,
};
use support::runs_like;

/// Pattern and sites of the first findings.
fn first(traces: &str, count: usize) -> Vec<String> {
    first_by(Tuning::default(), traces, count)
}

fn first_by(tuning: Tuning, traces: &str, count: usize) -> Vec<String> {
    let session = support::parse(traces);
    let findings = localize(Technique::Verdict, &session.runs, &Options { tuning, ..Options::default() });
    findings.iter().take(count).map(|finding| session.in_short(finding)).collect()
}

/// Who closes a channel has another thread wait for a block that is about to be stored, by a look that only failing runs need.
const WAITED: &str = "W1(block)@swap W2(block)@store R3(block)@wait";
const EARLY: &str = "W1(block)@swap W2(block)@store";
const LATE: &str = "W2(block)@store W1(block)@swap";
const DROPPED: &str = "W2(m)@drop W1(m)@free";
const FREED: &str = "W1(m)@free W2(m)@drop";

/// Waiting makes the other thread the first to drop the message. In a run or two it is so by itself, before anybody waits, and
/// the first failing run is one of them.
#[test]
fn what_mostly_comes_after_new_code_is_no_cause_of_it() {
    let passing = runs_like("P", &format!("{EARLY} {FREED}"), 20)
        + &runs_like("P", &format!("{LATE} {FREED}"), 17)
        + &runs_like("P", &format!("{LATE} {DROPPED}"), 3);
    let traces = runs_like("F", &format!("{DROPPED} {WAITED}"), 1)
        + &runs_like("F", &format!("{WAITED} {DROPPED}"), 12)
        + &runs_like("F", &format!("{WAITED} {FREED}"), 3);
    assert_eq!(first(&(traces + &passing), 2), ["P3 swap store", "P2 store wait"]);
    // Where most have it before, it may be why.
    let traces = runs_like("F", &format!("{DROPPED} {WAITED}"), 12)
        + &runs_like("F", &format!("{WAITED} {DROPPED}"), 1)
        + &runs_like("F", &format!("{WAITED} {FREED}"), 3);
    assert_eq!(first(&(traces + &passing), 1), ["P9 drop free swap store"]);
}

/// What most passing runs do as well is how the test usually goes, not why others come to new code.
#[test]
fn new_code_does_not_go_behind_what_most_passing_runs_show() {
    let traces = |early: usize| {
        runs_like("F", WAITED, 25) + &runs_like("P", EARLY, early) + &runs_like("P", LATE, 100 - early)
    };
    assert_eq!(first(&traces(50), 1), ["P3 swap store"]);
    assert_eq!(first(&traces(51), 1), ["P2 store wait"]);
}

/// Whoever finds that all is done writes the summary. Two do: each has counted itself, and looks after the other has. That the look came after two were done
/// does no harm to who is last anyhow; that two write, one after the other, is what failing runs do in consequence.
#[test]
fn what_a_second_thread_comes_to_is_no_cause() {
    let done = "U1(left)@done U2(left)@done R1(left)@look";
    let alone = "U1(left)@done R1(left)@look U2(left)@done R2(left)@look R2(summary)@len W2(summary)@add R3(summary)@check";
    let passing = runs_like("P", alone, 70)
        + &runs_like("P", &format!("{done} R1(summary)@len W1(summary)@add R3(summary)@check"), 30);
    let twice =
        "R1(summary)@len W1(summary)@add R2(left)@look R2(summary)@len W2(summary)@add R3(summary)@check";
    let traces = runs_like("F", &format!("{done} {twice}"), 25) + &passing;
    assert_eq!(first(&traces, 1), ["P5 done done look"]);
}

/// Who writes the journal looks for records before the last one is there, and may or may not look again. What is left when all threads have ended tells failing
/// from passing runs best; but whoever looks then always looks last.
#[test]
fn what_is_left_when_threads_have_ended_is_no_cause() {
    let traces = runs_like("F", "R1(records)@look W2(records)@push R3(records)@drop", 17)
        + &runs_like("F", "W2(records)@push R3(records)@drop", 3)
        + &runs_like("P", "R1(records)@look W2(records)@push W1(records)@take R3(records)@drop", 10)
        + &runs_like("P", "W2(records)@push R1(records)@look W1(records)@take R3(records)@drop", 80);
    let mut session = support::parse(&traces);
    let is_cause_first = |session: &support::Session| {
        let findings = localize(Technique::Verdict, &session.runs, &Options::default());
        let told: Vec<String> = findings.iter().map(|finding| session.in_short(finding)).collect();
        let place = |what: &str| told.iter().position(|one| one.ends_with(what));
        let [left, cause] = ["P2 push drop", "look push"].map(place);
        cause.unwrap_or_else(|| panic!("{told:?}")) < left.expect("it tells runs apart best")
    };
    assert!(!is_cause_first(&session));
    for run in &mut session.runs {
        let (before, main) = (run.accesses.len() - 1, run.accesses[run.accesses.len() - 1].thread);
        let writer = ThreadId(2);
        let event = |thread, kind| SyncEvent {
            before,
            thread,
            kind,
            target: SyncTarget::Thread(writer),
            site: SiteId(90),
            stack: StackId(90),
        };
        run.synchronization.extend([event(writer, SyncKind::End), event(main, SyncKind::Join)]);
    }
    assert!(is_cause_first(&session));
}

/// Who closes a channel takes the block out of its place before another stores it, and looks for it until it is there: where it should take it again. That
/// the swap came before the store is in passing runs as well, which need not look; so is that somebody sent before that, which lets all of it happen.
#[test]
fn two_writes_are_told_with_the_look_at_what_is_left() {
    let [sent, taken] = ["R2(tail)@load W3(tail)@send", "U1(block)@swap"];
    let failing = format!("{sent} {taken} R1(block)@wait W2(block)@store R1(block)@wait");
    let traces = |failing: &str, early: usize| {
        runs_like("F", failing, 25)
            + &runs_like("P", &format!("{sent} {taken} W2(block)@store"), early)
            + &runs_like("P", &format!("W3(tail)@send R2(tail)@load {taken} W2(block)@store"), 2)
            + &runs_like("P", &format!("W3(tail)@send R2(tail)@load W2(block)@store {taken}"), 70)
    };
    assert_eq!(first(&traces(&failing, 5), 3), ["P5 swap store wait", "P1 load send"]);
    assert_eq!(first(&traces(&failing, 0), 2), ["P5 swap store wait", "P1 load send"]);
    let apart = Tuning { looks: false, ..Tuning::default() };
    assert_eq!(first_by(apart, &traces(&failing, 5), 1), ["P1 load send"]);
    // Somebody else's look at it is what follows.
    let other = failing.replace("R1", "R4");
    assert_eq!(first(&traces(&other, 5), 1), ["P1 load send"]);
}
