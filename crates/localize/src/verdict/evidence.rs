//! In which runs clues are seen.

use std::collections::BTreeMap;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::finding::Finding;
use crate::locon;
use crate::pattern::Pattern;
use crate::run::{Calls, RunId, SiteId};
use crate::standstill::{self, Standstill};
use crate::suspiciousness::Spectrum;

use super::causes;
use super::clues::{Clue, Clues, Sighting};
use super::orders::Orders;
use super::tuning::Tuning;
use super::unfinished::Reach;
use super::values::{Value, Values};

/// In so many failing runs it is known when a clue has made its difference: enough to tell what most of them do.
const MOST_FELT: usize = 15;

/// What is known of all runs: of each clue the runs that show it, as bits, and where the first failing run does.
#[derive(Clone, Debug)]
pub(crate) struct Evidence {
    /// In the order in which they came.
    pub(super) runs: Vec<KnownRun>,
    pub(super) clues: FxHashMap<Pattern, Seen>,
    /// The same of reads that another thread's write follows, with what the reader saw of that thread before.
    pub(super) crossings: FxHashMap<Pattern, Seen>,
    /// The same of triples by what their first two accesses read or wrote.
    pub(super) valued: FxHashMap<(Pattern, Values), Seen>,
    /// What passing runs read and write where.
    pub(super) usual_values: FxHashSet<(SiteId, Value)>,
    /// What passing runs show.
    pub(super) orders: Orders,
    /// How far runs came.
    pub(super) reaches: FxHashMap<RunId, Arc<Reach>>,
    /// Where all passing runs access what threads share; nothing as long as there are none.
    pub(super) visited_by_all: Option<FxHashSet<SiteId>>,
    /// Which sites belong to the same calls.
    pub(super) calls: Arc<Calls>,
    /// Where some run frees memory. The recorder does not say so of a free that is its location's first access.
    pub(super) free_sites: FxHashSet<SiteId>,
    pub(super) pairs: locon::Evidence,
    pub(super) standstills: BTreeMap<standstill::Identity, StoodStill>,
    /// How probable it is that passing runs make some accesses and none of them shows it.
    pub(super) overlooked: f64,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct KnownRun {
    pub id: RunId,
    pub is_failing: bool,
    /// How it was scheduled.
    pub way: u32,
}

/// The runs with one standstill.
#[derive(Clone, Debug)]
pub(super) struct StoodStill {
    pub failing_runs: Vec<RunId>,
    pub passing_runs: Vec<RunId>,
    /// In the first failing run that has it, else in the first passing one.
    pub example: (IsPassing, RunId, Standstill),
}

type IsPassing = bool;

/// The runs that show one clue.
#[derive(Clone, Debug, Default)]
pub(super) struct Seen {
    /// A bit for each run, in the order in which they came; what is missing at the end is zero.
    pub runs: Vec<u64>,
    pub failed: u32,
    pub passed: u32,
    /// Whether it may be a cause by itself.
    pub is_clue: bool,
    /// In the first failing run that shows it.
    pub example: Option<(RunId, Sighting)>,
    /// When it has made its difference, in the first failing runs that show it.
    pub felt: Vec<(RunId, u32)>,
}

impl Seen {
    /// One more run shows it, the one with this number.
    fn add(&mut self, number: usize, run: RunId, clue: &Clue) {
        self.runs.resize(number / 64 + 1, 0);
        self.runs[number / 64] |= 1 << (number % 64);
        self.is_clue |= clue.is_clue;
        let Some(sighting) = clue.sighting else {
            self.passed += 1;
            return;
        };
        self.failed += 1;
        if self.example.is_none_or(|(known, _)| run < known) {
            self.example = Some((run, sighting));
        }
        let at = self.felt.partition_point(|&(known, _)| known < run);
        if at < MOST_FELT {
            self.felt.truncate(MOST_FELT - 1);
            self.felt.insert(at, (run, sighting.felt()));
        }
    }
}

impl Default for Evidence {
    fn default() -> Self {
        let (runs, clues, crossings, valued, usual_values, orders, reaches) = Default::default();
        let (visited_by_all, calls, free_sites, pairs, standstills) = Default::default();
        Self {
            runs,
            clues,
            crossings,
            valued,
            usual_values,
            orders,
            reaches,
            visited_by_all,
            calls,
            free_sites,
            pairs,
            standstills,
            overlooked: 1.0,
        }
    }
}

impl Evidence {
    /// Adds the clues of one more run.
    pub fn add(&mut self, clues: &Clues) {
        let number = self.runs.len();
        let is_failing = clues.outcome.is_failing();
        self.orders.extend(&clues.orders);
        self.reaches.insert(clues.run, Arc::clone(&clues.reach));
        // A failing run may have ended before it came everywhere.
        match &mut self.visited_by_all {
            _ if is_failing => {}
            Some(all) => all.retain(|site| clues.orders.visits(*site)),
            None => self.visited_by_all = Some(clues.orders.visited().collect()),
        }
        if self.calls.len() < clues.calls.len() {
            self.calls = Arc::clone(&clues.calls);
        }
        self.free_sites.extend(&clues.free_sites);
        self.pairs.add(&clues.pairs);
        for standstill in &clues.standstills {
            self.add_standstill(clues.run, is_failing, standstill);
        }
        self.runs.push(KnownRun { id: clues.run, is_failing, way: clues.way });
        if !is_failing {
            self.overlooked *= clues.overlooked;
        }
        for clue in &clues.seen {
            self.clues.entry(clue.pattern).or_default().add(number, clues.run, clue);
        }
        for clue in &clues.crossings {
            self.crossings.entry(clue.pattern).or_default().add(number, clues.run, clue);
        }
        for (values, clue) in &clues.valued {
            self.valued.entry((clue.pattern, *values)).or_default().add(number, clues.run, clue);
        }
        self.usual_values.extend(&clues.usual_values);
    }

    /// What would be known if runs like these had been made so many times.
    pub fn repeated(&self, times: u32) -> Self {
        let runs = self.runs.len();
        let stride = self.runs.iter().map(|run| run.id.0 + 1).max().unwrap_or(0);
        let copy_of = |id: RunId, copy: u32| RunId(id.0.saturating_add(copy * stride));
        let mut repeated = self.clone();
        repeated.runs.clear();
        repeated.overlooked = self.overlooked.powi(times as i32);
        for copy in 0..times {
            let runs = self.runs.iter().map(|run| KnownRun { id: copy_of(run.id, copy), ..*run });
            repeated.runs.extend(runs);
            let reaches = self.reaches.iter().map(|(id, reach)| (copy_of(*id, copy), Arc::clone(reach)));
            repeated.reaches.extend(reaches);
        }
        let known = repeated.clues.values_mut().chain(repeated.crossings.values_mut());
        for seen in known.chain(repeated.valued.values_mut()) {
            let shows =
                |number: usize| seen.runs.get(number / 64).is_some_and(|word| word >> (number % 64) & 1 == 1);
            let mut bits = vec![0u64; (runs * times as usize).div_ceil(64)];
            for number in (0..runs).filter(|&number| shows(number)) {
                for copy in 0..times as usize {
                    let number = copy * runs + number;
                    bits[number / 64] |= 1 << (number % 64);
                }
            }
            (seen.runs, seen.failed, seen.passed) = (bits, seen.failed * times, seen.passed * times);
        }
        for stood in repeated.standstills.values_mut() {
            let copies = |run: &RunId| (0..times).map(|copy| copy_of(*run, copy)).collect::<Vec<_>>();
            stood.failing_runs = stood.failing_runs.iter().flat_map(copies).collect();
            stood.passing_runs = stood.passing_runs.iter().flat_map(copies).collect();
        }
        repeated
    }

    fn add_standstill(&mut self, run: RunId, is_failing: bool, standstill: &Standstill) {
        let stood = self.standstills.entry(standstill.identity()).or_insert_with(|| StoodStill {
            failing_runs: Vec::new(),
            passing_runs: Vec::new(),
            example: (!is_failing, run, standstill.clone()),
        });
        // Several threads of one run may stand still alike.
        let runs = if is_failing { &mut stood.failing_runs } else { &mut stood.passing_runs };
        if !runs.contains(&run) {
            runs.push(run);
        }
        if (!is_failing, run) < (stood.example.0, stood.example.1) {
            stood.example = (!is_failing, run, standstill.clone());
        }
    }

    pub(super) fn spectrum(&self, seen: &Seen) -> Spectrum {
        let all_failed = self.runs.iter().filter(|run| run.is_failing).count() as u32;
        let all_passed = self.runs.len() as u32 - all_failed;
        Spectrum { failed: seen.failed, passed: seen.passed, all_failed, all_passed }
    }

    /// Failing and passing runs among some, which are given as bits.
    pub(super) fn outcomes(&self, runs: &[u64]) -> [u32; 2] {
        let is_in = |number: usize| runs.get(number / 64).is_some_and(|word| word >> (number % 64) & 1 == 1);
        let members = || self.runs.iter().enumerate().filter(|(number, _)| is_in(*number));
        let failed = members().filter(|(_, run)| run.is_failing).count();
        [failed as u32, (members().count() - failed) as u32]
    }

    /// A bit for each of these runs.
    pub(super) fn bits_of(&self, runs: &[RunId]) -> Vec<u64> {
        let mut bits = vec![0u64; self.runs.len().div_ceil(64)];
        for (number, _) in self.runs.iter().enumerate().filter(|(_, run)| runs.contains(&run.id)) {
            bits[number / 64] |= 1 << (number % 64);
        }
        bits
    }

    /// The failing runs that show a clue, ascending.
    pub(super) fn failing_runs(&self, seen: &Seen) -> Vec<RunId> {
        let shows =
            |number: usize| seen.runs.get(number / 64).is_some_and(|word| word >> (number % 64) & 1 == 1);
        let failing = self.runs.iter().enumerate().filter(|&(number, run)| run.is_failing && shows(number));
        let mut failing: Vec<RunId> = failing.map(|(_, run)| run.id).collect();
        failing.sort_unstable();
        failing
    }

    /// The causes, the most probable first.
    pub fn findings(&self, tuning: &Tuning) -> Vec<Finding> {
        causes::findings(self, tuning)
    }
}
