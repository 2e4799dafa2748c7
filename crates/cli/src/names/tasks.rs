//! What the tasks of an asynchronous runtime keep in themselves.
//!
//! A task goes from one thread to another between two of its steps, and what it keeps over an `await` goes with it. Nobody else can see
//! that, so whichever thread accesses it says nothing of what threads do to each other; but how often a task changes threads goes with how
//! long it waits, and so with failing.

use std::collections::HashMap;

use localize::profile::Block;
use localize::{Code, StackId};
use report::Frame;

use super::Names;

/// Calls that allocated a block, and whether it is a task.
pub type Tasks = HashMap<StackId, bool>;

impl Names {
    /// Is a heap block a task, with its future in it?
    pub fn is_task(&mut self, block: Block, code: &Code) -> bool {
        if let Some(&known) = self.tasks.get(&block.allocated_at) {
            return known;
        }
        let is_task = allocates_task(&self.stack(code.stack(block.allocated_at), code));
        self.tasks.insert(block.allocated_at, is_task);
        is_task
    }
}

/// Do these calls, innermost first, make a task? What a task allocates while it runs is not part of it.
fn allocates_task(calls: &[Frame]) -> bool {
    calls.iter().take_while(|frame| frame.is_fetched()).any(Frame::makes_task)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_is_known_by_who_allocates_it() {
        let registry = "/home/me/.cargo/registry/src/index-0123456789abcdef/tokio-1.54.1/src/runtime";
        let call = |function: &str, file: &str| Frame {
            function: Some(function.to_owned()),
            file: Some(file.to_owned()),
            line: Some(1),
            ..Frame::default()
        };
        let alloc = call("alloc::alloc", "/rustc/1f2/library/alloc/src/alloc.rs");
        let cell = call("Cell::new", &format!("{registry}/task/core.rs"));
        let poll = call("Core::poll", &format!("{registry}/task/core.rs"));
        let own = call("serve", "src/server.rs");
        assert!(allocates_task(&[alloc.clone(), cell.clone(), own.clone()]));
        assert!(!allocates_task(&[alloc.clone(), own.clone(), poll.clone()]), "a task's own allocation");
        assert!(!allocates_task(&[alloc.clone(), poll, own.clone()]));
        assert!(!allocates_task(&[own, cell]), "a function of the program's");
        assert!(!allocates_task(&[alloc, call("Cell::new", "src/task/core.rs")]));
    }
}
