//! A schedule as the way of the token: one thread after the other has it, each until it comes to a stop of its own.

use recording::{Switch, flag};

/// A thread runs until it comes to this stop of its own, or has to wait before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Leg {
    pub thread: u32,
    pub until: u32,
    /// It had waited before until its time was over.
    pub by_time: bool,
}

/// As long as it can.
pub const FOREVER: u32 = Switch::AS_LONG_AS_IT_CAN;

/// The way of a recorded run's token, from the first thread that had it. The last one goes on as long as it can.
pub fn of_switches(switches: &[Switch]) -> Vec<Leg> {
    let leg = |(at, switch): (usize, &Switch)| {
        // Who was blocked where nobody saw it lost the token at no stop.
        let next = switches.get(at + 1).filter(|next| next.from == switch.to);
        let until = next.map_or(FOREVER, |next| next.stop);
        Leg { thread: switch.to, until, by_time: switch.is_by_time() }
    };
    joined(switches.iter().enumerate().map(leg))
}

/// Where a thread follows on itself, it just goes on.
pub fn joined(legs: impl Iterator<Item = Leg>) -> Vec<Leg> {
    let mut all: Vec<Leg> = Vec::new();
    for leg in legs {
        match all.last_mut() {
            Some(last) if last.thread == leg.thread => last.until = leg.until,
            _ => all.push(leg),
        }
    }
    all
}

/// The same for the recorder.
pub fn to_switches(legs: &[Leg]) -> Vec<Switch> {
    let before = std::iter::once(Leg { thread: 0, until: 0, by_time: false }).chain(legs.iter().copied());
    let switch = |(from, to): (Leg, &Leg)| Switch {
        to: to.thread,
        from: from.thread,
        stop: from.until,
        flags: if to.by_time { flag::BY_TIME.into() } else { 0 },
    };
    before.zip(legs).map(switch).collect()
}
