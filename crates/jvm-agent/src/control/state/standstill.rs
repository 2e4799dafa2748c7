//! Do all threads wait for one another, for ever?

use super::{Member, Standing, State};

impl State {
    /// Some threads want each other's monitors in a circle, and all others want a monitor too or wait for a notification
    /// without a time-out. A circle never ends; without one, a thread that nobody knows of may still wake somebody.
    pub fn stands_still(&self) -> bool {
        let waits = |(id, member): (&u32, &Member)| match member.standing {
            Standing::Wants(monitor) => self.is_held_by_another(*id, monitor),
            Standing::Away => self.patient.contains(id),
            _ => false,
        };
        self.members.iter().all(waits) && self.members.keys().any(|&id| self.is_in_circle(id))
    }

    fn is_in_circle(&self, id: u32) -> bool {
        let holder_of_wanted = |&id: &u32| match self.stands(id) {
            Some(Standing::Wants(monitor)) => self.monitors.get(&monitor).map(|&(holder, _)| holder),
            _ => None,
        };
        let chain = std::iter::successors(holder_of_wanted(&id), holder_of_wanted);
        chain.take(self.members.len()).any(|holder| holder == id)
    }
}
