//! Whether chance would have given as good a clue.
//!
//! Where there are many clues, some are seen in failing runs only by chance, the more so the fewer runs fail. How
//! good the best clue of mere chance is can be tried: as many runs as have failed are called failing at random,
//! and the best clue to that is looked for (a permutation test). The share π of trials that are as good as the real
//! outcomes bounds the odds against a cause from below by −e·π·ln π (Sellke, Bayarri, Berger: *Calibration of p
//! Values for Testing Precise Null Hypotheses*, 2001), which is the confidence that there is one at all. With few
//! runs it cannot be high: there are only so many ways to choose.

use crate::suspiciousness::Spectrum;

use super::strata::{self, Strata};
use super::weight::Weights;

/// So many trials tell one in a thousand.
pub(super) const TRIALS: u32 = 999;

/// The confidence that there is a cause where nothing speaks for or against it.
pub(super) const EVEN: f64 = 0.5;

/// What the same runs show.
pub(super) struct Signature<'e> {
    /// A bit for each run.
    pub runs: &'e [u64],
    /// How much the simplest clue with these runs would count besides its evidence.
    pub prior: f64,
}

/// The number of trials in which a clue is as good as `best`. In each stratum as many runs are called failing as fail.
pub(super) fn as_good(signatures: &[Signature], strata: &Strata, weights: &Weights, best: f64) -> u32 {
    let runs: usize = strata.iter().map(|stratum| stratum.runs.len()).sum();
    let mut random = Random(0);
    let mut shuffled: Vec<Vec<usize>> = strata.iter().map(|stratum| stratum.runs.clone()).collect();
    let shown = |signature: &Signature| strata.iter().map(|stratum| stratum.count(signature.runs)).collect();
    let shown: Vec<Vec<u32>> = signatures.iter().map(shown).collect();
    let mut good = 0;
    for _ in 0..TRIALS {
        let chosen: Vec<Vec<u64>> = strata
            .iter()
            .zip(&mut shuffled)
            .map(|(stratum, shuffled)| {
                let mut chosen = vec![0u64; runs.div_ceil(64)];
                for nth in 0..stratum.all_failed as usize {
                    let other = nth + random.below(shuffled.len() - nth);
                    shuffled.swap(nth, other);
                    chosen[shuffled[nth] / 64] |= 1 << (shuffled[nth] % 64);
                }
                chosen
            })
            .collect();
        let is_good = signatures.iter().zip(&shown).any(|(signature, shown)| {
            let spectra = strata.iter().zip(&chosen).zip(shown).map(|((stratum, chosen), shown)| {
                let failed = strata::common(signature.runs, chosen);
                let (all_failed, all_passed) = (stratum.all_failed, stratum.all_passed);
                Spectrum { failed, passed: shown - failed, all_failed, all_passed }
            });
            let evidence = weights.evidence(spectra);
            evidence > f64::NEG_INFINITY && evidence + signature.prior >= best
        });
        good += u32::from(is_good);
    }
    good
}

/// The confidence that there is a cause, if so many of all trials are as good.
pub(super) fn confidence(as_good: u32) -> f64 {
    let share = f64::from(as_good + 1) / f64::from(TRIALS + 1);
    // Beyond 1/e the bound is no bound; the odds are even there.
    let odds = if share < (-1.0f64).exp() { -share * share.ln() * 1.0f64.exp() } else { 1.0 };
    1.0 / (1.0 + odds)
}

/// SplitMix64: the same trials for the same runs.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % bound as u64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::super::evidence::KnownRun;
    use super::*;
    use crate::run::RunId;

    /// One failing run of a hundred has a clue of its own; so have `noisy` passing runs.
    fn trials_as_good(noisy: usize) -> u32 {
        let weights = Weights::new(100, 8);
        let known = |id| KnownRun { id: RunId(id), is_failing: id == 0, way: 0 };
        let strata = Strata::of(&(0..100).map(known).collect::<Vec<_>>());
        let own: Vec<Vec<u64>> =
            (0..=noisy).map(|run| vec![if run < 64 { 1 << run } else { 0 }, 0]).collect();
        let signatures: Vec<Signature> = own.iter().map(|runs| Signature { runs, prior: 0.0 }).collect();
        let best = weights.evidence(strata.spectra(&[1, 0]));
        as_good(&signatures, &strata, &weights, best)
    }

    #[test]
    fn a_clue_of_its_own_means_little_if_passing_runs_have_some_too() {
        let share = |noisy| f64::from(trials_as_good(noisy)) / f64::from(TRIALS);
        assert!(share(0) < 0.03, "{}", share(0));
        assert!((share(49) - 0.5).abs() < 0.06, "{}", share(49));
    }

    #[test]
    fn confidence_falls_with_the_share_of_trials() {
        assert!(confidence(0) > 0.97);
        assert!((confidence(9) - 0.889).abs() < 1e-3);
        assert!((confidence(49) - 0.711).abs() < 1e-3);
        assert_eq!(confidence(TRIALS), EVEN);
        assert!((0..TRIALS).all(|good| confidence(good) >= confidence(good + 1)));
    }
}
