//! Code that passing runs never come to is run because of what failing runs did before, and nothing that they did after that is the reason.
//!
//! Such code tells failing from passing runs as well as its cause does, or better, if that does no harm now and then: it goes behind
//! whatever explains all failing runs, or else most of them, since what it follows from may show itself in several ways. But what comes about
//! only after it, in the very run that is the example of both, is no cause of it: it goes behind in turn, if it explains no more.

use super::causes::Cause;

/// How much (as logarithm) less probable all that follows from a cause is than the cause itself.
const BEHIND: f64 = 1.0;

/// Puts new code behind what it may follow from, and what comes after new code behind that.
pub(super) fn put_in_order(all_failed: u32, causes: &mut [Cause]) {
    let followers: Vec<(usize, Source)> = (0..causes.len())
        .filter(|&new| causes[new].is_new_code)
        .filter_map(|new| source_of(&causes[new], all_failed, causes).map(|source| (new, source)))
        .filter(|(new, source)| causes[*new].weight > source.weight - BEHIND)
        .collect();
    let behind = BEHIND + (followers.len() as f64).ln();
    for (new, source) in followers {
        causes[new].weight = source.weight - behind;
        // Its cause is known; where that explains a part only, it may as well be another one.
        causes[new].as_effect = causes[new].as_effect.filter(|_| !source.explains_all);
    }
    for later in 0..causes.len() {
        let comes_before = |new: &&Cause| new.is_new_code && has_come_before(new, &causes[later]);
        let before = causes.iter().filter(comes_before).map(|new| new.weight).reduce(f64::max);
        if let Some(weight) = before.filter(|_| is_common(&causes[later])) {
            causes[later].weight = causes[later].weight.min(weight - BEHIND);
        }
    }
}

/// What new code may follow from.
struct Source {
    weight: f64,
    explains_all: bool,
}

fn source_of(new: &Cause, all_failed: u32, causes: &[Cause]) -> Option<Source> {
    let best_of = |least: u32| {
        let explains = |cause: &&Cause| {
            let may_be_cause = is_common(cause) && !has_come_before(new, cause);
            may_be_cause && cause.explained >= least && cause.weight > 0.0
        };
        causes.iter().filter(explains).map(|cause| cause.weight).reduce(f64::max)
    };
    let source = |explains_all| move |weight| Source { weight, explains_all };
    best_of(all_failed).map(source(true)).or_else(|| best_of(all_failed.div_ceil(2)).map(source(false)))
}

fn is_common(cause: &Cause) -> bool {
    !cause.is_new_code && cause.as_effect.is_none() && cause.standstill.is_none()
}

/// Whether new code was run before another cause had made its difference, and explains as many failing runs.
fn has_come_before(new: &Cause, other: &Cause) -> bool {
    let (Some(run), Some(felt)) = (new.felt, other.felt) else { return false };
    new.finding.example.run == other.finding.example.run && run < felt && new.explained >= other.explained
}
