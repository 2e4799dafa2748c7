//! The library's locks. Who waits for one is parked, which the scheduler deals with; here is whom it waits for.

use rustc_hash::FxHashMap;

#[derive(Default)]
pub struct Locks {
    /// Who has which, and how often it has taken it.
    held: FxHashMap<u64, (u32, u32)>,
    /// What each thread wants, until it has it.
    wanted: FxHashMap<u32, u64>,
}

impl Locks {
    /// The thread is about to take a lock, for as long as that takes.
    pub fn wants(&mut self, id: u32, lock: u64) {
        self.wanted.insert(id, lock);
    }

    /// The thread has taken a lock that nobody else has.
    pub fn took(&mut self, id: u32, lock: u64) {
        self.wanted.remove(&id);
        let held = self.held.entry(lock).or_insert((id, 0));
        *held = (id, if held.0 == id { held.1 + 1 } else { 1 });
    }

    /// The thread gives a lock back.
    pub fn gave_back(&mut self, id: u32, lock: u64) {
        if let Some((holder, times)) = self.held.get_mut(&lock)
            && *holder == id
        {
            *times -= 1;
            if *times == 0 {
                self.held.remove(&lock);
            }
        }
    }

    /// Who has the lock that this thread wants, if that is another one.
    pub fn waits_for(&self, id: u32) -> Option<u32> {
        let lock = self.wanted.get(&id)?;
        self.held.get(lock).map(|&(holder, _)| holder).filter(|&holder| holder != id)
    }
}
