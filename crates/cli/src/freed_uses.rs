//! Uses of freed memory.
//!
//! Memory looks as before until it is handed out again, so that many a run which uses it after another thread has freed it goes well.
//! Such a test is wrong all the same, and whoever waits for it to fail should know where.

use std::collections::{BTreeSet, HashMap};

use localize::{Access, LocationId, StackId};

/// Where another thread than the one that freed it uses a location, and where that one did; each two places once.
pub fn of(accesses: &[Access]) -> BTreeSet<[StackId; 2]> {
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
