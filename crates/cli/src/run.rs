//! `unsnarl run`.

use std::ffi::{OsStr, OsString};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant, SystemTime};

use recording::{Noise, RunPlan, Schedule};
use report::terminal::{self, Hint};
use runner::campaign::{self, Begun, Campaign, Limits, Stop};
use runner::{Error, Instrumentation, Manifest, Oracle, RunRecord, Session, Target};

use crate::answer::{Answer, End, Inquiry};
use crate::args::{LimitArguments, OracleArguments, RunArguments};
use crate::exit::Complaint;
use crate::search::{Scheduling, Search};
use crate::{confirm, exit, flags, input, java, look, recorder, screen, sessions};

/// A test that is ready to be run.
pub struct Prepared {
    pub target: Target,
    pub campaign: Campaign,
    /// Files that the runs read, deleted with this.
    _loops: Option<tempfile::TempDir>,
}

/// Finds the test and makes it ready to be run.
pub fn prepare(arguments: &RunArguments) -> anyhow::Result<Prepared> {
    let (program, rest) = arguments.command.split_first().ok_or(Error::NoCommand)?;
    let target = Target::find(program)?;
    target.check_recordable()?;
    let recorder = recorder::unpack()?;
    let limits = &arguments.limits;
    let is_bounded = matches!(limits.schedule, Scheduling::Bounded(_));
    let loops = runner::loops::tables(&target.binaries)?;
    let mut campaign = Campaign {
        program: target.path.clone(),
        arguments: [recorder.arguments(&target), rest.to_vec()].concat(),
        input: input::checked(arguments.stdin.as_deref())?,
        environment: java::environment(
            arguments,
            recorder.environment(&target, |name| std::env::var_os(name)),
        ),
        preload: recorder.preload(&target, |name| std::env::var_os(name)),
        oracle: oracle(&arguments.oracle, &target)?,
        timeout: Some(arguments.oracle.timeout),
        slow_after: None,
        limits: Limits {
            runs: limits.runs,
            failures: limits.until_failures,
            time: limits.time,
            time_in_vain: None,
        },
        // Which schedules there are, one run tells the next.
        jobs: if is_bounded {
            NonZeroUsize::MIN
        } else {
            limits.jobs.unwrap_or_else(campaign::one_per_processor)
        },
        alone: limits.schedule.runs_alone(),
        begun: Begun::default(),
    };
    if is_bounded && campaign.limits == Limits::default() {
        // All schedules are wanted, however many of them fail.
        campaign.limits.time = Some(campaign::DEFAULT_TIME);
    }
    if let Some(tables) = &loops {
        campaign.environment.push((recording::ENV_LOOPS.into(), tables.path().into()));
    }
    Ok(Prepared { target, campaign, _loops: loops })
}

/// `unsnarl run`.
pub fn run(arguments: &RunArguments) -> anyhow::Result<ExitCode> {
    let begun = Instant::now();
    if let Some(code) = attempt(arguments, begun)? {
        return Ok(code);
    }
    let mut one_by_one = arguments.clone();
    one_by_one.limits.jobs = Some(NonZeroUsize::MIN);
    // The time goes on.
    one_by_one.limits.time =
        arguments.limits.time.map(|time| time.saturating_sub(begun.elapsed()).max(Duration::from_secs(1)));
    // Where each run has all there is to itself, none can be in another's way.
    Ok(attempt(&one_by_one, Instant::now())?.unwrap_or(ExitCode::from(exit::TROUBLE)))
}

/// The same with as many runs at the same time as there may be. None if these get in each other's way.
fn attempt(arguments: &RunArguments, begun: Instant) -> anyhow::Result<Option<ExitCode>> {
    let until = arguments.limits.time.and_then(|time| begun.checked_add(time));
    if let Some(file) = &arguments.json {
        check_place_of(file)?;
    }
    let mut prepared = prepare(arguments)?;
    let limits = &arguments.limits;
    check_sampling(limits, &prepared.target)?;
    if let Some(time) = limits.time.filter(|_| arguments.confirmed() > 0) {
        prepared.campaign.limits.time = Some(time - time / confirm::SHARE);
        prepared.campaign.limits.time_in_vain = Some(time);
    }
    let seed = limits.seed.unwrap_or_else(fresh_seed);
    let mut session = begin(arguments, &prepared.target, seed)?;
    let plan = RunPlan {
        noise: limits.noise,
        budget_bytes: limits.budget << 20,
        sample: limits.sample.map_or(0, |share| share.0),
        skip_sleeps: limits.skip_sleeps,
        ..RunPlan::default()
    };
    let scheduling = if limits.sample.is_some() { Scheduling::Only(Schedule::Free) } else { limits.schedule };
    let mut search = Search::new(scheduling, !limits.undirected, plan, seed);
    let inquiry = Inquiry { arguments, campaign: &prepared.campaign, begun, until };
    let found = inquiry.answer(&mut session, &mut search);
    if session.runs().is_empty() || matches!(found, Ok(Answer::Crowded(_))) {
        // A session without runs, or with such that tell nothing, would only stand in the way of the last one that has some.
        drop(std::fs::remove_dir_all(session.folder()));
    }
    match found? {
        Answer::Told(analysis, end) => finish(arguments, &session, analysis.report, &search, end).map(Some),
        Answer::Interrupted => {
            screen::say("interrupted before the first run was done\n");
            Ok(Some(ExitCode::from(exit::INTERRUPTED)))
        }
        Answer::Crowded(how) => {
            screen::say(&format!("{how}\n"));
            Ok(None)
        }
    }
}

/// A controlled run looks at every access, or it could not decide what comes next.
fn check_sampling(limits: &LimitArguments, target: &Target) -> anyhow::Result<()> {
    let is_controlled = !matches!(limits.schedule, Scheduling::Mixed | Scheduling::Only(Schedule::Free));
    let obstacle = if is_controlled {
        format!("--schedule {} needs to see every access: leave out one of the two", limits.schedule)
    } else if target.instrumentation == Instrumentation::Jvm {
        "accesses are only sampled in C, C++ and Rust programs".to_owned()
    } else {
        return Ok(());
    };
    match limits.sample {
        Some(_) => Err(Complaint::usage(format!("--sample cannot be had here: {obstacle}")).into()),
        None => Ok(()),
    }
}

/// Nobody wants to hear after minutes of runs that the folder of the report's file was misspelt.
fn check_place_of(file: &Path) -> anyhow::Result<()> {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    match folder {
        Some(folder) if !folder.is_dir() => Err(Complaint {
            code: exit::UNWRITABLE,
            what: format!("cannot write {}: there is no folder {}", file.display(), folder.display()),
            advice: "",
        }
        .into()),
        _ => Ok(()),
    }
}

/// Makes the session's folder before the first run, so that a folder that cannot be written is noticed at once.
fn begin(arguments: &RunArguments, target: &Target, seed: u64) -> anyhow::Result<Session> {
    let (store, name) = match &arguments.session {
        Some(path) => sessions::locate(path)?,
        None => {
            let subject = java::subject(target, &arguments.command[1..]);
            sessions::locate(&default_name(subject.as_ref().map_or(&target.path, Path::new)))?
        }
    };
    let words = |words: &[OsString]| words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let manifest =
        Manifest::new(words(&arguments.command), flags::noted(arguments), seed, target.binaries.clone());
    Ok(store.create(&name, manifest)?)
}

/// A session is named after its program.
fn default_name(program: &Path) -> PathBuf {
    session_name(&program.file_name().unwrap_or_default().to_string_lossy())
}

/// A name for a session; characters that make a poor folder name are left out.
pub fn session_name(of: &str) -> PathBuf {
    let plain = |c: char| if c.is_alphanumeric() || "._-+".contains(c) { c } else { '_' };
    let name: String = of.chars().map(plain).collect();
    PathBuf::from(if name.trim_matches('.').is_empty() { "session".to_owned() } else { name })
}

fn oracle(arguments: &OracleArguments, target: &Target) -> anyhow::Result<Oracle> {
    let mut oracle = Oracle::default();
    if java::may_run_in(target) {
        oracle = oracle.fail_on_pattern(java::UNCAUGHT_EXCEPTION)?;
    }
    if let Some(pattern) = &arguments.fail_regex {
        oracle = oracle.fail_on_pattern(pattern)?;
    }
    if let Some(file) = &arguments.expect_stdout {
        oracle = oracle.expect_stdout(file).map_err(|error| Complaint::usage(error.to_string()))?;
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

/// Says what came out of it.
fn finish(
    arguments: &RunArguments,
    session: &Session,
    report: report::Report,
    search: &Search,
    end: End,
) -> anyhow::Result<ExitCode> {
    let code = look::verdict(&report);
    let mut hints: Vec<Hint> = match code {
        exit::FOUND => {
            more_runs(&report, arguments).into_iter().chain(look::hints(session, &report)).collect()
        }
        _ => {
            let has_recorded = session.runs().iter().any(|run| run.processes > 0);
            let ran_no_test = |run: &RunRecord| run.outcome.reason().starts_with(runner::RAN_NO_TEST);
            if code == exit::NOTHING_RECORDED && session.runs().iter().any(ran_no_test) {
                vec![is_it_named_right(arguments)]
            } else {
                let by_number = matches!(end, End::Stopped(Stop::Runs));
                let mut hints = what_to_try(code, arguments, has_recorded, by_number);
                if code == exit::NO_FAILING_RUN && may_sleep(arguments, session) {
                    let command = flags::command_line(arguments, "skip-sleeps", "");
                    hints.insert(0, Hint { label: "do its threads sleep?".to_owned(), command });
                }
                hints
            }
        }
    };
    if code != exit::NOTHING_RECORDED && arguments.limits.jobs.is_none() && report.runs.damaged > 0 {
        // Where some runs recorded something, what kept others from it may be those at the same time.
        let command = flags::command_line(arguments, "jobs", "1");
        hints.push(Hint { label: "if runs get in each other's way".to_owned(), command });
    }
    let text = terminal::summary(&report, &hints, &screen::view(arguments.ranking.technique.is_some()));
    if arguments.json.as_deref() == Some(Path::new(look::STDOUT)) {
        // Standard output belongs to the JSON then.
        screen::say(&text);
    } else {
        screen::print(&text)?;
    }
    tell_of(search);
    let stopped = |why: &str| screen::say(&format!("stopped after {} runs: {why}\n", session.runs().len()));
    match end {
        End::Proved => stopped("the first cause is proved"),
        End::Stopped(Stop::Settled) if search.covered().is_some() => {}
        End::Stopped(Stop::Settled) if code == exit::NO_PASSING_RUN => stopped("not one of them passed"),
        End::Stopped(Stop::Settled) => stopped("more would hardly change the first cause"),
        End::Stopped(Stop::Interrupted) => screen::say("interrupted: this is from the runs done so far\n"),
        End::Stopped(_) => {}
    }
    // The report stays beside the runs it came from.
    look::keep(session, &report)?;
    if let Some(file) = &arguments.json {
        look::write_json(&report, file)?;
    }
    Ok(ExitCode::from(code))
}

/// What a person should know about how the runs were made.
fn tell_of(search: &Search) {
    if let Some(why) = search.dropped() {
        screen::say(&format!(
            "from some run on, the operating system alone decided which thread runs when: {why}\n"
        ));
    }
}

/// The command that makes as many runs as it would probably take, if those so far are too few.
fn more_runs(report: &report::Report, arguments: &RunArguments) -> Option<Hint> {
    let needs = report.unsettled()?;
    let command = match needs.failing {
        0 => flags::command_line(arguments, "runs", &(report.runs.judged() + needs.passing).to_string()),
        more => flags::command_line(arguments, "until-failures", &(report.runs.failed + more).to_string()),
    };
    Some(Hint { label: "enough runs".to_owned(), command })
}

/// Whether runs take so long that there are few of them, and may spend that time asleep.
fn may_sleep(arguments: &RunArguments, session: &Session) -> bool {
    const LONG: f64 = 1.0;
    let seconds: f64 = session.runs().iter().map(|run| run.seconds).sum();
    !arguments.limits.skip_sleeps && seconds > LONG * session.runs().len() as f64
}

/// Where no test ran: what was asked for is in the command.
fn is_it_named_right(arguments: &RunArguments) -> Hint {
    Hint { label: "is the test's name right?".to_owned(), command: flags::without_unsnarl(arguments) }
}

/// So many runs are worth a try. Where fewer were asked for, that is; where time was over before, it needs time and not a number.
const MANY_RUNS: u32 = 5000;
const MUCH_TIME: Duration = Duration::from_secs(600);

/// For results that are no answer: what to do about it. `by_number` says that there are no more runs since no more were asked for.
fn what_to_try(code: u8, arguments: &RunArguments, has_recorded: bool, by_number: bool) -> Vec<Hint> {
    let noise = arguments.limits.noise;
    let hint = |label: &str, flag: &str, value: &str| Hint {
        label: label.to_owned(),
        command: flags::command_line(arguments, flag, value),
    };
    let longer = hint("longer", "time", &longer_than(arguments.limits.time));
    match code {
        exit::NO_FAILING_RUN => {
            let louder = (noise != Noise::High).then(|| hint("more noise", "noise", "high"));
            let more = by_number && arguments.limits.runs.is_some_and(|runs| runs < MANY_RUNS);
            let more = more.then(|| hint("more runs", "runs", &MANY_RUNS.to_string()));
            let judged_differently = arguments
                .oracle
                .is_exit_status()
                .then(|| hint("does it fail by what it prints?", "fail-regex", "what a failing run prints"));
            louder.into_iter().chain([longer]).chain(more).chain(judged_differently).collect()
        }
        exit::NO_PASSING_RUN => {
            let quieter = (noise != Noise::Off).then(|| hint("without noise", "noise", "off"));
            let by_itself = Hint {
                label: "what does it say by itself?".to_owned(),
                command: flags::without_unsnarl(arguments),
            };
            let judged_differently = [
                by_itself,
                hint("more time for each run", "timeout", "5m"),
                hint("does it fail by what it prints?", "fail-regex", "what a failing run prints"),
            ];
            quieter.into_iter().chain(judged_differently).collect()
        }
        exit::NOTHING_FOUND => vec![Hint { label: "more runs of both kinds".to_owned(), ..longer }],
        exit::NOTHING_RECORDED if has_recorded => vec![hint("all threads at a time", "schedule", "free")],
        exit::NOTHING_RECORDED => vec![
            Hint {
                label: "did it start a program built for recording?".to_owned(),
                command: how_to_build(&arguments.command).to_owned(),
            },
            Hint {
                label: "what its runs printed".to_owned(),
                command: flags::shell_words(&arguments.command),
            },
        ],
        _ => Vec::new(),
    }
}

/// A time that is worth a try after this one was not enough.
fn longer_than(time: Option<Duration>) -> String {
    let longer = time.filter(|&time| time >= MUCH_TIME).map_or(MUCH_TIME, |time| time.saturating_mul(6));
    humantime::format_duration(longer).to_string()
}

/// How programs are built that a command like this one starts.
fn how_to_build(command: &[OsString]) -> &'static str {
    let program = command.first().and_then(|program| Path::new(program).file_name());
    if program == Some(OsStr::new("cargo")) {
        "cargo unsnarl test NAME"
    } else {
        "CC=\"unsnarl cc\" CXX=\"unsnarl c++\" make"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_is_told_to_take_less_time_than_was_too_little() {
        let minutes = |number: u64| Some(Duration::from_secs(60 * number));
        let told = [None, minutes(1), minutes(10), minutes(30)].map(longer_than);
        assert_eq!(told, ["10m", "10m", "1h", "3h"]);
    }

    #[test]
    fn sessions_get_names_that_folders_can_have() {
        assert_eq!(default_name(Path::new("/x/queue test")), Path::new("queue_test"));
        assert_eq!(default_name(Path::new("..")), Path::new("session"));
    }
}
