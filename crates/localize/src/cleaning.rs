//! What a thread does after it panicked, as Rust calls it: it leaves its functions and drops what they own. That follows from
//! the failure, and passing runs do not do it, so that it would look like its cause.

use rustc_hash::FxHashSet;

use crate::run::{Access, StackId};

/// The threads of a process that clean up. One that caught its panic and does again what was done before it is back.
#[derive(Default)]
pub(crate) struct Cleaning {
    threads: FxHashSet<u32>,
    /// The calls that led to accesses before the newest panic.
    before: FxHashSet<StackId>,
    /// Accesses whose calls are in there.
    seen: usize,
}

impl Cleaning {
    /// A thread panics, after these accesses of all.
    pub fn begin(&mut self, thread: u32, accesses: &[Access]) {
        self.threads.insert(thread);
        self.before.extend(accesses[self.seen..].iter().map(|access| access.stack));
        self.seen = accesses.len();
    }

    /// Is a thread's next access part of its cleaning up?
    pub fn includes(&mut self, thread: u32, stack: StackId) -> bool {
        if self.threads.is_empty() || !self.threads.contains(&thread) {
            return false;
        }
        let is_back = self.before.contains(&stack);
        if is_back {
            self.threads.remove(&thread);
        }
        !is_back
    }
}
