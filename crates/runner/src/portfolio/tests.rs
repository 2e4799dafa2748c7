use super::*;

/// How often each way is chosen in 300 runs, if its runs fail at this rate and take so many seconds.
fn chosen(rates: &[(Policy, f64, f64)]) -> BTreeMap<Policy, u64> {
    let policies: Vec<Policy> = rates.iter().map(|rate| rate.0).collect();
    let mut portfolio = Portfolio::new(5, &policies);
    let mut chance = Chance(77);
    let mut counts = BTreeMap::new();
    for _ in 0..300 {
        let policy = portfolio.choose(|_| true);
        let (_, rate, seconds) = rates.iter().find(|rate| rate.0 == policy).expect("one of those");
        let failed = chance.share() < *rate;
        portfolio.observe(policy, &Run { failed, seconds: *seconds, points: 9, taken_away: 0 });
        *counts.entry(policy).or_default() += 1;
    }
    counts
}

#[test]
fn what_makes_the_test_fail_is_preferred() {
    let counts = chosen(&[(Policy::Noise, 0.01, 0.01), (Policy::Pct, 0.3, 0.01), (Policy::Pos, 0.02, 0.01)]);
    assert!(counts[&Policy::Pct] > 200, "{counts:?}");
    assert_eq!(counts.len(), 3, "{counts:?}");
}

#[test]
fn failures_per_second_count() {
    let counts = chosen(&[(Policy::Noise, 0.1, 0.01), (Policy::Pct, 0.2, 0.16)]);
    assert!(counts[&Policy::Noise] > 200, "{counts:?}");
}

#[test]
fn where_failures_are_rare_no_more_is_expected_of_a_way_that_is_new() {
    let run = |failed| Run { failed, seconds: 0.01, points: 9, taken_away: 0 };
    let policies = [Policy::Pos, Policy::Surw, Policy::Pct, Policy::Random];
    let mut portfolio = Portfolio::new(5, &policies);
    (1..=40).for_each(|nth| portfolio.observe(Policy::Pos, &run(nth % 20 == 0)));
    for policy in &policies[1..] {
        (0..3).for_each(|_| portfolio.observe(*policy, &run(false)));
    }
    let mut draw = |nth| {
        portfolio.choices = nth;
        portfolio.draw(&policies)
    };
    let by_pos = (0..300).filter(|&nth| draw(nth) == Policy::Pos).count();
    // As many as of each of the others would be 75; if one in four were expected to fail of each of these, 18.
    assert!((60..150).contains(&by_pos), "{by_pos}");
}

#[test]
fn what_failures_take_does_not_count() {
    let mut portfolio = Portfolio::new(5, &[Policy::Noise, Policy::Surw]);
    let mut counts: BTreeMap<Policy, u64> = BTreeMap::new();
    for _ in 0..300 {
        let policy = portfolio.choose(|_| true);
        let failed = policy == Policy::Surw && counts.get(&policy).unwrap_or(&0).is_multiple_of(3);
        let seconds = if failed { 30.0 } else { 0.01 };
        portfolio.observe(policy, &Run { failed, seconds, points: 9, taken_away: 0 });
        *counts.entry(policy).or_default() += 1;
    }
    assert!(counts[&Policy::Surw] > 200, "{counts:?}");
}

/// The ways that are chosen if all runs pass, or fail, from now on.
fn choices(portfolio: &mut Portfolio, failed: bool, runs: usize) -> Vec<Policy> {
    let run = Run { failed, seconds: 0.01, points: 9, taken_away: 0 };
    let choose = |_| {
        let policy = portfolio.choose(|policy| policy != Policy::Near);
        portfolio.observe(policy, &run);
        policy
    };
    (0..runs).map(choose).collect()
}

#[test]
fn two_ways_lead_and_others_are_let_in_as_failures_stay_away() {
    let mut portfolio = Portfolio::new(5, &Policy::MIXED);
    let patience = PATIENCE as usize;
    let chosen = choices(&mut portfolio, false, 9 * patience);
    assert_eq!(chosen[..3], LEADERS);
    assert!(chosen[..patience].iter().all(|policy| LEADERS.contains(policy)), "{chosen:?}");
    let led = chosen.iter().filter(|policy| LEADERS.contains(policy)).count();
    assert!(led * 2 > chosen.len(), "{chosen:?}");
    let tried: BTreeSet<Policy> = chosen.iter().copied().collect();
    assert_eq!(tried.len(), Policy::MIXED.len() - 1, "all but runs near a failing one: {tried:?}");
    let new = (0..chosen.len()).filter(|&at| !chosen[..at].contains(&chosen[at])).skip(2);
    let new: Vec<usize> = new.collect();
    assert!(new.windows(2).all(|two| two[1] - two[0] >= patience), "{new:?}");
}

#[test]
fn where_runs_fail_and_pass_no_further_way_is_tried() {
    let mut portfolio = Portfolio::new(5, &Policy::MIXED);
    let patience = PATIENCE as usize;
    for _ in 0..20 {
        let chosen =
            [choices(&mut portfolio, false, patience - 1), choices(&mut portfolio, true, 1)].concat();
        assert!(chosen.iter().all(|policy| LEADERS.contains(policy)), "{chosen:?}");
    }
    let failing = choices(&mut portfolio, true, 2 * patience);
    assert!(failing.iter().any(|policy| !LEADERS.contains(policy)), "nothing passes: {failing:?}");
}

#[test]
fn without_those_that_lead_others_are_tried() {
    let ways = [Policy::Pct, Policy::Random];
    assert!(choices(&mut Portfolio::new(5, &ways), false, 40).iter().all(|way| ways.contains(way)));
    let mut free = Portfolio::new(5, &Policy::MIXED);
    assert!((0..40).all(|_| !free.choose(|policy| !policy.is_controlled()).is_controlled()));
}

#[test]
fn a_way_that_always_fails_leaves_nothing_to_compare_with() {
    let counts = chosen(&[(Policy::Random, 1.0, 0.01), (Policy::Surw, 0.5, 0.01)]);
    assert!(counts[&Policy::Surw] > 200, "{counts:?}");
}

#[test]
fn runs_near_a_failing_one_are_made_where_failures_are_rare_and_never_many_in_a_row() {
    let near = |(others, near, seconds)| {
        let counts = chosen(&[(Policy::Pos, others, 0.01), (Policy::Near, near, seconds)]);
        counts.get(&Policy::Near).copied().unwrap_or(0)
    };
    let often = near((0.05, 0.5, 0.02));
    assert!((140..=200).contains(&often), "{often}");
    assert!(near((0.5, 0.5, 0.01)) < 30, "others do as well");
    assert!(near((0.2, 0.01, 0.01)) < 30, "nothing fails there");
    assert!(near((0.05, 0.5, 1.0)) < 30, "it takes too long");
    let slow = chosen(&[(Policy::Noise, 0.04, 0.01), (Policy::Delays, 0.4, 0.2), (Policy::Near, 0.5, 0.02)]);
    assert!(slow[&Policy::Near] > 60, "others would, but not in this time: {slow:?}");
    let mut portfolio = Portfolio::new(5, &[Policy::Pos, Policy::Near]);
    observe(&mut portfolio, Policy::Pos, PASSES, 1);
    let chosen: Vec<Policy> = (0..99).map(|_| portfolio.choose(|_| true)).collect();
    let turn = [Policy::Near, Policy::Near, Policy::Pos];
    assert!(chosen.chunks(3).all(|three| three == turn), "at once, and by turns: {chosen:?}");
}

/// So many runs of one way that pass and fail.
fn observe(portfolio: &mut Portfolio, policy: Policy, passed: u64, failed: u64) {
    let run = |failed| Run { failed, seconds: 0.01, points: 9, taken_away: 0 };
    (0..passed).for_each(|_| portfolio.observe(policy, &run(false)));
    (0..failed).for_each(|_| portfolio.observe(policy, &run(true)));
}

/// How often each way is chosen next, of so many runs of which nobody knows yet what came of them.
fn next(portfolio: &Portfolio, runs: u64) -> BTreeMap<Policy, u64> {
    let mut portfolio = Portfolio { alike: 0, ..portfolio.clone() };
    let mut counts = BTreeMap::new();
    (0..runs).for_each(|_| *counts.entry(portfolio.choose(|_| true)).or_default() += 1);
    counts
}

#[test]
fn where_passing_runs_are_all_that_is_missing_none_is_made_near_a_failing_one() {
    for (passed, failed, is_near) in [
        (3, 1, false),
        (4, 1, true),
        (15, 4, false),
        (16, 4, true),
        (PASSES - 1, 5, false),
        (PASSES, 5, true),
    ] {
        let mut portfolio = Portfolio::new(5, &[Policy::Pos, Policy::Near]);
        observe(&mut portfolio, Policy::Pos, passed, failed);
        let counts = next(&portfolio, 30);
        assert_eq!(
            counts.contains_key(&Policy::Near),
            is_near,
            "{passed} passed, {failed} failed: {counts:?}"
        );
    }
}

#[test]
fn where_passing_runs_are_missing_the_way_leads_whose_runs_pass() {
    let mut portfolio = Portfolio::new(5, &[Policy::Noise, Policy::Pos]);
    observe(&mut portfolio, Policy::Noise, 8, 1);
    observe(&mut portfolio, Policy::Pos, 5, 5);
    let counts = next(&portfolio, 30);
    assert!(counts[&Policy::Noise] >= 20, "{counts:?}");
    // Later both kinds count.
    observe(&mut portfolio, Policy::Noise, 40, 1);
    let counts = next(&portfolio, 30);
    assert!(counts[&Policy::Pos] >= 20, "{counts:?}");
}

#[test]
fn after_a_failure_its_way_leads_in_two_of_three_runs() {
    let mut portfolio = Portfolio::new(5, &[Policy::Noise, Policy::Pos]);
    observe(&mut portfolio, Policy::Noise, 2, 1);
    observe(&mut portfolio, Policy::Pos, 2, 0);
    let chosen: Vec<Policy> = (0..30).map(|_| portfolio.choose(|_| true)).collect();
    assert!(chosen.chunks(3).all(|three| three[..2] == [Policy::Noise; 2]), "{chosen:?}");
    assert!(chosen.contains(&Policy::Pos), "{chosen:?}");
}

#[test]
fn the_same_outcomes_make_the_same_choices() {
    let rates = [(Policy::Noise, 0.1, 0.01), (Policy::Pct, 0.1, 0.01), (Policy::Surw, 0.1, 0.01)];
    assert_eq!(chosen(&rates), chosen(&rates));
}

#[test]
fn control_that_does_not_work_is_given_up() {
    let free = Run { failed: false, seconds: 0.1, points: 0, taken_away: 0 };
    let controlled = |points, seconds| Run { points, seconds, ..free };
    let hangs = |points| Run { failed: true, ..controlled(points, 30.0) };
    for (runs, why) in [
        (vec![controlled(0, 0.1)], Some(Dropped::NoPoints)),
        (vec![controlled(5, 3.0), controlled(5, 3.0)], Some(Dropped::Slow)),
        (vec![Run { taken_away: 99, ..controlled(5, 0.1) }; 2], Some(Dropped::Slow)),
        (vec![controlled(5, 0.9); 3], None),
        (vec![controlled(5, 3.0), controlled(5, 0.1)], None),
        // Those that hang by themselves stand still.
        (vec![controlled(5, 0.1), hangs(6), hangs(6)], None),
        (vec![controlled(5, 0.1), hangs(600), hangs(600)], Some(Dropped::Slow)),
    ] {
        let mut portfolio = Portfolio::new(1, &Policy::MIXED);
        portfolio.observe(Policy::Noise, &free);
        runs.iter().for_each(|run| portfolio.observe(Policy::Random, run));
        assert_eq!(portfolio.dropped(), why);
        let goes_on = (0..40).any(|_| portfolio.choose(|_| true).is_controlled());
        assert_eq!(goes_on, why.is_none());
    }
    let mut portfolio = Portfolio::new(1, &Policy::MIXED);
    [Policy::Noise, Policy::Pos, Policy::Random].into_iter().for_each(|policy| portfolio.lose(policy));
    assert_eq!(portfolio.dropped(), None);
    portfolio.lose(Policy::Pos);
    assert_eq!(portfolio.dropped(), Some(Dropped::Slow));
}

#[test]
fn a_way_that_does_not_suit_the_test_is_given_up_alone() {
    let passing = Run { failed: false, seconds: 0.1, points: 9, taken_away: 0 };
    let after = |random: u64, pos: u64, lost: u64| {
        let mut portfolio = Portfolio::new(1, &[Policy::Noise, Policy::Pos, Policy::Random]);
        (0..random).for_each(|_| portfolio.observe(Policy::Random, &passing));
        (0..pos).for_each(|_| portfolio.observe(Policy::Pos, &passing));
        (0..lost).for_each(|_| portfolio.lose(Policy::Random));
        let dropped = portfolio.dropped();
        let made: BTreeSet<Policy> = (0..99).map(|_| portfolio.choose(|_| true)).collect();
        (dropped, made.contains(&Policy::Random), made.contains(&Policy::Pos))
    };
    assert_eq!(after(1, 14, 1), (None, true, true));
    assert_eq!(after(1, 14, 4), (None, false, true));
    assert_eq!(after(9, 14, 3), (Some(Dropped::Slow), false, false), "most of its runs end");
    assert_eq!(after(1, 2, 3), (Some(Dropped::Slow), false, false), "nor may the others suit it");
}

#[test]
fn fewer_passing_runs_can_be_enough() {
    let run = |failed| Run { failed, seconds: 0.01, points: 9, taken_away: 0 };
    let mut portfolio = Portfolio::new(5, &[Policy::Pos, Policy::Noise]);
    (0..9).for_each(|_| portfolio.observe(Policy::Pos, &run(false)));
    (0..4).for_each(|_| portfolio.observe(Policy::Pos, &run(true)));
    assert!(portfolio.lacks_passing());
    portfolio.want_passes(Some(8));
    assert!(!portfolio.lacks_passing());
    portfolio.want_passes(None);
    assert!(portfolio.lacks_passing());
}
