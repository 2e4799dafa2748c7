//! Do all threads wait for one another, for ever?

use super::{Member, Standing, State};

impl State {
    /// Some threads want each other's monitors or locks in a circle, and all others want one too or wait without a time-out
    /// to be woken. A circle never ends; without one, a thread that nobody knows of may still wake somebody, if there is one and
    /// the one that would have done it has not died. Whether the operating system has put a thread to sleep is asked of `is_asleep`.
    pub fn stands_still(&self, is_asleep: impl Fn(u32) -> bool) -> bool {
        let waits = |(id, member): (&u32, &Member)| match member.standing {
            Standing::Wants(monitor) => self.is_held_by_another(*id, monitor),
            Standing::Away | Standing::Parked => self.patient.contains(id),
            _ => false,
        };
        let is_final = |&id: &u32| self.has_anybody_died || self.is_in_circle(id);
        self.members.iter().all(waits)
            && (self.members.keys().any(is_final) || self.is_forsaken() && self.are_all(is_asleep))
    }

    /// Can nobody come to wake those who wait, while the virtual machine goes on for them?
    fn is_forsaken(&self) -> bool {
        self.strangers == 0 && self.members.values().any(|member| !member.is_daemon)
    }

    /// One that was woken where nobody sees it is not asleep, however long it takes to arrive.
    fn are_all(&self, is_asleep: impl Fn(u32) -> bool) -> bool {
        self.members.values().all(|member| is_asleep(member.os_id))
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
            Some(Standing::Away) => self.joins(id).into_iter().collect(),
            _ => Vec::new(),
        }
    }

    /// The thread whose end it waits for: that is notified at the thread's own object.
    fn joins(&self, id: u32) -> Option<u32> {
        let mut waits = self.waiting.iter().filter(|(_, queue)| queue.contains(&id));
        waits.find_map(|(monitor, _)| self.objects.get(monitor)).copied()
    }
}
