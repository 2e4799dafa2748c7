//! `unsnarl run`.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime};

use anyhow::Context as _;
use recording::RunPlan;
use report::progress::{Bar, Lines, Progress, Reporter};
use report::terminal::{self, Hint};
use runner::campaign::{self, Campaign, Event, Limits, Stop};
use runner::{Error, Manifest, Oracle, Session, Target};

use crate::args::{OracleArguments, RunArguments};
use crate::{analysis, exit, look, recorder, screen, sessions};

/// How often a line is printed where there is no terminal.
const LINE_EVERY: Duration = Duration::from_secs(10);

/// `unsnarl run`.
pub fn run(arguments: &RunArguments) -> anyhow::Result<ExitCode> {
    let (program, rest) = arguments.command.split_first().ok_or(Error::NoCommand)?;
    let target = Target::find(program)?;
    target.check_recordable()?;
    let recorder = recorder::unpack()?;
    let seed = arguments.limits.seed.unwrap_or_else(fresh_seed);
    let limits = &arguments.limits;
    let campaign = Campaign {
        program: target.path.clone(),
        arguments: rest.to_vec(),
        environment: recorder.environment(&target, |name| std::env::var_os(name)),
        oracle: oracle(&arguments.oracle)?,
        timeout: Some(arguments.oracle.timeout),
        limits: Limits { runs: limits.runs, failures: limits.until_failures, time: limits.time },
        jobs: limits.jobs.unwrap_or_else(campaign::default_jobs),
    };
    let mut session = begin(arguments, &target, seed)?;
    let plan = RunPlan { seed: 0, noise: limits.noise, budget_bytes: limits.budget << 20 };
    let stop = conduct(&campaign, &mut session, plan)?;
    finish(arguments, &session, stop)
}

/// Makes the session's folder before the first run, so that a folder that cannot be written is noticed at once.
fn begin(arguments: &RunArguments, target: &Target, seed: u64) -> anyhow::Result<Session> {
    let (store, name) = match &arguments.session {
        Some(path) => sessions::locate(path)?,
        None => sessions::locate(&default_name(&target.path))?,
    };
    let words = |words: &[OsString]| words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let mut flags = BTreeMap::from([
        ("noise".to_owned(), arguments.limits.noise.to_string()),
        ("timeout".to_owned(), humantime::format_duration(arguments.oracle.timeout).to_string()),
    ]);
    if let Some(pattern) = &arguments.oracle.fail_regex {
        flags.insert("fail-regex".to_owned(), pattern.clone());
    }
    let manifest = Manifest::new(words(&arguments.command), flags, seed, target.binaries.clone());
    Ok(store.create(&name, manifest)?)
}

/// A session is named after its program; characters that make a poor folder name are left out.
fn default_name(program: &Path) -> PathBuf {
    let name: String = program
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .chars()
        .map(|c| if c.is_alphanumeric() || "._-+".contains(c) { c } else { '_' })
        .collect();
    PathBuf::from(if name.trim_matches('.').is_empty() { "session".to_owned() } else { name })
}

fn oracle(arguments: &OracleArguments) -> anyhow::Result<Oracle> {
    let mut oracle = Oracle::default();
    if let Some(pattern) = &arguments.fail_regex {
        oracle = oracle.fail_on_pattern(pattern)?;
    }
    if let Some(file) = &arguments.expect_stdout {
        oracle = oracle.expect_stdout(file)?;
    }
    if let Some(command) = &arguments.fail_if {
        oracle = oracle.fail_if(command.clone());
    }
    Ok(oracle)
}

/// Any seed will do that differs from the last one; it is shown, so that the session can be repeated.
fn fresh_seed() -> u64 {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    // Short enough to be typed again.
    (now.as_nanos() as u64 ^ u64::from(std::process::id()) << 20) % 1_000_000
}

/// Conducts the campaign with a progress display; Ctrl-C ends it early and keeps what is done.
pub fn conduct(campaign: &Campaign, session: &mut Session, plan: RunPlan) -> anyhow::Result<Stop> {
    static INTERRUPTED: AtomicBool = AtomicBool::new(false);
    ctrlc::set_handler(|| {
        // Whoever asks twice means it.
        if INTERRUPTED.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
    })
    .context("cannot handle Ctrl-C")?;

    let mut reporter: Box<dyn Reporter> = if std::io::stderr().is_terminal() {
        Box::new(Bar::on_stderr())
    } else {
        Box::new(Lines::new(std::io::stderr(), &session.name(), LINE_EVERY))
    };
    let seed = session.manifest().seed;
    let started = Instant::now();
    let mut progress = Progress {
        limits: report::progress::Limits {
            runs: campaign.limits.runs.map(u64::from),
            failures: campaign.limits.failures.map(u64::from),
            time: campaign.limits.time,
        },
        ..Progress::default()
    };
    if campaign.limits == Limits::default() {
        progress.limits.time = Some(campaign::DEFAULT_TIME);
    }
    let mut sink = |event: Event| {
        if let Event::RunFinished { record } = event {
            progress.done += 1;
            match record.outcome {
                runner::Outcome::Pass => progress.passed += 1,
                runner::Outcome::Fail { .. } => progress.failed += 1,
                runner::Outcome::Hang => {
                    progress.failed += 1;
                    progress.hung += 1;
                }
                runner::Outcome::Damaged { .. } => progress.damaged += 1,
            }
        }
        progress.elapsed = started.elapsed();
        reporter.update(&progress);
    };
    let mut next_plan = |run, _: &campaign::History| RunPlan { seed: campaign::run_seed(seed, run), ..plan };
    let stop = campaign.conduct(session, &INTERRUPTED, &mut next_plan, &mut sink);
    progress.elapsed = started.elapsed();
    reporter.finish(&progress);
    Ok(stop?)
}

/// Says what came out of it.
fn finish(arguments: &RunArguments, session: &Session, stop: Stop) -> anyhow::Result<ExitCode> {
    let report = analysis::analyse(session, &arguments.ranking)?;
    if let Some(file) = &arguments.json {
        look::write_json(&report, file)?;
    }
    let code = look::verdict(&report);
    let hints = match code {
        exit::FOUND => look::hints(session),
        _ => what_to_try(code, arguments),
    };
    let view = screen::view(arguments.ranking.technique.is_some());
    let text = terminal::summary(&report, &hints, &view);
    if arguments.json.as_deref() == Some(Path::new("-")) {
        // Standard output belongs to the JSON then.
        eprint!("{text}");
    } else {
        print!("{text}");
    }
    if stop == Stop::Interrupted {
        eprintln!("interrupted: this is from the runs done so far");
    }
    keep(session, &report)?;
    Ok(ExitCode::from(code))
}

/// The report stays beside the runs it came from.
pub fn keep(session: &Session, report: &report::Report) -> anyhow::Result<()> {
    look::write_json(report, &session.folder().join("report.json"))
}

/// For results that are no answer: what to do about it.
fn what_to_try(code: u8, arguments: &RunArguments) -> Vec<Hint> {
    let command = shell_words(&arguments.command);
    let hint = |label: &str, flags: &str| Hint {
        label: label.to_owned(),
        command: format!("unsnarl run {flags} -- {command}"),
    };
    match code {
        exit::NO_FAILING_RUN => vec![
            hint("more noise", "--noise high"),
            hint("longer", "--time 10m"),
            hint("more runs", "--runs 5000"),
        ],
        exit::NO_PASSING_RUN => vec![
            hint("without noise", "--noise off"),
            hint("more time for each run", "--timeout 5m"),
            hint("is exit status the right oracle?", "--fail-regex 'what a failing run prints'"),
        ],
        exit::NOTHING_FOUND => vec![hint("more runs of both kinds", "--time 10m")],
        exit::NOTHING_RECORDED => vec![
            Hint {
                label: "did it start a program built for recording?".to_owned(),
                command: "CC=\"unsnarl cc\" CXX=\"unsnarl c++\" make".to_owned(),
            },
            Hint { label: "what its runs printed".to_owned(), command: command.clone() },
        ],
        _ => Vec::new(),
    }
}

/// A command as it can be typed into a shell.
fn shell_words(words: &[OsString]) -> String {
    let quoted = words.iter().map(|word| {
        let word = word.to_string_lossy();
        let plain = |c: char| c.is_alphanumeric() || "/._-+=:,@%".contains(c);
        if !word.is_empty() && word.chars().all(plain) {
            word.into_owned()
        } else {
            format!("'{}'", word.replace('\'', r"'\''"))
        }
    });
    quoted.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_can_be_pasted_into_a_shell() {
        let words: Vec<OsString> = ["./a test", "plain", "it's", ""].iter().map(OsString::from).collect();
        assert_eq!(shell_words(&words), r"'./a test' plain 'it'\''s' ''");
    }

    #[test]
    fn sessions_get_names_that_folders_can_have() {
        assert_eq!(default_name(Path::new("/x/queue test")), Path::new("queue_test"));
        assert_eq!(default_name(Path::new("..")), Path::new("session"));
    }
}
