//! How likely failure was along a failing run: runs follow its first switches and go on at random. Where most of them
//! fail from some switch on and hardly any before, there the run took its turn.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use recording::{RunPlan, Schedule};
use report::{Outlook, OutlookPoint, Trial, Turn};
use runner::campaign::run_seed;
use runner::{Outcome, RunNumber, RunRecord, Schedules, Session};

use super::places::Places;
use super::{Saved, Test};

/// Runs after each beginning.
const RUNS: u32 = 20;
/// Beginnings that are tried first, evenly along the run.
const GRID: u64 = 8;
/// Steps towards the place where the share of failing runs jumps.
const STEPS: u32 = 12;
/// A smaller rise is no jump.
const JUMP: f64 = 0.3;
/// So many of the runs fail where failure is called certain.
const CERTAIN: f64 = 0.9;

/// Computes the outlook of a run, for about so long.
pub fn of_run(
    session: &Session,
    test: &Test,
    saved: &Saved,
    record: &RunRecord,
    time: Duration,
) -> anyhow::Result<Option<Outlook>> {
    let Some(schedules) = &saved.schedules else { return Ok(None) };
    let longest = schedules.processes().iter().max_by_key(|process| process.switch_events().count());
    let Some(process) = longest else { return Ok(None) };
    let switches = process.switch_events().count() as u64;
    let until = Instant::now() + time;
    let mut points: BTreeMap<u64, Trial> = BTreeMap::new();
    let measure = |followed: u64, points: &mut BTreeMap<u64, Trial>| -> anyhow::Result<bool> {
        if points.contains_key(&followed) || (points.len() > 1 && Instant::now() >= until) {
            return Ok(Instant::now() < until);
        }
        points.insert(followed, trial(session, test, schedules, saved.plan, followed)?);
        Ok(true)
    };
    // The ends first, however little time there is: they say most.
    for step in [0, GRID].into_iter().chain(1..GRID) {
        measure(switches * step / GRID, &mut points)?;
    }
    for _ in 0..STEPS {
        let places = [turning_point(&points), steepest(&points)].into_iter().flatten();
        let Some((after, by)) = places.into_iter().find(|(after, by)| by - after > 1) else { break };
        if !measure(after + (by - after) / 2, &mut points)? {
            break;
        }
    }
    let told = |(after, by): (u64, u64)| {
        let event = process.switch_events().nth(by.saturating_sub(1) as usize);
        let what = event.map_or_else(String::new, |event| {
            let place = Places::default().leaf(process, event.event.leaf);
            format!("thread {} goes on in {place}", event.thread)
        });
        Turn { after, by, what }
    };
    let (turn, rise) = (turning_point(&points).map(told), steepest(&points).map(told));
    let points = points.into_iter().map(|(followed, trial)| OutlookPoint { followed, trial }).collect();
    Ok(Some(Outlook { run: record.run.0.into(), switches, points, turn, rise }))
}

/// Runs that follow so many switches and then go on at random.
fn trial(
    session: &Session,
    test: &Test,
    schedules: &Schedules,
    plan: RunPlan,
    followed: u64,
) -> anyhow::Result<Trial> {
    let never = AtomicBool::new(false);
    let mut trial = Trial { runs: 0, failed: 0 };
    for run in (1..=RUNS).map(RunNumber) {
        let seed = run_seed(!session.manifest().seed ^ followed, run);
        let plan = RunPlan { seed, schedule: Schedule::Random, ..plan };
        let Some(file) = schedules.follow(test.campaign(), run, plan, followed, &never)? else { continue };
        if !matches!(file.record.outcome, Outcome::Damaged { .. }) {
            trial.runs += 1;
            trial.failed += u64::from(file.record.outcome.is_failing());
        }
    }
    Ok(trial)
}

fn share(trial: &Trial) -> f64 {
    trial.failed as f64 / trial.runs.max(1) as f64
}

/// The two neighbours between which the share of failing runs rises most, if it does; of several, the last.
fn steepest(points: &BTreeMap<u64, Trial>) -> Option<(u64, u64)> {
    let neighbours = points.iter().zip(points.iter().skip(1));
    let rises = neighbours.map(|((after, low), (by, high))| (share(high) - share(low), (*after, *by)));
    let steepest = rises.max_by(|one, two| one.0.total_cmp(&two.0));
    steepest.filter(|(rise, _)| *rise >= JUMP).map(|(_, place)| place)
}

/// Between which two neighbours failure becomes certain, for good.
fn turning_point(points: &BTreeMap<u64, Trial>) -> Option<(u64, u64)> {
    let before = points.iter().rev().find(|(_, trial)| share(trial) < CERTAIN)?;
    let (by, _) = points.range(before.0 + 1..).next()?;
    Some((*before.0, *by))
}

fn file(session: &Session) -> PathBuf {
    session.folder().join("outlooks.json")
}

/// The outlooks of a session, by run.
pub fn recall(session: &Session) -> Vec<Outlook> {
    let text = std::fs::read(file(session)).unwrap_or_default();
    serde_json::from_slice(&text).unwrap_or_default()
}

/// Keeps an outlook with its session.
pub fn keep(session: &Session, outlook: Outlook) -> anyhow::Result<()> {
    let mut all = recall(session);
    all.retain(|other| other.run != outlook.run);
    all.push(outlook);
    all.sort_by_key(|outlook| outlook.run);
    let path = file(session);
    Ok(std::fs::write(&path, serde_json::to_vec_pretty(&all)?).map_err(runner::Error::writing(&path))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(failed: &[(u64, u64)]) -> BTreeMap<u64, Trial> {
        failed.iter().map(|&(followed, failed)| (followed, Trial { runs: 10, failed })).collect()
    }

    #[test]
    fn the_search_goes_where_the_share_jumps() {
        assert_eq!(steepest(&points(&[(0, 1), (10, 2), (20, 9), (30, 10)])), Some((10, 20)));
        assert_eq!(steepest(&points(&[(0, 5), (10, 6), (20, 7)])), None);
        assert_eq!(steepest(&points(&[(0, 5)])), None);
    }

    #[test]
    fn certain_is_what_stays_so() {
        assert_eq!(turning_point(&points(&[(0, 1), (10, 10), (20, 3), (30, 9), (40, 10)])), Some((20, 30)));
        assert_eq!(turning_point(&points(&[(0, 10), (10, 10)])), None, "from the start");
        assert_eq!(turning_point(&points(&[(0, 1), (10, 5)])), None, "never");
    }
}
