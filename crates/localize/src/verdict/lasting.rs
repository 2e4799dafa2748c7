//! Outdated looks whose outcome lasts.
//!
//! A thread looks, another one writes, and the first one writes on what it saw: where the variable is written once more, as in every round of a
//! test but the last, that is often made good. A lower bid overwrites a higher one, and the next bid both. Passing runs then show the
//! same as failing ones, and what tells them apart is whether it was the last write of all.

use crate::histories::{Entry, Spot};
use crate::occurrences::Occurrence;
use crate::pattern::{Pattern, PatternId};
use crate::run::AccessKind;
use crate::scan::Scan;

/// Each different triple that begins with such a look and ends with the last write to its variable, or with the read right before that.
pub(super) fn lasting(scan: &Scan) -> Vec<(Pattern, Occurrence)> {
    let histories = &scan.histories;
    let is_to_the_end = |stretch: &&[Spot]| {
        let last = stretch.last().map(|spot| histories.around(spot.index).1.len());
        last == Some(1)
    };
    let mut found: Vec<(Pattern, Occurrence)> = Vec::new();
    for stretch in histories.stretches().filter(is_to_the_end) {
        let Some(triple) = last_triple(stretch, |spot| histories.entry(spot)) else { continue };
        let kinds = triple.map(|access| access.kind.as_written());
        let Some(id) = PatternId::triple(kinds[0], kinds[1], kinds[2]) else { continue };
        let pattern = Pattern::new(id, &triple.map(|access| access.site));
        found.push((pattern, Occurrence::new(id, &triple.map(|access| access.index))));
    }
    found.sort_unstable_by_key(|(pattern, occurrence)| (*pattern, occurrence.accesses()[2]));
    found.dedup_by_key(|(pattern, _)| *pattern);
    found
}

/// A thread's read, the last write but one, which is another's, and what the thread does next, up to the last write, which is its own.
fn last_triple(history: &[Spot], entry: impl Fn(Spot) -> Entry) -> Option<[Entry; 3]> {
    let writes = |spot: &Spot| spot.code.kind().writes();
    let last = history.iter().rposition(writes)?;
    let before = history[..last].iter().rposition(writes)?;
    let [thread, middle] = [last, before].map(|place| entry(history[place]));
    let is_own = |access: &Entry| access.thread == thread.thread;
    let first = history[..before].iter().rev().map(|&spot| entry(spot)).find(is_own)?;
    let third = history[before + 1..=last].iter().map(|&spot| entry(spot)).find(is_own)?;
    (!is_own(&middle) && first.kind == AccessKind::Read).then_some([first, middle, third])
}
