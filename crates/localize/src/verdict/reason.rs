//! Why a cause ranks where it does.

use std::fmt;

use crate::locon::Procedure;
use crate::run::AccessKind;
use crate::standstill::{Standstill, StandstillKind};

use super::values::{self, Values};

/// What the verdict says about a cause.
#[derive(Clone, Debug, PartialEq)]
pub struct Reasoning {
    /// The probability that this is the cause.
    pub confidence: f64,
    /// What speaks for and against it.
    pub reasons: Vec<Reason>,
    /// Where the threads wait, if that is the cause. Then there is no more of an example than the run.
    pub standstill: Option<Standstill>,
}

impl Reasoning {
    /// The share of trials with outcomes dealt at random that give as good a clue, as far as that was asked. The outcomes as they
    /// are count as one of them.
    pub fn chance(&self) -> Option<f64> {
        self.reasons.iter().find_map(|reason| match *reason {
            Reason::Chance { as_good, trials } => Some(f64::from(as_good + 1) / f64::from(trials + 1)),
            _ => None,
        })
    }
}

/// One thing that speaks for or against a cause.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Reason {
    /// How the runs that show it ended.
    Runs {
        /// Failing runs that show it.
        failed: u32,
        /// All failing runs.
        all_failed: u32,
        /// Passing runs that show it.
        passed: u32,
        /// All passing runs.
        all_passed: u32,
    },
    /// Passing runs make the same accesses in another order.
    Reordered,
    /// It uses memory that has been freed.
    Freed,
    /// The same, and passing runs do so as well.
    Fault,
    /// So many failing runs show this or another use of freed memory, and hardly a passing run does.
    FreedTogether {
        /// Failing runs that show any of them.
        failed: u32,
        /// Passing runs that do.
        passed: u32,
        /// All failing runs.
        all_failed: u32,
    },
    /// So many runs show this or another access in between the same two.
    RegionTogether {
        /// Failing runs that show any of them.
        failed: u32,
        /// Passing runs that do.
        passed: u32,
    },
    /// So many runs show this or the other way in which the same code tears two variables apart.
    TornTogether {
        /// Failing runs that show any of them.
        failed: u32,
        /// Passing runs that do.
        passed: u32,
    },
    /// So many runs show this or another pair of accesses that a library makes for the same calls.
    CallsTogether {
        /// Failing runs that show any of them.
        failed: u32,
        /// Passing runs that do.
        passed: u32,
    },
    /// So many more failing runs end before its last access, to which all passing runs come.
    Unfinished {
        /// Failing runs that end before it.
        failed: u32,
    },
    /// It counts only with some values.
    Values {
        /// What its first two accesses do.
        kinds: [AccessKind; 2],
        /// With which values.
        values: Values,
        /// So many passing runs show it with others.
        passed: u32,
    },
    /// Passing runs make the same accesses, but in one order always.
    OneOrder,
    /// A thread uses what another had set up.
    SetUp,
    /// Passing runs never make these accesses to one variable.
    Effect,
    /// Passing runs never come to one of its accesses.
    NewCode,
    /// The creation or the end of threads keeps its accesses in order.
    Outcome,
    /// Passing runs have one thread alone make its accesses to one variable.
    SecondThread,
    /// All of its accesses are atomic updates.
    Atomic,
    /// A thread waits after its look, and goes on without another one.
    TestedOnce,
    /// All of its accesses are to what is only ever counted.
    Tally,
    /// Neither of its pairs tells failing from passing runs as well.
    Together,
    /// So many other patterns that the same runs show are part of it.
    Folded(u32),
    /// What only failing runs show comes about only after it.
    Leads,
    /// It comes about only after what leads to it.
    Follows,
    /// What tells failing from passing runs better falls into it, in a part of the failing runs.
    Broken,
    /// It falls into what goes before it, and failing runs without it show that as well.
    FallsIn,
    /// What its two writes leave is looked at where no passing run comes.
    Look,
    /// It is what happens where a failing run, made as short as it can be, goes wrong.
    Narrowed,
    /// Of what is as probable, it is complete first.
    First,
    /// The run stands still for this reason.
    Standstill(StandstillKind),
    /// What Locon concludes from failing and passing runs.
    Procedure(Procedure),
    /// With the outcomes dealt to the runs at random, so many of so many trials give as good a clue.
    Chance {
        /// Trials as good as the runs.
        as_good: u32,
        /// All trials.
        trials: u32,
    },
    /// Among runs that were scheduled alike, nothing tells failing from passing ones.
    Scheduling,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Runs { failed, all_failed, passed, all_passed } => {
                let runs = |some: u32, all: u32, kind: &str| match (some, all) {
                    (0, _) => format!("no {kind} run"),
                    (1, 1) => format!("the only {kind} run"),
                    (2, 2) => format!("both {kind} runs"),
                    _ if some == all => format!("all {all} {kind} runs"),
                    _ => format!("{some} of {all} {kind} runs"),
                };
                let failing = runs(*failed, *all_failed, "failing");
                write!(f, "seen in {failing} and {}", runs(*passed, *all_passed, "passing"))
            }
            Self::Narrowed => f.write_str(
                "a failing run, made as short as it can be, goes wrong just there: it passes if threads are one step earlier or later",
            ),
            Self::Reordered => f.write_str("passing runs make the same accesses in another order"),
            Self::Freed => f.write_str("it uses memory that has been freed, which is never right"),
            Self::Fault => f.write_str(
                "it uses memory that has been freed, which is never right; passing runs do so as well, since it looks as before until it is handed out again",
            ),
            Self::FreedTogether { failed, passed, all_failed } => {
                let passing = match passed {
                    0 => "no passing run".to_owned(),
                    1 => "a passing run".to_owned(),
                    many => format!("{many} passing runs"),
                };
                write!(f, "{failed} of {all_failed} failing runs and {passing} use freed memory, here or elsewhere")
            }
            Self::RegionTogether { failed, passed } => {
                let passing = if *passed == 1 { "passing run has" } else { "passing runs have" };
                write!(f, "{failed} failing and {passed} {passing} this or another access in between the same two")
            }
            Self::TornTogether { failed, passed } => {
                let passing = if *passed == 1 { "passing run has" } else { "passing runs have" };
                write!(f, "{failed} failing and {passed} {passing} the same accesses cross, this way or the other")
            }
            Self::CallsTogether { failed, passed } => {
                let passing = if *passed == 1 { "passing run has" } else { "passing runs have" };
                write!(f, "{failed} failing and {passed} {passing} this or another order of what the same two calls do")
            }
            Self::Unfinished { failed } => {
                let runs = if *failed == 1 { "failing run ends" } else { "failing runs end" };
                write!(f, "{failed} more {runs} before its last access, to which all passing runs come")
            }
            Self::Values { kinds, values, passed } => {
                let others = match passed {
                    0 => String::new(),
                    1 => "; with other values a passing run shows it and does not fail".to_owned(),
                    many => format!("; with other values {many} passing runs show it and do not fail"),
                };
                write!(f, "it does harm where {}{others}", values::told(*kinds, *values))
            }
            Self::OneOrder => f.write_str("passing runs make the same accesses, but never in another order"),
            Self::SetUp => f.write_str(
                "it begins with a variable's first write of all and is seen in no other order, so it tells no more than that both threads use it",
            ),
            Self::Effect => f.write_str(
                "passing runs never make these accesses to one variable, so it may be what the failure does, not its cause",
            ),
            Self::NewCode => f.write_str(
                "passing runs never come to one of its accesses, so it follows from what failing runs did before",
            ),
            Self::Outcome => f.write_str(
                "threads begin or end in between, so it is seen in no other order: what matters is what did not come in between, and why",
            ),
            Self::SecondThread => f.write_str(
                "in passing runs one thread alone makes these accesses to one variable, so that a second one did follows from what failing runs did before",
            ),
            Self::Tally => f.write_str("all that is done there is to count, which decides nothing"),
            Self::Atomic => f.write_str("all of its accesses are atomic updates, which are made to be interleaved"),
            Self::TestedOnce => f.write_str("the thread waits after its look and goes on without another one, which is a mistake by itself"),
            Self::Together => f.write_str("neither of its two pairs tells failing from passing runs by itself"),
            Self::Folded(1) => f.write_str("another pattern that the same runs show is part of it"),
            Self::Folded(others) => write!(f, "{others} other patterns that the same runs show are part of it"),
            Self::Leads => f.write_str(
                "what tells failing from passing runs best comes about only after it; without that it does no harm",
            ),
            Self::Follows => f.write_str("it comes about only after an earlier order of accesses that went wrong before it"),
            Self::Broken => f.write_str(
                "what tells failing from passing runs better is what happens to fall into it, in a part of the failing runs",
            ),
            Self::FallsIn => f.write_str("it falls into what goes before it, which failing runs without it show as well"),
            Self::Look => f.write_str(
                "passing runs show its two writes now and then, and never look at what is left of them as failing runs do",
            ),
            Self::First => f.write_str("complete before what is as probable"),
            Self::Standstill(StandstillKind::Deadlock) => {
                f.write_str("when the runs hung, these threads waited for locks that none of them would give back")
            }
            Self::Standstill(StandstillKind::MissedSignal) => {
                f.write_str("when the runs hung, this thread waited for a signal that had come before")
            }
            Self::Standstill(StandstillKind::WokeAnother) => {
                f.write_str("when the runs hung, this thread waited for a signal that had woken another one")
            }
            Self::Standstill(StandstillKind::Unsignalled) => f.write_str(
                "when the runs hung, this thread waited for a change that had been made without a signal",
            ),
            Self::Procedure(procedure) => procedure.fmt(f),
            Self::Scheduling => {
                f.write_str("how runs were scheduled tells as well which of them fail, so it may be no more than that")
            }
            Self::Chance { as_good: 0, trials } => {
                write!(f, "no chance: of {trials} trials with outcomes dealt at random none gives as good a clue")
            }
            Self::Chance { as_good, trials } => {
                write!(f, "of {trials} trials with outcomes dealt at random {as_good} give as good a clue")
            }
        }
    }
}
