//! What is shown of a finding when it is open.

use super::finding::bar;
use super::{source, stacks, timeline};
use crate::markup::{Element, Node, classed, element, prose, text};
use crate::model::{Access, Confirmation, Finding, Report, Trial};
use crate::passage::Excerpts;
use crate::picture;
use crate::wording;

/// Makes what is shown of the open findings of a report.
pub(super) struct Bodies<'a> {
    report: &'a Report,
    excerpts: Excerpts<'a>,
}

impl<'a> Bodies<'a> {
    pub(super) fn of(report: &'a Report) -> Self {
        Bodies { report, excerpts: Excerpts::of(report) }
    }

    /// Everything that is known of a finding. `number` is its place in the list, from 1.
    pub(super) fn of_finding(&self, number: usize, finding: &Finding) -> Element {
        classed("div", "body scope")
            .children(story(finding))
            .children(runs(finding))
            .children(reasons(finding))
            .children(self.beside(finding))
            .children(timeline::place(self.report, number))
            .children(self.cause(finding))
            .child(reproduce(self.report, number, finding))
            .child(rest(finding))
    }

    /// The source and the call stacks.
    fn beside(&self, finding: &Finding) -> Option<Element> {
        let parts = [source::section(finding, &self.excerpts.passages(finding)), stacks::section(finding)];
        let parts: Vec<Element> = parts.into_iter().flatten().collect();
        (!parts.is_empty()).then(|| classed("div", "beside").children(parts))
    }

    /// The cause that the finding belongs to, if others do too: all their accesses in one graph.
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
        let title = format!(
            "The whole cause: {} in one graph",
            wording::plural(cause.findings.len() as u64, "finding")
        );
        let whole = Finding { accesses, ..finding.clone() };
        let graph = figure([picture::wide(&whole, 0)?, picture::narrow(&whole)?]);
        let folded = classed("details", "fold cause scope").child(element("summary").text(&title));
        Some(folded.child(graph).children(self.beside(&whole)))
    }
}

/// What happened.
fn story(finding: &Finding) -> Option<Element> {
    (!finding.story.is_empty()).then(|| classed("p", "story").children(prose(&finding.story)))
}

/// The accesses in the run that failed and, beside it if there is room, in one that passed.
fn runs(finding: &Finding) -> Option<Element> {
    let narrow = picture::narrow(finding)?;
    let Some((comparison, passing)) = finding.comparison.as_ref().zip(picture::passing(finding)) else {
        return Some(figure([picture::wide(finding, 0)?, narrow]));
    };
    let fits = picture::fits_half(finding);
    let wide = if fits { picture::half(finding)? } else { picture::wide(finding, 0)? };
    let run = |tone: &str, title: &str, picture| {
        classed("div", "run").child(classed("h3", tone).text(title)).child(figure(picture))
    };
    let title = wording::passing_run(comparison.run);
    let runs = classed("div", if fits { "runs beside-each-other" } else { "runs" });
    Some(runs.child(run("bad", wording::FAILING_RUN, [wide, narrow])).child(run(
        "good",
        title.trim_end_matches(':'),
        passing,
    )))
}

fn figure([wide, narrow]: [Element; 2]) -> Element {
    classed("figure", "picture")
        .child(classed("div", "wide").child(wide))
        .child(classed("div", "narrow").child(narrow))
}

/// Why it should be believed and what to do about it, as far as that is known.
fn reasons(finding: &Finding) -> Option<Element> {
    let mut rows = Vec::new();
    let why = finding.evidence.iter().map(|evidence| element("p").children(prose(evidence)));
    rows.extend((!finding.evidence.is_empty()).then(|| row("why", why)));
    rows.extend(finding.confirmation.as_ref().map(|confirmation| row("proof", proof(confirmation))));
    let least = finding.window.as_ref().and_then(wording::window);
    rows.extend(least.map(|least| row("minimal", [element("p").children(prose(&least))])));
    let needs = finding.needs.as_ref().map(wording::needs);
    rows.extend(needs.map(|lines| row("needs", lines.iter().map(|line| element("p").children(prose(line))))));
    rows.extend(finding.told_advice().map(|advice| row("fix", fix(finding, advice))));
    (!rows.is_empty()).then(|| classed("dl", "reasons").children(rows.into_iter().flatten()))
}

/// What to do, and the lines to change where they leave no doubt.
fn fix(finding: &Finding, advice: &str) -> Vec<Element> {
    let line = |line: &String| {
        let tone = match line.chars().next() {
            Some('-') => "bad",
            Some('+') => "good",
            _ => "quiet",
        };
        classed("span", tone).text(line)
    };
    let lines: Vec<Element> = finding.fix.iter().flat_map(|fix| &fix.patch).map(line).collect();
    let patch = (!lines.is_empty()).then(|| classed("pre", "patch").children(lines));
    [element("p").children(prose(advice))].into_iter().chain(patch).collect()
}

fn proof(confirmation: &Confirmation) -> Vec<Element> {
    let trial = |name: &str, trial: &Trial| {
        bar("bad", trial.failed, trial.runs, &format!("{name}: {}", wording::outcome(trial)))
    };
    let delayed = confirmation.delayed.as_ref().map(|delayed| trial("delays alone", delayed));
    let chance = wording::chance(confirmation).map(|chance| classed("p", "quiet").text(&chance));
    let apart = wording::apart(confirmation).map(|apart| element("p").text(&apart));
    let [forced, forbidden] = wording::forced_and_forbidden(confirmation);
    [trial(forced, &confirmation.enforced), trial(forbidden, &confirmation.forbidden)]
        .into_iter()
        .chain(delayed)
        .chain(chance)
        .chain(apart)
        .collect()
}

/// How to see it again, and to see it gone: commands to be copied.
fn reproduce(report: &Report, number: usize, finding: &Finding) -> Element {
    let of_run = |run: &u64| {
        [
            ("the failing run again", format!("unsnarl replay {run}")),
            ("the run, step by step", format!("unsnarl trace {run}")),
        ]
    };
    let commands = finding.failing_runs.first().map(of_run).into_iter().flatten().chain([
        ("is it the cause?", format!("unsnarl confirm {number}")),
        ("after your fix", "unsnarl check".to_owned()),
        ("all runs again", wording::repeat_command(&report.session)),
        ("this in a terminal", format!("unsnarl show {number}")),
    ]);
    let rows = commands.flat_map(|(what, command)| {
        [element("dt").text(what), classed("dd", "command").child(element("code").text(&command))]
    });
    classed("section", "reproduce")
        .child(element("h3").text("How to reproduce"))
        .child(classed("dl", "facts").children(rows))
}

/// What else is known of it.
fn rest(finding: &Finding) -> Element {
    let mut rows = Vec::new();
    let rank = wording::shared_rank(finding).into_iter().chain(finding.why.iter().cloned());
    let rank: Vec<Element> = rank.map(|why| element("p").children(prose(&why))).collect();
    rows.extend((!rank.is_empty()).then(|| row("ranked by", rank)));
    if !finding.failing_runs.is_empty() {
        rows.push(row("seen in", [text(&wording::run_list(&finding.failing_runs))]));
    }
    if !finding.suspicious_functions.is_empty() {
        rows.push(row("look at", [text(&wording::suspicious_functions(finding))]));
    }
    rows.push(row("pattern", [text(&wording::pattern(finding))]));
    classed("dl", "facts").children(rows.into_iter().flatten())
}

fn row(name: &str, content: impl IntoIterator<Item = impl Into<Node>>) -> [Element; 2] {
    [element("dt").text(name), element("dd").children(content)]
}
