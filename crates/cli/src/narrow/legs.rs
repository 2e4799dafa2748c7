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

#[cfg(test)]
mod tests {
    use super::*;

    fn switch(from: u32, stop: u32, to: u32) -> Switch {
        Switch { to, from, stop, flags: 0 }
    }

    #[test]
    fn a_way_is_that_of_its_switches() {
        let switches = [switch(0, 0, 1), switch(1, 14, 3), switch(3, 7, 1), switch(1, 20, 2)];
        let leg = |thread, until| Leg { thread, until, by_time: false };
        let legs = of_switches(&switches);
        assert_eq!(legs, [leg(1, 14), leg(3, 7), leg(1, 20), leg(2, FOREVER)]);
        assert_eq!(to_switches(&legs), switches);
        // Nobody had the token: the one before was blocked where nobody saw it.
        let lost = [switch(0, 0, 1), switch(0, 0, 2), switch(2, 5, 1)];
        assert_eq!(of_switches(&lost), [leg(1, FOREVER), leg(2, 5), leg(1, FOREVER)]);
    }

    #[test]
    fn a_thread_that_follows_on_itself_goes_on() {
        let leg = |thread, until| Leg { thread, until, by_time: false };
        let legs = joined([leg(1, 3), leg(1, 9), leg(2, 4), leg(1, 12)].into_iter());
        assert_eq!(legs, [leg(1, 9), leg(2, 4), leg(1, 12)]);
    }

    #[test]
    fn who_had_waited_until_its_time_was_over_does_so_again() {
        let by_time = Switch { flags: flag::BY_TIME.into(), ..switch(1, 3, 2) };
        let legs = of_switches(&[switch(0, 0, 1), by_time]);
        assert!(legs[1].by_time && !legs[0].by_time);
        assert_eq!(to_switches(&legs)[1], by_time);
    }
}
