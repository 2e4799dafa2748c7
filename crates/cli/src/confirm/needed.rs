//! What a confirmed finding needs: where an earlier finding is the order that has to be in place for it, its proof speaks for that one
//! as well. That the two were forced together says that it takes both, and the earlier one is what lets the other come about.

use report::{Access, Finding, NeededStep, Verdict};

/// Which findings a confirmed one behind them needs.
pub fn by_confirmed(findings: &[Finding]) -> Vec<bool> {
    let is_needed = |at: usize| findings[at + 1..].iter().any(|behind| needs(behind, &findings[at]));
    (0..findings.len()).map(is_needed).collect()
}

fn needs(confirmed: &Finding, other: &Finding) -> bool {
    let verdict = |finding: &Finding| finding.confirmation.map(|confirmation| confirmation.verdict);
    let [.., first, second] = &other.accesses[..] else { return false };
    let orders = confirmed.needs.iter().flat_map(|needs| &needs.orders);
    let is_told = |step: &NeededStep, access: &Access| {
        let step = (&step.variable, step.kind, &step.file, step.line);
        step == (&access.variable, access.kind, &access.file, access.line)
    };
    verdict(confirmed) == Some(Verdict::Confirmed)
        && verdict(other) != Some(Verdict::Refuted)
        && first.thread != second.thread
        && orders.into_iter().any(|order| is_told(&order.first, first) && is_told(&order.second, second))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn access(thread: u32, kind: &str, variable: &str, line: u32) -> serde_json::Value {
        serde_json::json!({
            "thread": thread, "kind": kind, "variable": variable, "function": "work", "file": "pool.c", "line": line,
            "column": null, "stack": [], "value": null, "locks": null,
        })
    }

    fn finding(accesses: &[serde_json::Value], verdict: &str, needs: serde_json::Value) -> Finding {
        let trial = serde_json::json!({ "runs": 9, "failed": 0 });
        let plain = serde_json::json!({
            "rank": 1, "tied": 1, "score": 1.0, "failed": 9, "passed": 0, "kind": "order-violation", "pattern": "RW",
            "pattern_id": null, "accesses": accesses, "suspicious_functions": [], "cluster": null, "failing_runs": [],
            "evidence": [], "advice": "", "needs": needs,
            "confirmation": { "verdict": verdict, "enforced": trial, "forbidden": trial },
        });
        serde_json::from_value(plain).unwrap()
    }

    #[test]
    fn a_proof_speaks_for_what_it_needs() {
        let look = [access(1, "read", "running", 24), access(2, "write", "running", 40)];
        let read = [access(1, "read", "done", 26), access(2, "write", "done", 41)];
        let nothing = serde_json::Value::Null;
        let order = |of: &[serde_json::Value; 2]| serde_json::json!({ "first": of[0], "second": of[1] });
        let both = serde_json::json!({ "orders": [order(&look), order(&read)], "runs": 7, "failed": 7 });
        let told = |first: &Finding, verdict, needs: &serde_json::Value| {
            by_confirmed(&[first.clone(), finding(&read, verdict, needs.clone())])
        };
        let leading = finding(&look, "inconclusive", nothing.clone());
        assert_eq!(told(&leading, "confirmed", &both), [true, false]);
        assert_eq!(told(&leading, "inconclusive", &both), [false, false], "nothing is proven");
        assert_eq!(told(&leading, "confirmed", &nothing), [false, false], "it needs nothing");
        let refuted = finding(&look, "refuted", nothing.clone());
        assert_eq!(told(&refuted, "confirmed", &both), [false, false]);
        let other = finding(&[look[1].clone(), look[0].clone()], "inconclusive", nothing);
        assert_eq!(told(&other, "confirmed", &both), [false, false], "the other order");
    }
}
