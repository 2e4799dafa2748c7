//! How well failing runs are told apart by the bug that made them fail: van Rijsbergen's F-measure, as the thesis on
//! Griffin has it (section 5.4.3).

use std::collections::{BTreeMap, BTreeSet};

use super::data::Clusters;
use super::report::Report;
use super::score::Key;

/// Compares the groups of failing runs in a report with the program's bugs. `reference` tells which bug a run failed by:
/// by the right findings that it shows. None if the report has no groups, or if it cannot be told.
pub fn clusters(report: &Report, reference: &Report, key: &Key) -> Option<Clusters> {
    let found = groups(report.causes.iter().map(|cause| (cause.group, cause.failing_runs.as_slice())));
    let bugs: BTreeSet<u32> = key.answers.iter().map(|answer| answer.bug).collect();
    let mut right: Vec<(u64, &[u64])> = reference
        .findings
        .iter()
        .filter_map(|finding| {
            let bug = key.answers[key.answer(finding)?].bug;
            Some((u64::from(bug), finding.failing_runs.as_slice()))
        })
        .collect();
    right.sort_by_key(|(bug, _)| *bug);
    let true_ones = match bugs.len() {
        1 => BTreeMap::from([(1, found.values().flatten().copied().collect())]),
        _ => groups(right.into_iter()),
    };
    if found.is_empty() || true_ones.is_empty() {
        return None;
    }
    let value = f_measure(&true_ones, &found);
    Some(Clusters { bugs: bugs.len(), clusters: found.len(), f_measure: (value * 1e4).round() / 1e4 })
}

/// Runs by the group that names them first.
fn groups<'a>(named: impl Iterator<Item = (u64, &'a [u64])>) -> BTreeMap<u64, BTreeSet<u64>> {
    let mut seen = BTreeSet::new();
    let mut groups: BTreeMap<u64, BTreeSet<u64>> = BTreeMap::new();
    for (group, runs) in named {
        for &run in runs {
            if seen.insert(run) {
                groups.entry(group).or_default().insert(run);
            }
        }
    }
    groups
}

/// For each cluster the best F-measure among the bugs, weighted by the cluster's size.
fn f_measure(bugs: &BTreeMap<u64, BTreeSet<u64>>, clusters: &BTreeMap<u64, BTreeSet<u64>>) -> f64 {
    let all: usize = clusters.values().map(BTreeSet::len).sum();
    let of = |bug: &BTreeSet<u64>, cluster: &BTreeSet<u64>| {
        let common = bug.intersection(cluster).count() as f64;
        // 2PR/(P+R) with precision P = common/|cluster| and recall R = common/|bug|.
        2.0 * common / (bug.len() + cluster.len()) as f64
    };
    let weighted = clusters.values().map(|cluster| {
        let best = bugs.values().map(|bug| of(bug, cluster)).fold(0.0, f64::max);
        best * cluster.len() as f64
    });
    weighted.sum::<f64>() / all.max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sets(lists: &[&[u64]]) -> BTreeMap<u64, BTreeSet<u64>> {
        (1..).zip(lists.iter().map(|list| list.iter().copied().collect())).collect()
    }

    #[test]
    fn perfect_clusters_have_measure_one() {
        let bugs = sets(&[&[1, 2, 3], &[4, 5]]);
        assert!((f_measure(&bugs, &sets(&[&[4, 5], &[1, 2, 3]])) - 1.0).abs() < 1e-12);
        // All in one: precision 3/5 with full recall for the larger bug.
        let one = f_measure(&bugs, &sets(&[&[1, 2, 3, 4, 5]]));
        assert!((one - 0.75).abs() < 1e-12, "{one}");
        assert_eq!(f_measure(&bugs, &sets(&[])), 0.0);
    }

    /// Mysql-791 in the thesis: 24 runs with one bug, clustered as 23 and 1, have the measure 0.94.
    #[test]
    fn a_run_that_stays_alone_costs_little() {
        let all: Vec<u64> = (1..=24).collect();
        let measure = f_measure(&sets(&[&all]), &sets(&[&all[..23], &all[23..]]));
        assert!((measure - 0.94).abs() < 0.005, "{measure}");
    }

    #[test]
    fn a_run_belongs_to_the_group_that_names_it_first() {
        let named = [(1u64, &[1u64, 2][..]), (2, &[2, 3][..]), (1, &[3, 4][..])];
        assert_eq!(
            groups(named.into_iter()),
            BTreeMap::from([(1, BTreeSet::from([1, 2, 4])), (2, BTreeSet::from([3])),])
        );
    }
}
