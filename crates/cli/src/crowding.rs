//! Tests that fail, or do not even begin, because another run of theirs goes on at the same time: both want the same port, file or name.
//! What their threads do has nothing to do with it. Where a kind of failure is frequent, some runs are made alone; if it is never seen there,
//! all begins anew, one run at a time.

use std::collections::BTreeMap;
use std::time::Duration;

use runner::{Outcome, RunRecord};

use crate::failures;

/// When it is asked first. A test whose cause is plain is done before there are so many runs.
pub const FIRST_ASKED: u32 = 30;

/// When it is asked next, if ever.
pub fn next_asked(runs: u32) -> Option<u32> {
    const LAST: u32 = 480;
    (runs < LAST).then_some(2 * runs)
}

/// A kind of failure that is rarer takes too many runs alone to be missed there.
const FREQUENT: f64 = 0.25;

/// The chance that a kind of failure does not occur among the runs alone, if these fail as often as the others.
const CHANCE: f64 = 0.001;

/// Longer than this nobody waits for runs that go on one by one and may have to be thrown away.
const LONGEST: Duration = Duration::from_secs(15);

/// A kind of failure, or of trouble, that may come from runs at the same time.
#[derive(Clone, Debug)]
pub struct Suspicion {
    reason: String,
    description: String,
    of_it: usize,
    runs: usize,
}

/// The most frequent kind of failure or trouble, if it is worth looking for it in runs that go on alone.
pub fn suspected(records: &[RunRecord]) -> Option<Suspicion> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for record in records.iter().filter(|record| record.outcome != Outcome::Pass) {
        *counts.entry(record.outcome.reason()).or_default() += 1;
    }
    let (reason, of_it) = counts.into_iter().max_by_key(|(_, runs)| *runs)?;
    let of_kind: Vec<RunRecord> =
        records.iter().filter(|record| record.outcome.reason() == reason).cloned().collect();
    let failure = failures::grouped(&of_kind).into_iter().next();
    let description = failure.map_or_else(|| reason.to_owned(), |group| group.description);
    let suspicion = Suspicion { reason: reason.to_owned(), description, of_it, runs: records.len() };
    let seconds = records.iter().map(|record| record.seconds).sum::<f64>() / records.len() as f64;
    let time = Duration::try_from_secs_f64(seconds * suspicion.runs_alone() as f64).ok()?;
    (suspicion.share() >= FREQUENT && time <= LONGEST).then_some(suspicion)
}

impl Suspicion {
    fn share(&self) -> f64 {
        self.of_it as f64 / self.runs as f64
    }

    /// So many runs alone tell.
    pub fn runs_alone(&self) -> usize {
        // A kind that all runs are of takes a few, too: one may be luck.
        const FEWEST: f64 = 6.0;
        let runs = CHANCE.ln() / (1.0 - self.share().min(0.99)).ln();
        runs.max(FEWEST).ceil() as usize
    }

    /// What to say if it was right: nothing of the kind occurred in any of these.
    pub fn told(&self, alone: &[RunRecord]) -> Option<String> {
        let is_of_it =
            |record: &RunRecord| record.outcome != Outcome::Pass && record.outcome.reason() == self.reason;
        if alone.len() < self.runs_alone() || alone.iter().any(is_of_it) {
            return None;
        }
        Some(format!(
            "runs at the same time get in each other's way: {} of {} ended like this ({}), but none of {} that ran alone. \
             Do they share a port, a file or a name? Starting again with one run at a time, as by --jobs 1",
            self.of_it,
            self.runs,
            self.description,
            alone.len(),
        ))
    }
}

#[cfg(test)]
mod tests {
    use runner::RunNumber;

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
        assert_eq!(runs_alone(4, 40), None, "too rare");
        assert_eq!(runs_alone(15, 15), Some(10));
        assert_eq!(runs_alone(30, 0), Some(6));
        let damaged = |record| RunRecord {
            outcome: Outcome::Damaged { why: "no process recorded anything".to_owned() },
            ..record
        };
        let kept_from_it: Vec<RunRecord> =
            records(10, 0, 0.1).into_iter().map(damaged).chain(records(0, 20, 0.1)).collect();
        assert!(suspected(&kept_from_it).is_some(), "one may keep the other from running its test at all");
        assert!(suspected(&records(15, 15, 2.0)).is_none(), "nobody waits for ten such runs");
    }

    #[test]
    fn it_is_told_if_none_of_them_fails_like_that() {
        let suspicion = suspected(&records(15, 15, 0.1)).unwrap();
        let told = suspicion.told(&records(0, 10, 0.1)).unwrap();
        assert!(told.contains("15 of 30 ended like this (exit code 7, last printed `bind:"), "{told}");
        assert_eq!(suspicion.told(&records(1, 20, 0.1)), None);
        assert_eq!(suspicion.told(&records(0, 9, 0.1)), None, "not yet enough of them");
    }
}
