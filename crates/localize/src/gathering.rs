//! Gathers pairs and triples of accesses, of which long runs repeat a few very often.

use std::hash::Hash;

use crate::numbering::Numbering;

/// Each different key, with its earliest occurrence: the indices of two or three accesses.
pub(crate) struct Gathering<K, const ACCESSES: usize> {
    numbers: Numbering<K>,
    earliest: Vec<(Time, [u32; ACCESSES])>,
}

/// When an occurrence counts as having happened.
pub(crate) type Time = [u32; 2];

impl<K: Copy + Eq + Hash, const ACCESSES: usize> Gathering<K, ACCESSES> {
    pub fn new() -> Self {
        Self { numbers: Numbering::new(), earliest: Vec::new() }
    }

    /// Adds an occurrence. Of several occurrences the one with the least `time`
    /// stays, and of these the first that is added.
    pub fn add(&mut self, key: K, time: Time, accesses: [u32; ACCESSES]) {
        let (number, is_new) = self.numbers.number(key);
        if is_new {
            self.earliest.push((time, accesses));
        } else if time < self.earliest[number as usize].0 {
            self.earliest[number as usize] = (time, accesses);
        }
    }

    /// The keys by their numbers, each with the indices of its earliest occurrence.
    pub fn iter(&self) -> impl Iterator<Item = (K, [u32; ACCESSES])> + '_ {
        self.numbers.keys().iter().zip(&self.earliest).map(|(&key, &(_, accesses))| (key, accesses))
    }
}
