//! Failing runs that end before a clue is complete.

mod support;

use localize::*;
use support::{reasons, runs_like, verdict_on as findings};

/// Two values are set one after the other, and read one after the other by a thread that ends the run if they do not fit.
/// Most failing runs end before the second is set, and have no record of it then, since a single thread has used it.
#[test]
fn failing_runs_that_end_early_speak_for_what_never_came() {
    let passing = [
        "W1(a)@set_a W1(b)@set_b R2(a)@get_a R2(b)@get_b",
        "R2(a)@get_a R2(b)@get_b W1(a)@set_a W1(b)@set_b",
        "R2(a)@get_a W1(a)@set_a R2(b)@get_b W1(b)@set_b",
    ];
    let passing: String = passing.iter().map(|trace| runs_like("P", trace, 20)).collect();
    let first_of = |early: &str| {
        let whole = runs_like("F", "W1(a)@set_a R2(a)@get_a R2(b)@get_b W1(b)@set_b", 2);
        let session =
            support::parse(&[&passing, &whole, &runs_like("F", early, 8)].map(String::as_str).concat());
        let findings = localize(Technique::Verdict, &session.runs, &Options::default());
        (session.in_short(&findings[0]), findings[0].score, findings[0].failed, reasons(&findings[0]))
    };
    let unfinished = Reason::Unfinished { failed: 8 };
    for early in ["W1(a)@set_a R2(a)@get_a", "W1(a)@set_a R2(a)@get_a R2(b)@get_b"] {
        let (first, score, failed, why) = first_of(early);
        assert_eq!((first.as_str(), failed), ("P12 set_a get_a get_b set_b", 2), "{early}");
        assert!(score > 0.9 && why.contains(&unfinished), "{early}: {score} {why:?}");
    }
    // A reader that goes on was not stopped by what it read; a writer that has come did not come too late.
    for other in ["W1(a)@set_a R2(a)@get_a R2(c)@go_on R1(c)@go_on", "W1(a)@set_a R2(a)@get_a W1(b)@set_b"] {
        let (first, _, _, why) = first_of(other);
        assert!(!why.contains(&unfinished), "{other}: {first} {why:?}");
    }
}

/// The test only tells at its end that values did not fit: whoever set them had come to its own end, and nothing kept it from the second one.
#[test]
fn who_came_to_its_end_was_kept_from_nothing() {
    let (set, get) = ("W1(a)@set_a W1(b)@set_b", "R2(a)@get_a R2(b)@get_b");
    let within = format!("{set} {get} W1(a)@set_a {get}");
    let traces = [
        runs_like("P", &format!("{set} {get} {set} {get} {set}"), 20),
        runs_like("P", &format!("{get} {set} {get} {set}"), 20),
        runs_like("F", &format!("{within} W1(b)@set_b"), 2),
        runs_like("F", &within, 8),
    ];
    let mut session = support::parse(&traces.concat());
    let is_unfinished = |session: &support::Session| {
        let findings = localize(Technique::Verdict, &session.runs, &Options::default());
        findings.iter().flat_map(reasons).any(|reason| matches!(reason, Reason::Unfinished { .. }))
    };
    assert!(is_unfinished(&session));
    for run in &mut session.runs {
        let (before, thread, target) = (run.accesses.len(), ThreadId(1), SyncTarget::Thread(ThreadId(1)));
        let (site, stack) = (SiteId(0), StackId(0));
        run.synchronization.push(SyncEvent { before, thread, kind: SyncKind::End, target, site, stack });
    }
    assert!(!is_unfinished(&session));
}

/// All threads go on for long after such reads, and something else ends most failing runs, before the second value is set.
#[test]
fn what_was_read_long_before_its_end_did_not_end_a_run() {
    let on = "W1(c)@go R2(c)@on ".repeat(9);
    let traces = [
        runs_like("P", &format!("W1(a)@set_a R2(a)@get_a {on} W1(b)@set_b R2(b)@get_b"), 30),
        runs_like("P", &format!("R2(a)@get_a R2(b)@get_b {on} W1(a)@set_a W1(b)@set_b"), 30),
        runs_like("F", &format!("W1(a)@set_a R2(a)@get_a R2(b)@get_b {on} W1(b)@set_b"), 1),
        runs_like("F", &format!("W1(a)@set_a R2(a)@get_a R2(b)@get_b {on}"), 20),
    ];
    let (_, findings) = findings(&traces.concat());
    let is_unfinished = |reason: &Reason| matches!(reason, Reason::Unfinished { .. });
    assert!(!findings.iter().flat_map(reasons).any(|reason| is_unfinished(&reason)), "{findings:#?}");
}

/// The same in loops: passing runs have all of the accesses too, in other rounds, and the second value was set in earlier ones.
#[test]
fn what_does_not_fit_within_a_round_is_told_from_what_fits_between_rounds() {
    let (set, get) = ("W1(a)@set_a W1(b)@set_b", "R2(a)@get_a R2(b)@get_b");
    let passing = [
        format!("{set} {get} {set} {get} {set}"),
        format!("{get} {set} {get} {set}"),
        format!("{set} R2(a)@get_a {set} R2(b)@get_b {set}"),
    ];
    let passing: String = passing.iter().map(|trace| runs_like("P", trace, 20)).collect();
    let within = format!("{set} {get} W1(a)@set_a {get}");
    let failing = [runs_like("F", &format!("{within} W1(b)@set_b"), 2), runs_like("F", &within, 8)].concat();
    let (session, findings) = findings(&(passing + &failing));
    assert_eq!(session.in_short(&findings[0]), "P12 set_a get_a get_b set_b");
    assert!(findings[0].score > 0.8, "{}", findings[0].score);
    assert_eq!((findings[0].failed, findings[0].passed), (2, 0));
    let why = reasons(&findings[0]);
    assert!(why.contains(&Reason::Unfinished { failed: 8 }), "{why:?}");
}

/// The same where the second value is read only after the first was found set, as what is published before it is there: that is told, and what
/// follows from it is no cause of its own.
#[test]
fn the_end_of_what_never_came_is_no_cause_of_its_own() {
    let traces = [
        runs_like("P", "W1(a)@set_a W1(b)@set_b R2(a)@get_a R2(b)@get_b", 20),
        runs_like("P", "R2(a)@get_a W1(a)@set_a W1(b)@set_b R3(b)@show", 20),
        runs_like("F", "W1(a)@set_a R2(a)@get_a R2(b)@get_b W1(b)@set_b", 5),
        runs_like("F", "W1(a)@set_a R2(a)@get_a", 5),
    ];
    let (session, findings) = findings(&traces.concat());
    assert_eq!(session.in_short(&findings[0]), "P12 set_a get_a get_b set_b");
    assert!(findings[0].score > 0.9, "{}", findings[0].score);
    let why = reasons(&findings[0]);
    assert!(why.contains(&Reason::Unfinished { failed: 5 }), "{why:?}");
    let others: Vec<String> = findings[1..].iter().map(|finding| session.in_short(finding)).collect();
    assert_eq!(others, ["P2 set_a get_a"], "that is in passing runs as well");
}

/// The writer's last is the first of the two values, in every run: then no run has ended within a round.
#[test]
fn what_passing_runs_end_with_as_well_speaks_for_nothing() {
    let (set, get) = ("W1(b)@set_b W1(a)@set_a", "R2(a)@get_a R2(b)@get_b");
    let traces = [
        runs_like("P", &format!("{set} {get}"), 30),
        runs_like("P", &format!("R2(a)@get_a {set} R2(b)@get_b R2(a)@get_a R2(b)@get_b"), 30),
        runs_like("F", &format!("{set} {get} {set}"), 2),
        runs_like("F", &format!("{set} {get}"), 8),
    ];
    let (session, findings) = findings(&traces.concat());
    for finding in &findings {
        let why = reasons(finding);
        let is_unfinished = why.iter().any(|reason| matches!(reason, Reason::Unfinished { .. }));
        assert!(!is_unfinished, "{} {why:?}", session.in_short(finding));
    }
}

/// A worker is announced, and counts that elsewhere, before its first sign of life: the run ends when somebody finds the sign of the life before.
#[test]
fn what_the_writer_does_besides_before_its_second_write_changes_nothing() {
    let (set, get) = ("W1(a)@set_a W1(c)@count W1(b)@set_b", "R2(a)@get_a R2(b)@get_b");
    let passing = [
        format!("R3(c)@show {set} {get} {set} {get} {set}"),
        format!("R3(c)@show {get} {set} {get} {set}"),
        format!("R3(c)@show {set} R2(a)@get_a {set} R2(b)@get_b {set}"),
    ];
    let passing: String = passing.iter().map(|trace| runs_like("P", trace, 20)).collect();
    let within = format!("R3(c)@show {set} {get} W1(a)@set_a {get} W1(c)@count");
    let failing = [runs_like("F", &format!("{within} W1(b)@set_b"), 2), runs_like("F", &within, 8)].concat();
    let (session, findings) = findings(&(passing + &failing));
    assert_eq!(session.in_short(&findings[0]), "P12 set_a get_a get_b set_b");
    let why = reasons(&findings[0]);
    assert!(why.contains(&Reason::Unfinished { failed: 8 }), "{why:?}");
}
