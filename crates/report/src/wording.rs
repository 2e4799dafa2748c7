//! The words in which every format speaks of a finding. Nothing here is safe for a terminal yet: names are passed
//! on as the target gave them.

use crate::model::{Access, AccessKind, Finding, Kind, Runs, Verdict};

/// What went wrong and on what: ``Atomicity violation on `queue.size` ``.
pub(crate) fn headline(finding: &Finding) -> String {
    let kind = match finding.kind {
        Kind::OrderViolation => "Order violation",
        Kind::AtomicityViolation | Kind::MultiVariableAtomicityViolation => "Atomicity violation",
        Kind::Deadlock => "Deadlock",
        Kind::MissedSignal => "Missed signal",
        Kind::Communication => "Suspicious communication",
    };
    let names: Vec<String> = variables(finding).into_iter().map(variable).collect();
    match names.as_slice() {
        [] => kind.to_owned(),
        [one] => format!("{kind} on {one}"),
        [one, two] => format!("{kind} on {one} and {two}"),
        [one, two, more @ ..] => format!("{kind} on {one}, {two} and {} more", more.len()),
    }
}

/// The variables of a finding, in the order in which they are first accessed.
pub(crate) fn variables(finding: &Finding) -> Vec<&str> {
    distinct(finding.accesses.iter().map(|access| access.variable.as_str()))
}

/// The roles of the threads of a finding, in the order in which they first act.
pub(crate) fn threads(finding: &Finding) -> Vec<u32> {
    distinct(finding.accesses.iter().map(|access| access.thread))
}

fn distinct<T: PartialEq>(items: impl Iterator<Item = T>) -> Vec<T> {
    let mut seen = Vec::new();
    for item in items {
        if !seen.contains(&item) {
            seen.push(item);
        }
    }
    seen
}

/// In how many failing and in how many passing runs the finding was seen. A score is never shown without it.
pub(crate) fn counts(finding: &Finding, runs: &Runs) -> [String; 2] {
    let failing = plural(runs.failed, "failing run");
    let passing = plural(runs.passed, "passing run");
    [format!("{} of {failing}", finding.failed), format!("{} of {passing}", finding.passed)]
}

/// The score, to two decimals.
pub(crate) fn score(finding: &Finding) -> String {
    if finding.score.is_finite() {
        format!("score {:.2}", finding.score)
    } else {
        "score infinite".to_owned()
    }
}

/// The rank, where several findings share it.
pub(crate) fn shared_rank(finding: &Finding) -> Option<String> {
    (finding.tied > 1).then(|| format!("rank {}, shared by {}", finding.rank, finding.tied))
}

pub(crate) fn verdict(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Confirmed => "confirmed",
        Verdict::Refuted => "refuted",
        Verdict::Inconclusive => "inconclusive",
    }
}

/// What the threads do, in one sentence, for the shapes that one sentence can tell.
pub(crate) fn sentence(finding: &Finding) -> Option<String> {
    let places = Places::of(finding);
    let accesses: Vec<&Access> = finding.accesses.iter().collect();
    let roles: Vec<u32> = accesses.iter().map(|access| access.thread).collect();
    match (accesses.as_slice(), roles.as_slice()) {
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
        _ => None,
    }
}

/// `take_one() reads queue.size at queue.c:41`.
fn opening(places: &Places, access: &Access) -> String {
    let actor = access.function.as_deref().map_or_else(|| "one thread".to_owned(), brief_function);
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
        AccessKind::Write => "writes",
        AccessKind::Update => "updates",
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

fn variable(name: &str) -> String {
    if name.is_empty() { "an unnamed location".to_owned() } else { format!("`{name}`") }
}

/// The name of a function, marked as one unless it shows its parameters already, as demangled C++ names do.
pub(crate) fn function(name: &str) -> String {
    if name.contains('(') { name.to_owned() } else { format!("{name}()") }
}

/// The same without template arguments, parameters and return type, where these can be told from the name:
/// `void Cache<int>::insert(int const&)` is `Cache::insert()`.
fn brief_function(name: &str) -> String {
    bare_name(name).map_or_else(|| function(name), |bare| format!("{bare}()"))
}

fn bare_name(name: &str) -> Option<String> {
    // These begin with, or contain, brackets that are part of the name.
    if name.starts_with(['<', '(']) || name.contains("operator") || name.contains("{lambda") {
        return None;
    }
    let mut bare = String::new();
    let mut depth = 0usize;
    for character in name.chars() {
        match character {
            '<' => depth += 1,
            '>' => depth = depth.checked_sub(1)?,
            '(' if depth == 0 => break,
            _ if depth == 0 => bare.push(character),
            _ => {}
        }
    }
    let bare = bare.split_whitespace().last()?;
    (depth == 0).then(|| bare.to_owned())
}

/// What an access did, with the value if it is known: `read 3`.
pub(crate) fn effect(access: &Access) -> String {
    let verb = match access.kind {
        AccessKind::Read => "read",
        AccessKind::Write => "write",
        AccessKind::Update => "update",
    };
    match &access.value {
        Some(value) => format!("{verb} {value}"),
        None => verb.to_owned(),
    }
}

/// The title of a thread's column: its role, and the innermost function in which all its accesses lie.
pub(crate) fn thread_title(finding: &Finding, thread: u32) -> String {
    match common_function(finding, thread) {
        Some(name) => {
            let brief = bare_name(name);
            format!("thread {thread} ({})", brief.as_deref().unwrap_or(name))
        }
        None => format!("thread {thread}"),
    }
}

fn common_function(finding: &Finding, thread: u32) -> Option<&str> {
    let own: Vec<&Access> = finding.accesses.iter().filter(|access| access.thread == thread).collect();
    let (first, rest) = own.split_first()?;
    if rest.iter().all(|access| access.function == first.function) {
        return first.function.as_deref();
    }
    let calls = |access: &Access, depth: usize| {
        let index = access.stack.len().checked_sub(depth + 1)?;
        access.stack[index].function.clone()
    };
    let common = (0..first.stack.len())
        .take_while(|&depth| {
            let function = calls(first, depth);
            function.is_some() && rest.iter().all(|access| calls(access, depth) == function)
        })
        .last()?;
    first.stack[first.stack.len() - 1 - common].function.as_deref()
}

/// Names files as briefly as a finding allows: by as many trailing folders as tell its files apart.
pub(crate) struct Places {
    components: usize,
}

impl Places {
    pub(crate) fn of(finding: &Finding) -> Self {
        let files = distinct(finding.accesses.iter().filter_map(|access| access.file.as_deref()));
        let deepest = files.iter().map(|file| file.split('/').count()).max().unwrap_or(1);
        let tells_apart = |components: &usize| {
            let shortened = distinct(files.iter().map(|file| tail(file, *components)));
            shortened.len() == files.len()
        };
        Places { components: (1..=deepest).find(tells_apart).unwrap_or(deepest) }
    }

    /// Where an access is, if that says more than the name of its function. An address is given only where there
    /// is no name.
    pub(crate) fn position(&self, access: &Access) -> Option<String> {
        match (&access.file, access.line) {
            (Some(file), Some(line)) => Some(format!("{}:{line}", tail(file, self.components))),
            (Some(file), None) => Some(tail(file, self.components).to_owned()),
            (None, _) if access.function.is_none() => raw_place(&access.module, &access.address),
            (None, _) => None,
        }
    }

    /// Where an access is, in whatever words there are.
    pub(crate) fn label(&self, access: &Access) -> String {
        self.position(access)
            .or_else(|| access.function.as_deref().map(function))
            .unwrap_or_else(|| "unknown place".to_owned())
    }
}

/// A place in code without debug info: `queue_test+0x1f40`.
pub(crate) fn raw_place(module: &Option<String>, address: &Option<String>) -> Option<String> {
    match (module, address) {
        (Some(module), Some(address)) => Some(format!("{}+{address}", tail(module, 1))),
        (Some(module), None) => Some(tail(module, 1).to_owned()),
        (None, address) => address.clone(),
    }
}

fn tail(path: &str, components: usize) -> &str {
    path.rmatch_indices('/').nth(components - 1).map_or(path, |(slash, _)| &path[slash + 1..])
}

/// A number with its noun: `1 run`, `2 runs`.
pub(crate) fn plural(number: u64, noun: &str) -> String {
    if number == 1 { format!("{number} {noun}") } else { format!("{number} {noun}s") }
}

/// A length of time as a person would say it: `3.2 s`, `38 s`, `2 min 5 s`, `1 h 3 min`.
pub(crate) fn span(seconds: f64) -> String {
    let whole = seconds.round() as u64;
    match whole {
        0..10 => format!("{:.1} s", seconds.clamp(0.0, 9.9)),
        10..60 => format!("{whole} s"),
        60..3600 => format!("{} min {} s", whole / 60, whole % 60),
        _ => format!("{} h {} min", whole / 3600, whole % 3600 / 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_function(name: &str, brief: &str) {
        assert_eq!(brief_function(name), brief);
    }

    #[test]
    fn functions_are_named_briefly() {
        check_function("take_one", "take_one()");
        check_function("queue::pop(int, char const*) const", "queue::pop()");
        check_function(
            "std::vector<int, std::allocator<int> >::push_back(int&&)",
            "std::vector::push_back()",
        );
        check_function("void drain<queue<int> >(queue<int>&)", "drain()");
        check_function("alloc::vec::Vec<T,A>::push", "alloc::vec::Vec::push()");
        check_function("worker::{closure#0}", "worker::{closure#0}()");
    }

    #[test]
    fn a_name_that_cannot_be_taken_apart_is_left_whole() {
        check_function("(anonymous namespace)::pop(int)", "(anonymous namespace)::pop(int)");
        check_function("queue::operator()(int)", "queue::operator()(int)");
        check_function("main::{lambda(int)#1}::_FUN(int)", "main::{lambda(int)#1}::_FUN(int)");
        check_function("a>b", "a>b()");
        check_function("a<b", "a<b()");
        check_function(
            "<queue::Queue as core::ops::Drop>::drop",
            "<queue::Queue as core::ops::Drop>::drop()",
        );
    }

    #[test]
    fn spans_of_time() {
        let spans = [0.0, 0.04, 3.21, 9.96, 38.2, 59.6, 125.0, 3780.0, 90000.0];
        let said =
            ["0.0 s", "0.0 s", "3.2 s", "10 s", "38 s", "1 min 0 s", "2 min 5 s", "1 h 3 min", "25 h 0 min"];
        assert_eq!(spans.map(span), said);
        assert_eq!(span(-1.0), "0.0 s");
    }

    #[test]
    fn paths_are_shortened_from_the_left() {
        assert_eq!(tail("/a/b/c.c", 1), "c.c");
        assert_eq!(tail("/a/b/c.c", 2), "b/c.c");
        assert_eq!(tail("/a/b/c.c", 9), "/a/b/c.c");
        assert_eq!(tail("c.c", 1), "c.c");
    }
}
