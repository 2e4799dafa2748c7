//! The causes that it takes to explain all failing runs, where one does not: each with its most suspicious finding.

use crate::causes::needed;
use crate::markup::{Element, classed, element, prose};
use crate::model::{Cause, Report};
use crate::wording;

/// The list; `None` if one finding explains as much as all do.
pub(super) fn section(report: &Report) -> Option<Element> {
    let needed = needed(report);
    let causes = needed.findings;
    if causes.len() < 2 {
        return None;
    }
    let together = if needed.explained == report.runs.failed {
        "all ".to_owned()
    } else {
        format!("{} of ", needed.explained)
    };
    let failing = wording::plural(report.runs.failed, "failing run");
    let title = format!("{} causes together explain {together}{failing}", causes.len());
    let items = causes.into_iter().map(|index| item(report, index));
    Some(classed("nav", "causes").child(element("h3").text(&title)).child(element("ol").children(items)))
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
