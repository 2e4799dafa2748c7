//! A failing run and the same run without the finding. Whatever it takes besides, such as a counter that has come so far or a third
//! thread that is out of the way, is in place there.
//!
//! A failing run is followed for a while and left to chance from then on. The longer it is followed, the more often that fails:
//! at some switch it is lost. If what happened right before that was a step of the finding, then failing runs are followed until
//! the finding has come about, and to right before it, where it is forbidden, or threads are merely delayed.

use recording::{Interleaving, Treatment};
use report::{Confirmation, Verdict};

use super::decision::{Arm, Arms, BELIEVED, ends_all_failures, is_shown_by_all};
use super::trials::{Asked, Beginning, Laboratory, Limits, Shown, of_number};
use crate::interleaving::Forcible;
use crate::replay::{Occurrence, Way};

/// Runs that are followed, and those that are looked at for it.
const MOST: usize = 3;
const LOOKED_AT: usize = 6;
/// Runs that tell how often the test fails anyway.
const ANYWAY: u32 = 9;
/// Runs that tell whether one is lost: as many as make it improbable that all of them fail anyway.
const RUNS: std::ops::RangeInclusive<u32> = 3..=12;
const IMPROBABLE: f64 = 0.1;
/// Runs that tell for sure: of those that fail in three of four cases, one in thirteen.
const SURE: u32 = 9;
/// Searches for the switch, each from behind where the last one was wrong.
const SEARCHES: usize = 4;
/// Trials are numbered from one; those that choose where to begin are none of those that prove something.
const OTHERS: u32 = 1000;

/// A proof from some of the failing runs that show it; none if there are none, or if they prove nothing.
pub fn confirm(
    laboratory: &mut Laboratory<'_>,
    forcible: &Forcible,
    shown: &Shown<'_>,
    limits: &Limits,
) -> anyhow::Result<Option<Confirmation>> {
    let own = forcible.interleaving;
    let followed = follow(laboratory, forcible, shown.runs, limits)?;
    if !followed.is_decisive() || limits.is_over() {
        return Ok(None);
    }
    let chosen = followed.chosen;
    let beginnings = |switches: fn(&Stretch) -> u64| -> Vec<Beginning<'_>> {
        chosen.iter().map(|(way, stretch)| Beginning { way, switches: switches(stretch) }).collect()
    };
    let (before, through) = (beginnings(|stretch| stretch.before), beginnings(|stretch| stretch.through));
    let kinds = |forbidden: Interleaving| {
        let (before, through) = (&before, &through);
        move |number| {
            let from_before = |interleaving: Interleaving| Asked {
                beginning: of_number(before, number),
                ..Asked::of(number, interleaving)
            };
            let came_about = of_number(through, number);
            [
                Asked { interleaving: None, beginning: came_about, ..Asked::of(number, own) },
                from_before(forbidden.treated(Treatment::Forbid)),
                from_before(own.treated(Treatment::Delay)),
            ]
        }
    };
    // All of these runs show it.
    let Forcible { is_circle, is_missed_signal, .. } = *forcible;
    let mut arms = Arms { is_circle, is_missed_signal, odds_against: shown.odds_against, ..Arms::new(1.0) };
    let forbidden = forcible.wider.filter(|_| forcible.has_no_other_order()).unwrap_or(own);
    laboratory.compare(kinds(forbidden), &mut arms, limits)?;
    if let Some(wider) = forcible.wider.filter(|&wider| wider != forbidden && arms.is_forbidden_in_vain()) {
        laboratory.forbid_more(kinds(wider), &mut arms, limits)?;
    }
    let confirmation = Confirmation { followed: Some(chosen.len() as u64), ..arms.decide(BELIEVED) };
    // What fails from there on with delays alone was decided before.
    if confirmation.verdict != Verdict::Confirmed || !arms.fails_more_than_delays() {
        return Ok(None);
    }
    laboratory.leave_out_variables(own, &before, &arms, confirmation).map(Some)
}

/// What so many of the passing runs show as well may be no more than what has to come first: forced, it leaves the cause to
/// chance, and forbidden, there is nothing left to go wrong.
pub const OFTEN: f64 = 0.25;

/// What was confirmed, or may be since all failing runs show it, is so only if failing runs are lost at a step of it, as a rule,
/// or if few passing runs show it.
pub fn judge(
    laboratory: &mut Laboratory<'_>,
    forcible: &Forcible,
    shown: &Shown<'_>,
    confirmation: Confirmation,
    limits: &Limits,
) -> anyhow::Result<Confirmation> {
    let is_believed = match confirmation.verdict {
        Verdict::Confirmed => confirmation.followed.is_none() && !confirmation.narrowed,
        Verdict::Inconclusive => is_shown_by_all(shown.share) && ends_all_failures(&confirmation),
        Verdict::Refuted => false,
    };
    if !is_believed || shown.by_passing < OFTEN {
        return Ok(confirmation);
    }
    if follow(laboratory, forcible, shown.runs, limits)?.is_decisive() {
        return Ok(confirmation);
    }
    Ok(Confirmation { verdict: Verdict::Inconclusive, followed: Some(0), ..confirmation })
}

/// Failing runs, of so many that were looked at, and where the finding comes about as they are lost.
struct Followed {
    chosen: Vec<(Way, Stretch)>,
    looked_at: usize,
    /// All failing runs that show the finding.
    shown_by: usize,
}

impl Followed {
    fn is_decisive(&self) -> bool {
        is_rule(self.chosen.len(), self.looked_at, self.shown_by)
    }
}

/// Are runs that show a finding lost at a step of it, as a rule, if so many of those that were looked at are? One of several may be by chance: each run is
/// lost at some step of some thread's.
fn is_rule(lost_at_it: usize, looked_at: usize, shown_by: usize) -> bool {
    lost_at_it >= shown_by.clamp(1, 2) && lost_at_it * 2 >= looked_at
}

fn follow(
    laboratory: &mut Laboratory<'_>,
    forcible: &Forcible,
    runs: &[u64],
    limits: &Limits,
) -> anyhow::Result<Followed> {
    let steps = forcible.interleaving.steps();
    let ways = Way::of_runs(laboratory.session, runs, steps, forcible.is_circle);
    let mut followed = Followed { chosen: Vec::new(), looked_at: 0, shown_by: runs.len() };
    for way in ways.take(LOOKED_AT) {
        followed.looked_at += 1;
        if let Some(decisive) = decisive(laboratory, &way, forcible.is_circle, limits)? {
            followed.chosen.push((way, decisive));
        }
        if followed.chosen.len() == MOST || limits.is_over() {
            break;
        }
    }
    Ok(followed)
}

/// Where a finding comes about, in switches.
#[derive(Clone, Copy)]
struct Stretch {
    /// Its first step is next.
    before: u64,
    /// All is done.
    through: u64,
}

/// Where the finding comes about as the run is lost. Locks that a thread takes again and again are not told each time: whoever is in
/// a circle of them is lost at the last one.
fn decisive(
    laboratory: &mut Laboratory<'_>,
    way: &Way,
    is_circle: bool,
    limits: &Limits,
) -> anyhow::Result<Option<Stretch>> {
    let Some(lost) = lost_at(laboratory, way, limits)? else { return Ok(None) };
    let stretch = |occurrence: &Occurrence| {
        let before = occurrence.first.after;
        if is_circle {
            (before < lost).then_some(Stretch { before, through: lost })
        } else {
            let is_step = occurrence.done_after.contains(&lost);
            is_step.then_some(Stretch { before, through: occurrence.through() })
        }
    };
    Ok(way.occurrences.iter().rev().find_map(stretch))
}

/// After so many switches the run fails whatever comes; none if it never has to.
fn lost_at(laboratory: &mut Laboratory<'_>, way: &Way, limits: &Limits) -> anyhow::Result<Option<u64>> {
    if let Some(&known) = laboratory.lost.get(&way.run) {
        return Ok(known);
    }
    let mut followed = |switches, runs| {
        let beginning = Some(Beginning { way, switches });
        let asked = |number| Asked { number: OTHERS + number, interleaving: None, beginning, avoided: None };
        let passes = |arm: &Arm| switches > 0 && arm.failed < arm.runs;
        laboratory.repeat_until(asked, runs, passes)
    };
    let Some(runs) = enough(&followed(0, ANYWAY)?) else { return Ok(None) };
    let all = way.switches() + 1;
    let lost = first_lost(all, |switches, is_last| {
        if limits.is_over() {
            return Ok(None);
        }
        let arm = followed(switches, if is_last { SURE.max(runs) } else { runs })?;
        Ok(Some(arm.runs > 0 && arm.failed == arm.runs))
    })?;
    laboratory.lost.insert(way.run, lost);
    Ok(lost)
}

/// The first number of switches, below `all`, after which a run is lost. `is_lost` tells so by a few runs, or, told that it is the last
/// question, by more of them: on the way there, runs fail often though not always, and a search by halves asks many times. No
/// answer ends the search.
fn first_lost(
    all: u64,
    mut is_lost: impl FnMut(u64, IsLast) -> anyhow::Result<Option<bool>>,
) -> anyhow::Result<Option<u64>> {
    let mut from = 1;
    for _ in 0..SEARCHES {
        let mut to = all;
        while from < to {
            let switches = from + (to - from) / 2;
            match is_lost(switches, false)? {
                Some(true) => to = switches,
                Some(false) => from = switches + 1,
                None => return Ok(None),
            }
        }
        if to == all || is_lost(to, true)? == Some(true) {
            return Ok((to < all).then_some(to));
        }
        from = to + 1;
    }
    Ok(None)
}

type IsLast = bool;

/// So many runs hardly ever fail all if the test fails as often as these; none if nothing can be told from failing runs.
fn enough(anyway: &Arm) -> Option<u32> {
    let share = anyway.failed as f64 / anyway.runs.max(1) as f64;
    let needed = if share > 0.0 { IMPROBABLE.ln() / share.ln() } else { 0.0 };
    (share < 1.0).then(|| (needed.ceil() as u32).clamp(*RUNS.start(), *RUNS.end()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_more_often_a_test_fails_anyway_the_more_runs_tell_that_one_is_lost() {
        let anyway = |failed| enough(&Arm { runs: 9, failed, ..Arm::default() });
        assert_eq!(anyway(0), Some(3));
        assert_eq!(anyway(3), Some(3));
        assert_eq!(anyway(6), Some(6));
        assert_eq!(anyway(8), Some(12));
        assert_eq!(anyway(9), None, "every run fails");
    }

    #[test]
    fn one_of_several_runs_is_no_rule() {
        assert!(is_rule(1, 1, 1) && is_rule(2, 3, 9) && is_rule(3, 6, 9));
        assert!(!is_rule(0, 0, 9) && !is_rule(0, 6, 9) && !is_rule(2, 6, 9));
        assert!(!is_rule(1, 1, 2) && !is_rule(1, 2, 9), "another one could tell");
    }

    #[test]
    fn a_run_is_lost_where_more_runs_say_so_too() {
        // After ten switches all runs fail; after fewer, the first few that are made do by chance.
        let found = |by_chance: &[u64]| {
            let is_lost =
                |switches: u64, is_last: IsLast| switches >= 10 || !is_last && by_chance.contains(&switches);
            first_lost(17, |switches, is_last| Ok(Some(is_lost(switches, is_last)))).unwrap()
        };
        assert_eq!(found(&[]), Some(10));
        assert_eq!(found(&[9]), Some(10), "the middle");
        assert_eq!(found(&[3, 5, 9]), Some(10));
        let never = first_lost(17, |_, is_last: IsLast| Ok(Some(!is_last))).unwrap();
        assert_eq!(never, None);
        assert_eq!(first_lost(1, |_, _| unreachable!()).unwrap(), None);
        assert_eq!(first_lost(17, |_, _| Ok(None)).unwrap(), None, "no time");
    }
}
