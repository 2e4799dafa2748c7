//! A confirmed order that is only possible since others have crossed is what follows from these: who uses a thing after it was closed had looked it up before it was
//! taken away. The finding is then told by the two orders that cross: a thread looks, another one comes in between, and the first goes on.

use report::{Access, AccessKind, Finding, Kind, NeededStep, Runs, explanation};

/// Tells a confirmed order by what has to cross for it, in which these accesses lead to it; says what it was told by before, if it is. What was forced and
/// forbidden stays as it was.
pub fn restate(finding: &mut Finding, leading: &[Access], runs: &Runs) -> Option<Vec<Access>> {
    let steps = finding.needs.as_ref().and_then(explanation::crossing)?;
    let told = |step: &NeededStep| {
        let mut known = finding.accesses.iter().chain(leading);
        known.find(|access| NeededStep::from(*access) == *step).cloned()
    };
    let mut accesses = steps.into_iter().map(told).collect::<Option<Vec<Access>>>()?;
    accesses.dedup();
    if accesses.len() < 3 || accesses.iter().any(|access| access.variable.is_empty()) {
        return None;
    }
    let first = accesses[0].thread;
    let before = std::mem::replace(&mut finding.accesses, accesses);
    number_from(finding, first);
    let is_one_variable =
        finding.accesses.iter().all(|access| access.variable == finding.accesses[0].variable);
    finding.kind =
        if is_one_variable { Kind::AtomicityViolation } else { Kind::MultiVariableAtomicityViolation };
    finding.pattern = finding.accesses.iter().map(|access| letter(access.kind)).collect();
    (finding.pattern_id, finding.comparison) = (None, None);
    // What was known of the other accesses.
    finding.evidence.clear();
    finding.suspicious_functions = explanation::enclosing_functions(&finding.accesses);
    finding.story = explanation::story(finding, runs);
    Some(before)
}

/// Numbers the two threads so that this one is the first.
fn number_from(finding: &mut Finding, first: u32) {
    let number = |thread: &mut u32| *thread = if *thread == first { 1 } else { 2 };
    finding.accesses.iter_mut().for_each(|access| number(&mut access.thread));
    finding.threads.iter_mut().for_each(|role| number(&mut role.thread));
    finding.threads.sort_by_key(|role| role.thread);
    for order in finding.needs.iter_mut().flat_map(|needs| &mut needs.orders) {
        number(&mut order.first.thread);
        number(&mut order.second.thread);
    }
}

/// Its letter in patterns, in which an update counts as a write.
fn letter(kind: AccessKind) -> char {
    match kind {
        AccessKind::Read => 'R',
        AccessKind::Write | AccessKind::Update => 'W',
        AccessKind::Lock => 'L',
        AccessKind::Signal => 'S',
        AccessKind::Wait => 'C',
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn access(thread: u32, kind: &str, variable: &str, line: u32) -> serde_json::Value {
        json!({
            "thread": thread, "kind": kind, "variable": variable, "function": "f", "file": "/src/pool.rs", "line": line,
            "column": null, "source": null, "stack": [],
        })
    }

    fn accesses(of: &[serde_json::Value]) -> Vec<Access> {
        of.iter().map(|one| serde_json::from_value(one.clone()).unwrap()).collect()
    }

    /// One is closed and then used: it had been looked up before it was taken away.
    #[test]
    fn a_use_that_others_have_to_cross_for_is_told_by_these() {
        let [close, uses] = [access(1, "write", "open", 17), access(2, "read", "open", 20)];
        let [look, remove] = [access(2, "read", "map", 30), access(1, "update", "map", 39)];
        let order = |first: &serde_json::Value, second: &serde_json::Value| json!({ "first": first, "second": second });
        let told = |orders: Vec<serde_json::Value>, leading: &[serde_json::Value]| {
            let mut finding: Finding = serde_json::from_value(json!({
                "rank": 1, "tied": 1, "score": 1.0, "failed": 3, "passed": 0, "kind": "order-violation", "pattern": "WR",
                "pattern_id": "P2", "accesses": [close, uses], "suspicious_functions": [], "cluster": null,
                "failing_runs": [1], "evidence": ["no lock is held"], "advice": "", "confirmation": null,
                "needs": { "orders": orders, "runs": 8, "failed": 8 },
            }))
            .unwrap();
            let before = restate(&mut finding, &accesses(leading), &Runs::default());
            let steps = finding.accesses.iter().map(|access| (access.thread, access.line.unwrap()));
            (steps.collect::<Vec<_>>(), finding.pattern.clone(), finding.kind, before.is_some())
        };
        let both = [look.clone(), remove.clone()];
        let crossing = told(vec![order(&look, &remove), order(&close, &uses)], &both);
        let steps = vec![(1, 30), (2, 39), (2, 17), (1, 20)];
        assert_eq!(crossing, (steps, "RWWR".to_owned(), Kind::MultiVariableAtomicityViolation, true));
        let as_it_was = (vec![(1, 17), (2, 20)], "WR".to_owned(), Kind::OrderViolation, false);
        let same_way = told(vec![order(&remove, &look), order(&close, &uses)], &both);
        assert_eq!(same_way, as_it_was, "nothing crosses");
        assert_eq!(
            told(vec![order(&look, &remove), order(&close, &uses)], &[]),
            as_it_was,
            "not known in full"
        );
    }
}
