//! `unsnarl report` and `unsnarl show`: a session again.

use std::path::Path;
use std::process::ExitCode;

use report::terminal::{self, Hint};
use runner::Session;

use crate::args::{ReportArguments, ShowArguments};
use crate::exit::Complaint;
use crate::{analysis, exit, screen, sessions};

/// Stands for standard output where a file is asked for.
pub const STDOUT: &str = "-";

/// `unsnarl report`.
pub fn report(arguments: &ReportArguments) -> anyhow::Result<ExitCode> {
    let session = sessions::open(arguments.session.as_deref())?;
    let report = analysis::analyse(&session, &arguments.ranking)?;
    if let Some(file) = &arguments.json {
        write_json(&report, file)?;
    } else {
        let view = screen::view(arguments.ranking.technique.is_some());
        screen::print(&terminal::summary(&report, &hints(&session), &view))?;
    }
    Ok(ExitCode::from(verdict(&report)))
}

/// `unsnarl show N`.
pub fn show(arguments: &ShowArguments) -> anyhow::Result<ExitCode> {
    let session = sessions::open(arguments.session.as_deref())?;
    let report = analysis::analyse(&session, &arguments.ranking)?;
    let Some(finding) = arguments.finding.checked_sub(1).and_then(|index| report.findings.get(index)) else {
        let (asked, present) = (arguments.finding, report.findings.len());
        return Err(Complaint::usage(format!("there is no finding {asked}: the report has {present}")).into());
    };
    let view = screen::view(arguments.ranking.technique.is_some());
    screen::print(&terminal::finding(&report, arguments.finding, finding, &view))?;
    Ok(ExitCode::from(exit::FOUND))
}

/// Writes the JSON report; `-` is standard output.
pub fn write_json(report: &report::Report, file: &Path) -> anyhow::Result<()> {
    let text = report::json::to_string(report);
    if file == Path::new(STDOUT) {
        return Ok(screen::print(&text)?);
    }
    Ok(std::fs::write(file, text).map_err(runner::Error::writing(file))?)
}

/// The exit code that a report stands for.
pub fn verdict(report: &report::Report) -> u8 {
    if report.runs.total() > 0 && report.runs.judged() == 0 {
        exit::NOTHING_RECORDED
    } else if report.runs.failed == 0 {
        exit::NO_FAILING_RUN
    } else if report.runs.passed == 0 {
        exit::NO_PASSING_RUN
    } else if report.findings.is_empty() {
        exit::NOTHING_FOUND
    } else {
        exit::FOUND
    }
}

/// What to do next with a session that has findings.
pub fn hints(session: &Session) -> Vec<Hint> {
    let at = sessions::argument(session);
    vec![
        Hint { label: "in full".into(), command: format!("unsnarl show 1{at}") },
        Hint { label: "another technique".into(), command: format!("unsnarl report --technique falcon{at}") },
    ]
}
