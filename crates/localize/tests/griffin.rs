//! Griffin: failing runs in groups, patterns in causes, the bug graph.

mod support;

use localize::griffin::{BugGraph, Call, Cause, Clustering, RunGroup, causes, failing_run_groups};
use localize::*;
use proptest::prelude::*;

/// A ranked finding that the given failing runs show.
fn finding(number: u32, score: f64, runs: &[u32]) -> Finding {
    let failing_runs: Vec<RunId> = runs.iter().map(|&run| RunId(run)).collect();
    Finding {
        rank: 1,
        tied: 1,
        score,
        failed: failing_runs.len() as u32,
        passed: 0,
        pattern: Pattern::new(PatternId::P1, &[SiteId(number), SiteId(number)]),
        example: Example { run: RunId(1), id: PatternId::P1.into(), accesses: Vec::new() },
        failing_runs,
        detail: Detail::Accesses,
    }
}

fn run_numbers(groups: &[RunGroup]) -> Vec<Vec<u32>> {
    groups.iter().map(|group| group.runs.iter().map(|run| run.0).collect()).collect()
}

/// A hundred runs passed.
fn groups_of(findings: &[Finding], clustering: &Clustering) -> Vec<RunGroup> {
    failing_run_groups(findings, 100, Formula::Jaccard, clustering)
}

/// The thesis's parameters for its example.
fn figure_11() -> Clustering {
    Clustering { run_patterns: 5, similarity: 0.5, cause_patterns: 5, least_share: 0.0 }
}

/// A matrix that fits Figure 11's text: PI1–PI5 in E1–E3, PI6 and PI8 in E4 and E5, PI7 and PI9 in E6 and E7, and what
/// mostly passing runs show here and there, so that E4 has five patterns, E5 four, three of them shared.
fn matrix() -> Vec<Finding> {
    let rows: [(f64, &[u32]); 13] = [
        (0.6, &[1, 2, 3]),
        (0.6, &[1, 2, 3]),
        (0.6, &[1, 2, 3]),
        (0.6, &[1, 2, 3]),
        (0.38, &[1, 2, 3]),
        (0.2, &[4, 5]),
        (0.2, &[6, 7]),
        (0.2, &[4, 5]),
        (0.2, &[6, 7]),
        (0.1, &[4, 5, 6]),
        (0.1, &[1, 4, 7]),
        (0.1, &[2, 5, 6, 7]),
        (0.05, &[3, 4]),
    ];
    (1..).zip(rows).map(|(number, (score, runs))| finding(number, score, runs)).collect()
}

#[test]
fn figure_11_has_three_groups() {
    let groups = groups_of(&matrix(), &figure_11());
    assert_eq!(run_numbers(&groups), [vec![1, 2, 3], vec![4, 5], vec![6, 7]]);
    assert_eq!(groups[0].patterns, [0, 1, 2, 3, 4]);
    assert_eq!(groups[1].patterns, [5, 7, 9, 10, 11], "both of E4 and E5 show the first three");
}

#[test]
fn a_rare_bugs_patterns_are_found_behind_innocent_ones() {
    let mut findings = vec![finding(1, 0.9, &[1, 2, 3, 4, 5, 6, 7, 8, 9])];
    let everywhere: Vec<u32> = (1..=10).collect();
    findings.extend((2..30).map(|number| Finding { passed: 100, ..finding(number, 0.1, &everywhere) }));
    findings.push(finding(30, 0.1, &[10]));
    let groups = groups_of(&findings, &Clustering::default());
    assert_eq!(run_numbers(&groups), [(1..=9).collect(), vec![10]]);
    assert_eq!(groups[1].patterns, [29]);
}

#[test]
fn less_similar_runs_stay_apart() {
    let groups = groups_of(&matrix(), &Clustering { similarity: 0.9, ..figure_11() });
    assert_eq!(run_numbers(&groups), [vec![1, 2, 3], vec![4], vec![5], vec![6], vec![7]]);
}

#[test]
fn innocent_patterns_do_not_tell_runs_apart() {
    let mut findings = vec![finding(1, 1.0, &[1, 2])];
    findings.extend((2..20).map(|number| finding(number, 0.2, &[number % 2 + 1])));
    assert_eq!(run_numbers(&groups_of(&findings, &Clustering::default())), [vec![1, 2]]);
}

#[test]
fn infinite_scores_are_comparable() {
    let findings =
        [finding(1, f64::INFINITY, &[1, 2]), finding(2, f64::INFINITY, &[1, 2]), finding(3, 7.0, &[1])];
    let groups = groups_of(&findings, &Clustering::default());
    assert_eq!(run_numbers(&groups), [vec![1, 2]]);
}

/// `R271:main,Vector,size`: kind, line, functions from the outermost on.
fn call(thread: u8, text: &str) -> Call<String> {
    let (place, functions) = text.split_once(':').unwrap();
    Call {
        thread,
        site: SiteId(place[1..].parse().unwrap()),
        kind: if place.starts_with('R') { AccessKind::Read } else { AccessKind::Write },
        functions: functions.split(',').map(str::to_owned).collect(),
    }
}

/// The patterns of Table 9 that belong to its first bug, with the stacks of Figure 9.
fn table_9() -> Vec<Vec<Call<String>>> {
    const SIZE: &str = "R271:main,Vector,size";
    const COPY_SIZE: &str = "R681:main,Vector,toArray";
    const COPY_DATA: &str = "R682:main,Vector,toArray";
    const ADD_SIZE: &str = "W851:run,addAll";
    const ADD_DATA: &str = "W852:run,addAll";
    vec![
        vec![call(1, SIZE), call(2, ADD_SIZE), call(1, COPY_SIZE)],
        vec![call(1, SIZE), call(2, ADD_SIZE), call(2, ADD_DATA), call(1, COPY_DATA)],
        vec![call(1, ADD_SIZE), call(2, COPY_SIZE)],
        vec![call(1, SIZE), call(2, ADD_SIZE)],
        vec![call(1, ADD_DATA), call(2, COPY_DATA)],
    ]
}

fn causes_of(patterns: &[Vec<Call<String>>], limit: usize) -> Vec<Cause<String>> {
    let group = RunGroup { runs: vec![RunId(1)], patterns: (0..patterns.len()).collect() };
    let clustering = Clustering { cause_patterns: limit, ..Clustering::default() };
    causes(&group, |pattern| patterns[pattern].clone(), &clustering)
}

fn show_graph(graph: &BugGraph) -> String {
    let nodes = graph.nodes.iter().map(|node| {
        let accesses: Vec<String> = node
            .accesses
            .iter()
            .map(|(site, kind)| format!("{}{}", if *kind == AccessKind::Read { 'R' } else { 'W' }, site.0))
            .collect();
        format!("{}: {}", node.side + 1, accesses.join(" "))
    });
    let nodes: Vec<String> = nodes.collect();
    format!("{} {:?}", nodes.join(" | "), graph.edges)
}

#[test]
fn figure_12_is_one_cause() {
    let found = causes_of(&table_9(), 20);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].patterns, [0, 1, 2, 3, 4]);
    let functions = found[0].sides.each_ref().map(|side| side.suspicious_function().unwrap().as_str());
    assert_eq!(functions, ["Vector", "addAll"]);
    assert_eq!(show_graph(&found[0].graph), "1: R271 | 2: W851 W852 | 1: R681 R682 [[0, 1], [1, 2]]");
}

#[test]
fn other_calls_are_other_causes() {
    let mut patterns = table_9();
    let elsewhere = "R271:main,Stack,size";
    patterns.push(vec![call(1, elsewhere), call(2, "W622:run,clear"), call(1, "R681:main,Stack,toArray")]);
    let found = causes_of(&patterns, 20);
    assert_eq!(
        found.iter().map(|cause| cause.patterns.clone()).collect::<Vec<_>>(),
        [vec![0, 1, 2, 3, 4], vec![5]]
    );
    assert_eq!(found[1].sides[0].functions, ["main", "Stack"]);
}

#[test]
fn only_the_top_patterns_are_looked_at() {
    assert_eq!(causes_of(&table_9(), 2)[0].patterns, [0, 1]);
}

#[test]
fn a_pair_in_the_other_direction_is_no_part() {
    let triple = vec![call(1, "R1:a,x"), call(2, "W2:b,y"), call(1, "R3:a,z")];
    let pair = vec![call(1, "R3:a,z"), call(2, "W2:b,y")];
    let found = causes_of(&[triple, pair], 20);
    assert_eq!(found.len(), 2);
}

#[test]
fn a_site_that_is_passed_twice_is_drawn_twice() {
    let loops = vec![call(1, "R1:a"), call(2, "W2:b"), call(1, "R1:a")];
    assert_eq!(show_graph(&causes_of(&[loops], 20)[0].graph), "1: R1 | 2: W2 | 1: R1 [[0, 1], [1, 2]]");
}

#[test]
fn a_pattern_of_one_thread_belongs_to_no_cause() {
    assert_eq!(causes_of(&[vec![call(1, "R1:a")]], 20), []);
}

proptest! {
    #[test]
    fn groups_are_those_of_the_naive_twin(
        rows in prop::collection::vec((0u32..5, prop::collection::btree_set(1u32..12, 1..6)), 0..30),
        top in 1usize..8,
        similarity in 0.0f64..1.0,
    ) {
        let mut findings: Vec<Finding> = (0..)
            .zip(&rows)
            .map(|(number, (score, runs))| {
                finding(number, f64::from(*score), &runs.iter().copied().collect::<Vec<_>>())
            })
            .collect();
        findings.sort_by(|a, b| b.score.total_cmp(&a.score));
        let clustering = Clustering { run_patterns: top, similarity, ..Clustering::default() };
        let groups = groups_of(&findings, &clustering);
        let expected = support::naive::griffin::groups(&findings, &clustering);
        prop_assert_eq!(run_numbers(&groups), expected);
    }
}
