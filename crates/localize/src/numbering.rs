//! Numbers for keys of which most repeat one that came lately.

use std::hash::{Hash, Hasher as _};

use rustc_hash::{FxHashMap, FxHasher};

/// Gives each different key a number, from 0 on, in the order in which they first come.
pub(crate) struct Numbering<K> {
    known: FxHashMap<K, u32>,
    /// Keys that came lately, each where its hash says: looking there is quicker than in the table.
    recent: Vec<Option<(K, u32)>>,
}

impl<K: Copy + Eq + Hash> Numbering<K> {
    /// As many as stay in the first cache of a processor.
    const RECENT: usize = 1 << 9;

    pub fn new() -> Self {
        Self { known: FxHashMap::default(), recent: vec![None; Self::RECENT] }
    }

    /// The number of a key, and whether it is new.
    pub fn number(&mut self, key: K) -> (u32, bool) {
        let mut hasher = FxHasher::default();
        key.hash(&mut hasher);
        // The upper bits of this hash are the better ones.
        let place = &mut self.recent[(hasher.finish() >> 40) as usize % Self::RECENT];
        if let Some((recent, number)) = place
            && *recent == key
        {
            return (*number, false);
        }
        let next = self.known.len() as u32;
        let number = *self.known.entry(key).or_insert(next);
        *place = Some((key, number));
        (number, number == next)
    }

    /// The number of a key that came before.
    pub fn find(&self, key: K) -> Option<u32> {
        self.known.get(&key).copied()
    }

    /// How many different keys have come.
    pub fn len(&self) -> usize {
        self.known.len()
    }

    /// The keys with their numbers, in no order.
    pub fn iter(&self) -> impl Iterator<Item = (K, u32)> + '_ {
        self.known.iter().map(|(&key, &number)| (key, number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_the_first_time() {
        let mut numbering = Numbering::new();
        // More keys than are kept as recent, so that some drive others out.
        for round in 0..3 {
            for key in 0..5000u32 {
                assert_eq!(numbering.number((key, key * 7)), (key, round == 0));
            }
        }
        assert_eq!(
            (numbering.len(), numbering.find((9, 63)), numbering.find((9, 64))),
            (5000, Some(9), None)
        );
        assert!(numbering.iter().all(|((key, _), number)| key == number));
    }
}
