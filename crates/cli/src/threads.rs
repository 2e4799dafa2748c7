//! The threads of a finding: what they are called, and where they come from.

use localize::{Code, Finding, Profile, Standstill, ThreadId};

use crate::names::Names;

/// Who the threads of a finding are.
pub fn roles(
    finding: &Finding,
    standstill: Option<&Standstill>,
    accesses: &[report::Access],
    profile: &Profile,
    code: &Code,
    names: &mut Names,
) -> Vec<report::ThreadRole> {
    let threads: Vec<ThreadId> = match standstill {
        Some(standstill) => standstill.steps.iter().map(|step| step.thread).collect(),
        None => finding.example.accesses.iter().map(|&index| profile.run.accesses[index].thread).collect(),
    };
    let mut roles: Vec<report::ThreadRole> = Vec::new();
    for (thread, access) in threads.into_iter().zip(accesses) {
        if roles.iter().all(|role| role.thread != access.thread) {
            roles.push(names.thread_role(thread, access, profile, code));
        }
    }
    roles.sort_by_key(|role| role.thread);
    roles
}
