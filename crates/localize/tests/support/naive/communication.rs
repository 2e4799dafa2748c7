//! Bugaboo and Recon once more. Contexts are texts, worked out anew for each access from all accesses before
//! it.

use std::collections::{BTreeMap, BTreeSet};

use localize::*;

use super::{Event, Shown, gap_between, windows};

/// Data passed from a write to an access by another thread.
pub struct Edge {
    ends: [usize; 2],
    contexts: [String; 2],
}

/// Who has to do with the data that an access finds in its location.
struct Found {
    writer: Option<usize>,
    readers: BTreeSet<ThreadId>,
}

fn found(run: &Run, index: usize) -> Found {
    let accesses = &run.accesses;
    let location = accesses[index].location;
    let earlier =
        (0..index).filter(|&nth| accesses[nth].location == location && !gap_between(run, nth, index));
    let earlier: Vec<usize> = earlier.collect();
    let writer = earlier.iter().copied().rfind(|&nth| accesses[nth].kind != AccessKind::Read);
    let since = earlier.into_iter().filter(|&nth| writer.is_none_or(|writer| nth > writer));
    let readers = since.map(|nth| accesses[nth].thread);
    let readers = readers.filter(|&thread| writer.is_none_or(|writer| accesses[writer].thread != thread));
    Found { writer, readers: readers.collect() }
}

/// What an access is to which thread.
fn events(run: &Run, index: usize) -> Vec<(ThreadId, &'static str)> {
    let access = run.accesses[index];
    let Found { writer, readers } = found(run, index);
    let writer = writer.map(|writer| run.accesses[writer].thread);
    let others = readers.iter().copied().chain(writer).filter(|&thread| thread != access.thread);
    if access.kind == AccessKind::Read {
        if writer == Some(access.thread) || readers.contains(&access.thread) {
            return Vec::new();
        }
        [(access.thread, "LR")].into_iter().chain(writer.map(|writer| (writer, "RR"))).collect()
    } else if writer == Some(access.thread) && readers.is_empty() {
        Vec::new()
    } else {
        [(access.thread, "LW")].into_iter().chain(others.map(|thread| (thread, "RW"))).collect()
    }
}

/// By the order of their sinks.
pub fn edges(run: &Run) -> Vec<Edge> {
    let events: Vec<Vec<(ThreadId, &str)>> =
        (0..run.accesses.len()).map(|index| events(run, index)).collect();
    // What the thread of an access had communicated before it, the latest first.
    let context = |index: usize| {
        let own = |&(thread, event): &(ThreadId, &'static str)| {
            (thread == run.accesses[index].thread).then_some(event)
        };
        let latest_first = events[..index].iter().rev().flatten();
        latest_first.filter_map(own).take(5).collect::<Vec<_>>().join(" ")
    };
    let mut edges = Vec::new();
    for (sink, access) in run.accesses.iter().enumerate() {
        let Found { writer, readers } = found(run, sink);
        let Some(source) = writer.filter(|&writer| run.accesses[writer].thread != access.thread) else {
            continue;
        };
        if access.kind != AccessKind::Read || !readers.contains(&access.thread) {
            edges.push(Edge { ends: [source, sink], contexts: [context(source), context(sink)] });
        }
    }
    edges
}

/// A run with its edges.
pub type Graph<'run> = (&'run Run, Vec<Edge>);

pub fn graphs(runs: &[Run]) -> Vec<Graph<'_>> {
    runs.iter().map(|run| (run, edges(run))).collect()
}

impl Edge {
    pub fn shown(&self, run: &Run) -> Shown {
        let [source, sink] = self.ends.map(|index| run.accesses[index]);
        let kind = if sink.kind == AccessKind::Read { 'R' } else { 'W' };
        let events = [(self.ends[0], 'W', source), (self.ends[1], kind, sink)];
        let events = events.map(|(index, kind, access)| Event { index, kind, access });
        Shown {
            identity: identity(&events, &self.contexts),
            shape: windows::row(&events).expect("a conflicting pair"),
            accesses: self.ends.to_vec(),
        }
    }

    fn nodes(&self, run: &Run) -> [Node; 2] {
        [0, 1].map(|end| (run.accesses[self.ends[end]].site.0, self.contexts[end].clone()))
    }
}

pub fn identity(events: &[Event], contexts: &[impl ToString; 2]) -> String {
    format!("{} {:?}", windows::identity(events), contexts.each_ref().map(ToString::to_string))
}

/// A site and a context.
type Node = (u32, String);

/// Prefix, body and suffix: how many of the failing runs with the edge have a node there.
pub type Regions = [BTreeMap<Node, f64>; 3];

/// What Recon must put around the edge with this identity.
pub fn regions(edge_identity: &str, graphs: &[Graph]) -> Regions {
    let mut counts: Regions = Default::default();
    let mut runs_with_edge = 0.0;
    for (run, edges) in graphs.iter().filter(|(run, _)| run.outcome.is_failing()) {
        let Some(edge) = edges.iter().rfind(|edge| edge.shown(run).identity == edge_identity) else {
            continue;
        };
        runs_with_edge += 1.0;
        let mut latest: BTreeMap<Node, usize> = BTreeMap::new();
        for (node, index) in edges.iter().flat_map(|edge| edge.nodes(run).into_iter().zip(edge.ends)) {
            let known = latest.entry(node).or_default();
            *known = index.max(*known);
        }
        latest.retain(|node, _| !edge.nodes(run).contains(node));
        let mut by_time: Vec<(usize, Node)> = latest.into_iter().map(|(node, index)| (index, node)).collect();
        by_time.sort();
        let [source, sink] = edge.ends;
        let (prefix, rest): (Vec<_>, Vec<_>) = by_time.into_iter().partition(|&(index, _)| index < source);
        let (body, suffix): (Vec<_>, Vec<_>) = rest.into_iter().partition(|&(index, _)| index < sink);
        let prefix: Vec<_> = prefix.into_iter().rev().take(5).collect();
        let suffix: Vec<_> = suffix.into_iter().take(5).collect();
        for (region, nodes) in counts.iter_mut().zip([prefix, body, suffix]) {
            for (_, node) in nodes {
                *region.entry(node).or_default() += 1.0;
            }
        }
    }
    counts.map(|mut region| {
        let best = region.values().copied().fold(0.0, f64::max);
        region.retain(|_, count| *count >= best / 2.0);
        region.values_mut().for_each(|count| *count /= runs_with_edge);
        region
    })
}

/// In how many contexts two sites communicate in runs of this outcome.
pub fn contexts(sites: &[SiteId], graphs: &[Graph], failing: bool) -> f64 {
    let mut different = BTreeSet::new();
    for (run, edges) in graphs.iter().filter(|(run, _)| run.outcome.is_failing() == failing) {
        let of_sites = edges.iter().filter(|edge| edge.ends.map(|index| run.accesses[index].site) == sites);
        different.extend(of_sites.map(|edge| edge.shown(run).identity));
    }
    different.len() as f64
}
