//! How long a run is waited for.
//!
//! Once a run has hung for the whole time-out, the test is known to hang, and nobody learns more by waiting as long for
//! each of those to come: many times the slowest run that passed is enough. Nor may the first one take up most of the time that the
//! session has, if runs that pass are over long before.

use std::time::Duration;

use crate::oracle::Outcome;
use crate::run_file::RunRecord;

/// No run is waited for less long than this.
const LEAST: Duration = Duration::from_secs(3);
/// Nor less long than so many times the slowest run that passed.
const TIMES_SLOWEST: f64 = 30.0;
/// The first run that hangs takes one of so many parts of the session's time at most.
const PARTS: u32 = 4;

/// How long it takes to know that a run hangs, if the slowest that passed took so many seconds.
pub fn enough(slowest_pass: f64) -> Duration {
    LEAST.max(Duration::from_secs_f64(slowest_pass * TIMES_SLOWEST))
}

pub(crate) struct Patience {
    timeout: Option<Duration>,
    /// What a session of limited time can spare for one run.
    to_spare: Option<Duration>,
    slowest_pass: f64,
    has_hung: bool,
}

impl Patience {
    /// For a session that lasts so long, if that is known.
    pub fn new(timeout: Option<Duration>, session: Option<Duration>) -> Patience {
        let to_spare = session.map(|session| session / PARTS);
        Patience { timeout, to_spare, slowest_pass: 0.0, has_hung: false }
    }

    /// The time after which the next run has hung.
    pub fn timeout(&self) -> Option<Duration> {
        self.timeout
            .map(|timeout| if self.has_hung { timeout.min(self.enough()) } else { self.at_first(timeout) })
    }

    fn enough(&self) -> Duration {
        enough(self.slowest_pass)
    }

    /// How long a run is waited for before one has hung. Where none has passed, nobody knows how long one takes.
    fn at_first(&self, timeout: Duration) -> Duration {
        match self.to_spare {
            Some(to_spare) if self.slowest_pass > 0.0 => timeout.min(to_spare.max(self.enough())),
            _ => timeout,
        }
    }

    /// The time after which a controlled run that goes on is too slow to be of use.
    pub fn slow_after(&self) -> Duration {
        if self.slowest_pass == 0.0 { Duration::MAX } else { enough(self.slowest_pass) }
    }

    /// Takes note of a run.
    pub fn observe(&mut self, record: &RunRecord) {
        match record.outcome {
            Outcome::Pass => self.slowest_pass = self.slowest_pass.max(record.seconds),
            // One that was seen to stand still is ended sooner, and says nothing about others.
            Outcome::Hang { .. } => {
                let waited = self.timeout.map(|timeout| self.at_first(timeout).as_secs_f64());
                self.has_hung |= waited.is_some_and(|waited| record.seconds >= waited)
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run_file::RunNumber;

    fn run(outcome: Outcome, seconds: f64) -> RunRecord {
        RunRecord {
            run: RunNumber(1),
            plan: String::new(),
            outcome,
            seconds,
            processes: 1,
            warnings: Vec::new(),
            said: None,
        }
    }

    fn timeouts(given: Duration, runs: &[RunRecord]) -> Duration {
        let mut patience = Patience::new(Some(given), None);
        runs.iter().for_each(|run| patience.observe(run));
        patience.timeout().expect("one was given")
    }

    #[test]
    fn only_the_first_hang_is_waited_for_to_the_end() {
        let half_a_minute = Duration::from_secs(30);
        let (pass, hang) = (run(Outcome::Pass, 0.01), run(Outcome::hang(), 30.1));
        assert_eq!(timeouts(half_a_minute, std::slice::from_ref(&pass)), half_a_minute);
        assert_eq!(timeouts(half_a_minute, &[pass.clone(), run(Outcome::hang(), 0.3)]), half_a_minute);
        assert_eq!(timeouts(half_a_minute, &[pass, hang.clone()]), LEAST);
        assert_eq!(
            timeouts(half_a_minute, &[hang.clone(), run(Outcome::Pass, 0.5)]),
            Duration::from_secs(15)
        );
        assert_eq!(timeouts(half_a_minute, &[hang, run(Outcome::Pass, 20.0)]), half_a_minute);
        let short = Duration::from_secs(1);
        assert_eq!(timeouts(short, &[run(Outcome::hang(), 1.2)]), short);
    }

    #[test]
    fn the_first_hang_does_not_take_up_the_session() {
        let session = Some(Duration::from_secs(30));
        let mut patience = Patience::new(Some(Duration::from_secs(30)), session);
        assert_eq!(patience.timeout(), Some(Duration::from_secs(30)), "who knows how long a run takes");
        patience.observe(&run(Outcome::Pass, 0.01));
        assert_eq!(patience.timeout(), Some(Duration::from_millis(7500)));
        patience.observe(&run(Outcome::Pass, 0.5));
        assert_eq!(patience.timeout(), Some(Duration::from_secs(15)), "slow runs are waited for");
        patience.observe(&run(Outcome::hang(), 15.1));
        assert!(patience.has_hung);
    }

    #[test]
    fn how_slow_is_too_slow_depends_on_runs_that_passed() {
        let mut patience = Patience::new(None, None);
        assert_eq!(patience.slow_after(), Duration::MAX);
        patience.observe(&run(Outcome::Pass, 0.5));
        assert_eq!(patience.slow_after(), Duration::from_secs(15));
    }

    #[test]
    fn who_wants_no_timeout_has_none() {
        assert_eq!(Patience::new(None, None).timeout(), None);
    }
}
