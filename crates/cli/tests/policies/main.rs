//! The scheduling policies by themselves, on a program that is nothing but operations.

use std::collections::BTreeMap;

use policies::Step;
use recording::{Decision, Deviation, List, RunPlan, Schedule};
use runner::preemptions::{Covered, Preemptions};

/// The site that the plan calls interesting, and one that it does not.
const CHOSEN: usize = 0x10;
const OTHER: usize = 0x20;

/// Threads as the sites of their operations.
type Program = [&'static [usize]];

type Policies = policies::Policies<Operation, 64>;
type Candidate = policies::Candidate<Operation>;

/// A write at this site, to a variable of its own.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Operation(usize);

impl Step for Operation {
    fn conflicts(self, other: Operation) -> bool {
        self == other
    }

    fn site(self) -> usize {
        self.0
    }
}

fn operation(site: usize) -> Operation {
    Operation(site)
}

/// The threads, from 1, in the order in which they did something at the chosen site.
fn run(program: &Program, plan: &RunPlan) -> Vec<usize> {
    run_and_decide(program, plan).0
}

/// Besides, the choices that there were.
fn run_and_decide(program: &Program, plan: &RunPlan) -> (Vec<usize>, Vec<Decision>) {
    let mut policies = Policies::new();
    policies.start(plan, [CHOSEN].into_iter());
    (1..=program.len()).for_each(|seat| policies.chosen().seated(seat));
    let mut done = vec![0; program.len()];
    let (mut order, mut decisions) = (Vec::new(), Vec::new());
    let mut current = None;
    loop {
        let left = |seat: usize| program[seat - 1].get(done[seat - 1]);
        let candidates: Vec<Candidate> = (1..=program.len())
            .filter_map(|seat| Some(Candidate { seat, operation: operation(*left(seat)?) }))
            .collect();
        let Some(first) = candidates.first() else { return (order, decisions) };
        let current_one = current.filter(|&seat| left(seat).is_some());
        let seat = match candidates.len() {
            1 => first.seat,
            count => {
                decisions.push(Decision { candidates: count as u16, preempts: current_one.is_some().into() });
                candidates[policies.chosen().choose(&candidates, current_one)].seat
            }
        };
        let site = program[seat - 1][done[seat - 1]];
        done[seat - 1] += 1;
        if site == CHOSEN {
            order.push(seat);
        }
        policies.chosen().done(seat, operation(site));
        current = Some(seat);
    }
}

/// How often each order comes about in this many runs.
fn sample(program: &Program, schedule: Schedule, runs: u64) -> BTreeMap<Vec<usize>, u64> {
    let chosen = |thread: &&[usize]| thread.iter().filter(|&&site| site == CHOSEN).count() as u32;
    let weights = List::of(program.iter().map(chosen));
    let mut seen = BTreeMap::new();
    for seed in 0..runs {
        // Seeds of neighbouring runs have nothing in common, as in a campaign.
        let seed = seed.wrapping_mul(0x2545_f491_4f6c_dd1d);
        let plan = RunPlan { seed, schedule, weights, ..RunPlan::default() };
        *seen.entry(run(program, &plan)).or_default() += 1;
    }
    seen
}

/// All orders of what the threads do at the chosen site, by trying everything.
fn all_orders(left: &mut [usize], order: &mut Vec<usize>, all: &mut Vec<Vec<usize>>) {
    if left.iter().all(|&left| left == 0) {
        all.push(order.clone());
    }
    for thread in 0..left.len() {
        if left[thread] > 0 {
            left[thread] -= 1;
            order.push(thread + 1);
            all_orders(left, order, all);
            order.pop();
            left[thread] += 1;
        }
    }
}

/// The sum of squared deviations from equal shares, in units of the shares.
fn chi_square(program: &Program, seen: &BTreeMap<Vec<usize>, u64>) -> (f64, usize) {
    let mut left: Vec<usize> =
        program.iter().map(|thread| thread.iter().filter(|&&site| site == CHOSEN).count()).collect();
    let mut all = Vec::new();
    all_orders(&mut left, &mut Vec::new(), &mut all);
    let runs: u64 = seen.values().sum();
    let share = runs as f64 / all.len() as f64;
    let distance =
        |order: &Vec<usize>| (seen.get(order).copied().unwrap_or(0) as f64 - share).powi(2) / share;
    (all.iter().map(distance).sum(), all.len())
}

const LONG: &[usize] = &[CHOSEN, OTHER, OTHER, OTHER, OTHER, OTHER, OTHER, OTHER, CHOSEN, CHOSEN, CHOSEN];
const SHORT: &[usize] = &[CHOSEN, CHOSEN];

#[test]
fn surw_makes_all_orders_of_what_is_interesting_equally_likely() {
    for (program, orders) in [
        (&[&[CHOSEN; 3][..], &[CHOSEN; 3]][..], 20),
        (&[LONG, SHORT], 15),
        (&[&[OTHER, CHOSEN, OTHER, CHOSEN], &[CHOSEN; 2], &[OTHER, OTHER, OTHER, CHOSEN]], 30),
    ] {
        let (distance, count) = chi_square(program, &sample(program, Schedule::Surw, 6_000));
        assert_eq!(count, orders);
        // Expected is one less than the number of orders; chance alone exceeds it by so much once in a million.
        assert!(distance < 2.0 * count as f64 + 45.0, "{distance} for {count} orders");
    }
}

#[test]
fn a_random_walk_does_not() {
    let program = [LONG, SHORT];
    let (distance, _) = chi_square(&program, &sample(&program, Schedule::Random, 6_000));
    assert!(distance > 300.0, "{distance}");
}

#[test]
fn surw_goes_on_where_the_counts_were_wrong() {
    let program: &Program = &[&[CHOSEN; 4], &[CHOSEN; 2], &[CHOSEN]];
    for weights in [List::of([1, 40]), List::default()] {
        let plan = RunPlan { schedule: Schedule::Surw, weights, ..RunPlan::default() };
        assert_eq!(run(program, &plan).len(), 7);
    }
}

#[test]
fn pct_with_one_change_in_few_points_finds_the_change_anywhere() {
    // Thread 2 between the two operations of thread 1: a change after the first of 3 points, with the right priorities.
    let program: &Program = &[&[CHOSEN; 2], &[CHOSEN]];
    let mut between = 0;
    for seed in 0..2000u64 {
        let seed = seed.wrapping_mul(0x2545_f491_4f6c_dd1d);
        let plan = RunPlan { seed, schedule: Schedule::Pct, points: 3, ..RunPlan::default() };
        between += u64::from(run(program, &plan) == [1, 2, 1]);
    }
    // At least 1 / (n k) of the runs with one change, a quarter of all: 83.
    assert!(between > 83, "{between}");
}

#[test]
fn bounded_runs_deviate_where_they_are_told() {
    let program: &Program = &[&[CHOSEN; 3], &[CHOSEN; 2], &[CHOSEN; 1]];
    let order = |deviations: &[(u32, u16)]| {
        let deviations =
            deviations.iter().map(|&(decision, alternative)| Deviation { decision, alternative });
        let deviations = List::of(deviations);
        run(program, &RunPlan { schedule: Schedule::Bounded, deviations, ..RunPlan::default() })
    };
    assert_eq!(order(&[]), [1, 1, 1, 2, 2, 3]);
    assert_eq!(order(&[(0, 1)]), [2, 2, 3, 1, 1, 1]);
    assert_eq!(order(&[(0, 2)]), [3, 1, 1, 1, 2, 2]);
    assert_eq!(order(&[(1, 1), (2, 2)]), [1, 2, 1, 1, 2, 3]);
    assert_eq!(order(&[(3, 1)]), [1, 1, 1, 3, 2, 2]);
}

/// How often a thread that could have gone on did not.
fn preemptions(program: &Program, order: &[usize]) -> u32 {
    let mut done = vec![0; program.len()];
    let mut count = 0;
    for pair in order.windows(2) {
        done[pair[0] - 1] += 1;
        count += u32::from(pair[0] != pair[1] && done[pair[0] - 1] < program[pair[0] - 1].len());
    }
    count
}

#[test]
fn a_bounded_search_runs_each_schedule_exactly_once() {
    let programs: [&Program; 3] = [
        &[&[CHOSEN; 3], &[CHOSEN; 3]],
        &[&[CHOSEN; 2], &[CHOSEN], &[CHOSEN; 2]],
        &[&[CHOSEN], &[CHOSEN], &[CHOSEN], &[CHOSEN]],
    ];
    for program in programs {
        let mut left: Vec<usize> = program.iter().map(|thread| thread.len()).collect();
        let mut all = Vec::new();
        all_orders(&mut left, &mut Vec::new(), &mut all);
        for bound in 0..6 {
            let mut search = Preemptions::up_to(bound);
            let mut seen = Vec::new();
            while let Some(schedule) = search.next_schedule() {
                let deviations = List::of(schedule.iter().copied());
                let plan = RunPlan { schedule: Schedule::Bounded, deviations, ..RunPlan::default() };
                let (order, decisions) = run_and_decide(program, &plan);
                search.observe(&schedule, &decisions);
                seen.push(order);
            }
            let by_number: Vec<u32> = seen.iter().map(|order| preemptions(program, order)).collect();
            assert!(by_number.is_sorted(), "those with fewer preemptions come first");
            let schedules = seen.len() as u64;
            assert_eq!(search.covered(), Some(Covered { preemptions: bound, schedules }));
            seen.sort();
            let within = |order: &&Vec<usize>| preemptions(program, order) <= bound;
            let expected: Vec<Vec<usize>> = all.iter().filter(within).cloned().collect();
            assert_eq!(seen, expected, "up to {bound} preemptions");
        }
    }
}

/// All threads have nothing to do but wait, each at a place of its own, and say so. The chance that one of three is never chosen at random of the other
/// two is below 2^-299.
#[test]
fn no_thread_waits_for_ever_while_others_spin() {
    for schedule in [Schedule::Random, Schedule::Pct, Schedule::Pos, Schedule::Surw] {
        let mut policies = Policies::new();
        policies.start(&RunPlan { seed: 7, schedule, ..RunPlan::default() }, [CHOSEN].into_iter());
        (1..=3).for_each(|seat| policies.chosen().seated(seat));
        (1..=3).for_each(|seat| policies.chosen().passes(seat));
        let mut turns = [0; 4];
        let mut current = 3;
        for _ in 0..300 {
            let others = (1..=3).filter(|&seat| seat != current);
            let candidates: Vec<Candidate> =
                others.map(|seat| Candidate { seat, operation: operation(OTHER + seat) }).collect();
            current = candidates[policies.chosen().choose(&candidates, None)].seat;
            turns[current] += 1;
            policies.chosen().done(current, operation(OTHER + current));
            policies.chosen().passes(current);
        }
        assert!(turns[1..].iter().all(|&turns| turns > 0), "{schedule:?}: {turns:?}");
    }
}

/// The first thread was drawn for the next interesting operation and waits for the third, which is about to do one; the
/// second spins. The chance that the third is never chosen of two is 2^-300.
#[test]
fn surw_waits_for_no_thread_that_waits_itself() {
    let mut policies = Policies::new();
    let weights = List::of([1000, 0, 0]);
    let plan = RunPlan { seed: 7, schedule: Schedule::Surw, weights, ..RunPlan::default() };
    policies.start(&plan, [CHOSEN].into_iter());
    (1..=3).for_each(|seat| policies.chosen().seated(seat));
    let candidate = |seat, site| Candidate { seat, operation: operation(site) };
    policies.chosen().choose(&[candidate(1, OTHER), candidate(2, OTHER)], None);
    let chosen = (0..300).any(|_| {
        let candidates = [candidate(2, OTHER), candidate(3, CHOSEN)];
        let seat = candidates[policies.chosen().choose(&candidates, None)].seat;
        policies.chosen().done(seat, operation(OTHER));
        policies.chosen().passes(2);
        seat == 3
    });
    assert!(chosen, "the third thread waits for its turn");
}
