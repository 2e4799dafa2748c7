//! Runs near a failing one: they follow its switches up to a *cut* and go on by chance. The longer a failing run is followed, the
//! more often that fails, so that somewhere about half of these runs do: runs of both kinds, alike in all but what matters,
//! however rarely the test fails.
//!
//! Where that is, a staircase finds out run by run (W. Dixon, A. Mood, "A method for obtaining and analyzing sensitivity data",
//! 1948): after a failing run the cut moves towards the beginning, after a passing one towards the end. Its steps are those of
//! PEST (M. Taylor, C. Creelman, 1967). Deviations: (1) a step is halved at every turn, but never below one switch; (2) there is no
//! end: what counts is the runs, not the place.
//!
//! What all runs near one failing run have in common may be an accident of that one. So each of these trunks gives a few failing runs
//! only, trunks are taken by turns, and none of them is itself near another. A failure that is not the schedule's doing does not
//! come back even if a run is followed to its end: such a trunk is given up, and after some of them the whole way.

use recording::{Beginning, List, MOST_SITES, Recording, RunPlan, Site};
use runner::{RunNumber, RunRecord};

/// Failing runs that are followed by turns.
const MOST_TRUNKS: usize = 3;
/// Failing runs near each of them.
const MOST_FAILING: u32 = 8;
/// Runs that pass though they follow all of a trunk, after which it is given up.
const MOST_IN_VAIN: u32 = 2;
/// Trunks near which nothing failed, after which there are no more.
const MOST_GIVEN_UP: u32 = 3;

/// Failing runs to begin like.
#[derive(Default)]
pub struct Near {
    trunks: Vec<Trunk>,
    given_up: u32,
}

/// A failing run, and what came of following it.
struct Trunk {
    run: RunNumber,
    /// Where its points were depends on these.
    sites: List<Site, MOST_SITES>,
    stair: Staircase,
    begun: u32,
    failed: u32,
    in_vain: u32,
}

impl Trunk {
    fn is_used_up(&self) -> bool {
        self.failed >= MOST_FAILING || self.in_vain >= MOST_IN_VAIN
    }
}

impl Near {
    /// Whether there is a run to begin like.
    pub fn is_possible(&self) -> bool {
        self.trunks.iter().any(|trunk| !trunk.is_used_up())
    }

    /// Makes a plan for a run near a failing one.
    pub fn plan(&mut self, plan: &mut RunPlan) {
        let usable = self.trunks.iter_mut().filter(|trunk| !trunk.is_used_up());
        let Some(trunk) = usable.min_by_key(|trunk| trunk.begun) else { return };
        trunk.begun += 1;
        plan.beginning = Some(Beginning { run: trunk.run.0, switches: trunk.stair.cut });
        plan.sites = trunk.sites;
    }

    /// Takes note of a run.
    pub fn observe(&mut self, record: &RunRecord, plan: &RunPlan, recordings: &[Recording]) {
        let failed = record.outcome.is_failing();
        match plan.beginning {
            Some(beginning) => self.judge(beginning, failed),
            None if failed => self.take(record.run, plan, recordings),
            None => {}
        }
    }

    fn judge(&mut self, beginning: Beginning, failed: bool) {
        let Some(trunk) = self.trunks.iter_mut().find(|trunk| trunk.run.0 == beginning.run) else { return };
        let was_used_up = trunk.is_used_up();
        trunk.failed += u32::from(failed);
        trunk.in_vain += u32::from(!failed && beginning.switches >= trunk.stair.all);
        // Of several runs at the same time with the same cut, the first that is done moves it.
        if beginning.switches == trunk.stair.cut {
            trunk.stair.step(failed);
        }
        if trunk.is_used_up() && !was_used_up && trunk.failed == 0 {
            self.given_up += 1;
        }
    }

    fn take(&mut self, run: RunNumber, plan: &RunPlan, recordings: &[Recording]) {
        let usable = self.trunks.iter().filter(|trunk| !trunk.is_used_up()).count();
        // In each of several processes it would be another place. A run that was not controlled has no switches.
        let [recording] = recordings else { return };
        let switches = recording.switch_events().count() as u64;
        if usable >= MOST_TRUNKS || self.given_up >= MOST_GIVEN_UP || switches == 0 {
            return;
        }
        let stair = Staircase::new(switches);
        let sites = plan.of_follower().sites;
        self.trunks.push(Trunk { run, sites, stair, begun: 0, failed: 0, in_vain: 0 });
    }
}

/// Where to cut next.
struct Staircase {
    /// Switches of the whole run.
    all: u64,
    cut: u64,
    step: u64,
    /// What the latest run came to, and how many before it came to the same.
    latest: Option<(bool, u32)>,
}

impl Staircase {
    fn new(all: u64) -> Staircase {
        Staircase { all, cut: all / 2, step: (all / 4).max(1), latest: None }
    }

    /// One step on, after a run that failed or passed.
    fn step(&mut self, failed: bool) {
        let before = match self.latest {
            Some((same, before)) if same == failed => before + 1,
            Some(_) => {
                self.step = (self.step / 2).max(1);
                0
            }
            None => 0,
        };
        // The third in a row and those after it.
        if before >= 2 {
            self.step = (self.step * 2).min((self.all / 4).max(1));
        }
        self.latest = Some((failed, before));
        self.cut =
            if failed { self.cut.saturating_sub(self.step) } else { (self.cut + self.step).min(self.all) };
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use runner::Outcome;

    use super::*;

    /// A recording with so many switches: all that is looked at.
    fn near_run(run: u32, switches: u64) -> Near {
        let stair = Staircase::new(switches);
        let trunk =
            Trunk { run: RunNumber(run), sites: List::default(), stair, begun: 0, failed: 0, in_vain: 0 };
        Near { trunks: vec![trunk], given_up: 0 }
    }

    /// Runs near those that are there, so many at the same time, which fail as `fails` says of their cuts: how many failed and passed, and the last cuts.
    fn run(
        near: &mut Near,
        jobs: usize,
        runs: usize,
        fails: impl Fn(u64) -> bool,
    ) -> (usize, usize, Vec<u64>) {
        let (mut failed, mut passed, mut cuts) = (0, 0, Vec::new());
        let mut under_way = VecDeque::new();
        for _ in 0..runs {
            let mut plan = RunPlan::default();
            near.plan(&mut plan);
            under_way.extend(plan.beginning.map(|beginning| (beginning, plan)));
            if plan.beginning.is_some() && under_way.len() < jobs {
                continue;
            }
            let Some((beginning, plan)) = under_way.pop_front() else { break };
            let outcome = if fails(beginning.switches) {
                failed += 1;
                Outcome::Fail { reason: String::new() }
            } else {
                passed += 1;
                Outcome::Pass
            };
            cuts.push(beginning.switches);
            near.observe(&record(outcome), &plan, &[]);
        }
        (failed, passed, cuts.split_off(cuts.len().saturating_sub(6)))
    }

    fn record(outcome: Outcome) -> RunRecord {
        let (run, plan) = (RunNumber(99), String::new());
        RunRecord { run, plan, outcome, seconds: 0.1, processes: 1, warnings: Vec::new(), said: None }
    }

    #[test]
    fn about_half_of_the_runs_fail_wherever_the_failing_one_is_lost() {
        for lost in [1, 2, 30, 77, 500, 999, 1000] {
            let mut near = near_run(7, 1000);
            let (failed, passed, cuts) = run(&mut near, 1, 100, |cut| cut >= lost);
            assert_eq!(failed, MOST_FAILING as usize, "lost at {lost}");
            assert!(passed <= 20, "{passed} passed, lost at {lost}");
            assert!(cuts.iter().all(|cut| cut.abs_diff(lost) < 64), "{cuts:?}, lost at {lost}");
            assert!(!near.is_possible());
        }
    }

    #[test]
    fn runs_at_the_same_time_do_not_lead_each_other_astray() {
        for lost in [1, 30, 500, 999] {
            let mut near = near_run(7, 1000);
            let (failed, passed, cuts) = run(&mut near, 6, 200, |cut| cut >= lost);
            assert!(failed >= MOST_FAILING as usize, "lost at {lost}");
            assert!(passed <= 40, "{passed} passed, lost at {lost}");
            assert!(cuts.iter().all(|cut| cut.abs_diff(lost) < 260), "{cuts:?}, lost at {lost}");
        }
        let mut near = near_run(7, 40);
        run(&mut near, 6, 200, |_| false);
        assert_eq!(near.given_up, 1, "once for each");
    }

    #[test]
    fn a_failure_that_does_not_come_back_is_given_up() {
        let mut near = near_run(7, 40);
        let (failed, passed, _) = run(&mut near, 1, 100, |_| false);
        assert_eq!((failed, near.given_up), (0, 1));
        assert!(passed < 8, "{passed}");
        near.given_up = MOST_GIVEN_UP;
        assert!(!near.is_possible());
    }

    #[test]
    fn failing_runs_are_followed_by_turns() {
        let mut near = near_run(7, 40);
        near.trunks.extend(near_run(8, 40).trunks);
        let mut runs = Vec::new();
        for _ in 0..6 {
            let mut plan = RunPlan::default();
            near.plan(&mut plan);
            runs.push(plan.beginning.unwrap().run);
        }
        assert_eq!(runs, [7, 8, 7, 8, 7, 8]);
    }
}
