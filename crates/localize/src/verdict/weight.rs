//! How well a clue explains which runs fail.
//!
//! Two rates are unknown: how often runs that show the clue fail, and how often the others do. What was seen has the
//! probability B(f+a, p+1) / B(a, 1) · B(F−f+1, P−p+1), where B is the beta function: the marginal likelihood of the
//! table of f, p, F and P. Nothing is assumed about the runs that do not show the clue, which may fail for another
//! reason, nor with a = 1 about those that do: many an interleaving does harm now and then only. With a larger one each
//! passing run among them costs more than a failing run elsewhere. This tells much from little, where ratios such as Jaccard's cannot, and is defined for any
//! numbers, one failing run included.

use crate::suspiciousness::Spectrum;

/// Less than any number of runs.
const ROUNDING: f64 = 1e-9;

/// Logarithms of likelihoods for some number of runs.
pub(super) struct Weights {
    ln_factorial: Vec<f64>,
    /// a − 1: as if so many runs had shown the clue and failed before.
    sure: u32,
}

impl Weights {
    /// For so many runs.
    pub fn new(runs: u32, sure: u32) -> Self {
        let mut ln_factorial = vec![0.0];
        for number in 1..=runs + sure + 1 {
            ln_factorial.push(ln_factorial[number as usize - 1] + f64::from(number).ln());
        }
        Self { ln_factorial, sure }
    }

    /// The logarithm of how much more probable the outcomes are if this is the cause than if it has nothing to do with
    /// them. Never positive for what passing runs show as often, even if its absence would explain something.
    ///
    /// Runs that show the cause fail alike, however they are scheduled; the others fail more often in one stratum than
    /// in another.
    pub fn evidence(&self, strata: impl Iterator<Item = Spectrum>) -> f64 {
        let (mut failed, mut passed, mut others, mut excess) = (0, 0, 0.0, 0.0);
        for seen in strata {
            failed += seen.failed;
            passed += seen.passed;
            others += self.ln_beta(seen.all_failed - seen.failed, seen.all_passed - seen.passed)
                - self.ln_beta(seen.all_failed, seen.all_passed);
            // Failing runs with the clue beyond those that there would be by chance (Mantel and Haenszel).
            let [f, all_f] = [seen.failed, seen.all_failed].map(f64::from);
            let [p, all_p] = [seen.passed, seen.all_passed].map(f64::from);
            excess += (f * all_p - p * all_f) / (all_f + all_p).max(1.0);
        }
        if excess <= ROUNDING {
            return f64::NEG_INFINITY;
        }
        self.ln_beta(failed + self.sure, passed) - self.ln_beta(self.sure, 0) + others
    }

    /// ln B(a+1, b+1).
    fn ln_beta(&self, a: u32, b: u32) -> f64 {
        let ln = |number: u32| self.ln_factorial[number as usize];
        ln(a) + ln(b) - ln(a + b + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn evidence(failed: u32, passed: u32, all_failed: u32, all_passed: u32) -> f64 {
        strata(&[[failed, passed, all_failed, all_passed]])
    }

    fn strata(tables: &[[u32; 4]]) -> f64 {
        let spectra = tables.iter().map(|&[failed, passed, all_failed, all_passed]| Spectrum {
            failed,
            passed,
            all_failed,
            all_passed,
        });
        Weights::new(1000, 8).evidence(spectra)
    }

    /// One way of scheduling nearly always fails and shows something innocent, another does neither.
    #[test]
    fn what_goes_with_the_way_of_scheduling_explains_little() {
        let (together, apart) = (evidence(9, 1, 10, 50), strata(&[[9, 1, 9, 1], [0, 0, 1, 49]]));
        assert!(together > 15.0 && apart <= 0.0, "{together} {apart}");
        // A cause that both show loses little.
        let both = strata(&[[9, 0, 9, 10], [5, 0, 5, 30]]);
        assert!((evidence(14, 0, 14, 40) - both).abs() < 0.2 * both, "{both}");
    }

    #[test]
    fn is_the_logarithm_of_a_quotient_of_beta_functions() {
        // B(10, 1) / B(9, 1) = 9/10; B(1, 3) = 1/3; B(2, 3) = 1/12.
        assert!((evidence(1, 0, 1, 2) - (0.9 / 3.0 * 12.0f64).ln()).abs() < 1e-12);
        // B(10, 2) / B(9, 1) = 9/110; B(1, 2) = 1/2; B(2, 3) = 1/12.
        assert!((evidence(1, 1, 1, 2) - (9.0 / 110.0 / 2.0 * 12.0f64).ln()).abs() < 1e-12);
    }

    #[test]
    fn more_failing_and_fewer_passing_runs_are_better() {
        for f in 1..=5 {
            for p in 0..4 * f {
                assert!(evidence(f, p, 5, 20) > evidence(f - 1, p, 5, 20), "f {f} p {p}");
                assert!(evidence(f, p, 5, 20) > evidence(f, p + 1, 5, 20), "f {f} p {p}");
            }
        }
    }

    #[test]
    fn what_passing_runs_show_as_often_explains_nothing() {
        assert!(
            [evidence(5, 20, 5, 20), evidence(1, 1, 1, 1), evidence(0, 0, 5, 20)].iter().all(|&e| e < 0.0)
        );
        assert!(evidence(1, 19, 5, 20) < 0.0, "its absence does");
    }

    #[test]
    fn more_runs_make_surer() {
        assert!(evidence(1, 0, 1, 100) > evidence(1, 0, 1, 10));
        assert!(evidence(5, 0, 5, 100) > evidence(1, 0, 1, 100));
    }
}
