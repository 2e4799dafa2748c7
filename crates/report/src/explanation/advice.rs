//! What to do, worded from the structured fix.

use super::facts::list;
use super::region::{comes_first, region};
use crate::model::{Access, AccessKind, Action, Finding, Fix, FixPlace};
use crate::wording::{Places, all_of, brief_function, distinct};

/// The fix in a few sentences: what to do, and what it costs where that is worth knowing.
pub fn advice(fix: &Fix) -> String {
    let sentences = [action(fix), taken_by(fix), held(fix)];
    sentences.into_iter().filter(|sentence| !sentence.is_empty()).collect::<Vec<_>>().join(" ")
}

/// Of two accesses that came in the wrong order, how they should come. Of so many passing runs, most may have them in that order as
/// well: then the other order is not to be had, and what went wrong is what was done with a value that was no longer true.
pub fn other_order(finding: &Finding, passing: u64) -> Option<String> {
    let [first, second] = finding.accesses.as_slice() else { return None };
    // Whoever comes to the change has looked before: nobody can change first.
    let is_look = first.kind == AccessKind::Read && second.kind != AccessKind::Read;
    if let Some(whole) = region(finding, &[0, 1]).filter(|_| is_look && comes_first(first, second)) {
        return Some(format!(
            "Keep {} atomic: hold one lock from the check to the change, or check again right before the change.",
            over(&whole)
        ));
    }
    let places = Places::of(finding);
    if finding.passed * 2 > passing {
        let named = |access: &Access| access.function.as_deref().map_or("the thread".into(), brief_function);
        let (from, to) = (places.label(first), places.label(second));
        let together = |whose: String, when: &str, own: &str, other: &str| {
            format!(
                "Most passing runs have this order too: look for what {whose} does {when} {own} that goes with it, and keep both \
                 together, so that {other} comes before or after all of it."
            )
        };
        return match [first.kind, second.kind].map(|kind| kind == AccessKind::Read) {
            [true, _] => Some(together(named(first), "after", &from, &to)),
            [_, true] => Some(together(named(second), "before", &to, &from)),
            _ => None,
        };
    }
    Some(format!("Make sure that {} comes before {}.", places.label(second), places.label(first)))
}

/// Of a change that two threads make at one place, with no lock that both hold: neither order is the right one.
pub fn one_at_a_time(finding: &Finding) -> Option<String> {
    let [first, second] = finding.accesses.as_slice() else { return None };
    let locks = |access: &Access| access.locks.clone().unwrap_or_default();
    let is_guarded = locks(first).iter().any(|lock| locks(second).contains(lock));
    if is_guarded || first.kind == AccessKind::Read || second.kind == AccessKind::Read {
        return None;
    }
    Some(format!(
        "Let only one thread at a time do what ends in the write at {}, with what it has read for it: hold one lock all the \
         while, or make it one atomic operation.",
        Places::of(finding).label(second)
    ))
}

fn action(fix: &Fix) -> String {
    let mut locks = any_of_array(&list(&fix.locks));
    if fix.for_writing {
        locks.push_str(" for writing");
    }
    if fix.action == Action::LockOrder {
        return lock_order(fix);
    }
    let places = together(&fix.places, fix.action);
    let Some(first) = places.first() else { return String::new() };
    let other = places.get(1);
    const WAIT: &str = "Others wait that much longer for it.";
    match (fix.action, other) {
        (Action::ExtendLock, None) if first.first_line == first.last_line => {
            format!("Hold {locks} over all of {} without releasing it in between. {WAIT}", at(first))
        }
        (Action::ExtendLock, None) => {
            format!("Hold {locks} from {} without releasing it in between. {WAIT}", from_to(first))
        }
        (Action::ExtendLock, Some(other)) => format!(
            "Hold {locks} from {} and from {} without releasing it in between. {WAIT}",
            from_to(first),
            from_to(other)
        ),
        (Action::TakeLock, None) => format!("Take {locks} over {}, as the other thread does.", over(first)),
        (Action::TakeLock, Some(other)) => {
            format!("Take {locks} over {} and over {}, as other accesses do.", over(first), over(other))
        }
        (Action::AddLock, None) => {
            format!("Guard {} by a lock, so that no other thread comes in between.", over(first))
        }
        (Action::AddLock, Some(_)) => format!("Guard {} by one lock.", all_over(&places)),
        // One and the same, which several threads have at once.
        (Action::UseOneLock, _) if fix.for_writing && fix.locks.len() == 1 => {
            let other = other.map_or(String::new(), |other| format!(" and over {}", over(other)));
            format!("Hold {locks} over {}{other}: for reading, other threads have it too.", over(first))
        }
        (Action::UseOneLock, Some(_)) => {
            format!("Guard {} by the same lock; {}.", all_over(&places), held_now(fix, &locks))
        }
        (Action::UseOneLock, None) => {
            format!("Guard {} by a lock that all threads share; {}.", over(first), held_now(fix, &locks))
        }
        (Action::AtomicOperation, _) => {
            let (update, exchange) = match first.file.ends_with(".java") {
                true => (
                    "of an `AtomicInteger` or the like, `incrementAndGet` or `updateAndGet`",
                    "`compareAndSet`",
                ),
                false => ("a fetch-and-add or the like", "compare-and-exchange"),
            };
            format!(
                "Make the load and the store at {} one atomic operation: {update}, or a {exchange} that is retried \
                 when it fails.",
                over(first)
            )
        }
        (Action::MapOperation, _) => format!(
            "Make the check and the change at {} one call: `computeIfAbsent`, `merge`, `compute` or a `replace` that names \
             the old value, or `putIfAbsent`, and go on with what that returns.",
            over(first)
        ),
        (Action::ReadOnce, _) => format!(
            "Look once at {} and go on with what was found, or guard both looks, and whatever changes it, by one lock.",
            over(first)
        ),
        (Action::Join, Some(other)) => {
            format!("Wait for the end of the thread in {} before {}.", function_of(other), at(first))
        }
        (Action::ConstructFirst, Some(other)) => format!(
            "The process ends: {} destroys what the thread in {} still uses. Objects are destroyed in the reverse order of their \
             construction, so construct this one before the one that waits for the end of that thread, or never destroy it.",
            at(first),
            function_of(other)
        ),
        (Action::CreateLater, Some(other)) => format!(
            "Do {} before the thread that needs it in {} is created, or make that thread wait for it.",
            at(first),
            function_of(other)
        ),
        (Action::PublishLater, Some(other)) => format!(
            "Publish at {} only after {} is done: a thread that comes in between finds something that is not ready yet.",
            at(first),
            at(other)
        ),
        (Action::Wait, Some(other)) => {
            let wait = format!("Let {} wait until {} is done", at(first), at(other));
            match places.get(2) {
                Some(sleep) => format!(
                    "{wait}, for the end of that thread or for a condition that it signals, and do not sleep at {} in the \
                     hope that it will be.",
                    line(sleep)
                ),
                // Who destroys an object may be the last of several that own it.
                None if function_of(first).contains('~') => format!(
                    "{wait}, or let {} hold a reference of its own to what it uses, such as a copy of the shared pointer.",
                    function_of(other)
                ),
                None => wait + ".",
            }
        }
        (Action::Unlock, _) => {
            format!(
                "Release {locks} on every path out of {}, which takes it at {}.",
                function_of(first),
                line(first)
            )
        }
        (Action::TakeOnce, Some(other)) if first == other => {
            format!("Do not return to {} while {locks} is held: release it first.", at(first))
        }
        (Action::TakeOnce, Some(other)) => format!(
            "Do not take {locks} at {} where it is held from {} already: call a version there that expects it \
             to be held, or release it first.",
            at(first),
            at(other)
        ),
        (Action::SignalLater, Some(change)) => format!(
            "Signal only after {}: {} looked before that, has waited ever since, and no further signal comes.",
            at(change),
            at(first)
        ),
        (Action::CountRounds, _) => format!(
            "Count how often it has happened, and wait at {} until that number has changed: what is waited for may be over \
             again before the thread that was woken looks.",
            at(first)
        ),
        // One test in a loop can be two places in the code.
        (Action::TestAgain, Some(using)) if using.first_line != first.first_line => format!(
            "Test in a loop, `while` instead of `if`: what {} tested before the wait may no longer be true at {} after it.",
            at(first),
            at(using)
        ),
        (Action::LookAgain, Some(earlier)) => format!(
            "Before the write at {}, check that all is still as {} left it: {locks} is released in between, and \
             what another thread writes in that time must not be overwritten. Or hold it throughout.",
            at(first),
            line(earlier)
        ),
        (Action::LookAfterUnlock, Some(attempt)) => format!(
            "Look once more after {} has released {locks}: a thread that finds it taken at {} leaves its part \
             to the thread that holds it, which may have looked for the last time.",
            at(first),
            at(attempt)
        ),
        (Action::WaitUnlocked, Some(wait)) => format!(
            "Release {locks}, taken at {}, before the wait at {}: what is waited for cannot happen while it is held.",
            line(first),
            at(wait)
        ),
        (Action::WakeAll, _) => format!(
            "Wake all threads that wait for {locks} at {}, not just one of them: others may wait for the same, \
             or for something else.",
            at(first)
        ),
        (Action::SignalEach, _) => format!(
            "Signal {locks} after each change at {}, whatever was there before, or wake all waiting threads \
             where it is signalled: each change lets one more of them go on.",
            at(first)
        ),
        (Action::WaitInLoop, _) => wait_in_loop(fix, &locks),
        (
            Action::Join
            | Action::ConstructFirst
            | Action::CreateLater
            | Action::PublishLater
            | Action::Wait
            | Action::TakeOnce
            | Action::WaitUnlocked
            | Action::LookAgain
            | Action::LookAfterUnlock
            | Action::SignalLater
            | Action::LockOrder,
            None,
        )
        | (Action::LockOrder | Action::TestAgain, _) => String::new(),
    }
}

/// One lock, were it held at all of these accesses, would be one for all of them.
fn held_now(fix: &Fix, locks: &str) -> String {
    let names = distinct(fix.locks.iter().map(|lock| any_of_array(without_number(lock))));
    match (names.as_slice(), fix.locks.len()) {
        (_, 1) => format!("{locks} is held at only some of these accesses"),
        ([one], _) if fix.locks.iter().all(|lock| without_number(lock) != lock) => {
            format!("at present they do not hold the same `{one}`")
        }
        // Elements of one array go by one name.
        ([one], _) => format!("at present each variable has a `{one}` of its own"),
        _ => format!("now they hold {locks}"),
    }
}

fn lock_order(fix: &Fix) -> String {
    let locks: Vec<String> = distinct(fix.locks.iter().map(|lock| any_of_array(without_number(lock))));
    let each: Vec<String> = distinct(fix.places.iter().map(over));
    let at = if each.is_empty() { String::new() } else { format!(": see {}", all_of(&each)) };
    // Elements of one array, and what goes by one name, are told apart by nothing but their addresses.
    let what = match locks.as_slice() {
        [one] => format!("locks like `{one}`"),
        _ => list(&locks),
    };
    let is_java = fix.places.iter().any(|place| place.file.ends_with(".java"));
    let order = if is_java { "by a number that each has" } else { "by their addresses" };
    format!("Take {what} in the same order everywhere, for example {order}{at}.")
}

/// The places without those that are part of another; two in one function that one lock is to guard are one.
fn together(places: &[FixPlace], action: Action) -> Vec<FixPlace> {
    let [first, other] = places else { return places.to_vec() };
    let one_lock = matches!(action, Action::AddLock | Action::UseOneLock);
    if one_lock
        && first.function.is_some()
        && (&first.file, &first.function) == (&other.file, &other.function)
    {
        let first_line = first.first_line.min(other.first_line);
        let last_line = first.last_line.max(other.last_line);
        return vec![FixPlace { first_line, last_line, ..first.clone() }];
    }
    let is_part = matches!(action, Action::ExtendLock | Action::TakeLock) || one_lock;
    if is_part && lies_in(other, first) { vec![first.clone()] } else { places.to_vec() }
}

/// The first place is from the test to the wait, the second the wait; or there is only the wait.
fn wait_in_loop(fix: &Fix, locks: &str) -> String {
    match fix.places.as_slice() {
        [both, _wait] if !fix.locks.is_empty() => format!(
            "Hold {locks} from the test to the wait, {}, and test in a loop: wait only while it is needed.",
            over(both)
        ),
        [both, _wait] => format!(
            "Hold one lock from the test to the wait, {}, and over the change and its signal; test in a loop: wait \
             only while it is needed.",
            over(both)
        ),
        [wait] => format!(
            "Before {}, test under the lock whether what it waits for has already happened, and do so in a loop.",
            at(wait)
        ),
        _ => String::new(),
    }
}

/// Whoever holds a lock that is not recursive must not call what takes it.
fn taken_by(fix: &Fix) -> String {
    let functions: Vec<String> = fix.taken_by.iter().map(|name| brief_function(name)).collect();
    match functions.as_slice() {
        [] => String::new(),
        [one] => format!(
            "{one} takes it too: unless the lock is recursive, call a version there that expects it to be held."
        ),
        [most @ .., last] => format!(
            "{} and {last} take it too: unless the lock is recursive, call versions there that expect it to be held.",
            most.join(", ")
        ),
    }
}

fn held(fix: &Fix) -> String {
    if fix.held.is_empty() {
        return String::new();
    }
    let held = any_of_array(&list(&fix.held));
    format!("{held} is held there already: take both in the same order everywhere.")
}

/// The name that several share: `Account` for `Account #2`.
pub(super) fn without_number(name: &str) -> &str {
    match name.rsplit_once(" #") {
        Some((shared, number)) if number.bytes().all(|byte| byte.is_ascii_digit()) => shared,
        _ => name,
    }
}

/// What is true of one element of an array in the run that is shown is advised for all.
pub fn any_of_array(names: &str) -> String {
    let mut general = String::new();
    let mut rest = names;
    while let Some(open) = rest.find('[') {
        let (before, index) = rest.split_at(open + 1);
        let digits = index.bytes().take_while(u8::is_ascii_digit).count();
        general.push_str(before);
        rest = index;
        if digits > 0 && index[digits..].starts_with(']') {
            general.push('i');
            rest = &index[digits..];
        }
    }
    general + rest
}

fn lies_in(inner: &FixPlace, outer: &FixPlace) -> bool {
    inner.file == outer.file && inner.first_line >= outer.first_line && inner.last_line <= outer.last_line
}

/// `queue.c:41 to queue.c:47 in take_one()`.
fn from_to(place: &FixPlace) -> String {
    let file = base_name(&place.file);
    format!("{file}:{} to {file}:{}{}", place.first_line, place.last_line, within(place))
}

/// `queue.c:41–47 in take_one()`.
pub(super) fn over(place: &FixPlace) -> String {
    if place.first_line == place.last_line {
        return at(place);
    }
    format!("{}:{}–{}{}", base_name(&place.file), place.first_line, place.last_line, within(place))
}

fn all_over(places: &[FixPlace]) -> String {
    all_of(&places.iter().map(over).collect::<Vec<_>>())
}

/// `queue.c:41 in take_one()`.
fn at(place: &FixPlace) -> String {
    format!("{}:{}{}", base_name(&place.file), place.first_line, within(place))
}

/// `queue.c:41`.
fn line(place: &FixPlace) -> String {
    format!("{}:{}", base_name(&place.file), place.first_line)
}

pub(super) fn within(place: &FixPlace) -> String {
    place.function.as_deref().map_or_else(String::new, |name| format!(" in {}", brief_function(name)))
}

fn function_of(place: &FixPlace) -> String {
    place.function.as_deref().map_or_else(|| at(place), brief_function)
}

fn base_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

#[cfg(test)]
mod tests;
