//! Several ways to make a test fail, mixed by what has come of them: a bandit.
//!
//! Thompson sampling (W. Thompson, Biometrika 1933): for each way, draw a failure rate from what is believed about it,
//! and take the way that would then give most. What counts is *both* kinds of runs in little time: a way in which every
//! run fails gives nothing to compare with. So a rate p is worth p (1 - p) per second: for rare failures that is the
//! number of failures per second. The seconds are those of runs that pass: what a failure takes (a time-out, a backtrace)
//! it takes in any way that brings it about.
//!
//! Ways that make a test fail rarely cost as many runs as they have. So two of them begin (docs/search.md): free runs with noise, which
//! are the cheapest, and the controlled way that needs the fewest runs on the whole; what the one never shows, the other often does.
//! Another way is let in only where one of the two kinds stays away for some runs.
//!
//! Runs near a failing one are not left to the bandit: they give both kinds wherever there is a failing run, but no independent
//! evidence. So up to two of three runs are made so, unless another way is known to give as much.
//!
//! The same seed and the same outcomes make the same choices. How long runs take counts by powers of two only,
//! so that small differences do not matter.

mod chance;
mod policy;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use chance::Chance;
pub use policy::Policy;

/// What came of one run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Run {
    /// Whether it failed, which hanging is too.
    pub failed: bool,
    /// How long it took.
    pub seconds: f64,
    /// Of a controlled run: scheduling points.
    pub points: u64,
    /// Of a controlled run: how often a thread had to be left to itself.
    pub taken_away: u64,
}

/// Why controlled runs are no longer made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dropped {
    /// Nothing in the test can be controlled.
    NoPoints,
    /// They take far longer than free ones.
    Slow,
}

impl fmt::Display for Dropped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Dropped::NoPoints => "this test's threads cannot be controlled",
            Dropped::Slow => "this test is far slower with one thread at a time",
        })
    }
}

/// These begin, and lead by turns until the first failure. A controlled run that fails is worth more: others can be made near it.
const LEADERS: [Policy; 3] = [Policy::Noise, Policy::Pos, Policy::Pos];
/// Runs after which both lead alike: what failed in none of these may be something that control keeps from happening.
const FAVOURED_RUNS: u64 = 16;
/// Runs in a row that all pass or all fail, those near a failing one not counted, after which one more way is tried.
const PATIENCE: u64 = 8;
/// Runs near a failing one between two others.
const MOST_NEAR: u64 = 2;
/// Before it has so many runs, nobody knows whether a way gives as much.
const KNOWN: u64 = 8;
/// A controlled run that takes so much longer than free ones is slow, if it takes so many seconds at all.
const SLOW: f64 = 20.0;
const SLOW_SECONDS: f64 = 1.0;
/// A run in which threads blocked or computed out of sight so often is as bad.
const MOST_TAKEN_AWAY: u64 = 50;
/// Slow runs after which no more controlled ones are made.
const MOST_SLOW: u32 = 2;
/// The same for runs that had to be ended. They may have hung while another thread went on: before any has come to its end, that
/// cannot be told.
const MOST_LOST: u32 = 3;
/// So many of one way, where runs of others come to their end, say that it is this way that does not suit the test: threads that sleep and look again
/// and again may never get on if nobody is ever preferred to them.
const MOST_LOST_OF_ONE: u32 = 2;
/// What runs near the same failing run are worth, which are alike, of as many others.
const NEAR: f64 = 0.75;
/// They may take so many times as long as others.
const NEAR_SECONDS: f64 = 4.0;
/// What is believed before the first run: failing ones are rare.
const PRIOR: (u64, u64) = (1, 3);
/// Near a failing run both kinds are to be had; the first runs there only look for the place.
const PRIOR_NEAR: (u64, u64) = (4, 4);
/// How long runs of a way take is as if so many others had taken as long as runs usually do.
const FEW_RUNS: f64 = 4.0;
/// Older runs than these say no more than that there were many.
const MOST_REMEMBERED: u64 = 400;

/// What came of the runs so far, by the way they were made.
#[derive(Clone, Debug)]
pub struct Portfolio {
    seed: u64,
    policies: Vec<Policy>,
    tallies: BTreeMap<Policy, Tally>,
    /// Ways in which a run was begun.
    begun: BTreeSet<Policy>,
    choices: u64,
    /// The latest runs that are near a failing one.
    near_in_a_row: u64,
    /// The latest runs that all passed or all failed, since another way was let in.
    alike: u64,
    /// Whether these failed.
    latest_failed: bool,
    /// The most scheduling points of a controlled run that passed.
    points: u64,
    slow: u32,
    /// Runs that had to be ended, by the way they were made; those of ways that are made no more do not count.
    lost: BTreeMap<Policy, u32>,
    /// Controlled ways that do not suit the test while others do.
    unsuited: BTreeSet<Policy>,
    dropped: Option<Dropped>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    runs: u64,
    failed: u64,
    /// Of the runs that passed.
    seconds: f64,
}

impl Tally {
    /// What the next run takes that passes, if runs usually take so long. What a few have taken says little: the machine may have been
    /// busy with other things.
    fn expected_seconds(&self, usual: f64) -> f64 {
        let passed = (self.runs - self.failed) as f64;
        (self.seconds + usual * FEW_RUNS) / (passed + FEW_RUNS)
    }

    /// What a run gives on the average, whatever it takes.
    fn mean_worth(&self, (failed, passed): (u64, u64)) -> f64 {
        let rate = (failed + self.failed) as f64 / (failed + passed + self.runs) as f64;
        rate * (1.0 - rate)
    }
}

impl Portfolio {
    /// Nothing is known yet.
    pub fn new(seed: u64, policies: &[Policy]) -> Portfolio {
        Portfolio {
            seed,
            policies: policies.to_vec(),
            tallies: BTreeMap::new(),
            begun: BTreeSet::new(),
            choices: 0,
            near_in_a_row: 0,
            alike: 0,
            latest_failed: false,
            points: 0,
            slow: 0,
            lost: BTreeMap::new(),
            unsuited: BTreeSet::new(),
            dropped: None,
        }
    }

    /// The way to make the next run; `is_possible` says which can be.
    pub fn choose(&mut self, is_possible: impl Fn(Policy) -> bool) -> Policy {
        let controlled = self.dropped.is_none();
        let possible = self.policies.iter().copied();
        let is_given_up =
            |policy: Policy| policy.is_controlled() && !controlled || self.unsuited.contains(&policy);
        let possible = possible.filter(|&policy| !is_given_up(policy) && is_possible(policy));
        let (near, possible): (Vec<Policy>, Vec<Policy>) =
            possible.partition(|&policy| policy == Policy::Near);
        let near = near.first().copied().filter(|_| self.is_due_near(&possible));
        let (tried, untried): (Vec<Policy>, Vec<Policy>) =
            possible.into_iter().partition(|policy| LEADERS.contains(policy) || self.begun.contains(policy));
        // Where nobody leads there is nothing to be patient with.
        let new = untried.first().copied().filter(|_| self.alike >= PATIENCE || tried.is_empty());
        // One run of each turn is drawn, so that those that were let in get theirs.
        let leaders = if self.choices < FAVOURED_RUNS { &LEADERS[..] } else { &LEADERS[..2] };
        let leader = leaders.get(self.choices as usize % (leaders.len() + 1)).copied();
        let leader = leader.filter(|leader| !self.has_failed() && tried.contains(leader));
        let chosen = near.or(new).or(leader).unwrap_or_else(|| self.draw(&tried));
        if Some(chosen) == new {
            self.alike = 0;
        }
        self.near_in_a_row = if chosen == Policy::Near { self.near_in_a_row + 1 } else { 0 };
        self.begun.insert(chosen);
        self.choices += 1;
        chosen
    }

    /// Is it time for a run near a failing one? Not too many in a row, and not if one of the other ways is known to give as much.
    fn is_due_near(&self, others: &[Policy]) -> bool {
        let tally = |policy: Policy| self.tallies.get(&policy).copied().unwrap_or_default();
        let usual = mean_seconds(self.tallies.values()).unwrap_or(1.0);
        // A way that takes longer gives less; one that takes no time gives no more than its runs.
        let worth = |tally: Tally| tally.mean_worth(PRIOR) / (tally.expected_seconds(usual) / usual).max(1.0);
        let known = others.iter().map(|&policy| tally(policy)).filter(|tally| tally.runs >= KNOWN);
        let best = known.map(worth).fold(0.0, f64::max);
        let near = tally(Policy::Near);
        self.has_failed()
            && self.near_in_a_row < MOST_NEAR
            && near.mean_worth(PRIOR_NEAR) * NEAR > best
            && near.expected_seconds(usual) < usual * NEAR_SECONDS
    }

    /// Whether a run has failed.
    pub fn has_failed(&self) -> bool {
        self.tallies.values().any(|tally| tally.failed > 0)
    }

    fn draw(&self, possible: &[Policy]) -> Policy {
        let usual = mean_seconds(self.tallies.values()).unwrap_or(1.0);
        let mut chance = Chance(self.seed ^ self.choices.wrapping_mul(0xd134_2543_de82_ef95));
        let prior = self.prior();
        let worth = possible.iter().map(|&policy| {
            let tally = self.tallies.get(&policy).copied().unwrap_or_default();
            let remembered = tally.runs.clamp(1, MOST_REMEMBERED) as f64 / tally.runs.max(1) as f64;
            let share = |count: u64| (count as f64 * remembered).round() as u64;
            let rate = chance.beta(prior.0 + share(tally.failed), prior.1 + share(tally.runs - tally.failed));
            (rate * (1.0 - rate) / coarse(tally.expected_seconds(usual)), policy)
        });
        let best = worth.max_by(|(one, _), (other, _)| one.total_cmp(other));
        best.map_or(Policy::Noise, |(_, policy)| policy)
    }

    /// What is believed of a way before its first run. What fails rarely in those that were tried hardly fails often in another: to believe more
    /// of each new one would be to try all of them out before the one that is known to fail.
    fn prior(&self) -> (u64, u64) {
        let others = self.tallies.iter().filter(|(policy, _)| **policy != Policy::Near);
        let (runs, failed) =
            others.fold((0, 0), |(runs, failed), (_, tally)| (runs + tally.runs, failed + tally.failed));
        let per_failure = runs / (failed + 1);
        (PRIOR.0, per_failure.clamp(PRIOR.1, MOST_REMEMBERED))
    }

    /// Takes note of a run.
    pub fn observe(&mut self, policy: Policy, run: &Run) {
        if policy.is_controlled() {
            if run.points == 0 {
                self.dropped = self.dropped.or(Some(Dropped::NoPoints));
            }
            if self.is_slow(run) || run.taken_away > MOST_TAKEN_AWAY {
                self.slow += 1;
                self.give_up_if_slow();
            }
            if !run.failed {
                self.points = self.points.max(run.points);
            }
        }
        if policy != Policy::Near {
            self.alike = if run.failed == self.latest_failed { self.alike + 1 } else { 1 };
            self.latest_failed = run.failed;
        }
        let tally = self.tallies.entry(policy).or_default();
        tally.runs += 1;
        tally.failed += u64::from(run.failed);
        tally.seconds += if run.failed { 0.0 } else { run.seconds };
    }

    /// A run has come to nothing: if it was a controlled one, it was too slow to be waited for.
    pub fn lose(&mut self, policy: Policy) {
        if !policy.is_controlled() {
            return;
        }
        let lost = self.lost.entry(policy).or_default();
        *lost += 1;
        let ended = |own: bool| -> u64 {
            let ways = self.tallies.iter().filter(|(way, _)| way.is_controlled() && (**way == policy) == own);
            ways.map(|(_, tally)| tally.runs).sum()
        };
        if *lost >= MOST_LOST_OF_ONE && u64::from(*lost) >= ended(true) && ended(false) >= KNOWN {
            self.lost.remove(&policy);
            self.unsuited.insert(policy);
        }
        self.give_up_if_slow();
    }

    fn give_up_if_slow(&mut self) {
        if self.slow >= MOST_SLOW || self.lost.values().sum::<u32>() >= MOST_LOST {
            self.dropped = self.dropped.or(Some(Dropped::Slow));
        }
    }

    /// Does control take the time? Not if the run hangs by itself: then it comes no further than those that pass.
    fn is_slow(&self, run: &Run) -> bool {
        let free = self.tallies.iter().filter(|(policy, _)| !policy.is_controlled()).map(|(_, tally)| tally);
        let is_long = |free| run.seconds > SLOW * free;
        let comes_further = !run.failed || run.points as f64 > SLOW * self.points as f64;
        run.seconds > SLOW_SECONDS && comes_further && mean_seconds(free).is_some_and(is_long)
    }

    /// Why controlled runs are no longer made, if that is so.
    pub fn dropped(&self) -> Option<Dropped> {
        self.dropped
    }
}

/// What a run that passes takes.
fn mean_seconds<'a>(tallies: impl IntoIterator<Item = &'a Tally>) -> Option<f64> {
    let add = |(passed, seconds): (u64, f64), tally: &Tally| {
        (passed + tally.runs - tally.failed, seconds + tally.seconds)
    };
    let (passed, seconds) = tallies.into_iter().fold((0, 0.0), add);
    (passed > 0).then(|| seconds / passed as f64)
}

/// The next power of two. Below a few milliseconds, starting a process is what takes the time.
fn coarse(seconds: f64) -> f64 {
    seconds.max(0.004).log2().round().exp2()
}

#[cfg(test)]
mod tests {
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
        let counts =
            chosen(&[(Policy::Noise, 0.01, 0.01), (Policy::Pct, 0.3, 0.01), (Policy::Pos, 0.02, 0.01)]);
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
            portfolio.begun.insert(*policy);
        }
        portfolio.alike = 0;
        let by_pos = (0..300).filter(|_| portfolio.choose(|_| true) == Policy::Pos).count();
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
        let slow =
            chosen(&[(Policy::Noise, 0.04, 0.01), (Policy::Delays, 0.4, 0.2), (Policy::Near, 0.5, 0.02)]);
        assert!(slow[&Policy::Near] > 60, "others would, but not in this time: {slow:?}");
        let mut portfolio = Portfolio::new(5, &[Policy::Pos, Policy::Near]);
        let run = Run { failed: true, seconds: 0.01, points: 9, taken_away: 0 };
        portfolio.observe(Policy::Pos, &run);
        let chosen: Vec<Policy> = (0..99).map(|_| portfolio.choose(|_| true)).collect();
        let turn = [Policy::Near, Policy::Near, Policy::Pos];
        assert!(chosen.chunks(3).all(|three| three == turn), "at once, and by turns: {chosen:?}");
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
}
