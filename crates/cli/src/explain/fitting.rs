//! Whether advice fits the code: what recordings alone do not tell, but functions and lines do.

use localize::evidence::{Action, Fact, Fix, Span};
use localize::{Code, LocationId, ObjectId, Profile, ThreadId};
use report::{AccessKind, explanation};

use crate::names::Names;

/// Does the thread come to its act after its look, in the function that encloses both? Otherwise the look was made in an
/// earlier round of a loop, or at the same place in an earlier call, and the two may have nothing to do with each other.
pub fn looks_then_acts(
    fix: &Fix,
    described: &report::Finding,
    profile: &Profile,
    code: &Code,
    names: &mut Names,
) -> bool {
    let Some(look) = fix.further else { return false };
    let act = &described.accesses[1];
    let look = names.access(&profile.run.accesses[look], act.thread, profile, code);
    let place = |access: &report::Access| (access.file.clone(), access.line, access.function.clone());
    place(&look) != place(act) && explanation::comes_first(&look, act)
}

/// Is a reader that is said to have found what is not ready yet led to it by what it saw? If it comes to the use before the look in the function that
/// encloses both, the look was made in an earlier round, and has not announced anything.
pub fn is_led_there(fix: &Fix, described: &report::Finding) -> bool {
    match described.accesses.as_slice() {
        [_, seen, used, _] if fix.action == Action::PublishLater => !explanation::comes_first(used, seen),
        _ => true,
    }
}

/// What a destructor writes before another thread still uses the object: what is destroyed when the process ends has no other place for waiting than another object's
/// destructor, which comes later if that was constructed first.
pub fn outlived(described: &report::Finding, facts: &[Fact]) -> Option<Fix> {
    let [written, used] = described.accesses.as_slice() else { return None };
    let own = explanation::own_frame(&written.stack)?;
    let is_destructor =
        |frame: &report::Frame| frame.function.as_ref().is_some_and(|name| name.contains('~'));
    if written.kind == AccessKind::Read || !is_destructor(own) || used.stack.iter().any(is_destructor) {
        return None;
    }
    let at_exit = written.stack.last() == Some(own);
    let action = if at_exit {
        Action::ConstructFirst
    } else if facts.contains(&Fact::NotJoined { creator: 0, running: 1 }) {
        Action::Join
    } else {
        return None;
    };
    let spans = [0, 1].map(|place| Span { from: place, to: place }).to_vec();
    Some(Fix::plain(action, Vec::new(), spans))
}

/// Accesses of a finding to the word of a lock, which are attempts to have it without waiting: no lock guards a lock.
pub struct Attempts {
    lock: ObjectId,
    /// Each by its place in the finding, with its thread and kind.
    steps: Vec<(usize, ThreadId, localize::AccessKind)>,
}

impl Attempts {
    /// Those to the lock that comes first among accesses, given by their global index.
    pub fn among(accesses: &[usize], profile: &Profile) -> Option<Self> {
        let access = |&index: &usize| &profile.run.accesses[index];
        let tried = profile.run.locksets.iter().flatten().filter(|lock| lock.tried);
        let words: Vec<(u64, ObjectId)> =
            tried.map(|lock| (profile.objects[lock.object.0 as usize].address, lock.object)).collect();
        let lock_at = |at: LocationId| {
            let address = profile.locations[at.0 as usize].address;
            words.iter().find(|(word, _)| *word == address).map(|&(_, lock)| lock)
        };
        let (word, lock) =
            accesses.iter().map(access).find_map(|one| Some((one.location, lock_at(one.location)?)))?;
        let is_attempt = |(_, one): &(usize, &localize::Access)| one.location == word;
        let steps = accesses.iter().map(access).enumerate().filter(is_attempt);
        Some(Self { lock, steps: steps.map(|(place, one)| (place, one.thread, one.kind)).collect() })
    }

    /// One in vain, before another thread gives the lock back.
    pub fn left_to_holder(self) -> Option<Fix> {
        use localize::AccessKind::{Read, Write};
        let [(attempt, one, Read), (unlock, other, Write)] = self.steps[..] else { return None };
        let spans = [unlock, attempt].map(|place| Span { from: place, to: place });
        (one != other).then(|| Fix::plain(Action::LookAfterUnlock, vec![self.lock], spans.to_vec()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Thread, kind, and functions with their lines from the innermost one on.
    type Deed<'a> = (u32, &'a str, &'a [(&'a str, u32)]);

    fn frame(function: &str, line: u32) -> serde_json::Value {
        serde_json::json!({ "function": function, "file": "a.cpp", "line": line, "column": null })
    }

    fn finding(accesses: &[Deed]) -> report::Finding {
        let access = |&(thread, kind, stack): &Deed| {
            let frames: Vec<_> = stack.iter().map(|&(function, line)| frame(function, line)).collect();
            serde_json::json!({
                "thread": thread, "kind": kind, "variable": "v", "function": stack[0].0, "file": "a.cpp",
                "line": stack[0].1, "column": null, "stack": frames,
            })
        };
        let accesses: Vec<_> = accesses.iter().map(access).collect();
        let finding = serde_json::json!({
            "rank": 1, "tied": 1, "score": 1.0, "why": [], "failed": 1, "passed": 0, "kind": "order-violation",
            "pattern": "WR", "pattern_id": "P2", "accesses": accesses, "threads": [], "suspicious_functions": [],
            "cluster": 1, "failing_runs": [], "evidence": [], "advice": "", "fix": null, "story": "",
            "comparison": null, "confirmation": null,
        });
        serde_json::from_value(finding).expect("all that a finding has to have")
    }

    #[test]
    fn who_outlives_an_object_is_waited_for_before_it_is_destroyed() {
        let running = [Fact::NotJoined { creator: 0, running: 1 }];
        let use_ = (2, "read", &[("Statistics::add(long)", 21), ("Collector::work()", 79)][..]);
        let action = |stack: &[(&str, u32)], facts: &[Fact]| {
            outlived(&finding(&[(1, "write", stack), use_]), facts).map(|fix| fix.action)
        };
        let [destroyed, called] = [("Statistics::~Statistics()", 31), ("main", 100)];
        assert_eq!(action(&[destroyed], &running), Some(Action::ConstructFirst), "when the process ends");
        assert_eq!(action(&[destroyed, called], &running), Some(Action::Join));
        assert_eq!(action(&[destroyed, called], &[]), None);
        assert_eq!(action(&[("Statistics::close()", 31), called], &running), None);
    }

    #[test]
    fn what_is_left_to_the_holder_of_a_lock_is_looked_for_again() {
        use localize::AccessKind::{Read, Update, Write};
        let fix = |steps: [(usize, u32, localize::AccessKind); 2]| {
            let steps = steps.map(|(place, thread, kind)| (place, ThreadId(thread), kind)).to_vec();
            Attempts { lock: ObjectId(7), steps }.left_to_holder()
        };
        let left = fix([(2, 2, Read), (3, 1, Write)]).expect("it was found taken");
        let spans = [3, 2].map(|place| Span { from: place, to: place });
        assert_eq!(
            (left.action, left.locks, left.spans),
            (Action::LookAfterUnlock, vec![ObjectId(7)], spans.to_vec())
        );
        assert_eq!(fix([(2, 2, Update), (3, 1, Write)]), None);
    }

    #[test]
    fn what_was_seen_in_an_earlier_round_announces_nothing() {
        let led = |seen: u32, used: u32| {
            let reader = |line| [("total_bytes", line), ("main", 110)];
            let accesses = [
                (1, "write", &[("count", 76)][..]),
                (2, "read", &reader(seen)[..]),
                (2, "read", &reader(used)[..]),
                (1, "write", &[("fold", 52)][..]),
            ];
            let spans = [0, 3].map(|place| Span { from: place, to: place }).to_vec();
            let fix = Fix { action: Action::PublishLater, spans, ..example() };
            is_led_there(&fix, &finding(&accesses))
        };
        assert!(led(84, 87));
        assert!(!led(87, 84));
    }

    fn example() -> Fix {
        let accesses: &[Deed] = &[(1, "write", &[("A::~A()", 3)]), (2, "read", &[("A::add()", 9)])];
        outlived(&finding(accesses), &[]).expect("it is destroyed when the process ends")
    }
}
