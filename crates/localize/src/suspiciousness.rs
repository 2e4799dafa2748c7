//! How suspicious it is to be seen in some failing and some passing runs.
//!
//! Wherever a formula would divide zero by zero it has nothing to go by, and the score is 0.

use std::fmt;
use std::str::FromStr;

use crate::name::{self, UnknownName};

/// In how many runs something is seen, and how many runs there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spectrum {
    /// Failing runs that show it: `f`.
    pub failed: u32,
    /// Passing runs that show it: `p`.
    pub passed: u32,
    /// All failing runs: `F`.
    pub all_failed: u32,
    /// All passing runs: `P`.
    pub all_passed: u32,
}

/// A way to turn a [`Spectrum`] into a score; higher is more suspicious.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Formula {
    /// `f / (F + p)`: the choice of Falcon and Unicorn, since it does not reward what one failing run shows.
    #[default]
    Jaccard,
    /// `(f/F) / (f/F + p/P)`.
    Tarantula,
    /// `f / √(F (f + p))`.
    Ochiai,
    /// `f² / (p + F − f)`, infinite for what all failing runs and no passing one show.
    DStar,
    /// `f − p / (P + 1)`.
    Op2,
    /// `1 − p / (p + f)`.
    Barinel,
}

impl Formula {
    /// Every formula.
    pub const ALL: [Self; 6] =
        [Self::Jaccard, Self::Tarantula, Self::Ochiai, Self::DStar, Self::Op2, Self::Barinel];

    /// The name by which it is asked for.
    pub fn name(self) -> &'static str {
        match self {
            Self::Jaccard => "jaccard",
            Self::Tarantula => "tarantula",
            Self::Ochiai => "ochiai",
            Self::DStar => "dstar",
            Self::Op2 => "op2",
            Self::Barinel => "barinel",
        }
    }

    /// The score of what is seen in these runs. Never NaN.
    ///
    /// Each formula is written as a function of one quotient of whole numbers, so that scores which are equal
    /// on paper are equal here too, and share a rank.
    pub fn score(self, seen: Spectrum) -> f64 {
        let [f, p] = [f64::from(seen.failed), f64::from(seen.passed)];
        let [all_f, all_p] = [f64::from(seen.all_failed), f64::from(seen.all_passed)];
        match self {
            Self::Jaccard => quotient(f, all_f + p),
            Self::Tarantula => {
                // Both sides of the fraction times F·P; without passing runs p/P is 0, whatever P stands for.
                let scaled_f = f * all_p.max(1.0);
                quotient(scaled_f, scaled_f + p * all_f)
            }
            Self::Ochiai => quotient(f * f, all_f * (f + p)).sqrt(),
            // Only what all failing runs show gets here, so infinite scores never differ in f.
            Self::DStar if f > 0.0 && p + all_f - f == 0.0 => f64::INFINITY,
            Self::DStar => quotient(f * f, p + all_f - f),
            Self::Op2 => f - p / (all_p + 1.0),
            Self::Barinel => quotient(f, p + f),
        }
    }
}

fn quotient(part: f64, whole: f64) -> f64 {
    if whole == 0.0 { 0.0 } else { part / whole }
}

impl fmt::Display for Formula {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Formula {
    type Err = UnknownName;

    fn from_str(given: &str) -> Result<Self, UnknownName> {
        name::pick("formula", &Self::ALL, Self::name, given)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One row: f, p, F, P, and the scores in the order of [`Formula::ALL`].
    fn check(f: u32, p: u32, all_f: u32, all_p: u32, expected: [f64; 6]) {
        let seen = Spectrum { failed: f, passed: p, all_failed: all_f, all_passed: all_p };
        for (formula, expected) in Formula::ALL.into_iter().zip(expected) {
            let score = formula.score(seen);
            let equal = score == expected || (score - expected).abs() < 1e-12;
            assert!(equal, "{formula} of {seen:?} is {score}, not {expected}");
        }
    }

    #[test]
    fn every_formula_at_every_edge() {
        let inf = f64::INFINITY;
        // An inner point, worked out by hand: f=3 of 4, p=2 of 10.
        check(3, 2, 4, 10, [0.5, 0.75 / 0.95, 3.0 / 20f64.sqrt(), 3.0, 3.0 - 2.0 / 11.0, 0.6]);
        // Every failing run, no passing one.
        check(4, 0, 4, 10, [1.0, 1.0, 1.0, inf, 4.0, 1.0]);
        check(1, 0, 1, 10, [1.0, 1.0, 1.0, inf, 1.0, 1.0]);
        // Every run.
        check(1, 10, 1, 10, [1.0 / 11.0, 0.5, 1.0 / 11f64.sqrt(), 0.1, 1.0 - 10.0 / 11.0, 1.0 / 11.0]);
        // Some failing runs only.
        check(1, 0, 4, 10, [0.25, 1.0, 0.5, 1.0 / 3.0, 1.0, 1.0]);
        // Passing runs only.
        check(0, 5, 4, 10, [0.0, 0.0, 0.0, 0.0, -5.0 / 11.0, 0.0]);
        // There is no passing run.
        check(4, 0, 4, 0, [1.0, 1.0, 1.0, inf, 4.0, 1.0]);
        check(2, 0, 4, 0, [0.5, 1.0, 0.5f64.sqrt(), 2.0, 2.0, 1.0]);
        // There is no failing run.
        check(0, 3, 0, 10, [0.0, 0.0, 0.0, 0.0, -3.0 / 11.0, 0.0]);
        // Never seen; no runs at all.
        check(0, 0, 4, 10, [0.0; 6]);
        check(0, 0, 0, 0, [0.0; 6]);
    }

    #[test]
    fn equal_on_paper_is_equal() {
        let score = |formula: Formula, failed, passed| {
            formula.score(Spectrum { failed, passed, all_failed: 7, all_passed: 49 })
        };
        // f²/(f+p) is 1 for both.
        assert_eq!(score(Formula::Ochiai, 1, 0), score(Formula::Ochiai, 3, 6));
        // f/p is 1/3 for both.
        assert_eq!(score(Formula::Tarantula, 1, 3), score(Formula::Tarantula, 7, 21));
    }

    #[test]
    fn names_lead_back_to_their_formula() {
        for formula in Formula::ALL {
            assert_eq!(formula.to_string().parse(), Ok(formula));
        }
        let error = "jacard".parse::<Formula>().unwrap_err();
        assert_eq!(
            error.to_string(),
            "unknown formula `jacard` (known: jaccard, tarantula, ochiai, dstar, op2, barinel)"
        );
    }
}
