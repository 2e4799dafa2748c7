//! Where runs stop to fail, or begin to, as a thread is held at one stop or another.

/// So many stops are tried one by one, before some are left out: in a loop, the next round may have such a window of its own.
const ONE_BY_ONE: u32 = 16;
/// Short steps in which it is looked for an edge at which nobody is kept out.
const MOST_SHORT_STEPS: usize = 24;
/// As far as it is looked for an edge.
const FURTHEST: u32 = 1 << 14;

/// The last stop from `from` on at which runs fail, if that has an end.
pub fn furthest(
    from: u32,
    mut fails: impl FnMut(u32) -> anyhow::Result<bool>,
) -> anyhow::Result<Option<u32>> {
    let (mut last, mut step) = (from, 1);
    let passes = loop {
        let next = last.saturating_add(step);
        if next - from > FURTHEST {
            return Ok(None);
        }
        if !fails(next)? {
            break next;
        }
        step = next_step(step, next - from);
        last = next;
    };
    between(last, passes, |stop| Ok(!fails(stop)?)).map(|(last, _)| Some(last))
}

/// The last stop below `from`, not below `least`, at which runs pass though they fail from there to `from`. None if they fail from
/// `least` on.
pub fn earliest(
    least: u32,
    from: u32,
    mut fails: impl FnMut(u32) -> anyhow::Result<bool>,
) -> anyhow::Result<Option<u32>> {
    let (mut first, mut step) = (from, 1);
    let passes = loop {
        let next = first.saturating_sub(step).max(least);
        if !fails(next)? {
            break next;
        }
        if next == least {
            return Ok(None);
        }
        step = next_step(step, from - next);
        first = next;
    };
    between(passes, first, fails).map(|(passes, _)| Some(passes))
}

/// The last stop from `from` on at which runs pass, if they fail afterwards.
pub fn needed(from: u32, mut fails: impl FnMut(u32) -> anyhow::Result<bool>) -> anyhow::Result<Option<u32>> {
    let (mut passes, mut step) = (from, 1);
    let first = loop {
        let next = passes.saturating_add(step);
        if next - from > FURTHEST {
            return Ok(None);
        }
        if fails(next)? {
            break next;
        }
        (passes, step) = (next, step * 2);
    };
    between(passes, first, fails).map(|(passes, _)| Some(passes))
}

/// The stop that `needed` asks for after this one, as long as runs pass.
pub fn doubled(from: u32, stop: u32) -> u32 {
    stop.saturating_add(stop - from + 1)
}

/// What a run comes to with a thread held at a stop beyond an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beyond {
    Fails,
    /// It passes though the other thread has done what matters.
    Passes,
    /// It passes, and the other thread had to wait before it could do that.
    KeptOut,
}

/// The true edge, if the other thread was merely kept out at the first one: the last of the stops at which runs fail, from one at which they do,
/// and the first one after it at which they pass though the other thread does what matters. None if there is no such stop.
///
/// A section in which somebody is kept out may have hundreds of stops, as where it fills a container: it is left by ever longer steps, and its end
/// is looked for by halves. What is shorter than such a step may be passed over.
pub fn free_edge(
    mut last: u32,
    stops: &[u32],
    beyond: &mut impl FnMut(u32) -> anyhow::Result<Beyond>,
) -> anyhow::Result<Option<(u32, u32)>> {
    let (mut from, mut at, mut kept_out, mut short) = (0, 0, 0, 0);
    while let Some(&stop) = stops.get(at).filter(|_| short < MOST_SHORT_STEPS) {
        let mut came = beyond(stop)?;
        if came != Beyond::KeptOut && at - from > 1 {
            let is_free = |middle: u32| Ok(beyond(stops[middle as usize])? != Beyond::KeptOut);
            at = between(from as u32, at as u32, is_free)?.1 as usize;
            came = beyond(stops[at])?;
        }
        match came {
            Beyond::Fails => last = stops[at],
            Beyond::Passes => return Ok(Some((last, stops[at]))),
            Beyond::KeptOut => {}
        }
        kept_out = if came == Beyond::KeptOut { kept_out + 1 } else { 0 };
        let step = if kept_out < ONE_BY_ONE { 1 } else { 2 * (at - from) };
        short += usize::from(step == 1);
        // The last of all is not left out.
        from = at;
        at = if at + 1 == stops.len() { stops.len() } else { (at + step).min(stops.len() - 1) };
    }
    Ok(None)
}

fn next_step(step: u32, tried: u32) -> u32 {
    if tried < ONE_BY_ONE { 1 } else { step * 2 }
}

/// Two neighbours, of which it holds for the second alone, by halves.
fn between(
    mut not: u32,
    mut holds: u32,
    mut is_so: impl FnMut(u32) -> anyhow::Result<bool>,
) -> anyhow::Result<(u32, u32)> {
    while holds - not > 1 {
        let middle = not + (holds - not) / 2;
        if is_so(middle)? { holds = middle } else { not = middle }
    }
    Ok((not, holds))
}

#[cfg(test)]
mod tests {
    use std::ops::RangeInclusive;

    use super::*;

    /// Runs fail at these stops; how many were made.
    fn count(
        windows: &[RangeInclusive<u32>],
        search: impl Fn(&mut dyn FnMut(u32) -> anyhow::Result<bool>) -> anyhow::Result<Option<u32>>,
    ) -> (Option<u32>, u32) {
        let mut runs = 0;
        let found = search(&mut |stop| {
            runs += 1;
            Ok(windows.iter().any(|window| window.contains(&stop)))
        });
        (found.unwrap(), runs)
    }

    #[test]
    fn both_edges_are_found_wherever_it_begins() {
        for (first, last) in [(6, 7), (10, 30), (100, 900), (1, 5000)] {
            for from in [first, (first + last) / 2, last] {
                let (found, runs) = count(&[first..=last], |fails| furthest(from, fails));
                assert_eq!(found, Some(last), "{first} to {last} from {from}");
                assert!(runs < 60, "{runs} runs");
                let (found, _) = count(&[first..=last], |fails| earliest(0, from, fails));
                assert_eq!(found, Some(first - 1), "{first} to {last} from {from}");
            }
        }
    }

    #[test]
    fn the_window_of_the_next_round_is_another_one() {
        let rounds = [6..=9, 14..=17, 22..=25];
        assert_eq!(count(&rounds, |fails| furthest(14, fails)).0, Some(17));
        assert_eq!(count(&rounds, |fails| earliest(0, 17, fails)).0, Some(13));
    }

    #[test]
    fn what_has_no_edge_has_none() {
        assert_eq!(count(&[0..=u32::MAX], |fails| furthest(3, fails)).0, None);
        assert_eq!(count(&[0..=9], |fails| earliest(0, 5, fails)).0, None, "from the start");
        assert_eq!(count(&[], |fails| needed(3, fails)).0, None);
    }

    /// F fails, k is kept out, . passes.
    fn free(stops: &str) -> Option<(u32, u32)> {
        let kinds: Vec<char> = stops.chars().collect();
        let mut beyond = |stop: u32| {
            Ok(match kinds[stop as usize] {
                'F' => Beyond::Fails,
                'k' => Beyond::KeptOut,
                _ => Beyond::Passes,
            })
        };
        let stops: Vec<u32> = (1..kinds.len() as u32).collect();
        free_edge(0, &stops, &mut beyond).unwrap()
    }

    #[test]
    fn who_is_merely_kept_out_says_nothing() {
        assert_eq!(free("FFkk.."), Some((1, 4)), "the act is in the section");
        assert_eq!(free("FFkkFFkk..FF"), Some((5, 8)), "a section of another kind comes before it");
        assert_eq!(free("F.F"), Some((0, 1)));
        assert_eq!(free("FkkFkk"), None, "never free");
    }

    #[test]
    fn a_long_section_is_left_by_long_steps() {
        for length in [15, 16, 17, 40, 300, 600] {
            let mut runs = 0;
            let mut beyond = |stop: u32| {
                runs += 1;
                Ok(if stop <= length { Beyond::KeptOut } else { Beyond::Passes })
            };
            let stops: Vec<u32> = (1..=1024).collect();
            assert_eq!(free_edge(0, &stops, &mut beyond).unwrap(), Some((0, length + 1)));
            assert!(runs < 40, "{runs} runs");
        }
        let fails_behind_it = format!("F{}FFFkk..", "k".repeat(40));
        assert_eq!(free(&fails_behind_it), Some((43, 46)));
        assert_eq!(free(&format!("{}.", "F".repeat(30))), None, "that is too far");
    }

    #[test]
    fn what_is_asked_for_next_is_known() {
        let mut asked = Vec::new();
        let found = needed(3, |stop| {
            asked.push(stop);
            Ok(stop >= 66)
        });
        assert_eq!(found.unwrap(), Some(65));
        let doubling = asked.windows(2).take_while(|pair| pair[0] < 66);
        assert!(doubling.clone().count() >= 5, "{asked:?}");
        doubling.for_each(|pair| assert_eq!(doubled(3, pair[0]), pair[1], "{asked:?}"));
    }

    #[test]
    fn a_thread_must_have_come_so_far() {
        for first in [4, 5, 77, 1000] {
            let (found, runs) = count(&[first..=u32::MAX], |fails| needed(3, fails));
            assert_eq!(found, Some(first - 1));
            assert!(runs < 30, "{runs} runs");
        }
    }
}
