//! How often a program fails without the tool, and how many runs it takes until it does.

use std::f64::consts::LN_2;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use serde::{Deserialize, Serialize};

use super::Found;
use crate::truth::Subject;

/// So many failures are expected of a program that shows none in one of twenty tries: the "rule of three".
const UNSEEN: f64 = 3.0;

/// Runs without the tool, one after another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Stress {
    pub runs: u32,
    pub failed: u32,
    pub seconds: f64,
}

impl Stress {
    /// Runs the program again and again for some time.
    pub fn go_on(&mut self, program: &Path, subject: &Subject, time: Duration) -> anyhow::Result<()> {
        let begun = Instant::now();
        while begun.elapsed() < time {
            self.failed += u32::from(fails(program, subject)?);
            self.runs += 1;
        }
        self.seconds += begun.elapsed().as_secs_f64();
        Ok(())
    }

    /// What came of this and of another while.
    pub fn and(self, other: &Stress) -> Stress {
        Stress {
            runs: self.runs + other.runs,
            failed: self.failed + other.failed,
            seconds: self.seconds + other.seconds,
        }
    }

    /// The share of runs that fail. If none did, the most that is likely.
    pub fn rate(&self) -> Option<f64> {
        let failed = if self.failed == 0 { UNSEEN } else { f64::from(self.failed) };
        (self.runs > 0).then(|| failed / f64::from(self.runs))
    }

    /// The runs, and the seconds, after which half of all who wait for a failure have seen one. If none failed, it takes longer.
    pub fn median(&self) -> Option<Found> {
        let runs = (LN_2 / self.rate()?).ceil().max(1.0);
        let seconds = runs * self.seconds / f64::from(self.runs);
        Some(Found { runs: runs as u32, seconds, is_found: self.failed > 0 })
    }
}

/// One run. A program that never hangs needs nobody to watch it, which takes as long as a short run.
fn fails(program: &Path, subject: &Subject) -> anyhow::Result<bool> {
    let mut command = if subject.truth.may_hang() {
        let mut timeout = Command::new("timeout");
        timeout.arg(subject.truth.timeout_seconds.to_string()).arg(program);
        timeout
    } else {
        Command::new(program)
    };
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let status = command.status().with_context(|| format!("cannot start {command:?}"))?;
    Ok(!status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_follows_from_the_rate() {
        let stress = Stress { runs: 10_000, failed: 10, seconds: 20.0 };
        let median = stress.median().unwrap();
        assert_eq!((median.runs, median.is_found), (694, true));
        assert!((median.seconds - 1.388).abs() < 1e-9, "{median:?}");
    }

    #[test]
    fn what_never_failed_takes_longer_than_what_fails_as_often_as_is_likely() {
        let stress = Stress { runs: 3000, failed: 0, seconds: 6.0 };
        let median = stress.median().unwrap();
        assert_eq!((median.runs, median.is_found), (694, false));
        assert_eq!(Stress::default().median(), None);
    }
}
