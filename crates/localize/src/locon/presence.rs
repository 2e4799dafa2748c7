//! In which runs, and in which directions there, a pair is seen.

use std::collections::hash_map::Entry;

use rustc_hash::FxHashMap;

/// A set of numbers that lie close to each other.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub(super) struct Presence {
    /// Ascending, none empty: the numbers from 64 times the first on, as bits.
    words: Vec<(u32, u64)>,
}

impl Presence {
    /// These numbers, in any order.
    pub fn new(numbers: impl Iterator<Item = u32>) -> Self {
        let mut numbers: Vec<u32> = numbers.collect();
        numbers.sort_unstable();
        let mut words: Vec<(u32, u64)> = Vec::new();
        for number in numbers {
            let (place, bit) = (number / 64, 1 << (number % 64));
            match words.last_mut() {
                Some((last, word)) if *last == place => *word |= bit,
                _ => words.push((place, bit)),
            }
        }
        Self { words }
    }

    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    pub fn len(&self) -> usize {
        self.words.iter().map(|(_, word)| word.count_ones() as usize).sum()
    }

    /// Whether the two have a number in common.
    pub fn meets(&self, other: &Self) -> bool {
        let (mut ours, mut theirs) = (self.words.iter().peekable(), other.words.iter().peekable());
        while let (Some(&&(our_place, our_word)), Some(&&(their_place, their_word))) =
            (ours.peek(), theirs.peek())
        {
            if our_place == their_place && our_word & their_word != 0 {
                return true;
            }
            if our_place <= their_place {
                ours.next();
            }
            if their_place <= our_place {
                theirs.next();
            }
        }
        false
    }

    /// With each even number and the odd one after it exchanged: all directions are the opposite ones.
    pub fn reversed(&self) -> Self {
        const EVEN: u64 = 0x5555_5555_5555_5555;
        let swap = |word: u64| (word & EVEN) << 1 | (word >> 1) & EVEN;
        Self { words: self.words.iter().map(|&(place, word)| (place, swap(word))).collect() }
    }
}

/// Different presences by number. Many pairs share one.
#[derive(Default)]
pub(super) struct Signatures {
    numbers: FxHashMap<Presence, u32>,
    presences: Vec<Presence>,
}

impl Signatures {
    pub fn number(&mut self, presence: Presence) -> u32 {
        match self.numbers.entry(presence) {
            Entry::Occupied(entry) => *entry.get(),
            Entry::Vacant(entry) => {
                self.presences.push(entry.key().clone());
                *entry.insert(self.presences.len() as u32 - 1)
            }
        }
    }

    /// For each signature those that it never meets, after `seen_by_partner` has been applied to them. The
    /// relation must be symmetric. Quadratic in the number of signatures, and in nothing else.
    pub fn apart(&self, seen_by_partner: impl Fn(&Presence) -> Presence) -> Vec<Vec<u32>> {
        let partners: Vec<Presence> = self.presences.iter().map(seen_by_partner).collect();
        let mut apart = vec![Vec::new(); partners.len()];
        for (one, presence) in self.presences.iter().enumerate() {
            for (other, partner) in partners.iter().enumerate().skip(one) {
                if !presence.meets(partner) {
                    apart[one].push(other as u32);
                    if one != other {
                        apart[other].push(one as u32);
                    }
                }
            }
        }
        apart
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn presence(numbers: &[u32]) -> Presence {
        Presence::new(numbers.iter().copied())
    }

    #[test]
    fn meets_in_any_word() {
        let one = presence(&[500, 3, 64, 3]);
        assert_eq!(one.len(), 3);
        assert!(one.meets(&presence(&[500])) && presence(&[0, 100, 500]).meets(&one));
        assert!(!one.meets(&presence(&[2, 65, 499, 501, 9000])));
        assert!(!one.meets(&Presence::default()) && Presence::default().is_empty());
    }

    #[test]
    fn reversed_exchanges_neighbours() {
        assert_eq!(presence(&[0, 3, 63, 64]).reversed(), presence(&[1, 2, 62, 65]));
    }

    #[test]
    fn signatures_apart() {
        let mut signatures = Signatures::default();
        let numbers = [[0, 2], [1, 4], [0, 4], [0, 2]].map(|set| signatures.number(presence(&set)));
        assert_eq!(numbers, [0, 1, 2, 0]);
        assert_eq!(signatures.apart(Presence::clone), [vec![1], vec![0], vec![]]);
        assert_eq!(signatures.apart(Presence::reversed), [vec![0, 2], vec![1], vec![0, 2]]);
    }
}
