//! The causes that it takes to explain all failing runs, where one does not: each with its most suspicious finding.

use std::collections::BTreeSet;

use crate::markup::{Element, classed, element, prose};
use crate::model::{Cause, Finding, Report};
use crate::wording;

/// The list; `None` if one finding explains as much as all do.
pub(super) fn section(report: &Report) -> Option<Element> {
    let (causes, explained) = needed(report);
    if causes.len() < 2 {
        return None;
    }
    let together =
        if explained as u64 == report.runs.failed { "all ".to_owned() } else { format!("{explained} of ") };
    let failing = wording::plural(report.runs.failed, "failing run");
    let title = format!("{} causes together explain {together}{failing}", causes.len());
    let items = causes.into_iter().map(|index| item(report, index));
    Some(classed("nav", "causes").child(element("h3").text(&title)).child(element("ol").children(items)))
}

/// The first findings, by index, of which each is seen in a failing run that shows none before it; and how many
/// failing runs show one of them.
fn needed(report: &Report) -> (Vec<usize>, usize) {
    let mut explained = BTreeSet::new();
    let mut explains_more = |finding: &Finding| {
        let before = explained.len();
        explained.extend(finding.failing_runs.iter().copied());
        explained.len() > before
    };
    let needed = (0..report.findings.len()).filter(|&index| explains_more(&report.findings[index])).collect();
    (needed, explained.len())
}

fn item(report: &Report, index: usize) -> Element {
    let finding = &report.findings[index];
    let cause: Option<&Cause> = report.causes.iter().find(|cause| Some(cause.number) == finding.cluster);
    let open = element("button").attribute("type", "button").attribute("data-open", index);
    let [failing, passing] = wording::counts(finding, &report.runs);
    let mut facts = vec![failing, passing];
    if let Some(cause) = cause.filter(|cause| cause.findings.len() > 1) {
        facts.push(format!("{} findings", cause.findings.len()));
    }
    if !finding.suspicious_functions.is_empty() {
        facts.push(format!("look at {}", wording::suspicious_functions(finding)));
    }
    element("li")
        .child(open.children(prose(&wording::headline(finding))))
        .child(classed("span", "quiet").text(&facts.join(" · ")))
}
