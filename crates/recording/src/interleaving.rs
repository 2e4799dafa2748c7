//! An interleaving that a controlled run is to bring about, or to avoid.

use core::fmt;
use core::str::FromStr;

use crate::plan::PlanError;
use crate::site::Site;

/// Steps that an [`Interleaving`] has at most.
pub const MOST_STEPS: usize = 12;
/// Threads and variables that take part at most.
pub const MOST_ROLES: usize = 6;
/// Copies of a step's places that it knows at most.
pub const MOST_COPIES: usize = 12;

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

/// One step of an interleaving: an access, or an operation on a lock or condition.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct InterleavingStep {
    /// 1 for the thread of the first step, and so on in the order in which they appear.
    pub thread: u8,
    /// 0 for the variable, lock or condition of the first step, and so on.
    pub variable: u8,
    /// The module's build id, padded with zeros.
    pub build_id: [u8; 32],
    /// Where the step's hook returns to, as in the module's file.
    pub address: u64,
    /// Where the function that does it returns to, in the same module; zero if that does not matter.
    pub caller: u64,
    /// Where the outermost lock is taken under which the step is done, in the same module; zero if there is none.
    pub guard: u64,
    /// Other places in the module where the compiler has put the same: copies of the step, of the call and of where the lock is
    /// taken, as an unrolled loop has them. What is returned to is never two of these at once, so that one list is enough. Zeros
    /// behind the last.
    pub copies: [u64; MOST_COPIES],
}

impl InterleavingStep {
    /// Whether what happens here is the step, in one of its copies.
    pub fn is_at(&self, address: u64) -> bool {
        self.is_copy_of(self.address, address)
    }

    /// Whether what calls from here calls the step's function as the step has it.
    pub fn is_called_from(&self, caller: u64) -> bool {
        self.caller == 0 || self.is_copy_of(self.caller, caller)
    }

    /// Whether the steps are the same access in the source, in whatever copies.
    pub fn is_same_place(&self, other: &InterleavingStep) -> bool {
        self.build_id == other.build_id && (self.is_at(other.address) || other.is_at(self.address))
    }

    fn is_copy_of(&self, place: u64, address: u64) -> bool {
        address == place || address != 0 && self.copies.contains(&address)
    }
}

/// What several threads do to several variables, and in which order. A thread does its own steps in the order in
/// which they are listed. Between threads, each step comes after the one before it, unless orders are given.
///
/// The text form is `enforce:1.0@BUILDID+1f40;2.0@BUILDID+2a11;1.0@BUILDID+1f60`: thread, variable, place;
/// behind a `~` where the step's function was called, behind a `^` where the lock is taken that guards the step, behind each `=` a
/// copy of one of these. Orders follow, if not all are wanted, as numbers of steps:
/// `enforce:…/1<2/2<3`; a single `/` stands for none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Interleaving {
    /// What to do about it.
    pub treatment: Treatment,
    count: u8,
    steps: [InterleavingStep; MOST_STEPS],
    /// For each step a bit for each that comes before it.
    before: [u16; MOST_STEPS],
}

impl Interleaving {
    /// With each step after the one before it. None if there are fewer than two steps, or too many.
    pub fn new(treatment: Treatment, steps: &[InterleavingStep]) -> Option<Interleaving> {
        let mut all = [InterleavingStep::default(); MOST_STEPS];
        let known = |step: &InterleavingStep| {
            (1..=MOST_ROLES).contains(&step.thread.into()) && usize::from(step.variable) < MOST_ROLES
        };
        if steps.len() < 2 || steps.len() > MOST_STEPS || !steps.iter().all(known) {
            return None;
        }
        all[..steps.len()].copy_from_slice(steps);
        let before =
            core::array::from_fn(|step| if (1..steps.len()).contains(&step) { 1 << (step - 1) } else { 0 });
        Some(Interleaving { treatment, count: steps.len() as u8, steps: all, before })
    }

    /// The same, treated in another way.
    pub fn treated(self, treatment: Treatment) -> Interleaving {
        Interleaving { treatment, ..self }
    }

    /// The same with each step as `map` has it.
    pub fn map_steps(mut self, map: &mut dyn FnMut(InterleavingStep) -> InterleavingStep) -> Interleaving {
        self.steps[..usize::from(self.count)].iter_mut().for_each(|step| *step = map(*step));
        self
    }

    /// With these orders of steps alone, each from an earlier step in the list to a later one. None if one is not.
    pub fn with_orders(mut self, orders: &[(usize, usize)]) -> Option<Interleaving> {
        self.before = [0; MOST_STEPS];
        orders.iter().try_for_each(|&(first, second)| self.add_order(first, second))?;
        Some(self)
    }

    fn add_order(&mut self, first: usize, second: usize) -> Option<()> {
        if first >= second || second >= usize::from(self.count) {
            return None;
        }
        self.before[second] |= 1 << first;
        Some(())
    }

    /// The steps; those of one thread are in the order in which it does them.
    pub fn steps(&self) -> &[InterleavingStep] {
        &self.steps[..self.count as usize]
    }

    /// A bit for each step that comes before this one.
    pub fn before(&self, step: usize) -> u16 {
        self.before.get(step).copied().unwrap_or(0)
    }

    /// Pairs of steps, by index, of which the first comes before the second.
    pub fn orders(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        let all = (0..self.steps().len()).flat_map(|second| (0..second).map(move |first| (first, second)));
        all.filter(|&(first, second)| self.before[second] & 1 << first != 0)
    }

    fn is_chain(&self) -> bool {
        Interleaving::new(self.treatment, self.steps()) == Some(*self)
    }
}

impl fmt::Display for Interleaving {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.treatment.name())?;
        for (number, step) in self.steps().iter().enumerate() {
            let before = if number == 0 { ':' } else { ';' };
            let site = Site { build_id: step.build_id, address: step.address };
            write!(f, "{before}{}.{}@{site}", step.thread, step.variable)?;
            if step.caller != 0 {
                write!(f, "~{:x}", step.caller)?;
            }
            if step.guard != 0 {
                write!(f, "^{:x}", step.guard)?;
            }
            step.copies.iter().take_while(|copy| **copy != 0).try_for_each(|copy| write!(f, "={copy:x}"))?;
        }
        if self.is_chain() {
            return Ok(());
        }
        if self.orders().next().is_none() {
            return f.write_str("/");
        }
        self.orders().try_for_each(|(first, second)| write!(f, "/{}<{}", first + 1, second + 1))
    }
}

impl FromStr for Interleaving {
    type Err = PlanError;

    fn from_str(text: &str) -> Result<Interleaving, PlanError> {
        let (treatment, rest) = text.split_once(':').ok_or(PlanError)?;
        let treatment = Treatment::ALL.into_iter().find(|one| one.name() == treatment).ok_or(PlanError)?;
        let (listed, orders) = match rest.split_once('/') {
            Some((listed, orders)) => (listed, Some(orders)),
            None => (rest, None),
        };
        let mut steps = [InterleavingStep::default(); MOST_STEPS];
        let mut count = 0;
        for step in listed.split(';') {
            *steps.get_mut(count).ok_or(PlanError)? = parse_step(step).ok_or(PlanError)?;
            count += 1;
        }
        let mut interleaving = Interleaving::new(treatment, &steps[..count]).ok_or(PlanError)?;
        if let Some(orders) = orders {
            interleaving.before = [0; MOST_STEPS];
            for order in orders.split('/').filter(|order| !order.is_empty()) {
                let (first, second) = parse_order(order).ok_or(PlanError)?;
                interleaving.add_order(first, second).ok_or(PlanError)?;
            }
        }
        Ok(interleaving)
    }
}

fn parse_order(text: &str) -> Option<(usize, usize)> {
    let (first, second) = text.split_once('<')?;
    let index = |number: &str| number.parse::<usize>().ok()?.checked_sub(1);
    Some((index(first)?, index(second)?))
}

fn parse_step(text: &str) -> Option<InterleavingStep> {
    let (roles, place) = text.split_once('@')?;
    let (thread, variable) = roles.split_once('.')?;
    let (place, listed) =
        place.split_once('=').map_or((place, None), |(place, listed)| (place, Some(listed)));
    let (site, guard) = place.split_once('^').unwrap_or((place, "0"));
    let (thread, variable) = (thread.parse().ok()?, variable.parse().ok()?);
    let (site, caller) = site.split_once('~').unwrap_or((site, "0"));
    let Site { build_id, address } = site.parse().ok()?;
    let [caller, guard] = [caller, guard].map(|place| u64::from_str_radix(place, 16).ok());
    let mut copies = [0; MOST_COPIES];
    for (nth, copy) in listed.into_iter().flat_map(|listed| listed.split('=')).enumerate() {
        *copies.get_mut(nth)? = u64::from_str_radix(copy, 16).ok().filter(|copy| *copy != 0)?;
    }
    Some(InterleavingStep { thread, variable, build_id, address, caller: caller?, guard: guard?, copies })
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
        let step = |thread, address| InterleavingStep {
            thread,
            variable: 0,
            build_id,
            address,
            caller: address % 7,
            guard: address / 2,
            copies: core::array::from_fn(|nth| {
                if nth < (address % 4) as usize { address + 1 + nth as u64 } else { 0 }
            }),
        };
        for treatment in Treatment::ALL {
            let interleaving =
                Interleaving::new(treatment, &[step(1, 0x1f41), step(2, 7), step(1, 0xffff_fff0)]);
            let interleaving = interleaving.expect("three steps are not too many");
            assert_eq!(interleaving.to_string().parse(), Ok(interleaving));
            for orders in [&[(0, 2)][..], &[], &[(0, 1), (0, 2)]] {
                let loose = interleaving.with_orders(orders).expect("the orders are possible");
                assert_eq!(loose.to_string().parse(), Ok(loose));
                assert!(loose.orders().eq(orders.iter().copied()));
            }
            assert!(interleaving.orders().eq([(0, 1), (1, 2)]));
            assert_eq!(interleaving.with_orders(&[(2, 1)]), None);
            assert_eq!(interleaving.with_orders(&[(0, 3)]), None);
        }
        assert_eq!(Interleaving::new(Treatment::Enforce, &[step(1, 1)]), None);
    }

    #[test]
    fn nonsense_is_refused() {
        let two = "enforce:1.0@+1;2.0@+2";
        assert!(two.parse::<Interleaving>().is_ok());
        let many = std::format!("{two}{}", ";1.0@+1".repeat(MOST_STEPS - 1));
        let wrong = ["", "enforce", "enforce:1.0@ab+1", "force:1.0@+1;2.0@+2", "enforce:9.0@+1;2.0@+2"];
        let orders = ["/2<1", "/1<3", "/0<1", "/1", "/1<x", "^", "^g", "~", "~1^", "=", "=1=", "=0", "=1^2"]
            .map(|order| std::format!("{two}{order}"));
        for text in wrong.into_iter().chain(orders.iter().map(|text| &**text)).chain([&*many]) {
            assert_eq!(text.parse::<Interleaving>(), Err(PlanError), "{text}");
        }
    }
}
