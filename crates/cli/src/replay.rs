//! `unsnarl replay`: a run again, with the same threads in the same order.
//!
//! A controlled run's schedule is in its recording and is followed switch by switch. A run that was left to the
//! operating system has none: there, controlled runs are searched for one that fails alike, first by forcing the
//! interleaving of a finding; what is found is kept, and followed from then on.

pub mod approximation;
mod divergence;
mod gdb;
mod occurrence;
mod outlook;
mod places;
mod repetition;
mod test;
mod way;

use std::process::ExitCode;
use std::sync::atomic::AtomicBool;

use recording::{RunPlan, Schedule};
use runner::{Outcome, RunFile, RunNumber, RunRecord, Schedules, Session};

use crate::args::ReplayArguments;
use crate::exit::{self, Complaint};
use crate::{analysis, look, screen, sessions};
use divergence::Comparison;
pub use occurrence::Occurrence;
pub use repetition::{recall as repeated, repeat_failures};
pub use test::Test;
pub use way::{Way, shows};

/// Everything.
const ALL: u64 = u64::MAX;

/// `unsnarl replay [RUN]`.
pub fn replay(arguments: &ReplayArguments) -> anyhow::Result<ExitCode> {
    let session = sessions::open(arguments.session.as_deref())?;
    let record = choose(&session, arguments.run)?;
    let test = Test::of(&session, &arguments.command)?;
    screen::print(&format!("run {}  {}\n", record.run, told(&record.outcome)))?;
    let saved = match saved(&session, record)? {
        Some(saved) => saved,
        None => match approximation::search(&session, &test, record, &arguments.ranking)? {
            Some(found) => found,
            None => return Ok(ExitCode::from(exit::NOT_REPRODUCED)),
        },
    };
    if arguments.gdb {
        return gdb::debug(&session, &test, &saved, arguments);
    }
    if arguments.outlook {
        return look_ahead(&session, &test, &saved, record, arguments);
    }
    let mut reproduced = 0;
    for number in 1..=arguments.times {
        let Some(replayed) = saved.again(&test, number)? else { continue };
        let same = replayed.record.outcome == record.outcome;
        reproduced += u32::from(same);
        screen::print(&told_of_replay(&saved, &test, number, &replayed, same)?)?;
    }
    let how = match (test.is_rebuilt(), saved.is_approximate) {
        (true, _) => {
            ", by a program that was rebuilt since: what it follows of the schedule need not be what made that run fail"
        }
        (false, true) => ", by a schedule that was found for it",
        (false, false) => "",
    };
    let verdict = match (reproduced, arguments.times) {
        (0, _) => "not reproduced".to_owned(),
        (1, 1) => format!("reproduced{how}"),
        (some, all) => format!("reproduced in {some} of {all} replays{how}"),
    };
    screen::print(&format!("{verdict}\n"))?;
    Ok(ExitCode::from(if reproduced > 0 { exit::FOUND } else { exit::NOT_REPRODUCED }))
}

/// How likely the failure was along the run, which the report shows from then on.
fn look_ahead(
    session: &Session,
    test: &Test,
    saved: &Saved,
    record: &RunRecord,
    arguments: &ReplayArguments,
) -> anyhow::Result<ExitCode> {
    // The report would lose its names, and the schedule would lead elsewhere.
    test.check_same()?;
    let Some(outlook) = outlook::of_run(session, test, saved, record, arguments.time)? else {
        return Err(Complaint::usage(
            "its threads never took turns, so there is nothing to follow".to_owned(),
        )
        .into());
    };
    for point in &outlook.points {
        let report::Trial { runs, failed } = point.trial;
        screen::print(&format!(
            "after {} of {} switches  {failed} of {runs} runs fail\n",
            point.followed, outlook.switches
        ))?;
    }
    screen::print(&format!("{}  {}\n", outlook.blocks(), outlook.sentence()))?;
    outlook::keep(session, outlook)?;
    look::keep(session, &analysis::analyse(session, &arguments.ranking)?)?;
    Ok(ExitCode::from(exit::FOUND))
}

/// The outlooks that were found before.
pub fn outlooks(session: &Session) -> Vec<report::Outlook> {
    outlook::recall(session)
}

fn choose(session: &Session, number: Option<u32>) -> anyhow::Result<&RunRecord> {
    let mut runs = session.runs().iter();
    let found = match number {
        Some(number) => runs.find(|record| record.run == RunNumber(number)),
        None => runs.find(|record| record.outcome.is_failing()),
    };
    let record = found.ok_or_else(|| match number {
        Some(number) => Complaint::usage(format!(
            "there is no run {number}: the session has {} runs",
            session.runs().len()
        )),
        None => Complaint {
            code: exit::NO_FAILING_RUN,
            what: "no run of this session failed, so there is none to make again".to_owned(),
            advice: "  make it fail first:  unsnarl run -- ./test",
        },
    })?;
    match &record.outcome {
        Outcome::Damaged { why } => {
            Err(Complaint::usage(format!("run {} says nothing: {why}", record.run)).into())
        }
        _ => Ok(record),
    }
}

/// An outcome in words.
pub fn told(outcome: &Outcome) -> String {
    report::visible(outcome.reason()).to_string()
}

/// A run that can be repeated.
pub struct Saved {
    plan: RunPlan,
    /// None if its threads never took turns: then all depends on the seed.
    schedules: Option<Schedules>,
    /// Not the run's own schedule, but one that was found to end in the same way.
    is_approximate: bool,
}

impl Saved {
    fn of(file: &RunFile, is_approximate: bool) -> anyhow::Result<Saved> {
        let plan: RunPlan = file.record.plan.parse().map_err(|_| Complaint {
            code: exit::NO_SESSION,
            what: format!(
                "the plan of run {} is that of another version: {}",
                file.record.run, file.record.plan
            ),
            advice: "  use the unsnarl that made it, or record again with this one",
        })?;
        let schedules = Schedules::of(file)?;
        let schedules = (schedules.switches() > 0).then_some(schedules);
        // The switches are all there is to an interleaving that was forced, and to a run that was followed.
        let plan = RunPlan { interleaving: None, beginning: None, ..plan };
        let plan = if schedules.is_some() { plan.of_follower() } else { plan };
        Ok(Saved { plan, schedules, is_approximate })
    }

    /// The run once more. None if it recorded nothing.
    pub fn again(&self, test: &Test, number: u32) -> anyhow::Result<Option<RunFile>> {
        let never = AtomicBool::new(false);
        let run = RunNumber(number);
        let file = match &self.schedules {
            Some(schedules) => schedules.follow(test.campaign(), run, self.plan, ALL, &never)?,
            None => test.campaign().once(run, self.plan, &never)?,
        };
        Ok(file.filter(|file| !matches!(file.record.outcome, Outcome::Damaged { .. })))
    }

    /// How many switches a replay followed, of how many. None where these are not recorded.
    pub fn followed(&self, test: &Test, replayed: &RunFile) -> anyhow::Result<Option<(u64, u64)>> {
        let Some(expected) = &self.schedules else { return Ok(None) };
        let comparison = divergence::compare(expected, &Schedules::of(replayed)?, test.is_rebuilt());
        Ok(Some((comparison.followed, expected.switches())))
    }
}

/// The schedule of a run, its own or one that was found for it before. None if there is none yet.
pub fn saved(session: &Session, record: &RunRecord) -> anyhow::Result<Option<Saved>> {
    let own = Saved::of(&session.load(record.run)?, false)?;
    if own.plan.schedule != Schedule::Free {
        return Ok(Some(own));
    }
    match approximation::kept(session, record.run) {
        Some(file) => Ok(Some(Saved::of(&file, true)?)),
        None => Ok(None),
    }
}

/// What came out of a replay, and where it went another way.
fn told_of_replay(
    saved: &Saved,
    test: &Test,
    number: u32,
    replayed: &RunFile,
    same: bool,
) -> anyhow::Result<String> {
    let mut text = format!("replay {number}  {}", told(&replayed.record.outcome));
    let Some(expected) = &saved.schedules else {
        return Ok(format!("{text}  (by its seed)\n"));
    };
    let actual = Schedules::of(replayed)?;
    let Comparison { followed, divergence } = divergence::compare(expected, &actual, test.is_rebuilt());
    let all = expected.switches();
    text += &match followed == all {
        true => format!("  (all {all} switches followed)\n"),
        false => format!("  ({followed} of {all} switches followed)\n"),
    };
    if let (false, Some(divergence)) = (same, &divergence) {
        text += &divergence.told(test, expected, &actual);
    }
    Ok(text)
}
