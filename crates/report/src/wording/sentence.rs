//! What the threads of a finding do, in one sentence.

use super::functions::brief_function;
use super::{Places, variable};
use crate::model::{Access, AccessKind, Finding, Kind};

/// What the threads do, in one sentence, for the shapes that one sentence can tell.
pub(crate) fn sentence(finding: &Finding) -> Option<String> {
    let places = Places::of(finding);
    let accesses: Vec<&Access> = finding.accesses.iter().collect();
    let roles: Vec<u32> = accesses.iter().map(|access| access.thread).collect();
    match (accesses.as_slice(), roles.as_slice()) {
        (&[held, other, awaited, last], [a, b, c, d])
            if finding.kind == Kind::Deadlock && a != b && a == c && b == d =>
        {
            Some(format!(
                "{} and waits for {} at {}, which another thread{} holds from {} while it waits for the first at {}.",
                opening(&places, held),
                variable(&awaited.variable),
                places.label(awaited),
                within(other),
                places.label(other),
                places.label(last),
            ))
        }
        (&[held, again], [a, b]) if finding.kind == Kind::Deadlock && a == b => Some(format!(
            "{} and {}: it waits for itself.",
            opening(&places, held),
            continuation(&places, held, again),
        )),
        (&[left, _, signal], [a, b, c])
            if finding.kind == Kind::MissedSignal && a != b && ![a, b].contains(&c) =>
        {
            Some(format!(
                "{}, which wakes one of the threads that wait for it; another one{} waits at {} forever.",
                opening(&places, signal),
                within(left),
                places.label(left),
            ))
        }
        (&[write, left], _) if finding.kind == Kind::MissedSignal && write.kind != AccessKind::Signal => {
            Some(format!(
                "{} and does not signal {}; another thread{} waits for that at {} forever.",
                opening(&places, write),
                variable(&left.variable),
                within(left),
                places.label(left),
            ))
        }
        (&[first, second], [a, b]) if a != b => {
            let object = object(second, first);
            let then = step(&places, second, &object);
            Some(format!("{} before another thread{} {then}.", opening(&places, first), within(second)))
        }
        (&[first, second, third], [a, b, c]) if a == c && a != b => Some(format!(
            "{}, then {}; in between, another thread{} {}.",
            opening(&places, first),
            continuation(&places, first, third),
            within(second),
            step(&places, second, &object(second, third)),
        )),
        (_, [a, b, c, d]) if a != b && [a, b].contains(&c) && [a, b].contains(&d) && c != d => {
            let (own, other): (Vec<&Access>, Vec<&Access>) =
                accesses.iter().partition(|access| access.thread == *a);
            Some(format!(
                "{}, then {}; meanwhile another thread{} {} and {}.",
                opening(&places, own[0]),
                continuation(&places, own[0], own[1]),
                within(other[0]),
                step(&places, other[0], &variable(&other[0].variable)),
                step(&places, other[1], &variable(&other[1].variable)),
            ))
        }
        (&[look, outdates, decides, act], [a, b, c, d]) if a == d && ![b, c].contains(&a) && b != c => {
            Some(format!(
                "{}, then {}; meanwhile another thread{} {}, and after that a third one{} {}.",
                opening(&places, look),
                continuation(&places, look, act),
                within(outdates),
                step(&places, outdates, &variable(&outdates.variable)),
                within(decides),
                step(&places, decides, &variable(&decides.variable)),
            ))
        }
        _ => None,
    }
}

/// `take_one() reads queue.size at queue.c:41`.
fn opening(places: &Places, access: &Access) -> String {
    let actor = access.function.as_deref().map_or_else(|| "One thread".to_owned(), brief_function);
    let actor = actor.strip_prefix("a ").map_or(actor.clone(), |nameless| format!("A {nameless}"));
    format!("{actor} {}", step(places, access, &variable(&access.variable)))
}

/// A later access of the same thread; its function is named only if it is another one.
fn continuation(places: &Places, earlier: &Access, access: &Access) -> String {
    let mut object = object(access, earlier);
    if access.variable == earlier.variable && access.kind == earlier.kind {
        object.push_str(" again");
    }
    let step = step(places, access, &object);
    match &access.function {
        Some(name) if Some(name) != earlier.function.as_ref() => format!("{} {step}", brief_function(name)),
        _ => step,
    }
}

fn step(places: &Places, access: &Access, object: &str) -> String {
    let verb = match access.kind {
        AccessKind::Read => "reads",
        AccessKind::Write if access.frees => "frees the memory of",
        AccessKind::Write => "writes",
        AccessKind::Update => "updates",
        AccessKind::Lock => "locks",
        AccessKind::Signal => "signals",
        AccessKind::Wait => "waits for",
    };
    match places.position(access) {
        Some(position) => format!("{verb} {object} at {position}"),
        None => format!("{verb} {object}"),
    }
}

fn object(access: &Access, mentioned: &Access) -> String {
    if access.variable == mentioned.variable { "it".to_owned() } else { variable(&access.variable) }
}

fn within(access: &Access) -> String {
    access.function.as_deref().map_or_else(String::new, |name| format!(", in {},", brief_function(name)))
}
