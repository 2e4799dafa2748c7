//! The first screen. It says only what the session knows, and says so where that is little.

use anstyle::Style;

use super::page::{BAD, CAUTION, GOOD, Line, PLAIN, Page, QUIET, STRONG};
use super::{Hint, View, finding};
use crate::hang::{Hang, HangKind};
use crate::model::{Kind, Report};
use crate::wording::{self, Tone};

/// Kinds of failure and warnings beyond these are only counted: the findings should stay on the screen.
const LISTED_FAILURES: usize = 3;
const LISTED_WARNINGS: usize = 3;
const LISTED_HANGS: usize = 2;
const LISTED_OUTLOOKS: usize = 2;

pub(super) fn write(page: &mut Page, report: &Report, hints: &[Hint], view: &View) {
    write_header(page, report, view);
    write_failures(page, report);
    write_search(page, report);
    page.blank();
    if report.findings.is_empty() {
        page.paragraph(Line::default(), STRONG, &wording::nothing_found(&report.runs));
        write_caveats(page, report);
    } else {
        write_caveats(page, report);
        write_findings(page, report, view);
    }
    write_hangs(page, report);
    write_outlooks(page, report);
    write_warnings(page, &report.warnings);
    write_hints(page, hints);
}

fn write_header(page: &mut Page, report: &Report, view: &View) {
    let mut parts: Vec<Line> =
        wording::tally(report).iter().map(|(tone, text)| Line::new(style(*tone), text)).collect();
    if view.name_technique {
        parts.push(Line::new(QUIET, &format!("ranked by {}", report.technique)));
    }
    let name = Line::new(STRONG, &report.session.name).cut(page.width() / 3);
    page.flow(name.then(Line::spaces(2)), parts);
}

fn style(tone: Tone) -> Style {
    match tone {
        Tone::Plain => PLAIN,
        Tone::Good => GOOD,
        Tone::Bad => BAD,
        Tone::Caution => CAUTION,
        Tone::Quiet => QUIET,
    }
}

fn write_failures(page: &mut Page, report: &Report) {
    match report.failures.as_slice() {
        [] => {}
        [only] => page.paragraph(Line::default(), PLAIN, &wording::only_failure(only)),
        kinds => {
            page.line(Line::new(PLAIN, &format!("{} kinds of failure:", kinds.len())));
            for kind in kinds.iter().take(LISTED_FAILURES) {
                let lead = Line::new(BAD, &format!("{:>5}×  ", kind.runs));
                page.paragraph(lead, PLAIN, &kind.description);
            }
            write_rest(page, kinds.len(), LISTED_FAILURES, "kind");
        }
    }
}

/// How the runs were made, where there is something to be said about it. Beside an answer all of it would only be in the
/// way, but for what is certain.
fn write_search(page: &mut Page, report: &Report) {
    let Some(search) = &report.search else { return };
    let is_answered = !report.findings.is_empty();
    let told = if is_answered {
        wording::search::covered(search).into_iter().collect()
    } else {
        wording::search::told(search)
    };
    for text in told {
        page.paragraph(Line::default(), QUIET, &text);
    }
}

/// How far the order of the findings can be trusted.
fn write_caveats(page: &mut Page, report: &Report) {
    let caveats = wording::caveats(report);
    for caveat in &caveats {
        page.paragraph(Line::default(), CAUTION, caveat);
    }
    if !caveats.is_empty() {
        page.blank();
    }
}

/// The first finding with its picture, the next ones in short.
fn write_findings(page: &mut Page, report: &Report, view: &View) {
    let listed = wording::worth_listing(report, view.listed.max(1));
    for (index, finding) in report.findings.iter().take(listed).enumerate() {
        if index > 0 {
            page.blank();
        }
        finding::write_title(page, &report.runs, index + 1, finding);
        finding::write_sentence(page, finding);
        if let Some(others) = wording::other_failures(report, index) {
            page.paragraph(Line::spaces(3), PLAIN, &others);
        }
        if index == 0 {
            finding::write_picture(page, finding);
            finding::write_reasons(page, finding);
        }
    }
    if report.findings.len() > listed {
        page.blank();
        let weaker = wording::weaker_suspects(report.findings.len() - listed);
        let next = format!("unsnarl show {}", listed + 1);
        page.line(Line::new(QUIET, &format!("   {weaker}: ")).with(PLAIN, &next));
    }
}

/// Who waits for whom.
fn write_hangs(page: &mut Page, report: &Report) {
    // A deadlock that is the first finding has been told.
    let is_told = |hang: &&Hang| {
        hang.kind == HangKind::Deadlock
            && report.findings.first().is_some_and(|first| first.kind == Kind::Deadlock)
    };
    let hangs: Vec<&Hang> = report.hangs.iter().filter(|hang| !is_told(hang)).collect();
    for hang in hangs.iter().take(LISTED_HANGS) {
        page.blank();
        page.paragraph(Line::default(), STRONG, &wording::hang(hang));
        for thread in &hang.threads {
            page.paragraph(Line::spaces(3), PLAIN, thread);
        }
        if !hang.advice.is_empty() {
            page.paragraph(Line::spaces(3).with(STRONG, "fix").padded(12), PLAIN, &hang.advice);
        }
    }
    write_rest(page, hangs.len(), LISTED_HANGS, "such case");
}

/// How likely failure was along a run.
fn write_outlooks(page: &mut Page, report: &Report) {
    for outlook in report.outlooks.iter().take(LISTED_OUTLOOKS) {
        page.blank();
        page.paragraph(Line::new(BAD, &outlook.blocks()).then(Line::spaces(2)), PLAIN, &outlook.sentence());
    }
    write_rest(page, report.outlooks.len(), LISTED_OUTLOOKS, "run that was looked into");
}

fn write_warnings(page: &mut Page, warnings: &[String]) {
    if warnings.is_empty() {
        return;
    }
    page.blank();
    for warning in warnings.iter().take(LISTED_WARNINGS) {
        page.paragraph(Line::new(CAUTION, "warning: "), PLAIN, warning);
    }
    write_rest(page, warnings.len(), LISTED_WARNINGS, "warning");
}

fn write_hints(page: &mut Page, hints: &[Hint]) {
    if hints.is_empty() {
        return;
    }
    page.blank();
    let hint = |hint: &Hint| Line::new(QUIET, &hint.label).with(PLAIN, "  ").with(PLAIN, &hint.command);
    page.flow(Line::default(), hints.iter().map(hint));
}

fn write_rest(page: &mut Page, all: usize, listed: usize, noun: &str) {
    if all > listed {
        let more = (all - listed) as u64;
        let noun = if more == 1 { noun.to_owned() } else { format!("{noun}s") };
        page.line(Line::new(QUIET, &format!("   and {more} more {noun}")));
    }
}
