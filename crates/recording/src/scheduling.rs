//! What plans and recordings of controlled runs say about their schedules.

use core::fmt;
use core::str::FromStr;

use crate::layout::Pod;
use crate::plan::PlanError;

/// At one decision of a run, another thread than usual runs on. Its text form is `17:2`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Deviation {
    /// The number of the decision, from 0: how often before there was a choice between threads.
    pub decision: u32,
    /// Which of the other threads that could run: 1 for the first.
    pub alternative: u16,
}

impl fmt::Display for Deviation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.decision, self.alternative)
    }
}

impl FromStr for Deviation {
    type Err = PlanError;

    fn from_str(text: &str) -> Result<Deviation, PlanError> {
        let (decision, alternative) = text.split_once(':').ok_or(PlanError)?;
        let decision = decision.parse().map_err(|_| PlanError)?;
        Ok(Deviation { decision, alternative: alternative.parse().map_err(|_| PlanError)? })
    }
}

/// A choice between threads that a bounded run had.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision {
    /// Threads that could run.
    pub candidates: u16,
    /// 1 if the thread that ran so far was among them, so that choosing another one is a preemption.
    pub preempts: u16,
}

// SAFETY: repr(C), two u16 without padding, and every bit pattern is valid.
unsafe impl Pod for Decision {}

/// How often a thread came to a scheduling point at one place.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Visit {
    /// The address of the place: where its hook returns to.
    pub site: u64,
    /// The seat of the thread: its number, but for those that take the seat of one that has ended.
    pub seat: u32,
    /// How often.
    pub count: u32,
}

// SAFETY: repr(C), u64 and two u32 without padding, and every bit pattern is valid.
unsafe impl Pod for Visit {}
