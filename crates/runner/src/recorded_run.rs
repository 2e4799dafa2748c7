//! One run with the recorder inside, from start to stored.

use std::env;
use std::ffi::CString;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use recording::{Beginning, ENV_DIR, ENV_PLAN, RunPlan, Schedule};

use crate::campaign::Campaign;
use crate::elf;
use crate::error::{Error, Result};
use crate::oracle::Outcome;
use crate::pace::Pace;
use crate::preload::Preload;
use crate::process::{self, Launch};
use crate::run_file::{ProcessRecording, RunFile, RunNumber, RunRecord};
use crate::schedules::Schedules;
use crate::signature;

/// Runs the test once and writes its recordings to `path`; `trunk` is the file of the run like which it begins, if the plan asks
/// for that. A run that says nothing leaves no file, one that was cancelled not even a record.
pub(crate) fn perform(
    campaign: &Campaign,
    run: RunNumber,
    plan: RunPlan,
    path: &Path,
    trunk: Option<&Path>,
    cancelled: &AtomicBool,
) -> Result<Option<RunRecord>> {
    let file = match plan.beginning.zip(trunk) {
        Some((Beginning { switches, .. }, trunk)) => {
            Schedules::read(trunk)?.follow(campaign, run, plan, switches, cancelled)?
        }
        None => once(campaign, run, plan, cancelled)?,
    };
    let Some(file) = file else { return Ok(None) };
    if !matches!(file.record.outcome, Outcome::Damaged { .. }) {
        file.write(path)?;
    }
    Ok(Some(file.record))
}

/// Runs the test once. None if it was cancelled.
pub(crate) fn once(
    campaign: &Campaign,
    run: RunNumber,
    plan: RunPlan,
    cancelled: &AtomicBool,
) -> Result<Option<RunFile>> {
    campaign.begun.one_more();
    // Recordings hold values from the target's memory, which are nobody else's business.
    let private = fs::Permissions::from_mode(0o700);
    let root = scratch_root(plan.budget_bytes);
    let scratch = tempfile::Builder::new().prefix("unsnarl-run-").permissions(private).tempdir_in(&root);
    let scratch = scratch.map_err(Error::writing(&root))?;
    let recordings = scratch.path().join("recordings");
    fs::create_dir(&recordings).map_err(Error::writing(&recordings))?;

    let preload = campaign.preload.as_ref();
    let preloaded = preload.and_then(Preload::variable);
    let mut environment = campaign.environment.clone();
    environment.extend(preloaded.clone());
    environment.push((ENV_DIR.into(), recordings.clone().into()));
    environment.push((ENV_PLAN.into(), plan.to_string().into()));
    let launch = Launch {
        program: &campaign.program,
        arguments: &campaign.arguments,
        input: campaign.input.as_deref(),
        environment: &environment,
        timeout: campaign.timeout,
        pattern: campaign.oracle.pattern(),
        // What depends on addresses would differ between two runs with the same schedule.
        fixed_addresses: plan.schedule != Schedule::Free,
        recordings: Some(recordings.as_path()),
        pace: campaign
            .slow_after
            .filter(|_| plan.schedule != Schedule::Free)
            .map(|patience| Pace { patience, points: plan.points }),
    };
    let finished = process::run(&launch, cancelled)?;
    let outcome = campaign.oracle.judge(&finished, scratch.path(), cancelled)?;
    if cancelled.load(Ordering::Relaxed) {
        return Ok(None);
    }
    let (processes, mut warnings) = collect(&recordings)?;
    let is_missed = |preload: &Preload| preload.is_missed([&finished.stdout, &finished.stderr]);
    if processes.is_empty() && preloaded.is_none() && preload.is_some_and(is_missed) {
        return once(campaign, run, plan, cancelled);
    }
    warnings.extend(recorder_said(&String::from_utf8_lossy(&finished.stderr.text())));
    let (stderr, stdout) = (finished.stderr.text(), finished.stdout.text());
    let said = signature::is_untold(&outcome).then(|| signature::last_line(&stderr, &stdout)).flatten();
    let mut record = RunRecord {
        run,
        plan: plan.to_string(),
        outcome,
        seconds: finished.duration.as_secs_f64(),
        processes: processes.len() as u32,
        warnings,
        said,
    };
    if processes.is_empty() && !matches!(record.outcome, Outcome::Damaged { .. }) {
        let why = record.warnings.first().cloned().unwrap_or_else(|| nothing_recorded(&record));
        record.outcome = Outcome::Damaged { why };
    }
    Ok(Some(RunFile { record, processes }))
}

/// What to say of a run that recorded nothing. If it failed, it may have come to an end before the test began: how it did tells more.
fn nothing_recorded(record: &RunRecord) -> String {
    const NOTHING: &str = "no process recorded anything";
    if !record.outcome.is_failing() {
        return NOTHING.to_owned();
    }
    let said = record.said.as_ref().map_or_else(String::new, |said| format!(", last printed `{said}`"));
    format!("{NOTHING} ({}{said})", record.outcome.reason())
}

/// Why a recorder leaves its process alone, as it says on standard error: that of a virtual machine which is too new, for
/// example.
fn recorder_said(stderr: &str) -> Option<String> {
    const SAYS: &str = "unsnarl: this process is not recorded: ";
    let why = stderr.lines().find_map(|line| line.strip_prefix(SAYS))?;
    Some(format!("a process was not recorded: {why}"))
}

/// Where a run's recordings are made. In memory, if there is room for several budgets: on a disk, storing and
/// deleting a file of a few pages takes longer than a short test. Whoever sets TMPDIR has the last word.
fn scratch_root(budget_bytes: u64) -> PathBuf {
    const MEMORY: &str = "/dev/shm";
    const BUDGETS: u64 = 8;
    let memory = Path::new(MEMORY);
    let chosen_by_user = env::var_os("TMPDIR").is_some_and(|folder| !folder.is_empty());
    if !chosen_by_user && free_bytes(memory).is_some_and(|free| free / BUDGETS >= budget_bytes) {
        return memory.to_owned();
    }
    env::temp_dir()
}

/// How much more can be stored in a folder that we may write to.
fn free_bytes(folder: &Path) -> Option<u64> {
    let path = CString::new(folder.as_os_str().as_encoded_bytes()).ok()?;
    // SAFETY: the path ends in zero, and the structure is plain numbers that the call fills in.
    unsafe {
        let mut about: libc::statvfs = std::mem::zeroed();
        let usable = libc::access(path.as_ptr(), libc::W_OK | libc::X_OK) == 0
            && libc::statvfs(path.as_ptr(), &mut about) == 0;
        usable.then(|| about.f_bavail.saturating_mul(about.f_frsize))
    }
}

/// The recordings of all processes of a run, and what was wrong with those that are left out.
fn collect(folder: &Path) -> Result<(Vec<ProcessRecording>, Vec<String>)> {
    let mut processes = Vec::new();
    let mut warnings = Vec::new();
    for entry in fs::read_dir(folder).map_err(Error::reading("list", folder))?.flatten() {
        let path = entry.path();
        let Some(pid) = pid_of(&path) else { continue };
        match compact(&path) {
            Ok(bytes) => processes.push(ProcessRecording { pid, bytes }),
            Err(why) => warnings.push(format!("the recording of process {pid} cannot be read: {why}")),
        }
    }
    processes.sort_by_key(|process| process.pid);
    warnings.sort();
    Ok((processes, warnings))
}

fn pid_of(path: &Path) -> Option<u32> {
    // A process may leave several files, told apart by what follows its id.
    let digits = path.file_stem()?.to_str()?.split(['-', '.']).next()?;
    (path.extension()? == "raw").then(|| digits.parse().ok())?
}

/// The file is mostly holes, gigabytes of them, so it is mapped rather than read.
fn compact(path: &Path) -> Result<Vec<u8>, String> {
    let raw = elf::map(path).map_err(|error| error.to_string())?;
    recording::compact(&raw).map_err(|damage| damage.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_that_cannot_be_written_have_no_room() {
        assert_eq!(free_bytes(Path::new("/nonexistent")), None);
        assert!(free_bytes(&env::temp_dir()).is_some_and(|free| free > 0));
    }
}
