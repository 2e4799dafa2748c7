//! Do all threads wait for one another, for ever?

use super::{Member, Standing, State};

impl State {
    /// Some threads want each other's monitors or locks in a circle, and all others want one too or wait without a time-out
    /// to be woken. A circle never ends; without one, a thread that nobody knows of may still wake somebody, unless the one
    /// that would have done it has died.
    pub fn stands_still(&self) -> bool {
        let waits = |(id, member): (&u32, &Member)| match member.standing {
            Standing::Wants(monitor) => self.is_held_by_another(*id, monitor),
            Standing::Away | Standing::Parked => self.patient.contains(id),
            _ => false,
        };
        let is_final = |&id: &u32| self.has_anybody_died || self.is_in_circle(id);
        self.members.iter().all(waits) && self.members.keys().any(is_final)
    }

    fn is_in_circle(&self, id: u32) -> bool {
        let mut next = self.waits_for(id);
        let mut seen = Vec::new();
        while let Some(holder) = next.pop() {
            if holder == id {
                return true;
            }
            if !seen.contains(&holder) {
                seen.push(holder);
                next.extend(self.waits_for(holder));
            }
        }
        false
    }

    /// All of whom have to give back what the thread wants.
    fn waits_for(&self, id: u32) -> Vec<u32> {
        match self.stands(id) {
            Some(Standing::Wants(monitor)) => {
                self.monitors.get(&monitor).map(|&(holder, _)| holder).into_iter().collect()
            }
            Some(Standing::Parked) => self.locks.waits_for(id).collect(),
            _ => Vec::new(),
        }
    }
}
