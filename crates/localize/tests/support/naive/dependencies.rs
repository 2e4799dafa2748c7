//! Dependencies between threads, DefUse and PSet once more.

use localize::*;

use super::{Event, gap_between};

/// All conflicting pairs with no write in between, by their later access and then by their earlier one.
pub fn pairs(run: &Run) -> Vec<[Event; 2]> {
    let accesses = &run.accesses;
    let event = |index: usize| {
        let kind = if accesses[index].kind == AccessKind::Read { 'R' } else { 'W' };
        Event { index, kind, access: accesses[index] }
    };
    let mut pairs = Vec::new();
    for tail in 0..accesses.len() {
        for head in 0..tail {
            let [first, last] = [event(head), event(tail)];
            let conflict = first.access.location == last.access.location
                && first.access.thread != last.access.thread
                && (first.kind, last.kind) != ('R', 'R');
            let undisturbed = between(run, head, tail).all(|access| access.kind == AccessKind::Read);
            if conflict && undisturbed && !gap_between(run, head, tail) {
                pairs.push([first, last]);
            }
        }
    }
    pairs
}

fn between(run: &Run, head: usize, tail: usize) -> impl Iterator<Item = &Access> {
    run.accesses[head + 1..tail].iter().filter(move |access| access.location == run.accesses[head].location)
}

pub fn defuse(run: &Run) -> Vec<Vec<Event>> {
    let uses = |[head, tail]: &[Event; 2]| head.kind == 'W' && tail.access.kind != AccessKind::Write;
    let as_read = |[head, tail]: [Event; 2]| vec![head, Event { kind: 'R', ..tail }];
    pairs(run).into_iter().filter(uses).map(as_read).collect()
}

/// The pairs that no other pair between the same two threads makes needless.
pub fn immediate_pairs(run: &Run) -> Vec<[Event; 2]> {
    let is_immediate = |[head, tail]: &[Event; 2]| {
        between(run, head.index, tail.index).all(|access| match (head.kind, tail.kind) {
            ('W', 'R') => access.thread != tail.access.thread,
            ('R', 'W') => access.thread != head.access.thread,
            _ => access.thread != head.access.thread && access.thread != tail.access.thread,
        })
    };
    pairs(run).into_iter().filter(is_immediate).collect()
}

pub fn pset(run: &Run) -> Vec<Vec<Event>> {
    immediate_pairs(run).into_iter().map(Vec::from).collect()
}
