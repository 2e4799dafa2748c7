//! Algorithm 3: failing runs with the same suspicious patterns fail for the same reason.

use std::collections::BTreeMap;

use super::Clustering;
use crate::finding::Finding;
use crate::run::RunId;
use crate::suspiciousness::{Formula, Spectrum};

/// Runs that seem to fail for the same reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunGroup {
    /// The runs, ascending.
    pub runs: Vec<RunId>,
    /// Indices of their most suspicious patterns in the ranked list, the best first.
    pub patterns: Vec<usize>,
}

/// Groups the failing runs of ranked findings: the largest group first, of equally large ones that with the smallest
/// run number. Runs that show none of the findings are in no group. `all_passed` runs passed in all; `formula` scores
/// patterns within a group.
pub fn failing_run_groups(
    findings: &[Finding],
    all_passed: u32,
    formula: Formula,
    clustering: &Clustering,
) -> Vec<RunGroup> {
    // Runs with the very same patterns are merged first, as in the algorithm; then there are few groups left.
    let mut alike: BTreeMap<Vec<usize>, Vec<RunId>> = BTreeMap::new();
    for (run, patterns) in top_patterns(findings, clustering) {
        alike.entry(patterns).or_default().push(run);
    }
    let mut groups: Vec<RunGroup> =
        alike.into_iter().map(|(patterns, runs)| RunGroup { runs, patterns }).collect();
    groups.sort_by(|a, b| a.runs.cmp(&b.runs));
    merge_similar(&mut groups, &weights(findings), clustering);
    groups.sort_by(|a, b| b.runs.len().cmp(&a.runs.len()).then_with(|| a.runs.cmp(&b.runs)));
    for group in &mut groups {
        group.patterns = best_patterns(findings, &group.runs, all_passed, formula, clustering);
    }
    groups
}

/// The most suspicious patterns if these were the only failing runs.
fn best_patterns(
    findings: &[Finding],
    runs: &[RunId],
    all_passed: u32,
    formula: Formula,
    clustering: &Clustering,
) -> Vec<usize> {
    let score = |finding: &Finding| {
        let failed = finding.failing_runs.iter().filter(|run| runs.binary_search(run).is_ok()).count() as u32;
        let all_failed = runs.len() as u32;
        formula.score(Spectrum { failed, passed: finding.passed, all_failed, all_passed })
    };
    let mut scored: Vec<(f64, usize)> =
        findings.iter().map(score).zip(0..).filter(|(score, _)| *score > 0.0).collect();
    // Stable: what the ranking tells apart stays told apart.
    scored.sort_by(|a, b| b.0.total_cmp(&a.0));
    let best = scored.first().map_or(0.0, |(score, _)| *score);
    let enough = scored.into_iter().take_while(|(score, _)| is_enough(*score, best, clustering));
    enough.take(clustering.cause_patterns).map(|(_, index)| index).collect()
}

/// Whether a pattern with this score tells something beside one with the best.
fn is_enough(score: f64, best: f64, clustering: &Clustering) -> bool {
    // Infinity times a share is no number if the share is zero.
    score == best || score >= best * clustering.least_share
}

/// For each failing run, the indices of the findings that tell why it fails.
fn top_patterns(findings: &[Finding], clustering: &Clustering) -> BTreeMap<RunId, Vec<usize>> {
    let mut top: BTreeMap<RunId, Vec<usize>> = BTreeMap::new();
    for (index, finding) in findings.iter().enumerate() {
        for &run in &finding.failing_runs {
            let patterns = top.entry(run).or_default();
            if patterns.len() < clustering.run_patterns {
                patterns.push(index);
            }
        }
    }
    top
}

/// Merges the two most similar groups as long as two are similar enough. `groups` are sorted by their runs, and stay so.
fn merge_similar(groups: &mut Vec<RunGroup>, weights: &[f64], clustering: &Clustering) {
    // For each group the most similar one after it. Only what a merge touches is compared again.
    let mut best: Vec<(f64, usize)> = (0..groups.len()).map(|at| most_similar(groups, weights, at)).collect();
    loop {
        let mut chosen: Option<(f64, usize)> = None;
        for (at, &(similarity, _)) in best.iter().enumerate() {
            if chosen.is_none_or(|(highest, _)| similarity > highest) {
                chosen = Some((similarity, at));
            }
        }
        let Some((similarity, at)) = chosen else { return };
        // Groups that share nothing are not similar, however low the bar.
        if similarity < clustering.similarity || similarity == 0.0 {
            return;
        }
        let other = groups.remove(best[at].1);
        let removed = best[at].1;
        best.remove(removed);
        let merged = &mut groups[at];
        merged.runs.extend(other.runs);
        merged.runs.sort_unstable();
        merged.patterns.extend(other.patterns);
        merged.patterns.sort_unstable();
        merged.patterns.dedup();
        merged.patterns.truncate(clustering.run_patterns);
        for here in 0..groups.len() {
            let partner = best[here].1;
            if here == at || partner == at || partner == removed {
                best[here] = most_similar(groups, weights, here);
                continue;
            }
            if partner > removed {
                best[here].1 -= 1;
            }
            if here < at {
                let changed = similarity_of(&groups[here].patterns, &groups[at].patterns, weights);
                if changed > best[here].0 || changed == best[here].0 && at < best[here].1 {
                    best[here] = (changed, at);
                }
            }
        }
    }
}

/// The first of the groups after this one that are most similar to it.
fn most_similar(groups: &[RunGroup], weights: &[f64], at: usize) -> (f64, usize) {
    let mut best = (0.0, at);
    for other in at + 1..groups.len() {
        let similarity = similarity_of(&groups[at].patterns, &groups[other].patterns, weights);
        if similarity > best.0 {
            best = (similarity, other);
        }
    }
    best
}

/// What each finding counts: the square of its share of the best score (deviation 2).
fn weights(findings: &[Finding]) -> Vec<f64> {
    let best = findings.first().map_or(0.0, |finding| finding.score);
    let share = |score: f64| if score == best { 1.0 } else { score / best };
    findings.iter().map(|finding| share(finding.score).powi(2)).collect()
}

/// Equation 4 of two ascending lists, with weights.
fn similarity_of(one: &[usize], other: &[usize], weights: &[f64]) -> f64 {
    if one == other {
        return 1.0;
    }
    let sum = |patterns: &mut dyn Iterator<Item = &usize>| patterns.map(|&index| weights[index]).sum::<f64>();
    let shared = sum(&mut one.iter().filter(|pattern| other.binary_search(pattern).is_ok()));
    let all = sum(&mut one.iter()) + sum(&mut other.iter()) - shared;
    if all > 0.0 { shared / all } else { 0.0 }
}
