//! Which findings are one cause (Griffin): by the failing runs that show them, and by the calls that lead to them.

use std::collections::{BTreeMap, BTreeSet};

use localize::griffin::{self, BugGraph, Call, Clustering, RunGroup};
use localize::{AccessKind, Finding, Formula, SiteId};

/// Causes beyond this many are not told apart: nobody would look at them.
const MOST_GROUPS: usize = 20;

/// The groups of failing runs that the ranked findings tell.
pub fn groups(findings: &[Finding], passed: u64, formula: Formula) -> Vec<RunGroup> {
    let passed = u32::try_from(passed).unwrap_or(u32::MAX);
    let mut groups = griffin::failing_run_groups(findings, passed, formula, &Clustering::default());
    groups.truncate(MOST_GROUPS);
    groups
}

/// The best findings of each group that are shown, however far down the list a rarer bug has them.
const BEST_OF_GROUP: usize = 5;

/// The findings to show, by index, at most so many: the best of each group, for which there is half of the room, and the
/// best of all.
pub fn worth_showing(findings: usize, groups: &[RunGroup], most: usize) -> BTreeSet<usize> {
    let best =
        (0..BEST_OF_GROUP).flat_map(|depth| groups.iter().filter_map(move |group| group.patterns.get(depth)));
    let mut shown = BTreeSet::new();
    for (index, room) in best.map(|&index| (index, most / 2)).chain((0..findings).map(|index| (index, most)))
    {
        if shown.len() < room {
            shown.insert(index);
        }
    }
    shown
}

/// The causes among the findings that are shown; sets the cluster of these. `shown` are their indices in the ranked
/// list, by which the groups know them.
pub fn tell_apart(
    described: &mut [report::Finding],
    ranked: &[Finding],
    shown: &BTreeSet<usize>,
    groups: &[RunGroup],
) -> Vec<report::Cause> {
    let place: BTreeMap<usize, usize> = shown.iter().copied().zip(0..).collect();
    let mut causes = Vec::new();
    for (group, runs) in (1..).zip(groups) {
        let calls = |index: usize| {
            let finding = place.get(&index).map(|&at| &described[at]);
            finding.map_or_else(Vec::new, |finding| calls(finding, &ranked[index]))
        };
        for cause in griffin::causes(runs, calls, &Clustering::default()) {
            let findings: Vec<usize> = cause.patterns.iter().map(|index| place[index]).collect();
            let number = causes.len() as u64 + 1;
            for &at in &findings {
                described[at].cluster.get_or_insert(number);
            }
            let sides = cause.sides.iter().filter_map(|side| side.suspicious_function().cloned());
            let mut suspicious_functions: Vec<String> = sides.collect();
            suspicious_functions.dedup();
            causes.push(report::Cause {
                number,
                group,
                failing_runs: cause.runs.iter().map(|run| u64::from(run.0)).collect(),
                graph: graph(&cause.graph, &findings, |at| {
                    ranked[cause.patterns[at]]
                        .pattern
                        .sites()
                        .iter()
                        .copied()
                        .zip(&described[findings[at]].accesses)
                }),
                findings: findings.iter().map(|&at| at as u64 + 1).collect(),
                suspicious_functions,
            });
        }
    }
    causes
}

/// The graph with each access as it stands in one of the findings; `accesses` gives those of a finding of the cause.
fn graph<'a, Accesses>(
    graph: &BugGraph,
    findings: &[usize],
    accesses: impl Fn(usize) -> Accesses,
) -> report::Graph
where
    Accesses: Iterator<Item = (SiteId, &'a report::Access)>,
{
    let find = |site: SiteId, kind: AccessKind| {
        (0..findings.len()).find_map(|at| {
            let nth = accesses(at).position(|(known, access)| known == site && kind_of(access) == kind)?;
            Some([findings[at] as u64 + 1, nth as u64])
        })
    };
    let node = |node: &griffin::GraphNode| report::GraphNode {
        thread: node.side as u32 + 1,
        accesses: node.accesses.iter().filter_map(|&(site, kind)| find(site, kind)).collect(),
    };
    report::Graph { nodes: graph.nodes.iter().map(node).collect(), edges: graph.edges.clone() }
}

fn kind_of(access: &report::Access) -> AccessKind {
    if access.kind == report::AccessKind::Read { AccessKind::Read } else { AccessKind::Write }
}

/// The accesses of a finding with the functions that lead to them.
fn calls(described: &report::Finding, ranked: &Finding) -> Vec<Call<String>> {
    let accesses = described.accesses.iter().zip(ranked.pattern.sites());
    accesses
        .map(|(access, &site)| Call {
            thread: u8::try_from(access.thread).unwrap_or(u8::MAX),
            site,
            kind: kind_of(access),
            functions: access
                .stack
                .iter()
                .rev()
                .map(|frame| frame.function.clone().or_else(|| frame.address.clone()).unwrap_or_default())
                .collect(),
        })
        .collect()
}
