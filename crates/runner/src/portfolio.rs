//! Several ways to make a test fail, mixed by what has come of them: a bandit.
//!
//! Thompson sampling (W. Thompson, Biometrika 1933): for each way, draw a failure rate from what is believed about it,
//! and take the way that would then give most. What counts is *both* kinds of runs in little time: a way in which every
//! run fails gives nothing to compare with. So a rate p is worth p (1 - p) per second: for rare failures that is the
//! number of failures per second. The seconds are those of runs that pass: what a failure takes (a time-out, a backtrace)
//! it takes in any way that brings it about.
//!
//! Ways that make a test fail rarely cost as many runs as they have. So two of them begin (docs/search.md): free runs with noise, and
//! the controlled way that needs the fewest runs on the whole; what the one never shows, the other often does.
//! Another way is let in only where one of the two kinds stays away for some runs.
//!
//! Runs near a failing one are not left to the bandit: they give both kinds wherever there is a failing run, but no independent
//! evidence. So up to two of three runs are made so, unless another way is known to give as much.
//!
//! An answer takes far more passing runs than failing ones. As long as there are too few of them to compare with, and failing ones
//! enough for their number, what counts is passing runs alone. And runs are compared with those made in the same way: once some have failed, the
//! way that gives most leads, and every third run is drawn.
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
/// No answer is taken before so many runs have passed, unless fewer are asked for...
const PASSES: u64 = 20;
/// ...and one failing run to so many of these will do, as a rule.
const PASSES_PER_FAILURE: u64 = 4;
/// Once a run has failed, one of so many is drawn, those near a failing one not counted; all others are made in the way that leads.
const DRAWN: u64 = 3;
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
    /// Passing runs to compare with.
    wanted: u64,
    /// Runs begun since the first failure, those near a failing one not counted.
    others: u64,
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

    /// How often a run fails, if that is believed before the first one.
    fn mean_rate(&self, (failed, passed): (u64, u64)) -> f64 {
        (failed + self.failed) as f64 / (failed + passed + self.runs) as f64
    }

    /// What a run gives on the average, whatever it takes.
    fn mean_worth(&self, prior: (u64, u64)) -> f64 {
        both_kinds(self.mean_rate(prior))
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
            wanted: PASSES,
            others: 0,
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

    /// Aims for so many passing runs, in place of those that an answer takes, or of those that were asked for before.
    pub fn want_passes(&mut self, wanted: Option<u64>) {
        self.wanted = wanted.unwrap_or(PASSES);
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
        let leader = if self.has_failed() { self.best_known(&tried) } else { self.next_leader(&tried) };
        let chosen = near.or(new).or(leader).unwrap_or_else(|| self.draw(&tried));
        if Some(chosen) == new {
            self.alike = 0;
        }
        self.near_in_a_row = if chosen == Policy::Near { self.near_in_a_row + 1 } else { 0 };
        self.others += u64::from(self.has_failed() && chosen != Policy::Near);
        self.begun.insert(chosen);
        self.choices += 1;
        chosen
    }

    /// Who leads before the first failure. One run of each turn is drawn, so that those that were let in get theirs.
    fn next_leader(&self, tried: &[Policy]) -> Option<Policy> {
        let leaders = if self.choices < FAVOURED_RUNS { &LEADERS[..] } else { &LEADERS[..2] };
        let leader = leaders.get(self.choices as usize % (leaders.len() + 1)).copied();
        leader.filter(|leader| tried.contains(leader))
    }

    /// Who leads afterwards: the way that gives most, if runs of it have failed; and if passing runs are missing, of the ways of which that is so.
    fn best_known(&self, tried: &[Policy]) -> Option<Policy> {
        let usual = mean_seconds(self.tallies.values()).unwrap_or(1.0);
        let lacks_passing = self.lacks_passing();
        let known = tried.iter().filter_map(|policy| Some((*policy, self.tallies.get(policy)?)));
        let considered = known.filter(|(_, tally)| tally.failed > 0 || !lacks_passing);
        let worth =
            |tally: &Tally| self.worth(tally.mean_rate(PRIOR)) / coarse(tally.expected_seconds(usual));
        let (best, tally) = considered.max_by(|(_, one), (_, other)| worth(one).total_cmp(&worth(other)))?;
        let is_drawn = (self.others + 1).is_multiple_of(DRAWN);
        (tally.failed > 0 && !is_drawn).then_some(best)
    }

    /// What a way gives whose runs fail at this rate.
    fn worth(&self, rate: f64) -> f64 {
        if self.lacks_passing() { 1.0 - rate } else { both_kinds(rate) }
    }

    /// Are there too few passing runs to compare with, while there are failing ones enough?
    fn lacks_passing(&self) -> bool {
        let (runs, failed) = sums(self.tallies.values());
        let passed = runs - failed;
        passed < self.wanted && failed * PASSES_PER_FAILURE > passed
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
            && !self.lacks_passing()
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
            (self.worth(rate) / coarse(tally.expected_seconds(usual)), policy)
        });
        let best = worth.max_by(|(one, _), (other, _)| one.total_cmp(other));
        best.map_or(Policy::Noise, |(_, policy)| policy)
    }

    /// What is believed of a way before its first run. What fails rarely in those that were tried hardly fails often in another: to believe more
    /// of each new one would be to try all of them out before the one that is known to fail.
    fn prior(&self) -> (u64, u64) {
        let others = self.tallies.iter().filter(|(policy, _)| **policy != Policy::Near);
        let (runs, failed) = sums(others.map(|(_, tally)| tally));
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

/// Failing runs are worth as much as there are passing ones to compare them with, and the other way round.
fn both_kinds(rate: f64) -> f64 {
    rate * (1.0 - rate)
}

/// All runs, and those that failed.
fn sums<'a>(tallies: impl IntoIterator<Item = &'a Tally>) -> (u64, u64) {
    let add = |(runs, failed): (u64, u64), tally: &Tally| (runs + tally.runs, failed + tally.failed);
    tallies.into_iter().fold((0, 0), add)
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
mod tests;
