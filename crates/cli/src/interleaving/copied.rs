//! Calls that a compiler has copied, by unrolling a loop for instance. A step is told by where its function was called, so that it
//! stays apart from others at the same place; but of copies of one call, the step of an example is one of many, and to force or forbid
//! it there alone would be about one round of the loop. Copies are told as those of accesses are (`names/copies.rs`).

use std::collections::BTreeSet;

use localize::{Access, Code, Run, SiteId};
use recording::{Interleaving, InterleavingStep};

use crate::names::Names;

/// The addresses of calls that led to some of a run's accesses and are copied: others like them led to the same places.
pub fn calls(accesses: &[usize], run: &Run, code: &Code, names: &mut Names) -> BTreeSet<u64> {
    let call = |access: &Access| match *code.stack(access.stack) {
        [site, caller, ..] => Some((site, caller)),
        _ => None,
    };
    let own: BTreeSet<(SiteId, SiteId)> =
        accesses.iter().filter_map(|&index| call(&run.accesses[index])).collect();
    let all: BTreeSet<(SiteId, SiteId)> = run.accesses.iter().filter_map(call).collect();
    let mut copied = BTreeSet::new();
    for (site, caller) in own {
        let others = all.range((site, SiteId(0))..).take_while(|(other, _)| *other == site);
        let original = names.original(caller, code);
        if others
            .filter(|(_, other)| *other != caller)
            .any(|(_, other)| names.original(*other, code) == original)
        {
            copied.insert(code.site(caller).address);
        }
    }
    copied
}

/// The same steps, wherever their functions are called, if that is in one of these copies.
pub fn wherever_called(interleaving: Interleaving, copied: &BTreeSet<u64>) -> Interleaving {
    let step = |step: &InterleavingStep| InterleavingStep {
        caller: if copied.contains(&step.caller) { 0 } else { step.caller },
        ..*step
    };
    let steps: Vec<InterleavingStep> = interleaving.steps().iter().map(step).collect();
    let orders: Vec<(usize, usize)> = interleaving.orders().collect();
    let loosened = Interleaving::new(interleaving.treatment, &steps).and_then(|new| new.with_orders(&orders));
    loosened.unwrap_or(interleaving)
}
