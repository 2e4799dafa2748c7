//! Algorithm 4: patterns that are reached by the same calls, or are part of one another, are one cause.

use super::Clustering;
use super::graph::{self, BugGraph};
use super::runs::RunGroup;
use crate::run::{AccessKind, RunId, SiteId};

/// One access of a pattern, with the calls that led to it. `F` names functions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call<F> {
    /// The role of its thread within the pattern: 1 or 2.
    pub thread: u8,
    /// Where it is.
    pub site: SiteId,
    /// What it does.
    pub kind: AccessKind,
    /// The functions on the call stack, outermost first.
    pub functions: Vec<F>,
}

/// A cause: patterns that belong together.
#[derive(Clone, Debug, PartialEq)]
pub struct Cause<F> {
    /// Indices of the patterns in the ranked list, the best first.
    pub patterns: Vec<usize>,
    /// The failing runs that fail for this reason.
    pub runs: Vec<RunId>,
    /// What each of the two threads does; the first is that of the first access in time.
    pub sides: [Side<F>; 2],
    /// All accesses of all patterns, in one picture.
    pub graph: BugGraph,
}

/// One thread of a cause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Side<F> {
    /// The functions from the thread's outermost one to the innermost that encloses all its accesses.
    pub functions: Vec<F>,
}

impl<F> Side<F> {
    /// The innermost function that all its accesses share.
    pub fn suspicious_function(&self) -> Option<&F> {
        self.functions.last()
    }
}

/// Clusters the patterns of a group of failing runs. `calls` gives the accesses of a pattern in time order; those with
/// other than two threads are left out. The cause with the most suspicious pattern comes first.
pub fn causes<F: Clone + Eq>(
    group: &RunGroup,
    calls: impl Fn(usize) -> Vec<Call<F>>,
    clustering: &Clustering,
) -> Vec<Cause<F>> {
    let top = group.patterns.iter().take(clustering.cause_patterns).enumerate();
    let mut clusters: Vec<Cluster<F>> =
        top.filter_map(|(place, &index)| Cluster::of(place, index, calls(index))).collect();
    while merge_one(&mut clusters) {}
    clusters.sort_by_key(|cluster| cluster.members[0].place);
    clusters.into_iter().map(|cluster| cluster.into_cause(group)).collect()
}

/// Merges two clusters, if two can be.
fn merge_one<F: Clone + Eq>(clusters: &mut Vec<Cluster<F>>) -> bool {
    for at in 0..clusters.len() {
        for other in at + 1..clusters.len() {
            if let Some(swapped) = clusters[at].fits(&clusters[other]) {
                let absorbed = clusters.remove(other);
                clusters[at].absorb(absorbed, swapped);
                return true;
            }
        }
    }
    false
}

struct Cluster<F> {
    members: Vec<Member<F>>,
    /// The common call stack of each side.
    common: [Vec<F>; 2],
}

/// A pattern of a cluster. Its thread 1 is on the cluster's side 0, unless it is swapped.
struct Member<F> {
    /// Its place among the group's patterns, the best first.
    place: usize,
    index: usize,
    calls: Vec<Call<F>>,
    swapped: bool,
}

impl<F> Member<F> {
    fn side(&self, call: &Call<F>) -> usize {
        usize::from((call.thread == 2) != self.swapped)
    }
}

impl<F: Clone + Eq> Cluster<F> {
    fn of(place: usize, index: usize, calls: Vec<Call<F>>) -> Option<Self> {
        let common = [1, 2].map(|thread| {
            let own = calls.iter().filter(|call| call.thread == thread);
            own.map(|call| call.functions.clone()).reduce(|one, other| common_start(&one, &other))
        });
        let [Some(first), Some(second)] = common else { return None };
        let member = Member { place, index, calls, swapped: false };
        Some(Self { members: vec![member], common: [first, second] })
    }

    /// `isMergeable`: whether the other cluster belongs to this one, and if so, whether with its sides swapped.
    fn fits(&self, other: &Self) -> Option<bool> {
        let [first, second] = &other.common;
        if self.common == [first.clone(), second.clone()] {
            return Some(false);
        }
        if self.common == [second.clone(), first.clone()] {
            return Some(true);
        }
        other
            .only_pair()
            .and_then(|pair| self.part(pair))
            .or_else(|| self.only_pair().and_then(|pair| other.part(pair)))
    }

    /// The pattern of this cluster, if it is a single pair.
    fn only_pair(&self) -> Option<&Member<F>> {
        match self.members.as_slice() {
            [only] if only.calls.len() == 2 => Some(only),
            _ => None,
        }
    }

    /// Whether a pair is part of a larger pattern here, and if so, whether with its threads swapped.
    fn part(&self, pair: &Member<F>) -> Option<bool> {
        let [first, second] = pair.calls.as_slice() else { return None };
        let larger = self.members.iter().filter(|member| member.calls.len() > 2);
        larger.into_iter().find_map(|member| {
            let is = |call: &Call<F>, wanted: &Call<F>| call.site == wanted.site && call.kind == wanted.kind;
            let from = member.calls.iter().position(|call| is(call, first))?;
            let to = member.calls[from..].iter().find(|call| is(call, second))?;
            let from = &member.calls[from];
            (from.thread != to.thread).then(|| member.side(from) != pair.side(first))
        })
    }

    fn absorb(&mut self, other: Self, swapped: bool) {
        let [first, second] = other.common;
        let aligned = if swapped { [second, first] } else { [first, second] };
        for (common, other) in self.common.iter_mut().zip(&aligned) {
            *common = common_start(common, other);
        }
        self.members.extend(
            other.members.into_iter().map(|member| Member { swapped: member.swapped != swapped, ..member }),
        );
        self.members.sort_by_key(|member| member.place);
    }

    fn into_cause(self, group: &RunGroup) -> Cause<F> {
        // The most suspicious pattern's first access begins the story.
        let begins = self.members[0].side(&self.members[0].calls[0]);
        let [first, second] = self.common.map(|functions| Side { functions });
        let sides = if begins == 0 { [first, second] } else { [second, first] };
        let orders = self.members.iter().map(|member| {
            let access = |call: &Call<F>| graph::Access {
                side: member.side(call) ^ begins,
                site: call.site,
                kind: call.kind,
            };
            member.calls.iter().map(access).collect::<Vec<_>>()
        });
        Cause {
            graph: BugGraph::of(&orders.collect::<Vec<_>>()),
            patterns: self.members.iter().map(|member| member.index).collect(),
            runs: group.runs.clone(),
            sides,
        }
    }
}

fn common_start<F: Clone + Eq>(one: &[F], other: &[F]) -> Vec<F> {
    let pairs = one.iter().zip(other);
    pairs.take_while(|(one, other)| one == other).map(|(function, _)| function.clone()).collect()
}
