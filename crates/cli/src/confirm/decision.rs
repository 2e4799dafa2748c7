//! What follows from runs in which an interleaving was enforced, forbidden, or its threads merely delayed.
//!
//! A cause is *sufficient*: runs in which it was enforced and came about fail, or more of them do than with delays
//! alone. And it is *necessary*: with the same delays but its order forbidden, hardly a run fails. What merely goes
//! along with the cause fails one or the other: enforced it makes no run fail that would not fail anyway, or runs
//! go on failing without it. And what it takes to forbid something can forbid the cause as well, such as all that two
//! threads do at the same time: if runs failed without it before and hardly do now, then it was not all that was
//! forbidden.

use report::{Confirmation, Trial, Verdict};

/// Runs of each kind before which no answer is taken.
pub const FEWEST: u64 = 5;
/// A chance below which a difference is believed when all runs are done.
pub const BELIEVED: f64 = 0.005;
/// One below which it is at once. There are at most as many looks as runs of a kind, so that by default (20) a difference
/// that is none is believed in less than 2.5 % of the cases, 20 times this and once [`BELIEVED`].
pub const BEYOND_DOUBT: f64 = 0.001;
/// No finding is believed less than this before it is tried out: statistics do not know everything.
const LEAST_BELIEVED: f64 = 0.01;

/// Above this chance there is no sign of any difference.
const NO_SIGN: f64 = 0.2;
/// What makes one enforced run fail more than delays do.
const MORE_THAN_DELAYS: f64 = 0.05;

/// So few runs in which something came about say nothing of it.
const FEW: u64 = 3;
/// A chance below which runs with something else in its place fail less often.
const LESS: f64 = 0.05;

/// A chance below which it is no chance that so few runs fail.
const TOO_FEW: f64 = 0.02;

/// Of all failing runs, these are as good as all: the others may show it in a form that is not listed.
const NEARLY_ALL: f64 = 0.9;

/// Is it shown by all failing runs, if by this share of them?
pub fn is_shown_by_all(share: f64) -> bool {
    share >= NEARLY_ALL
}

/// How many times as probable it is, before a finding is tried out, that it is not the cause; one at least. By Bayes' rule so many times
/// stronger has the difference to be that confirms it: of many findings that hardly anything speaks for, some pass any test by chance.
pub fn odds_against(confidence: Option<f64>) -> f64 {
    let odds = |confidence: f64| (1.0 - confidence) / confidence;
    confidence.map_or(1.0, |confidence| odds(confidence.max(LEAST_BELIEVED))).max(1.0)
}

/// Runs of one kind.
#[derive(Clone, Copy, Debug, Default)]
pub struct Arm {
    pub runs: u64,
    pub failed: u64,
    /// Runs in which the interleaving was seen to come about.
    pub came_about: u64,
    /// Those of them that failed.
    pub failed_with_it: u64,
}

impl Arm {
    pub fn add(&mut self, failed: bool, came_about: bool) {
        self.runs += 1;
        self.failed += u64::from(failed);
        self.came_about += u64::from(came_about);
        self.failed_with_it += u64::from(failed && came_about);
    }

    pub fn counts(&self) -> (u64, u64) {
        (self.failed, self.runs)
    }

    /// Of all runs, those that failed with it.
    fn counts_with_it(&self) -> (u64, u64) {
        (self.failed_with_it, self.runs)
    }

    /// Do runs fail nearly always when it comes about?
    fn always_fails(&self) -> bool {
        self.came_about > 0 && self.failed_with_it * 5 >= self.came_about * 4
    }

    pub fn trial(&self) -> Trial {
        Trial { runs: self.runs, failed: self.failed }
    }
}

/// Runs of all kinds.
#[derive(Clone, Copy, Debug)]
pub struct Arms {
    pub enforced: Arm,
    pub forbidden: Arm,
    pub delayed: Arm,
    /// The share of the session's failing runs that show it, or another one in the same stretch of code.
    pub share: f64,
    /// See [`odds_against`].
    pub odds_against: f64,
    /// It is about locks that threads take in a circle.
    pub is_circle: bool,
    /// It is about a signal that comes before the wait for it.
    pub is_missed_signal: bool,
    /// Passing runs never come to one of its steps: where it comes about, runs fail by what led there.
    pub is_new_code: bool,
}

impl Arms {
    /// No runs yet.
    pub fn new(share: f64) -> Arms {
        let none = Arm::default();
        Arms {
            enforced: none,
            forbidden: none,
            delayed: none,
            share,
            odds_against: 1.0,
            is_circle: false,
            is_missed_signal: false,
            is_new_code: false,
        }
    }

    /// A difference is believed if chance would make it less often than this, where the finding is as probable as not.
    pub fn decide(&self, believed: f64) -> Confirmation {
        let Arms { enforced, forbidden, delayed, .. } = self;
        let p_value = localize::fisher(enforced.counts(), forbidden.counts());
        let enough = enforced.runs >= FEWEST && forbidden.runs >= FEWEST;
        // What failed without it says nothing for it.
        let is_seen =
            localize::fisher(enforced.counts_with_it(), forbidden.counts()) * self.odds_against < believed;
        let verdict =
            if enough && is_seen && self.is_necessary() && self.is_sufficient() && !self.forbids_more()
                || self.hangs_only_with_it()
            {
                Verdict::Confirmed
            } else if enough
                && p_value > NO_SIGN
                && enforced.came_about * 2 >= enforced.runs
                && forbidden.came_about * 2 <= forbidden.runs
                && !self.always_fails()
                && !self.is_needed()
                && !self.says_nothing()
                && !self.may_be_woken_later()
            {
                Verdict::Refuted
            } else {
                Verdict::Inconclusive
            };
        Confirmation {
            enforced: enforced.trial(),
            forbidden: forbidden.trial(),
            verdict,
            delayed: Some(delayed.trial()),
            came_about: Some(enforced.came_about),
            p_value: Some(p_value),
            turned: None,
            apart: None,
            explained_by: None,
            followed: None,
            narrowed: false,
        }
    }

    /// Do runs hang when it is forced, and never when it is forbidden? Whoever is in a circle of locks stays there, so that runs which
    /// go on though its steps were taken had them taken for other locks.
    fn hangs_only_with_it(&self) -> bool {
        let Arms { enforced, forbidden, .. } = self;
        self.is_circle
            && forbidden.failed == 0
            && localize::fisher(enforced.counts(), forbidden.counts()) * self.odds_against < BEYOND_DOUBT
    }

    /// A signal that is missed does harm only if none comes after it, which is so in runs that hang. Those that go on with a missed one were woken by another, so
    /// that they say nothing, unless runs fail without it.
    fn may_be_woken_later(&self) -> bool {
        self.is_missed_signal && self.forbidden.failed == 0
    }

    /// Of what is the cause hardly anything is left when it is forbidden.
    fn is_necessary(&self) -> bool {
        let Arms { enforced, forbidden, .. } = self;
        forbidden.failed * enforced.runs * 8 <= enforced.failed_with_it * forbidden.runs
    }

    /// Do runs that are delayed in the same way fail, and no longer when it is forbidden? Then it may take more than it, which
    /// forcing it leaves to chance; but it is no proof against it that runs pass with it.
    fn is_needed(&self) -> bool {
        let Arms { forbidden, delayed, .. } = self;
        forbidden.failed * delayed.runs * 8 <= delayed.failed * forbidden.runs
            && localize::fisher(delayed.counts(), forbidden.counts()) < BELIEVED
    }

    /// Do too few runs fail for one to be missed among the forbidden ones, though all failing runs of the session show it? Then
    /// these have something that the trials lack, and nobody knows whether that would do harm without it.
    fn says_nothing(&self) -> bool {
        let Arms { enforced, forbidden, delayed, .. } = self;
        let others = (enforced.failed + delayed.failed, enforced.runs + delayed.runs);
        is_shown_by_all(self.share)
            && forbidden.failed == 0
            && localize::fisher(others, forbidden.counts()) > NO_SIGN
    }

    /// Do too few runs fail for what is left without it? What fails by force more than by delays does not have to be seen in all
    /// failing runs: one cause can show itself in several ways.
    fn forbids_more(&self) -> bool {
        if self.fails_more_than_delays() {
            return false;
        }
        let Arm { runs, failed, .. } = self.forbidden;
        let delayed = self.delayed.failed as f64 / self.delayed.runs.max(1) as f64;
        let left = ((1.0 - self.share) * delayed).clamp(0.0, 0.999);
        // Of so many runs that fail at this rate, at most so many do: the first terms of the binomial distribution.
        let terms = (1..=failed).scan((1.0 - left).powf(runs as f64), |term, nth| {
            *term *= (runs - nth + 1) as f64 / nth as f64 * left / (1.0 - left);
            Some(*term)
        });
        (1.0 - left).powf(runs as f64) + terms.sum::<f64>() < TOO_FEW
    }

    /// Would it be confirmed if so many more runs of each kind came out as well as they can?
    pub fn can_be_confirmed(&self, more: u64) -> bool {
        let mut best = *self;
        for _ in 0..more {
            best.enforced.add(true, true);
            best.forbidden.add(false, false);
            best.delayed.add(false, false);
        }
        let best_verdict = best.decide(BELIEVED);
        // Where it is enough that no run fails without it, delayed ones that fail are the best.
        best.delayed.failed += more;
        let best_end = best.decide(BELIEVED);
        let may_end_all = is_shown_by_all(best.share) && ends_all_failures(&best_end);
        best_verdict.verdict == Verdict::Confirmed || may_end_all
    }

    /// Runs fail when it is forced, and too many when it is forbidden: it may come about in a way that was not.
    pub fn is_forbidden_in_vain(&self) -> bool {
        self.enforced.runs >= FEWEST && self.enforced.failed > 0 && !self.is_necessary()
    }

    /// Hardly a run fails without it: what makes too few runs fail may be no more than a part.
    pub fn may_lack_something(&self) -> bool {
        let Arm { runs, failed, .. } = self.forbidden;
        self.enforced.runs >= FEWEST && failed * 8 <= runs
    }

    fn is_sufficient(&self) -> bool {
        self.always_fails() && !self.is_new_code || self.fails_more_than_delays()
    }

    pub fn fails_more_than_delays(&self) -> bool {
        localize::fisher(self.enforced.counts_with_it(), self.delayed.counts()) < MORE_THAN_DELAYS
    }

    /// If runs also fail when it is forbidden, the delays may have brought about something like it: no proof against it.
    fn always_fails(&self) -> bool {
        self.enforced.always_fails()
    }

    /// Do runs in which something else came about in its place fail less often?
    pub fn fails_less(&self, other: &Arm) -> bool {
        let with_it = |arm: &Arm| (arm.failed_with_it, arm.came_about);
        other.came_about >= FEW && localize::fisher(with_it(&self.enforced), with_it(other)) < LESS
    }

    /// Do runs with something else in its place fail nearly as often as with it, and not just as runs do that are delayed?
    pub fn fails_as_well(&self, other: &Arm) -> bool {
        let Arm { came_about, failed_with_it, .. } = self.enforced;
        let nearly_as_often = other.failed_with_it * came_about * 5 >= failed_with_it * other.came_about * 4;
        let is_known = other.came_about * 2 >= other.runs && nearly_as_often;
        is_known && localize::fisher(other.counts_with_it(), self.delayed.counts()) < MORE_THAN_DELAYS
    }
}

/// Does no run fail without it, though delays alone make them fail, and do many fail with it? Where delays make nearly all fail, holding
/// threads back for one instance of it keeps them from others, so that a sign that forcing it does harm is enough.
pub fn ends_all_failures(confirmation: &Confirmation) -> bool {
    let Confirmation { enforced, forbidden, delayed: Some(delayed), .. } = *confirmation else {
        return false;
    };
    let chance =
        |fails: Trial| localize::fisher((fails.failed, fails.runs), (forbidden.failed, forbidden.runs));
    let fails_by_force = enforced.failed * 3 >= enforced.runs && chance(enforced) < BEYOND_DOUBT;
    let fails_nearly_always = delayed.failed * 5 >= delayed.runs * 4 && chance(enforced) < LESS;
    forbidden.failed == 0 && chance(delayed) < BEYOND_DOUBT && (fails_by_force || fails_nearly_always)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of twenty runs so many failed, and in so many it came about; failing runs are among those first.
    fn arm(failed: u64, came_about: u64) -> Arm {
        Arm { runs: 20, failed, came_about, failed_with_it: failed.min(came_about) }
    }

    fn verdict(enforced: Arm, forbidden: u64, delayed: u64) -> Verdict {
        let arms =
            Arms { enforced, forbidden: arm(forbidden, 0), delayed: arm(delayed, delayed), ..Arms::new(1.0) };
        arms.decide(BELIEVED).verdict
    }

    #[test]
    fn a_cause_makes_runs_fail_and_without_it_they_pass() {
        assert_eq!(verdict(arm(20, 20), 0, 3), Verdict::Confirmed);
        assert_eq!(verdict(arm(8, 8), 0, 0), Verdict::Confirmed, "it came about in few runs");
        assert_eq!(verdict(arm(20, 20), 0, 20), Verdict::Confirmed, "delays alone bring it about");
        assert_eq!(verdict(arm(3, 3), 0, 0), Verdict::Inconclusive, "too few to tell");
    }

    /// So many runs of each kind confirm a finding that always fails when it is forced and never when it is forbidden.
    fn runs_needed(confidence: Option<f64>) -> u64 {
        let arms = |runs| Arms {
            enforced: Arm { runs, failed: runs, came_about: runs, failed_with_it: runs },
            forbidden: Arm { runs, ..Arm::default() },
            delayed: Arm { runs, ..Arm::default() },
            odds_against: odds_against(confidence),
            ..Arms::new(1.0)
        };
        let is_confirmed = |runs: &u64| arms(*runs).decide(BEYOND_DOUBT).verdict == Verdict::Confirmed;
        (1..=20).find(is_confirmed).unwrap()
    }

    #[test]
    fn what_is_less_likely_needs_more_runs() {
        let needed = [Some(0.99), None, Some(0.5), Some(0.2), Some(0.05), Some(0.01), Some(1e-9), Some(0.0)];
        assert_eq!(needed.map(runs_needed), [7, 7, 7, 8, 9, 10, 10, 10]);
        let unlikely = Arms { odds_against: odds_against(Some(0.01)), ..Arms::new(0.5) };
        assert!(
            unlikely.can_be_confirmed(10) && !unlikely.can_be_confirmed(7),
            "seven are not the end of it"
        );
    }

    #[test]
    fn what_no_failure_goes_without_is_not_refuted() {
        assert_eq!(verdict(arm(2, 20), 0, 12), Verdict::Inconclusive, "needed, but not enough");
        assert_eq!(verdict(arm(2, 20), 0, 2), Verdict::Refuted, "hardly a run fails anyway");
        assert_eq!(verdict(arm(2, 20), 4, 12), Verdict::Refuted, "runs fail without it");
        assert_eq!(verdict(arm(0, 20), 0, 0), Verdict::Inconclusive, "no run of any kind fails");
        assert_eq!(verdict(arm(0, 20), 0, 1), Verdict::Inconclusive, "one that fails by chance is no proof");
        assert_eq!(verdict(arm(0, 20), 1, 0), Verdict::Refuted, "it failed without it");
        let rare = Arms { enforced: arm(0, 20), forbidden: arm(0, 0), delayed: arm(0, 0), ..Arms::new(0.5) };
        assert_eq!(rare.decide(BELIEVED).verdict, Verdict::Refuted, "others fail without it");
    }

    #[test]
    fn all_failures_are_ended_by_what_none_of_them_goes_without() {
        let ends = |enforced, forbidden, delayed| {
            let arms = Arms {
                enforced: arm(enforced, 20),
                forbidden: arm(forbidden, 0),
                delayed: arm(delayed, 20),
                ..Arms::new(1.0)
            };
            ends_all_failures(&arms.decide(BELIEVED))
        };
        assert!(ends(10, 0, 10));
        assert!(!ends(10, 1, 10), "one run failed without it");
        assert!(!ends(5, 0, 10), "few fail by force");
        assert!(ends(5, 0, 19), "delays alone make nearly all fail");
        assert!(!ends(2, 0, 19), "no sign that forcing it does harm");
    }

    #[test]
    fn what_is_not_necessary_is_not_confirmed() {
        assert_eq!(verdict(arm(20, 20), 10, 10), Verdict::Inconclusive, "half of the failures are left");
        assert_eq!(verdict(arm(20, 20), 3, 10), Verdict::Inconclusive, "runs fail without it");
    }

    #[test]
    fn what_is_rarely_seen_does_not_end_all_failures() {
        let verdict = |share| {
            let arms = Arms {
                enforced: arm(20, 20),
                forbidden: arm(0, 0),
                delayed: arm(20, 20),
                ..Arms::new(share)
            };
            arms.decide(BELIEVED).verdict
        };
        assert_eq!(verdict(0.9), Verdict::Confirmed, "some did not show it by chance");
        assert_eq!(verdict(0.5), Verdict::Inconclusive);
        assert_eq!(verdict(0.0), Verdict::Inconclusive);
        let several_ways =
            Arms { enforced: arm(20, 20), forbidden: arm(0, 0), delayed: arm(8, 8), ..Arms::new(0.2) };
        assert_eq!(several_ways.decide(BELIEVED).verdict, Verdict::Confirmed);
        let two_bugs =
            Arms { enforced: arm(20, 20), forbidden: arm(2, 0), delayed: arm(5, 5), ..Arms::new(0.5) };
        assert_eq!(two_bugs.decide(BELIEVED).verdict, Verdict::Confirmed);
    }

    #[test]
    fn what_is_not_sufficient_is_not_confirmed() {
        // It comes about, and then runs fail no more often than with delays alone.
        assert_eq!(verdict(arm(8, 20), 0, 7), Verdict::Inconclusive);
        assert_eq!(verdict(arm(12, 20), 0, 2), Verdict::Confirmed, "much more often than with delays");
    }

    #[test]
    fn what_only_failing_runs_come_to_has_to_fail_more_often_than_delays() {
        let verdict = |delayed, is_new_code| {
            let arms = Arms {
                enforced: arm(20, 20),
                forbidden: arm(0, 0),
                delayed: arm(delayed, delayed),
                is_new_code,
                ..Arms::new(1.0)
            };
            arms.decide(BELIEVED).verdict
        };
        assert_eq!(verdict(20, false), Verdict::Confirmed);
        assert_eq!(verdict(20, true), Verdict::Inconclusive, "it may be what runs do that fail anyway");
        assert_eq!(verdict(3, true), Verdict::Confirmed);
    }

    #[test]
    fn what_ends_all_failures_is_known_by_delays_that_make_runs_fail() {
        let ends = |enforced, forbidden, delayed| {
            let arms = Arms {
                enforced: arm(enforced, 20),
                forbidden: arm(forbidden, 0),
                delayed: arm(delayed, 0),
                ..Arms::new(1.0)
            };
            ends_all_failures(&arms.decide(BELIEVED))
        };
        assert!(ends(12, 0, 13));
        assert!(!ends(12, 1, 13), "not all");
        assert!(!ends(12, 0, 3), "there may have been none to end");
        assert!(!ends(5, 0, 13), "it hardly fails");
    }

    #[test]
    fn what_did_not_come_about_is_not_confirmed() {
        assert_eq!(verdict(arm(20, 0), 0, 0), Verdict::Inconclusive, "holding threads back made them fail");
        assert_eq!(verdict(arm(20, 3), 0, 0), Verdict::Inconclusive, "mostly so");
    }

    #[test]
    fn what_makes_no_difference_is_no_cause() {
        assert_eq!(verdict(arm(4, 20), 4, 4), Verdict::Refuted);
        assert_eq!(verdict(arm(0, 20), 5, 4), Verdict::Refuted);
        assert_eq!(verdict(arm(0, 2), 0, 0), Verdict::Inconclusive, "it hardly came about");
        assert_eq!(verdict(arm(20, 20), 20, 20), Verdict::Inconclusive, "all fail, with or without it");
    }

    #[test]
    fn what_fails_as_well_does_so_nearly_as_often_and_not_by_delays_alone() {
        let arms = |delayed| Arms {
            enforced: arm(20, 20),
            forbidden: arm(0, 0),
            delayed: arm(delayed, 0),
            ..Arms::new(1.0)
        };
        let few =
            |failed, came_about| Arm { runs: 8, failed, came_about, failed_with_it: failed.min(came_about) };
        assert!(arms(4).fails_as_well(&few(8, 8)));
        assert!(!arms(4).fails_as_well(&few(4, 8)), "it often passes");
        assert!(!arms(4).fails_as_well(&few(8, 3)), "it hardly came about");
        assert!(!arms(18).fails_as_well(&few(8, 8)), "so does everything");
        let seldom = Arms { enforced: arm(8, 20), ..arms(0) };
        assert!(seldom.fails_as_well(&few(4, 8)), "with it runs fail no more often");
        assert!(!seldom.fails_as_well(&few(1, 8)));
    }

    #[test]
    fn what_is_part_of_the_cause_is_missed() {
        let arms = Arms { enforced: arm(20, 20), forbidden: arm(0, 0), delayed: arm(0, 0), ..Arms::new(1.0) };
        let few =
            |came_about, failed_with_it| Arm { runs: 9, failed: failed_with_it, came_about, failed_with_it };
        assert!(arms.fails_less(&few(9, 0)));
        assert!(arms.fails_less(&few(9, 5)));
        assert!(!arms.fails_less(&few(9, 9)), "it fails all the same");
        assert!(!arms.fails_less(&few(2, 0)), "it hardly came about");
    }

    #[test]
    fn what_can_no_longer_be_confirmed_is_known_early() {
        let few = |runs, failed| Arm { runs, failed, came_about: runs, failed_with_it: failed };
        let arms = |enforced, forbidden| Arms { enforced, forbidden, delayed: few(6, 0), ..Arms::new(1.0) };
        assert!(arms(few(6, 0), few(6, 0)).can_be_confirmed(14));
        assert!(!arms(few(6, 0), few(6, 0)).can_be_confirmed(6), "too few are left");
        assert!(!arms(few(6, 6), few(6, 4)).can_be_confirmed(14), "too much fails without it");
    }

    #[test]
    fn a_few_runs_decide_nothing() {
        let few = |failed| Arm { runs: 4, failed, came_about: 4, failed_with_it: failed };
        let arms = Arms { enforced: few(4), forbidden: few(0), delayed: few(0), ..Arms::new(1.0) };
        assert_eq!(arms.decide(0.05).verdict, Verdict::Inconclusive);
    }

    #[test]
    fn a_circle_of_locks_is_proved_by_runs_that_hang_in_it() {
        let tried = |is_circle, enforced, forbidden| {
            let (enforced, forbidden) = (arm(enforced, 20), arm(forbidden, 0));
            Arms { enforced, forbidden, delayed: arm(12, 20), is_circle, ..Arms::new(1.0) }
                .decide(BELIEVED)
                .verdict
        };
        assert_eq!(tried(true, 12, 0), Verdict::Confirmed);
        assert_eq!(tried(true, 5, 0), Verdict::Inconclusive, "too few");
        assert_eq!(tried(true, 15, 1), Verdict::Inconclusive, "it hangs all the same");
        assert_eq!(tried(false, 12, 0), Verdict::Inconclusive);
    }

    #[test]
    fn a_missed_signal_is_not_refuted_by_runs_that_go_on() {
        let tried = |is_missed_signal, forbidden| {
            let (enforced, forbidden) = (arm(0, 20), arm(forbidden, 0));
            let arms = Arms { enforced, forbidden, delayed: arm(0, 20), is_missed_signal, ..Arms::new(0.8) };
            arms.decide(BELIEVED).verdict
        };
        assert_eq!(tried(true, 0), Verdict::Inconclusive);
        assert_eq!(tried(true, 3), Verdict::Refuted, "runs hang without it");
        assert_eq!(tried(false, 0), Verdict::Refuted);
    }

    #[test]
    fn what_could_not_be_forbidden_is_not_refuted() {
        let arms =
            |forbidden| Arms { enforced: arm(4, 20), forbidden, delayed: arm(4, 20), ..Arms::new(1.0) };
        assert_eq!(arms(arm(4, 0)).decide(BELIEVED).verdict, Verdict::Refuted);
        assert_eq!(arms(arm(4, 20)).decide(BELIEVED).verdict, Verdict::Inconclusive);
    }
}
