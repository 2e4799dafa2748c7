//! A thread that slept where it should have waited for another.

use rustc_hash::FxHashSet;

use super::facts::Witness;
use crate::run::LocationId;
use crate::synchronization::{SyncEvent, SyncKind};

/// Who sleeps for less, in nanoseconds, means to give way rather than to let another thread finish.
const SHORTEST: u64 = 1_000_000;

/// What a thread has waited for when it comes out of these.
const WAITS: [SyncKind; 4] = [SyncKind::WaitEnd, SyncKind::Lower, SyncKind::Leave, SyncKind::Join];

/// The sleep after which the first of two accesses came, too early all the same, by its place in the run's sleeps. The
/// thread of the second access was there already when it began, and nothing that the first thread did since could have been
/// its way to wait: it neither waited for anything, nor looked at something atomic or at what it had looked at before.
pub(super) fn sleep_before(witness: &Witness<'_>, first: usize, second: usize) -> Option<usize> {
    let run = witness.run;
    let [early, late] = [first, second].map(|index| run.accesses[index].thread);
    let is_its = |place: &usize| run.sleeps[*place].thread == early && run.sleeps[*place].before <= first;
    let place = (0..run.sleeps.len()).rev().find(is_its)?;
    let sleep = run.sleeps[place];
    let (begun, was_there) = match witness.creation_of(late) {
        Some(creation) => (run.synchronization[creation].before, creation < sleep.synchronized),
        None => (witness.begin_of(late), witness.begin_of(late) <= sleep.before),
    };
    if sleep.nanoseconds < SHORTEST || !was_there {
        return None;
    }
    let waits = |event: &SyncEvent| event.thread == early && WAITS.contains(&event.kind);
    let mut since =
        run.synchronization[sleep.synchronized..].iter().take_while(|event| event.before <= first);
    let own = |from: usize, to: usize| (from..to).filter(|&index| run.accesses[index].thread == early);
    let location = |index: usize| run.accesses[index].location;
    let before: FxHashSet<LocationId> = own(begun, sleep.before).map(location).collect();
    let tells = |index: usize| {
        let is_another = location(index) != location(first);
        before.contains(&location(index)) || is_another && witness.is_atomic(index)
    };
    let is_told = since.any(waits) || own(sleep.before, first + 1).any(tells);
    (!is_told).then_some(place)
}
