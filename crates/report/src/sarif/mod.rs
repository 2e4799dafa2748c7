//! The report as SARIF 2.1.0, for editors and code scanning: a result per finding, with a thread flow per thread.
//!
//! The suspects that share first place are warnings and the weaker ones notes, unless re-execution decided: then a
//! finding is an error or, if refuted, a note.

mod location;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use self::location::{location, stack};
use crate::json::escape_active;
use crate::model::{Access, Finding, Kind, Report, Verdict};
use crate::wording;

/// What the kinds of findings are, in the order in which results refer to them.
const RULES: [(Kind, &str, &str); 6] = [
    (Kind::OrderViolation, "Order violation", "Two accesses happen in the wrong order."),
    (
        Kind::AtomicityViolation,
        "Atomicity violation",
        "Accesses that were meant to be one step have another thread's access in between.",
    ),
    (
        Kind::MultiVariableAtomicityViolation,
        "Atomicity violation over several variables",
        "Accesses to variables that belong together have another thread's access in between.",
    ),
    (Kind::Deadlock, "Deadlock", "Threads wait for one another."),
    (Kind::MissedSignal, "Missed signal", "A wait begins after its signal."),
    (
        Kind::Communication,
        "Suspicious communication",
        "Data passes between threads in a way that only failing runs show.",
    ),
];

/// Writes the report as a SARIF log, ending in a newline.
pub fn to_string(report: &Report) -> String {
    let log = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [run(report)],
    });
    escape_active(format!("{log:#}\n"))
}

fn run(report: &Report) -> Value {
    let session = &report.session;
    let rules: Vec<Value> = RULES.iter().map(rule).collect();
    let warning = |warning: &String| json!({ "level": "warning", "message": message(warning) });
    json!({
        "tool": { "driver": { "name": "unsnarl", "version": session.unsnarl_version, "rules": rules } },
        "automationDetails": { "id": format!("unsnarl/{}/", session.name) },
        "columnKind": "unicodeCodePoints",
        "invocations": [{
            "executionSuccessful": true,
            "commandLine": wording::repeat_command(session),
            "toolExecutionNotifications": report.warnings.iter().map(warning).collect::<Vec<Value>>(),
        }],
        "results": report.findings.iter().map(|finding| result(report, finding)).collect::<Vec<Value>>(),
        "properties": {
            "seed": session.seed,
            "passed": report.runs.passed,
            "failed": report.runs.failed,
            "hung": report.runs.hung,
            "damaged": report.runs.damaged,
            "technique": report.technique,
        },
    })
}

fn rule((kind, name, description): &(Kind, &str, &str)) -> Value {
    json!({
        "id": kind,
        "shortDescription": { "text": name },
        "fullDescription": { "text": description },
        "defaultConfiguration": { "level": "warning" },
    })
}

fn result(report: &Report, finding: &Finding) -> Value {
    let locations: Vec<Value> = finding.accesses.iter().map(location).collect();
    let numbered = |(index, location): (usize, &Value)| {
        let mut location = location.clone();
        location["id"] = (index + 1).into();
        location
    };
    let related: Vec<Value> = locations.iter().enumerate().map(numbered).collect();
    json!({
        "ruleId": finding.kind,
        "ruleIndex": RULES.iter().position(|(kind, ..)| *kind == finding.kind),
        "level": level(finding),
        "message": message(&description(report, finding)),
        "locations": locations.first().into_iter().collect::<Vec<_>>(),
        "relatedLocations": related,
        "codeFlows": code_flows(finding),
        "partialFingerprints": { "unsnarlFinding/v1": fingerprint(finding) },
        "properties": {
            "rank": finding.rank,
            "tied": finding.tied,
            "score": finding.score.is_finite().then_some(finding.score),
            "failed": finding.failed,
            "passed": finding.passed,
            "pattern": finding.pattern,
            "failingRuns": finding.failing_runs,
        },
    })
}

fn level(finding: &Finding) -> &'static str {
    match finding.confirmation.map(|confirmation| confirmation.verdict) {
        Some(Verdict::Confirmed) => "error",
        Some(Verdict::Refuted) => "note",
        Some(Verdict::Inconclusive) | None if finding.rank == 1 => "warning",
        Some(Verdict::Inconclusive) | None => "note",
    }
}

fn description(report: &Report, finding: &Finding) -> String {
    let counts = wording::counts(finding, &report.runs).join(" and ");
    let mut sentences = vec![format!("{}, seen in {counts}.", wording::headline(finding))];
    sentences.extend(wording::sentence(finding));
    sentences.extend(finding.evidence.iter().map(|evidence| format!("Why: {evidence}")));
    sentences
        .extend(finding.confirmation.as_ref().map(|trials| format!("Proof: {}", wording::proof(trials))));
    sentences.extend(
        Some(&finding.advice).filter(|advice| !advice.is_empty()).map(|advice| format!("Fix: {advice}")),
    );
    sentences.join("\n")
}

/// A message of plain text. `[x](y)` would be a link in it, and names from the target should not be able to make one.
fn message(text: &str) -> Value {
    json!({ "text": text.replace("](", "] (") })
}

/// One flow per thread; the order of execution joins them.
fn code_flows(finding: &Finding) -> Vec<Value> {
    let flow = |thread: &u32| {
        let own = finding.accesses.iter().enumerate().filter(|(_, access)| access.thread == *thread);
        json!({
            "id": format!("thread {thread}"),
            "message": message(&wording::thread_title(finding, *thread)),
            "locations": own.map(|(index, access)| flow_location(index, access)).collect::<Vec<Value>>(),
        })
    };
    let flows: Vec<Value> = wording::threads(finding).iter().map(flow).collect();
    if flows.is_empty() { vec![] } else { vec![json!({ "threadFlows": flows })] }
}

fn flow_location(index: usize, access: &Access) -> Value {
    let mut at = json!({
        "location": location(access),
        "executionOrder": index + 1,
        "importance": "essential",
        "kinds": [access.kind],
    });
    if let Some(value) = &access.value {
        at["state"] = json!({ &access.variable: { "text": value } });
    }
    if !access.stack.is_empty() {
        at["stack"] = stack(&access.stack);
    }
    at
}

/// Tells the finding from others and stays the same while lines move: it is made of names and of the lines' text.
fn fingerprint(finding: &Finding) -> String {
    let access = |access: &Access| {
        let source = access.source.as_deref().map(str::trim);
        json!([access.thread, access.kind, access.variable, access.function, source])
    };
    let accesses: Vec<Value> = finding.accesses.iter().map(access).collect();
    let identity = json!([finding.kind, finding.pattern, accesses]).to_string();
    Sha256::digest(identity).iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn target_text_makes_no_links() {
        assert_eq!(message("a[1](b)")["text"], "a[1] (b)");
    }

    #[test]
    fn rules_have_distinct_kinds() {
        let kinds = wording::distinct(RULES.iter().map(|(kind, ..)| *kind));
        assert_eq!(kinds.len(), RULES.len());
    }
}
