//! What the runner asks of the recorder for one run, passed as text in the environment so that it reaches
//! the tested program through shells, wrappers and test harnesses.

use core::fmt;
use core::str::FromStr;

use crate::interleaving::Interleaving;
use crate::list::List;
use crate::schedule::Beginning;
use crate::scheduling::Deviation;
use crate::site::Site;

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
    /// By a random walk in which all orders of a few operations are equally likely (selectively uniform random walk).
    Surw,
    /// Each thread runs as long as it can, but for the plan's deviations (preemption bounding).
    Bounded,
}

impl Schedule {
    /// All of them.
    pub const ALL: [Schedule; 6] =
        [Schedule::Free, Schedule::Random, Schedule::Pct, Schedule::Pos, Schedule::Surw, Schedule::Bounded];

    /// The word used for it on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Schedule::Free => "free",
            Schedule::Random => "random",
            Schedule::Pct => "pct",
            Schedule::Pos => "pos",
            Schedule::Surw => "surw",
            Schedule::Bounded => "bounded",
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

/// Sites that a plan names at most.
pub const MOST_SITES: usize = 64;
/// Threads whose operations a plan tells at most.
pub const MOST_WEIGHTS: usize = 64;
/// Deviations of a bounded run at most.
pub const MOST_DEVIATIONS: usize = 48;

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
    /// Accesses in a million to look at in a run that is not controlled, all if zero. `sample=10000` in the text form.
    pub sample: u32,
    /// In controlled runs, sleeps and time-outs take no time. `skip-sleeps=yes` in the text form.
    pub skip_sleeps: bool,
    /// About how many scheduling points a controlled run has, zero if unknown.
    pub points: u64,
    /// Where in the code this run is to be interesting: free runs have delays there, controlled ones scheduling points
    /// whoever the memory belongs to, and [`Schedule::Surw`] makes all orders of what is done there equally likely.
    pub sites: List<Site, MOST_SITES>,
    /// About how often the thread of each seat, from the first, comes to one of the sites.
    pub weights: List<u32, MOST_WEIGHTS>,
    /// Where a bounded run deviates, in order.
    pub deviations: List<Deviation, MOST_DEVIATIONS>,
    /// Whether the run is to show an order of accesses that no earlier one has shown. `directed=yes` in the text form.
    pub directed: bool,
    /// Whether the run begins like an earlier one. `beginning=17:120` in the text form.
    pub beginning: Option<Beginning>,
    /// An interleaving to enforce, forbid or delay for in a controlled run.
    pub interleaving: Option<Interleaving>,
    /// Another that is not to come about meanwhile: nobody joins in what somebody else has begun. What else could happen
    /// in between still can.
    pub avoided: Option<Interleaving>,
}

impl RunPlan {
    /// What a run is asked that follows the schedule of one with this plan, so that its points are where they were. A virtual machine's threads
    /// run one at a time under noise as well, which knows nothing of sites; who follows is controlled.
    pub fn of_follower(self) -> RunPlan {
        match self.schedule {
            Schedule::Free => RunPlan { schedule: Schedule::Random, sites: List::default(), ..self },
            _ => self,
        }
    }
}

impl Default for RunPlan {
    fn default() -> RunPlan {
        RunPlan {
            seed: 0,
            noise: Noise::default(),
            budget_bytes: 64 << 20,
            schedule: Schedule::default(),
            sample: 0,
            skip_sleeps: false,
            points: 0,
            sites: List::default(),
            weights: List::default(),
            deviations: List::default(),
            directed: false,
            beginning: None,
            interleaving: None,
            avoided: None,
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
        if self.sample != 0 {
            write!(f, ",sample={}", self.sample)?;
        }
        if self.skip_sleeps {
            f.write_str(",skip-sleeps=yes")?;
        }
        if self.points != 0 {
            write!(f, ",points={}", self.points)?;
        }
        if !self.sites.is_empty() {
            write!(f, ",sites={}", self.sites)?;
        }
        if !self.weights.is_empty() {
            write!(f, ",weights={}", self.weights)?;
        }
        if !self.deviations.is_empty() {
            write!(f, ",deviations={}", self.deviations)?;
        }
        if self.directed {
            f.write_str(",directed=yes")?;
        }
        self.beginning.iter().try_for_each(|beginning| write!(f, ",beginning={beginning}"))?;
        self.interleaving.iter().try_for_each(|interleaving| write!(f, ",interleaving={interleaving}"))?;
        self.avoided.iter().try_for_each(|avoided| write!(f, ",avoided={avoided}"))
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
                "sample" => plan.sample = value.parse().map_err(|_| PlanError)?,
                "beginning" => plan.beginning = Some(value.parse()?),
                "interleaving" => plan.interleaving = Some(value.parse()?),
                "avoided" => plan.avoided = Some(value.parse()?),
                "points" => plan.points = value.parse().map_err(|_| PlanError)?,
                "sites" => plan.sites = value.parse()?,
                "weights" => plan.weights = value.parse()?,
                "deviations" => plan.deviations = value.parse()?,
                "directed" => plan.directed = value == "yes",
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
                    sample: 10_000,
                    skip_sleeps: true,
                    points: 9,
                    sites: List::of(["ab+1", "ab0c+ffff"].map(|site| site.parse().unwrap())),
                    weights: List::of([3, 0, 7]),
                    deviations: List::of(
                        [(0, 1), (17, 2)].map(|(decision, alternative)| Deviation { decision, alternative }),
                    ),
                    directed: true,
                    beginning: Some(Beginning { run: 17, switches: 120 }),
                    interleaving,
                    avoided: "forbid:2.1@ab+3;1.0@cd+4".parse().ok(),
                };
                assert_eq!(plan.to_string().parse(), Ok(plan));
            }
        }
        assert_eq!("".parse(), Ok(RunPlan::default()));
    }

    #[test]
    fn nonsense_is_refused() {
        for text in [
            "seed",
            "seed=x",
            "noise=loud",
            "later=1",
            "seed=-1",
            "schedule=later",
            "sites=1",
            "deviations=3",
            "beginning=3",
            "beginning=3:x",
        ] {
            assert_eq!(text.parse::<RunPlan>(), Err(PlanError), "{text}");
        }
    }
}
