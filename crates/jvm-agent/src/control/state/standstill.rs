//! Do all threads wait for one another, for ever?

use super::{Member, Standing, State};

impl State {
    /// Some threads want each other's monitors or locks in a circle, and all others want one too or wait without a time-out
    /// to be woken. A circle never ends; without one, a thread that nobody knows of may still wake somebody.
    pub fn stands_still(&self) -> bool {
        let waits = |(id, member): (&u32, &Member)| match member.standing {
            Standing::Wants(monitor) => self.is_held_by_another(*id, monitor),
            Standing::Away | Standing::Parked => self.patient.contains(id),
            _ => false,
        };
        self.members.iter().all(waits) && self.members.keys().any(|&id| self.is_in_circle(id))
    }

    fn is_in_circle(&self, id: u32) -> bool {
        let waits_for = |&id: &u32| match self.stands(id) {
            Some(Standing::Wants(monitor)) => self.monitors.get(&monitor).map(|&(holder, _)| holder),
            Some(Standing::Parked) => self.locks.waits_for(id),
            _ => None,
        };
        let chain = std::iter::successors(waits_for(&id), waits_for);
        chain.take(self.members.len()).any(|holder| holder == id)
    }
}
