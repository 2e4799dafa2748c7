//! Where threads slept, and what they waited for when the run ended.

use recording::{EventKind, ThreadEvent};

use super::ProcessReader;
use crate::run::{LocksetId, ThreadId};
use crate::synchronization::{Holding, Sleep, SyncKind, SyncTarget, Wait};

impl ProcessReader<'_> {
    pub(super) fn sleep(&mut self, event: &ThreadEvent) {
        if self.is_thread(event.actor()) {
            let thread = ThreadId(self.first_thread + event.actor());
            let (stack, nanoseconds) = (self.leaf(event.event.leaf).1, event.event.value);
            let run = &mut self.profile.run;
            let (before, synchronized) = (run.accesses.len(), run.synchronization.len());
            run.sleeps.push(Sleep { before, synchronized, thread, nanoseconds, stack });
        }
    }

    /// What the threads held and waited for at the end.
    pub(super) fn waits(&mut self) {
        for (id, record) in self.recording.threads.iter().enumerate() {
            if let Some(&locks) = self.locksets.get(&record.locks) {
                let thread = ThreadId(self.first_thread + id as u32);
                self.profile.run.holdings.push(Holding { thread, locks });
            }
            let kind = u8::try_from(record.waits_in).ok().and_then(EventKind::from_number);
            let Some(kind) = kind.and_then(SyncKind::of) else { continue };
            if record.ended != 0 || record.waits_for == 0 {
                continue;
            }
            let target = if kind.concerns_thread() {
                let Some(other) = u32::try_from(record.waits_for).ok().filter(|&id| self.is_thread(id))
                else {
                    continue;
                };
                SyncTarget::Thread(ThreadId(self.first_thread + other))
            } else {
                SyncTarget::Object(self.object_at(record.waits_for))
            };
            let (site, stack) = self.leaf(record.waits_at);
            let locks = self.locksets.get(&record.locks).copied().unwrap_or(LocksetId(0));
            let thread = ThreadId(self.first_thread + id as u32);
            self.profile.run.waits.push(Wait { thread, kind, target, site, stack, locks });
        }
    }
}
