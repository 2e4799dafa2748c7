//! An interleaving that a controlled run is to bring about, or to avoid.

use core::fmt;
use core::str::FromStr;

use crate::plan::PlanError;
use crate::site::Site;

/// Accesses that an [`Interleaving`] has at most.
pub const MOST_STEPS: usize = 4;

/// What a run does about an interleaving.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Treatment {
    /// Holds threads back until others have done their part.
    Enforce,
    /// Lets a thread finish what the interleaving would break up, or holds back what would come too early.
    Forbid,
    /// Holds threads back at the same places, for no purpose: what delays alone do.
    Delay,
}

impl Treatment {
    /// All of them.
    pub const ALL: [Treatment; 3] = [Treatment::Enforce, Treatment::Forbid, Treatment::Delay];

    const fn name(self) -> &'static str {
        match self {
            Treatment::Enforce => "enforce",
            Treatment::Forbid => "forbid",
            Treatment::Delay => "delay",
        }
    }
}

/// One access of an interleaving.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct InterleavingStep {
    /// 1 for the thread of the first access, 2 for the other.
    pub thread: u8,
    /// 0 for the variable of the first access, 1 for the other.
    pub variable: u8,
    /// The module's build id, padded with zeros.
    pub build_id: [u8; 32],
    /// Where the access's hook returns to, as in the module's file.
    pub address: u64,
}

/// Accesses of two threads to one or two variables, in this order. Its text form is
/// `enforce:1.0@BUILDID+1f40;2.0@BUILDID+2a11`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Interleaving {
    /// What to do about it.
    pub treatment: Treatment,
    count: u8,
    steps: [InterleavingStep; MOST_STEPS],
}

impl Interleaving {
    /// None if there are fewer than two steps, or too many.
    pub fn new(treatment: Treatment, steps: &[InterleavingStep]) -> Option<Interleaving> {
        let mut all = [InterleavingStep::default(); MOST_STEPS];
        if steps.len() < 2 || steps.len() > MOST_STEPS {
            return None;
        }
        all[..steps.len()].copy_from_slice(steps);
        Some(Interleaving { treatment, count: steps.len() as u8, steps: all })
    }

    /// In the order in which they happen.
    pub fn steps(&self) -> &[InterleavingStep] {
        &self.steps[..self.count as usize]
    }
}

impl fmt::Display for Interleaving {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.treatment.name())?;
        for (number, step) in self.steps().iter().enumerate() {
            let before = if number == 0 { ':' } else { ';' };
            let site = Site { build_id: step.build_id, address: step.address };
            write!(f, "{before}{}.{}@{site}", step.thread, step.variable)?;
        }
        Ok(())
    }
}

impl FromStr for Interleaving {
    type Err = PlanError;

    fn from_str(text: &str) -> Result<Interleaving, PlanError> {
        let (treatment, rest) = text.split_once(':').ok_or(PlanError)?;
        let treatment = Treatment::ALL.into_iter().find(|one| one.name() == treatment).ok_or(PlanError)?;
        let mut steps = [InterleavingStep::default(); MOST_STEPS];
        let mut count = 0;
        for step in rest.split(';') {
            *steps.get_mut(count).ok_or(PlanError)? = parse_step(step).ok_or(PlanError)?;
            count += 1;
        }
        Interleaving::new(treatment, &steps[..count]).ok_or(PlanError)
    }
}

fn parse_step(text: &str) -> Option<InterleavingStep> {
    let (roles, place) = text.split_once('@')?;
    let (thread, variable) = roles.split_once('.')?;
    let Site { build_id, address } = place.parse().ok()?;
    let (thread, variable) = (thread.parse().ok()?, variable.parse().ok()?);
    (matches!(thread, 1 | 2) && matches!(variable, 0 | 1)).then_some(InterleavingStep {
        thread,
        variable,
        build_id,
        address,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    extern crate std;
    use std::string::ToString;

    #[test]
    fn interleavings_survive_their_text_form() {
        let mut build_id = [0; 32];
        build_id[..3].copy_from_slice(&[0xab, 0, 0x1f]);
        let step = |thread, address| InterleavingStep { thread, variable: 0, build_id, address };
        for treatment in Treatment::ALL {
            let interleaving =
                Interleaving::new(treatment, &[step(1, 0x1f40), step(2, 7), step(1, u64::MAX)]);
            let interleaving = interleaving.expect("three steps are not too many");
            assert_eq!(interleaving.to_string().parse(), Ok(interleaving));
        }
        assert_eq!(Interleaving::new(Treatment::Enforce, &[step(1, 1)]), None);
    }

    #[test]
    fn nonsense_is_refused() {
        let five = "enforce:1.0@+1;1.0@+1;1.0@+1;1.0@+1;1.0@+1";
        for text in ["", "enforce", "enforce:1.0@ab+1", "force:1.0@+1;2.0@+2", "enforce:3.0@+1;2.0@+2", five]
        {
            assert_eq!(text.parse::<Interleaving>(), Err(PlanError), "{text}");
        }
    }
}
