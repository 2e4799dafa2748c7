//! Runs from short texts.
//!
//! A trace is a list of `thread:deed`: `1:lock(a)@5`, `1:unlock(a)`, `1:share(a)@5` (a read lock), `1:R(x)@7=3` (value
//! 3), `1:W!(x)@8` (atomic), `1:F(x)@9` (free), `1:create(2)@4`, `1:join(2)@4`, `2:start(1)`, `2:end(2)`,
//! `1:wait(a)@6` (still, at the end), `1:sleep(20)@3` (milliseconds). Numbers behind `@` are sites, and stacks of their own.

use std::collections::BTreeMap;

use localize::evidence::{Fix, Witness, advise};
use localize::*;

use crate::support::intern;

#[derive(Default)]
struct Trace {
    locations: Vec<String>,
    objects: Vec<String>,
    held: BTreeMap<u32, Vec<Lock>>,
}

pub fn run(text: &str) -> Run {
    let mut run = Run::new(RunId(1), Outcome::Fail);
    let mut trace = Trace::default();
    for word in text.split_whitespace() {
        let (thread, deed) = word.split_once(':').unwrap();
        let thread: u32 = thread.parse().unwrap();
        let (verb, rest) = deed.split_once('(').unwrap();
        let (name, rest) = rest.split_once(')').unwrap();
        let (site, value) =
            rest.trim_start_matches('@').split_once('=').unwrap_or((rest.trim_start_matches('@'), ""));
        let site: u32 = site.parse().unwrap_or(0);
        trace.step(&mut run, thread, verb, name, site, value.parse().ok());
    }
    run
}

impl Trace {
    fn lockset(&mut self, run: &mut Run, thread: u32) -> LocksetId {
        let held = self.held.entry(thread).or_default();
        let known = run.locksets.iter().position(|set| set == held);
        LocksetId(known.unwrap_or_else(|| {
            run.locksets.push(held.clone());
            run.locksets.len() - 1
        }) as u32)
    }

    fn step(&mut self, run: &mut Run, thread: u32, verb: &str, name: &str, site: u32, value: Option<u64>) {
        let (thread_id, site_id, stack) = (ThreadId(thread), SiteId(site), StackId(site));
        let other = || SyncTarget::Thread(ThreadId(name.parse().unwrap()));
        let (kind, target) = match verb {
            "lock" | "share" | "try" | "unlock" | "wait" => {
                let object = ObjectId(intern(&mut self.objects, name));
                let held = self.held.entry(thread).or_default();
                match verb {
                    "unlock" => held.retain(|lock| lock.object != object),
                    "wait" => {}
                    _ => held.push(Lock {
                        object,
                        taken_in: site_id,
                        taken_at: stack,
                        shared: verb == "share",
                        tried: verb == "try",
                    }),
                }
                let locks = self.lockset(run, thread);
                if verb == "wait" {
                    let (kind, target) = (SyncKind::Acquire, SyncTarget::Object(object));
                    run.waits.push(Wait { thread: thread_id, kind, target, site: site_id, stack, locks });
                    return;
                }
                if verb != "unlock" && run.locksets[locks.0 as usize].len() > 1 {
                    run.nestings.push(Nesting { thread: thread_id, locks });
                }
                let kind = match verb {
                    "lock" | "try" => SyncKind::Acquire,
                    "share" => SyncKind::AcquireShared,
                    _ => SyncKind::Release,
                };
                (kind, SyncTarget::Object(object))
            }
            "sleep" => {
                let (before, synchronized) = (run.accesses.len(), run.synchronization.len());
                let nanoseconds = name.parse::<u64>().unwrap() * 1_000_000;
                run.sleeps.push(Sleep { before, synchronized, thread: thread_id, nanoseconds, stack });
                return;
            }
            "create" => (SyncKind::Create, other()),
            "join" => (SyncKind::Join, other()),
            "start" => (SyncKind::Start, other()),
            "end" => (SyncKind::End, other()),
            access => {
                let locks = self.lockset(run, thread);
                let location = LocationId(intern(&mut self.locations, name));
                run.accesses.push(Access {
                    thread: thread_id,
                    location,
                    site: site_id,
                    stack,
                    kind: if access.starts_with('R') { AccessKind::Read } else { AccessKind::Write },
                    uncertain: false,
                    value,
                    before: None,
                    locks: Some(locks),
                    iteration: None,
                    atomic: access.ends_with('!'),
                    frees: access == "F",
                });
                return;
            }
        };
        let before = run.accesses.len();
        run.synchronization.push(SyncEvent { before, thread: thread_id, kind, target, site: site_id, stack });
    }
}

/// The advice on the accesses with these indices. The first lock of a trace belongs to its first location.
#[allow(dead_code, reason = "not every test asks for advice")]
pub fn advice_on(run: &Run, accesses: &[usize]) -> Option<Fix> {
    let witness = Witness::of(run, accesses);
    let facts = witness.facts(accesses);
    advise(&witness, accesses, &facts, &|lock, location| (lock, location) == (ObjectId(0), LocationId(0)))
}
