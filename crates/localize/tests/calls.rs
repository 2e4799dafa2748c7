//! What a library does for one call counts together in the verdict.

mod support;

use std::sync::Arc;

use localize::*;
use support::reasons;

/// A message is sent after the other thread has hung up, which the channel finds out at a look or at an exchange. How it comes to that is seen in more
/// of the failing runs than each of the two.
fn session() -> support::Session {
    let sent = "R2(c)@send.look R2(c)@send.swap W1(c)@hang_up";
    let in_time = |asked: &str| format!("P: {sent} {asked}\n");
    let too_late = |found: &str, asked: &str| format!("F: {found} {asked}\n");
    let (at_look, at_swap) =
        ("W1(c)@hang_up R2(c)@send.look", "R2(c)@send.look W1(c)@hang_up R2(c)@send.swap");
    let (early, late) = ("W1(s)@stop R2(s)@ask", "R2(s)@ask W1(s)@stop");
    let mut traces = in_time(late).repeat(20);
    for found in [at_look, at_swap] {
        traces += &too_late(found, early).repeat(5);
        traces += &too_late(found, late).repeat(2);
    }
    support::parse(&traces)
}

fn first(session: &support::Session) -> (Vec<&str>, Vec<Reason>) {
    let findings = localize(Technique::Verdict, &session.runs, &Options::default());
    let sites = findings[0].pattern.sites().iter().map(|&site| session.site(site)).collect();
    (sites, reasons(&findings[0]))
}

#[test]
fn what_a_library_does_for_one_call_counts_together() {
    let mut session = session();
    assert_eq!(first(&session).0, ["stop", "ask"]);
    let at = |name: &str| (0..).map(SiteId).find(|&site| session.site(site) == name).unwrap();
    let calls: Calls =
        [at("send.look"), at("send.swap")].map(|site| (site, at("send.look"))).into_iter().collect();
    // Only the last run to be read knows them all.
    let last = session.runs.last_mut().unwrap();
    last.calls = Arc::new(calls);
    let (sites, reasons) = first(&session);
    assert_eq!(sites[0], "hang_up");
    assert!(reasons.contains(&Reason::CallsTogether { failed: 14, passed: 0 }), "{reasons:?}");
}

/// Passing runs speak against all of them, too.
#[test]
fn what_passing_runs_show_of_a_call_speaks_against_it() {
    let mut session = session();
    let at = |name: &str| (0..).map(SiteId).find(|&site| session.site(site) == name).unwrap();
    let calls: Calls = [at("hang_up"), at("stop")].map(|site| (site, at("stop"))).into_iter().collect();
    session.runs.iter_mut().for_each(|run| run.calls = Arc::new(calls.clone()));
    let (sites, reasons) = first(&session);
    assert_eq!(sites, ["stop", "ask"]);
    assert!(!reasons.iter().any(|reason| matches!(reason, Reason::CallsTogether { .. })), "{reasons:?}");
}
