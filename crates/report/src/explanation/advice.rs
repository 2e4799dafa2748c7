//! What to do, worded from the structured fix.

use super::facts::list;
use crate::model::{Action, Fix, FixPlace};
use crate::wording::brief_function;

/// The fix in one or two sentences: what to do, and what it costs where that is worth knowing.
pub fn advice(fix: &Fix) -> String {
    let locks = list(&fix.locks);
    if fix.action == Action::LockOrder {
        return format!("Take {locks} in the same order everywhere, such as that of their addresses.");
    }
    let Some(first) = fix.places.first() else { return String::new() };
    let other = fix.places.get(1);
    match (fix.action, other) {
        (Action::ExtendLock, None) => format!(
            "Hold {locks} from {} without giving it back in between. Others wait that much longer for it.",
            from_to(first)
        ),
        (Action::ExtendLock, Some(other)) => format!(
            "Hold {locks} from {} and from {} without giving it back in between. Others wait that much longer for it.",
            from_to(first),
            from_to(other)
        ),
        (Action::TakeLock, None) => format!("Take {locks} over {}, as the other thread does.", over(first)),
        (Action::TakeLock, Some(other)) => {
            format!("Take {locks} over {} and over {}, as other accesses do.", over(first), over(other))
        }
        (Action::AddLock, None) => format!("Guard {} by a lock.", over(first)),
        (Action::AddLock, Some(other)) if other == first || lies_in(other, first) => {
            format!("Guard {} by a lock, so that no other thread comes in between.", over(first))
        }
        (Action::AddLock, Some(other)) => format!("Guard {} and {} by one lock.", over(first), over(other)),
        (Action::UseOneLock, Some(other)) if *other != *first && !lies_in(other, first) => {
            format!("Guard {} and {} by the same lock; now they hold {locks}.", over(first), over(other))
        }
        (Action::UseOneLock, _) => {
            format!("Guard {} by a lock that all threads share; now they hold {locks}.", over(first))
        }
        (Action::AtomicOperation, _) => format!(
            "Make the load and the store at {} one atomic operation: a fetch-and-add or the like, or a \
             compare-and-exchange that is tried again when it fails.",
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
        (Action::Wait, Some(other)) => {
            format!("Let {} wait until {} is done.", at(first), at(other))
        }
        (Action::WaitInLoop, _) => {
            format!("Test the condition and wait for it in one critical section, in a loop: {}.", over(first))
        }
        (Action::Join | Action::CreateLater | Action::Wait, None) | (Action::LockOrder, _) => String::new(),
    }
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

pub(super) fn within(place: &FixPlace) -> String {
    place.function.as_deref().map_or_else(String::new, |name| format!(" in {}", brief_function(name)))
}

fn function_of(place: &FixPlace) -> String {
    place.function.as_deref().map_or_else(|| at(place), brief_function)
}

fn base_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}
