//! What a library does for one call of the program's counts together.
//!
//! A channel, a map or a queue comes to another place with each way that its code can take: a message is turned down at the first look at the
//! channel's end, or at the exchange after it. For the program these are one: it sent after the other thread had hung up. Each place is seen in a part of the
//! failing runs only, and what merely goes with the failure, in the program's own code, may be seen in more of them. So pairs of one kind
//! at places of the same calls are one hypothesis, for or against which all of them speak: the best one stands for it.

use rustc_hash::FxHashMap;

use crate::pattern::Pattern;
use crate::run::{Calls, SiteId};
use crate::shape::Shape;

use super::scale::{Clue, Scale};

/// A pair at any places of the same calls, each of which is told by one of its places.
pub(super) type CalledPair = (Shape, [SiteId; 2]);

/// The pair that a pattern is if its places are taken for their calls'; nothing if it has to do with none.
fn called(calls: &Calls, pattern: &Pattern) -> Option<CalledPair> {
    let &[head, tail] = pattern.sites() else { return None };
    let known = [head, tail].map(|site| calls.get(&site).copied());
    let sites = [known[0].unwrap_or(head), known[1].unwrap_or(tail)];
    known.iter().any(Option::is_some).then(|| (pattern.shape(), sites))
}

/// Has the best pair at places of the same calls count for all of them, if these explain more together.
pub(super) fn count_together(clues: &mut [Clue], scale: &Scale) {
    let evidence = scale.evidence;
    if evidence.calls.is_empty() {
        return;
    }
    let mut runs: FxHashMap<CalledPair, (Vec<u64>, usize)> = FxHashMap::default();
    for (pattern, seen) in evidence.clues.iter().filter(|(_, seen)| seen.is_clue) {
        if let Some(pair) = called(&evidence.calls, pattern) {
            let (union, members) = runs.entry(pair).or_default();
            union.resize(union.len().max(seen.runs.len()), 0);
            union.iter_mut().zip(&seen.runs).for_each(|(union, runs)| *union |= runs);
            *members += 1;
        }
    }
    runs.retain(|_, (_, members)| *members > 1);
    let mut best: FxHashMap<CalledPair, &mut Clue> = FxHashMap::default();
    for clue in clues.iter_mut() {
        let Some(pair) = called(&evidence.calls, &clue.pattern).filter(|pair| runs.contains_key(pair)) else {
            continue;
        };
        let is_better = |other: &&mut Clue| {
            clue.weight.total_cmp(&other.weight).then(other.pattern.cmp(&clue.pattern)).is_gt()
        };
        if best.get(&pair).is_none_or(is_better) {
            best.insert(pair, clue);
        }
    }
    runs.retain(|pair, (union, _)| {
        let Some(clue) = best.get_mut(pair) else { return false };
        let more = scale.evidence_of(union) - scale.evidence_of(clue.runs());
        clue.weight += more.max(0.0);
        more > 0.0
    });
    for clue in clues {
        let pair = called(&evidence.calls, &clue.pattern);
        clue.calls = pair.and_then(|pair| Some((pair, runs.get(&pair)?.0.clone())));
    }
}
