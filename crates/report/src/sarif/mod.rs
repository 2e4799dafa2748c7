//! The report as SARIF 2.1.0, for editors and code scanning: a result per finding, with a thread flow per thread.
//!
//! The suspects that share first place are warnings and the weaker ones notes, unless re-execution decided: then a
//! finding is an error or, if refuted, a note.

mod location;
mod rules;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use self::location::Places;
use crate::hang::Hang;
use crate::json::escape_active;
use crate::model::{Access, Finding, Report, Verdict};
use crate::wording;

/// Writes the report as a SARIF log, ending in a newline. Files below the root, a folder, are given relative to it: code
/// scanning knows them so.
pub fn to_string(report: &Report, root: Option<&str>) -> String {
    let places = Places::new(root);
    let log = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [run(report, &places)],
    });
    escape_active(format!("{log:#}\n"))
}

fn run(report: &Report, places: &Places<'_>) -> Value {
    let session = &report.session;
    let note = |level: &str, text: &str| json!({ "level": level, "message": message(text) });
    let warnings = report.warnings.iter().map(|warning| note("warning", warning));
    let hangs = report.hangs.iter().map(|hang| note("note", &waiting(hang)));
    let results = report.findings.iter().map(|finding| result(report, finding, places));
    let mut run = json!({
        "tool": { "driver": {
            "name": "unsnarl",
            "version": session.unsnarl_version,
            "shortDescription": { "text": "Finds the thread interleaving that makes a flaky test fail." },
            "rules": rules::all(),
        } },
        "automationDetails": { "id": format!("unsnarl/{}/", session.name) },
        "columnKind": "unicodeCodePoints",
        "invocations": [{
            "executionSuccessful": true,
            "commandLine": wording::repeat_command(session),
            "toolExecutionNotifications": warnings.chain(hangs).collect::<Vec<Value>>(),
        }],
        "results": results.collect::<Vec<Value>>(),
        "properties": {
            "seed": session.seed,
            "passed": report.runs.passed,
            "failed": report.runs.failed,
            "hung": report.runs.hung,
            "damaged": report.runs.damaged,
            "technique": report.technique,
        },
    });
    if let Some(root) = places.root() {
        run["originalUriBaseIds"] = root;
    }
    run
}

/// Threads that wait, or could wait, for each other.
fn waiting(hang: &Hang) -> String {
    let fix = Some(&hang.advice).filter(|advice| !advice.is_empty()).map(|advice| format!("Fix: {advice}"));
    let sentences = [wording::hang(hang)].into_iter().chain(hang.threads.iter().cloned()).chain(fix);
    sentences.collect::<Vec<_>>().join("\n")
}

fn result(report: &Report, finding: &Finding, places: &Places<'_>) -> Value {
    let locations: Vec<Value> = finding.accesses.iter().map(|access| places.access(access)).collect();
    let numbered = |(index, location): (usize, &Value)| {
        let mut location = location.clone();
        location["id"] = (index + 1).into();
        location
    };
    let related: Vec<Value> = locations.iter().enumerate().map(numbered).collect();
    let mut result = json!({
        "ruleId": finding.kind,
        "ruleIndex": rules::index(finding.kind),
        "kind": "fail",
        "level": level(finding),
        "message": description(report, finding),
        "locations": locations.first().into_iter().collect::<Vec<_>>(),
        "relatedLocations": related,
        "codeFlows": code_flows(finding, places),
        "partialFingerprints": { "unsnarlFinding/v1": fingerprint(finding) },
        "properties": {
            "rank": finding.rank,
            "tied": finding.tied,
            "score": finding.score.is_finite().then_some(finding.score),
            "confidence": finding.confidence,
            "failed": finding.failed,
            "passed": finding.passed,
            "pattern": finding.pattern,
            "cause": finding.cluster,
            "suspiciousFunctions": finding.suspicious_functions,
            "failingRuns": finding.failing_runs,
            "fix": finding.fix,
            "confirmation": finding.confirmation,
        },
    });
    if let Some(confidence) = finding.confidence {
        result["rank"] = (100.0 * confidence).clamp(0.0, 100.0).into();
    }
    result
}

fn level(finding: &Finding) -> &'static str {
    match finding.confirmation.map(|confirmation| confirmation.verdict) {
        Some(Verdict::Confirmed) => "error",
        Some(Verdict::Refuted) => "note",
        Some(Verdict::Inconclusive) | None if finding.rank == 1 => "warning",
        Some(Verdict::Inconclusive) | None => "note",
    }
}

/// What is known of the finding. Its last line links to the accesses, as SARIF has it: `[1](1)` is the related location
/// with that id.
fn description(report: &Report, finding: &Finding) -> Value {
    let counts = wording::counts(finding, &report.runs).join(" and ");
    let mut sentences = vec![format!("{}, seen in {counts}.", wording::headline(finding))];
    let story = Some(finding.story.clone()).filter(|story| !story.is_empty());
    sentences.extend(story.or_else(|| wording::sentence(finding)));
    sentences.extend(finding.evidence.iter().map(|evidence| format!("Why: {evidence}")));
    sentences
        .extend(finding.confirmation.as_ref().map(|trials| format!("Proof: {}", wording::proof(trials))));
    sentences.extend(
        Some(&finding.advice).filter(|advice| !advice.is_empty()).map(|advice| format!("Fix: {advice}")),
    );
    let plain: Vec<String> = sentences.iter().map(|sentence| without_links(sentence)).collect();
    let links = finding.accesses.iter().enumerate().map(|(index, access)| {
        let number = index + 1;
        format!("[{number}]({number}) {}", without_links(&wording::access_title(access)))
    });
    json!({ "text": plain.into_iter().chain(links).collect::<Vec<_>>().join("\n") })
}

/// A message of plain text. `[x](y)` would be a link in it, and names from the target should not be able to make one.
fn message(text: &str) -> Value {
    json!({ "text": without_links(text) })
}

fn without_links(text: &str) -> String {
    text.replace("](", "] (")
}

/// What happened in a run that failed and, if one is compared with it, in a run that passed.
fn code_flows(finding: &Finding, places: &Places<'_>) -> Vec<Value> {
    let failing = thread_flows(finding, places);
    let passing = finding.in_passing_run().map(|(run, passing)| {
        let title = wording::passing_run(run);
        json!({ "message": message(title.trim_end_matches(':')), "threadFlows": thread_flows(&passing, places) })
    });
    let failing = json!({ "message": message(wording::FAILING_RUN), "threadFlows": failing });
    let flows = [failing].into_iter().chain(passing);
    flows.filter(|flow| flow["threadFlows"].as_array().is_some_and(|flows| !flows.is_empty())).collect()
}

/// One flow per thread; the order of execution joins them.
fn thread_flows(finding: &Finding, places: &Places<'_>) -> Vec<Value> {
    let flow = |thread: &u32| {
        let own = finding.accesses.iter().enumerate().filter(|(_, access)| access.thread == *thread);
        json!({
            "id": format!("thread {thread}"),
            "message": message(&wording::thread_title(finding, *thread)),
            "locations": own.map(|(index, access)| flow_location(index, access, places)).collect::<Vec<Value>>(),
        })
    };
    wording::threads(finding).iter().map(flow).collect()
}

fn flow_location(index: usize, access: &Access, places: &Places<'_>) -> Value {
    let mut at = json!({
        "location": places.access(access),
        "executionOrder": index + 1,
        "importance": "essential",
        "kinds": [access.kind],
    });
    if let Some(value) = access.value_in_words() {
        at["state"] = json!({ &access.variable: { "text": value } });
    }
    if !access.stack.is_empty() {
        at["stack"] = places.stack(&access.stack);
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
}
