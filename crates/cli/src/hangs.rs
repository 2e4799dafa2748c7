//! Who waits for whom: at the end of hung runs, and where threads take locks in a circle in any run.

use std::collections::BTreeMap;

use localize::evidence::{LockStep, lock_cycles, waiting_cycle};
use localize::{Code, LocksetId, Outcome, Profile, SyncKind, SyncTarget, Wait};
use report::{Hang, HangKind};

use crate::names::Names;

/// Gathers what threads wait for, run by run. What looks the same in words is the same.
#[derive(Default)]
pub struct Hangs {
    names: Names,
    seen: BTreeMap<(HangKind, Vec<String>), Seen>,
}

#[derive(Default)]
struct Seen {
    runs: u64,
    passed: u64,
    locks: Vec<String>,
}

impl Hangs {
    /// Looks at one more run.
    pub fn observe(&mut self, profile: &Profile, code: &Code) {
        if profile.run.outcome == Outcome::Hang {
            let circle = waiting_cycle(&profile.run);
            let (kind, waits) = if circle.is_empty() {
                (HangKind::Waiting, profile.run.waits.clone())
            } else {
                (HangKind::Deadlock, circle)
            };
            let threads = waits.iter().map(|wait| self.waiting(wait, profile, code)).collect();
            let locks =
                if kind == HangKind::Deadlock { self.held(&waits, profile, code) } else { Vec::new() };
            self.note(kind, threads, locks, false);
        }
        for cycle in lock_cycles(&profile.run) {
            let threads = cycle.steps.iter().map(|step| self.nesting(step, profile, code)).collect();
            let locks = cycle.steps.iter().map(|step| self.names.object(step.held, profile, code)).collect();
            self.note(HangKind::PotentialDeadlock, threads, locks, profile.run.outcome == Outcome::Pass);
        }
    }

    fn note(&mut self, kind: HangKind, mut threads: Vec<String>, locks: Vec<String>, passed: bool) {
        if threads.is_empty() {
            return;
        }
        // Which of the threads comes first in a circle is chance.
        threads.sort();
        let seen = self.seen.entry((kind, threads)).or_default();
        seen.runs += 1;
        seen.passed += u64::from(passed);
        seen.locks = locks;
    }

    /// What was seen, hung runs first, then what most runs show.
    pub fn into_report(self) -> Vec<Hang> {
        let mut hangs: Vec<Hang> = self
            .seen
            .into_iter()
            .map(|((kind, threads), seen)| Hang {
                kind,
                runs: seen.runs,
                passed: seen.passed,
                threads,
                advice: advice(kind, seen.locks),
            })
            .collect();
        hangs.sort_by_key(|hang| (hang.kind, std::cmp::Reverse(hang.runs)));
        hangs
    }

    fn waiting(&mut self, wait: &Wait, profile: &Profile, code: &Code) -> String {
        let thread = self.thread(wait.thread, profile, code);
        let place = self.names.place_of(wait.stack, code);
        let target = match wait.target {
            SyncTarget::Thread(other) => format!("the end of {}", self.thread(other, profile, code)),
            SyncTarget::Object(object) => format!("`{}`", self.names.object(object, profile, code)),
        };
        let verb = if wait.kind == SyncKind::WaitBegin { "waits for a signal on" } else { "waits for" };
        let holding = self.holding(wait.locks, profile, code);
        format!("{thread} {verb} {target} at {place}{holding}")
    }

    fn nesting(&mut self, step: &LockStep, profile: &Profile, code: &Code) -> String {
        let thread = self.thread(step.thread, profile, code);
        let [held, taken] = [step.held, step.taken].map(|lock| self.names.object(lock, profile, code));
        let [held_at, taken_at] = [step.held_at, step.taken_at].map(|stack| self.names.place_of(stack, code));
        format!("{thread} takes `{taken}` at {taken_at} while it holds `{held}` from {held_at}")
    }

    fn holding(&mut self, locks: LocksetId, profile: &Profile, code: &Code) -> String {
        let held = &profile.run.locksets[locks.0 as usize];
        let each: Vec<String> = held
            .iter()
            .map(|lock| {
                let name = self.names.object(lock.object, profile, code);
                format!("`{name}` from {}", self.names.place_of(lock.taken_at, code))
            })
            .collect();
        if each.is_empty() { String::new() } else { format!(", holding {}", each.join(" and ")) }
    }

    fn held(&mut self, waits: &[Wait], profile: &Profile, code: &Code) -> Vec<String> {
        let locks = waits.iter().filter_map(|wait| match wait.target {
            SyncTarget::Object(object) => Some(object),
            SyncTarget::Thread(_) => None,
        });
        locks.map(|lock| self.names.object(lock, profile, code)).collect()
    }

    /// A thread by its name, or by the function it runs.
    fn thread(&mut self, thread: localize::ThreadId, profile: &Profile, code: &Code) -> String {
        let known = &profile.threads[thread.0 as usize];
        match (known.name.as_str(), known.entry) {
            ("", Some(entry)) => format!("thread {} ({})", thread.0, self.names.function_at(entry, code)),
            ("", None) => "the main thread".to_owned(),
            (name, _) => format!("thread {} ({name})", thread.0),
        }
    }
}

fn advice(kind: HangKind, mut locks: Vec<String>) -> String {
    locks.sort();
    locks.dedup();
    let fix = report::Fix { action: report::Action::LockOrder, locks, places: Vec::new() };
    match kind {
        HangKind::Deadlock | HangKind::PotentialDeadlock if !fix.locks.is_empty() => {
            report::explanation::advice(&fix)
        }
        _ => String::new(),
    }
}
