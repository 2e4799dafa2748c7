//! One finding: its row in the list, and what is shown when it is open.

use super::{source, stacks};
use crate::markup::{Element, Node, classed, element, prose, text};
use crate::model::{Access, Confirmation, Finding, Report, Runs, Trial, Verdict};
use crate::passage::Excerpts;
use crate::picture;
use crate::wording;

/// The row of a finding: what it is, in a sentence and in numbers.
pub(super) fn summary(runs: &Runs, number: usize, finding: &Finding) -> Element {
    let what = classed("div", "what")
        .child(element("h2").children(prose(&wording::headline(finding))).children(verdict(finding)))
        .children(
            wording::sentence(finding).map(|sentence| classed("p", "sentence").children(prose(&sentence))),
        );
    let [failing, passing] = wording::counts(finding, runs);
    let counts = classed("div", "counts")
        .child(bar("bad", finding.failed, runs.failed, &failing))
        .child(bar("good", finding.passed, runs.passed, &passing));
    element("summary").child(classed("span", "rank").text(&number.to_string())).child(what).child(counts)
}

fn verdict(finding: &Finding) -> Option<Element> {
    let verdict = finding.confirmation?.verdict;
    let class = match verdict {
        Verdict::Confirmed => "verdict good",
        Verdict::Refuted => "verdict bad",
        Verdict::Inconclusive => "verdict caution",
    };
    Some(classed("span", class).text(wording::verdict(verdict)))
}

/// A part of a whole, as a bar and in words.
fn bar(class: &str, part: u64, whole: u64, words: &str) -> Element {
    let percent = if whole == 0 { 0.0 } else { 100.0 * part.min(whole) as f64 / whole as f64 };
    let piece = |class: &str, width: f64| {
        classed("rect", class).attribute("width", format!("{width:.1}")).attribute("height", 1)
    };
    let plot = element("svg")
        .attribute("viewBox", "0 0 100 1")
        .attribute("preserveAspectRatio", "none")
        .attribute("aria-hidden", "true")
        .child(piece("all", 100.0))
        .child(piece("part", percent));
    classed("div", &format!("count {class}")).child(plot).child(element("span").text(words))
}

/// Makes what is shown of the open findings of a report.
pub(super) struct Bodies<'a> {
    report: &'a Report,
    excerpts: Excerpts<'a>,
}

impl<'a> Bodies<'a> {
    pub(super) fn of(report: &'a Report) -> Self {
        Bodies { report, excerpts: Excerpts::of(report) }
    }

    /// The cause that the finding belongs to, if others do too: all their accesses in one picture.
    fn cause(&self, finding: &Finding) -> Option<Element> {
        let cause = self.report.causes.iter().find(|cause| Some(cause.number) == finding.cluster)?;
        let nodes = cause.graph.nodes.iter();
        let accesses: Vec<Access> = nodes
            .flat_map(|node| node.accesses.iter().map(move |place| (node.thread, place)))
            .filter_map(|(thread, &[number, nth])| {
                let finding = self.report.findings.get(usize::try_from(number).ok()?.checked_sub(1)?)?;
                let access = finding.accesses.get(usize::try_from(nth).ok()?)?;
                Some(Access { thread, value: None, ..access.clone() })
            })
            .collect();
        if cause.findings.len() < 2 || accesses.len() <= finding.accesses.len() {
            return None;
        }
        let title = format!("{} are this cause", wording::plural(cause.findings.len() as u64, "finding"));
        let graph = unlinked(&Finding { accesses, ..finding.clone() })?;
        Some(classed("details", "fold cause").child(element("summary").text(&title)).child(graph))
    }

    /// Everything that is known of a finding. `number` is its place in the list, from 1.
    pub(super) fn of_finding(&self, number: usize, finding: &'a Finding) -> Element {
        let beside = [source::section(finding, &self.excerpts.passages(finding)), stacks::section(finding)];
        classed("div", "body")
            .children(story(finding))
            .children(drawing(finding))
            .children(passing(finding))
            .children(reasons(finding))
            .children(self.cause(finding))
            .child(classed("div", "beside").children(beside.into_iter().flatten()))
            .child(rest(self.report, number, finding))
    }
}

/// What happened.
fn story(finding: &Finding) -> Option<Element> {
    (!finding.story.is_empty()).then(|| classed("p", "story").children(prose(&finding.story)))
}

/// The same accesses in a run that passed. Only the picture of the failing run is linked with source and stacks.
fn passing(finding: &Finding) -> Option<Element> {
    let (run, passing) = finding.in_passing_run()?;
    let title = element("h3").text(&wording::passing_run(run));
    Some(classed("div", "passing").child(title).child(unlinked(&passing)?))
}

/// A picture that only speaks for itself.
fn unlinked(finding: &Finding) -> Option<Element> {
    let [wide, narrow] = [picture::wide(finding, 0)?, picture::narrow(finding)?];
    let drawn = classed("figure", "picture unlinked")
        .child(classed("div", "wide").child(wide))
        .child(classed("div", "narrow").child(narrow));
    Some(drawn)
}

fn drawing(finding: &Finding) -> Option<Element> {
    let [wide, narrow] = [picture::wide(finding, 0)?, picture::narrow(finding)?];
    let drawn = classed("figure", "picture")
        .child(classed("div", "wide").child(wide))
        .child(classed("div", "narrow").child(narrow));
    Some(drawn)
}

/// Why it should be believed and what to do about it, as far as that is known.
fn reasons(finding: &Finding) -> Option<Element> {
    let mut rows = Vec::new();
    let why = finding.evidence.iter().map(|evidence| element("p").children(prose(evidence)));
    rows.extend((!finding.evidence.is_empty()).then(|| row("why", why)));
    rows.extend(finding.confirmation.as_ref().map(|confirmation| row("proof", proof(confirmation))));
    rows.extend((!finding.advice.is_empty()).then(|| row("fix", prose(&finding.advice))));
    (!rows.is_empty()).then(|| classed("dl", "reasons").children(rows.into_iter().flatten()))
}

fn proof(confirmation: &Confirmation) -> Vec<Element> {
    let trial = |name: &str, trial: &Trial| {
        bar("bad", trial.failed, trial.runs, &format!("{name}: {}", wording::outcome(trial)))
    };
    let delayed = confirmation.delayed.as_ref().map(|delayed| trial("delayed only", delayed));
    [trial("forced", &confirmation.enforced), trial("forbidden", &confirmation.forbidden)]
        .into_iter()
        .chain(delayed)
        .collect()
}

/// How to see it again, and what else is known of it.
fn rest(report: &Report, number: usize, finding: &Finding) -> Element {
    let command = |command: String| [element("code").text(&command)];
    let mut rows = vec![
        row("run again", command(wording::repeat_command(&report.session))),
        row("in a terminal", command(format!("unsnarl show {number}"))),
    ];
    if !finding.failing_runs.is_empty() {
        rows.push(row("seen in", [text(&wording::run_list(&finding.failing_runs))]));
    }
    if !finding.suspicious_functions.is_empty() {
        rows.push(row("look at", [text(&wording::suspicious_functions(finding))]));
    }
    let rank = wording::shared_rank(finding).map_or_else(String::new, |rank| format!(", {rank}"));
    rows.push(row("ranking", [text(&format!("{}{rank}", wording::score(finding)))]));
    let why = finding.why.iter().map(|why| element("p").children(prose(why)));
    rows.extend((!finding.why.is_empty()).then(|| row("rank", why)));
    rows.push(row("pattern", [text(&wording::pattern(finding))]));
    classed("dl", "facts").children(rows.into_iter().flatten())
}

fn row(name: &str, content: impl IntoIterator<Item = impl Into<Node>>) -> [Element; 2] {
    [element("dt").text(name), element("dd").children(content)]
}

/// The number of an access in the colour of its thread, as in the picture.
pub(super) fn badge(finding: &Finding, access: usize) -> Element {
    let role = finding.accesses[access].thread;
    let thread = wording::threads(finding).iter().position(|thread| *thread == role).unwrap_or(0);
    classed("b", &format!("badge t{}", thread % picture::COLOURS)).text(&(access + 1).to_string())
}
