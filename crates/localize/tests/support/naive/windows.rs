//! Falcon and Unicorn once more.
//!
//! Patterns are looked up in the printed table as text, and identified across runs by trying all orders of
//! their accesses.

use std::collections::BTreeSet;

use localize::*;

use super::Event;

/// The accesses of each row in time order, as printed. The nth row is P(n+1).
const TABLE: [&str; 20] = [
    "R1x W2x",
    "W1x R2x",
    "W1x W2x",
    "R1x W2x R1x",
    "W1x W2x R1x",
    "W1x R2x W1x",
    "R1x W2x W1x",
    "W1x W2x W1x",
    "W1x W2x W2y W1y",
    "W1x W2y W2x W1y",
    "W1x W2y W1y W2x",
    "W1x R2x R2y W1y",
    "W1x R2y R2x W1y",
    "R1x W2x W2y R1y",
    "R1x W2y W2x R1y",
    "R1x W2y R1y W2x",
    "W1x R2y W1y R2x",
    "R1x W2x R2y W1y",
    "R1x R2y W2x W1y",
    "R1x R2y W1y W2x",
];

/// Whether a reader takes one slot per write, as here, or one per turn, as in the papers.
#[derive(Clone, Copy, PartialEq)]
pub enum Readers {
    OncePerWrite,
    OncePerTurn,
}

/// The identities of all patterns of Falcon in one run.
pub fn falcon_patterns(run: &Run, options: &Options, readers: Readers) -> BTreeSet<String> {
    falcon(run, options, readers).iter().map(|events| identity(events)).collect()
}

/// All patterns of Falcon in one run, earliest first.
pub fn falcon(run: &Run, options: &Options, readers: Readers) -> Vec<Vec<Event>> {
    let mut shown = Vec::new();
    for (oldest, later) in leaving_slots(run, options, readers) {
        let pairs: Vec<_> = later.iter().map(|&b| vec![oldest, b]).collect();
        let triples = pairs.iter().flat_map(|pair| {
            let third = later.iter().filter(|c| c.index > pair[1].index);
            third.map(|&c| vec![pair[0], pair[1], c])
        });
        let triples: Vec<_> = triples.filter(|events| row(events).is_some()).collect();
        if triples.is_empty() {
            shown.extend(pairs.into_iter().filter(|events| row(events).is_some()));
        } else {
            shown.extend(triples);
        }
    }
    shown.sort_by_key(|events| events.iter().map(|event| event.index).collect::<Vec<_>>());
    shown
}

/// All patterns of Unicorn in one run, in the order in which their pairs are combined.
pub fn unicorn(run: &Run, options: &Options) -> Vec<Vec<Event>> {
    let mut pairs = Vec::new();
    for (oldest, later) in leaving_slots(run, options, Readers::OncePerWrite) {
        pairs.extend(later.iter().map(|&b| vec![oldest, b]).filter(|pair| row(pair).is_some()));
    }
    pairs.sort_by_key(|pair| (pair[0].index, pair[1].index));
    let mut shown = pairs.clone();
    for (nth, one) in pairs.iter().enumerate() {
        for (apart, other) in pairs.iter().skip(nth + 1).enumerate() {
            let mut events = [one.clone(), other.clone()].concat();
            events.sort_by_key(|event| event.index);
            events.dedup();
            let is_near = || apart < options.distance && belong_together(&events, run);
            if row(&events).is_some() && (events.len() == 3 || is_near()) {
                shown.push(events);
            }
        }
    }
    shown
}

/// Whether no thread does one of its events again before another of them, or that one before, after others have used the location.
fn belong_together(events: &[Event], run: &Run) -> bool {
    let two = events.iter().flat_map(|one| events.iter().map(move |other| (one, other)));
    two.filter(|(one, other)| one.index < other.index && one.access.thread == other.access.thread).all(
        |(one, other)| {
            let done = &one.access;
            let before = run.accesses[..other.index].iter().enumerate().rev();
            let own_turn = before
                .filter(|(_, access)| access.location == other.access.location)
                .take_while(|(_, access)| access.thread == other.access.thread);
            let begins = own_turn.last().map_or(other.index, |(index, _)| index);
            let to_location = run.accesses[one.index + 1..begins.max(one.index + 1)]
                .iter()
                .filter(|access| access.location == done.location);
            let in_later_turns = to_location.skip_while(|access| access.thread == done.thread);
            let is_again = in_later_turns
                .into_iter()
                .any(|access| (access.thread, access.site) == (done.thread, done.site));
            !is_again && !is_done_since(one.index, other, begins, run)
        },
    )
}

/// Whether the thread has done the same in an earlier turn than the one that begins here, one that itself began later than `first`.
fn is_done_since(first: usize, event: &Event, begins: usize, run: &Run) -> bool {
    let own = &event.access;
    if !own.kind.writes() {
        return false;
    }
    let is_there = |index: &usize| run.accesses[*index].location == own.location;
    let earlier = (0..begins).filter(is_there).collect::<Vec<_>>();
    let is_same =
        |index: usize| run.accesses[index].thread == own.thread && run.accesses[index].site == own.site;
    (0..earlier.len()).filter(|&nth| is_same(earlier[nth])).any(|nth| {
        let mut turn =
            earlier[..=nth].iter().rev().take_while(|&&index| run.accesses[index].thread == own.thread);
        turn.all(|&index| index > first)
    })
}

/// Each slot that ever leaves a window, with the slots that are later in the window then.
fn leaving_slots(run: &Run, options: &Options, readers: Readers) -> Vec<(Event, Vec<Event>)> {
    let locations: BTreeSet<_> = run.accesses.iter().map(|access| access.location).collect();
    let mut leaving = Vec::new();
    for location in locations {
        let mut window: Vec<Event> = Vec::new();
        for index in 0..=run.accesses.len() {
            let is_end = index == run.accesses.len();
            if is_end || run.gaps.contains(&Gap { location, before: index }) {
                while !window.is_empty() {
                    leaving.push((window.remove(0), window.clone()));
                }
            }
            if !is_end && run.accesses[index].location == location {
                for event in events_at(run, index) {
                    let slots = with_slot(&window, event, readers);
                    if slots.len() > options.window.get() {
                        // The new slot is not in the window yet when the oldest leaves.
                        leaving.push((slots[0], slots[1..slots.len() - 1].to_vec()));
                        window = slots[1..].to_vec();
                    } else {
                        window = slots;
                    }
                }
            }
        }
    }
    leaving
}

pub fn events_at(run: &Run, index: usize) -> Vec<Event> {
    let access = run.accesses[index];
    let kinds: &[char] = match access.kind {
        AccessKind::Read => &['R'],
        AccessKind::Write => &['W'],
        AccessKind::Update => &['R', 'W'],
    };
    kinds.iter().map(|&kind| Event { index, kind, access }).collect()
}

/// The slots after one more event, if the window had room for all.
fn with_slot(window: &[Event], event: Event, readers: Readers) -> Vec<Event> {
    let mut slots = window.to_vec();
    if let Some(last) = slots.pop() {
        if last.access.thread != event.access.thread {
            if readers == Readers::OncePerWrite {
                slots.retain(|slot| !is_repeated_by(slot, &last, window));
            }
            slots.push(last);
        } else if last.kind == 'W' && event.kind == 'R' {
            return window.to_vec();
        }
    }
    slots.push(event);
    slots
}

/// Whether both are reads by one thread at one site with no write between them.
fn is_repeated_by(slot: &Event, later: &Event, window: &[Event]) -> bool {
    let between = window.iter().filter(|event| slot.index <= event.index && event.index <= later.index);
    slot.access.thread == later.access.thread
        && slot.access.site == later.access.site
        && between.into_iter().all(|event| event.kind == 'R')
}

/// The row of the table that these events match, in time order.
pub fn row(events: &[Event]) -> Option<String> {
    let shown = show(events).iter().map(|(word, _)| word.as_str()).collect::<Vec<_>>().join(" ");
    TABLE.iter().position(|row| *row == shown).map(|nth| format!("P{}", nth + 1))
}

/// The events in the words of the table, each with its site. Threads and variables are named in the order in
/// which they turn up.
pub fn show(events: &[Event]) -> Vec<(String, u32)> {
    let mut threads = Vec::new();
    let mut locations = Vec::new();
    let word = |event: &Event| {
        let thread = number(&mut threads, event.access.thread) + 1;
        let variable = ['x', 'y', 'z', 'w'][number(&mut locations, event.access.location)];
        (format!("{}{thread}{variable}", event.kind), event.access.site.0)
    };
    events.iter().map(word).collect()
}

fn number<T: PartialEq>(known: &mut Vec<T>, thing: T) -> usize {
    known.iter().position(|other| *other == thing).unwrap_or_else(|| {
        known.push(thing);
        known.len() - 1
    })
}

/// Two patterns are the same if their events can be put into the same order without changing the order within
/// a thread or a variable. Of all these orders, the least stands for the pattern.
pub fn identity(events: &[Event]) -> String {
    format!("{:?}", orders(events).iter().map(|order| show(order)).min().unwrap())
}

/// All orders of the events that keep each thread's and each variable's own.
fn orders(events: &[Event]) -> Vec<Vec<Event>> {
    if events.is_empty() {
        return vec![Vec::new()];
    }
    let mut orders_of_all = Vec::new();
    for (nth, next) in events.iter().enumerate() {
        let must_follow = events[..nth].iter().any(|earlier| {
            earlier.access.thread == next.access.thread || earlier.access.location == next.access.location
        });
        if !must_follow {
            let mut rest = events.to_vec();
            rest.remove(nth);
            orders_of_all.extend(orders(&rest).into_iter().map(|order| [vec![*next], order].concat()));
        }
    }
    orders_of_all
}
