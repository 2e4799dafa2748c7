//! Whether a thread that has waited tests anew what it waited for. The condition of a loop need not come to all of its variables again: an
//! earlier one may tell already.

use crate::run::Run;
use crate::synchronization::{SyncEvent, SyncKind};

/// Whether the thread of a wait comes, after that and before this access, to a place where it was before it waited, since it took the lock.
pub(crate) fn tests_again(run: &Run, wait: &SyncEvent, until: usize) -> bool {
    let takes = |event: &&SyncEvent| event.thread == wait.thread && event.kind == SyncKind::Acquire;
    let earlier = run.synchronization.partition_point(|event| event.before <= wait.before);
    let earlier = run.synchronization[..earlier].iter().filter(takes);
    let taken = earlier.map(|event| event.before).filter(|&before| before < wait.before).max().unwrap_or(0);
    let own = |index: &usize| run.accesses[*index].thread == wait.thread;
    let mut after = (wait.before..until).filter(own).map(|index| run.accesses[index].site);
    after.any(|site| (taken..wait.before).filter(own).any(|earlier| run.accesses[earlier].site == site))
}
