//! `unsnarl report` and `unsnarl show`: a session again.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use report::terminal::{self, Hint};
use runner::Session;

use crate::args::{FindingFormat, ReportArguments, ReportFormat, ShowArguments};
use crate::exit::Complaint;
use crate::{analysis, exit, flags, screen, sessions};

/// Stands for standard output where a file is asked for.
pub const STDOUT: &str = "-";

/// `unsnarl report`.
pub fn report(arguments: &ReportArguments) -> anyhow::Result<ExitCode> {
    let session = sessions::open(arguments.session.as_deref())?;
    let report = analysis::analyse(&session, &arguments.ranking)?;
    if let Some(file) = &arguments.json {
        write_json(&report, file)?;
        return Ok(ExitCode::from(verdict(&report)));
    }
    let text = match arguments.format {
        ReportFormat::Terminal => {
            let view = screen::view(arguments.ranking.technique.is_some());
            terminal::summary(&report, &hints(&session, &report), &view)
        }
        ReportFormat::Html => report::html::page(&report),
        ReportFormat::Markdown => report::markdown::report(&report),
        ReportFormat::Sarif => {
            let root = std::env::current_dir().ok();
            report::sarif::to_string(&report, root.as_deref().and_then(Path::to_str))
        }
        ReportFormat::Json => report::json::to_string(&report),
    };
    put(&text, arguments.output.as_deref())?;
    Ok(ExitCode::from(verdict(&report)))
}

/// `unsnarl show N`.
pub fn show(arguments: &ShowArguments) -> anyhow::Result<ExitCode> {
    let session = sessions::open(arguments.session.as_deref())?;
    let report = analysis::analyse(&session, &arguments.ranking)?;
    let Some(finding) = arguments.finding.checked_sub(1).and_then(|index| report.findings.get(index)) else {
        let (asked, present) = (arguments.finding, report.findings.len());
        return Err(Complaint::usage(exit::no_finding(asked, present)).into());
    };
    let text = match arguments.format {
        FindingFormat::Terminal => {
            let view = screen::view(arguments.ranking.technique.is_some());
            terminal::finding(&report, arguments.finding, finding, &view)
        }
        FindingFormat::Markdown => report::markdown::finding(&report, arguments.finding, finding),
        FindingFormat::Dot => report::dot::finding(finding),
        FindingFormat::Svg => match report::svg::finding(finding) {
            Some(picture) => picture,
            None => return Err(Complaint::usage("this finding has no accesses to draw".to_owned()).into()),
        },
    };
    put(&text, arguments.output.as_deref())?;
    Ok(ExitCode::from(exit::FOUND))
}

/// Writes the JSON report; `-` is standard output.
pub fn write_json(report: &report::Report, file: &Path) -> anyhow::Result<()> {
    put(&report::json::to_string(report), Some(file))
}

/// Writes text to a file, or to standard output if there is none or it is `-`.
fn put(text: &str, file: Option<&Path>) -> anyhow::Result<()> {
    match file {
        Some(file) if file != Path::new(STDOUT) => {
            Ok(std::fs::write(file, text).map_err(runner::Error::writing(file))?)
        }
        _ => Ok(screen::print(text)?),
    }
}

/// The page of a session, beside its runs.
pub fn page_of(session: &Session) -> PathBuf {
    session.folder().join("report.html")
}

/// The report stays with the runs it came from: as data, and as a page to show a colleague.
pub fn keep(session: &Session, report: &report::Report) -> anyhow::Result<()> {
    write_json(report, &session.folder().join("report.json"))?;
    put(&report::html::page(report), Some(&page_of(session)))
}

/// The exit code that a report stands for.
pub fn verdict(report: &report::Report) -> u8 {
    if report.runs.total() > 0 && report.runs.judged() == 0 {
        exit::NOTHING_RECORDED
    } else if report.runs.failed == 0 {
        exit::NO_FAILING_RUN
    } else if report.runs.passed == 0 && !report.is_evident() {
        exit::NO_PASSING_RUN
    } else if report.findings.is_empty() {
        exit::NOTHING_FOUND
    } else {
        exit::FOUND
    }
}

/// What to do next with a session.
pub fn hints(session: &Session, report: &report::Report) -> Vec<Hint> {
    let at = sessions::argument(session);
    let hint = |label: &str, command: String| Hint { label: label.into(), command };
    let page = page_of(session);
    let mut hints = vec![hint("report", sessions::as_typed(&page).display().to_string())];
    let Some(first) = report.findings.first() else { return hints };
    hints.push(hint("in full", format!("unsnarl show 1{at}")));
    if first.confirmation.is_none() {
        hints.push(hint("proof", format!("unsnarl confirm 1{at}")));
    }
    hints.push(hint("again", format!("unsnarl replay{at}")));
    // What make builds, everybody knows; where cargo puts what it builds for recording, nobody.
    let built = session.manifest().flags.get(flags::BUILT_BY);
    let built = built.map(|command| format!("{command} && ")).unwrap_or_default();
    hints.push(hint("after your fix", format!("{built}unsnarl check{at}")));
    hints.push(hint("another technique", format!("unsnarl report --technique falcon{at}")));
    hints
}
