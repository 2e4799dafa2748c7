//! The shortest way to a failure, by leaving out what it does not take: first the end, then parts of the rest, large ones first.
//!
//! A. Zeller, R. Hildebrandt, "Simplifying and isolating failure-inducing input", 2002. Deviations: (1) a schedule has an end that is
//! found by halves, since a run is lost from some switch on; (2) the search may end before nothing more can be left out: what comes
//! after it looks at the last switch alone, and others do no harm there but for the time that they take.

use super::bench::Bench;
use super::legs::{FOREVER, Leg, joined};

/// Runs that leave parts out, at most.
const MOST: u32 = 40;

/// A shorter way that fails as well, of which the last leg is needed. None if the failure does not come back.
pub fn shorter(bench: &mut Bench) -> anyhow::Result<Option<Vec<Leg>>> {
    let legs = bench.legs.clone();
    if !bench.fails(&legs)? {
        return Ok(None);
    }
    let legs = without_end(bench, legs)?;
    without_parts(bench, legs).map(Some)
}

/// The last thread goes on as long as it can.
fn ended(mut legs: Vec<Leg>) -> Vec<Leg> {
    if let Some(last) = legs.last_mut() {
        last.until = FOREVER;
    }
    legs
}

fn without_end(bench: &mut Bench, legs: Vec<Leg>) -> anyhow::Result<Vec<Leg>> {
    let (mut passes, mut fails) = (0, legs.len());
    let mut best = legs.clone();
    while passes + 1 < fails {
        let middle = passes + (fails - passes) / 2;
        let shorter = ended(legs[..middle].to_vec());
        if bench.fails(&shorter)? {
            (fails, best) = (middle, shorter);
        } else {
            passes = middle;
        }
    }
    Ok(best)
}

fn without_parts(bench: &mut Bench, mut legs: Vec<Leg>) -> anyhow::Result<Vec<Leg>> {
    let end = bench.made + MOST;
    let mut part = (legs.len() / 2).max(1);
    loop {
        let before = legs.len();
        let mut at = 0;
        // The last leg is needed, or the way would have ended before it.
        while at + 1 < legs.len() {
            if bench.made >= end {
                return Ok(legs);
            }
            let rest = legs.iter().enumerate().filter(|(nth, _)| !(at..at + part).contains(nth) || *nth + 1 == legs.len());
            let shorter = ended(joined(rest.map(|(_, leg)| *leg)));
            if shorter.len() < legs.len() && bench.fails(&shorter)? {
                legs = shorter;
            } else {
                at += part;
            }
        }
        if part == 1 && legs.len() == before {
            break;
        }
        part = (part / 2).max(1);
    }
    for at in 0..legs.len() {
        if legs[at].until != FOREVER && bench.made < end {
            let mut longer = legs.clone();
            longer[at].until = FOREVER;
            if bench.fails(&longer)? {
                legs = longer;
            }
        }
    }
    Ok(legs)
}
