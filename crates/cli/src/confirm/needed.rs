//! What a confirmed finding needs: where an earlier finding is the order that has to be in place for it, its proof speaks for that one
//! as well. That the two were forced together says that it takes both, and the earlier one is what lets the other come about.
//!
//! Nor does a proof by following failing runs tell an interleaving over two variables from another one that begins alike. That a
//! thread was held up for all that the others did brings the failure about, and to the end of these others one thing is as good a
//! mark as the next; which of them belongs to the cause is what the runs of the session tell.
//!
//! And where no run fails without one finding, which all failing runs show, another one with a step of it that a part of these runs shows
//! is one of the ways in which it comes about, as where seats are sold twice just when two clerks have written to their log at the same time.

use report::{Access, AccessKind, Finding, NeededStep, Trial, Verdict};

use super::decision::BELIEVED;

/// Which findings a confirmed one behind them needs, or is but another form of.
pub fn by_confirmed(findings: &[Finding]) -> Vec<bool> {
    let speaks_for = |behind: &Finding, other: &Finding| {
        verdict(behind) == Some(Verdict::Confirmed)
            && verdict(other) != Some(Verdict::Refuted)
            && (needs(behind, other) || is_narrower(behind, other) || is_one_way(behind, other))
    };
    let is_needed = |at: usize| findings[at + 1..].iter().any(|behind| speaks_for(behind, &findings[at]));
    (0..findings.len()).map(is_needed).collect()
}

fn verdict(finding: &Finding) -> Option<Verdict> {
    finding.confirmation.map(|confirmation| confirmation.verdict)
}

/// Does it begin with the same order between two threads, go on at another variable, and explain fewer failing runs? What was confirmed
/// by force needs no other's runs.
fn is_narrower(confirmed: &Finding, other: &Finding) -> bool {
    let is_followed =
        confirmed.confirmation.is_some_and(|one| one.followed.is_some_and(|followed| followed > 0));
    let ([one, two, .., end], [first, second, .., last]) = (&confirmed.accesses[..], &other.accesses[..])
    else {
        return false;
    };
    let place = |access: &Access| (access.kind, access.file.clone(), access.line, access.column);
    is_followed
        && confirmed.failed < other.failed
        && one.thread != two.thread
        && end.variable != one.variable
        && last.variable != end.variable
        && [place(one), place(two)] == [place(first), place(second)]
}

/// Is it one of the ways in which the other one comes about, without which no run fails?
fn is_one_way(confirmed: &Finding, other: &Finding) -> bool {
    const A_PART: f64 = 0.8;
    let is_needed = other.confirmation.is_some_and(|trials| {
        let counts = |trial: Trial| (trial.failed, trial.runs);
        let fisher = |delayed| localize::fisher(counts(delayed), counts(trials.forbidden));
        trials.forbidden.failed == 0 && trials.delayed.map(fisher).is_some_and(|p| p < BELIEVED)
    });
    let place = |access: &Access| {
        (access.kind, access.variable.clone(), access.file.clone(), access.line, access.column)
    };
    let is_shared = |access: &Access| confirmed.accesses.iter().any(|own| place(own) == place(access));
    let mut written = other.accesses.iter().filter(|access| access.kind != AccessKind::Read);
    is_needed
        && confirmed.failed as f64 <= A_PART * other.failed as f64
        && confirmed.failing_runs.iter().all(|run| other.failing_runs.contains(run))
        && written.any(is_shared)
}

fn needs(confirmed: &Finding, other: &Finding) -> bool {
    let [.., first, second] = &other.accesses[..] else { return false };
    let orders = confirmed.needs.iter().flat_map(|needs| &needs.orders);
    let is_told = |step: &NeededStep, access: &Access| {
        let step = (&step.variable, step.kind, &step.file, step.line);
        step == (&access.variable, access.kind, &access.file, access.line)
    };
    first.thread != second.thread
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

    /// A thief reads where the jobs are, and goes on when the owner has moved them and put others there; that the owner has come to its
    /// end before the thief does marks the same.
    #[test]
    fn a_proof_by_failing_runs_speaks_for_what_begins_alike_and_explains_more() {
        let with = |variable, line| {
            [
                access(1, "read", "jobs", 12),
                access(2, "write", "jobs", 30),
                access(2, "write", variable, line),
                access(1, "read", variable, line + 1),
            ]
        };
        let told = |other: &[serde_json::Value], failed, followed| {
            let mut end = finding(&with("stop", 50), "confirmed", serde_json::Value::Null);
            end.failed = failed;
            end.confirmation = end.confirmation.map(|one| report::Confirmation { followed, ..one });
            by_confirmed(&[finding(other, "inconclusive", serde_json::Value::Null), end])
        };
        assert_eq!(told(&with("back", 40), 6, Some(3)), [true, false]);
        assert_eq!(told(&with("back", 40), 9, Some(3)), [false, false], "it explains as much");
        assert_eq!(told(&with("back", 40), 6, None), [false, false], "it was forced by itself");
        assert_eq!(told(&with("back", 40)[1..], 6, Some(3)), [false, false], "it begins elsewhere");
    }

    /// Two clerks look for a free seat and sell it, while others write to their logs in some order.
    #[test]
    fn a_proof_speaks_for_what_no_run_fails_without_and_what_it_is_one_way_of() {
        let sale = |runs: &[u64], delayed, forbidden| {
            let accesses = [
                access(1, "read", "sold", 59),
                access(2, "write", "sold", 67),
                access(1, "read", "sold", 67),
            ];
            let mut sale = finding(&accesses, "inconclusive", serde_json::Value::Null);
            (sale.failed, sale.failing_runs) = (runs.len() as u64, runs.to_vec());
            sale.confirmation = sale.confirmation.map(|one| report::Confirmation {
                delayed: Some(Trial { runs: 18, failed: delayed }),
                forbidden: Trial { runs: 18, failed: forbidden },
                ..one
            });
            sale
        };
        let logged = |variable, runs: &[u64]| {
            let accesses = [
                access(1, "write", "log", 43),
                access(2, "write", "log", 43),
                access(2, "write", variable, 67),
                access(1, "write", variable, 67),
            ];
            let mut logged = finding(&accesses, "confirmed", serde_json::Value::Null);
            (logged.failed, logged.failing_runs) = (runs.len() as u64, runs.to_vec());
            logged
        };
        let told = |sale: Finding, logged: Finding| by_confirmed(&[sale, logged])[0];
        let all = [1, 2, 3, 4, 5];
        assert!(told(sale(&all, 11, 0), logged("sold", &[2, 5])));
        assert!(!told(sale(&all, 11, 0), logged("sold", &all)), "it explains as much");
        assert!(!told(sale(&all, 11, 0), logged("sold", &[2, 7])), "not all of these runs show the other");
        assert!(!told(sale(&all, 11, 0), logged("size", &[2, 5])), "it has no step of it");
        assert!(!told(sale(&all, 3, 0), logged("sold", &[2, 5])), "delays do no harm");
        assert!(!told(sale(&all, 11, 1), logged("sold", &[2, 5])), "runs fail without it");
    }
}
