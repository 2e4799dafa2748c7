//! Procedure III: two pairs on different variables that passing runs never show together (Algorithm 3 of the
//! paper).

use rustc_hash::{FxHashMap, FxHashSet};

use crate::pattern::Pattern;
use crate::run::{AccessKind, LocationId, LoopPosition, ThreadId};
use crate::shape::{Shape, Step};

use super::evidence::{Evidence, Reported};
use super::prediction::{self, Interval};
use super::presence::{Presence, Signatures};
use super::{Instance, Iteration, Lane, Level, Pairs};

/// So many couples of a failing run are looked at, those that are complete first. The paper's largest result
/// has six; where there are so many, the failing run differs from the passing ones in more than one error.
pub(super) const MOST: usize = 1000;

/// Two pairs of a failing run, between the same two threads.
struct Couple {
    pattern: Pattern,
    members: [Member; 2],
}

#[derive(Clone, Copy)]
struct Member {
    pattern: Pattern,
    threads: [ThreadId; 2],
    instance: Instance,
}

/// The couples that tell `run` from the passing ones.
pub(super) fn never_together(evidence: &Evidence, run: &Pairs, level: Level) -> Vec<Reported> {
    let couples = match level {
        Level::Site | Level::Thread => by_presence(evidence, run, level),
        Level::Loop => by_iteration(evidence, run),
    };
    let intervals: Vec<[Interval; 2]> =
        couples.iter().map(|couple| couple.members.map(|member| member.interval())).collect();
    let staying =
        prediction::staying_couples(&intervals).into_iter().zip(couples).filter(|(stays, _)| *stays);
    staying
        .map(|(_, couple)| {
            let (shape, accesses) = couple.in_time_order();
            Reported { pattern: couple.pattern, run: run.run, shape, accesses }
        })
        .collect()
}

/// At the levels of sites and of threads, where couples depend only on the runs, or the directions in which
/// threads, show their pairs.
fn by_presence(evidence: &Evidence, run: &Pairs, level: Level) -> Vec<Couple> {
    let mut signatures = Signatures::default();
    let mut signature_of = FxHashMap::default();
    let mut known: Vec<(&Lane, u32)> = Vec::new();
    for lane in &run.lanes {
        let Some(number) = evidence.known(lane.pattern) else { continue };
        let signature = *signature_of.entry(number).or_insert_with(|| {
            let pair = &evidence.pairs[number as usize];
            signatures.number(match level {
                Level::Site => Presence::new(evidence.runs_of(pair)),
                _ => Presence::new(pair.directions.iter().copied()),
            })
        });
        known.push((lane, signature));
    }
    let apart = match level {
        Level::Site => signatures.apart(Presence::clone),
        _ => signatures.apart(Presence::reversed),
    };

    let mut couples = Couples::default();
    let mut earlier: FxHashMap<(u32, [ThreadId; 2]), Vec<&Lane>> = FxHashMap::default();
    for (lane, signature) in known {
        let [head, tail] = lane.threads;
        let same_direction = (level == Level::Site).then_some([head, tail]);
        for &other_signature in &apart[signature as usize] {
            for threads in [[tail, head]].into_iter().chain(same_direction) {
                for other in earlier.get(&(other_signature, threads)).into_iter().flatten() {
                    if let Some(members) = on_different_variables(other, lane) {
                        couples.add(members);
                    }
                }
            }
        }
        if couples.by_pattern.len() >= MOST {
            break;
        }
        earlier.entry((signature, lane.threads)).or_default().push(lane);
    }
    couples.in_order()
}

/// At the level of loops: pairs in opposite directions of which, for at least one of the threads, its own two
/// accesses are in the same iteration, while no passing run has the couple like that. All other couples have
/// been judged at the level of threads.
fn by_iteration(evidence: &Evidence, run: &Pairs) -> Vec<Couple> {
    let known: Vec<Option<u32>> = run.lanes.iter().map(|lane| evidence.known(lane.pattern)).collect();
    let mut couples = Couples::default();
    // The earlier pairs, by each place of an end of theirs: by thread, place, the other thread and which end
    // it is.
    let mut earlier: FxHashMap<(ThreadId, LoopPosition, ThreadId, End), Vec<&Iteration>> =
        FxHashMap::default();
    for iteration in &run.iterations {
        let lane = &run.lanes[iteration.lane as usize];
        let Some(number) = known[iteration.lane as usize] else { continue };
        for (end, position) in [HEAD, TAIL].into_iter().zip(iteration.positions) {
            let Some(position) = position else { continue };
            let (thread, other_thread) = (lane.threads[end], lane.threads[1 - end]);
            // In opposite directions one's head and the other's tail are of one thread.
            for &other in earlier.get(&(thread, position, other_thread, 1 - end)).into_iter().flatten() {
                let other_lane = &run.lanes[other.lane as usize];
                let Some(other_number) = known[other.lane as usize] else { continue };
                let Some(same) = same_iteration(other, iteration) else { continue };
                if other.first.location != iteration.first.location
                    && !passing_run_has(evidence, [other_number, number], same)
                {
                    couples.add([other_lane.member(other.first), lane.member(iteration.first)]);
                }
            }
            earlier.entry((thread, position, other_thread, end)).or_default().push(iteration);
        }
        if couples.by_pattern.len() >= MOST {
            break;
        }
    }
    couples.in_order()
}

type End = usize;
const HEAD: End = 0;
const TAIL: End = 1;

/// For the threads of one's head and of its tail: whether the accesses of both pairs are in the same
/// iteration there. None if some are in different iterations of the same loop, which nobody means to be one
/// step.
fn same_iteration(one: &Iteration, other: &Iteration) -> Option<[bool; 2]> {
    let mut same = [false; 2];
    for end in [HEAD, TAIL] {
        if let (Some(ours), Some(theirs)) = (one.positions[end], other.positions[1 - end]) {
            same[end] = ours == theirs;
            if ours != theirs && ours.entry == theirs.entry {
                return None;
            }
        }
    }
    Some(same)
}

/// Whether a passing run has the two pairs in opposite directions, in the same iteration where `same` asks
/// for it.
fn passing_run_has(evidence: &Evidence, pairs: [u32; 2], same: [bool; 2]) -> bool {
    let [one, other] = pairs.map(|pair| &evidence.pairs[pair as usize].directions);
    let opposite: FxHashSet<u32> = other.iter().map(|direction| direction ^ 1).collect();
    one.iter().filter(|direction| opposite.contains(direction)).any(|&direction| {
        let ours = evidence.iterations.get(&(pairs[0], direction));
        let theirs = evidence.iterations.get(&(pairs[1], direction ^ 1));
        let (Some(ours), Some(theirs)) = (ours, theirs) else { return true };
        let asked = |positions: [Option<LoopPosition>; 2]| {
            [HEAD, TAIL].map(|end| if same[end] { Some(positions[end]) } else { None })
        };
        let is_unknown = |asked: &[Option<Option<LoopPosition>>; 2]| asked.contains(&Some(None));
        let theirs: FxHashSet<_> = theirs.iter().map(|&[head, tail]| asked([tail, head])).collect();
        // An unknown place may be any.
        theirs.iter().any(is_unknown)
            || ours
                .iter()
                .map(|&positions| asked(positions))
                .any(|ours| is_unknown(&ours) || theirs.contains(&ours))
    })
}

/// Couples, each once, as it is first complete.
#[derive(Default)]
struct Couples {
    by_pattern: FxHashMap<Pattern, [Member; 2]>,
}

impl Couples {
    fn add(&mut self, members: [Member; 2]) {
        let opposite = members[0].threads != members[1].threads;
        let pattern = Pattern::couple(members[0].pattern, members[1].pattern, opposite);
        let known = self.by_pattern.entry(pattern).or_insert(members);
        if order(&members) < order(known) {
            *known = members;
        }
    }

    fn in_order(self) -> Vec<Couple> {
        let mut couples: Vec<Couple> =
            self.by_pattern.into_iter().map(|(pattern, members)| Couple { pattern, members }).collect();
        couples.sort_unstable_by_key(|couple| (order(&couple.members), couple.pattern));
        couples.truncate(MOST);
        couples
    }
}

/// First comes what is complete first. The rest makes the choice definite.
fn order(members: &[Member; 2]) -> [[u32; 2]; 2] {
    let mut tails_and_heads = members.map(|member| {
        let [head, tail] = member.instance.accesses;
        [tail, head]
    });
    tails_and_heads.sort_unstable_by(|a, b| b.cmp(a));
    tails_and_heads
}

/// The occurrences of two pairs on different locations that are complete first, if there are any.
fn on_different_variables(one: &Lane, other: &Lane) -> Option<[Member; 2]> {
    let both = |one_instance: Instance, other_instance: Instance| {
        let differ = one_instance.location != other_instance.location;
        differ.then(|| [one.member(one_instance), other.member(other_instance)])
    };
    let [one_places, other_places] = [one, other].map(|lane| lane.places);
    both(one_places.first, other_places.first).or_else(|| {
        let choices =
            [(Some(one_places.first), other_places.other), (one_places.other, Some(other_places.first))];
        let members = choices.into_iter().filter_map(|(one, other)| both(one?, other?));
        members.min_by_key(order)
    })
}

impl Couple {
    /// The four accesses as they happened.
    fn in_time_order(&self) -> (Shape, Vec<u32>) {
        let mut accesses: Vec<(u32, AccessKind, ThreadId, LocationId)> = Vec::new();
        for member in &self.members {
            let kinds = member.pattern.shape().steps().map(|step| step.kind);
            for ((&index, kind), thread) in member.instance.accesses.iter().zip(kinds).zip(member.threads) {
                accesses.push((index, kind, thread, member.instance.location));
            }
        }
        accesses.sort_unstable_by_key(|&(index, ..)| index);
        let (_, _, first_thread, first_location) = accesses[0];
        let steps: Vec<Step> = accesses
            .iter()
            .map(|&(_, kind, thread, location)| Step {
                kind,
                thread: if thread == first_thread { 1 } else { 2 },
                variable: if location == first_location { 'x' } else { 'y' },
            })
            .collect();
        (Shape::new(&steps), accesses.into_iter().map(|(index, ..)| index).collect())
    }
}

impl Member {
    fn interval(&self) -> Interval {
        Interval { threads: self.threads, accesses: self.instance.accesses }
    }
}

impl Lane {
    fn member(&self, instance: Instance) -> Member {
        Member { pattern: self.pattern, threads: self.threads, instance }
    }

    pub(super) fn interval(&self, instance: Instance) -> Interval {
        self.member(instance).interval()
    }
}
