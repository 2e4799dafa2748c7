//! The threads of a finding: what they are called, and where they come from.

use std::collections::BTreeMap;

use localize::{Code, Finding, Profile, ThreadId};
use report::Thread;

use crate::names::Names;

/// The threads of a finding's accesses in its example, by role.
pub fn of(finding: &Finding, profile: &Profile, code: &Code, names: &mut Names) -> Vec<Thread> {
    let steps = finding.example.accesses.iter().zip(finding.example.id.steps());
    let roles: BTreeMap<u32, ThreadId> =
        steps.map(|(&index, step)| (u32::from(step.thread), profile.run.accesses[index].thread)).collect();
    roles.into_iter().map(|(role, thread)| describe(role, thread, profile, code, names)).collect()
}

fn describe(role: u32, thread: ThreadId, profile: &Profile, code: &Code, names: &mut Names) -> Thread {
    let thread = &profile.threads[thread.0 as usize];
    let entry = thread.entry.map(|site| names.stack(&[site], code)).unwrap_or_default();
    Thread {
        thread: role,
        name: Some(thread.name.clone()).filter(|name| !name.is_empty()),
        function: entry.into_iter().next_back().and_then(|frame| frame.function),
        created_at: thread.created_at.map(|stack| names.stack(code.stack(stack), code)).unwrap_or_default(),
    }
}
