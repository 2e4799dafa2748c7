//! Numbers for sequences of which most repeat earlier ones.

/// Gives each different sequence a number, from 0 on, in the order in which they first come.
pub(crate) struct Sequences<C> {
    /// Of all sequences, one after another.
    codes: Vec<C>,
    /// Where each begins, and the end.
    starts: Vec<u32>,
    /// One more than the number of a sequence, where its hash says or behind; 0 where there is none. Its size is a power
    /// of two, and at least half of it is free.
    table: Vec<u32>,
    /// Which one came after each, by number, the last time: most follow each other again and again, and to compare with
    /// what is expected is quicker than to look it up.
    expected: Vec<u32>,
    latest: usize,
}

impl<C: Copy + PartialEq + Into<u64>> Sequences<C> {
    /// The number of a sequence, and whether it is new.
    #[inline]
    pub fn number(&mut self, codes: &[C]) -> (usize, bool) {
        if let Some(&expected) = self.expected.get(self.latest)
            && is_equal(self.get(expected as usize), codes)
        {
            self.latest = expected as usize;
            return (self.latest, false);
        }
        let place = self.place(codes);
        let (number, is_new) = match self.table[place].checked_sub(1) {
            Some(number) => (number as usize, false),
            None => (self.add(codes, place), true),
        };
        if let Some(expected) = self.expected.get_mut(self.latest) {
            *expected = number as u32;
        }
        self.latest = number;
        (number, is_new)
    }

    /// The sequences by their numbers.
    pub fn iter(&self) -> impl Iterator<Item = &[C]> {
        self.starts.windows(2).map(|ends| &self.codes[ends[0] as usize..ends[1] as usize])
    }

    /// Where the sequence with this number begins among all of them, one after another.
    pub fn start(&self, number: usize) -> usize {
        self.starts[number] as usize
    }

    fn get(&self, number: usize) -> &[C] {
        &self.codes[self.starts[number] as usize..self.starts[number + 1] as usize]
    }

    /// Where in the table a sequence is, or would be.
    #[inline]
    fn place(&self, codes: &[C]) -> usize {
        // The multiplier of SplitMix64; the upper half of a product is the one that all bits reach.
        let mix =
            |hash: u64, &code: &C| (hash.rotate_left(26) ^ code.into()).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let hash = codes.iter().fold(codes.len() as u64, mix);
        let mut place = (hash >> 32) as usize & (self.table.len() - 1);
        while let Some(number) = self.table[place].checked_sub(1)
            && !is_equal(self.get(number as usize), codes)
        {
            place = (place + 1) & (self.table.len() - 1);
        }
        place
    }

    #[cold]
    fn add(&mut self, codes: &[C], place: usize) -> usize {
        self.codes.extend_from_slice(codes);
        self.starts.push(self.codes.len() as u32);
        let sequences = self.starts.len() - 1;
        self.table[place] = sequences as u32;
        self.expected.push(0);
        if sequences * 2 > self.table.len() {
            self.table = vec![0; self.table.len() * 4];
            for number in 0..sequences {
                let place = self.place(self.get(number));
                self.table[place] = number as u32 + 1;
            }
        }
        sequences - 1
    }
}

impl<C> Default for Sequences<C> {
    fn default() -> Self {
        Self { codes: Vec::new(), starts: vec![0], table: vec![0; 1 << 10], expected: Vec::new(), latest: 0 }
    }
}

/// Sequences are so short that a loop beats the library's comparison of memory.
#[inline]
fn is_equal<C: PartialEq>(one: &[C], other: &[C]) -> bool {
    one.len() == other.len() && one.iter().zip(other).all(|(one, other)| one == other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_the_first_time() {
        let mut sequences = Sequences::default();
        // So many that the table grows; each is the beginning of another.
        let all: Vec<Vec<u64>> =
            (0..2000u64).map(|nth| (0..nth % 7).map(|code| nth / 7 * code).collect()).collect();
        let mut known: Vec<&[u64]> = Vec::new();
        for sequence in all.iter().chain(&all) {
            let (number, is_new) = sequences.number(sequence);
            assert_eq!(is_new, !known.contains(&sequence.as_slice()));
            if is_new {
                known.push(sequence);
            }
            assert_eq!(known[number], sequence);
        }
        assert!(sequences.iter().eq(known.iter().copied()));
    }
}
