//! Explains findings: what is known about their accesses in the run they are shown in, with names.

mod fitting;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use localize::evidence::{self, Fact, Fix, Span, Witness};
use localize::{Access, Code, Finding, LocationId, ObjectId, Profile, Standstill, StandstillKind};
use report::explanation;

use self::fitting::{Attempts, is_led_there, looks_then_acts, outlived};
use crate::names::{DistinctNames, Names};
use crate::source_names::Unnamed;

/// Adds the advice to a described finding, and returns what is known about its accesses. `profile` and `witness` are
/// those of its example's run.
pub fn explain(
    described: &mut report::Finding,
    finding: &Finding,
    witness: &Witness<'_>,
    profile: &Profile,
    code: &Code,
    names: &mut Names,
) -> Vec<explanation::Fact> {
    let accesses = &finding.example.accesses;
    // Locon's second procedure shows a passing run in another order than it had.
    if accesses.is_empty() || !accesses.is_sorted() {
        return Vec::new();
    }
    let facts = witness.facts(accesses);
    let recorded: Vec<&Access> = accesses.iter().map(|&index| &profile.run.accesses[index]).collect();
    let beside = locks_beside_data(&recorded, profile, code, names);
    let fix =
        evidence::advise(witness, accesses, &facts, &|lock, location| beside.contains(&(lock, location)));
    let fix = fix.and_then(|fix| rather_together(fix, described, accesses, profile, code, names));
    let attempts = Attempts::among(accesses, profile);
    let fix = fix
        .filter(|_| attempts.is_none())
        .or_else(|| attempts.and_then(|attempts| attempts.left_to_holder()))
        .filter(|fix| is_led_there(fix, described))
        .or_else(|| outlived(described, &facts))
        .filter(|fix| !looks_before(fix, accesses) || looks_then_acts(fix, described, profile, code, names));
    let held = recorded.iter().flat_map(|access| profile.run.held(access).unwrap_or_default());
    let advised = fix.iter().flat_map(|fix| fix.locks.iter().chain(&fix.held).copied());
    let usual = facts.iter().filter_map(|fact| match fact {
        Fact::UsuallyLocked { lock, .. } => Some(*lock),
        _ => None,
    });
    let objects: Vec<ObjectId> = held.map(|lock| lock.object).chain(advised).chain(usual).collect();
    let locks = DistinctNames::of(objects.iter().copied(), names, profile, code);
    for (described, access) in described.accesses.iter_mut().zip(&recorded) {
        let held = profile.run.held(access);
        described.locks = held.map(|held| held.iter().map(|lock| locks.get(lock.object)).collect());
    }
    let action = fix.as_ref().map(|fix| fix.action);
    let mut facts: Vec<explanation::Fact> =
        facts.into_iter().filter_map(|fact| named(fact, action, &locks, profile, code, names)).collect();
    let owner = profile.locations[recorded[0].location.0 as usize].in_lock;
    if let Some(owner) = owner.filter(|owner| objects.contains(owner))
        && locks.is_numbered(owner, names, profile, code)
    {
        facts.push(explanation::Fact::PartOf(locks.get(owner), 0));
    }
    let is_guess = |place: &usize| recorded[*place].uncertain;
    let guessed: Vec<usize> = (0..accesses.len()).filter(is_guess).collect();
    if !guessed.is_empty() {
        facts.push(explanation::Fact::Guessed(guessed));
    }
    if let Some(fix) = &fix {
        if let Some(further) = fix.further {
            let access = &profile.run.accesses[further];
            let place = names.place_of(access.stack, code);
            facts.push(if looks_before(fix, accesses) {
                let lock = locks.get(fix.locks[0]);
                explanation::Fact::LookedBefore { access: 1, place, lock }
            } else {
                explanation::Fact::WrittenBack([0, 1], place)
            });
        }
        revise_kind(described, fix);
        set_fix(described, fix, (accesses, &locks), profile, code, names);
    }
    facts
}

/// Is the fix about what a thread looked at before all accesses of the finding?
fn looks_before(fix: &Fix, accesses: &[usize]) -> bool {
    fix.further.is_some_and(|further| further < accesses[0])
}

/// Two threads in one function cannot wait for each other to be done with it. If the first does there what the second
/// did, under the same lock, it should have kept the lock since it looked; else there is no advice.
fn rather_together(
    fix: Fix,
    described: &mut report::Finding,
    accesses: &[usize],
    profile: &Profile,
    code: &Code,
    names: &mut Names,
) -> Option<Fix> {
    let [first, second] = accesses else { return Some(fix) };
    let [looked, done] = described.accesses.as_slice() else { return Some(fix) };
    if fix.action != evidence::Action::Wait || looked.function != done.function {
        return Some(fix);
    }
    let run = &profile.run;
    let held = |index: usize| run.held(&run.accesses[index]).unwrap_or_default();
    let common = |lock: &&localize::Lock| held(*second).iter().any(|other| other.object == lock.object);
    let lock = held(*first).iter().find(common)?.object;
    let thread = run.accesses[*first].thread;
    let own = run.accesses[*second..].iter().filter(|access| access.thread == thread);
    let stacks: BTreeSet<_> = own.map(|access| access.stack).collect();
    let place = (&done.file, done.line, &done.function);
    let does_the_same = stacks.into_iter().any(|stack| {
        let frame = names.own_frame(stack, code);
        frame.is_some_and(|frame| (&frame.file, frame.line, &frame.function) == place)
    });
    does_the_same.then(|| {
        described.kind = report::Kind::AtomicityViolation;
        let spans = vec![Span { from: 0, to: 1 }];
        Fix { action: evidence::Action::ExtendLock, locks: vec![lock], spans, ..fix }
    })
}

/// Adds what is known about threads that wait for ever, and the advice, to a finding that shows them.
pub fn explain_standstill(
    described: &mut report::Finding,
    standstill: &Standstill,
    profile: &Profile,
    code: &Code,
    names: &mut Names,
) -> Vec<explanation::Fact> {
    let fix = evidence::advise_standstill(&profile.run, standstill);
    let action = fix.as_ref().map(|fix| fix.action);
    if let Some(fix) = &fix {
        let objects = fix.locks.iter().copied();
        let locks = DistinctNames::of(objects, names, profile, code);
        set_fix(described, fix, (&[], &locks), profile, code, names);
    }
    let steps = standstill.steps.len();
    match (standstill.kind, action) {
        (StandstillKind::Deadlock, Some(evidence::Action::Unlock)) => {
            vec![explanation::Fact::EndedHolding(0)]
        }
        (StandstillKind::Deadlock, Some(evidence::Action::TakeOnce)) => {
            vec![explanation::Fact::TakenAgain]
        }
        (StandstillKind::Deadlock, Some(evidence::Action::WaitUnlocked)) => {
            let stack = fix.and_then(|fix| fix.waits_at);
            let place = stack.map(|stack| names.place_of_wait(stack, code));
            place.map(|place| explanation::Fact::WaitsHolding(0, place)).into_iter().collect()
        }
        (StandstillKind::Deadlock, Some(_)) => vec![explanation::Fact::Circle],
        (StandstillKind::Deadlock, None) => Vec::new(),
        (StandstillKind::MissedSignal, _) => {
            let outdated = (steps == 4).then_some(explanation::Fact::Outdated([0, 1]));
            let missed =
                steps.checked_sub(2).map(|signal| explanation::Fact::SignalMissed([signal, steps - 1]));
            outdated.into_iter().chain(missed).collect()
        }
        (StandstillKind::WokeAnother, _) => vec![explanation::Fact::WokeAnother([0, 1], steps - 1)],
        (StandstillKind::Unsignalled, _) => {
            let signal = localize::usual_signal(&profile.run, standstill);
            let place = signal.map(|signal| names.place_of(signal.stack, code));
            let fact = |place| explanation::Fact::Unsignalled([0, steps - 1], place);
            place.map(fact).into_iter().collect()
        }
    }
}

/// What the fix is about tells better than the pattern which sort of mistake it is: a thread that was created too early
/// is one of order, and a value that is written back after it was outdated is one of atomicity.
fn revise_kind(described: &mut report::Finding, fix: &Fix) {
    if fix.further.is_some() {
        described.kind = report::Kind::AtomicityViolation;
    } else if fix.action == evidence::Action::CreateLater && described.accesses.len() == 3 {
        described.kind = report::Kind::OrderViolation;
        described.suspicious_functions = explanation::enclosing_functions(&described.accesses[1..]);
    }
}

/// Words the fix; `accesses` are those of the finding, by their global index, and `locks` all that it may be about.
fn set_fix(
    described: &mut report::Finding,
    fix: &Fix,
    (accesses, locks): (&[usize], &DistinctNames),
    profile: &Profile,
    code: &Code,
    names: &mut Names,
) {
    let further = fix.further.map(|index| &profile.run.accesses[index]);
    let further = further.map(|access| names.access(access, described.accesses[0].thread, profile, code));
    let scene = report::Finding {
        accesses: described.accesses.iter().cloned().chain(further).collect(),
        ..described.clone()
    };
    let place = |span: &Span| explanation::region(&scene, &[span.from, span.to]);
    let Some(mut places) = fix.spans.iter().map(place).collect::<Option<Vec<_>>>() else { return };
    // Within one line there is nothing that a lock could be held over from one round to the next.
    let is_one_line = |place: &report::FixPlace| place.first_line == place.last_line;
    if fix.is_of_two_rounds(&profile.run, accesses) && places.iter().any(is_one_line) {
        return;
    }
    if let (Some(read), Some(place)) = (fix.read_before, places.last_mut()) {
        let read = names.access(&profile.run.accesses[read], 2, profile, code);
        let accesses = vec![read, scene.accesses[1].clone()];
        let both = explanation::region(&report::Finding { accesses, ..scene.clone() }, &[0, 1]);
        // Further out than the function that writes, the two need not belong together.
        *place = both.filter(|both| both.function == place.function).unwrap_or_else(|| place.clone());
    }
    if let Some(stack) = fix.waits_at {
        places.extend(names.waiting_frame(stack, code).and_then(|frame| fix_place(&frame)));
    }
    if let (evidence::Action::TakeLock, [span], [place]) =
        (fix.action, fix.spans.as_slice(), places.as_mut_slice())
    {
        let taken = names.functions_that_take(fix.locks[0], profile, code);
        let [from, to] = [span.from, span.to].map(|at| where_others_take_it(scene.accesses.get(at)?, &taken));
        if let Some(call) = from.filter(|from| Some(from) == to.as_ref()) {
            *place = call;
        }
    }
    let for_writing = fix.is_for_writing(&profile.run, accesses);
    let taken_by = match (fix.action, places.as_slice()) {
        (evidence::Action::ExtendLock, [place, ..]) => names.takers(&fix.locks, place, profile, code),
        _ => Vec::new(),
    };
    let named = |objects: &[ObjectId]| objects.iter().map(|&lock| locks.get(lock)).collect();
    let action = match action(fix.action) {
        report::Action::AtomicOperation if is_map_entry(&described.accesses[0]) => {
            report::Action::MapOperation
        }
        action => action,
    };
    let fix = report::Fix {
        action,
        locks: named(&fix.locks),
        for_writing,
        held: named(&fix.held),
        taken_by,
        places,
        patch: Vec::new(),
    };
    described.advice = explanation::advice(&fix);
    described.fix = (!described.advice.is_empty()).then_some(fix);
}

/// Is this an entry of a map of Java's, `Cart.items["pen"]`? Where a number stands in the brackets, it may as well be an element of an array.
fn is_map_entry(access: &report::Access) -> bool {
    let is_java = access.file.as_deref().is_some_and(|file| file.ends_with(".java"));
    let key = access.variable.strip_suffix(']').and_then(|name| name.split_once('['));
    is_java && key.is_some_and(|(_, key)| !key.bytes().all(|byte| byte.is_ascii_digit()))
}

/// The call on the way to an access that is made by a function which takes the lock for others: `transfer()` rather than
/// `post()`, which both threads run, one with the lock and one without.
fn where_others_take_it(access: &report::Access, takers: &BTreeSet<String>) -> Option<report::FixPlace> {
    let calls = access.stack.iter().skip(1);
    let mut own = calls.filter(|frame| !frame.is_library());
    let call = own.find(|frame| frame.function.as_ref().is_some_and(|function| takers.contains(function)))?;
    fix_place(call)
}

fn fix_place(frame: &report::Frame) -> Option<report::FixPlace> {
    Some(report::FixPlace {
        function: frame.function.clone(),
        file: frame.file.clone()?,
        first_line: frame.line?,
        last_line: frame.line?,
    })
}

/// Locks held at these accesses that are the object which they access a part of, or another part of it as far as names
/// tell: `customers[3].lock` beside `customers[3].balance`.
fn locks_beside_data(
    accesses: &[&Access],
    profile: &Profile,
    code: &Code,
    names: &mut Names,
) -> BTreeSet<(ObjectId, LocationId)> {
    let mut data: BTreeMap<LocationId, String> = BTreeMap::new();
    for access in accesses {
        let variable = names.access(access, 1, profile, code).variable;
        data.insert(access.location, variable);
    }
    let mut beside = BTreeSet::new();
    for lock in accesses.iter().flat_map(|access| profile.run.held(access).unwrap_or_default()) {
        let name = names.object(lock.object, profile, code);
        let is_beside = |data: &str| owner(&name).is_some() && owner(&name) == owner(data);
        let is_around = |at: LocationId| profile.locations[at.0 as usize].in_lock == Some(lock.object);
        let found = data.iter().filter(|(location, data)| is_beside(data) || is_around(**location));
        beside.extend(found.map(|(&location, _)| (lock.object, location)));
    }
    beside
}

/// The object that a member belongs to: `customers[3]` of `customers[3].lock`.
fn owner(name: &str) -> Option<&str> {
    name.rsplit_once('.').map(|(owner, _)| owner)
}

fn action(action: evidence::Action) -> report::Action {
    match action {
        evidence::Action::ExtendLock => report::Action::ExtendLock,
        evidence::Action::TakeLock => report::Action::TakeLock,
        evidence::Action::AddLock => report::Action::AddLock,
        evidence::Action::UseOneLock => report::Action::UseOneLock,
        evidence::Action::ReadOnce => report::Action::ReadOnce,
        evidence::Action::AtomicOperation => report::Action::AtomicOperation,
        evidence::Action::Join => report::Action::Join,
        evidence::Action::ConstructFirst => report::Action::ConstructFirst,
        evidence::Action::CreateLater => report::Action::CreateLater,
        evidence::Action::PublishLater => report::Action::PublishLater,
        evidence::Action::Wait => report::Action::Wait,
        evidence::Action::LockOrder => report::Action::LockOrder,
        evidence::Action::WaitInLoop => report::Action::WaitInLoop,
        evidence::Action::Unlock => report::Action::Unlock,
        evidence::Action::TakeOnce => report::Action::TakeOnce,
        evidence::Action::WaitUnlocked => report::Action::WaitUnlocked,
        evidence::Action::WakeAll => report::Action::WakeAll,
        evidence::Action::SignalEach => report::Action::SignalEach,
        evidence::Action::TestAgain => report::Action::TestAgain,
        evidence::Action::LookAfterUnlock => report::Action::LookAfterUnlock,
        evidence::Action::LookAgain => report::Action::LookAgain,
        evidence::Action::SignalLater => report::Action::SignalLater,
        evidence::Action::CountRounds => report::Action::CountRounds,
    }
}

/// A fact with names for its locks. Who created whom matters only where the advice is about that.
fn named(
    fact: Fact,
    action: Option<evidence::Action>,
    locks: &DistinctNames,
    profile: &Profile,
    code: &Code,
    names: &mut Names,
) -> Option<explanation::Fact> {
    let name = |lock: ObjectId| locks.get(lock);
    Some(match fact {
        Fact::Unlocked { accesses } => explanation::Fact::Unlocked(accesses),
        Fact::NoCommonLock { accesses } => {
            let named = accesses
                .into_iter()
                .map(|(access, locks)| (access, locks.into_iter().map(name).collect()))
                .collect();
            explanation::Fact::NoCommonLock(named)
        }
        Fact::CommonLock { lock, accesses } => explanation::Fact::CommonLock(name(lock), accesses),
        Fact::ReleasedBetween { lock, from, to } => {
            explanation::Fact::ReleasedBetween(name(lock), [from, to])
        }
        Fact::TakenBetween { lock, between, from, to } => {
            explanation::Fact::TakenBetween(name(lock), [from, between, to])
        }
        Fact::Unordered { first, second } => explanation::Fact::Unordered([first, second]),
        Fact::UsuallyLocked { lock, accesses, holding, of } => {
            explanation::Fact::UsuallyLocked { lock: name(lock), accesses, holding, of }
        }
        Fact::CreatedBefore { creator, created, event } if action == Some(evidence::Action::CreateLater) => {
            let place = names.place_of(profile.run.synchronization[event].stack, code);
            explanation::Fact::CreatedBefore([creator, created], place)
        }
        Fact::NotJoined { creator, running }
            if matches!(action, Some(evidence::Action::Join | evidence::Action::Wait)) && creator == 0 =>
        {
            explanation::Fact::NotJoined([creator, running])
        }
        Fact::CreatedBefore { .. } | Fact::NotJoined { .. } => return None,
        Fact::Slept { sleep } => {
            let sleep = &profile.run.sleeps[sleep];
            let time = Duration::from_nanos(sleep.nanoseconds);
            explanation::Fact::Slept { time, place: names.place_of(sleep.stack, code) }
        }
        Fact::AfterFree { free, access } => explanation::Fact::AfterFree([free, access]),
    })
}

/// The accesses of a finding in a passing run, in the order in which they came there.
pub fn compare(
    finding: &Finding,
    passing: &Profile,
    code: &Code,
    names: &mut Names,
) -> Option<(report::Comparison, Vec<Unnamed>)> {
    // The roles of threads are those of the pattern, which an example may show the other way round.
    if finding.example.id != finding.pattern.shape() || finding.example.accesses.is_empty() {
        return None;
    }
    let indices = evidence::counterpart(&passing.run, &finding.pattern)?;
    let mut accesses: Vec<(usize, u8)> = indices
        .into_iter()
        .zip(finding.pattern.shape().steps())
        .map(|(index, step)| (index, step.thread))
        .collect();
    accesses.sort_unstable();
    let recorded = |index: usize| &passing.run.accesses[index];
    let unnamed =
        accesses.iter().map(|&(index, _)| Unnamed::of(recorded(index), passing, code, names)).collect();
    let accesses = accesses
        .into_iter()
        .map(|(index, thread)| names.access(recorded(index), u32::from(thread), passing, code));
    let comparison = report::Comparison { run: u64::from(passing.run.id.0), accesses: accesses.collect() };
    Some((comparison, unnamed))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_of_maps_are_told_from_elements_of_arrays() {
        let is_entry = |file: &str, variable: &str| {
            let access = serde_json::json!({
                "thread": 1, "kind": "read", "variable": variable, "function": null, "file": file, "line": 7,
                "column": null, "stack": [],
            });
            is_map_entry(&serde_json::from_value(access).unwrap())
        };
        assert!(is_entry("Words.java", "Words.counts[\"the\"]"));
        assert!(is_entry("Words.java", "Words.counts[RED]"));
        assert!(!is_entry("Words.java", "Words.counts[3]"));
        assert!(!is_entry("Words.java", "Words.count"));
        assert!(!is_entry("words.rs", "counts[i]"));
    }
}
