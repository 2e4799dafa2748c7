//! Clients of a chat server in slots, whose numbers are used again as soon as they are free.

use std::sync::Mutex;

struct Slots {
    /// Who is in each slot, or was there last.
    owners: Vec<u32>,
    free: Vec<usize>,
}

pub struct Slab {
    slots: Mutex<Slots>,
}

impl Slab {
    /// A slab whose first slots are taken by these clients.
    pub fn new(clients: impl Iterator<Item = u32>) -> Slab {
        Slab { slots: Mutex::new(Slots { owners: clients.collect(), free: Vec::new() }) }
    }

    /// The client leaves; the slot is free.
    #[inline(never)]
    pub fn remove(&self, slot: usize) {
        self.slots.lock().unwrap().free.push(slot);
    }

    /// A client comes and gets the slot that was free last.
    #[inline(never)]
    pub fn insert(&self, client: u32) {
        let mut slots = self.slots.lock().unwrap();
        let slot = slots.free.pop().expect("no slot is free");
        slots.owners[slot] = client; // truth:A2
    }

    /// Whether the client is in that slot.
    #[inline(never)]
    pub fn holds(&self, slot: usize, client: u32) -> bool {
        let slots = self.slots.lock().unwrap();
        slots.owners[slot] == client // truth:A1
    }

    /// Sends to whoever is in the slot, and tells who that is.
    #[cfg(not(fixed))]
    #[inline(never)]
    pub fn send(&self, slot: usize) -> u32 {
        let slots = self.slots.lock().unwrap();
        slots.owners[slot] // truth:A3
    }

    /// Sends to the client if it is still in the slot, and tells who got it.
    #[cfg(fixed)]
    #[inline(never)]
    pub fn send(&self, slot: usize, client: u32) -> Option<u32> {
        let slots = self.slots.lock().unwrap();
        (slots.owners[slot] == client).then_some(client)
    }
}
