//! Algorithm 3 as it is written: everything is computed anew in every round.

use std::collections::BTreeSet;

use localize::Finding;
use localize::griffin::Clustering;

/// The groups of failing runs, largest first.
pub fn groups(findings: &[Finding], clustering: &Clustering) -> Vec<Vec<u32>> {
    let runs: BTreeSet<u32> =
        findings.iter().flat_map(|finding| finding.failing_runs.iter().map(|run| run.0)).collect();
    let mut groups: Vec<Vec<u32>> = runs.into_iter().map(|run| vec![run]).collect();
    loop {
        let mut best = (0.0, 0, 0);
        for one in 0..groups.len() {
            for other in one + 1..groups.len() {
                let [a, b] = [one, other].map(|group| suspicious(findings, &groups[group], clustering));
                let weight = |pattern: &usize| {
                    let best = findings[0].score;
                    if best > 0.0 { (findings[*pattern].score / best).powi(2) } else { 1.0 }
                };
                let shared: f64 = a.intersection(&b).map(weight).sum();
                let all = a.iter().map(weight).sum::<f64>() + b.iter().map(weight).sum::<f64>() - shared;
                let similarity = if a == b {
                    1.0
                } else if all > 0.0 {
                    shared / all
                } else {
                    0.0
                };
                if similarity > best.0 {
                    best = (similarity, one, other);
                }
            }
        }
        let (similarity, one, other) = best;
        if similarity == 0.0 || similarity < clustering.similarity {
            break;
        }
        let absorbed = groups.remove(other);
        groups[one].extend(absorbed);
        groups[one].sort_unstable();
        groups.sort();
    }
    groups.sort_by(|a, b| b.len().cmp(&a.len()).then(a.cmp(b)));
    groups
}

/// The best patterns of any of these runs.
fn suspicious(findings: &[Finding], runs: &[u32], clustering: &Clustering) -> BTreeSet<usize> {
    let mut of_group = BTreeSet::new();
    for run in runs {
        let shows = |finding: &Finding| finding.failing_runs.iter().any(|shown| shown.0 == *run);
        let own: Vec<usize> = (0..findings.len()).filter(|&index| shows(&findings[index])).collect();
        of_group.extend(own.into_iter().take(clustering.run_patterns));
    }
    of_group.into_iter().take(clustering.run_patterns).collect()
}
