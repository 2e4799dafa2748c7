//! Runs that were scheduled alike.
//!
//! One way of scheduling makes a test fail more often than another, and also shows other interleavings: whatever it
//! shows often would look like a cause, were its runs compared with those of the others. So outcomes are compared
//! among the runs of one way (a *stratum*, as Mantel and Haenszel have it) and put together afterwards. Ways of which
//! all runs ended alike have nothing to compare, and are taken together.

use std::collections::BTreeMap;

use crate::suspiciousness::Spectrum;

use super::evidence::KnownRun;

/// All runs, stratum by stratum.
pub(super) struct Strata {
    strata: Vec<Stratum>,
}

/// The runs of one stratum, by number.
pub(super) struct Stratum {
    /// In an order that does not depend on the one in which they came.
    pub runs: Vec<usize>,
    pub all_failed: u32,
    pub all_passed: u32,
    /// A bit for each of its runs, and for those of them that failed.
    members: Vec<u64>,
    failing: Vec<u64>,
}

impl Strata {
    pub fn of(runs: &[KnownRun]) -> Self {
        let mut ways: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        for (number, run) in runs.iter().enumerate() {
            ways.entry(run.way).or_default().push(number);
        }
        let is_mixed = |way: &Vec<usize>| {
            let failing = way.iter().filter(|&&number| runs[number].is_failing).count();
            failing > 0 && failing < way.len()
        };
        let (mut groups, alike): (Vec<_>, Vec<_>) = ways.into_values().partition(is_mixed);
        if !alike.is_empty() {
            groups.push(alike.concat());
        }
        Self { strata: groups.into_iter().map(|group| Stratum::of(group, runs)).collect() }
    }

    pub fn iter(&self) -> impl Iterator<Item = &Stratum> {
        self.strata.iter()
    }

    /// How the runs that have a bit in `shown` ended, stratum by stratum.
    pub fn spectra<'a>(&'a self, shown: &'a [u64]) -> impl Iterator<Item = Spectrum> + 'a {
        self.strata.iter().map(|stratum| stratum.spectrum(shown))
    }
}

impl Stratum {
    fn of(mut numbers: Vec<usize>, runs: &[KnownRun]) -> Self {
        numbers.sort_unstable_by_key(|&number| runs[number].id);
        let words = runs.len().div_ceil(64);
        let (mut members, mut failing) = (vec![0; words], vec![0; words]);
        for &number in &numbers {
            members[number / 64] |= 1u64 << (number % 64);
            failing[number / 64] |= u64::from(runs[number].is_failing) << (number % 64);
        }
        let all_failed = failing.iter().map(|word| word.count_ones()).sum();
        let all_passed = numbers.len() as u32 - all_failed;
        Self { runs: numbers, all_failed, all_passed, members, failing }
    }

    /// How many of its runs have a bit in `shown`.
    pub fn count(&self, shown: &[u64]) -> u32 {
        common(&self.members, shown)
    }

    fn spectrum(&self, shown: &[u64]) -> Spectrum {
        let failed = common(&self.failing, shown);
        let passed = self.count(shown) - failed;
        Spectrum { failed, passed, all_failed: self.all_failed, all_passed: self.all_passed }
    }
}

/// The number of bits that both have.
pub(super) fn common(one: &[u64], other: &[u64]) -> u32 {
    one.iter().zip(other).map(|(one, other)| (one & other).count_ones()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::RunId;

    fn known(ways: &[(u32, bool)]) -> Vec<KnownRun> {
        let run = |(id, &(way, is_failing))| KnownRun { id: RunId(id), is_failing, way };
        (0..).zip(ways).map(run).collect()
    }

    #[test]
    fn runs_are_counted_among_their_own() {
        let strata = Strata::of(&known(&[(1, true), (2, false), (1, false), (2, true), (2, false)]));
        let spectrum =
            |failed, passed, all_failed, all_passed| Spectrum { failed, passed, all_failed, all_passed };
        let spectra: Vec<Spectrum> = strata.spectra(&[0b11001]).collect();
        assert_eq!(spectra, [spectrum(1, 0, 1, 1), spectrum(1, 1, 1, 2)]);
    }

    #[test]
    fn ways_that_ended_alike_are_taken_together() {
        let strata = Strata::of(&known(&[(1, true), (2, false), (3, false), (4, true), (4, false)]));
        let sizes: Vec<_> = strata.iter().map(|stratum| (stratum.all_failed, stratum.all_passed)).collect();
        assert_eq!(sizes, [(1, 1), (1, 2)]);
    }
}
