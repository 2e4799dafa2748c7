//! The way of failing runs up to where a finding comes about: what has gone before is as it was when it did harm.

use std::sync::atomic::AtomicBool;

use recording::{Interleaving, RunPlan, Schedule};
use runner::campaign::Campaign;
use runner::{RunFile, RunNumber, Schedules, Session};

use super::occurrence::occurrence;

/// Runs whose way is followed, and those that are looked at for it.
const MOST: usize = 3;
const LOOKED_AT: usize = 10;

/// The beginning of a failing run.
pub struct Beginning {
    schedules: Schedules,
    plan: RunPlan,
    followed: u64,
}

impl Beginning {
    /// Of some of these runs, those with a schedule that shows the interleaving: up to the switch by which the thread of
    /// its first step gets there.
    pub fn of_runs(session: &Session, runs: &[u64], interleaving: &Interleaving) -> Vec<Beginning> {
        let is_meant = |run: RunNumber| runs.contains(&u64::from(run.0));
        let records = session.runs().iter().filter(|record| is_meant(record.run));
        let of_record = |record: &runner::RunRecord| {
            // Of a run that cannot be read or was not controlled there is no way to follow.
            let plan: RunPlan =
                record.plan.parse().ok().filter(|plan: &RunPlan| plan.schedule != Schedule::Free)?;
            Some((plan, Schedules::of(&session.load(record.run).ok()?).ok()?))
        };
        let controlled = records.filter_map(of_record).take(LOOKED_AT);
        let found = controlled.filter_map(|(plan, schedules)| {
            let (_, stop) = occurrence(&schedules, interleaving.steps())?;
            // In each of several processes it would be another place.
            let is_alone = schedules.processes().len() == 1;
            is_alone.then_some(Beginning { schedules, plan, followed: stop.after })
        });
        found.take(MOST).collect()
    }

    /// A run that begins so and goes on as the plan says. None if it was cancelled.
    pub fn follow(
        &self,
        campaign: &Campaign,
        run: RunNumber,
        plan: RunPlan,
        cancelled: &AtomicBool,
    ) -> runner::Result<Option<RunFile>> {
        // Where the points are depends on the plan.
        let RunPlan { seed, schedule, interleaving, avoided, .. } = plan;
        let plan = RunPlan { seed, schedule, interleaving, avoided, directed: false, ..self.plan };
        self.schedules.follow(campaign, run, plan, self.followed, cancelled)
    }
}
