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
            "Keep {} whole: hold one lock from the look to the change, or look again right before the change.",
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
    Some(format!("See to it that {} comes before {}.", places.label(second), places.label(first)))
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
            format!("Hold {locks} over all of {} without giving it back in between. {WAIT}", at(first))
        }
        (Action::ExtendLock, None) => {
            format!("Hold {locks} from {} without giving it back in between. {WAIT}", from_to(first))
        }
        (Action::ExtendLock, Some(other)) => format!(
            "Hold {locks} from {} and from {} without giving it back in between. {WAIT}",
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
        (Action::AddLock, Some(other)) => format!("Guard {} and {} by one lock.", over(first), over(other)),
        // One and the same, which several threads have at once.
        (Action::UseOneLock, _) if fix.for_writing && fix.locks.len() == 1 => {
            let other = other.map_or(String::new(), |other| format!(" and over {}", over(other)));
            format!("Hold {locks} over {}{other}: for reading, other threads have it too.", over(first))
        }
        (Action::UseOneLock, Some(other)) => {
            format!("Guard {} and {} by the same lock; {}.", over(first), over(other), held_now(fix, &locks))
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
                "Make the load and the store at {} one atomic operation: {update}, or a {exchange} that is tried again \
                 when it fails.",
                over(first)
            )
        }
        (Action::MapOperation, _) => format!(
            "Make the look and the change at {} one call: `computeIfAbsent`, `merge`, `compute` or a `replace` that names \
             the old value, or `putIfAbsent`, and go on with what that returns.",
            over(first)
        ),
        (Action::ReadOnce, _) => format!(
            "Look once at {} and go on with what was found, or guard both looks, and what changes it, by one lock.",
            over(first)
        ),
        (Action::Join, Some(other)) => {
            format!("Wait for the end of the thread in {} before {}.", function_of(other), at(first))
        }
        (Action::CreateLater, Some(other)) => format!(
            "Do {} before the thread is created that needs it in {}, or let that wait for it.",
            at(first),
            function_of(other)
        ),
        (Action::PublishLater, Some(other)) => format!(
            "Publish at {} only after {} is done: whoever comes in between finds what is not ready yet.",
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
                "Give {locks} back on every way out of {}, which takes it at {}.",
                function_of(first),
                line(first)
            )
        }
        (Action::TakeOnce, Some(other)) if first == other => {
            format!("Do not come back to {} while {locks} is held: give it back first.", at(first))
        }
        (Action::TakeOnce, Some(other)) => format!(
            "Do not take {locks} at {} where it is held from {} already: call a version there that expects it to be held, or \
             give it back first.",
            at(first),
            at(other)
        ),
        (Action::SignalLater, Some(change)) => format!(
            "Signal only after {}: {} looked before that, waits since then, and no signal comes any more.",
            at(change),
            at(first)
        ),
        (Action::CountRounds, _) => format!(
            "Count how often it has come about, and wait at {} until that number has changed: what is waited for may be over \
             again before the thread that was woken looks.",
            at(first)
        ),
        // One test in a loop can be two places in the code.
        (Action::TestAgain, Some(using)) if using.first_line != first.first_line => format!(
            "Test in a loop, `while` in place of `if`: what {} has tested before the wait may be true no longer at {} after it.",
            at(first),
            at(using)
        ),
        (Action::WaitUnlocked, Some(wait)) => format!(
            "Give {locks}, taken at {}, back before the wait at {}: what is waited for does not come as long as it is held.",
            line(first),
            at(wait)
        ),
        (Action::WakeAll, _) => format!(
            "Wake all who wait for {locks} at {}, not one of them: others may wait for the same, or for something else.",
            at(first)
        ),
        (Action::WaitInLoop, _) => wait_in_loop(fix, &locks),
        (
            Action::Join
            | Action::CreateLater
            | Action::PublishLater
            | Action::Wait
            | Action::TakeOnce
            | Action::WaitUnlocked
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
        (_, 1) => format!("{locks} is held at a part of these accesses only"),
        // Elements of one array go by one name.
        ([one], _) => format!("now each variable has a `{one}` of its own"),
        _ => format!("now they hold {locks}"),
    }
}

fn lock_order(fix: &Fix) -> String {
    let locks: Vec<String> = distinct(fix.locks.iter().map(|lock| any_of_array(without_number(lock))));
    let each: Vec<String> = distinct(fix.places.iter().map(over));
    let at = if each.is_empty() { String::new() } else { format!(", also at {}", all_of(&each)) };
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
            "Before {}, test under the lock whether what it waits for has come already, and do so in a loop.",
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
            "{one} takes it itself: unless it is a recursive lock, call a version there that expects it to be held."
        ),
        [most @ .., last] => format!(
            "{} and {last} take it themselves: unless it is a recursive lock, call versions there that expect it to \
             be held.",
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
fn without_number(name: &str) -> &str {
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
fn over(place: &FixPlace) -> String {
    if place.first_line == place.last_line {
        return at(place);
    }
    format!("{}:{}–{}{}", base_name(&place.file), place.first_line, place.last_line, within(place))
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
mod tests {
    use super::*;

    fn place(function: &str, first_line: u32, last_line: u32) -> FixPlace {
        FixPlace { function: Some(function.to_owned()), file: "src/bank.c".to_owned(), first_line, last_line }
    }

    fn fix(action: Action, locks: &[&str], places: &[FixPlace]) -> Fix {
        let locks = locks.iter().map(|&lock| lock.to_owned()).collect();
        let (held, taken_by) = (Vec::new(), Vec::new());
        Fix { action, locks, for_writing: false, held, taken_by, places: places.to_vec(), patch: Vec::new() }
    }

    #[test]
    fn locks_of_an_array_are_told_by_one_name() {
        let each =
            fix(Action::UseOneLock, &["accounts[0].lock", "accounts[1].lock"], &[place("withdraw", 10, 12)]);
        let said = "Guard bank.c:10–12 in withdraw() by a lock that all threads share; now each variable has a \
                    `accounts[i].lock` of its own.";
        assert_eq!(advice(&each), said);
    }

    #[test]
    fn what_is_published_too_early_is_to_be_published_later() {
        let later = fix(Action::PublishLater, &[], &[place("get", 19, 19), place("discover", 29, 29)]);
        let said = "Publish at bank.c:19 in get() only after bank.c:29 in discover() is done: whoever comes in between finds \
                    what is not ready yet.";
        assert_eq!(advice(&later), said);
    }

    #[test]
    fn what_java_has_for_it_is_named() {
        let at = FixPlace { file: "src/Words.java".to_owned(), ..place("Words.add", 17, 18) };
        let map = advice(&fix(Action::MapOperation, &[], std::slice::from_ref(&at)));
        assert!(
            map.starts_with(
                "Make the look and the change at Words.java:17–18 in Words.add() one call: `compute"
            ),
            "{map}"
        );
        assert!(advice(&fix(Action::AtomicOperation, &[], &[at])).contains("`compareAndSet`"));
        let native = advice(&fix(Action::AtomicOperation, &[], &[place("add", 17, 18)]));
        assert!(
            native.ends_with(
                "a fetch-and-add or the like, or a compare-and-exchange that is tried again when it fails."
            ),
            "{native}"
        );
    }

    #[test]
    fn a_lock_is_held_longer() {
        let extended = fix(Action::ExtendLock, &["accounts[3].lock"], &[place("transfer", 41, 47)]);
        let said = "Hold `accounts[i].lock` from bank.c:41 to bank.c:47 in transfer() without giving it back in \
                    between. Others wait that much longer for it.";
        assert_eq!(advice(&extended), said);
        let taken_by = vec!["balance".to_owned(), "post(int)".to_owned()];
        let inside = "balance() and post() take it themselves: unless it is a recursive lock, call versions there that \
                      expect it to be held.";
        assert_eq!(advice(&Fix { taken_by, ..extended.clone() }), format!("{said} {inside}"));
        let upgraded = advice(&Fix { for_writing: true, ..extended });
        assert!(upgraded.starts_with("Hold `accounts[i].lock` for writing from bank.c:41"), "{upgraded}");
        let on_one_line = fix(Action::ExtendLock, &["lock"], &[place("transfer", 41, 41)]);
        assert!(advice(&on_one_line).starts_with("Hold `lock` over all of bank.c:41 in transfer() without"));
    }

    #[test]
    fn who_changes_something_holds_the_lock_for_writing() {
        let places = [place("keys", 24, 24), place("get", 12, 12)];
        let read_only = Fix { for_writing: true, ..fix(Action::UseOneLock, &["cache.lock"], &places) };
        assert_eq!(
            advice(&read_only),
            "Hold `cache.lock` for writing over bank.c:24 in keys() and over bank.c:12 in get(): for reading, other threads \
             have it too."
        );
    }

    #[test]
    fn a_second_lock_is_taken_in_a_fixed_order() {
        let taken = fix(Action::TakeLock, &["accounts[3].lock"], &[place("post", 16, 16)]);
        let held = vec!["payroll.lock".to_owned()];
        assert_eq!(
            advice(&Fix { held, ..taken }),
            "Take `accounts[i].lock` over bank.c:16 in post(), as the other thread does. `payroll.lock` is held there \
             already: take both in the same order everywhere."
        );
    }

    #[test]
    fn what_is_destroyed_may_be_kept_alive() {
        let places = [place("Routes::~Routes", 29, 29), place("Router::route", 58, 58)];
        assert_eq!(
            advice(&fix(Action::Wait, &[], &places)),
            "Let bank.c:29 in Routes::~Routes() wait until bank.c:58 in Router::route() is done, or let Router::route() hold \
             a reference of its own to what it uses, such as a copy of the shared pointer."
        );
    }

    #[test]
    fn to_sleep_is_not_to_wait() {
        let mut places = vec![place("check", 24, 24), place("work", 13, 13)];
        let said = "Let bank.c:24 in check() wait until bank.c:13 in work() is done";
        assert_eq!(advice(&fix(Action::Wait, &[], &places)), format!("{said}."));
        places.push(place("check", 22, 22));
        assert_eq!(
            advice(&fix(Action::Wait, &[], &places)),
            format!(
                "{said}, for the end of that thread or for a condition that it signals, and do not sleep at bank.c:22 in \
                 the hope that it will be."
            )
        );
    }

    #[test]
    fn threads_that_wait_for_ever() {
        let order =
            fix(Action::LockOrder, &["a.lock", "b.lock"], &[place("move", 3, 5), place("move", 3, 5)]);
        assert_eq!(
            advice(&order),
            "Take `a.lock` and `b.lock` in the same order everywhere, for example by their addresses, also at \
             bank.c:3–5 in move()."
        );
        let unlock = fix(Action::Unlock, &["a.lock"], &[place("append", 48, 48)]);
        assert_eq!(
            advice(&unlock),
            "Give `a.lock` back on every way out of append(), which takes it at bank.c:48."
        );
        let again = fix(Action::TakeOnce, &["a.lock"], &[place("get", 11, 11), place("show", 24, 24)]);
        assert_eq!(
            advice(&again),
            "Do not take `a.lock` at bank.c:11 in get() where it is held from bank.c:24 in show() already: call a version \
             there that expects it to be held, or give it back first."
        );
        let by_itself = fix(Action::TakeOnce, &["a.lock"], &[place("add", 15, 15), place("add", 15, 15)]);
        let said = "Do not come back to bank.c:15 in add() while `a.lock` is held: give it back first.";
        assert_eq!(advice(&by_itself), said);
        let unlocked =
            fix(Action::WaitUnlocked, &["a.lock"], &[place("stop", 34, 34), place("stop", 37, 37)]);
        assert_eq!(
            advice(&unlocked),
            "Give `a.lock`, taken at bank.c:34, back before the wait at bank.c:37 in stop(): what is waited for does not come \
             as long as it is held."
        );
        let later = fix(Action::SignalLater, &[], &[place("pass", 15, 15), place("open", 21, 21)]);
        assert_eq!(
            advice(&later),
            "Signal only after bank.c:21 in open(): bank.c:15 in pass() looked before that, waits since then, and no signal comes any \
             more."
        );
        assert_eq!(
            advice(&fix(Action::ReadOnce, &[], &[place("get", 15, 17)])),
            "Look once at bank.c:15–17 in get() and go on with what was found, or guard both looks, and what changes it, by one \
             lock."
        );
        assert_eq!(
            advice(&fix(Action::CountRounds, &[], &[place("meet", 31, 31)])),
            "Count how often it has come about, and wait at bank.c:31 in meet() until that number has changed: what is waited for \
             may be over again before the thread that was woken looks."
        );
        let all = fix(Action::WakeAll, &["q.ready"], &[place("close", 30, 30)]);
        assert_eq!(
            advice(&all),
            "Wake all who wait for `q.ready` at bank.c:30 in close(), not one of them: others may wait for the same, or for \
             something else."
        );
        let again = fix(Action::TestAgain, &["a.lock"], &[place("pop", 18, 18), place("pop", 19, 19)]);
        assert_eq!(
            advice(&again),
            "Test in a loop, `while` in place of `if`: what bank.c:18 in pop() has tested before the wait may be true no longer at \
             bank.c:19 in pop() after it."
        );
        let loops = fix(Action::TestAgain, &["a.lock"], &[place("pop", 18, 18), place("pop", 18, 18)]);
        assert_eq!(advice(&loops), "");
        let places = [place("receive", 60, 63), place("wait", 52, 52)];
        assert_eq!(
            advice(&fix(Action::WaitInLoop, &["box.lock"], &places)),
            "Hold `box.lock` from the test to the wait, bank.c:60–63 in receive(), and test in a loop: wait only while \
             it is needed."
        );
        assert!(
            advice(&fix(Action::WaitInLoop, &[], &places[1..]))
                .starts_with("Before bank.c:52 in wait(), test")
        );
    }

    #[test]
    fn an_order_that_most_passing_runs_have_is_not_turned_round() {
        let order = |kinds: [&str; 2], passed: u64| {
            let access = |(at, kind): (usize, &str)| {
                let function = if at == 0 { "pop" } else { "post" };
                serde_json::json!({
                    "thread": at, "kind": kind, "variable": "v", "stack": [], "file": "a.c", "line": 10 + at,
                    "function": function,
                })
            };
            let accesses: Vec<_> = kinds.into_iter().enumerate().map(access).collect();
            let finding: Finding = serde_json::from_value(serde_json::json!({
                "rank": 1, "tied": 1, "score": 1.0, "failed": 1, "passed": passed, "kind": "order-violation",
                "pattern": "RW", "pattern_id": null, "accesses": accesses, "suspicious_functions": [],
                "cluster": null, "failing_runs": [], "evidence": [], "advice": "", "confirmation": null,
            }))
            .unwrap();
            other_order(&finding, 10).unwrap_or_default()
        };
        assert_eq!(order(["read", "write"], 2), "See to it that a.c:11 comes before a.c:10.");
        let often = order(["read", "write"], 8);
        assert!(often.contains("what pop() does after a.c:10 that goes with it"), "{often}");
        let turned = order(["write", "read"], 8);
        assert!(turned.contains("what post() does before a.c:11 that goes with it"), "{turned}");
        assert_eq!(order(["write", "write"], 8), "");
    }

    #[test]
    fn who_looks_before_it_changes_cannot_change_first() {
        let told = |kinds: [&str; 2]| {
            let access = |(at, kind): (usize, &str)| {
                let frame = serde_json::json!({ "function": "open", "file": "a.rs", "line": 35 + 5 * at });
                let mut access = frame.clone();
                access["stack"] = serde_json::json!([frame]);
                (access["thread"], access["kind"], access["variable"]) = (at.into(), kind.into(), "v".into());
                access
            };
            let accesses: Vec<_> = kinds.into_iter().enumerate().map(access).collect();
            let finding: Finding = serde_json::from_value(serde_json::json!({
                "rank": 1, "tied": 1, "score": 1.0, "failed": 1, "passed": 0, "kind": "order-violation",
                "pattern": "RW", "pattern_id": null, "accesses": accesses, "suspicious_functions": [],
                "cluster": null, "failing_runs": [], "evidence": [], "advice": "", "confirmation": null,
            }))
            .unwrap();
            other_order(&finding, 10).unwrap_or_default()
        };
        let whole = told(["read", "write"]);
        assert!(whole.starts_with("Keep a.rs:35–40 in open() whole: "), "{whole}");
        assert_eq!(told(["write", "read"]), "See to it that a.rs:40 comes before a.rs:35.");
    }

    #[test]
    fn places_in_one_function_are_one() {
        let both = [place("order", 26, 30), place("order", 31, 31)];
        assert_eq!(
            advice(&fix(Action::AddLock, &[], &both)),
            "Guard bank.c:26–31 in order() by a lock, so that no other thread comes in between."
        );
        let two = [place("order", 26, 30), place("swap", 31, 31)];
        assert_eq!(
            advice(&fix(Action::AddLock, &[], &two)),
            "Guard bank.c:26–30 in order() and bank.c:31 in swap() by one lock."
        );
        let waits = [place("order", 26, 26), place("order", 31, 31)];
        assert_eq!(
            advice(&fix(Action::Wait, &[], &waits)),
            "Let bank.c:26 in order() wait until bank.c:31 in order() is done."
        );
        let forks = fix(Action::LockOrder, &["forks[1].mutex", "forks[2].mutex"], &[]);
        assert!(advice(&forks).starts_with("Take locks like `forks[i].mutex` in the same order everywhere"));
    }

    #[test]
    fn only_numbers_in_brackets_are_general() {
        assert_eq!(any_of_array("`a[12].b[3]` and `c[n]`, d[4"), "`a[i].b[i]` and `c[n]`, d[4");
    }
}
