//! What the runner asks of the recorder for one run, passed as text in the environment so that it reaches
//! the tested program through shells, wrappers and test harnesses.

use core::fmt;
use core::str::FromStr;

/// Environment variable naming the directory in which each recorded process creates its file.
pub const ENV_DIR: &str = "UNSNARL_DIR";
/// Environment variable carrying a [`RunPlan`].
pub const ENV_PLAN: &str = "UNSNARL_PLAN";

/// How strongly the recorder disturbs the schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Noise {
    /// No delays at all.
    Off,
    /// Rare yields and short delays.
    Low,
    /// The default: enough to make most races show without slowing a test much.
    #[default]
    Medium,
    /// Frequent delays, for failures that are rare otherwise.
    High,
}

impl Noise {
    /// All levels, weakest first.
    pub const ALL: [Noise; 4] = [Noise::Off, Noise::Low, Noise::Medium, Noise::High];

    /// The word used for this level on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Noise::Off => "off",
            Noise::Low => "low",
            Noise::Medium => "medium",
            Noise::High => "high",
        }
    }
}

impl fmt::Display for Noise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Noise {
    type Err = PlanError;
    fn from_str(text: &str) -> Result<Noise, PlanError> {
        Noise::ALL.into_iter().find(|n| n.name() == text).ok_or(PlanError)
    }
}

/// The plan of one run. Its text form is `seed=7,noise=medium,budget=67108864`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunPlan {
    /// Every random choice of the recorder comes from this.
    pub seed: u64,
    /// Strength of the disturbance.
    pub noise: Noise,
    /// Bytes of events after which repeated handovers are thinned.
    pub budget_bytes: u64,
}

impl Default for RunPlan {
    fn default() -> RunPlan {
        RunPlan { seed: 0, noise: Noise::default(), budget_bytes: 64 << 20 }
    }
}

/// A plan's text was not understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlanError;

impl fmt::Display for PlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not a run plan")
    }
}

impl core::error::Error for PlanError {}

impl fmt::Display for RunPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "seed={},noise={},budget={}", self.seed, self.noise, self.budget_bytes)
    }
}

impl FromStr for RunPlan {
    type Err = PlanError;

    /// Missing keys keep their default; an unknown key is an error, so that a runner and a recorder of
    /// different versions notice each other.
    fn from_str(text: &str) -> Result<RunPlan, PlanError> {
        let mut plan = RunPlan::default();
        for entry in text.split(',').filter(|entry| !entry.is_empty()) {
            let (key, value) = entry.split_once('=').ok_or(PlanError)?;
            match key {
                "seed" => plan.seed = value.parse().map_err(|_| PlanError)?,
                "noise" => plan.noise = value.parse()?,
                "budget" => plan.budget_bytes = value.parse().map_err(|_| PlanError)?,
                _ => return Err(PlanError),
            }
        }
        Ok(plan)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    extern crate std;
    use std::string::ToString;

    #[test]
    fn plan_survives_its_text_form() {
        for noise in Noise::ALL {
            let plan = RunPlan { seed: u64::MAX, noise, budget_bytes: 12345 };
            assert_eq!(plan.to_string().parse(), Ok(plan));
        }
        assert_eq!("".parse(), Ok(RunPlan::default()));
    }

    #[test]
    fn nonsense_is_refused() {
        for text in ["seed", "seed=x", "noise=loud", "later=1", "seed=-1"] {
            assert_eq!(text.parse::<RunPlan>(), Err(PlanError), "{text}");
        }
    }
}
