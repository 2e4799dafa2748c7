//! Tests that fail because another run of theirs goes on at the same time: both want the same port, file or name. What their threads do has
//! nothing to do with it. Where a kind of failure is frequent, some runs are made alone; if it is never seen there, all begins anew, one
//! run at a time.

use std::time::Duration;

use runner::RunRecord;

use crate::failures;

/// A test whose cause is plain is done before there are so many runs.
const ENOUGH: usize = 30;

/// A kind of failure that is rarer takes too many runs alone to be missed there.
const FREQUENT: f64 = 0.25;

/// The chance that a kind of failure does not occur among the runs alone, if these fail as often as the others.
const CHANCE: f64 = 0.001;

/// Longer than this nobody waits for runs that go on one by one and may have to be thrown away.
const LONGEST: Duration = Duration::from_secs(15);

/// A kind of failure that may come from runs at the same time.
#[derive(Clone, Debug)]
pub struct Suspicion {
    reason: String,
    description: String,
    failed: usize,
    judged: usize,
}

/// The most frequent kind of failure, if it is worth looking for it in runs that go on alone.
pub fn suspected(records: &[RunRecord]) -> Option<Suspicion> {
    let judged = records.iter().filter(|record| record.processes > 0).count();
    if judged < ENOUGH {
        return None;
    }
    let first = failures::grouped(records).into_iter().next()?;
    let failed = usize::try_from(first.runs).ok()?;
    let is_of_it = |record: &&RunRecord| {
        record.outcome.is_failing() && first.description.starts_with(record.outcome.reason())
    };
    let reason = records.iter().find(is_of_it)?.outcome.reason().to_owned();
    let suspicion = Suspicion { reason, description: first.description, failed, judged };
    let seconds = records.iter().map(|record| record.seconds).sum::<f64>() / records.len() as f64;
    let time = Duration::try_from_secs_f64(seconds * suspicion.runs_alone() as f64).ok()?;
    (suspicion.share() >= FREQUENT && time <= LONGEST).then_some(suspicion)
}

impl Suspicion {
    fn share(&self) -> f64 {
        self.failed as f64 / self.judged as f64
    }

    /// So many runs alone tell.
    pub fn runs_alone(&self) -> usize {
        // A kind that all runs are of takes a few, too: one may be luck.
        const FEWEST: f64 = 6.0;
        let runs = CHANCE.ln() / (1.0 - self.share().min(0.99)).ln();
        runs.max(FEWEST).ceil() as usize
    }

    /// What to say if it was right: the kind of failure did not occur in any of these.
    pub fn told(&self, alone: &[RunRecord]) -> Option<String> {
        let is_of_it =
            |record: &RunRecord| record.outcome.is_failing() && record.outcome.reason() == self.reason;
        if alone.len() < self.runs_alone() || alone.iter().any(is_of_it) {
            return None;
        }
        Some(format!(
            "runs at the same time get in each other's way: {} of {} failed (most often: {}), but none of {} did so alone. \
             Do they share a port, a file or a name? Starting again with one run at a time, as by --jobs 1",
            self.failed,
            self.judged,
            self.description,
            alone.len(),
        ))
    }
}

#[cfg(test)]
mod tests {
    use runner::{Outcome, RunNumber};

    use super::*;

    fn records(failed: usize, passed: usize, seconds: f64) -> Vec<RunRecord> {
        let record = |outcome| RunRecord {
            run: RunNumber(1),
            plan: String::new(),
            outcome,
            seconds,
            processes: 1,
            warnings: Vec::new(),
            said: Some("bind: Address already in use".to_owned()),
        };
        let failing = || record(Outcome::Fail { reason: "exit code 7".to_owned() });
        (0..failed).map(|_| failing()).chain((0..passed).map(|_| record(Outcome::Pass))).collect()
    }

    #[test]
    fn what_fails_often_is_looked_for_in_runs_alone() {
        let runs_alone = |failed, passed| suspected(&records(failed, passed, 0.1)).map(|it| it.runs_alone());
        assert_eq!(runs_alone(29, 0), None, "too few runs");
        assert_eq!(runs_alone(4, 40), None, "too rare");
        assert_eq!(runs_alone(15, 15), Some(10));
        assert_eq!(runs_alone(30, 0), Some(6));
        assert!(suspected(&records(15, 15, 2.0)).is_none(), "nobody waits for ten such runs");
    }

    #[test]
    fn it_is_told_if_none_of_them_fails_like_that() {
        let suspicion = suspected(&records(15, 15, 0.1)).unwrap();
        let told = suspicion.told(&records(0, 10, 0.1)).unwrap();
        assert!(told.contains("15 of 30 failed (most often: exit code 7, last printed `bind:"), "{told}");
        assert_eq!(suspicion.told(&records(1, 20, 0.1)), None);
        assert_eq!(suspicion.told(&records(0, 9, 0.1)), None, "not yet enough of them");
    }
}
