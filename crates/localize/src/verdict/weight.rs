//! How well a clue explains which runs fail.
//!
//! Two rates are unknown: how often runs that show the clue fail, and how often the others do. What was seen has the
//! probability B(f+a, p+1) / B(a, 1) · B(F−f+1, P−p+1), where B is the beta function: the marginal likelihood of the
//! table of f, p, F and P. Nothing is assumed about the runs that do not show the clue, which may fail for another
//! reason. Those that show a cause fail nearly always, so that each passing run among them costs more than a
//! failing run elsewhere. This tells much from little, where ratios such as Jaccard's cannot, and is defined for any
//! numbers, one failing run included.

use crate::suspiciousness::Spectrum;

/// a − 1: as if so many runs had shown the clue and failed before. Then nine of ten runs with a cause fail.
const SURE: u32 = 8;

/// Logarithms of likelihoods for some number of runs.
pub(super) struct Weights {
    ln_factorial: Vec<f64>,
}

impl Weights {
    /// For so many runs.
    pub fn new(runs: u32) -> Self {
        let mut ln_factorial = vec![0.0];
        for number in 1..=runs + SURE + 1 {
            ln_factorial.push(ln_factorial[number as usize - 1] + f64::from(number).ln());
        }
        Self { ln_factorial }
    }

    /// The logarithm of how much more probable the outcomes are if this is the cause than if it has nothing to do with
    /// them. Never positive for what passing runs show as often, even if its absence would explain something.
    pub fn evidence(&self, seen: Spectrum) -> f64 {
        let [failed, all_failed] = [seen.failed, seen.all_failed].map(u64::from);
        let [passed, all_passed] = [seen.passed, seen.all_passed].map(u64::from);
        if failed * all_passed <= passed * all_failed {
            return f64::NEG_INFINITY;
        }
        let shown = self.ln_beta(seen.failed + SURE, seen.passed) - self.ln_beta(SURE, 0);
        let others = self.ln_beta(seen.all_failed - seen.failed, seen.all_passed - seen.passed);
        shown + others - self.ln_beta(seen.all_failed, seen.all_passed)
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
        Weights::new(all_failed + all_passed).evidence(Spectrum { failed, passed, all_failed, all_passed })
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
