//! In which runs suspects are seen.

use rustc_hash::FxHashMap;

use crate::finding::{Example, Finding};
use crate::occurrences::{Occurrence, Occurrences};
use crate::run::{Outcome, RunId};
use crate::suspect::Suspect;
use crate::suspiciousness::Spectrum;

/// Counts the runs that show each suspect, and keeps nothing else of a run. Grows with the number of different
/// suspects, and by one number for each failing run that shows one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Counts {
    pub all_failed: u32,
    pub all_passed: u32,
    pub suspects: FxHashMap<Suspect, Sightings>,
}

/// The runs that show one suspect.
#[derive(Clone, Debug)]
pub(crate) struct Sightings {
    pub passed: u32,
    pub failing_runs: Vec<RunId>,
    /// The run of the example, passing runs after all failing ones.
    example_run: (IsPassing, RunId),
    pub example: Occurrence,
}

type IsPassing = bool;

impl Counts {
    /// Adds what one more run shows.
    pub fn add(&mut self, found: &Occurrences) {
        self.add_run(found.outcome);
        for &(suspect, occurrence) in &found.suspects {
            self.see(suspect, occurrence, found.run, found.outcome);
        }
    }

    /// Counts one more run.
    pub fn add_run(&mut self, outcome: Outcome) {
        *(if outcome.is_failing() { &mut self.all_failed } else { &mut self.all_passed }) += 1;
    }

    /// Counts a suspect for a run; only once for each run.
    pub fn see(&mut self, suspect: Suspect, example: Occurrence, run: RunId, outcome: Outcome) {
        let is_failing = outcome.is_failing();
        let example_run = (!is_failing, run);
        let seen = self.suspects.entry(suspect).or_insert_with(|| Sightings {
            passed: 0,
            failing_runs: Vec::new(),
            example_run,
            example,
        });
        if is_failing {
            seen.failing_runs.push(run);
        } else {
            seen.passed += 1;
        }
        if example_run < seen.example_run {
            seen.example_run = example_run;
            seen.example = example;
        }
    }

    /// The counts of one suspect, and of all runs.
    pub fn spectrum(&self, seen: &Sightings) -> Spectrum {
        Spectrum {
            failed: seen.failing_runs.len() as u32,
            passed: seen.passed,
            all_failed: self.all_failed,
            all_passed: self.all_passed,
        }
    }

    /// All suspects as findings without a rank, in no order.
    pub fn findings(&self, score: impl Fn(&Suspect, Spectrum) -> f64) -> Vec<Finding> {
        let suspects = self.suspects.iter();
        suspects
            .map(|(suspect, seen)| self.finding(suspect, seen, score(suspect, self.spectrum(seen))))
            .collect()
    }

    /// What the failing runs show and no passing run does, without a rank, in no order. The score is the share
    /// of failing runs.
    pub fn only_in_failing_runs(&self) -> Vec<Finding> {
        let new = self.suspects.iter().filter(|(_, seen)| seen.passed == 0);
        new.map(|(suspect, seen)| {
            let share = seen.failing_runs.len() as f64 / f64::from(self.all_failed);
            self.finding(suspect, seen, share)
        })
        .collect()
    }

    /// A finding without a rank.
    pub fn finding(&self, suspect: &Suspect, seen: &Sightings, score: f64) -> Finding {
        let mut failing_runs = seen.failing_runs.clone();
        failing_runs.sort_unstable();
        Finding {
            rank: 0,
            tied: 0,
            score,
            failed: failing_runs.len() as u32,
            passed: seen.passed,
            pattern: suspect.pattern,
            failing_runs,
            example: Example {
                run: seen.example_run.1,
                id: seen.example.shape,
                accesses: seen.example.accesses().iter().map(|&index| index as usize).collect(),
            },
            detail: suspect.circumstance.into(),
        }
    }
}
