//! The schedules of a controlled run's processes, taken from its recordings for another run to follow.

use std::fs;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use recording::{Course, Damage, ENV_SCHEDULE, Recording, RunPlan, SavedSchedule, Stop};

use crate::campaign::Campaign;
use crate::error::{Error, Result};
use crate::run_file::{RunFile, RunNumber};

/// What the threads of each process did in which order.
#[derive(Debug)]
pub struct Schedules {
    processes: Vec<Recording>,
}

impl Schedules {
    /// Reads them from a run's file.
    pub fn read(path: &Path) -> Result<Schedules> {
        Schedules::of(&RunFile::read(path)?).map_err(|damage| Error::DamagedRun {
            path: path.to_owned(),
            offset: 0,
            why: damage.to_string(),
        })
    }

    /// Reads them from a run.
    pub fn of(run: &RunFile) -> Result<Schedules, Damage> {
        let parsed = run.processes.iter().map(|process| recording::parse(&process.bytes));
        let mut processes = parsed.collect::<Result<Vec<_>, _>>()?;
        processes.sort_by_key(|process| process.header.started);
        Ok(Schedules { processes })
    }

    /// The recordings they are from, in the order in which the processes started.
    pub fn processes(&self) -> &[Recording] {
        &self.processes
    }

    /// How often the token was passed on in all of them.
    pub fn switches(&self) -> u64 {
        self.processes.iter().map(|process| process.switch_events().count() as u64).sum()
    }

    /// Runs the test once more, apart from any session, and follows so many switches of each process. None if it was
    /// cancelled.
    pub fn follow(
        &self,
        campaign: &Campaign,
        run: RunNumber,
        plan: RunPlan,
        followed: u64,
        cancelled: &AtomicBool,
    ) -> Result<Option<RunFile>> {
        follow_file(self.content(followed, None), campaign, run, plan, cancelled)
    }

    /// Writes what the recorder is told. `stop` is for a debugger: in which process, and where.
    pub fn write(&self, path: &Path, followed: u64, stop: Option<(usize, Stop)>) -> Result<()> {
        fs::write(path, self.content(followed, stop)).map_err(Error::writing(path))
    }

    fn content(&self, followed: u64, stop: Option<(usize, Stop)>) -> Vec<u8> {
        let mut content = Vec::new();
        for (number, process) in self.processes.iter().enumerate() {
            let stop = stop.filter(|(which, _)| *which == number).map(|(_, stop)| stop);
            let switches = process.switches();
            let course = Course::recorded(&switches, process.header.seed);
            SavedSchedule::write(course, followed, stop, &mut content);
        }
        content
    }
}

/// Runs a test of one process once, apart from any session, by a schedule of our own making. None if it was cancelled.
pub fn follow_course(
    course: Course<'_>,
    campaign: &Campaign,
    run: RunNumber,
    plan: RunPlan,
    cancelled: &AtomicBool,
) -> Result<Option<RunFile>> {
    let mut content = Vec::new();
    SavedSchedule::write(course, u64::MAX, None, &mut content);
    follow_file(content, campaign, run, plan, cancelled)
}

fn follow_file(
    content: Vec<u8>,
    campaign: &Campaign,
    run: RunNumber,
    plan: RunPlan,
    cancelled: &AtomicBool,
) -> Result<Option<RunFile>> {
    let folder = tempfile::Builder::new().prefix("unsnarl-schedule-").tempdir();
    let folder = folder.map_err(Error::writing(&std::env::temp_dir()))?;
    let file = folder.path().join("schedule");
    fs::write(&file, content).map_err(Error::writing(&file))?;
    let mut campaign = campaign.clone();
    campaign.environment.push((ENV_SCHEDULE.into(), file.into()));
    campaign.once(run, plan, cancelled)
}
