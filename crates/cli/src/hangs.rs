//! Threads in each other's way: who waits for whom at the end of hung runs, where threads take locks in a circle in any run, and where they use
//! what another has freed in runs that pass.

use std::collections::{BTreeMap, BTreeSet};

use localize::evidence::{LockStep, lock_cycles, waiting_cycle};
use localize::{
    Code, LocksetId, ObjectId, Outcome, Profile, RunId, StackId, SyncKind, SyncTarget, ThreadId, Wait,
};
use report::explanation::any_of_array;
use report::{Hang, HangKind};

use crate::freed_uses::FreedUses;
use crate::names::Names;

/// Gathers what threads wait for, run by run. What looks the same in words is the same.
#[derive(Default)]
pub struct Hangs {
    seen: BTreeMap<Wording, Seen>,
    freed_uses: FreedUses,
}

/// What it is, and a sentence for each thread.
type Wording = (HangKind, Vec<String>);

#[derive(Default)]
struct Seen {
    runs: BTreeSet<RunId>,
    passed: BTreeSet<RunId>,
    locks: Vec<String>,
}

impl Hangs {
    /// Looks at one more run.
    pub fn observe(&mut self, profile: &Profile, code: &Code, names: &mut Names) {
        let mut words = Words { profile, code, names };
        if profile.run.outcome == Outcome::Hang {
            let circle = waiting_cycle(&profile.run);
            let awaits_end = circle.iter().any(|wait| matches!(wait.target, SyncTarget::Thread(_)));
            let (kind, waits) = match circle.is_empty() {
                true => (HangKind::Waiting, profile.run.waits.clone()),
                false if awaits_end => (HangKind::AwaitedEnd, circle),
                false => (HangKind::Deadlock, circle),
            };
            let threads = waits.iter().map(|wait| words.waiting(wait)).collect();
            let locks = if kind == HangKind::Waiting { Vec::new() } else { words.held(&waits) };
            self.note((kind, threads), locks, profile);
        }
        for cycle in lock_cycles(&profile.run) {
            let threads = cycle.steps.iter().map(|step| words.nesting(step)).collect();
            let locks = cycle.steps.iter().map(|step| words.lock(step.held)).collect();
            self.note((HangKind::PotentialDeadlock, threads), locks, profile);
        }
        self.freed_uses.observe(profile, code, names);
    }

    fn note(&mut self, (kind, mut threads): Wording, locks: Vec<String>, profile: &Profile) {
        if threads.is_empty() {
            return;
        }
        // Which of the threads comes first in a circle is chance.
        threads.sort();
        let seen = self.seen.entry((kind, threads)).or_default();
        seen.runs.insert(profile.run.id);
        if profile.run.outcome == Outcome::Pass {
            seen.passed.insert(profile.run.id);
        }
        seen.locks = locks;
    }

    /// What was seen, hung runs first, then what most runs show.
    pub fn into_report(self) -> Vec<Hang> {
        let seen = alike(self.seen).into_iter();
        let mut hangs: Vec<Hang> = seen
            .map(|((kind, threads), seen)| Hang {
                kind,
                runs: seen.runs.len() as u64,
                passed: seen.passed.len() as u64,
                threads,
                advice: advice(kind, seen.locks),
            })
            .collect();
        hangs.extend(self.freed_uses.into_report());
        hangs.sort_by_key(|hang| (hang.kind, std::cmp::Reverse(hang.runs)));
        hangs
    }
}

/// Puts what threads of one run do into words.
struct Words<'a> {
    profile: &'a Profile,
    code: &'a Code,
    names: &'a mut Names,
}

impl Words<'_> {
    fn waiting(&mut self, wait: &Wait) -> String {
        let thread = self.thread(wait.thread, Some(wait.stack));
        let is_signal = wait.kind == SyncKind::WaitBegin;
        let target = match wait.target {
            SyncTarget::Thread(other) => {
                let mut waits = self.profile.run.waits.iter();
                let stack = waits.find(|wait| wait.thread == other).map(|wait| wait.stack);
                format!("the end of {}", self.thread(other, stack))
            }
            // An address differs from run to run, and tells nothing.
            SyncTarget::Object(object) if !self.names.is_named(object, self.profile, self.code) => {
                (if is_signal { "a signal" } else { "a lock" }).to_owned()
            }
            SyncTarget::Object(object) if is_signal => format!("a signal on `{}`", self.lock(object)),
            SyncTarget::Object(object) => format!("`{}`", self.lock(object)),
        };
        let frame = self.names.own_frame(wait.stack, self.code);
        let place = frame.map(|_| format!(" at {}", self.place(wait.stack))).unwrap_or_default();
        let holding = self.holding(wait.locks);
        format!("{thread} waits for {target}{place}{holding}")
    }

    fn nesting(&mut self, step: &LockStep) -> String {
        let thread = self.thread(step.thread, Some(step.taken_at));
        let [held, taken] = [step.held, step.taken].map(|lock| self.lock(lock));
        let [held_at, taken_at] = [step.held_at, step.taken_at].map(|stack| self.place(stack));
        format!("{thread} takes `{taken}` at {taken_at} while it holds `{held}` from {held_at}")
    }

    fn holding(&mut self, locks: LocksetId) -> String {
        let held = &self.profile.run.locksets[locks.0 as usize];
        let each: Vec<String> = held
            .iter()
            .map(|lock| {
                let name = self.lock(lock.object);
                format!("`{name}` from {}", self.place(lock.taken_at))
            })
            .collect();
        if each.is_empty() { String::new() } else { format!(", holding {}", each.join(" and ")) }
    }

    fn held(&mut self, waits: &[Wait]) -> Vec<String> {
        let locks = waits.iter().filter_map(|wait| match wait.target {
            SyncTarget::Object(object) => Some(object),
            SyncTarget::Thread(_) => None,
        });
        locks.map(|lock| self.lock(lock)).collect()
    }

    fn lock(&mut self, lock: ObjectId) -> String {
        self.names.object(lock, self.profile, self.code)
    }

    fn place(&mut self, stack: StackId) -> String {
        self.names.place_of_wait(stack, self.code)
    }

    /// A thread by its name, or by the function it runs. A stack of it tells that better than what a library starts.
    fn thread(&mut self, thread: ThreadId, stack: Option<StackId>) -> String {
        let known = &self.profile.threads[thread.0 as usize];
        match (known.name.as_str(), known.entry) {
            ("", Some(entry)) => {
                let start = stack.and_then(|stack| self.names.start_function(stack, self.code));
                // A function without a name, or a library's, tells less than who made the thread.
                let creation = known.created_at.and_then(|stack| self.names.own_frame(stack, self.code));
                match (start.filter(|start| start != "operator()"), creation) {
                    (None, Some(_)) => {
                        let place = known.created_at.map(|stack| self.place(stack)).unwrap_or_default();
                        format!("thread {} (created at {place})", thread.0)
                    }
                    (start, _) => {
                        let start = start.unwrap_or_else(|| self.names.function_at(entry, self.code));
                        format!("thread {} ({start})", thread.0)
                    }
                }
            }
            ("", None) => "the main thread".to_owned(),
            (name, _) => format!("thread {} ({name})", thread.0),
        }
    }
}

fn advice(kind: HangKind, mut locks: Vec<String>) -> String {
    locks.sort();
    locks.dedup();
    if kind == HangKind::AwaitedEnd && !locks.is_empty() {
        let each: Vec<String> = locks.iter().map(|lock| format!("`{lock}`")).collect();
        return format!(
            "Give {} back before waiting for the end of a thread that takes it.",
            each.join(" and ")
        );
    }
    let fix = report::Fix {
        action: report::Action::LockOrder,
        locks,
        for_writing: false,
        held: Vec::new(),
        taken_by: Vec::new(),
        places: Vec::new(),
        patch: Vec::new(),
    };
    match kind {
        HangKind::Deadlock | HangKind::PotentialDeadlock if !fix.locks.is_empty() => {
            report::explanation::advice(&fix)
        }
        _ => String::new(),
    }
}

/// Puts together what differs in the elements of arrays only: which of many alike is chance. It is then told of any.
fn alike(seen: BTreeMap<Wording, Seen>) -> BTreeMap<Wording, Seen> {
    let mut groups: BTreeMap<Wording, Vec<(Wording, Seen)>> = BTreeMap::new();
    for (wording, seen) in seen {
        let (kind, threads) = &wording;
        let any = threads.iter().map(|thread| any_of_array(thread)).collect();
        groups.entry((*kind, any)).or_default().push((wording, seen));
    }
    let together = |(any, mut group): (Wording, Vec<(Wording, Seen)>)| {
        if group.len() == 1 {
            return group.remove(0);
        }
        let mut all = Seen::default();
        for (_, one) in group {
            all.runs.extend(one.runs);
            all.passed.extend(one.passed);
            all.locks = one.locks.iter().map(|lock| any_of_array(lock)).collect();
        }
        (any, all)
    };
    groups.into_iter().map(together).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_in_elements_only_is_put_together() {
        let seen = |run: u32, lock: &str| {
            let runs = BTreeSet::from([RunId(run)]);
            let threads = vec![format!("thread 2 waits for `{lock}`")];
            (
                (HangKind::Waiting, threads),
                Seen { runs, passed: BTreeSet::new(), locks: vec![lock.to_owned()] },
            )
        };
        let told = |seen: Vec<(Wording, Seen)>| {
            let told = alike(seen.into_iter().collect()).into_iter();
            told.map(|((_, threads), seen)| (threads[0].clone(), seen.runs.len())).collect::<Vec<_>>()
        };
        let any = ("thread 2 waits for `a[i]`".to_owned(), 2);
        let one = |lock: &str| (format!("thread 2 waits for `{lock}`"), 1);
        assert_eq!(told(vec![seen(1, "a[1]"), seen(2, "a[2]"), seen(3, "b")]), [any, one("b")]);
        assert_eq!(told(vec![seen(1, "a[1]")]), [one("a[1]")]);
    }
}
