//! The call stacks of a finding, each folded to where it differs from those before.

use crate::model::{Access, Frame};

/// Of a deep stack, the innermost frames say what happened and the outermost which thread it was.
const INNERMOST: usize = 12;
const OUTERMOST: usize = 4;

/// A call stack as it is worth showing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Folded<'a> {
    /// The frames of its own, innermost first.
    pub innermost: &'a [Frame],
    /// Frames in the middle of a deep stack.
    pub omitted: &'a [Frame],
    /// The outermost of its own frames, where some are omitted.
    pub outermost: &'a [Frame],
    /// The frames it shares with an earlier access; empty if with none.
    pub shared: &'a [Frame],
    /// The number of that access, from 1.
    pub shared_with: usize,
}

/// Folds the stack of an access that comes after the earlier ones.
pub(crate) fn fold<'a>(earlier: &[Access], stack: &'a [Frame]) -> Folded<'a> {
    let (common, shared_with) = most_in_common(earlier, stack);
    let (own, shared) = stack.split_at(stack.len() - common);
    let is_deep = own.len() > INNERMOST + OUTERMOST + 1;
    let (innermost, rest) = own.split_at(if is_deep { INNERMOST } else { own.len() });
    let (omitted, outermost) = rest.split_at(rest.len().saturating_sub(OUTERMOST));
    Folded { innermost, omitted, outermost, shared, shared_with }
}

/// How many outermost frames the stack shares with an earlier access, and the number of that access. Less than two
/// are not worth a reference.
fn most_in_common(earlier: &[Access], stack: &[Frame]) -> (usize, usize) {
    let mut best = (0, 0);
    for (index, access) in earlier.iter().enumerate() {
        let pairs = stack.iter().rev().zip(access.stack.iter().rev());
        let common = pairs.take_while(|(own, other)| own == other).count();
        if common >= 2 && common > best.0 {
            best = (common, index + 1);
        }
    }
    best
}
