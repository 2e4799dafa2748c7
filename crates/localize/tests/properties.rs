//! What holds for every trace.

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;

use localize::*;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use support::naive::{self, Expected, Readers};

/// The same cases each time.
fn config() -> ProptestConfig {
    ProptestConfig {
        cases: 400,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(4711),
        ..ProptestConfig::default()
    }
}

/// Few threads, locations and sites, so that patterns are frequent and often the same.
fn run() -> impl Strategy<Value = Run> {
    let kind = prop_oneof![
        4 => Just(AccessKind::Read),
        4 => Just(AccessKind::Write),
        1 => Just(AccessKind::Update),
    ];
    let access = (kind, 0..4u32, 0..3u32, 0..3u32).prop_map(|(kind, thread, location, site)| {
        support::access(kind, ThreadId(thread), LocationId(location), SiteId(site))
    });
    let outcome = prop_oneof![Just(Outcome::Pass), Just(Outcome::Fail), Just(Outcome::Hang)];
    let gaps = prop::collection::vec((0..3u32, 0..40usize), 0..3);
    (outcome, prop::collection::vec(access, 0..40), gaps).prop_map(|(outcome, accesses, gaps)| {
        let mut gaps: Vec<Gap> = gaps
            .into_iter()
            .map(|(location, before)| Gap { location: LocationId(location), before })
            .collect();
        gaps.sort_by_key(|gap| gap.before);
        Run { id: RunId(0), outcome, accesses, gaps }
    })
}

fn runs() -> impl Strategy<Value = Vec<Run>> {
    prop::collection::vec(run(), 0..6).prop_map(|mut runs| {
        for (id, run) in (1..).zip(&mut runs) {
            run.id = RunId(id);
        }
        runs
    })
}

fn options() -> impl Strategy<Value = Options> {
    let distance = prop_oneof![0..10usize, Just(100), Just(usize::MAX)];
    (1..7usize, distance, prop::sample::select(&Formula::ALL[..])).prop_map(|(window, distance, formula)| {
        Options { window: NonZeroUsize::new(window).unwrap(), distance, formula }
    })
}

fn technique() -> impl Strategy<Value = Technique> {
    prop::sample::select(Technique::all().collect::<Vec<_>>())
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn finds_what_its_naive_twin_finds(technique in technique(), runs in runs(), options in options()) {
        let findings = localize(technique, &runs, &options);
        let mut actual = BTreeMap::new();
        for finding in &findings {
            let found = Expected {
                failing_runs: finding.failing_runs.clone(),
                passed: finding.passed,
                example_run: Some(finding.example.run),
                example_id: format!("{:?}", finding.example.id),
                example: finding.example.accesses.clone(),
            };
            let twice = actual.insert(naive::identity_of(finding, &runs), found);
            prop_assert!(twice.is_none(), "one pattern is two findings: {finding:?}");
        }
        prop_assert_eq!(actual, naive::expected(technique, &runs, &options));
    }

    /// In a window with room for all turns, the papers' rule finds the same patterns.
    #[test]
    fn counting_readers_once_per_write_loses_nothing(run in run()) {
        let options = support::window(100);
        let findings = localize(Technique::Falcon, [&run], &options);
        let runs = [run];
        let found: BTreeSet<String> =
            findings.iter().map(|finding| naive::identity_of(finding, &runs)).collect();
        prop_assert_eq!(found, naive::falcon_patterns(&runs[0], &options, Readers::OncePerTurn));
    }

    #[test]
    fn ranks_follow_scores(technique in technique(), runs in runs(), options in options()) {
        let findings = localize(technique, &runs, &options);
        for finding in &findings {
            let better = findings.iter().filter(|other| other.score > finding.score).count();
            let equal = findings.iter().filter(|other| other.score == finding.score).count();
            prop_assert_eq!((finding.rank, finding.tied), (better + 1, equal));
            prop_assert_eq!(finding.failed as usize, finding.failing_runs.len());
        }
        prop_assert!(findings.is_sorted_by_key(|finding| (finding.rank, std::cmp::Reverse(finding.failed))));
    }

    #[test]
    fn names_of_threads_and_locations_do_not_matter(
        technique in technique(),
        runs in runs(),
        options in options(),
        threads in Just([7, 3, 1_000_000, 0]).prop_shuffle(),
        locations in Just([u32::MAX, 2, 0]).prop_shuffle(),
    ) {
        let mut renamed = runs.clone();
        for run in &mut renamed {
            for access in &mut run.accesses {
                access.thread = ThreadId(threads[access.thread.0 as usize]);
                access.location = LocationId(locations[access.location.0 as usize]);
            }
            for gap in &mut run.gaps {
                gap.location = LocationId(locations[gap.location.0 as usize]);
            }
        }
        prop_assert_eq!(localize(technique, &renamed, &options), localize(technique, &runs, &options));
    }

    #[test]
    fn order_of_runs_does_not_matter(
        technique in technique(),
        options in options(),
        (runs, shuffled) in runs().prop_flat_map(|runs| (Just(runs.clone()), Just(runs).prop_shuffle())),
    ) {
        prop_assert_eq!(localize(technique, &shuffled, &options), localize(technique, &runs, &options));
    }
}
