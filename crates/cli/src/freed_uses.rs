//! Uses of freed memory in runs that pass.
//!
//! Memory looks as before until it is handed out again, so that many a run which uses it after another thread has freed it goes well.
//! Such a test is wrong all the same, and whoever waits for it to fail should know.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use localize::{Access, Code, LocationId, Outcome, Profile, RunId, StackId};

use crate::names::Names;

/// Gathers uses of freed memory, run by run. What looks the same in words is the same.
#[derive(Default)]
pub struct FreedUses {
    seen: BTreeMap<String, BTreeSet<RunId>>,
}

impl FreedUses {
    /// Looks at one more run.
    pub fn observe(&mut self, profile: &Profile, code: &Code, names: &mut Names) {
        if profile.run.outcome != Outcome::Pass {
            return;
        }
        for [free, used] in uses(&profile.run.accesses) {
            let mut place = |stack: StackId| {
                let function = names.own_frame(stack, code)?.function?;
                Some(format!("{function}() at {}", names.place_of(stack, code)))
            };
            // What has no source, nobody can look at.
            let Some((free, used)) = place(free).zip(place(used)) else { continue };
            let said = format!("{used} uses memory that another thread has freed in {free}");
            self.seen.entry(said).or_default().insert(profile.run.id);
        }
    }

    /// The use that most runs show.
    pub fn into_sentence(self) -> Option<String> {
        let (said, runs) =
            self.seen.into_iter().max_by_key(|(said, runs)| (runs.len(), std::cmp::Reverse(said.clone())))?;
        let runs = if runs.len() == 1 {
            "a run that passes".to_owned()
        } else {
            format!("{} runs that pass", runs.len())
        };
        Some(format!(
            "in {runs}, {said}: it looks as before until it is handed out again; MALLOC_PERTURB_=165 in the environment has \
             the C library overwrite it at once"
        ))
    }
}

/// Where another thread than the one that freed it uses a location, and where that one did; each two places once.
fn uses(accesses: &[Access]) -> BTreeSet<[StackId; 2]> {
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
        assert_eq!(uses(&[access(2, 0, 5), free, used, used]), [[StackId(10), StackId(20)]].into());
        assert_eq!(uses(&[free, access(2, 1, 20)]), [].into(), "another location");
        assert_eq!(uses(&[free, access(1, 0, 20)]), [].into(), "no matter of threads");
        assert_eq!(uses(&[free, Access { uncertain: true, ..used }]), [].into(), "perhaps it came before");
        assert_eq!(uses(&[Access { uncertain: true, ..free }, used]), [].into(), "perhaps it came before");
    }
}
