//! What happened, in one paragraph, with values.

use crate::model::{Access, AccessKind, Finding, Runs};
use crate::wording::{Places, brief_function, holder, plural, variable};

/// What happened in the failing run that the finding shows, and how often it was seen. Empty without accesses.
pub fn story(finding: &Finding, runs: &Runs) -> String {
    if finding.accesses.is_empty() {
        return String::new();
    }
    let places = Places::of(finding);
    let mut sentences: Vec<String> =
        (0..finding.accesses.len()).map(|index| sentence(finding, &places, index)).collect();
    sentences.push(frequency(finding, runs));
    sentences.join(" ")
}

/// One access, and how its variable changed since its thread last looked.
fn sentence(finding: &Finding, places: &Places, index: usize) -> String {
    let access = &finding.accesses[index];
    let earlier = &finding.accesses[..index];
    let own_before = earlier.iter().rev().find(|other| is_own(other, access));
    let changed_by = earlier
        .iter()
        .rev()
        .take_while(|other| !is_own(other, access))
        .find(|other| other.variable == access.variable && other.kind != AccessKind::Read);
    let lead = if index == 0 { "Thread" } else { "Then thread" };
    let name = if earlier.last().is_some_and(|last| last.variable == access.variable) {
        "it".to_owned()
    } else {
        variable(&access.variable)
    };
    let value = access.value_in_words();
    let deed = match (access.kind, value) {
        (AccessKind::Read, _) => format!("reads {name}"),
        (AccessKind::Write, _) if access.frees => format!("frees {name}"),
        (AccessKind::Write | AccessKind::Update, Some(value)) if is_changed(access) => {
            let old = access.old.as_deref().unwrap_or_default();
            format!("changes {name} from {old} to {value}")
        }
        (AccessKind::Write, Some(value)) => format!("writes {value} to {name}"),
        (AccessKind::Write, None) => format!("writes {name}"),
        (AccessKind::Update, Some(value)) => format!("changes {name} to {value}"),
        (AccessKind::Update, None) => format!("changes {name}"),
        (AccessKind::Lock, _) => match holder(finding, index) {
            Some(_) => format!("waits for {name}"),
            None => format!("takes {name}"),
        },
        (AccessKind::Signal, _) => format!("signals {name}"),
        (AccessKind::Wait, _) => format!("waits for {name}"),
    };
    let is_data = matches!(access.kind, AccessKind::Read | AccessKind::Write | AccessKind::Update);
    let again = is_data && own_before.is_some_and(|before| before.kind == access.kind) && !is_changed(access);
    let again = if again { " again" } else { "" };
    let mut text = format!("{lead} {} {deed}{again}{}", access.thread, location(places, access));
    let was = own_before.and_then(Access::value_in_words);
    match (access.kind, value) {
        (AccessKind::Read, Some(now)) => {
            text.push_str(&format!(", and finds {now}"));
            if let Some(was) = was.filter(|was| *was != now && changed_by.is_some()) {
                text.push_str(&format!(" where it was {was} before"));
            }
        }
        (AccessKind::Write, _) if !access.frees => {
            if let Some(other) = changed_by.filter(|_| own_before.is_some()) {
                text.push_str(&format!(": what thread {} wrote is gone", other.thread));
            }
        }
        (AccessKind::Lock, _) => {
            if let Some(holder) = holder(finding, index) {
                text.push_str(&format!(": thread {holder} holds it"));
            }
        }
        _ => {}
    }
    text.push('.');
    text
}

/// Whether it is known that the variable has another value than before.
fn is_changed(access: &Access) -> bool {
    access.old.is_some() && access.old.as_deref() != access.value_in_words()
}

fn is_own(other: &Access, access: &Access) -> bool {
    other.thread == access.thread && other.variable == access.variable
}

/// ` in take_one(), queue.c:41`.
fn location(places: &Places, access: &Access) -> String {
    let function = access.function.as_deref().map(|name| format!(" in {}", brief_function(name)));
    let position = places.position(access);
    match (function, position) {
        (Some(function), Some(position)) => format!("{function}, {position}"),
        (None, Some(position)) => format!(" at {position}"),
        (function, None) => function.unwrap_or_default(),
    }
}

fn frequency(finding: &Finding, runs: &Runs) -> String {
    let failing = match finding.failed {
        1 if runs.failed == 1 => "The only failing run shows this".to_owned(),
        2 if runs.failed == 2 => "Both failing runs show this".to_owned(),
        all if all == runs.failed && all > 1 => format!("All {all} failing runs show this"),
        some => format!("{some} of {} shows this", plural(runs.failed, "failing run"))
            .replace("runs shows", "runs show"),
    };
    match (finding.passed, runs.passed) {
        (_, 0) => format!("{failing}."),
        (0, passed) => format!("{failing}, and none of {}.", plural(passed, "passing run")),
        (some, passed) => format!("{failing}, and {some} of {}.", plural(passed, "passing run")),
    }
}
