//! What the runner asks of the recorder for one run, passed as text in the environment so that it reaches
//! the tested program through shells, wrappers and test harnesses.

use core::fmt;
use core::str::FromStr;

use crate::interleaving::Interleaving;

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

/// Who decides which thread runs when.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Schedule {
    /// The operating system, disturbed by noise.
    #[default]
    Free,
    /// The recorder: one thread at a time, by a random walk.
    Random,
    /// By random priorities that change a few times (probabilistic concurrency testing).
    Pct,
    /// By random priorities of operations that conflict (partial order sampling).
    Pos,
}

impl Schedule {
    /// All of them.
    pub const ALL: [Schedule; 4] = [Schedule::Free, Schedule::Random, Schedule::Pct, Schedule::Pos];

    /// The word used for it on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Schedule::Free => "free",
            Schedule::Random => "random",
            Schedule::Pct => "pct",
            Schedule::Pos => "pos",
        }
    }
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Schedule {
    type Err = PlanError;
    fn from_str(text: &str) -> Result<Schedule, PlanError> {
        Schedule::ALL.into_iter().find(|schedule| schedule.name() == text).ok_or(PlanError)
    }
}

/// The plan of one run. Its text form is `seed=7,noise=medium,budget=67108864,schedule=free`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunPlan {
    /// Every random choice of the recorder comes from this.
    pub seed: u64,
    /// Strength of the disturbance.
    pub noise: Noise,
    /// Bytes of events after which repeated handovers are thinned.
    pub budget_bytes: u64,
    /// Who decides which thread runs when.
    pub schedule: Schedule,
    /// In controlled runs, sleeps and time-outs take no time. `skip-sleeps=yes` in the text form.
    pub skip_sleeps: bool,
    /// About how many scheduling points a controlled run has, zero if unknown.
    pub points: u64,
    /// An interleaving to enforce, forbid or delay for in a controlled run.
    pub interleaving: Option<Interleaving>,
}

impl Default for RunPlan {
    fn default() -> RunPlan {
        RunPlan {
            seed: 0,
            noise: Noise::default(),
            budget_bytes: 64 << 20,
            schedule: Schedule::default(),
            skip_sleeps: false,
            points: 0,
            interleaving: None,
        }
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
        write!(f, "seed={},noise={},budget={}", self.seed, self.noise, self.budget_bytes)?;
        write!(f, ",schedule={}", self.schedule)?;
        if self.skip_sleeps {
            f.write_str(",skip-sleeps=yes")?;
        }
        if self.points != 0 {
            write!(f, ",points={}", self.points)?;
        }
        self.interleaving.iter().try_for_each(|interleaving| write!(f, ",interleaving={interleaving}"))
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
                "schedule" => plan.schedule = value.parse()?,
                "interleaving" => plan.interleaving = Some(value.parse()?),
                "points" => plan.points = value.parse().map_err(|_| PlanError)?,
                "skip-sleeps" => plan.skip_sleeps = value == "yes",
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
            let interleaving = "forbid:1.0@ab+1;2.0@ab+2".parse().ok();
            for schedule in Schedule::ALL {
                let plan = RunPlan {
                    seed: u64::MAX,
                    noise,
                    budget_bytes: 12345,
                    schedule,
                    skip_sleeps: true,
                    points: 9,
                    interleaving,
                };
                assert_eq!(plan.to_string().parse(), Ok(plan));
            }
        }
        assert_eq!("".parse(), Ok(RunPlan::default()));
    }

    #[test]
    fn nonsense_is_refused() {
        for text in ["seed", "seed=x", "noise=loud", "later=1", "seed=-1", "schedule=later"] {
            assert_eq!(text.parse::<RunPlan>(), Err(PlanError), "{text}");
        }
    }
}
