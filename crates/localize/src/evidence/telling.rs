//! Of all occurrences of a pattern in a run, one whose values show that it matters.

use rustc_hash::FxHashMap;

use super::one_round::in_one_round;
use crate::finding::Example;
use crate::run::{Access, LocationId, Run};

/// The example with the accesses of another occurrence in the same run, if its own values show no harm and the other's
/// do. Told of triples on one variable only: a thread that looks again and finds what it saw before is none the wiser. Of a pattern on two variables, one
/// of one round (see `one_round`).
pub fn telling_example(run: &Run, example: &Example) -> Example {
    if let Some(accesses) = in_one_round(run, example) {
        return Example { accesses, ..example.clone() };
    }
    let &[first, middle, last] = example.accesses.as_slice() else { return example.clone() };
    let accesses = [first, middle, last].map(|index| &run.accesses[index]);
    let is_triple = accesses[0].location == accesses[1].location
        && accesses[1].location == accesses[2].location
        && accesses[0].thread == accesses[2].thread;
    if !is_triple || is_telling(accesses) {
        return example.clone();
    }
    let same = |one: &Access, other: &Access| one.site == other.site && one.kind == other.kind;
    // For each location the first access, and what came in between once something has.
    let mut begun: FxHashMap<LocationId, (usize, Option<usize>)> = FxHashMap::default();
    for (index, access) in run.accesses.iter().enumerate() {
        let found = begun.get(&access.location).copied();
        if let Some((start, Some(between))) = found
            && same(access, accesses[2])
            && access.thread == run.accesses[start].thread
            && is_telling([&run.accesses[start], &run.accesses[between], access])
        {
            return Example { accesses: vec![start, between, index], ..example.clone() };
        }
        if same(access, accesses[0]) {
            begun.insert(access.location, (index, None));
        } else if let Some((start, _)) = found
            && same(access, accesses[1])
            && access.thread != run.accesses[start].thread
        {
            begun.insert(access.location, (start, Some(index)));
        }
    }
    example.clone()
}

/// Whether the last access finds or destroys something else than the first had seen or made.
fn is_telling([first, middle, last]: [&Access; 3]) -> bool {
    let (Some(before), Some(after)) = (first.value, last.value) else { return false };
    if last.kind.writes() { middle.value.is_some_and(|between| between != before) } else { before != after }
}
