//! A thread that acts under a lock on what it read before it gave that lock back.

use super::facts::Witness;
use crate::run::{Access, AccessKind};
use crate::synchronization::ObjectId;

/// Accesses of one holding of a lock that are looked at.
const MOST_LOOKS: usize = 64;

/// What the thread of the second access read when it held their common lock the last time before the first one, and
/// what another thread changed under that lock before the second: the lock, and the read by its global index. What it read in an
/// earlier round of the section that it is in has nothing to do with this one, which begins anew.
pub(super) fn look_before(witness: &Witness<'_>, first: usize, second: usize) -> Option<(ObjectId, usize)> {
    let accesses = &witness.run.accesses;
    let actor = accesses[second].thread;
    let lock = common_lock(witness, first, second)?;
    let own_before = (0..first).rev().filter(|&index| accesses[index].thread == actor);
    let is_held = |access: &Access| {
        witness.run.held(access).is_some_and(|locks| locks.iter().any(|held| held.object == lock))
    };
    // One holding of the lock, as far as accesses show where it begins.
    let holding: Vec<usize> = own_before
        .skip_while(|&index| !is_held(&accesses[index]))
        .take_while(|&index| is_held(&accesses[index]))
        .take(MOST_LOOKS)
        .collect();
    // Who did the same then has come to the same code once more, wherever it was called from.
    if holding.iter().any(|&index| accesses[index].site == accesses[second].site) {
        return None;
    }
    let reads = |index: &usize| accesses[*index].kind == AccessKind::Read;
    let looks: Vec<usize> = holding.into_iter().filter(reads).collect();
    let earliest = *looks.last()?;
    let changes = (earliest..second).filter(|&index| {
        let access = &accesses[index];
        access.thread != actor && access.kind.writes() && is_held(access)
    });
    let outdated = |change: usize| {
        let is_outdated =
            |look: &usize| accesses[*look].location == accesses[change].location && *look < change;
        looks.iter().copied().find(is_outdated)
    };
    let section = |index: usize| {
        let held = witness.run.held(&accesses[index]).unwrap_or_default();
        held.iter().find(|held| held.object == lock).map(|held| held.taken_at)
    };
    let look = changes.filter_map(outdated).max()?;
    (section(look) != section(second)).then_some((lock, look))
}

/// A lock that both accesses hold, so that only one thread at a time can.
fn common_lock(witness: &Witness<'_>, first: usize, second: usize) -> Option<ObjectId> {
    let held = |index: usize| witness.run.held(&witness.run.accesses[index]);
    let others = held(second)?;
    let is_common = |object: ObjectId| others.iter().any(|other| other.object == object && !other.shared);
    held(first)?.iter().find(|lock| !lock.shared && is_common(lock.object)).map(|lock| lock.object)
}
