//! Who looks before another thread writes, in most runs that pass as well, has nothing to wait for: what went wrong is what it did with what it
//! had seen.

use report::{Action, Finding, explanation};

/// Replaces the advice to wait by what is to be kept together, if more than half of so many passing runs show the order as well.
pub fn rather_keep_together(finding: &mut Finding, passing: u64) {
    let is_to_wait = finding.fix.as_ref().is_some_and(|fix| fix.action == Action::Wait);
    if is_to_wait && finding.accesses.len() == 2 && finding.passed * 2 > passing {
        finding.fix = None;
        finding.advice = explanation::other_order(finding, passing).unwrap_or_default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A clock's high half is read before it is raised in nearly all passing runs.
    #[test]
    fn nobody_waits_for_what_comes_later_in_most_passing_runs() {
        let access = |thread: u32, kind: &str, line: u32| {
            serde_json::json!({
                "thread": thread, "kind": kind, "variable": "hi", "function": format!("f{thread}"), "file": "clock.c",
                "line": line, "column": null, "stack": [],
            })
        };
        let advice = |passed: u64| {
            let plain = serde_json::json!({
                "rank": 1, "tied": 1, "score": 1.0, "failed": 9, "passed": passed, "kind": "order-violation",
                "pattern": "RW", "pattern_id": null, "accesses": [access(1, "read", 38), access(2, "write", 33)],
                "suspicious_functions": [], "cluster": null, "failing_runs": [], "evidence": [],
                "advice": "Let it wait.", "fix": { "action": "wait", "locks": [], "places": [] },
                "confirmation": null,
            });
            let mut finding: Finding = serde_json::from_value(plain).unwrap();
            rather_keep_together(&mut finding, 100);
            (finding.advice, finding.fix.is_some())
        };
        assert_eq!(advice(50), ("Let it wait.".to_owned(), true));
        let (rather, has_fix) = advice(51);
        let said = "Most passing runs have this order too: look for what f1() does after clock.c:38";
        assert!(rather.starts_with(said) && !has_fix, "{rather}");
    }
}
