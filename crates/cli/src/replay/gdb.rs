//! A replay in the debugger: it stops right before the first access of a finding, all other threads held where they
//! were.
//!
//! The recorder knows when the thread in question gets the token for the last time before that access, and calls a
//! function that has a breakpoint; from there on this thread alone runs, so that a breakpoint at the access itself
//! cannot stop another one.

use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode};

use recording::{ENV_DIR, ENV_PLAN, ENV_SCHEDULE, NameKind, Recording};
use runner::Session;
use runner::campaign::Campaign;

use super::occurrence::{Occurrence, occurrence};
use super::{ALL, Saved, Test};
use crate::args::ReplayArguments;
use crate::exit::{self, Complaint};
use crate::{analysis, screen};

/// The debugger.
const GDB: &str = "gdb";

/// Replays a run in the debugger, up to a finding's first access.
pub fn debug(
    session: &Session,
    test: &Test,
    saved: &Saved,
    arguments: &ReplayArguments,
) -> anyhow::Result<ExitCode> {
    let Some(schedules) = &saved.schedules else {
        let what = "there is no schedule to follow to a place in it: its threads never took turns";
        return Err(Complaint::usage(what.to_owned()).into());
    };
    // Machine code is named by its debug info, not by the recording.
    let is_java = |process: &Recording| process.names.iter().any(|name| name.kind == NameKind::Function);
    if schedules.processes().iter().any(is_java) {
        return Err(Complaint {
            advice: "  step by step:  unsnarl trace\n  (while a debugger for Java stops one thread, others would run on)",
            ..Complaint::usage("Java programs cannot be replayed in gdb".to_owned())
        }
        .into());
    }
    test.check_same()?;
    let analysis = analysis::examine(session, &arguments.ranking)?;
    let found = analysis.interleavings.iter().enumerate().find_map(|(index, steps)| {
        let wanted = arguments.finding.is_none_or(|number| number == index + 1);
        let steps = steps.as_ref()?.interleaving.steps();
        Some((index, wanted.then(|| occurrence(schedules, steps)).flatten()?))
    });
    let Some((index, Occurrence { process, first: stop, .. })) = found else {
        let which =
            arguments.finding.map_or("no finding".to_owned(), |number| format!("finding {number} not"));
        return Err(Complaint::usage(format!(
            "there is no access to stop at: {which} seen in the schedule that is replayed"
        ))
        .into());
    };
    let access = &analysis.report.findings[index].accesses[0];
    let place = match (&access.function, &access.file, access.line) {
        (Some(function), Some(file), Some(line)) => {
            let file = Path::new(file).file_name().unwrap_or_default().to_string_lossy();
            format!("{} at {file}:{line}", report::brief_function(function))
        }
        _ => "its place".to_owned(),
    };
    let place = report::visible(&place);
    screen::print(&format!(
        "stops before the first access of finding {}, in {place}; the other threads are held where they are\n",
        index + 1
    ))?;
    let folder = tempfile::Builder::new().prefix("unsnarl-gdb-").tempdir()?;
    let schedule = folder.path().join("schedule");
    schedules.write(&schedule, ALL, Some((process, stop)))?;
    let script = folder.path().join("script");
    let environment = [
        (ENV_DIR, folder.path().display().to_string()),
        (ENV_PLAN, saved.plan.to_string()),
        (ENV_SCHEDULE, schedule.display().to_string()),
    ];
    fs::write(&script, commands(test.campaign(), &environment)).map_err(runner::Error::writing(&script))?;
    let campaign = test.campaign();
    let mut gdb = Command::new(GDB);
    gdb.args(["-q", "-x"]).arg(&script).arg("--args").arg(&campaign.program).args(&campaign.arguments);
    let status = gdb.status().map_err(|error| Complaint {
        code: exit::NOT_FOUND,
        what: format!("cannot start {GDB}: {error}"),
        advice: "  install it:  apt-get install gdb",
    })?;
    Ok(ExitCode::from(if status.success() { exit::FOUND } else { exit::TROUBLE }))
}

/// What gdb is told. The variables are for the test alone: one that brings a library along is not for gdb itself.
fn commands(campaign: &Campaign, environment: &[(&str, String)]) -> String {
    let mut script = String::from(
        "set pagination off\nset confirm off\nset breakpoint pending on\nset startup-with-shell off\n\
         set print thread-events off\nset debuginfod enabled off\nunset environment LINES\nunset environment COLUMNS\n",
    );
    let own =
        campaign.environment.iter().map(|(name, value)| (name.to_string_lossy(), value.to_string_lossy()));
    let more = environment.iter().map(|(name, value)| ((*name).into(), value.as_str().into()));
    for (name, value) in own.chain(more) {
        script += &format!("set environment {name} {value}\n");
    }
    // From the function that announces the access to the access itself. Steps do not lead into the recorder.
    script
        + "skip -rfu ^__tsan_\ntbreak unsnarl_access_is_next\nrun\nset language c\n\
           tbreak *(*(unsigned long *)&unsnarl_access_address)\nset language auto\ncontinue\n"
}
