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
    let judges: Vec<Judge> =
        signatures.iter().map(|signature| Judge::new(signature, strata, weights, best)).collect();
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
        good += u32::from(judges.iter().any(|judge| judge.is_as_good(strata, weights, &chosen)));
    }
    good
}

/// Tells of one signature in which trials it is as good as the best.
struct Judge<'e> {
    signature: &'e Signature<'e>,
    /// In how many runs of each stratum it is seen.
    shown: Vec<u32>,
    best: f64,
    /// With one stratum, whether it is as good if so many of the runs called failing show it: there are fewer such numbers
    /// than trials.
    known: Option<Vec<bool>>,
}

impl<'e> Judge<'e> {
    fn new(signature: &'e Signature<'e>, strata: &Strata, weights: &Weights, best: f64) -> Self {
        let shown: Vec<u32> = strata.iter().map(|stratum| stratum.count(signature.runs)).collect();
        let mut judge = Self { signature, shown, best, known: None };
        let mut alone = strata.iter();
        if let (Some(only), None) = (alone.next(), alone.next()) {
            let shown = judge.shown[0];
            let is_good = |failed: u32| {
                // No more can pass and show it than pass.
                shown - failed <= only.all_passed && judge.weighs_enough(strata, weights, [failed])
            };
            judge.known = Some((0..=only.all_failed.min(shown)).map(is_good).collect());
        }
        judge
    }

    fn is_as_good(&self, strata: &Strata, weights: &Weights, chosen: &[Vec<u64>]) -> bool {
        let mut failed = chosen.iter().map(|chosen| strata::common(self.signature.runs, chosen));
        match &self.known {
            Some(known) => failed.next().is_some_and(|failed| known[failed as usize]),
            None => self.weighs_enough(strata, weights, failed),
        }
    }

    /// Whether it is as good if so many of the runs called failing show it, stratum by stratum.
    fn weighs_enough(
        &self,
        strata: &Strata,
        weights: &Weights,
        failed: impl IntoIterator<Item = u32>,
    ) -> bool {
        let spectra = strata.iter().zip(failed).zip(&self.shown).map(|((stratum, failed), shown)| {
            let (all_failed, all_passed) = (stratum.all_failed, stratum.all_passed);
            Spectrum { failed, passed: shown - failed, all_failed, all_passed }
        });
        let evidence = weights.evidence(spectra);
        evidence > f64::NEG_INFINITY && evidence + self.signature.prior >= self.best
    }
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

    /// What is known beforehand is what each trial would tell.
    #[test]
    fn trials_tell_what_their_naive_twins_tell() {
        let known = |id| KnownRun { id: RunId(id), is_failing: id % 6 == 0, way: 0 };
        let strata = Strata::of(&(0..50).map(known).collect::<Vec<_>>());
        let weights = Weights::new(50, 0);
        let mut random = Random(7);
        for _ in 0..40 {
            let runs = [(0..50).filter(|_| random.below(3) == 0).fold(0u64, |runs, run| runs | 1 << run)];
            let signature = Signature { runs: &runs, prior: -1.0 };
            for best in [-2.0, 0.0, 2.0] {
                let judge = Judge::new(&signature, &strata, &weights, best);
                let naive = Judge { known: None, ..Judge::new(&signature, &strata, &weights, best) };
                for _ in 0..100 {
                    let chosen = (0..9).fold(0u64, |chosen, _| chosen | 1 << random.below(50));
                    let trial = [vec![chosen]];
                    if chosen.count_ones() == 9 {
                        let told = judge.is_as_good(&strata, &weights, &trial);
                        assert_eq!(told, naive.is_as_good(&strata, &weights, &trial), "{runs:?} {chosen:b}");
                    }
                }
            }
        }
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
