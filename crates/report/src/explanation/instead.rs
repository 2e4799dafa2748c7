//! Better advice than to hold a lock, where the lock is not one to be held: it is another one every time, or a map's own.

use super::advice::{over, without_number};
use crate::model::{Access, AccessKind, Action, Finding, Frame};
use crate::wording::Places;

/// What to do about a finding whose locks are no locks to be held; none for any other.
pub fn in_place_of_the_lock(finding: &Finding) -> Option<String> {
    assigned_anew(finding).or_else(|| within_a_map(finding))
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
        "Make the look and the change at {} one: `entry`, `get_mut` or `alter` keep that part of the map locked until the \
         change is made.",
        over(place)
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
        assert!(advice.starts_with("Make the look and the change at roster.rs:12–14 in add() one: `entry`"));
        assert_eq!(said("/rustc/1f2/library/std/src/collections/hash/map.rs"), None);
    }
}
