//! What holds for every trace.

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;

use localize::*;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use support::naive::windows::{self, Readers};
use support::naive::{self, Expected};

/// The same cases each time.
fn config() -> ProptestConfig {
    ProptestConfig {
        cases: 400,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(4711),
        ..ProptestConfig::default()
    }
}

/// Few threads, locations, sites and iterations, so that patterns are frequent and often the same.
fn run() -> impl Strategy<Value = Run> {
    let kind = prop_oneof![
        4 => Just(AccessKind::Read),
        4 => Just(AccessKind::Write),
        1 => Just(AccessKind::Update),
    ];
    let iteration = prop::option::of((0..2u32, 0..2u32));
    let access = (kind, 0..4u32, 0..3u32, 0..3u32, iteration);
    let access = access.prop_map(|(kind, thread, location, site, iteration)| Access {
        iteration: iteration.map(|(entry, iteration)| LoopPosition { entry, iteration }),
        ..support::access(kind, ThreadId(thread), LocationId(location), SiteId(site))
    });
    let outcome = prop_oneof![Just(Outcome::Pass), Just(Outcome::Fail), Just(Outcome::Hang)];
    let gaps = prop_oneof![3 => Just(Vec::new()), 1 => prop::collection::vec((0..3u32, 0..40usize), 1..3)];
    let observation = (0..5u32, any::<bool>(), any::<bool>());
    let observations = prop::option::of(observation);
    let accesses = prop::collection::vec(access, 0..40);
    (outcome, accesses, gaps, observations).prop_map(|(outcome, accesses, gaps, observations)| {
        let mut gaps: Vec<Gap> = gaps
            .into_iter()
            .map(|(location, before)| Gap { location: LocationId(location), before })
            .collect();
        gaps.sort_by_key(|gap| gap.before);
        let observed = |(site, local, remote)| Observation { site: SiteId(site), local, remote };
        let observations = observations.into_iter().map(observed).collect();
        Run { accesses, gaps, observations, ..Run::new(RunId(0), outcome) }
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
        Options { window: NonZeroUsize::new(window).unwrap(), distance, formula, ..Options::default() }
    })
}

fn technique() -> impl Strategy<Value = Technique> {
    prop::sample::select(Technique::all().collect::<Vec<_>>())
}

fn procedure() -> impl Strategy<Value = Procedure> {
    prop::sample::select(&Procedure::ALL[..])
}

/// Runs of one program of two or three threads: each makes its own accesses, and a failing run may end early.
fn interleavings() -> impl Strategy<Value = Vec<Run>> {
    let access = (any::<bool>(), 0..3u32, 0..2u32);
    let threads = prop::collection::vec(prop::collection::vec(access, 1..5), 2..4);
    let run = (any::<bool>(), prop::collection::vec(0..3usize, 15), 0..16usize);
    (threads, prop::collection::vec(run, 1..9)).prop_map(|(threads, runs)| {
        let run = |(id, (fails, schedule, end)): (u32, (bool, Vec<usize>, usize))| {
            let mut next = vec![0; threads.len()];
            let mut accesses = Vec::new();
            let everyone = (0..threads.len()).cycle().take(5 * threads.len());
            for thread in schedule.into_iter().chain(everyone).map(|thread| thread % threads.len()) {
                let Some(&(writes, location, iteration)) = threads[thread].get(next[thread]) else {
                    continue;
                };
                let kind = if writes { AccessKind::Write } else { AccessKind::Read };
                let site = SiteId((10 * thread + next[thread]) as u32);
                let access = support::access(kind, ThreadId(thread as u32), LocationId(location), site);
                // The first thread loops over its accesses.
                let iteration = (thread == 0).then_some(LoopPosition { entry: 0, iteration });
                accesses.push(Access { iteration, ..access });
                next[thread] += 1;
            }
            let outcome = if fails { Outcome::Fail } else { Outcome::Pass };
            if fails {
                accesses.truncate(end);
            }
            Run { accesses, ..Run::new(RunId(id), outcome) }
        };
        (1..).zip(runs).map(run).collect()
    })
}

fn check_locon(runs: &[Run], only: Option<Procedure>) -> Result<(), TestCaseError> {
    let mut collector = Collector::new(Technique::Locon, &Options::default());
    runs.iter().for_each(|run| collector.observe(run));
    let findings = only.map_or_else(|| collector.findings(), |only| collector.findings_by(only));
    let mut actual = BTreeMap::new();
    for finding in &findings {
        let Detail::Locon(procedure) = finding.detail else { panic!("{finding:?}") };
        let found = naive::locon::Expected {
            failing_runs: finding.failing_runs.clone(),
            procedure,
            example_run: finding.example.run,
            example: finding.example.accesses.clone(),
        };
        let twice = actual.insert(naive::locon::identity_of(finding, runs), found);
        prop_assert!(twice.is_none(), "one suspect is two findings: {finding:?}");
    }
    let procedures = only.as_ref().map_or(&Procedure::ALL[..], std::slice::from_ref);
    prop_assert_eq!(actual, naive::locon::expected(runs, procedures));
    Ok(())
}

/// Whether what more failing runs show, and what is complete earlier, goes first, whatever the score.
fn ranks_by_time(technique: Technique) -> bool {
    matches!(technique, Technique::Locon | Technique::Avio | Technique::Defuse | Technique::Pset)
}

/// A location that is used for so long that slots are moved, and histories are too long to be compared with others.
fn long_run() -> impl Strategy<Value = Run> {
    let kind = prop_oneof![
        6 => Just(AccessKind::Read),
        2 => Just(AccessKind::Write),
        1 => Just(AccessKind::Update),
    ];
    // The first two threads alternate, and now and then others come by.
    let thread = prop_oneof![20 => 0..2u32, 1 => 2..4u32];
    let location = prop_oneof![9 => Just(0), 1 => Just(1u32)];
    let access = (kind, thread, location, 0..3u32).prop_map(|(kind, thread, location, site)| {
        support::access(kind, ThreadId(thread), LocationId(location), SiteId(site))
    });
    prop::collection::vec(access, 250..300)
        .prop_map(|accesses| Run { accesses, ..Run::new(RunId(1), Outcome::Fail) })
}

fn check_against_twin(technique: Technique, runs: &[Run], options: &Options) -> Result<(), TestCaseError> {
    let findings = localize(technique, runs, options);
    let mut actual = BTreeMap::new();
    for finding in &findings {
        let found = Expected {
            failing_runs: finding.failing_runs.clone(),
            passed: finding.passed,
            example_run: Some(finding.example.run),
            example_id: format!("{:?}", finding.example.id),
            example: finding.example.accesses.clone(),
        };
        let twice = actual.insert(naive::identity_of(finding, runs), found);
        prop_assert!(twice.is_none(), "one suspect is two findings: {finding:?}");
    }
    prop_assert_eq!(actual, naive::expected(technique, runs, options));
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4, ..config() })]

    #[test]
    fn long_histories_are_looked_at_like_short_ones(run in long_run()) {
        for technique in [Technique::Falcon, Technique::Unicorn, Technique::Avio, Technique::Defuse, Technique::Pset] {
            check_against_twin(technique, std::slice::from_ref(&run), &Options::default())?;
        }
        check_locon(std::slice::from_ref(&run), None)?;
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn finds_what_its_naive_twin_finds(technique in technique(), runs in runs(), options in options()) {
        // Locon has a twin of its own; the verdict is made of what the others see.
        prop_assume!(!matches!(technique, Technique::Locon | Technique::Verdict));
        check_against_twin(technique, &runs, &options)?;
    }

    #[test]
    fn techniques_with_one_basis_share_a_collector(technique in technique(), runs in runs(), options in options()) {
        let mut collector = Collector::new(technique.basis(), &options);
        runs.iter().for_each(|run| collector.observe(run));
        prop_assert_eq!(collector.findings_of(technique), localize(technique, &runs, &options));
    }

    #[test]
    fn locon_finds_what_its_naive_twin_finds(runs in runs(), only in prop::option::of(procedure())) {
        check_locon(&runs, only)?;
    }

    /// Couples are frequent where all runs make the same accesses.
    #[test]
    fn locon_finds_what_its_naive_twin_finds_in_one_program(
        runs in interleavings(),
        only in prop::option::of(procedure()),
    ) {
        check_locon(&runs, only)?;
    }

    #[test]
    fn recon_reconstructs_what_its_naive_twin_does(runs in runs()) {
        let graphs = naive::communication::graphs(&runs);
        for finding in localize(Technique::Recon, &runs, &Options::default()) {
            let Detail::Reconstruction(around) = &finding.detail else { panic!("{finding:?}") };
            let regions = [&around.prefix, &around.body, &around.suffix].map(|region| {
                let node = |near: &Neighbour| ((near.node.site.0, near.node.context.to_string()), near.confidence);
                region.iter().map(node).collect::<BTreeMap<_, _>>()
            });
            let identity = naive::identity_of(&finding, &runs);
            let expected = naive::communication::regions(&identity, &graphs);
            prop_assert_eq!(&regions, &expected);

            let confidences: Vec<f64> = expected.iter().flat_map(|region| region.values().copied()).collect();
            let consistency = confidences.iter().sum::<f64>() / confidences.len().max(1) as f64;
            let [failing, passing] =
                [true, false].map(|fails| naive::communication::contexts(finding.pattern.sites(), &graphs, fails));
            let variation = (failing - passing).abs() / (failing + passing);
            let all = |fails: bool| runs.iter().filter(|run| run.outcome.is_failing() == fails).count() as f64;
            let frequency = |shown: u32, all: f64| f64::from(shown) / all;
            let in_passing = match finding.passed {
                0 => 1.0 / (all(false) + 1.0),
                shown => frequency(shown, all(false)),
            };
            let ratio = frequency(finding.failed, all(true)) / in_passing;
            let features = [ratio, variation, consistency];
            let actual = [around.frequency_ratio, around.context_variation, around.consistency];
            for (feature, expected) in actual.into_iter().zip(features) {
                prop_assert!((feature - expected).abs() < 1e-9, "{:?} is not {:?}", actual, features);
            }
            let score: f64 = features.into_iter().filter(|&feature| feature > 1e-9).product();
            prop_assert!((finding.score - score).abs() < 1e-9);
        }
    }

    #[test]
    fn cci_scores_by_importance(runs in runs()) {
        let options = Options::default();
        let findings = localize(Technique::Cci, &runs, &options);
        let all_failed = runs.iter().filter(|run| run.outcome.is_failing()).count() as f64;
        for finding in &findings {
            // The runs that show either predicate of the site.
            let observed = |fails: bool| {
                let of_site = |run: &&Run| {
                    let shown = localize(Technique::Cci, [*run], &options);
                    shown.iter().any(|other| other.pattern == finding.pattern)
                };
                runs.iter().filter(|run| run.outcome.is_failing() == fails).filter(of_site).count() as f64
            };
            let [f, p] = [finding.failed, finding.passed].map(f64::from);
            let increase = f / (f + p) - observed(true) / (observed(true) + observed(false));
            let sensitivity = if f == all_failed { 1.0 } else { f.ln() / all_failed.ln() };
            let expected = if f == 0.0 || increase <= 1e-9 || sensitivity == 0.0 {
                0.0
            } else {
                2.0 * increase * sensitivity / (increase + sensitivity)
            };
            prop_assert!((finding.score - expected).abs() < 1e-9, "{finding:?} should have {expected}");
        }
    }

    /// In a window with room for all turns, the papers' rule finds the same patterns.
    #[test]
    fn counting_readers_once_per_write_loses_nothing(run in run()) {
        let options = support::window(100);
        let findings = localize(Technique::Falcon, [&run], &options);
        let runs = [run];
        let found: BTreeSet<String> =
            findings.iter().map(|finding| naive::identity_of(finding, &runs)).collect();
        prop_assert_eq!(found, windows::falcon_patterns(&runs[0], &options, Readers::OncePerTurn));
    }

    #[test]
    fn ranks_follow_scores(technique in technique(), runs in runs(), options in options()) {
        // The verdict shares no ranks: of equal causes the earlier goes first.
        prop_assume!(!ranks_by_time(technique) && technique != Technique::Verdict);
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
    fn ranks_follow_time(technique in technique(), runs in runs(), options in options()) {
        prop_assume!(ranks_by_time(technique));
        let findings = localize(technique, &runs, &options);
        let all_failed = runs.iter().filter(|run| run.outcome.is_failing()).count();
        let key = |finding: &Finding| {
            (std::cmp::Reverse(finding.failed), finding.example.accesses.iter().copied().max())
        };
        for finding in &findings {
            let better = findings.iter().filter(|other| key(other) < key(finding)).count();
            let equal = findings.iter().filter(|other| key(other) == key(finding)).count();
            prop_assert_eq!((finding.rank, finding.tied), (better + 1, equal));
            prop_assert_eq!(finding.failed as usize, finding.failing_runs.len());
            prop_assert_eq!(finding.score, f64::from(finding.failed) / all_failed as f64);
        }
        prop_assert!(findings.is_sorted_by_key(key));
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
