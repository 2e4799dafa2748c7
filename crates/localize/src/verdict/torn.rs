//! Two variables that belong together are torn apart in two ways: one thread reads both while another has written one of them, or one
//! thread writes both while another has read one of them.
//!
//! Which of the two it is, is chance: the same two stretches of code cross, and each way is seen in a part of the failing runs only, so that an
//! order of one variable, which is half of both, may be seen in more. That the two stretches cross is one hypothesis: the best clue stands for it,
//! if it is one of the ways in which that happens and no rare accident beside them.

use std::collections::BTreeMap;

use crate::pattern::Pattern;
use crate::run::{AccessKind, SiteId};
use crate::shape::Shape;

use super::evidence::Seen;
use super::scale::{Clue, Scale};

/// Where one thread writes two variables and where the other reads them, in ascending order.
pub(super) type Torn = [SiteId; Shape::MAX_STEPS];

/// A way that stands for all of them is seen in this part of the failing runs that show any.
const LEAST_SHARE: u32 = 4;

/// What a pattern tears apart, if it is of this kind.
pub(super) fn torn(pattern: &Pattern) -> Option<Torn> {
    let mut sites: Torn = pattern.sites().try_into().ok()?;
    let does = |kind: AccessKind, thread: u8| {
        pattern.shape().steps().all(|step| (step.thread == thread) == (step.kind == kind))
    };
    sites.sort_unstable();
    let is_torn = does(AccessKind::Read, 1) || does(AccessKind::Read, 2);
    is_torn.then_some(sites)
}

/// The runs, as bits, that show either of the ways, of all that is torn apart in several.
pub(super) fn both_ways<'e>(all: impl Iterator<Item = (&'e Pattern, &'e Seen)>) -> BTreeMap<Torn, Vec<u64>> {
    let mut known: BTreeMap<Torn, (u32, Vec<u64>)> = BTreeMap::new();
    for (pattern, seen) in all {
        let Some(torn) = torn(pattern) else { continue };
        let (ways, union) = known.entry(torn).or_default();
        *ways += 1;
        union.resize(union.len().max(seen.runs.len()), 0);
        union.iter_mut().zip(&seen.runs).for_each(|(union, runs)| *union |= runs);
    }
    known.into_iter().filter(|(_, (ways, _))| *ways > 1).map(|(torn, (_, union))| (torn, union)).collect()
}

/// Whether a way that some failing runs show is one of those in which it happens, if so many show any of them.
fn stands_for(failed: u32, any: u32) -> bool {
    failed * LEAST_SHARE >= any
}

/// Has the best clue of each kind count for both ways, if these explain more together.
pub(super) fn count_together(clues: &mut [Clue], scale: &Scale) {
    let mut best: BTreeMap<Torn, &mut Clue> = BTreeMap::new();
    for clue in &mut *clues {
        let Some(torn) = torn(&clue.pattern) else { continue };
        let is_better = |other: &&mut Clue| {
            clue.weight.total_cmp(&other.weight).then(other.pattern.cmp(&clue.pattern)).is_gt()
        };
        if best.get(&torn).is_none_or(is_better) {
            best.insert(torn, clue);
        }
    }
    for (torn, clue) in best {
        let Some(union) = scale.both_ways.get(&torn) else { continue };
        let [failed, _] = scale.evidence.outcomes(union);
        if !stands_for(clue.seen.failed, failed) {
            continue;
        }
        let more = scale.evidence_of(union) - scale.evidence_of(clue.runs());
        if more > 0.0 {
            clue.weight += more;
            clue.region = Some(union.clone());
            clue.is_torn = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_accident_does_not_stand_for_what_happens_otherwise() {
        assert!(stands_for(6, 13) && stands_for(4, 13) && stands_for(1, 1));
        assert!(!stands_for(1, 13) && !stands_for(3, 13));
    }
}
