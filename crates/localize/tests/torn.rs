//! Two variables that are torn apart now in the one way, now in the other, in the verdict.

mod support;

use support::reasons;

use localize::*;

const SET: &str = "W1(mode)@set.mode W1(target)@set.target ";
const PLAN: &str = "R2(mode)@plan.mode R2(target)@plan.target ";
/// The reader comes in between, and the writer does.
const READER: &str = "W1(mode)@set.mode R2(mode)@plan.mode R2(target)@plan.target W1(target)@set.target ";
const WRITER: &str = "R2(mode)@plan.mode W1(mode)@set.mode W1(target)@set.target R2(target)@plan.target ";

/// Now and then it does no harm.
fn session() -> String {
    let mut traces = String::new();
    for nth in 0..24 {
        traces += &format!("P: {PLAN}{SET}\nP: {SET}{PLAN}\n");
        traces += &match nth % 8 {
            0 => format!("F: {READER}\nP: {READER}\n"),
            1 | 3 => format!("F: {READER}\n"),
            2 | 4 => format!("F: {WRITER}\n"),
            5 => format!("F: {WRITER}\nP: {WRITER}\n"),
            _ => String::new(),
        };
    }
    traces
}

fn told(torn: bool) -> (Vec<String>, Vec<Reason>) {
    let session = support::parse(&session());
    let tuning = Tuning { torn, ..Tuning::default() };
    let findings = localize(Technique::Verdict, &session.runs, &Options { tuning, ..Options::default() });
    let sites = findings[0].pattern.sites().iter().map(|&site| session.site(site).to_owned()).collect();
    (sites, reasons(&findings[0]).to_vec())
}

#[test]
fn both_ways_count_together() {
    let (sites, reasons) = told(true);
    assert_eq!(sites.len(), 4, "{sites:?}");
    let together = Reason::TornTogether { failed: 18, passed: 6 };
    assert!(reasons.contains(&together), "{reasons:?}");
    let said = "18 failing and 6 passing runs have the same accesses cross, this way or the other";
    assert_eq!(together.to_string(), said);
    assert!(!told(false).1.iter().any(|reason| matches!(reason, Reason::TornTogether { .. })));
}
