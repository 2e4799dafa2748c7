//! What is left of some accesses when their places in the code are forgotten.

use std::fmt;

use crate::pattern::PatternId;
use crate::run::AccessKind;

/// One access of a [`Shape`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Read or Write. An update stands where the table has a write.
    pub kind: AccessKind,
    /// 1 for the thread of the first access, 2 for the next one, 3 for another one besides, which no row of the table has.
    pub thread: u8,
    /// `x` for the variable of the first access, `y` for the other.
    pub variable: char,
}

/// Kinds of up to four accesses, by which of up to three threads, to which of two variables, in time order.
///
/// The rows of [`PatternId`] are shapes; a single access, and any two pairs, are shapes too.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Shape {
    /// One byte for each step, the first lowest; zero where there is no step. Small and quick to hash, since
    /// there are many in memory.
    codes: u32,
}

const IS_STEP: u8 = 1;
const IS_WRITE: u8 = 2;
const IS_THREAD_2: u8 = 4;
const IS_Y: u8 = 8;
const IS_THREAD_3: u8 = 16;

impl Shape {
    /// No shape has more steps.
    pub(crate) const MAX_STEPS: usize = 4;

    /// The shape with these steps.
    ///
    /// # Panics
    /// If there are more than four.
    pub(crate) const fn new(steps: &[Step]) -> Self {
        assert!(steps.len() <= Self::MAX_STEPS);
        let mut codes = 0;
        let mut nth = 0;
        // A constant function knows no other loop.
        while nth < steps.len() {
            let step = steps[nth];
            let code = IS_STEP
                | if matches!(step.kind, AccessKind::Read) { 0 } else { IS_WRITE }
                | match step.thread {
                    1 => 0,
                    2 => IS_THREAD_2,
                    _ => IS_THREAD_3,
                }
                | if step.variable == 'x' { 0 } else { IS_Y };
            codes |= (code as u32) << (8 * nth);
            nth += 1;
        }
        Self { codes }
    }

    /// A single access.
    pub(crate) fn access(kind: AccessKind) -> Self {
        Self::new(&[Step { kind, thread: 1, variable: 'x' }])
    }

    /// The accesses in time order.
    pub fn steps(self) -> impl Iterator<Item = Step> + Clone {
        self.codes.to_le_bytes().into_iter().take_while(|&code| code != 0).map(|code| Step {
            kind: if code & IS_WRITE != 0 { AccessKind::Write } else { AccessKind::Read },
            thread: match code & (IS_THREAD_2 | IS_THREAD_3) {
                0 => 1,
                IS_THREAD_2 => 2,
                _ => 3,
            },
            variable: if code & IS_Y != 0 { 'y' } else { 'x' },
        })
    }

    /// The number of accesses.
    #[expect(clippy::len_without_is_empty, reason = "a shape has a step")]
    pub fn len(self) -> usize {
        self.steps().count()
    }

    /// The row of the table that this is, if it is one.
    pub fn row(self) -> Option<PatternId> {
        PatternId::ALL.into_iter().find(|&id| Self::from(id) == self)
    }
}

/// Of the rows of the table.
const ROWS: [Shape; PatternId::ALL.len()] = {
    let mut rows = [Shape { codes: 0 }; PatternId::ALL.len()];
    let mut nth = 0;
    while nth < rows.len() {
        rows[nth] = Shape::new(PatternId::ALL[nth].steps());
        nth += 1;
    }
    rows
};

impl From<PatternId> for Shape {
    fn from(id: PatternId) -> Self {
        ROWS[id as usize]
    }
}

impl fmt::Display for Shape {
    /// The kinds in time order: `RWR`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kinds: String = self.steps().map(|step| letter(step.kind)).collect();
        f.pad(&kinds)
    }
}

impl fmt::Debug for Shape {
    /// The row of the table, `P5`, or else all steps: `R1x-W2x-W1y-R2y`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(id) = self.row() {
            return fmt::Debug::fmt(&id, f);
        }
        for (nth, step) in self.steps().enumerate() {
            let dash = if nth == 0 { "" } else { "-" };
            write!(f, "{dash}{}{}{}", letter(step.kind), step.thread, step.variable)?;
        }
        Ok(())
    }
}

fn letter(kind: AccessKind) -> char {
    if kind.writes() { 'W' } else { 'R' }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_every_row_of_the_table() {
        for id in PatternId::ALL {
            let shape = Shape::from(id);
            assert_eq!(shape.steps().collect::<Vec<_>>(), id.steps());
            assert_eq!((shape.row(), shape.len()), (Some(id), id.steps().len()));
            assert_eq!((shape.to_string(), format!("{shape:?}")), (id.to_string(), format!("{id:?}")));
        }
    }

    #[test]
    fn other_shapes_show_their_steps() {
        let read = Shape::access(AccessKind::Read);
        assert_eq!((read.row(), read.to_string(), format!("{read:?}")), (None, "R".into(), "R1x".into()));
        let step = |kind, thread, variable| Step { kind, thread, variable };
        let couple = Shape::new(&[
            step(AccessKind::Read, 1, 'x'),
            step(AccessKind::Write, 2, 'x'),
            step(AccessKind::Read, 2, 'y'),
            step(AccessKind::Read, 1, 'y'),
        ]);
        assert_eq!(couple.row(), None);
        assert_eq!((couple.to_string(), format!("{couple:?}")), ("RWRR".into(), "R1x-W2x-R2y-R1y".into()));
        let third = Shape::new(&[
            step(AccessKind::Read, 1, 'x'),
            step(AccessKind::Write, 2, 'x'),
            step(AccessKind::Read, 3, 'y'),
            step(AccessKind::Write, 1, 'y'),
        ]);
        assert_eq!(format!("{third:?}"), "R1x-W2x-R3y-W1y");
        assert_ne!(third, PatternId::P18.into());
    }
}
