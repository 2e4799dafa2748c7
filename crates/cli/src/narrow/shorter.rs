//! The shortest way to a failure, by leaving out what it does not take: first the end, then parts of the rest, large ones first.
//!
//! A. Zeller, R. Hildebrandt, "Simplifying and isolating failure-inducing input", 2002. Deviations: (1) a schedule has an end that is
//! found by halves, since a run is lost from some switch on; (2) the search may end before nothing more can be left out: what comes
//! after it looks at the last switches alone.

use super::legs::{FOREVER, Leg, joined};

/// Runs that leave parts out, at most.
const MOST: u32 = 64;

/// A shorter way that fails as well, of which the last leg is needed. None if the failure does not come back. `fails` is told which way it
/// will probably be asked about next.
pub fn shorter(
    legs: Vec<Leg>,
    mut fails: impl FnMut(&[Leg], Option<Vec<Leg>>) -> anyhow::Result<bool>,
) -> anyhow::Result<Option<Vec<Leg>>> {
    let begun = begun_first(&legs);
    if !fails(&legs, begun.clone())? {
        return Ok(None);
    }
    let legs = match begun {
        Some(begun) if fails(&begun, None)? => begun,
        _ => legs,
    };
    let legs = without_end(legs, &mut fails)?;
    let mut left = MOST;
    let legs = without_parts(legs, &mut |legs: &[Leg], next| {
        left = left.saturating_sub(1);
        Ok(if left == 0 { None } else { Some(fails(legs, next)?) })
    })?;
    Ok(Some(legs))
}

/// A way on which the first thread does all that it can before any other runs, and nothing in between: mostly it creates the others and
/// waits for them, and who is not there yet cannot take its turn. None if that is no shorter.
fn begun_first(legs: &[Leg]) -> Option<Vec<Leg>> {
    let first = Leg { until: FOREVER, ..*legs.first()? };
    let others = legs.iter().filter(|leg| leg.thread != first.thread);
    let begun = ended(joined(std::iter::once(first).chain(others.copied())));
    (begun.len() < legs.len()).then_some(begun)
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
    fails: &mut impl FnMut(&[Leg], Option<Vec<Leg>>) -> anyhow::Result<bool>,
) -> anyhow::Result<Vec<Leg>> {
    let (mut passes, mut failing) = (0, legs.len());
    let mut best = legs.clone();
    while passes + 1 < failing {
        let middle = passes + (failing - passes) / 2;
        let up_to = |end: usize| ended(legs[..end].to_vec());
        let shorter = up_to(middle);
        let next = passes + (middle - passes) / 2;
        if fails(&shorter, (next > passes).then(|| up_to(next)))? {
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
    fails: &mut impl FnMut(&[Leg], Option<Vec<Leg>>) -> anyhow::Result<Option<bool>>,
) -> anyhow::Result<Vec<Leg>> {
    let mut part = (legs.len() / 2).max(1);
    loop {
        let before = legs.len();
        let mut at = 0;
        // The last leg is needed, or the way would have ended before it.
        while at + 1 < legs.len() {
            let Some(shorter) = without(&legs, at, part) else {
                at += part;
                continue;
            };
            // Most of a schedule is not needed.
            let next = without(&shorter, at, part).or_else(|| without(&legs, at + part, part));
            match fails(&shorter, next)? {
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
        let Some(longer) = longer(&legs, at) else { continue };
        let next = (at + 1..legs.len()).find_map(|at| self::longer(&legs, at));
        match fails(&longer, next)? {
            None => break,
            Some(true) => legs = longer,
            Some(false) => {}
        }
    }
    Ok(legs)
}

/// A way without some of its legs, but with its last one. None if it is no shorter.
fn without(legs: &[Leg], at: usize, part: usize) -> Option<Vec<Leg>> {
    let last = legs.len() - 1;
    let is_left = |nth: &usize| !(at..at + part).contains(nth) || *nth == last;
    let shorter = ended(joined((0..legs.len()).filter(is_left).map(|nth| legs[nth])));
    (shorter.len() < legs.len()).then_some(shorter)
}

/// A way in which a thread is not held up at the end of a leg. None if it is not held up there anyway.
fn longer(legs: &[Leg], at: usize) -> Option<Vec<Leg>> {
    let mut longer = legs.to_vec();
    let until = std::mem::replace(&mut longer[at].until, FOREVER);
    (until != FOREVER).then_some(longer)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn leg(thread: u32, until: u32) -> Leg {
        Leg { thread, until, by_time: false }
    }

    /// Threads take turns; the run fails if thread 2 is held at its stop 7 or 8 while thread 3 runs.
    fn fails(legs: &[Leg], _: Option<Vec<Leg>>) -> anyhow::Result<bool> {
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
    fn who_creates_the_others_does_so_first() {
        let all = [(1, 2), (2, 3), (1, 4), (2, 8), (1, 6), (3, 9), (1, 8)];
        let all: Vec<Leg> = all.map(|(thread, until)| leg(thread, until)).into();
        let begun = [leg(1, FOREVER), leg(2, 8), leg(3, FOREVER)];
        assert_eq!(begun_first(&all).unwrap(), begun);
        assert_eq!(begun_first(&begun), None);
        // Who is created after others have begun would not be there.
        let short = shorter(all, |legs, _| Ok(legs[0].until == FOREVER && fails(legs, None)?));
        assert_eq!(short.unwrap(), None, "the failure has to come back as it was");
    }

    #[test]
    fn a_failure_that_does_not_come_back_has_no_shorter_way() {
        assert_eq!(shorter(vec![leg(1, 3), leg(2, 4)], fails).unwrap(), None);
    }

    /// What will be asked for next is foretold well enough to be worth a run of its own.
    #[test]
    fn most_of_what_is_asked_for_was_foretold() {
        let all: Vec<Leg> = (0..64).map(|nth| leg(1 + nth % 3, nth / 3)).collect();
        let (mut asked, mut foretold, mut known) = (0, 0, std::collections::BTreeSet::new());
        shorter(all, |legs, next| {
            asked += 1;
            foretold += u32::from(known.contains(legs));
            known.extend(next);
            fails(legs, None)
        })
        .unwrap()
        .unwrap();
        assert!(foretold * 3 >= asked, "{foretold} of {asked}");
    }

    #[test]
    fn nobody_asks_without_end() {
        let all: Vec<Leg> = (0..500).map(|nth| leg(1 + nth % 5, nth)).collect();
        let mut asked = 0;
        // All of it is needed.
        let whole = all.clone();
        let short = shorter(all, |legs, _| {
            asked += 1;
            Ok(legs == whole)
        });
        assert_eq!(short.unwrap().unwrap(), whole);
        assert!(asked <= 11 + MOST, "{asked}");
    }
}
