//! The shortest way to a failure, by leaving out what it does not take: first the end, then parts of the rest, large ones first.
//!
//! A. Zeller, R. Hildebrandt, "Simplifying and isolating failure-inducing input", 2002. Deviations: (1) a schedule has an end that is
//! found by halves, since a run is lost from some switch on; (2) the search may end before nothing more can be left out: what comes
//! after it looks at the last switches alone.

use super::legs::{FOREVER, Leg, joined};

/// Runs that leave parts out, at most.
const MOST: u32 = 40;

/// A shorter way that fails as well, of which the last leg is needed. None if the failure does not come back.
pub fn shorter(
    legs: Vec<Leg>,
    mut fails: impl FnMut(&[Leg]) -> anyhow::Result<bool>,
) -> anyhow::Result<Option<Vec<Leg>>> {
    if !fails(&legs)? {
        return Ok(None);
    }
    let legs = without_end(legs, &mut fails)?;
    let mut left = MOST;
    let legs = without_parts(legs, &mut |legs: &[Leg]| {
        left = left.saturating_sub(1);
        Ok(if left == 0 { None } else { Some(fails(legs)?) })
    })?;
    Ok(Some(legs))
}

/// The last thread goes on as long as it can.
fn ended(mut legs: Vec<Leg>) -> Vec<Leg> {
    if let Some(last) = legs.last_mut() {
        last.until = FOREVER;
    }
    legs
}

fn without_end(
    legs: Vec<Leg>,
    fails: &mut impl FnMut(&[Leg]) -> anyhow::Result<bool>,
) -> anyhow::Result<Vec<Leg>> {
    let (mut passes, mut failing) = (0, legs.len());
    let mut best = legs.clone();
    while passes + 1 < failing {
        let middle = passes + (failing - passes) / 2;
        let shorter = ended(legs[..middle].to_vec());
        if fails(&shorter)? {
            (failing, best) = (middle, shorter);
        } else {
            passes = middle;
        }
    }
    Ok(best)
}

/// `fails` has no answer when it was asked too often.
fn without_parts(
    mut legs: Vec<Leg>,
    fails: &mut impl FnMut(&[Leg]) -> anyhow::Result<Option<bool>>,
) -> anyhow::Result<Vec<Leg>> {
    let mut part = (legs.len() / 2).max(1);
    loop {
        let before = legs.len();
        let mut at = 0;
        // The last leg is needed, or the way would have ended before it.
        while at + 1 < legs.len() {
            let last = legs.len() - 1;
            let is_left = |nth: &usize| !(at..at + part).contains(nth) || *nth == last;
            let shorter = ended(joined((0..legs.len()).filter(is_left).map(|nth| legs[nth])));
            let is_shorter = shorter.len() < legs.len();
            match if is_shorter { fails(&shorter)? } else { Some(false) } {
                None => return Ok(legs),
                Some(true) => legs = shorter,
                Some(false) => at += part,
            }
        }
        if part == 1 && legs.len() == before {
            break;
        }
        part = (part / 2).max(1);
    }
    for at in 0..legs.len() {
        if legs[at].until == FOREVER {
            continue;
        }
        let mut longer = legs.clone();
        longer[at].until = FOREVER;
        match fails(&longer)? {
            None => break,
            Some(true) => legs = longer,
            Some(false) => {}
        }
    }
    Ok(legs)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn leg(thread: u32, until: u32) -> Leg {
        Leg { thread, until, by_time: false }
    }

    /// Threads take turns; the run fails if thread 2 is held at its stop 7 or 8 while thread 3 runs.
    fn fails(legs: &[Leg]) -> anyhow::Result<bool> {
        let mut come = 0;
        for (nth, leg) in legs.iter().enumerate() {
            match leg.thread {
                2 => come = leg.until,
                3 if nth > 0 && (7..=8).contains(&come) => return Ok(true),
                _ => {}
            }
        }
        Ok(false)
    }

    #[test]
    fn what_is_left_is_the_one_switch_that_it_takes() {
        let all =
            [(1, 5), (2, 2), (1, 9), (2, 4), (3, 1), (2, 8), (1, 11), (3, 9), (2, 20), (1, 30), (3, 40)];
        let all: Vec<Leg> = all.map(|(thread, until)| leg(thread, until)).into();
        let short = shorter(all, fails).unwrap().unwrap();
        assert_eq!(short, [leg(2, 8), leg(3, FOREVER)]);
    }

    #[test]
    fn a_failure_that_does_not_come_back_has_no_shorter_way() {
        assert_eq!(shorter(vec![leg(1, 3), leg(2, 4)], fails).unwrap(), None);
    }

    #[test]
    fn nobody_asks_without_end() {
        let all: Vec<Leg> = (0..500).map(|nth| leg(1 + nth % 5, nth)).collect();
        let mut asked = 0;
        // All of it is needed.
        let whole = all.clone();
        let short = shorter(all, |legs| {
            asked += 1;
            Ok(legs == whole)
        });
        assert_eq!(short.unwrap().unwrap(), whole);
        assert!(asked <= 11 + MOST, "{asked}");
    }
}
