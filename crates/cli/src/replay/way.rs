//! The way of failing runs to where a finding comes about: what has gone before is as it was when it did harm.

use std::sync::atomic::AtomicBool;

use recording::{InterleavingStep, RunPlan};
use runner::campaign::Campaign;
use runner::{RunFile, RunNumber, Schedules, Session};

use super::occurrence::{Occurrence, occurrences};

/// Does a run show these steps, one after the other?
pub fn shows(file: &RunFile, steps: &[InterleavingStep]) -> bool {
    Schedules::of(file).is_ok_and(|schedules| !occurrences(&schedules, steps, false).is_empty())
}

/// A failing run with a schedule, and where a finding comes about in it.
pub struct Way {
    pub run: RunNumber,
    schedules: Schedules,
    plan: RunPlan,
    pub occurrences: Vec<Occurrence>,
}

impl Way {
    /// Of these runs, those that can be followed to where these steps are done.
    pub fn of_runs<'a>(
        session: &'a Session,
        runs: &'a [u64],
        steps: &'a [InterleavingStep],
        is_circle: bool,
    ) -> impl Iterator<Item = Way> + 'a {
        let is_meant = |run: RunNumber| runs.contains(&u64::from(run.0));
        let records = session.runs().iter().filter(move |record| is_meant(record.run));
        records.filter_map(move |record| {
            // Of a run that cannot be read or whose threads ran side by side there is no way to follow.
            let plan = record.plan.parse::<RunPlan>().ok()?.of_follower();
            let schedules = Schedules::of(&session.load(record.run).ok()?).ok()?;
            let occurrences = occurrences(&schedules, steps, is_circle);
            // In each of several processes it would be another place.
            let has_way = schedules.processes().len() == 1 && schedules.switches() > 0;
            let can_be_followed = has_way && !occurrences.is_empty();
            can_be_followed.then_some(Way { run: record.run, schedules, plan, occurrences })
        })
    }

    pub fn switches(&self) -> u64 {
        self.schedules.switches()
    }

    /// A run that follows so many of its switches and goes on as the plan says. None if it was cancelled.
    pub fn follow(
        &self,
        switches: u64,
        campaign: &Campaign,
        run: RunNumber,
        plan: RunPlan,
        cancelled: &AtomicBool,
    ) -> runner::Result<Option<RunFile>> {
        // Where the points are depends on the plan.
        let RunPlan { seed, schedule, interleaving, avoided, .. } = plan;
        let directed = false;
        let plan = RunPlan { seed, schedule, interleaving, avoided, directed, beginning: None, ..self.plan };
        self.schedules.follow(campaign, run, plan, switches, cancelled)
    }
}
