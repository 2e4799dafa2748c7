//! From the patterns of each run to ranked findings.

use rustc_hash::FxHashMap;

use crate::occurrences::{Occurrence, Occurrences};
use crate::options::Options;
use crate::pattern::{Pattern, PatternId};
use crate::run::{Run, RunId};
use crate::suspiciousness::Spectrum;
use crate::technique::Technique;

/// A suspect with its evidence.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// One more than the number of findings with a better score.
    pub rank: usize,
    /// How many findings have this rank; 1 if it is alone.
    pub tied: usize,
    /// How suspicious it is, by the formula in use. May be infinite for DStar.
    pub score: f64,
    /// How many failing runs show the pattern.
    pub failed: u32,
    /// How many passing runs show the pattern.
    pub passed: u32,
    /// The pattern under suspicion.
    pub pattern: Pattern,
    /// The failing runs that show it, ascending.
    pub failing_runs: Vec<RunId>,
    /// Its earliest occurrence in the first failing run that shows it, else in the first passing one.
    pub example: Example,
}

/// An occurrence of a pattern in a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Example {
    /// The run.
    pub run: RunId,
    /// The row of the table as which the pattern shows itself here.
    pub id: PatternId,
    /// Indices into [`Run::accesses`] of that run, in time order.
    pub accesses: Vec<usize>,
}

/// Counts in which runs which patterns are seen. Keeps nothing else of a run, so that a session may have
/// thousands. The findings do not depend on the order in which the runs come.
#[derive(Clone, Debug)]
pub struct Collector {
    technique: Technique,
    options: Options,
    all_failed: u32,
    all_passed: u32,
    patterns: FxHashMap<Pattern, Evidence>,
}

/// What is known about one pattern.
#[derive(Clone, Debug)]
struct Evidence {
    passed: u32,
    failing_runs: Vec<RunId>,
    /// The run of the example, passing runs after all failing ones.
    example_run: (IsPassing, RunId),
    example: Occurrence,
}

type IsPassing = bool;

/// Finds and ranks the patterns of `runs`.
pub fn localize<'run>(
    technique: Technique,
    runs: impl IntoIterator<Item = &'run Run>,
    options: &Options,
) -> Vec<Finding> {
    let mut collector = Collector::new(technique, options);
    for run in runs {
        collector.observe(run);
    }
    collector.findings()
}

impl Collector {
    /// A collector that has seen no run yet.
    pub fn new(technique: Technique, options: &Options) -> Self {
        Self { technique, options: *options, all_failed: 0, all_passed: 0, patterns: FxHashMap::default() }
    }

    /// Looks at one more run. Each run must come only once.
    pub fn observe(&mut self, run: &Run) {
        self.add(self.technique.occurrences(run, &self.options));
    }

    /// Adds what [`Technique::occurrences`] has found in one more run.
    pub fn add(&mut self, found: Occurrences) {
        let is_failing = found.outcome.is_failing();
        *(if is_failing { &mut self.all_failed } else { &mut self.all_passed }) += 1;
        let example_run = (!is_failing, found.run);
        for (pattern, example) in found.earliest {
            let evidence = self.patterns.entry(pattern).or_insert_with(|| Evidence {
                passed: 0,
                failing_runs: Vec::new(),
                example_run,
                example,
            });
            if is_failing {
                evidence.failing_runs.push(found.run);
            } else {
                evidence.passed += 1;
            }
            if example_run < evidence.example_run {
                evidence.example_run = example_run;
                evidence.example = example;
            }
        }
    }

    /// All patterns seen so far, most suspicious first; also those that only passing runs show.
    ///
    /// Among equal scores, what more failing runs show goes first, then what occurs earlier in its example.
    pub fn findings(&self) -> Vec<Finding> {
        let mut findings: Vec<Finding> =
            self.patterns.iter().map(|(&pattern, evidence)| self.unranked(pattern, evidence)).collect();
        findings.sort_unstable_by(|a, b| {
            b.score
                .total_cmp(&a.score)
                .then(b.failed.cmp(&a.failed))
                .then_with(|| a.example.accesses.cmp(&b.example.accesses))
                .then(a.pattern.cmp(&b.pattern))
        });
        let mut better = 0;
        for tie in findings.chunk_by_mut(|a, b| a.score == b.score) {
            let tied = tie.len();
            for finding in tie {
                finding.rank = better + 1;
                finding.tied = tied;
            }
            better += tied;
        }
        findings
    }

    fn unranked(&self, pattern: Pattern, evidence: &Evidence) -> Finding {
        let mut failing_runs = evidence.failing_runs.clone();
        failing_runs.sort_unstable();
        let seen = Spectrum {
            failed: failing_runs.len() as u32,
            passed: evidence.passed,
            all_failed: self.all_failed,
            all_passed: self.all_passed,
        };
        Finding {
            rank: 0,
            tied: 0,
            score: self.options.formula.score(seen),
            failed: seen.failed,
            passed: seen.passed,
            pattern,
            failing_runs,
            example: Example {
                run: evidence.example_run.1,
                id: evidence.example.id,
                accesses: evidence.example.accesses().collect(),
            },
        }
    }
}
