//! Failing runs that ran freely have no schedule. One in which the first finding is forced, and that ends as one of them did, stands for that
//! one; it is what [`replay`](crate::replay) follows as well.

use std::time::Instant;

use recording::{Interleaving, InterleavingStep, List, MOST_SITES, RunPlan, Schedule, Site};
use runner::campaign::{Campaign, run_seed};
use runner::{RunFile, RunNumber, Session};

use crate::conduct::INTERRUPTED;
use crate::replay::approximation;

/// Runs that are made for it, at most.
const ATTEMPTS: u32 = 12;

/// The failing run that it stands for, and the run. None if there is no such run, or none comes about.
pub fn find(
    session: &Session,
    campaign: &Campaign,
    first: Interleaving,
    until: Instant,
) -> anyhow::Result<Option<(RunNumber, RunFile)>> {
    let Some(free) = session.runs().iter().find(|record| record.outcome.is_failing()) else {
        return Ok(None);
    };
    if let Some(kept) = approximation::kept(session, free.run) {
        return Ok(Some((free.run, kept)));
    }
    for attempt in 1..=ATTEMPTS {
        if Instant::now() >= until {
            break;
        }
        let run = RunNumber(attempt);
        let plan = RunPlan {
            seed: run_seed(!session.manifest().seed, run),
            schedule: Schedule::Random,
            sites: places(&first),
            interleaving: Some(first),
            ..RunPlan::default()
        };
        let Some(made) = campaign.once(run, plan, &INTERRUPTED)? else { break };
        if made.record.outcome == free.outcome {
            approximation::keep(session, free.run, &made)?;
            return Ok(Some((free.run, made)));
        }
    }
    Ok(None)
}

/// Whoever follows the run knows nothing of what was forced, but has its points.
fn places(interleaving: &Interleaving) -> List<Site, MOST_SITES> {
    let place = |step: &InterleavingStep| Site { build_id: step.build_id, address: step.address };
    List::of(interleaving.steps().iter().map(place))
}
