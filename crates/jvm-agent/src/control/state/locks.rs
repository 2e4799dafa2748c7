//! The library's locks. Who waits for one is parked, which the scheduler deals with; here is whom it waits for.

use rustc_hash::FxHashMap;

#[derive(Default)]
pub struct Locks {
    /// Who has which, and how often it has taken it.
    held: FxHashMap<u64, Vec<(u32, u32)>>,
    /// What each thread wants, until it has it.
    wanted: FxHashMap<u32, u64>,
}

impl Locks {
    /// The thread is about to take a lock, for as long as that takes.
    pub fn wants(&mut self, id: u32, lock: u64) {
        self.wanted.insert(id, lock);
    }

    /// The thread has taken a lock, which others may have too if it is shared.
    pub fn took(&mut self, id: u32, lock: u64, is_shared: bool) {
        self.wanted.remove(&id);
        let holders = self.held.entry(lock).or_default();
        if !is_shared {
            holders.retain(|&(holder, _)| holder == id);
        }
        match holders.iter_mut().find(|(holder, _)| *holder == id) {
            Some((_, times)) => *times += 1,
            None => holders.push((id, 1)),
        }
    }

    /// The thread gives a lock back.
    pub fn gave_back(&mut self, id: u32, lock: u64) {
        let Some(holders) = self.held.get_mut(&lock) else { return };
        holders.iter_mut().filter(|(holder, _)| *holder == id).for_each(|(_, times)| *times -= 1);
        holders.retain(|&(_, times)| times > 0);
        if holders.is_empty() {
            self.held.remove(&lock);
        }
    }

    /// Who has the lock that this thread wants. It may be among them: who reads and wants to write waits for itself.
    pub fn waits_for(&self, id: u32) -> impl Iterator<Item = u32> {
        let holders = self.wanted.get(&id).and_then(|lock| self.held.get(lock));
        holders.into_iter().flatten().map(|&(holder, _)| holder)
    }
}
