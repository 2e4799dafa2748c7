//! The seventeen problematic patterns of the Unicorn thesis (its Table 1) with three more rows, and the identity across runs
//! of these and of other accesses that belong together.

use std::fmt;
use std::hash::{Hash, Hasher};

use crate::run::{AccessKind, SiteId};
use crate::shape::{Shape, Step};

use AccessKind::{Read as R, Write as W};

/// A row of the table: kinds of access, by which of two threads, to which of two variables, in time order.
///
/// The thesis has P1 to P17. In P18 to P20 each thread reads one variable and writes the other, and each read finds what was there
/// before the other thread's write: what databases call write skew. No order of the two threads, one after the other, does that.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "`PatternId::steps` is the table")]
#[rustfmt::skip]
pub enum PatternId {
    P1, P2, P3, P4, P5, P6, P7, P8, P9, P10, P11, P12, P13, P14, P15, P16, P17, P18, P19, P20,
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

/// Accesses at their sites: the same value in every run that shows them, whatever the threads and addresses.
///
/// Rows of the table that are linearizations of one partial order are one pattern: P10 and P11; P19 and P20; and P13, P15,
/// P16 and P17, which differ in the name of the first thread besides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Pattern {
    shape: Shape,
    /// In the order of the shape; unused places hold site 0.
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
    pub const ALL: [Self; 20] = [
        Self::P1, Self::P2, Self::P3, Self::P4, Self::P5, Self::P6, Self::P7, Self::P8, Self::P9,
        Self::P10, Self::P11, Self::P12, Self::P13, Self::P14, Self::P15, Self::P16, Self::P17,
        Self::P18, Self::P19, Self::P20,
    ];

    /// The accesses in time order.
    pub const fn steps(self) -> &'static [Step] {
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
            Self::P18 => &[R1X, W2X, R2Y, W1Y],
            Self::P19 => &[R1X, R2Y, W2X, W1Y],
            Self::P20 => &[R1X, R2Y, W1Y, W2X],
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
            (Self::P1, Self::P1, Apart) => Some(Self::P18),
            (Self::P1, Self::P1, Overlapping) => Some(Self::P19),
            (Self::P1, Self::P1, Nested) => Some(Self::P20),
            _ => None,
        }
    }
}

impl Pattern {
    /// No pattern has more accesses.
    pub(crate) const MAX_ACCESSES: usize = Shape::MAX_STEPS;

    /// The pattern that shows itself as the row `id` with its accesses made at `sites`, both in time order.
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
            PatternId::P19 => (PatternId::P19, padded.min([b, a, d, c])),
            PatternId::P20 => (PatternId::P19, [a, b, d, c].min([b, a, c, d])),
            other => (other, padded),
        };
        Self { shape: representative.into(), sites }
    }

    /// The same of any shape, be it a row or not.
    pub(crate) fn of_shape(shape: Shape, sites: &[SiteId]) -> Self {
        if let Some(row) = shape.row() {
            return Self::new(row, sites);
        }
        let mut padded = [SiteId(0); Self::MAX_ACCESSES];
        padded[..sites.len()].copy_from_slice(sites);
        Self { shape, sites: padded }
    }

    /// A single access.
    pub(crate) fn access(kind: AccessKind, site: SiteId) -> Self {
        let mut sites = [SiteId(0); Self::MAX_ACCESSES];
        sites[0] = site;
        Self { shape: Shape::access(kind), sites }
    }

    /// Two pairs (P1–P3) on different variables between the same two threads, whatever their order in time;
    /// `opposite` if they run in opposite directions.
    pub(crate) fn couple(one: Self, other: Self, opposite: bool) -> Self {
        let [first, second] = if one <= other { [one, other] } else { [other, one] };
        let (from, to) = if opposite { (2, 1) } else { (1, 2) };
        let kinds = [first, second].map(|pair| pair.pair_kinds());
        let step = |kind, thread, variable| Step { kind, thread, variable };
        let shape = Shape::new(&[
            step(kinds[0][0], 1, 'x'),
            step(kinds[0][1], 2, 'x'),
            step(kinds[1][0], from, 'y'),
            step(kinds[1][1], to, 'y'),
        ]);
        Self { shape, sites: [first.sites[0], first.sites[1], second.sites[0], second.sites[1]] }
    }

    /// The pair (P1–P3) of the same two accesses in the opposite order.
    pub(crate) fn reversed(self) -> Self {
        let [head, tail] = self.pair_kinds();
        let id = PatternId::pair(tail, head).expect("a pair conflicts in both orders");
        Self::new(id, &[self.sites[1], self.sites[0]])
    }

    fn pair_kinds(self) -> [AccessKind; 2] {
        let mut kinds = self.shape.steps().map(|step| step.kind);
        [(); 2].map(|()| kinds.next().expect("a pair has two accesses"))
    }

    /// Kinds and roles. An occurrence may show itself in an equivalent shape.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// The sites of the accesses, in the order of the shape.
    pub fn sites(&self) -> &[SiteId] {
        &self.sites[..self.shape.len()]
    }

    /// Its conflicts: any two accesses of different threads to one variable, with their kinds and sites.
    pub(crate) fn conflicts(&self) -> impl Iterator<Item = ([AccessKind; 2], [SiteId; 2])> + Clone {
        let sites = self.sites;
        let steps = self.shape.steps().zip(sites);
        let ordered = steps
            .clone()
            .enumerate()
            .flat_map(move |(nth, second)| steps.clone().take(nth).map(move |first| [first, second]));
        let conflicts = ordered.filter(|[(first, _), (second, _)]| {
            first.thread != second.thread && first.variable == second.variable
        });
        conflicts.map(|ends| (ends.map(|(step, _)| step.kind), ends.map(|(_, site)| site)))
    }

    /// Whether each of two threads decides by what the other is about to change (P18 to P20).
    pub(crate) fn is_write_skew(&self) -> bool {
        let rows = [PatternId::P18, PatternId::P19, PatternId::P20];
        rows.into_iter().any(|row| self.shape == row.into())
    }

    /// What goes wrong when this pattern is to blame. Of a single access no more can be said than that it comes
    /// at the wrong time.
    pub fn violation(&self) -> Violation {
        match self.shape.len() {
            0..=2 => Violation::Order,
            3 => Violation::Atomicity,
            // A third thread may be in it, with one variable.
            _ if self.shape.steps().all(|step| step.variable == 'x') => Violation::Atomicity,
            _ => Violation::MultiVariableAtomicity,
        }
    }
}

impl Hash for Pattern {
    /// In words as wide as the machine's: patterns are looked up far more often than anything else is done to
    /// them.
    fn hash<H: Hasher>(&self, state: &mut H) {
        let [a, b, c, d] = self.sites.map(|site| u64::from(site.0));
        state.write_u64(a | b << 32);
        state.write_u64(c | d << 32);
        self.shape.hash(state);
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
        // R1(x)@1 → W2(x)@2 and R2(y)@3 → W1(y)@4, likewise.
        let p19 = Pattern::new(PatternId::P19, &sites([1, 3, 2, 4]));
        for (id, order) in
            [(PatternId::P20, [1, 3, 4, 2]), (PatternId::P19, [3, 1, 4, 2]), (PatternId::P20, [3, 1, 2, 4])]
        {
            assert_eq!(Pattern::new(id, &sites(order)), p19);
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
