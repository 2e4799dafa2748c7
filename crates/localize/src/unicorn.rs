//! Unicorn: patterns on one and on two variables, put together from conflicting pairs.
//!
//! Sangmin Park: *Effective Fault Localization Techniques for Concurrent Software* (thesis, Georgia Institute
//! of Technology, 2014), chapter 4, Algorithm 2.
//!
//! **Finds** all rows of the table in `pattern.rs`. Step 1: each slot that leaves its window (see `window.rs`)
//! forms a pair with each later slot that it conflicts with; these are P1–P3. Step 2: the pairs are sorted by
//! their first access, and each is combined with the next few. Two pairs that run between the same two threads
//! in opposite directions make a triple (P4–P8) if the second begins with the access that ends the first, and
//! may make a quadruple (P9–P20) if they are on different variables and not too far apart.
//!
//! **Misses** patterns of three variables or three threads; pairs wider than the window; pairs on two variables
//! further apart in the sorted list than the distance; reads that follow a write of the same turn.
//!
//! Deviations, with why:
//!
//! 1. Those of the window.
//! 2. Rows that are the same partial order count as one pattern (see [`Pattern`](crate::Pattern)): which of
//!    two unordered accesses came first is chance, and would split the evidence. An example has its own row.
//! 3. Pairs with the same first access are sorted by their second, which the thesis leaves open.
//! 4. The distance limits quadruples only. A triple's pairs share an access, so that finding them costs nothing
//!    however far apart they are, and a thread that is held up for long between its two accesses is just what
//!    an atomicity violation looks like.
//! 5. The two accesses of a thread in a quadruple belong together: it neither does the first of them again before the second nor has
//!    done the second, a write, since the first, in another turn (see `rounds.rs`). In loops, what one thread writes first in one round and last in the next would make a quadruple
//!    with whatever another thread reads between the rounds, which is in order.
//! 6. A pattern's sites stand for its accesses, and stacks do not, as for Falcon.
//! 7. P18 to P20 are not in the thesis, which has the two pairs of a quadruple of opposite kinds: a decision on one variable, written to
//!    another, that another thread's decision on the second crosses.

mod conflicts;
mod quadruples;
mod rounds;

use std::sync::Arc;

use crate::occurrences::Occurrences;
use crate::scan::Scan;
use crate::views::Views;

use conflicts::Conflicts;

/// The patterns that a run shows.
pub(crate) fn occurrences(scan: &Scan) -> Arc<Occurrences> {
    Arc::clone(scan.unicorn())
}

/// Finds them, by way of what the run's windows show.
pub(crate) fn find(scan: &Scan) -> (Occurrences, Views) {
    let mut conflicts = Conflicts::new(&scan.histories);
    let views = Views::of(scan, |view, codes, slots| conflicts.leave(view, codes, slots));
    let mut found = Occurrences::of(scan.run);
    conflicts.add_on_one_variable(&views, &mut found);
    quadruples::combine(scan, &conflicts, &mut found);
    (found, views)
}
