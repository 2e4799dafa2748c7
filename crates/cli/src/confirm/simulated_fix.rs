//! What the runs say of a fix in which a finding was forbidden.

use report::{Confirmation, Finding, Kind, Verdict};

/// What a confirmed finding says about a fix: forbidding it is one. Where delays fail as well, without any order, and no run was made short that goes
/// wrong there, an order need not be more than how the failure shows.
pub fn simulated_fix(finding: &Finding) -> Option<String> {
    let Confirmation { verdict: Verdict::Confirmed, forbidden, .. } = finding.confirmation? else {
        return None;
    };
    let kept = match finding.kind {
        Kind::Deadlock => "With these locks taken by one thread after the other",
        // At one place in the code the other order is the same with the threads changed.
        Kind::OrderViolation if is_symmetric(finding) => "With this interleaving kept from happening",
        Kind::MissedSignal | Kind::OrderViolation => "With the other order kept",
        // Of two accesses the order may have been kept, or what the fix keeps whole.
        _ if finding.accesses.len() == 2 => "With this interleaving kept from happening",
        _ => "With these accesses kept together",
    };
    let sentence = format!("{kept}, {} of {} runs failed.", forbidden.failed, forbidden.runs);
    Some(if may_follow(finding) {
        format!(
            "{sentence} Delays alone make most runs fail, too: the order may follow from an earlier mistake."
        )
    } else {
        sentence
    })
}

fn may_follow(finding: &Finding) -> bool {
    let is_mere_order = finding.kind == Kind::OrderViolation && finding.accesses.len() == 2;
    let delayed = finding.confirmation.and_then(|confirmation| confirmation.delayed);
    let fails_anyway = delayed.is_some_and(|delayed| delayed.runs > 0 && delayed.failed * 2 > delayed.runs);
    is_mere_order && fails_anyway && finding.window.is_none()
}

/// Whether two threads are at the same place in the code.
pub fn is_symmetric(finding: &Finding) -> bool {
    let place =
        |access: &report::Access| (access.file.clone(), access.line, access.column, access.function.clone());
    matches!(finding.accesses.as_slice(), [first, second] if place(first) == place(second))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn order(delayed: serde_json::Value, window: serde_json::Value) -> Finding {
        let access = |thread: u32, line: u32| {
            json!({
                "thread": thread, "kind": "write", "variable": "state", "function": "f", "file": "a.c", "line": line, "column": 1,
                "source": null, "stack": [], "value": null, "locks": null
            })
        };
        let trial = |failed: u32| json!({ "runs": 9, "failed": failed });
        let mut finding = json!({
            "rank": 1, "tied": 1, "score": 0.9, "failed": 9, "passed": 0, "kind": "order-violation", "pattern": "WW",
            "accesses": [access(1, 3), access(2, 7)], "suspicious_functions": [], "cluster": null, "failing_runs": [1],
            "evidence": [], "advice": "",
            "confirmation": { "enforced": trial(9), "forbidden": trial(0), "verdict": "confirmed", "delayed": delayed }
        });
        if !window.is_null() {
            finding["window"] = window;
        }
        serde_json::from_value(finding).unwrap()
    }

    #[test]
    fn an_order_that_delays_bring_about_may_follow() {
        let told = |delayed, window| simulated_fix(&order(delayed, window)).unwrap();
        let delayed = |failed: u32| json!({ "runs": 9, "failed": failed });
        let none = serde_json::Value::Null;
        let plain = "With the other order kept, 0 of 9 runs failed.";
        assert!(told(delayed(8), none.clone()).ends_with("may follow from an earlier mistake."));
        assert_eq!(told(delayed(2), none.clone()), plain);
        assert_eq!(told(none.clone(), none), plain);
        // It is known where runs go wrong.
        assert_eq!(told(delayed(8), json!({ "run": 3, "switches": 9, "left": 1 })), plain);
    }
}
