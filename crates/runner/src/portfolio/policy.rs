//! The ways to run a test that a portfolio mixes.

use std::fmt;

use recording::{RunPlan, Schedule};

/// One way to run a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Policy {
    /// Freely, with random delays.
    Noise,
    /// Freely, with delays where some shared variables are accessed.
    Delays,
    /// Freely, with delays before an access that another one never came before.
    DirectedDelays,
    /// Controlled, by a random walk.
    Random,
    /// Controlled, by priorities that change a few times.
    Pct,
    /// Controlled, by priorities of operations that conflict.
    Pos,
    /// Controlled, with all orders of a few operations equally likely.
    Surw,
    /// Controlled, by a random walk that prefers an order of two accesses that was never seen.
    Directed,
    /// Controlled: like a run that failed up to some switch, and by priorities of operations from then on.
    Near,
    /// Controlled, one of all schedules with few preemptions.
    Bounded,
}

impl Policy {
    /// Those that a portfolio mixes, in the order in which they are first tried: by how many runs they need on the whole
    /// (docs/search.md), and what is new in each.
    pub const MIXED: [Policy; 9] = [
        Policy::Noise,
        Policy::Pos,
        Policy::Surw,
        Policy::Directed,
        Policy::Pct,
        Policy::Delays,
        Policy::DirectedDelays,
        Policy::Random,
        Policy::Near,
    ];

    /// The way that a plan asks for.
    pub fn of(plan: &RunPlan) -> Policy {
        match plan.schedule {
            Schedule::Free if plan.directed => Policy::DirectedDelays,
            Schedule::Free if !plan.sites.is_empty() => Policy::Delays,
            Schedule::Free => Policy::Noise,
            _ if plan.beginning.is_some() => Policy::Near,
            _ if plan.directed => Policy::Directed,
            Schedule::Random => Policy::Random,
            Schedule::Pct => Policy::Pct,
            Schedule::Pos => Policy::Pos,
            Schedule::Surw => Policy::Surw,
            Schedule::Bounded => Policy::Bounded,
        }
    }

    /// Who decides which thread runs.
    pub fn schedule(self) -> Schedule {
        match self {
            Policy::Noise | Policy::Delays | Policy::DirectedDelays => Schedule::Free,
            Policy::Random | Policy::Directed => Schedule::Random,
            Policy::Pct => Schedule::Pct,
            Policy::Pos | Policy::Near => Schedule::Pos,
            Policy::Surw => Schedule::Surw,
            Policy::Bounded => Schedule::Bounded,
        }
    }

    /// Whether earlier runs say where it goes.
    pub fn is_directed(self) -> bool {
        self.goes_for_orders() || self == Policy::Near
    }

    /// Whether it goes for orders of accesses that were never seen.
    pub fn goes_for_orders(self) -> bool {
        matches!(self, Policy::Directed | Policy::DirectedDelays)
    }

    /// Whether one thread runs at a time.
    pub fn is_controlled(self) -> bool {
        self.schedule() != Schedule::Free
    }

    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Policy::Noise => "noise",
            Policy::Delays => "delays",
            Policy::DirectedDelays => "directed-delays",
            Policy::Directed => "directed",
            Policy::Near => "near",
            other => other.schedule().name(),
        }
    }
}

impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use recording::Beginning;

    use super::*;

    #[test]
    fn plans_are_recognized() {
        for policy in Policy::MIXED {
            let (schedule, directed) = (policy.schedule(), policy.goes_for_orders());
            let beginning = (policy == Policy::Near).then_some(Beginning { run: 1, switches: 0 });
            let mut plan = RunPlan { schedule, directed, beginning, ..RunPlan::default() };
            if policy == Policy::Delays {
                plan.sites = recording::List::of(["ab+1".parse().unwrap()]);
            }
            assert_eq!(Policy::of(&plan), policy);
        }
    }
}
