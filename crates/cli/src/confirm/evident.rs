//! Who waits and then goes on without another look has made a mistake that is there to be seen. To forbid what else happens in the same function
//! keeps it whole, the wait included, so that nobody comes between the look and its use: such trials prove the one as much as the other.

use report::{Action, Finding, Verdict};

/// If the first finding is of that kind and not refuted, it is believed as much as what was confirmed of the same function.
pub fn let_evident_go_first(findings: &mut [Finding]) {
    let Some((first, others)) = findings.split_first_mut() else { return };
    let verdict = |finding: &Finding| finding.confirmation.map(|confirmation| confirmation.verdict);
    let is_tested_once = first.fix.as_ref().is_some_and(|fix| fix.action == Action::TestAgain);
    if !is_tested_once || verdict(first) == Some(Verdict::Refuted) {
        return;
    }
    let tested_in = first.accesses.first().and_then(|access| access.function.clone());
    let is_of_function = |other: &Finding| other.accesses.iter().any(|access| access.function == tested_in);
    let proved = others.iter_mut().filter(|other| {
        verdict(other) == Some(Verdict::Confirmed)
            && other.confidence > first.confidence
            && is_of_function(other)
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
        let_evident_go_first(&mut findings);
        findings.map(|finding| finding.confidence.unwrap())
    }

    #[test]
    fn what_proves_another_finding_of_the_function_proves_the_test_before_the_wait() {
        assert_eq!(believed("test-again", "inconclusive", "board"), [0.97, 0.02]);
        assert_eq!(believed("test-again", "refuted", "board"), [0.02, 0.97]);
        assert_eq!(believed("test-again", "inconclusive", "leave"), [0.02, 0.97]);
        assert_eq!(believed("extend-lock", "inconclusive", "board"), [0.02, 0.97]);
    }
}
