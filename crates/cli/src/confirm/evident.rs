//! What is there to be seen goes before what trials prove besides.
//!
//! Who waits and then goes on without another look has made a mistake that is there to be seen. To forbid what else happens in the same function
//! keeps it whole, the wait included, so that nobody comes between the look and its use: such trials prove the one as much as the other.
//!
//! A deadlock is there to be seen in each run that hung. That a thread came to wait at all is an order that can be forced and forbidden, and so
//! ends the failures; but it is how the threads came to where they are, and not what keeps them there.

use report::{Action, Finding, Kind, Verdict};

/// A deadlock that no passing run shows: that trials do not bring it about, or do not keep threads from it elsewhere in the code, takes nothing from that.
pub fn is_there_to_be_seen(finding: &Finding) -> bool {
    finding.kind == Kind::Deadlock && finding.passed == 0
}

/// If the first finding is of that kind and not refuted, it is believed as much as what was confirmed: of the same function, or, of a deadlock that all
/// `failing` runs show, anything but another standstill.
pub fn let_evident_go_first(findings: &mut [Finding], failing: u64) {
    let Some((first, others)) = findings.split_first_mut() else { return };
    let verdict = |finding: &Finding| finding.confirmation.map(|confirmation| confirmation.verdict);
    let is_tested_once = first.fix.as_ref().is_some_and(|fix| fix.action == Action::TestAgain);
    let is_deadlock = first.kind == Kind::Deadlock && first.failed == failing;
    if !(is_tested_once || is_deadlock) || verdict(first) == Some(Verdict::Refuted) {
        return;
    }
    let tested_in = first.accesses.first().and_then(|access| access.function.clone());
    let is_proved_too = |other: &Finding| match is_deadlock {
        true => !matches!(other.kind, Kind::Deadlock | Kind::MissedSignal),
        false => other.accesses.iter().any(|access| access.function == tested_in),
    };
    let proved = others.iter_mut().filter(|other| {
        verdict(other) == Some(Verdict::Confirmed)
            && other.confidence > first.confidence
            && is_proved_too(other)
    });
    let most =
        proved.max_by(|one, other| one.confidence.unwrap_or(0.0).total_cmp(&other.confidence.unwrap_or(0.0)));
    if let Some(most) = most {
        std::mem::swap(&mut most.confidence, &mut first.confidence);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Who waits for the future of a task keeps a lock from it that the task takes at two places: it is forbidden at one of them.
    #[test]
    fn what_is_there_to_be_seen_needs_no_trial() {
        let with = |kind: Kind, passed: u64| Finding {
            kind,
            passed,
            ..finding("clear", "wait-unlocked", "inconclusive", 0.9)
        };
        assert!(is_there_to_be_seen(&with(Kind::Deadlock, 0)));
        assert!(!is_there_to_be_seen(&with(Kind::Deadlock, 1)));
        assert!(!is_there_to_be_seen(&with(Kind::MissedSignal, 0)), "who waits may be meant to");
    }

    /// As many failing runs as [`finding`] is seen in.
    const FAILING: u64 = 9;

    fn finding(function: &str, action: &str, verdict: &str, confidence: f64) -> Finding {
        let access = serde_json::json!({
            "thread": 1, "kind": "read", "variable": "places", "function": function, "file": "ferry.c", "line": 1,
            "column": 1, "stack": [], "value": null, "locks": [],
        });
        let trial = serde_json::json!({ "runs": 9, "failed": 0 });
        let plain = serde_json::json!({
            "rank": 1, "tied": 1, "score": 1.0, "confidence": confidence, "failed": 9, "passed": 0,
            "kind": "atomicity-violation", "pattern": "RW", "pattern_id": null, "accesses": [access],
            "suspicious_functions": [], "cluster": null, "failing_runs": [], "evidence": [], "advice": "",
            "fix": { "action": action, "locks": [], "places": [] },
            "confirmation": { "enforced": trial, "forbidden": trial, "verdict": verdict },
        });
        serde_json::from_value(plain).unwrap()
    }

    /// How much is believed of a first finding and of one that was confirmed.
    fn believed(action: &str, verdict: &str, function: &str) -> [f64; 2] {
        let mut findings =
            [finding("board", action, verdict, 0.02), finding(function, "extend-lock", "confirmed", 0.97)];
        let_evident_go_first(&mut findings, FAILING);
        findings.map(|finding| finding.confidence.unwrap())
    }

    /// A teller waits for the lock of a manager who waits for the teller; that the teller had something to do when the manager came is proved by trials.
    #[test]
    fn a_deadlock_that_all_failing_runs_show_stays_before_how_threads_came_to_it() {
        let believed = |verdict: &str, kind: Kind, failing: u64| {
            let deadlock =
                Finding { kind: Kind::Deadlock, ..finding("close", "wait-unlocked", verdict, 0.02) };
            let order = Finding { kind, ..finding("reserve", "wait", "confirmed", 0.97) };
            let mut findings = [deadlock, order];
            let_evident_go_first(&mut findings, failing);
            findings.map(|finding| finding.confidence.unwrap())
        };
        assert_eq!(believed("inconclusive", Kind::OrderViolation, FAILING), [0.97, 0.02]);
        assert_eq!(believed("refuted", Kind::OrderViolation, FAILING), [0.02, 0.97]);
        assert_eq!(believed("inconclusive", Kind::OrderViolation, FAILING + 1), [0.02, 0.97]);
        assert_eq!(believed("inconclusive", Kind::Deadlock, FAILING), [0.02, 0.97]);
    }

    #[test]
    fn what_proves_another_finding_of_the_function_proves_the_test_before_the_wait() {
        assert_eq!(believed("test-again", "inconclusive", "board"), [0.97, 0.02]);
        assert_eq!(believed("test-again", "refuted", "board"), [0.02, 0.97]);
        assert_eq!(believed("test-again", "inconclusive", "leave"), [0.02, 0.97]);
        assert_eq!(believed("extend-lock", "inconclusive", "board"), [0.02, 0.97]);
    }
}
