//! Every technique once more, straight from its definition: slow, and as plain as can be. Nothing is shared
//! with the crate but the model of a run.

pub mod communication;
pub mod dependencies;
pub mod griffin;
pub mod locon;
pub mod windows;

use std::collections::{BTreeMap, BTreeSet};

use localize::*;
use windows::Readers;

/// A read or a write. An update is one of each, at one index.
#[derive(Clone, Copy, PartialEq)]
pub struct Event {
    pub index: usize,
    pub kind: char,
    pub access: Access,
}

/// Something that a run shows.
pub struct Shown {
    /// The same in every run that shows it.
    pub identity: String,
    pub shape: String,
    pub accesses: Vec<usize>,
}

/// What is expected of a finding.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Expected {
    pub failing_runs: Vec<RunId>,
    pub passed: u32,
    pub example_run: Option<RunId>,
    pub example_id: String,
    pub example: Vec<usize>,
}

/// What a technique must find in `runs`, which are in the order of their ids, by its identity. Not for Locon,
/// which does not judge each run by itself.
pub fn expected(technique: Technique, runs: &[Run], options: &Options) -> BTreeMap<String, Expected> {
    let mut all: BTreeMap<String, Expected> = BTreeMap::new();
    for failing in [true, false] {
        for run in runs.iter().filter(|run| run.outcome.is_failing() == failing) {
            let mut counted = BTreeSet::new();
            for shown in shown(technique, run, options) {
                let found = all.entry(shown.identity.clone()).or_default();
                if !counted.insert(shown.identity) {
                    continue;
                }
                if failing {
                    found.failing_runs.push(run.id);
                } else {
                    found.passed += 1;
                }
                if found.example_run.is_none() {
                    found.example_run = Some(run.id);
                    found.example_id = shown.shape;
                    found.example = shown.accesses;
                }
            }
        }
    }
    all.retain(|_, found| match technique {
        Technique::Avio | Technique::Defuse | Technique::Pset => found.passed == 0,
        Technique::Bugaboo | Technique::Recon => !found.failing_runs.is_empty(),
        _ => true,
    });
    all
}

/// All that a run shows, first what serves as the example.
fn shown(technique: Technique, run: &Run, options: &Options) -> Vec<Shown> {
    let patterns = |events: Vec<Vec<Event>>| events.iter().map(|events| Shown::pattern(events)).collect();
    match technique {
        Technique::Falcon => patterns(windows::falcon(run, options, Readers::OncePerWrite)),
        Technique::Unicorn | Technique::Griffin => patterns(windows::unicorn(run, options)),
        Technique::Avio => patterns(avio(run)),
        Technique::Defuse => patterns(dependencies::defuse(run)),
        Technique::Pset => patterns(dependencies::pset(run)),
        Technique::Bugaboo => communication::edges(run).iter().map(|edge| edge.shown(run)).collect(),
        Technique::Recon => communication::edges(run).iter().rev().map(|edge| edge.shown(run)).collect(),
        Technique::Cci => cci(run),
        Technique::Locon => unreachable!("see naive::locon"),
        Technique::Verdict => unreachable!("made of what the others see"),
    }
}

impl Shown {
    fn pattern(events: &[Event]) -> Self {
        Self {
            identity: windows::identity(events),
            shape: windows::row(events).expect("only patterns are shown"),
            accesses: events.iter().map(|event| event.index).collect(),
        }
    }
}

/// The identity of a finding, by its example and what is said besides.
pub fn identity_of(finding: &Finding, runs: &[Run]) -> String {
    let events = events_of(finding, runs);
    match &finding.detail {
        Detail::Accesses | Detail::Locon(_) | Detail::Verdict(_) => windows::identity(&events),
        Detail::Previous(previous) => predicate(finding.pattern.sites()[0], *previous),
        Detail::Communication(contexts) => communication::identity(&events, contexts),
        Detail::Reconstruction(around) => {
            communication::identity(&events, &[around.source.context, around.sink.context])
        }
    }
}

/// The accesses of the example.
pub fn events_of(finding: &Finding, runs: &[Run]) -> Vec<Event> {
    let run = runs.iter().find(|run| run.id == finding.example.run).unwrap();
    let steps = finding.example.id.steps();
    let event = |(&index, step): (&usize, Step)| {
        let kind = if step.kind == AccessKind::Read { 'R' } else { 'W' };
        Event { index, kind, access: run.accesses[index] }
    };
    finding.example.accesses.iter().zip(steps).map(event).collect()
}

/// Whether something is unknown about a location between two accesses to it.
pub fn gap_between(run: &Run, earlier: usize, later: usize) -> bool {
    let location = run.accesses[earlier].location;
    run.gaps.iter().any(|gap| gap.location == location && earlier < gap.before && gap.before <= later)
}

/// Unserializable triples of a thread's successive events and one in between, in the order of the last event.
fn avio(run: &Run) -> Vec<Vec<Event>> {
    let all: Vec<Event> = (0..run.accesses.len()).flat_map(|index| windows::events_at(run, index)).collect();
    let mut shown = Vec::new();
    for (nth, last) in all.iter().enumerate() {
        let before = all[..nth].iter().enumerate();
        let mut before = before.filter(|(_, event)| event.access.location == last.access.location);
        let Some((first_nth, first)) = before.rfind(|(_, event)| event.access.thread == last.access.thread)
        else {
            continue;
        };
        if gap_between(run, first.index, last.index) {
            continue;
        }
        for middle in
            all[first_nth + 1..nth].iter().filter(|event| event.access.location == last.access.location)
        {
            let kinds: String = [first, middle, last].map(|event| event.kind).iter().collect();
            if ["RWR", "WWR", "WRW", "RWW"].contains(&kinds.as_str()) {
                shown.push(vec![*first, *middle, *last]);
            }
        }
    }
    shown
}

fn cci(run: &Run) -> Vec<Shown> {
    let mut shown = Vec::new();
    for (index, access) in run.accesses.iter().enumerate() {
        let Some(previous) = (0..index).rfind(|&nth| run.accesses[nth].location == access.location) else {
            continue;
        };
        if gap_between(run, previous, index) {
            continue;
        }
        let is_local = run.accesses[previous].thread == access.thread;
        let previous = if is_local { Previous::Local } else { Previous::Remote };
        shown.push(predicate_at(access.site, previous, Some((index, access.kind))));
    }
    // What the recorder knows beyond what it has recorded.
    for seen in &run.observations {
        let first = run.accesses.iter().position(|access| access.site == seen.site);
        let at = first.map(|index| (index, run.accesses[index].kind));
        for (holds, previous) in [(seen.local, Previous::Local), (seen.remote, Previous::Remote)] {
            if holds {
                shown.push(predicate_at(seen.site, previous, at));
            }
        }
    }
    shown
}

fn predicate_at(site: SiteId, previous: Previous, at: Option<(usize, AccessKind)>) -> Shown {
    let is_write = at.is_some_and(|(_, kind)| kind != AccessKind::Read);
    Shown {
        identity: predicate(site, previous),
        shape: if is_write { "W1x" } else { "R1x" }.to_owned(),
        accesses: at.into_iter().map(|(index, _)| index).collect(),
    }
}

fn predicate(site: SiteId, previous: Previous) -> String {
    format!("{site:?} {previous}")
}
