//! Counts of references that nobody looks at.
//!
//! Threads count their references in and out as they come and go. As long as the thread that made the first keeps one, no other can be the
//! last, and who counts before whom changes nothing; but it tells which thread was done first, so that it goes with failing where that does.

use std::collections::HashMap;

use localize::{Access, AccessKind, Code, Profile, StackId, ThreadId};
use report::Frame;

use super::Names;

/// What calls do to the count of an `Arc`, by the calls.
pub type Countings = HashMap<StackId, Counting>;

/// What an access does to the count of an `Arc`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counting {
    /// The first reference is made.
    Made,
    /// One more.
    In,
    /// One less.
    Out,
    /// Something else: it looks at the count, or has nothing to do with one.
    Other,
}

impl Names {
    /// For each location of a run: is it the count of an `Arc` that threads count themselves in and out at, and no more?
    pub fn mere_counts(&mut self, profile: &Profile, code: &Code) -> Vec<bool> {
        let mut counts: Vec<Option<Count>> = vec![Some(Count::default()); profile.locations.len()];
        for access in &profile.run.accesses {
            let count = &mut counts[access.location.0 as usize];
            if let Some(before) = *count {
                let counting = match before.owner {
                    None if access.kind == AccessKind::Write => Counting::Made,
                    _ => self.counting(access.stack, code),
                };
                *count = before.after(access, counting);
            }
        }
        counts.into_iter().map(|count| count.is_some_and(|count| count.is_counted)).collect()
    }

    fn counting(&mut self, stack: StackId, code: &Code) -> Counting {
        if let Some(&known) = self.countings.get(&stack) {
            return known;
        }
        let counting = counting_of(&self.stack(code.stack(stack), code));
        self.countings.insert(stack, counting);
        counting
    }
}

/// What these calls, innermost first, do to the count of an `Arc`: as the function of it says that the program calls.
fn counting_of(calls: &[Frame]) -> Counting {
    let of_arc = calls.iter().take_while(|frame| frame.is_of_rust()).filter(|frame| frame.is_of_arc());
    match of_arc.last().and_then(|frame| frame.function.as_deref()) {
        Some("Arc::new") => Counting::Made,
        Some("Arc::clone" | "Arc::downgrade" | "Weak::clone") => Counting::In,
        Some("Arc::drop" | "Weak::drop") => Counting::Out,
        _ => Counting::Other,
    }
}

/// A count as far as a run has come.
#[derive(Clone, Copy, Default)]
struct Count {
    /// Who accessed it first.
    owner: Option<ThreadId>,
    /// What it is, where that is known.
    references: Option<u64>,
    /// Somebody has counted.
    is_counted: bool,
}

impl Count {
    /// The same after an access; none if it is more than counting, or another thread than the owner may have been the last.
    fn after(self, access: &Access, counting: Counting) -> Option<Self> {
        let owner = self.owner.unwrap_or(access.thread);
        let changed = access.kind.writes();
        let references = match (access.value, counting) {
            (_, Counting::Other) => return None,
            (Some(value), _) => Some(value),
            (None, Counting::Made) => None,
            (None, _) if !changed => self.references,
            (None, Counting::In) => self.references.map(|references| references + 1),
            (None, Counting::Out) => self.references.and_then(|references| references.checked_sub(1)),
        };
        let may_be_last = counting == Counting::Out && changed && references.is_none_or(|left| left == 0);
        if access.frees || may_be_last && access.thread != owner {
            return None;
        }
        let is_counted = self.is_counted || counting != Counting::Made;
        Some(Self { owner: Some(owner), references, is_counted })
    }
}

#[cfg(test)]
mod tests {
    use localize::{LocationId, SiteId};

    use super::*;

    fn access(thread: u32, kind: AccessKind, value: Option<u64>) -> Access {
        Access {
            thread: ThreadId(thread),
            location: LocationId(0),
            site: SiteId(0),
            stack: StackId(0),
            kind,
            uncertain: false,
            value,
            before: None,
            locks: None,
            iteration: None,
            atomic: kind == AccessKind::Update,
            frees: false,
        }
    }

    /// Is a count that threads change in this way no more than a count?
    fn is_mere(steps: &[(u32, Counting, Option<u64>)]) -> bool {
        let mut count = Some(Count::default());
        for &(thread, counting, value) in steps {
            let kind = if counting == Counting::Made { AccessKind::Write } else { AccessKind::Update };
            count = count.and_then(|count| count.after(&access(thread, kind, value), counting));
        }
        count.is_some_and(|count| count.is_counted)
    }

    #[test]
    fn who_keeps_the_first_reference_makes_the_others_mere_counts() {
        use Counting::*;
        let begun = [(1, Made, Some(1)), (1, In, Some(2)), (1, In, Some(3))];
        let with = |more: &[(u32, Counting, Option<u64>)]| is_mere(&[&begun, more].concat());
        assert!(with(&[(2, Out, Some(2)), (3, Out, None)]), "the owner's is left");
        assert!(with(&[(2, Out, None), (3, Out, None), (1, Out, None)]), "the owner is the last");
        assert!(!with(&[(1, Out, None), (2, Out, None), (3, Out, None)]), "another is");
        assert!(!with(&[(2, Out, Some(2)), (3, Other, Some(2))]), "somebody looks at it");
        assert!(!is_mere(&[(1, Made, None), (2, Out, None)]), "how many there are is not known");
        assert!(!is_mere(&begun[..1]), "nobody has counted");
    }

    #[test]
    fn what_is_done_to_a_count_is_known_by_the_calls() {
        let call = |function: &str, file: &str| Frame {
            function: Some(function.to_owned()),
            file: Some(file.to_owned()),
            line: Some(1),
            ..Frame::default()
        };
        let [atomics, arc] =
            ["core/src/sync/atomic.rs", "alloc/src/sync.rs"].map(|file| format!("/rustc/1f2/library/{file}"));
        let counted = |function: &str| {
            counting_of(&[
                call("AtomicUsize::fetch_sub", &atomics),
                call(function, &arc),
                call("serve", "a.rs"),
            ])
        };
        assert_eq!(counted("Arc::drop"), Counting::Out);
        assert_eq!(counted("Arc::clone"), Counting::In);
        assert_eq!(counted("Arc::strong_count"), Counting::Other);
        let own = call("Arc::drop", "src/arc.rs");
        assert_eq!(counting_of(&[call("AtomicUsize::fetch_sub", &atomics), own]), Counting::Other);
        let calls = |function: &str| counting_of(&[call("Weak::drop", &arc), call(function, &arc)]);
        assert_eq!(calls("Arc::try_unwrap"), Counting::Other);
        assert_eq!(calls("Arc::drop"), Counting::Out);
    }
}
