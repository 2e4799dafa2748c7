//! Better advice than to hold a lock, where the lock is not one to be held: it is another one every time, or a map's own. And better than not to take it
//! again, where a destructor does.

use super::advice::{over, without_number};
use crate::model::{Access, AccessKind, Action, Finding, FixPlace, Frame};
use crate::wording::{Places, brief_function};

/// What to do about a finding whose locks are no locks to be held; none for any other.
pub fn in_place_of_the_lock(finding: &Finding) -> Option<String> {
    assigned_anew(finding).or_else(|| within_a_map(finding)).or_else(|| destroyed_under_it(finding))
}

/// The lock is the object in the very variable that is written: whoever comes later locks another one.
fn assigned_anew(finding: &Finding) -> Option<String> {
    let fix = finding.fix.as_ref().filter(|fix| fix.action == Action::UseOneLock)?;
    let lock = without_number(fix.locks.first()?);
    let is_one = fix.locks.len() > 1 && fix.locks.iter().all(|other| without_number(other) == lock);
    let assigns = |access: &&Access| access.kind != AccessKind::Read && access.variable == lock;
    let assigned = finding.accesses.iter().find(assigns).filter(|_| is_one)?;
    let place = Places::of(finding).label(assigned);
    Some(format!(
        "Guard {} by a lock that stays the same, such as an object of its own: `{lock}` is another object once {place} \
         has assigned it, and whoever comes later locks that one.",
        over(fix.places.first()?)
    ))
}

/// A map locks itself for each call, and gives its lock to nobody but who asks for an entry.
fn within_a_map(finding: &Finding) -> Option<String> {
    let fix = finding.fix.as_ref().filter(|fix| fix.action == Action::ExtendLock)?;
    let is_within = |access: &Access| {
        access.stack.iter().take_while(|frame| frame.is_library()).any(Frame::is_of_locked_map)
    };
    let place = fix.places.first().filter(|_| finding.accesses.iter().any(is_within))?;
    Some(format!(
        "Make the check and the change at {} one: `entry`, `get_mut` or `alter` keep that part of the map locked until the \
         change is made.",
        over(place)
    ))
}

/// An object is let go of where the lock is held that its destructor takes, as where the last reference to it goes that others had as well
/// until then. Nobody calls that destructor, so there is no other version of it to be called.
fn destroyed_under_it(finding: &Finding) -> Option<String> {
    let fix = finding.fix.as_ref().filter(|fix| fix.action == Action::TakeOnce)?;
    let ([lock], [again, holder]) = (fix.locks.as_slice(), fix.places.as_slice()) else { return None };
    let stack = &finding.accesses.last()?.stack;
    let held =
        stack.iter().position(|frame| frame.function.is_some() && frame.function == holder.function)?;
    let is_destructor = |frame: &&Frame| {
        !frame.is_library() && frame.function.as_ref().is_some_and(|name| name.contains('~'))
    };
    let destructor = stack[..held].iter().find(is_destructor)?.function.as_deref()?;
    let line = stack[held].line?;
    let gone = FixPlace { first_line: line, last_line: line, ..holder.clone() };
    Some(format!(
        "Do not let go of the object at {} while `{lock}` is held: {} takes it, at {}. Keep the object, or the reference to \
         it, until the lock is released.",
        over(&gone),
        brief_function(destructor),
        over(again)
    ))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// A finding about a variable in a file, with a fix about these locks.
    fn finding(variable: &str, file: &str, action: &str, locks: &[&str]) -> Finding {
        let access = |kind: &str, line: u32| {
            let called = json!({ "function": "insert", "file": file, "line": 9, "column": null });
            let own = json!({ "function": "add", "file": "src/roster.rs", "line": line, "column": null });
            json!({ "thread": 1, "kind": kind, "variable": variable, "function": "add", "file": "src/roster.rs",
                    "line": line, "column": null, "source": null, "stack": [called, own], "value": null, "locks": null })
        };
        let place = json!({ "function": "add", "file": "src/roster.rs", "first_line": 12, "last_line": 14 });
        serde_json::from_value(json!({
            "rank": 1, "tied": 1, "score": 1.0, "failed": 1, "passed": 0, "kind": "atomicity-violation",
            "pattern": "RWW", "pattern_id": null, "accesses": [access("read", 12), access("write", 14)],
            "suspicious_functions": [], "cluster": null, "failing_runs": [], "evidence": [], "advice": "",
            "fix": { "action": action, "locks": locks, "places": [place] },
        }))
        .unwrap()
    }

    #[test]
    fn a_lock_that_is_assigned_anew_guards_nothing() {
        let said = |variable: &str, locks: &[&str]| {
            in_place_of_the_lock(&finding(variable, "src/a.rs", "use-one-lock", locks))
        };
        assert_eq!(
            said("Roster.names", &["Roster.names #1", "Roster.names #2"]).unwrap(),
            "Guard roster.rs:12–14 in add() by a lock that stays the same, such as an object of its own: `Roster.names` \
             is another object once roster.rs:14 has assigned it, and whoever comes later locks that one."
        );
        assert_eq!(said("Roster.size", &["Roster.names #1", "Roster.names #2"]), None);
        assert_eq!(said("Roster.names", &["Roster.names", "Roster.lock"]), None);
        assert_eq!(said("Roster.names", &["Roster.names"]), None);
    }

    #[test]
    fn a_maps_own_lock_is_not_to_be_held() {
        let said = |file: &str| in_place_of_the_lock(&finding("stock", file, "extend-lock", &["lock"]));
        let map = "/home/me/.cargo/registry/src/index-0123456789abcdef/dashmap-6.2.1/src/lib.rs";
        let advice = said(map).unwrap();
        assert!(advice.starts_with("Make the check and the change at roster.rs:12–14 in add() one: `entry`"));
        assert_eq!(said("/rustc/1f2/library/std/src/collections/hash/map.rs"), None);
    }

    #[test]
    fn an_object_whose_destructor_takes_the_lock_outlives_it() {
        let frame = |function: &str, line: u32| json!({ "function": function, "file": "docs.cpp", "line": line, "column": null });
        let said = |between: &str| {
            let place = |function: &str, line: u32| json!({ "function": function, "file": "docs.cpp", "first_line": line, "last_line": line });
            let mut finding = finding("lock", "a.cpp", "take-once", &["lock"]);
            let fix = finding.fix.as_mut().unwrap();
            fix.places =
                serde_json::from_value(json!([place("closed()", 50), place("total()", 62)])).unwrap();
            let stack =
                json!([frame("closed()", 50), frame(between, 32), frame("total()", 69), frame("main", 80)]);
            finding.accesses[1].stack = serde_json::from_value(stack).unwrap();
            in_place_of_the_lock(&finding)
        };
        assert_eq!(
            said("Document::~Document()").unwrap(),
            "Do not let go of the object at docs.cpp:69 in total() while `lock` is held: Document::~Document() takes it, at \
             docs.cpp:50 in closed(). Keep the object, or the reference to it, until the lock is released."
        );
        assert_eq!(said("Document::close()"), None);
    }
}
