//! What is known of all runs, and what follows for the failing ones.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::slice;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::finding::{self, Detail, Example, Finding};
use crate::pattern::Pattern;
use crate::run::{LocationId, RunId, ThreadId};
use crate::shape::Shape;

use super::absence::Absence;
use super::prediction::{self, Interval};
use super::{Pairs, Positions, Procedure, couples};

/// What is known of all runs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Evidence {
    pub(super) passing: Vec<PassingRun>,
    /// The pairs that passing runs show.
    pub(super) pairs: Vec<InPassing>,
    numbers: FxHashMap<Pattern, u32>,
    /// Any two threads of a passing run between which a pair runs, by number, with the number of the run.
    /// Their two directions are twice that number, and one more.
    thread_pairs: Vec<u32>,
    /// The iterations between which a pair ran in a direction, where they are known.
    pub(super) iterations: FxHashMap<(u32, u32), Vec<Positions>>,
    failing: Vec<Pairs>,
}

#[derive(Clone, Debug)]
pub(super) struct PassingRun {
    pub is_whole: bool,
}

/// A pair in passing runs.
#[derive(Clone, Debug)]
pub(super) struct InPassing {
    pub pattern: Pattern,
    /// In which directions between which threads of which runs it ran.
    pub directions: Vec<u32>,
    /// Whether something else than the creation or the end of a thread keeps it in order, in some run.
    can_turn: bool,
    /// Its first occurrence in the first run that is whole and shows it.
    first: Option<First>,
}

#[derive(Clone, Copy, Debug)]
struct First {
    run: RunId,
    accesses: [u32; 2],
    /// None if it occurs on several in that run.
    location: Option<LocationId>,
}

impl InPassing {
    /// The only location on which it is in the first whole run that shows it.
    pub fn location(&self) -> Option<LocationId> {
        self.first.and_then(|first| first.location)
    }
}

/// What a procedure has found for a failing run.
pub(super) struct Reported {
    pub pattern: Pattern,
    pub run: RunId,
    pub shape: Shape,
    pub accesses: Vec<u32>,
}

/// What all failing runs lead to.
struct Total {
    failing_runs: Vec<RunId>,
    /// Missing pairs have a worse example than those that occur, later runs a worse one than earlier runs.
    example_of: (Procedure, RunId),
    example: Reported,
}

impl Evidence {
    /// Adds the pairs of one more run.
    pub fn add(&mut self, run: &Pairs) {
        if run.outcome.is_failing() {
            self.failing.push(run.clone());
        } else {
            self.add_passing(run);
        }
    }

    fn add_passing(&mut self, run: &Pairs) {
        let run_number = self.passing.len() as u32;
        self.passing.push(PassingRun { is_whole: run.is_whole });
        let mut thread_pairs: FxHashMap<[ThreadId; 2], u32> = FxHashMap::default();
        let mut firsts: FxHashMap<u32, First> = FxHashMap::default();
        let mut lanes = Vec::with_capacity(run.lanes.len());
        for lane in &run.lanes {
            let pair = self.number(lane.pattern);
            let [head, tail] = lane.threads;
            let thread_pair = *thread_pairs.entry([head.min(tail), head.max(tail)]).or_insert_with(|| {
                self.thread_pairs.push(run_number);
                self.thread_pairs.len() as u32 - 1
            });
            let direction = 2 * thread_pair + u32::from(head > tail);
            self.pairs[pair as usize].directions.push(direction);
            self.pairs[pair as usize].can_turn |= !lane.is_kept_in_order;
            lanes.push((pair, direction));

            let location = Some(lane.places.first.location).filter(|_| lane.places.other.is_none());
            let first = First { run: run.run, accesses: lane.places.first.accesses, location };
            let known = firsts.entry(pair).or_insert(first);
            known.location = known.location.filter(|_| known.location == location);
        }
        for iteration in &run.iterations {
            let lane = lanes[iteration.lane as usize];
            self.iterations.entry(lane).or_default().push(iteration.positions);
        }
        if run.is_whole {
            for (pair, first) in firsts {
                let known = &mut self.pairs[pair as usize].first;
                if known.is_none_or(|known| first.run < known.run) {
                    *known = Some(first);
                }
            }
        }
    }

    fn number(&mut self, pattern: Pattern) -> u32 {
        *self.numbers.entry(pattern).or_insert_with(|| {
            self.pairs.push(InPassing { pattern, directions: Vec::new(), can_turn: false, first: None });
            self.pairs.len() as u32 - 1
        })
    }

    /// The number of a pair, if a passing run shows it.
    pub(super) fn known(&self, pattern: Pattern) -> Option<u32> {
        self.numbers.get(&pattern).copied()
    }

    /// The passing runs that show a pair, some of them several times.
    pub(super) fn runs_of<'a>(&'a self, pair: &'a InPassing) -> impl Iterator<Item = u32> + 'a {
        pair.directions.iter().map(|&direction| self.thread_pairs[direction as usize / 2])
    }

    /// What one procedure finds, or else the first that finds something for a failing run.
    pub fn findings(&self, only: Option<Procedure>) -> Vec<Finding> {
        let procedures = only.as_ref().map_or(&Procedure::ALL[..], slice::from_ref);
        let absence = OnceCell::new();
        let mut totals: BTreeMap<Pattern, Total> = BTreeMap::new();
        for run in &self.failing {
            for &procedure in procedures {
                let reported = match procedure {
                    Procedure::OnlyInFailing => self.only_in(run),
                    Procedure::MissingFromFailing => {
                        self.missing_from(run, absence.get_or_init(|| Absence::new(self)))
                    }
                    Procedure::NeverTogether(level) => couples::never_together(self, run, level),
                };
                if reported.is_empty() {
                    continue;
                }
                for example in reported {
                    add_to(&mut totals, example, (procedure, run.run));
                }
                break;
            }
        }
        finding::rank_by_time(
            totals.into_iter().map(|(pattern, total)| self.finding(pattern, total)).collect(),
        )
    }

    /// Procedure I (Algorithm 1 of the paper).
    fn only_in(&self, run: &Pairs) -> Vec<Reported> {
        let mut patterns = FxHashSet::default();
        let is_new = |pattern: Pattern| self.known(pattern).is_none();
        let new: Vec<_> =
            run.lanes.iter().filter(|lane| is_new(lane.pattern) && patterns.insert(lane.pattern)).collect();
        let intervals: Vec<Interval> = new.iter().map(|lane| lane.interval(lane.places.first)).collect();
        let staying = prediction::staying(&intervals).into_iter().zip(new).filter(|(stays, _)| *stays);
        staying
            .map(|(_, lane)| Reported {
                pattern: lane.pattern,
                run: run.run,
                shape: lane.pattern.shape(),
                accesses: lane.places.first.accesses.to_vec(),
            })
            .collect()
    }

    /// Procedure II.
    fn missing_from(&self, run: &Pairs, absence: &Absence) -> Vec<Reported> {
        if !run.is_whole {
            return Vec::new();
        }
        let mut present = vec![false; self.pairs.len()];
        for pair in run.lanes.iter().filter_map(|lane| self.known(lane.pattern)) {
            present[pair as usize] = true;
        }
        let missing = absence.missing(self, |pair| present[pair as usize]);
        let report = |pair: u32| {
            let InPassing { pattern, first, .. } =
                self.pairs.get(pair as usize).filter(|pair| pair.can_turn)?;
            let First { run, accesses: [head, tail], .. } = (*first)?;
            let pattern = pattern.reversed();
            Some(Reported { pattern, run, shape: pattern.shape(), accesses: vec![tail, head] })
        };
        missing.into_iter().filter_map(report).collect()
    }

    fn finding(&self, pattern: Pattern, total: Total) -> Finding {
        let Total { mut failing_runs, example_of: (procedure, _), example } = total;
        failing_runs.sort_unstable();
        let passed = self.known(pattern).map_or(0, |pair| {
            let mut runs: Vec<u32> = self.runs_of(&self.pairs[pair as usize]).collect();
            runs.sort_unstable();
            runs.dedup();
            runs.len() as u32
        });
        Finding {
            rank: 0,
            tied: 0,
            score: failing_runs.len() as f64 / self.failing.len() as f64,
            failed: failing_runs.len() as u32,
            passed,
            pattern,
            failing_runs,
            example: Example {
                run: example.run,
                id: example.shape,
                accesses: example.accesses.iter().map(|&index| index as usize).collect(),
            },
            detail: Detail::Locon(procedure),
        }
    }
}

fn add_to(totals: &mut BTreeMap<Pattern, Total>, example: Reported, example_of: (Procedure, RunId)) {
    let (pattern, run) = (example.pattern, example_of.1);
    let quality = |(procedure, run): (Procedure, RunId)| (procedure == Procedure::MissingFromFailing, run);
    match totals.get_mut(&pattern) {
        None => {
            totals.insert(pattern, Total { failing_runs: vec![run], example_of, example });
        }
        Some(total) => {
            total.failing_runs.push(run);
            if quality(example_of) < quality(total.example_of) {
                (total.example_of, total.example) = (example_of, example);
            }
        }
    }
}
