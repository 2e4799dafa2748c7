//! What does harm only if nobody writes the variable afterwards.

mod support;

use localize::*;
use support::reasons;

/// A lower bid overwrites a higher one in most runs, and the next bid both, but for failing runs. Something else is seen in most failing runs and
/// in some others.
#[test]
fn an_outdated_look_counts_where_its_outcome_lasts() {
    let early = "R1(bid)@best R2(bid)@best W2(bid)@accept W1(bid)@accept R2(bid)@best W2(bid)@accept";
    let late = "R1(bid)@best W1(bid)@accept R1(bid)@best R2(bid)@best W2(bid)@accept W1(bid)@accept";
    let (asked, told) = ("R3(log)@ask W4(log)@tell", "W4(log)@tell R3(log)@ask");
    let traces = format!("P: {told} {early}\n").repeat(30)
        + &format!("P: {asked} {early}\n").repeat(10)
        + &format!("F: {asked} {late}\n").repeat(9)
        + &format!("F: {told} {late}\n");
    let session = support::parse(&traces);
    let first = |lasting: bool| {
        let tuning = Tuning { lasting, ..Tuning::default() };
        let findings = localize(Technique::Verdict, &session.runs, &Options { tuning, ..Options::default() });
        let run = session.runs.iter().find(|run| run.id == findings[0].example.run).unwrap();
        let accesses = findings[0].example.accesses.clone();
        let sites = accesses.iter().map(|&access| session.site(run.accesses[access].site));
        (sites.collect::<Vec<_>>().join(" "), accesses, reasons(&findings[0]))
    };
    assert_eq!(first(false).0, "ask tell");
    let (cause, accesses, reasons) = first(true);
    assert_eq!(cause, "best accept accept");
    assert_eq!(accesses, [4, 6, 7], "the last look, not the first");
    assert!(reasons.contains(&Reason::Lasting), "{reasons:?}");
    assert_eq!(reasons[0], Reason::Runs { failed: 10, all_failed: 10, passed: 0, all_passed: 40 });
}

/// Somebody writes once more, the thread itself or another one: neither is an outcome that lasts.
#[test]
fn only_the_last_write_of_all_counts() {
    let outdated = "R1(bid)@best R2(bid)@best W2(bid)@accept W1(bid)@accept";
    for [passing, failing] in [[1, 2], [2, 1]] {
        let traces = format!("P: {outdated} W{passing}(bid)@reset\n").repeat(20)
            + &format!("F: {outdated} W{failing}(bid)@reset\n").repeat(5);
        let session = support::parse(&traces);
        let findings = localize(Technique::Verdict, &session.runs, &Options::default());
        let is_lasting = |finding: &Finding| reasons(finding).contains(&Reason::Lasting);
        assert!(!findings.is_empty() && !findings.iter().any(is_lasting));
    }
}
