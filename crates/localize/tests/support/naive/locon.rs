//! Locon once more: every pair of every run is compared with every other.

use std::collections::{BTreeMap, BTreeSet};

use localize::*;

use super::{Event, dependencies};

/// A pair as it occurs in a run.
#[derive(Clone, Debug)]
struct Pair {
    /// Kinds and sites.
    class: String,
    reversed: String,
    threads: [ThreadId; 2],
    location: LocationId,
    accesses: [usize; 2],
    positions: [Option<LoopPosition>; 2],
}

/// What is expected of a finding.
#[derive(Debug, PartialEq)]
pub struct Expected {
    pub failing_runs: Vec<RunId>,
    pub procedure: Procedure,
    pub example_run: RunId,
    pub example: Vec<usize>,
}

struct Reported {
    identity: String,
    run: RunId,
    accesses: Vec<usize>,
}

fn pair([head, tail]: [Event; 2]) -> Pair {
    let name = |event: Event| format!("{}@{}", event.kind, event.access.site.0);
    Pair {
        class: name(head) + "->" + &name(tail),
        reversed: name(tail) + "->" + &name(head),
        threads: [head.access.thread, tail.access.thread],
        location: head.access.location,
        accesses: [head.index, tail.index],
        positions: [head.access.iteration, tail.access.iteration],
    }
}

fn pairs(run: &Run) -> Vec<Pair> {
    dependencies::immediate_pairs(run).into_iter().map(pair).collect()
}

/// What Locon must find, with one procedure or with all in their order; `runs` are in the order of their ids.
pub fn expected(runs: &[Run], procedures: &[Procedure]) -> BTreeMap<String, Expected> {
    let passing: Vec<&Run> = runs.iter().filter(|run| !run.outcome.is_failing()).collect();
    let mut all: BTreeMap<String, Expected> = BTreeMap::new();
    for run in runs.iter().filter(|run| run.outcome.is_failing()) {
        let by_all = procedures.iter().map(|&procedure| (procedure, apply(procedure, run, &passing)));
        let Some((procedure, reported)) = by_all.into_iter().find(|(_, reported)| !reported.is_empty())
        else {
            continue;
        };
        for reported in reported {
            let known = all.entry(reported.identity).or_insert_with(|| Expected {
                failing_runs: Vec::new(),
                procedure,
                example_run: reported.run,
                example: reported.accesses.clone(),
            });
            known.failing_runs.push(run.id);
            // A pair that occurs makes a better example than a missing one.
            if known.procedure == Procedure::MissingFromFailing && procedure != known.procedure {
                (known.procedure, known.example_run, known.example) =
                    (procedure, reported.run, reported.accesses);
            }
        }
    }
    all
}

/// The identity of a finding.
pub fn identity_of(finding: &Finding, runs: &[Run]) -> String {
    let events = super::events_of(finding, runs);
    let find = |location: LocationId| {
        let of: Vec<Event> =
            events.iter().copied().filter(|event| event.access.location == location).collect();
        pair([of[0], of[1]])
    };
    let locations: BTreeSet<LocationId> = events.iter().map(|event| event.access.location).collect();
    let pairs: Vec<Pair> = locations.into_iter().map(find).collect();
    match &pairs[..] {
        [one] => one.class.clone(),
        [one, other] => couple(one, other),
        _ => panic!("a finding of {} variables", pairs.len()),
    }
}

fn couple(one: &Pair, other: &Pair) -> String {
    let classes = [&one.class, &other.class];
    let direction = if one.threads == other.threads { "along" } else { "across" };
    format!("{} & {} {direction}", classes.iter().min().unwrap(), classes.iter().max().unwrap())
}

fn apply(procedure: Procedure, run: &Run, passing: &[&Run]) -> Vec<Reported> {
    match procedure {
        Procedure::OnlyInFailing => only_in(run, passing),
        Procedure::MissingFromFailing => missing_from(run, passing),
        Procedure::NeverTogether(level) => never_together(run, passing, level),
    }
}

fn classes(run: &Run) -> BTreeSet<String> {
    pairs(run).into_iter().map(|pair| pair.class).collect()
}

/// Whether `inner` lies within `outer`, so that `outer` can be predicted by it.
fn encloses(outer: &Pair, inner: &Pair) -> bool {
    outer.threads == inner.threads
        && outer.accesses != inner.accesses
        && outer.accesses[0] <= inner.accesses[0]
        && inner.accesses[1] <= outer.accesses[1]
}

fn only_in(run: &Run, passing: &[&Run]) -> Vec<Reported> {
    let known: BTreeSet<String> = passing.iter().flat_map(|run| classes(run)).collect();
    let mut new: Vec<Pair> = Vec::new();
    for pair in pairs(run) {
        if !known.contains(&pair.class) && new.iter().all(|other| other.class != pair.class) {
            new.push(pair);
        }
    }
    let stays = |pair: &&Pair| !new.iter().any(|other| encloses(other, pair));
    let report = |pair: &Pair| Reported {
        identity: pair.class.clone(),
        run: run.id,
        accesses: pair.accesses.to_vec(),
    };
    new.iter().filter(stays).map(report).collect()
}

fn missing_from(run: &Run, passing: &[&Run]) -> Vec<Reported> {
    let whole: Vec<&Run> = passing.iter().copied().filter(|run| run.gaps.is_empty()).collect();
    if !run.gaps.is_empty() || whole.is_empty() {
        return Vec::new();
    }
    let in_failing = classes(run);
    let all: BTreeSet<String> = whole.iter().flat_map(|run| classes(run)).collect();
    let presence =
        |class: &String| whole.iter().map(|run| classes(run).contains(class)).collect::<Vec<bool>>();
    let first = |class: &String| *whole.iter().find(|run| classes(run).contains(class)).unwrap();
    let locations = |class: &String| -> BTreeSet<LocationId> {
        pairs(first(class)).iter().filter(|pair| pair.class == *class).map(|pair| pair.location).collect()
    };
    let mut reported = Vec::new();
    for class in all.difference(&in_failing) {
        let expected_anyway = presence(class).iter().all(|&shows| shows);
        let expected_with_another = all.intersection(&in_failing).any(|other| {
            let apart = locations(class).iter().any(|one| locations(other).iter().any(|two| one != two));
            presence(other) == presence(class) && apart
        });
        if expected_anyway || expected_with_another {
            let run = first(class);
            let original = pairs(run).into_iter().find(|pair| pair.class == *class).unwrap();
            let [head, tail] = original.accesses;
            reported.push(Reported { identity: original.reversed, run: run.id, accesses: vec![tail, head] });
        }
    }
    reported
}

/// Whether two pairs of one run are together at a level. At the level of loops, `same` says for the threads
/// of one's head and tail whether both pairs must be in the same iteration there; what is not known may be.
fn are_together(one: &Pair, other: &Pair, level: Level, same: [bool; 2]) -> bool {
    let opposite = one.threads == [other.threads[1], other.threads[0]];
    let in_iteration = |end: usize| match (one.positions[end], other.positions[1 - end]) {
        (Some(ours), Some(theirs)) => ours == theirs,
        _ => true,
    };
    match level {
        Level::Site => true,
        Level::Thread => opposite,
        Level::Loop => opposite && (0..2).all(|end| !same[end] || in_iteration(end)),
    }
}

fn never_together(run: &Run, passing: &[&Run], level: Level) -> Vec<Reported> {
    let known: BTreeSet<String> = passing.iter().flat_map(|run| classes(run)).collect();
    let own: Vec<Pair> = pairs(run).into_iter().filter(|pair| known.contains(&pair.class)).collect();
    // Pairs of one class and two threads, in the order of their first occurrence.
    let mut lanes: Vec<Vec<&Pair>> = Vec::new();
    for pair in &own {
        match lanes.iter_mut().find(|lane| lane[0].class == pair.class && lane[0].threads == pair.threads) {
            Some(lane) => lane.push(pair),
            None => lanes.push(vec![pair]),
        }
    }
    let mut best: BTreeMap<String, [&Pair; 2]> = BTreeMap::new();
    for (nth, later) in lanes.iter().enumerate() {
        for earlier in &lanes[..nth] {
            for &one in earlier {
                for &other in later {
                    let same_threads =
                        one.threads == other.threads || one.threads == [other.threads[1], other.threads[0]];
                    if !same_threads || one.location == other.location {
                        continue;
                    }
                    let Some(same) = relation(one, other, level) else { continue };
                    let together = passing.iter().any(|run| {
                        let pairs = pairs(run);
                        pairs.iter().filter(|pair| pair.class == one.class).any(|ours| {
                            let mut theirs = pairs.iter().filter(|pair| pair.class == other.class);
                            theirs.any(|theirs| are_together(ours, theirs, level, same))
                        })
                    });
                    if !together {
                        let known = best.entry(couple(one, other)).or_insert([one, other]);
                        if order([one, other]) < order(*known) {
                            *known = [one, other];
                        }
                    }
                }
            }
        }
    }
    let mut couples: Vec<[&Pair; 2]> = best.into_values().collect();
    couples.sort_by_key(|&pairs| order(pairs));
    let report = |pairs: [&Pair; 2]| {
        let mut accesses: Vec<usize> = pairs.iter().flat_map(|pair| pair.accesses).collect();
        accesses.sort_unstable();
        Reported { identity: couple(pairs[0], pairs[1]), run: run.id, accesses }
    };
    filter(couples).into_iter().map(report).collect()
}

/// In the failing run: whether the pairs are together, and where in the same iteration.
fn relation(one: &Pair, other: &Pair, level: Level) -> Option<[bool; 2]> {
    if level == Level::Site {
        return Some([false; 2]);
    }
    if one.threads == other.threads {
        return None;
    }
    if level == Level::Thread {
        return Some([false; 2]);
    }
    let both = [0, 1].map(|end| one.positions[end].zip(other.positions[1 - end]));
    let same = both.map(|both| both.is_some_and(|(ours, theirs)| ours == theirs));
    let differs = both.iter().flatten().any(|(ours, theirs)| ours != theirs && ours.entry == theirs.entry);
    (same.contains(&true) && !differs).then_some(same)
}

/// The later pair and then the earlier one: tail, head.
fn order(pairs: [&Pair; 2]) -> [[usize; 2]; 2] {
    let [a, b] = pairs.map(|pair| [pair.accesses[1], pair.accesses[0]]);
    [a.max(b), a.min(b)]
}

/// Algorithm 3's last step, over couples in their order.
fn filter(mut couples: Vec<[&Pair; 2]>) -> Vec<[&Pair; 2]> {
    let predicted = |one: [&Pair; 2], by: [&Pair; 2]| {
        one.iter().any(|outer| by.iter().any(|inner| encloses(outer, inner)))
    };
    let mut earlier = 0;
    'couples: while earlier < couples.len() {
        let mut later = earlier + 1;
        while later < couples.len() {
            if predicted(couples[earlier], couples[later]) {
                couples.remove(later);
            } else if predicted(couples[later], couples[earlier]) {
                couples.remove(earlier);
                continue 'couples;
            } else {
                later += 1;
            }
        }
        earlier += 1;
    }
    couples
}
