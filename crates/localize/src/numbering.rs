//! Numbers for keys of which most repeat earlier ones.

use std::hash::{Hash, Hasher as _};

use rustc_hash::{FxHashMap, FxHasher};

/// Gives each different key a number, from 0 on, in the order in which they first come.
///
/// Most of the time that techniques take is spent here. So the table has nothing but numbers, which stay in the
/// processor's caches, and a key is compared where it stands in the list of all.
#[derive(Clone, Debug)]
pub(crate) struct Numbering<K> {
    keys: Vec<K>,
    /// One more than the number of a key, where its hash says or behind; 0 where there is none. Its size is a power of
    /// two, and at least half of it is free.
    table: Vec<u32>,
}

impl<K: Copy + Eq + Hash> Numbering<K> {
    pub fn new() -> Self {
        Self { keys: Vec::new(), table: vec![0; 1 << 8] }
    }

    /// The number of a key, and whether it is new.
    #[inline]
    pub fn number(&mut self, key: K) -> (u32, bool) {
        let place = self.place(&key);
        if let Some(number) = self.table[place].checked_sub(1) {
            return (number, false);
        }
        self.keys.push(key);
        let number = self.keys.len() as u32;
        self.table[place] = number;
        if self.keys.len() * 2 > self.table.len() {
            self.grow();
        }
        (number - 1, true)
    }

    /// Has the processor fetch what tells the numbers of these keys, all at once: to look them up one by one, it would wait for each.
    pub fn fetch(&self, keys: impl Iterator<Item = K> + Clone) {
        let mask = self.table.len() - 1;
        let numbers = keys.map(|key| self.table[Self::hash(&key) & mask]);
        std::hint::black_box(numbers.clone().fold(0, |all, number| all ^ number));
        // Most numbers are where the hash says, and what has them is compared with them next.
        let known = numbers.filter_map(|number| self.keys.get(number.wrapping_sub(1) as usize));
        known.for_each(|key| {
            std::hint::black_box(*key);
        });
    }

    /// The number of a key that came before.
    pub fn find(&self, key: K) -> Option<u32> {
        self.table[self.place(&key)].checked_sub(1)
    }

    /// The keys by their numbers.
    pub fn keys(&self) -> &[K] {
        &self.keys
    }

    /// Where in the table a key is, or would be.
    #[inline]
    fn place(&self, key: &K) -> usize {
        let mut place = Self::hash(key) & (self.table.len() - 1);
        while let Some(number) = self.table[place].checked_sub(1)
            && self.keys[number as usize] != *key
        {
            place = (place + 1) & (self.table.len() - 1);
        }
        place
    }

    #[inline]
    fn hash(key: &K) -> usize {
        let mut hasher = FxHasher::default();
        key.hash(&mut hasher);
        hasher.finish() as usize
    }

    #[cold]
    fn grow(&mut self) {
        self.table = vec![0; self.table.len() * 4];
        for (number, key) in (1..).zip(&self.keys) {
            let place = self.place(key);
            self.table[place] = number;
        }
    }
}

impl<K: Copy + Eq + Hash> Default for Numbering<K> {
    fn default() -> Self {
        Self::new()
    }
}

/// The same for ids that are mostly small numbers themselves, which need no hash.
#[derive(Debug, Default)]
pub(crate) struct IdNumbering {
    ids: Vec<u32>,
    /// One more than the number of a small id; 0 where there is none.
    small: Vec<u32>,
    others: FxHashMap<u32, u32>,
}

impl IdNumbering {
    const SMALL: u32 = 1 << 16;

    /// The number of an id, and whether it is new.
    #[inline]
    pub fn number(&mut self, id: u32) -> (u32, bool) {
        let known = self.small.get(id as usize).and_then(|number| number.checked_sub(1));
        known.map_or_else(|| self.look_further(id), |number| (number, false))
    }

    #[cold]
    fn look_further(&mut self, id: u32) -> (u32, bool) {
        let next = self.ids.len() as u32;
        if id < Self::SMALL {
            self.small.resize(self.small.len().max(id as usize + 1), 0);
            self.small[id as usize] = next + 1;
        } else if let Some(&known) = self.others.get(&id) {
            return (known, false);
        } else {
            self.others.insert(id, next);
        }
        self.ids.push(id);
        (next, true)
    }

    /// The ids by their numbers.
    pub fn ids(&self) -> &[u32] {
        &self.ids
    }

    /// The same, if no more are to come.
    pub fn into_ids(self) -> Vec<u32> {
        self.ids
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_numbered_however_large() {
        let mut numbering = IdNumbering::default();
        for is_new in [true, false] {
            for (number, id) in [7, u32::MAX, 0, 65_536, 65_535, 8].into_iter().enumerate() {
                assert_eq!(numbering.number(id), (number as u32, is_new));
            }
        }
        assert_eq!(numbering.ids(), [7, u32::MAX, 0, 65_536, 65_535, 8]);
    }

    #[test]
    fn numbers_are_those_of_the_first_time() {
        let mut numbering = Numbering::new();
        // So many that the table grows.
        for round in 0..3 {
            for key in 0..5000u32 {
                assert_eq!(numbering.number((key, key * 7)), (key, round == 0));
            }
        }
        assert_eq!((numbering.find((9, 63)), numbering.find((9, 64))), (Some(9), None));
        assert_eq!(numbering.keys().len(), 5000);
        assert!((0..).zip(numbering.keys()).all(|(number, &(key, _))| key == number));
    }
}
