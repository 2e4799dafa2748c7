//! Recon: what happens around a suspicious communication, reconstructed from all failing runs.
//!
//! Brandon Lucia, Benjamin P. Wood, Luis Ceze: *Isolating and Understanding Concurrency Errors Using
//! Reconstructed Execution Fragments* (PLDI 2011), sections 3 to 5.
//!
//! **Finds** a communication (see `communication.rs`) and the accesses that come shortly before it, during it
//! and shortly after it in failing runs, whatever the kind of error and the number of variables. The score is
//! the product of three features, of those that are not zero: how much more often failing runs show the
//! communication (B), how differently its two sites communicate in failing and passing runs (C), and how
//! consistently the same accesses surround it (R).
//!
//! **Misses** what Bugaboo misses; accesses that communicate with nobody are not in the graph and so not in a
//! reconstruction.
//!
//! Deviations, with why:
//!
//! 1. Those of the graph: Recon is the paper's first-read-only variant.
//! 2. The regions are cut where the communication at hand last happened. A node may have been executed again
//!    since, for another communication, and would then lie after the end of its own edge.
//! 3. A body of more than [`BODY_END`] nodes from either end loses what lies in the middle. The paper bounds
//!    it by confidence alone, which is no bound if there is one failing run.
//! 4. The ends of the edge are not repeated in its regions.
//! 5. Among equal B, the edges that more failing runs show, and that happen earlier, are reconstructed first.
//!
//! Of a passing run only counts are kept, of a failing run its graph: 28 bytes for each different edge.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use crate::bugaboo::frequency_ratio;
use crate::communication::{Context, Edge, Graph, Node, Which};
use crate::edge_counts::{EdgeCounts, InFailing};
use crate::finding::{self, Detail, Finding};
use crate::run::{RunId, SiteId};
use crate::suspiciousness::Spectrum;

/// Reconstructions are made for so many edges: the paper's choice.
const EDGES: usize = 2000;

/// Ten times as much as the other regions have: more is no fragment that anyone would read.
const BODY_END: usize = 10 * Context::LENGTH;

/// A communication in the midst of what surrounds it in failing runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Reconstruction {
    /// Where the data come from.
    pub source: Node,
    /// Where they are read or overwritten.
    pub sink: Node,
    /// What comes shortly before the source.
    pub prefix: Vec<Neighbour>,
    /// What comes between the source and the sink.
    pub body: Vec<Neighbour>,
    /// What comes shortly after the sink.
    pub suffix: Vec<Neighbour>,
    /// B: how much more often failing runs show the communication than passing ones.
    pub frequency_ratio: f64,
    /// C: how much the number of contexts in which these sites communicate differs, from 0 to 1.
    pub context_variation: f64,
    /// R: the mean confidence of all neighbours, or 0 if there are none.
    pub consistency: f64,
}

/// A node in a region of a reconstruction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Neighbour {
    /// The node.
    pub node: Node,
    /// The share of the failing runs with the communication in which the node is in this region.
    pub confidence: f64,
    /// Its access in the finding's example, if it is in this region there. A region is in the order of these,
    /// and nodes without one follow, the most confident first.
    pub access: Option<usize>,
}

impl Reconstruction {
    /// The contexts of source and sink.
    pub(crate) fn contexts(&self) -> [Context; 2] {
        [self.source.context, self.sink.context]
    }
}

/// What is known of all runs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Graphs {
    pub counts: EdgeCounts,
    failing: Vec<Graph>,
}

impl Graphs {
    /// Adds the graph of one more run.
    pub fn add(&mut self, graph: &Graph) {
        if graph.outcome.is_failing() {
            self.failing.push(graph.clone());
        }
        self.counts.add(graph);
    }

    /// The reconstructions by their score.
    pub fn findings(&self) -> Vec<Finding> {
        let variation = context_variation(&self.counts);
        let timelines: Vec<Timeline> = self.failing.iter().map(Timeline::new).collect();
        let findings = self.edges_to_reconstruct().into_iter().map(|(edge, seen, spectrum)| {
            let [source, sink] = edge.nodes();
            let mut finding = seen.finding(edge, spectrum, 0.0, Which::Last);
            let [prefix, body, suffix] = reconstruct(edge, finding.example.run, &timelines);
            let reconstruction = Reconstruction {
                source,
                sink,
                frequency_ratio: frequency_ratio(spectrum),
                context_variation: variation[&[source.site, sink.site]],
                consistency: consistency([&prefix, &body, &suffix]),
                prefix,
                body,
                suffix,
            };
            let features = [
                reconstruction.frequency_ratio,
                reconstruction.context_variation,
                reconstruction.consistency,
            ];
            finding.score = features.into_iter().filter(|&feature| feature != 0.0).product();
            finding.detail = Detail::Reconstruction(Box::new(reconstruction));
            finding
        });
        finding::rank_by_score(findings.collect())
    }

    /// The edges of failing runs that are highest in B.
    fn edges_to_reconstruct(&self) -> Vec<(Edge, &InFailing, Spectrum)> {
        let mut edges: Vec<_> = self.counts.in_failing_runs().collect();
        let order = |a: &(Edge, &InFailing, Spectrum), b: &(Edge, &InFailing, Spectrum)| {
            let key = |&(edge, seen, _): &(Edge, &InFailing, Spectrum)| {
                (Reverse(seen.runs.len()), seen.places[Which::Last as usize], edge.pattern(), edge.contexts)
            };
            let [ratio_a, ratio_b] = [a.2, b.2].map(frequency_ratio);
            ratio_b.total_cmp(&ratio_a).then_with(|| key(a).cmp(&key(b)))
        };
        if edges.len() > EDGES {
            edges.select_nth_unstable_by(EDGES, order);
            edges.truncate(EDGES);
        }
        edges
    }
}

/// C for each two sites that communicate. A number of contexts is a number of edges.
fn context_variation(counts: &EdgeCounts) -> FxHashMap<[SiteId; 2], f64> {
    let mut contexts: FxHashMap<[SiteId; 2], [u32; 2]> = FxHashMap::default();
    for (edge, [in_failing, in_passing]) in counts.all() {
        let [failing, passing] = contexts.entry(edge.sites).or_default();
        *failing += u32::from(in_failing);
        *passing += u32::from(in_passing);
    }
    let ratio =
        |[failing, passing]: [u32; 2]| f64::from(failing.abs_diff(passing)) / f64::from(failing + passing);
    contexts.into_iter().map(|(sites, numbers)| (sites, ratio(numbers))).collect()
}

fn consistency(regions: [&[Neighbour]; 3]) -> f64 {
    let nodes: usize = regions.iter().map(|region| region.len()).sum();
    let confidence: f64 = regions.into_iter().flatten().map(|neighbour| neighbour.confidence).sum();
    if nodes == 0 { 0.0 } else { confidence / nodes as f64 }
}

/// The graph of a failing run in time order.
struct Timeline {
    run: RunId,
    edges: FxHashMap<Edge, [u32; 2]>,
    /// Each node once, when it was last executed: by ascending index of the access.
    nodes: Vec<(u32, Node)>,
}

impl Timeline {
    fn new(graph: &Graph) -> Self {
        let mut latest: FxHashMap<Node, u32> = FxHashMap::default();
        let last = graph.places.iter().map(|places| places[Which::Last as usize]);
        let edges: FxHashMap<Edge, [u32; 2]> = graph.edges.iter().copied().zip(last).collect();
        for (edge, ends) in &edges {
            for (node, &index) in edge.nodes().into_iter().zip(ends) {
                let known = latest.entry(node).or_insert(index);
                *known = index.max(*known);
            }
        }
        let mut nodes: Vec<(u32, Node)> = latest.into_iter().map(|(node, index)| (index, node)).collect();
        nodes.sort_unstable();
        Self { run: graph.run, edges, nodes }
    }

    /// Prefix, body and suffix around the edge between these accesses.
    fn regions(&self, [source, sink]: [u32; 2], ends: [Node; 2]) -> [Vec<(u32, Node)>; 3] {
        let [from, to] = [source, sink].map(|index| self.nodes.partition_point(|&(at, _)| at < index));
        let is_other = |(_, node): &&(u32, Node)| !ends.contains(node);
        let prefix = self.nodes[..from].iter().rev().filter(is_other).take(Context::LENGTH);
        let suffix = self.nodes[to..].iter().filter(is_other).take(Context::LENGTH);
        let between = &self.nodes[from..to];
        let body: Vec<_> = if between.len() > 2 * BODY_END + ends.len() {
            let mut late: Vec<_> = between.iter().rev().filter(is_other).take(BODY_END).collect();
            late.reverse();
            between.iter().filter(is_other).take(BODY_END).chain(late).copied().collect()
        } else {
            between.iter().filter(is_other).copied().collect()
        };
        [prefix.copied().collect(), body, suffix.copied().collect()]
    }
}

/// Puts the regions around an edge together from the runs that show it.
fn reconstruct(edge: Edge, example: RunId, timelines: &[Timeline]) -> [Vec<Neighbour>; 3] {
    // How many runs have the node in the region, and where the example has it.
    let mut regions: [BTreeMap<Node, (u32, Option<usize>)>; 3] = Default::default();
    let mut runs = 0;
    for timeline in timelines {
        let Some(&ends) = timeline.edges.get(&edge) else { continue };
        runs += 1;
        for (region, nodes) in regions.iter_mut().zip(timeline.regions(ends, edge.nodes())) {
            for (index, node) in nodes {
                let (count, access) = region.entry(node).or_default();
                *count += 1;
                if timeline.run == example {
                    *access = Some(index as usize);
                }
            }
        }
    }
    regions.map(|region| neighbours(region, runs))
}

/// The nodes of a region that at least half as many runs have there as the most frequent one.
fn neighbours(region: BTreeMap<Node, (u32, Option<usize>)>, runs: u32) -> Vec<Neighbour> {
    let best = region.values().map(|&(count, _)| count).max().unwrap_or(0);
    let mut kept: Vec<_> = region.into_iter().filter(|&(_, (count, _))| 2 * count >= best).collect();
    kept.sort_by_key(|&(node, (count, access))| (access.is_none(), access, Reverse(count), node));
    let neighbour = |(node, (count, access))| {
        let confidence = f64::from(count) / f64::from(runs);
        Neighbour { node, confidence, access }
    };
    kept.into_iter().map(neighbour).collect()
}
