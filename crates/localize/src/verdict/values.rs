//! Interleavings that do harm at some values only.
//!
//! Two threads each see that seats are left and each take one: as long as there are plenty, nothing is wrong with it, and passing runs
//! show it as often as failing ones. It does harm where the other thread takes the last one. So a triple is also counted by what its
//! first two accesses read or wrote: nothing or something, and as which small number. What a third access finds follows from these.
//!
//! Only triples that begin with a read are: that is where a thread decides. What goes up with every write is a clock, and would tell how far the others have come.
//!
//! A pattern with some values is a hypothesis of its own, and the more values it is seen with, the less probable each of them. A value that no passing
//! run has at its place is no cause but what the failure does, as code is that no passing run comes to.

use std::cmp::Reverse;
use std::fmt;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::avio::{self, History};
use crate::dependencies::{self, State};
use crate::gathering::Gathering;
use crate::histories::Entry;
use crate::occurrences::Occurrence;
use crate::pattern::{Pattern, PatternId};
use crate::run::{AccessKind, Run, SiteId};
use crate::scan::Scan;

use super::clues::{Clue, Sighting};
use super::evidence::Seen;
use super::orders::Standing;
use super::scale::{self, Scale};

/// Longer runs are not looked at: in these, whatever can happen at one value happens at all of them.
const MOST_ACCESSES: usize = 100_000;
/// States, and counts that somebody tests, are small; greater numbers are told from zero alone.
const MOST_TOLD_APART: u64 = 15;

/// How much more (as logarithm) a triple has to weigh with some values than anything with all of them: what explains the runs without values needs none.
const MORE: f64 = 1.0;

/// What is known of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Value {
    /// Nothing.
    Any,
    /// It is not zero.
    NotZero,
    /// It is this one.
    Is(u8),
}

impl Value {
    fn roughly(value: u64) -> Self {
        if value == 0 { Self::Is(0) } else { Self::NotZero }
    }

    fn exactly(value: u64) -> Self {
        if value <= MOST_TOLD_APART { Self::Is(value as u8) } else { Self::NotZero }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Any => f.write_str("any value"),
            Self::NotZero => f.write_str("another value than 0"),
            Self::Is(value) => write!(f, "{value}"),
        }
    }
}

/// What the first two accesses of a pattern read or wrote.
pub type Values = [Value; 2];

/// All that can be said of two values, where they are known.
fn all_of(values: [Option<u64>; 2]) -> impl Iterator<Item = Values> {
    let rough = values.map(|value| value.map_or(Value::Any, Value::roughly));
    let exact = values.map(|value| value.map_or(Value::Any, Value::exactly));
    let all = [rough, exact, [exact[0], Value::Any], [Value::Any, exact[1]]];
    (0..all.len())
        .filter(move |&nth| all[nth] != [Value::Any; 2] && !all[..nth].contains(&all[nth]))
        .map(move |nth| all[nth])
}

/// The triples of a run by their values, each once and where it is complete first.
pub(super) fn valued(scan: &Scan) -> Vec<(Values, Clue)> {
    let run = scan.run;
    if run.accesses.len() > MOST_ACCESSES {
        return Vec::new();
    }
    let mut found = Gathering::new();
    each(scan, |id, accesses| {
        let indices @ [first, between, third] = accesses.map(|access| access.index);
        let values = [first, between].map(|index| run.accesses[index as usize].value);
        let pattern = Pattern::new(id, &accesses.map(|access| access.site));
        for values in all_of(values) {
            found.add((pattern, id, values), [third, between], indices);
        }
    });
    let clue = |((pattern, id, values), accesses): ((Pattern, PatternId, Values), [u32; 3])| {
        let sighting = run.outcome.is_failing().then(|| Sighting::new(scan, &Occurrence::new(id, &accesses)));
        (values, Clue { pattern, is_clue: true, sighting })
    };
    found.iter().map(clue).collect()
}

/// Tells `found` each triple that is a clue and begins with a read, as often as it is there.
fn each(scan: &Scan, mut found: impl FnMut(PatternId, [Entry; 3])) {
    let (mut state, mut history, mut entries) = (State::default(), History::default(), Vec::new());
    let mut depends: FxHashSet<[u32; 2]> = FxHashSet::default();
    for stretch in scan.histories.stretches() {
        entries.clear();
        entries.extend(stretch.iter().map(|&spot| scan.histories.entry(spot)));
        depends.clear();
        dependencies::each(&entries, &mut state, |pair| {
            depends.insert([pair.head.index, pair.tail.index]);
        });
        avio::each_triple(&entries, &mut history, |id, accesses| {
            let [first, between, third] = accesses.map(|access| access.kind.as_written());
            if first == AccessKind::Read && depends.contains(&[accesses[1].index, accesses[2].index]) {
                found(PatternId::triple(first, between, third).unwrap_or(id), accesses);
            }
        });
    }
}

/// Which values a run reads and writes where, if it is looked at.
pub(super) fn at_sites(run: &Run) -> FxHashSet<(SiteId, Value)> {
    if run.accesses.len() > MOST_ACCESSES {
        return FxHashSet::default();
    }
    let known = run.accesses.iter().filter_map(|access| Some((access.site, access.value?)));
    known.flat_map(|(site, value)| [(site, Value::roughly(value)), (site, Value::exactly(value))]).collect()
}

/// How much (as logarithm) less probable a pattern is with some values, by how many different ones it is seen with.
pub(super) type Losses = FxHashMap<Pattern, f64>;

pub(super) fn losses(valued: &FxHashMap<(Pattern, Values), Seen>) -> Losses {
    let mut losses = Losses::default();
    for (pattern, _) in valued.keys() {
        *losses.entry(*pattern).or_default() += 1.0;
    }
    losses.values_mut().for_each(|number| *number = number.ln());
    losses
}

/// Has the values of a pattern with which it explains most stand for it, if that is more than anything explains with all of them.
pub(super) fn take_in<'e>(clues: &mut Vec<scale::Clue<'e>>, scale: &Scale<'e>) {
    let evidence = scale.evidence;
    let losses = losses(&evidence.valued);
    let mut best: FxHashMap<Pattern, (f64, Values, &Seen)> = FxHashMap::default();
    for (&(pattern, values), seen) in &evidence.valued {
        if seen.example.is_none() || !are_usual(scale, &pattern, values) {
            continue;
        }
        let explained = scale.evidence_of(&seen.runs) - losses[&pattern];
        let is_better = |&(known, other, _): &(f64, Values, &Seen)| {
            explained.total_cmp(&known).then(Reverse(values).cmp(&Reverse(other))).is_gt()
        };
        if explained > 0.0 && best.get(&pattern).is_none_or(is_better) {
            best.insert(pattern, (explained, values, seen));
        }
    }
    let usual = clues.iter().filter(|clue| matches!(clue.standing, Standing::Reordered | Standing::Freed));
    let known = usual.map(|clue| clue.weight).fold(f64::NEG_INFINITY, f64::max);
    let told = best.into_iter().filter_map(|(pattern, (explained, values, seen))| {
        scale.clue_with(pattern, seen, explained, values).filter(|clue| clue.weight >= known + MORE)
    });
    let told: Vec<scale::Clue> = told.collect();
    clues.retain(|clue| told.iter().all(|valued| valued.pattern != clue.pattern));
    clues.extend(told);
}

/// Whether passing runs have these values at these places, too.
fn are_usual(scale: &Scale, pattern: &Pattern, values: Values) -> bool {
    let mut places = pattern.sites().iter().zip(values);
    places.all(|(&site, value)| value == Value::Any || scale.evidence.usual_values.contains(&(site, value)))
}

/// Says what the first two accesses of these kinds did with these values.
pub(super) fn told(kinds: [AccessKind; 2], values: Values) -> String {
    let does = |nth: usize| {
        let who = ["the first access", "the second access"][nth];
        let does = if kinds[nth].writes() { "writes" } else { "reads" };
        (values[nth] != Value::Any).then(|| format!("{who} {does} {}", values[nth]))
    };
    [does(0), does(1)].into_iter().flatten().collect::<Vec<_>>().join(" and ")
}
