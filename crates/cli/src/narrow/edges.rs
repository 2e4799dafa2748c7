//! How far threads may be when another one comes in between: at each of these edges, one step more or less decides whether the
//! run fails.

use report::Trial;
use runner::RunFile;

use super::bench::Bench;
use super::legs::{FOREVER, Leg, joined};
use super::search::{self, Beyond};

/// Stops beyond an edge at which it is looked whether the other thread was merely kept out there.
const BEYOND: u32 = 1024;
/// Runs that prove it: with the thread held there, and elsewhere. If all of the former fail and none of the latter, chance would do that
/// once in 6,435 times.
const HELD_THERE: usize = 7;
const ELSEWHERE: usize = 8;

/// A run in which a thread was held at one of its stops.
pub struct Stand {
    pub file: RunFile,
    pub stop: u32,
}

/// What is known of where a failing run goes wrong: runs at the edges.
pub struct Edges {
    /// The thread that is held up, and the one that runs meanwhile.
    pub held: u32,
    pub other: u32,
    /// Others that have to run as well before it, in their order.
    pub through: Vec<u32>,
    /// A run that passes, since the held thread has not done its next step when the other one runs. None if it need not have done anything.
    pub before: Option<Stand>,
    /// A run that fails.
    pub failing: Stand,
    /// The last one that does: the held thread may be so far, but not one step further.
    pub after: Stand,
    /// A run that passes, since the held thread has done one step more. None if that is not known.
    pub beyond: Option<Stand>,
    /// A run that passes, since the other thread has not done its next step when the held one goes on. None if that is not known.
    pub between: Option<Stand>,
    /// Runs with the thread held there, and one step earlier or later.
    pub held_there: Trial,
    pub elsewhere: Trial,
}

/// Legs behind the last one that are asked about, at most: with more of them threads take turns, and it is not the last that decides.
const MOST_FOLLOWERS: usize = 4;

/// Legs at whose ends it is looked for edges, at most: the last ones, since what came first may only have brought the threads to where they
/// are.
const MOST_HELD: usize = 2;

/// The edges of a way, of the last switches first: each is about a thread that loses the token though it could go on, or that would have got it in the place of the last one.
pub fn edges(bench: &mut Bench, legs: &[Leg]) -> anyhow::Result<Vec<Edges>> {
    let held_up = (0..legs.len().saturating_sub(1)).rev().filter(|&at| legs[at].until != FOREVER);
    let mut found = Vec::new();
    for at in held_up.take(MOST_HELD) {
        found.extend(of_leg(bench, legs, at)?);
    }
    let Some((last, base)) = legs.split_last().filter(|_| found.is_empty()) else { return Ok(found) };
    for thread in instead(bench, legs, base)? {
        let own = Leg { thread, until: 0, by_time: false };
        let legs: Vec<Leg> = base.iter().copied().chain([own, *last]).collect();
        found.extend(of_leg(bench, &legs, base.len())?);
        if !found.is_empty() {
            break;
        }
    }
    Ok(found)
}

/// The edges of what a thread does up to the end of one of its legs. None if there are none.
fn of_leg(bench: &mut Bench, legs: &[Leg], at: usize) -> anyhow::Result<Option<Edges>> {
    let held = legs[at];
    let way = |until: u32| -> Vec<Leg> {
        let leg = |(nth, &leg): (usize, &Leg)| if nth == at { Leg { until, ..leg } } else { leg };
        joined(legs.iter().enumerate().map(leg))
    };
    // Whoever follows, until it is its turn again.
    let next = legs[at + 1..].iter().position(|leg| leg.thread == held.thread).map(|next| at + 1 + next);
    let last_other = next.unwrap_or(legs.len()) - 1;
    if last_other == at {
        return Ok(None);
    }
    let other = legs[last_other];
    let Some(latest) = search::furthest(held.until, |stop| bench.fails(&way(stop), Some(way(stop + 1))))?
    else {
        return Ok(None);
    };
    let earlier_legs =
        |of: u32, before: usize| legs[..before].iter().rev().filter(move |leg| leg.thread == of);
    // How far it has come by itself is not known: anything less means that it waits on.
    let begun_at = |of: u32, before: usize| {
        earlier_legs(of, before).find(|leg| leg.until != FOREVER).map_or(0, |leg| leg.until)
    };
    let begun = begun_at(held.thread, at);
    let before = match begun < held.until {
        true => {
            let next = |stop: u32| (stop > begun).then(|| way(stop - 1));
            search::earliest(begun, held.until, |stop| bench.fails(&way(stop), next(stop)))?
        }
        false => None,
    };
    let soonest = before.map_or(held.until, |before| before + 1);
    let between = |until: u32| -> Vec<Leg> {
        let mut legs = legs.to_vec();
        legs[at].until = soonest;
        legs[last_other].until = until;
        if next.is_none() {
            legs.push(Leg { until: FOREVER, by_time: false, ..held });
        }
        joined(legs.into_iter())
    };
    let from = begun_at(other.thread, last_other);
    let decisive = match other.until {
        FOREVER => {
            let next = |stop: u32| between(search::doubled(from, stop));
            search::needed(from, |stop| bench.fails(&between(stop), Some(next(stop))))?
        }
        // It must not go on for ever, so that it cannot be looked for from below.
        known => search::earliest(from, known, |stop| {
            bench.fails(&between(stop), (stop > from).then(|| between(stop - 1)))
        })?,
    };
    let Some(decisive) = decisive else {
        // Whoever came after the last leg by itself may have done what decides.
        return match with_followers(bench, legs, at)? {
            Some(longer) => of_leg(bench, &longer, at),
            None => Ok(None),
        };
    };
    // A thread that holds a lock keeps the other one out, and so what that would have done to it.
    let free = bench.come(&way(soonest), (held.thread, soonest), other.thread)?;
    let mut beyond = |stop: u32| -> anyhow::Result<Beyond> {
        // It is looked on in the same direction.
        let next = if stop > soonest { Some(stop + 1) } else { stop.checked_sub(1) };
        if bench.fails(&way(stop), next.map(way))? {
            return Ok(Beyond::Fails);
        }
        let come = bench.come(&way(stop), (held.thread, stop), other.thread)?;
        let is_kept_out = come.goes_on && come.stops < free.stops;
        Ok(if is_kept_out { Beyond::KeptOut } else { Beyond::Passes })
    };
    let higher: Vec<u32> = (1..=BEYOND).map(|step| latest + step).collect();
    let Some((latest, later)) = search::free_edge(latest, &higher, &mut beyond)? else {
        return Ok(None);
    };
    let lower: Vec<u32> = (begun..soonest).rev().take(BEYOND as usize).collect();
    let lower = search::free_edge(soonest, &lower, &mut beyond)?;
    // What it had done before it was held up in an earlier leg is not asked for.
    if lower.is_none() && earlier_legs(held.thread, at).next().is_some() {
        return Ok(None);
    }
    // As soon as it has looked, it holds fewer locks than later.
    let (soonest, earlier) = lower.map_or((soonest, None), |(soonest, earlier)| (soonest, Some(earlier)));
    let mut wanted = vec![(way(soonest), soonest), (way(latest), latest)];
    wanted.extend([(between(decisive), decisive), (way(later), later)]);
    wanted.extend(earlier.map(|_| (way(soonest - 1), soonest - 1)));
    let (ways, stops): (Vec<Vec<Leg>>, Vec<u32>) = wanted.into_iter().unzip();
    let files = bench.again(&ways)?.into_iter().zip(stops);
    let mut stands = files.map(|(file, stop)| file.map(|file| Stand { file, stop }));
    let mut stand = || stands.next().flatten();
    let (failing, after, between, beyond, before) = (stand(), stand(), stand(), stand(), stand());
    let (Some(failing), Some(after)) = (failing, after) else { return Ok(None) };
    let mut held_there = Trial { runs: 0, failed: 0 };
    bench.repeat(&way(soonest), HELD_THERE, &mut held_there)?;
    let mut elsewhere = Trial { runs: 0, failed: 0 };
    for stop in earlier.into_iter().chain([later]) {
        let runs = if earlier.is_some() { ELSEWHERE / 2 } else { ELSEWHERE };
        bench.repeat(&way(stop), runs, &mut elsewhere)?;
    }
    let (held, other) = (held.thread, other.thread);
    let through = through(&legs[at + 1..last_other], other);
    Ok(Some(Edges { held, other, through, before, failing, after, beyond, between, held_there, elsewhere }))
}

/// The threads of some legs, each once, without one of them.
fn through(legs: &[Leg], other: u32) -> Vec<u32> {
    let mut threads = Vec::new();
    for leg in legs {
        if leg.thread != other && !threads.contains(&leg.thread) {
            threads.push(leg.thread);
        }
    }
    threads
}

/// The same way with a leg for each thread that runs behind the last one before the held thread goes on. None if there is none.
fn with_followers(bench: &mut Bench, legs: &[Leg], at: usize) -> anyhow::Result<Option<Vec<Leg>>> {
    let longer = followed(legs, at, &bench.gone(legs)?);
    Ok(match longer {
        Some(longer) if bench.fails(&longer, None)? => Some(longer),
        _ => None,
    })
}

/// A way with those behind it that have run in `gone`, a run that goes it.
fn followed(legs: &[Leg], at: usize, gone: &[Leg]) -> Option<Vec<Leg>> {
    let held = legs[at];
    let is_held = |leg: &Leg| leg.thread == held.thread && leg.until >= held.until;
    let since = &gone[gone.iter().position(is_held)? + 1..];
    let until_back = since.iter().take_while(|leg| leg.thread != held.thread);
    let own = &legs[at + 1..];
    let followers = until_back.skip(own.len()).map(|leg| Leg { until: FOREVER, ..*leg });
    let followers: Vec<Leg> = followers.take(MOST_FOLLOWERS + 1).collect();
    let is_same = own.iter().zip(since).all(|(own, gone)| own.thread == gone.thread);
    let is_known = is_same && !followers.is_empty() && followers.len() <= MOST_FOLLOWERS;
    is_known.then(|| legs.iter().copied().chain(followers).collect())
}

/// Who runs in the place of the last one if that does not.
fn instead(bench: &mut Bench, legs: &[Leg], base: &[Leg]) -> anyhow::Result<Vec<u32>> {
    let fails = bench.gone(legs)?;
    // Where one leg is left, the first thread would have gone on, up to where it waits for whom it has created.
    let first = fails.first().map(|first| Leg { until: FOREVER, ..*first });
    let is_only = base.is_empty();
    let base = if is_only { first.into_iter().collect() } else { base.to_vec() };
    if base == legs || base.is_empty() || bench.fails(&base, None)? {
        return Ok(Vec::new());
    }
    Ok(held_up(&fails, &bench.gone(&base)?, is_only))
}

/// Whom one way holds up, and the other does not: who runs longer in that before they part, if that may be, and who runs in another's place.
fn held_up(fails: &[Leg], passes: &[Leg], by_length: bool) -> Vec<u32> {
    let mut pairs = fails.iter().zip(passes);
    let same = pairs.by_ref().take_while(|(one, other)| one.thread == other.thread);
    let longer = same.filter(|(one, other)| by_length && one.until < other.until);
    let longer = longer.map(|(_, other)| other.thread).next();
    let parted = fails.iter().zip(passes).find(|(one, other)| one.thread != other.thread);
    longer.into_iter().chain(parted.map(|(_, other)| other.thread)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn legs(of: &[(u32, u32)]) -> Vec<Leg> {
        of.iter().map(|&(thread, until)| Leg { thread, until, by_time: false }).collect()
    }

    #[test]
    fn whoever_runs_before_the_last_one_is_told() {
        let way = legs(&[(3, FOREVER), (4, 7), (5, 2), (3, 9)]);
        assert_eq!((through(&way, 4), through(&way[..1], 4)), (vec![3, 5], vec![3]));
        assert_eq!(through(&[], 4), Vec::<u32>::new());
    }

    /// One thread is held, a second one runs to its end, and the third, whose turn it is then, does what decides.
    #[test]
    fn who_would_have_gone_on_is_held_up() {
        let fails = legs(&[(1, 12), (4, 30), (2, 9)]);
        let whom = |passes: &[(u32, u32)], by_length| held_up(&fails, &legs(passes), by_length);
        let on = [(1, 43), (2, 30), (4, 9)];
        assert_eq!(whom(&on, true), [1, 2]);
        assert_eq!(whom(&on, false), [2], "behind other legs, it is their last thread that goes on");
        assert_eq!(whom(&[(1, 43), (4, 30), (2, 9)], true), [1]);
        assert!(whom(&[(1, 12), (4, 30), (2, 9)], true).is_empty());
    }

    #[test]
    fn who_runs_behind_the_last_leg_is_asked_about_too() {
        let way = legs(&[(1, FOREVER), (2, 77), (3, FOREVER)]);
        let longer = |gone: &[(u32, u32)]| followed(&way, 1, &legs(gone));
        let threads = longer(&[(1, 12), (2, 77), (3, 80), (4, 25), (2, 99)]);
        assert_eq!(threads, Some(legs(&[(1, FOREVER), (2, 77), (3, FOREVER), (4, FOREVER)])));
        assert_eq!(longer(&[(1, 12), (2, 77), (3, 80), (2, 99), (4, 25)]), None, "it comes later");
        assert_eq!(longer(&[(1, 12), (2, 77), (4, 25), (3, 80), (2, 99)]), None, "another way");
        let turns = [(1, 12), (2, 77), (3, 1), (4, 1), (3, 2), (4, 2), (3, 3), (4, 3), (2, 99)];
        assert_eq!(longer(&turns), None, "they take turns");
    }
}
