//! The seventeen problematic patterns of the Unicorn thesis (its Table 1), and their identity across runs.

use std::fmt;

use crate::run::{AccessKind, SiteId};

use AccessKind::{Read as R, Write as W};

/// A row of the table: kinds of access, by which of two threads, to which of two variables, in time order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "`PatternId::steps` is the table")]
#[rustfmt::skip]
pub enum PatternId {
    P1, P2, P3, P4, P5, P6, P7, P8, P9, P10, P11, P12, P13, P14, P15, P16, P17,
}

/// One access of a [`PatternId`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Read or Write. An update stands where the table has a write.
    pub kind: AccessKind,
    /// 1 for the thread of the first access, 2 for the other.
    pub thread: u8,
    /// `x` for the variable of the first access, `y` for the other.
    pub variable: char,
}

/// What goes wrong when a pattern is to blame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Violation {
    /// Two accesses happen in the wrong order.
    Order,
    /// Another thread comes between two accesses that belong together.
    Atomicity,
    /// Another thread comes between accesses to two variables that belong together.
    MultiVariableAtomicity,
}

/// A pattern at its sites: the same value in every run that shows it, whatever the threads and addresses.
///
/// Rows of the table that are linearizations of one partial order are one pattern: P10 and P11; and P13, P15,
/// P16 and P17, which differ in the name of the first thread besides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pattern {
    representative: PatternId,
    /// In the representative's time order; unused places hold site 0.
    sites: [SiteId; Pattern::MAX_ACCESSES],
}

/// How two pairs on different variables lie to each other. The first pair's first access comes first in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Crossing {
    /// The first pair is over before the second begins.
    Apart,
    /// The second pair begins within the first and ends after it.
    Overlapping,
    /// The second pair lies within the first.
    Nested,
}

const fn step(kind: AccessKind, thread: u8, variable: char) -> Step {
    Step { kind, thread, variable }
}

const R1X: Step = step(R, 1, 'x');
const W1X: Step = step(W, 1, 'x');
const R2X: Step = step(R, 2, 'x');
const W2X: Step = step(W, 2, 'x');
const R1Y: Step = step(R, 1, 'y');
const W1Y: Step = step(W, 1, 'y');
const R2Y: Step = step(R, 2, 'y');
const W2Y: Step = step(W, 2, 'y');

impl PatternId {
    /// Every row, in the order of the table.
    #[rustfmt::skip]
    pub const ALL: [Self; 17] = [
        Self::P1, Self::P2, Self::P3, Self::P4, Self::P5, Self::P6, Self::P7, Self::P8, Self::P9,
        Self::P10, Self::P11, Self::P12, Self::P13, Self::P14, Self::P15, Self::P16, Self::P17,
    ];

    /// The accesses in time order.
    pub fn steps(self) -> &'static [Step] {
        match self {
            Self::P1 => &[R1X, W2X],
            Self::P2 => &[W1X, R2X],
            Self::P3 => &[W1X, W2X],
            Self::P4 => &[R1X, W2X, R1X],
            Self::P5 => &[W1X, W2X, R1X],
            Self::P6 => &[W1X, R2X, W1X],
            Self::P7 => &[R1X, W2X, W1X],
            Self::P8 => &[W1X, W2X, W1X],
            Self::P9 => &[W1X, W2X, W2Y, W1Y],
            Self::P10 => &[W1X, W2Y, W2X, W1Y],
            Self::P11 => &[W1X, W2Y, W1Y, W2X],
            Self::P12 => &[W1X, R2X, R2Y, W1Y],
            Self::P13 => &[W1X, R2Y, R2X, W1Y],
            Self::P14 => &[R1X, W2X, W2Y, R1Y],
            Self::P15 => &[R1X, W2Y, W2X, R1Y],
            Self::P16 => &[R1X, W2Y, R1Y, W2X],
            Self::P17 => &[W1X, R2Y, W1Y, R2X],
        }
    }

    /// What goes wrong when this pattern is to blame.
    pub fn violation(self) -> Violation {
        match self.steps().len() {
            2 => Violation::Order,
            3 => Violation::Atomicity,
            _ => Violation::MultiVariableAtomicity,
        }
    }

    /// The conflicting pair of these kinds, if they conflict. Only Read and Write are kinds of a pattern.
    pub(crate) fn pair(first: AccessKind, second: AccessKind) -> Option<Self> {
        match (first, second) {
            (R, W) => Some(Self::P1),
            (W, R) => Some(Self::P2),
            (W, W) => Some(Self::P3),
            _ => None,
        }
    }

    /// The unserializable triple of these kinds, if there is one.
    pub(crate) fn triple(first: AccessKind, middle: AccessKind, last: AccessKind) -> Option<Self> {
        match (first, middle, last) {
            (R, W, R) => Some(Self::P4),
            (W, W, R) => Some(Self::P5),
            (W, R, W) => Some(Self::P6),
            (R, W, W) => Some(Self::P7),
            (W, W, W) => Some(Self::P8),
            _ => None,
        }
    }

    /// The pattern of two pairs (P1–P3) on different variables that run between two threads in opposite
    /// directions, if there is one.
    pub(crate) fn quadruple(first: Self, second: Self, crossing: Crossing) -> Option<Self> {
        use Crossing::{Apart, Nested, Overlapping};
        match (first, second, crossing) {
            (Self::P3, Self::P3, Apart) => Some(Self::P9),
            (Self::P3, Self::P3, Overlapping) => Some(Self::P10),
            (Self::P3, Self::P3, Nested) => Some(Self::P11),
            (Self::P2, Self::P1, Apart) => Some(Self::P12),
            (Self::P2, Self::P1, Overlapping) => Some(Self::P13),
            (Self::P2, Self::P1, Nested) => Some(Self::P17),
            (Self::P1, Self::P2, Apart) => Some(Self::P14),
            (Self::P1, Self::P2, Overlapping) => Some(Self::P15),
            (Self::P1, Self::P2, Nested) => Some(Self::P16),
            _ => None,
        }
    }
}

impl Pattern {
    /// The longest row of the table has so many accesses.
    pub(crate) const MAX_ACCESSES: usize = 4;

    /// The pattern that shows itself as `id` with its accesses made at `sites`, both in time order.
    ///
    /// # Panics
    /// If there are not as many sites as the row has accesses.
    pub fn new(id: PatternId, sites: &[SiteId]) -> Self {
        assert_eq!(sites.len(), id.steps().len(), "{id:?} has another number of accesses");
        let mut padded = [SiteId(0); Self::MAX_ACCESSES];
        padded[..sites.len()].copy_from_slice(sites);
        let [a, b, c, d] = padded;
        // The two accesses that come first are not ordered with each other in the overlapping and nested rows,
        // and neither are the two that come last.
        let (representative, sites) = match id {
            PatternId::P10 => (PatternId::P10, padded.min([b, a, d, c])),
            PatternId::P11 => (PatternId::P10, [a, b, d, c].min([b, a, c, d])),
            PatternId::P15 => (PatternId::P13, [b, a, d, c]),
            PatternId::P16 => (PatternId::P13, [b, a, c, d]),
            PatternId::P17 => (PatternId::P13, [a, b, d, c]),
            other => (other, padded),
        };
        Self { representative, sites }
    }

    /// The row that stands for this pattern. An occurrence may show itself as an equivalent row.
    pub fn representative(&self) -> PatternId {
        self.representative
    }

    /// The sites of the accesses, in the order of the representative.
    pub fn sites(&self) -> &[SiteId] {
        &self.sites[..self.representative.steps().len()]
    }

    /// What goes wrong when this pattern is to blame.
    pub fn violation(&self) -> Violation {
        self.representative.violation()
    }
}

impl fmt::Display for PatternId {
    /// The kinds in time order: `RWR`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kinds: String = self.steps().iter().map(|step| if step.kind == R { 'R' } else { 'W' }).collect();
        f.pad(&kinds)
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Order => "order-violation",
            Self::Atomicity => "atomicity-violation",
            Self::MultiVariableAtomicity => "multi-variable-atomicity-violation",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sites(numbers: [u32; 4]) -> [SiteId; 4] {
        numbers.map(SiteId)
    }

    #[test]
    fn linearizations_of_one_partial_order_are_one_pattern() {
        // W1(x)@1 → W2(x)@2 and W2(y)@3 → W1(y)@4, thread 1 in the order 1, 4 and thread 2 in the order 3, 2.
        let p10 = Pattern::new(PatternId::P10, &sites([1, 3, 2, 4]));
        for (id, order) in
            [(PatternId::P11, [1, 3, 4, 2]), (PatternId::P10, [3, 1, 4, 2]), (PatternId::P11, [3, 1, 2, 4])]
        {
            assert_eq!(Pattern::new(id, &sites(order)), p10);
        }
        // The same with reads at 2 and 3.
        let p13 = Pattern::new(PatternId::P13, &sites([1, 3, 2, 4]));
        for (id, order) in
            [(PatternId::P17, [1, 3, 4, 2]), (PatternId::P15, [3, 1, 4, 2]), (PatternId::P16, [3, 1, 2, 4])]
        {
            assert_eq!(Pattern::new(id, &sites(order)), p13);
        }
    }

    #[test]
    fn other_orders_of_the_same_sites_are_other_patterns() {
        let p9 = Pattern::new(PatternId::P9, &sites([1, 2, 3, 4]));
        assert_ne!(p9, Pattern::new(PatternId::P9, &sites([3, 4, 1, 2])));
        let p10 = Pattern::new(PatternId::P10, &sites([1, 3, 2, 4]));
        assert_ne!(p10, Pattern::new(PatternId::P10, &sites([1, 3, 4, 2])));
        assert_ne!(p10, Pattern::new(PatternId::P13, &sites([1, 3, 2, 4])));
        assert_eq!(p10.sites(), sites([1, 3, 2, 4]));
    }

    #[test]
    fn rows_are_told_apart_by_kinds_threads_and_variables() {
        for (nth, id) in PatternId::ALL.into_iter().enumerate() {
            assert!(PatternId::ALL[..nth].iter().all(|other| other.steps() != id.steps()), "{id:?}");
        }
    }

    #[test]
    fn display() {
        assert_eq!(PatternId::P7.to_string(), "RWW");
        assert_eq!(PatternId::P13.to_string(), "WRRW");
        assert_eq!(PatternId::P1.violation().to_string(), "order-violation");
        assert_eq!(PatternId::P8.violation().to_string(), "atomicity-violation");
        assert_eq!(PatternId::P9.violation().to_string(), "multi-variable-atomicity-violation");
    }
}
