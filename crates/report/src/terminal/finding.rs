//! One finding: its parts, which the first screen uses too, and all of them together.

use super::page::{BAD, CAUTION, GOOD, Line, PLACE, PLAIN, Page, QUIET, STRONG};
use super::{columns, stacks};
use crate::model::{Finding, Report, Runs, Verdict};
use crate::wording;

/// Writes everything that is known of a finding.
pub(super) fn write(page: &mut Page, report: &Report, number: usize, finding: &Finding) {
    write_title(page, &report.runs, number, finding);
    if let Some(doubt) = wording::hardly_the_cause(report, number, finding) {
        page.paragraph(Line::spaces(3), CAUTION, &doubt);
    }
    write_story(page, finding);
    write_picture(page, finding);
    write_passing(page, finding);
    write_reasons(page, finding);
    stacks::write(page, finding);
    write_rest(page, finding);
}

/// What it is, and how sure that is.
pub(super) fn write_title(page: &mut Page, runs: &Runs, number: usize, finding: &Finding) {
    let lead = Line::new(STRONG, &format!("{number:<2} "));
    page.paragraph(lead, STRONG, &wording::headline(finding));

    let mut facts = Vec::new();
    if let Some(confirmation) = &finding.confirmation {
        let style = match confirmation.verdict {
            Verdict::Confirmed => GOOD,
            Verdict::Refuted => BAD,
            Verdict::Inconclusive => CAUTION,
        };
        facts.push(Line::new(style, &wording::verdict(confirmation)));
    }
    let [failing, passing] = wording::counts(finding, runs);
    facts.push(Line::new(BAD, &failing));
    facts.push(Line::new(GOOD, &passing));
    facts.push(Line::new(QUIET, &wording::score(finding)));
    facts.extend(wording::shared_rank(finding).map(|rank| Line::new(QUIET, &rank)));
    page.flow(Line::spaces(3), facts);
}

/// What the threads do, in a sentence.
pub(super) fn write_sentence(page: &mut Page, finding: &Finding) {
    if let Some(sentence) = wording::sentence(finding) {
        page.paragraph(Line::spaces(3), PLAIN, &sentence);
    }
}

/// What happened, or what the threads do in general.
fn write_story(page: &mut Page, finding: &Finding) {
    if finding.story.is_empty() {
        write_sentence(page, finding);
    } else {
        page.paragraph(Line::spaces(3), PLAIN, &finding.story);
    }
}

/// The same accesses in a run that passed.
fn write_passing(page: &mut Page, finding: &Finding) {
    if let Some((run, passing)) = finding.in_passing_run() {
        page.blank();
        page.paragraph(Line::spaces(3), GOOD, &wording::passing_run(run));
        write_picture(page, &passing);
    }
}

/// The accesses in thread columns.
pub(super) fn write_picture(page: &mut Page, finding: &Finding) {
    if !finding.accesses.is_empty() {
        page.blank();
        columns::draw(page, finding);
    }
}

/// Why it should be believed and what to do about it, as far as that is known.
pub(super) fn write_reasons(page: &mut Page, finding: &Finding) {
    let proof = finding.confirmation.as_ref().map(wording::proof);
    if finding.evidence.is_empty() && proof.is_none() && finding.told_advice().is_none() {
        return;
    }
    page.blank();
    for (index, evidence) in finding.evidence.iter().enumerate() {
        write_labelled(page, if index == 0 { "why" } else { "" }, evidence);
    }
    if let Some(proof) = proof {
        write_labelled(page, "proof", &proof);
    }
    if let Some(window) = finding.window.as_ref().and_then(wording::window) {
        write_labelled(page, "minimal", &window);
    }
    for (index, line) in finding.needs.iter().flat_map(wording::needs).enumerate() {
        write_labelled(page, if index == 0 { "needs" } else { "" }, &line);
    }
    if let Some(advice) = finding.told_advice() {
        write_labelled(page, "fix", advice);
    }
    for line in finding.fix.iter().flat_map(|fix| &fix.patch) {
        let style = match line.chars().next() {
            Some('-') => BAD,
            Some('+') => GOOD,
            _ => PLACE,
        };
        page.line(Line::spaces(12).with(style, line));
    }
}

fn write_rest(page: &mut Page, finding: &Finding) {
    page.blank();
    for (index, thread) in wording::thread_roles(finding).iter().enumerate() {
        write_labelled(page, if index == 0 { "threads" } else { "" }, thread);
    }
    write_labelled(page, "pattern", &wording::pattern(finding));
    if !finding.suspicious_functions.is_empty() {
        write_labelled(page, "look at", &wording::suspicious_functions(finding));
    }
    for (index, why) in finding.why.iter().enumerate() {
        write_labelled(page, if index == 0 { "rank" } else { "" }, why);
    }
    if !finding.failing_runs.is_empty() {
        write_labelled(page, "seen in", &wording::run_list(&finding.failing_runs));
    }
}

fn write_labelled(page: &mut Page, label: &str, text: &str) {
    page.paragraph(Line::spaces(3).with(STRONG, label).padded(12), PLAIN, text);
}
