//! Who ran when, in a controlled run.

use recording::ThreadEvent;

use super::ProcessReader;
use crate::run::{StackId, ThreadId};

/// One thread stops and another goes on, in a controlled run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TokenSwitch {
    /// That was before the access with this global index, and after those with smaller ones.
    pub before: usize,
    /// Who goes on.
    pub to: ThreadId,
    /// Who stops, if anybody ran.
    pub from: Option<ThreadId>,
    /// At which of its stops.
    pub stop: u32,
    /// Where the one that goes on was held: the calls that lead to what it does next. None if it has just begun.
    pub stack: Option<StackId>,
}

impl ProcessReader<'_> {
    pub(super) fn switch(&mut self, event: &ThreadEvent) {
        if !self.is_thread(event.thread) {
            return;
        }
        let (from, leaf) = (event.event.other, event.event.leaf);
        let stack = (leaf != 0).then(|| self.leaf(leaf).1);
        self.profile.switches.push(TokenSwitch {
            before: self.profile.run.accesses.len(),
            to: ThreadId(self.first_thread + event.thread),
            from: (from != 0 && self.is_thread(from)).then_some(ThreadId(self.first_thread + from)),
            stop: event.event.object,
            stack,
        });
    }
}
