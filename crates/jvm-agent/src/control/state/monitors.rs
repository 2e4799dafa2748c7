//! Monitors: who is in which, who waits to be notified, and who is on its way back.

use super::{Standing, State};

impl State {
    pub fn enter(&mut self, id: u32, monitor: u64, times: u32) {
        if times > 0 {
            let held = self.monitors.entry(monitor).or_insert((id, 0));
            *held = (id, if held.0 == id { held.1 + times } else { times });
        }
    }

    /// The thread leaves this monitor before its next hook.
    pub fn will_exit(&mut self, id: u32, monitor: u64) {
        self.left.entry(id).or_default().push(monitor);
    }

    /// What the thread was about to leave, it has left.
    pub fn settle(&mut self, id: u32) {
        for monitor in self.left.remove(&id).unwrap_or_default() {
            let Some((holder, times)) = self.monitors.get_mut(&monitor) else { continue };
            if *holder != id {
                continue;
            }
            *times -= 1;
            if *times == 0 {
                self.monitors.remove(&monitor);
                self.expect_notified(monitor);
            }
        }
    }

    pub fn is_held_by_another(&self, id: u32, monitor: u64) -> bool {
        self.monitors.get(&monitor).is_some_and(|&(holder, _)| holder != id)
    }

    /// The thread gives the monitor back and waits to be notified.
    pub fn wait(&mut self, id: u32, monitor: u64, is_timed: bool) {
        let own = self.monitors.get(&monitor).filter(|&&(holder, _)| holder == id);
        let times = own.map_or(0, |&(_, times)| times);
        if times > 0 {
            self.monitors.remove(&monitor);
        }
        self.depths.insert(id, times);
        if !is_timed {
            self.patient.insert(id);
        }
        self.waiting.entry(monitor).or_default().push_back(id);
        self.expect_notified(monitor);
    }

    /// The thread waits no more. How often it has entered the monitor once it has it back.
    pub fn end_wait(&mut self, id: u32, monitor: u64) -> u32 {
        for queues in [&mut self.waiting, &mut self.notified] {
            if let Some(queue) = queues.get_mut(&monitor) {
                queue.retain(|&other| other != id);
                if queue.is_empty() {
                    queues.remove(&monitor);
                }
            }
        }
        self.depths.remove(&id).unwrap_or(0)
    }

    /// The virtual machine notifies those first who have waited longest.
    pub fn notify(&mut self, monitor: u64, all: bool) {
        let Some(waiting) = self.waiting.get_mut(&monitor) else { return };
        let count = if all { waiting.len() } else { 1.min(waiting.len()) };
        let woken: Vec<u32> = waiting.drain(..count).collect();
        self.notified.entry(monitor).or_default().extend(woken);
    }

    /// Nobody is in the monitor: the first of those notified is on its way.
    pub fn expect_notified(&mut self, monitor: u64) {
        let first = self.notified.get(&monitor).and_then(|queue| queue.front()).copied();
        if let Some(first) = first.filter(|&first| self.stands(first) == Some(Standing::Away)) {
            self.stand(first, Standing::Expected);
        }
    }
}
