//! In which runs communications are seen.

use rustc_hash::FxHashMap;

use crate::communication::{Edge, Graph, Places, Which};
use crate::finding::{Detail, Example, Finding};
use crate::numbering::Numbering;
use crate::run::RunId;
use crate::suspiciousness::Spectrum;

/// Counts the runs that show each communication. Passing runs have very many, and each its own: of what no failing run
/// shows, nothing but the number of runs is kept.
#[derive(Clone, Debug, Default)]
pub(crate) struct EdgeCounts {
    all_failed: u32,
    all_passed: u32,
    numbers: Numbering<Edge>,
    /// How many passing runs show it, by number.
    passed: Vec<u32>,
    /// Those that failing runs show, by number.
    failing: FxHashMap<u32, InFailing>,
}

/// The failing runs that show a communication.
#[derive(Clone, Debug)]
pub(crate) struct InFailing {
    pub runs: Vec<RunId>,
    example_run: RunId,
    /// In that run.
    pub places: Places,
}

/// What is needed for so many communications is fetched together.
const FETCHED: usize = 64;

impl EdgeCounts {
    /// Adds what one more run shows.
    pub fn add(&mut self, graph: &Graph) {
        let is_failing = graph.outcome.is_failing();
        *(if is_failing { &mut self.all_failed } else { &mut self.all_passed }) += 1;
        for (nth, &edge) in graph.edges.iter().enumerate() {
            if nth % FETCHED == 0 {
                self.numbers.fetch(graph.edges[nth..].iter().copied().take(FETCHED));
            }
            let (number, is_new) = self.numbers.number(edge);
            if is_new {
                self.passed.push(0);
            }
            if is_failing {
                self.see_failing(number, graph.run, graph.places[nth]);
            } else {
                self.passed[number as usize] += 1;
            }
        }
    }

    fn see_failing(&mut self, number: u32, run: RunId, places: Places) {
        let new = || InFailing { runs: Vec::new(), example_run: run, places };
        let seen = self.failing.entry(number).or_insert_with(new);
        seen.runs.push(run);
        if run < seen.example_run {
            (seen.example_run, seen.places) = (run, places);
        }
    }

    /// Each communication that failing runs show, in no order, with the counts of it and of all runs.
    pub fn in_failing_runs(&self) -> impl Iterator<Item = (Edge, &InFailing, Spectrum)> {
        self.failing.iter().map(|(&number, seen)| {
            let spectrum = Spectrum {
                failed: seen.runs.len() as u32,
                passed: self.passed[number as usize],
                all_failed: self.all_failed,
                all_passed: self.all_passed,
            };
            (self.numbers.keys()[number as usize], seen, spectrum)
        })
    }

    /// Each communication, with whether failing and whether passing runs show it.
    pub fn all(&self) -> impl Iterator<Item = (&Edge, [bool; 2])> {
        (0..)
            .zip(self.numbers.keys())
            .zip(&self.passed)
            .map(|((number, edge), &passed)| (edge, [self.failing.contains_key(&number), passed > 0]))
    }
}

impl InFailing {
    /// A finding without a rank, with one of the occurrences as its example.
    pub fn finding(&self, edge: Edge, spectrum: Spectrum, score: f64, which: Which) -> Finding {
        let mut failing_runs = self.runs.clone();
        failing_runs.sort_unstable();
        let pattern = edge.pattern();
        Finding {
            rank: 0,
            tied: 0,
            score,
            failed: spectrum.failed,
            passed: spectrum.passed,
            pattern,
            failing_runs,
            example: Example {
                run: self.example_run,
                id: pattern.shape(),
                accesses: self.places[which as usize].map(|index| index as usize).to_vec(),
            },
            detail: Detail::Communication(edge.contexts),
        }
    }
}
