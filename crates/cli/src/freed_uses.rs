//! Uses of freed memory.
//!
//! Memory looks as before until it is handed out again, so that many a run which uses it after another thread has freed it goes well.
//! Such a test is wrong all the same, and whoever waits for it to fail should know where.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

use localize::{Access, Code, LocationId, Outcome, Profile, RunId, StackId};
use report::{Hang, HangKind, brief_function};

use crate::names::Names;

const ADVICE: &str = "Free it only when nobody can use it any more. It looks as before until it is handed out again, so that runs pass; \
                      MALLOC_PERTURB_=165 in the environment has the C library overwrite it at once.";

/// Gathers uses of freed memory in runs that pass, run by run. Those of failing runs are compared with these, and need no place of their own.
#[derive(Default)]
pub struct FreedUses {
    /// By where it was freed, and used, in words: the runs that show it.
    seen: BTreeMap<String, BTreeMap<String, BTreeSet<RunId>>>,
}

impl FreedUses {
    /// Looks at one more run.
    pub fn observe(&mut self, profile: &Profile, code: &Code, names: &mut Names) {
        if profile.run.outcome != Outcome::Pass {
            return;
        }
        for [free, used] in of(&profile.run.accesses) {
            let mut place = |stack: StackId| {
                let function = names.own_frame(stack, code)?.function?;
                Some(format!("{} at {}", brief_function(&function), names.place_of(stack, code)))
            };
            // What has no source, nobody can look at.
            let Some((free, used)) = place(free).zip(place(used)) else { continue };
            self.seen.entry(free).or_default().entry(used).or_default().insert(profile.run.id);
        }
    }

    /// What is freed at one place is one matter, whoever uses it: what most runs show first.
    pub fn into_report(self) -> impl Iterator<Item = Hang> {
        self.seen.into_iter().map(|(free, uses)| {
            let runs = uses.values().flatten().collect::<BTreeSet<_>>().len() as u64;
            let mut uses: Vec<(String, usize)> =
                uses.into_iter().map(|(used, runs)| (used, runs.len())).collect();
            uses.sort_by_key(|(_, runs)| Reverse(*runs));
            Hang {
                kind: HangKind::UseAfterFree,
                runs,
                passed: runs,
                threads: uses.iter().map(|(used, _)| said(used, &free)).collect(),
                advice: ADVICE.to_owned(),
            }
        })
    }
}

/// What a finding tells needs no place of its own, but the finding its advice, if it has none.
pub fn leave_to_findings(hangs: &mut Vec<Hang>, findings: &mut [report::Finding]) {
    for finding in findings.iter_mut().filter(|finding| finding.passed > 0) {
        let [free, used] = finding.accesses.as_slice() else { continue };
        let Some((free, used)) = told(free).filter(|_| free.frees).zip(told(used)) else { continue };
        let is_told = |hang: &Hang| {
            hang.kind == HangKind::UseAfterFree && hang.threads.iter().any(|told| *told == said(&used, &free))
        };
        let before = hangs.len();
        hangs.retain(|hang| !is_told(hang));
        if hangs.len() < before && finding.advice.is_empty() {
            finding.advice = ADVICE.to_owned();
        }
    }
}

/// An access in the words of [`FreedUses::observe`].
fn told(access: &report::Access) -> Option<String> {
    let (function, file) = (access.function.as_deref()?, access.file.as_deref()?);
    let file = Path::new(file).file_name()?.to_string_lossy();
    Some(format!("{} at {file}:{}", brief_function(function), access.line?))
}

fn said(used: &str, free: &str) -> String {
    format!("{used} uses memory that another thread has freed in {free}")
}

/// Where another thread than the one that freed it uses a location, and where that one did; each two places once.
fn of(accesses: &[Access]) -> BTreeSet<[StackId; 2]> {
    let mut freed: HashMap<LocationId, &Access> = HashMap::new();
    let mut uses = BTreeSet::new();
    for access in accesses {
        if access.frees {
            freed.insert(access.location, access);
        } else if let Some(free) = freed.get(&access.location)
            && free.thread != access.thread
            // Where it is a guess which of two came first, nobody should be alarmed.
            && !free.uncertain
            && !access.uncertain
        {
            uses.insert([free.stack, access.stack]);
        }
    }
    uses
}

#[cfg(test)]
mod tests {
    use super::*;
    use localize::{AccessKind, LocksetId, SiteId, ThreadId};

    fn access(thread: u32, location: u32, stack: u32) -> Access {
        Access {
            thread: ThreadId(thread),
            location: LocationId(location),
            site: SiteId(stack),
            stack: StackId(stack),
            kind: AccessKind::Read,
            uncertain: false,
            value: None,
            before: None,
            locks: Some(LocksetId(0)),
            iteration: None,
            atomic: false,
            frees: false,
        }
    }

    #[test]
    fn what_another_thread_uses_after_the_free_is_told_once() {
        let free = Access { kind: AccessKind::Write, frees: true, ..access(1, 0, 10) };
        let used = access(2, 0, 20);
        assert_eq!(of(&[access(2, 0, 5), free, used, used]), [[StackId(10), StackId(20)]].into());
        assert_eq!(of(&[free, access(2, 1, 20)]), [].into(), "another location");
        assert_eq!(of(&[free, access(1, 0, 20)]), [].into(), "no matter of threads");
        assert_eq!(of(&[free, Access { uncertain: true, ..used }]), [].into(), "perhaps it came before");
        assert_eq!(of(&[Access { uncertain: true, ..free }, used]), [].into(), "perhaps it came before");
    }
}
