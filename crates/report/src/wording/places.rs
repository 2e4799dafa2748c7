//! Places in code as briefly as they can be told apart.

use super::{distinct, function, short_function};
use crate::explanation::apart;
use crate::model::{Access, Finding, Frame};

/// Names files as briefly as a finding allows: by as many trailing folders as tell its files apart.
pub(crate) struct Places {
    components: usize,
    /// What a thread comes to by several calls, and how many frames lead there from the outermost one on.
    called: Vec<(Spot, usize)>,
}

/// Thread, file and line.
type Spot = (u32, Option<String>, Option<u32>);

fn spot(access: &Access) -> Spot {
    (access.thread, access.file.clone(), access.line)
}

impl Places {
    pub(crate) fn of(finding: &Finding) -> Self {
        let files = distinct(finding.accesses.iter().filter_map(|access| access.file.as_deref()));
        let deepest = files.iter().map(|file| file.split('/').count()).max().unwrap_or(1);
        let tells_apart = |components: &usize| {
            let shortened = distinct(files.iter().map(|file| tail(file, *components)));
            shortened.len() == files.len()
        };
        let components = (1..=deepest).find(tells_apart).unwrap_or(deepest);
        Places { components, called: Self::told_apart(&finding.accesses) }
    }

    /// What a thread comes to by several calls.
    fn told_apart(all: &[Access]) -> Vec<(Spot, usize)> {
        let pairs =
            all.iter().enumerate().flat_map(|(nth, one)| all[..nth].iter().map(move |other| (one, other)));
        let alike = pairs.filter(|(one, other)| spot(one) == spot(other));
        alike.filter_map(|(one, other)| Some((spot(one), apart(one, other)?))).collect()
    }

    /// The name of a file.
    pub(crate) fn file<'a>(&self, file: &'a str) -> &'a str {
        tail(file, self.components)
    }

    /// Where an access is, if that says more than the name of its function. An address is given only where there
    /// is no name.
    pub(crate) fn position(&self, access: &Access) -> Option<String> {
        match (&access.file, access.line) {
            (Some(file), Some(line)) => {
                let call =
                    self.call(access).map_or_else(String::new, |call| format!(", called at line {call}"));
                Some(format!("{}:{line}{call}", tail(file, self.components)))
            }
            (Some(file), None) => Some(tail(file, self.components).to_owned()),
            (None, _) if access.function.is_none() => raw_place(&access.module, &access.address),
            (None, _) => None,
        }
    }

    /// The line of the call that tells it from another access of its thread at the same place.
    fn call(&self, access: &Access) -> Option<u32> {
        let own = spot(access);
        let (_, depth) = self.called.iter().find(|(spot, _)| *spot == own)?;
        access.stack.get(access.stack.len().checked_sub(*depth)?)?.line
    }

    /// Where an access is, in whatever words there are.
    pub(crate) fn label(&self, access: &Access) -> String {
        self.position(access)
            .or_else(|| access.function.as_deref().map(function))
            .unwrap_or_else(|| "an unknown place".to_owned())
    }
}

/// A place in code without debug info: `queue_test+0x1f40`.
pub(crate) fn raw_place(module: &Option<String>, address: &Option<String>) -> Option<String> {
    match (module, address) {
        (Some(module), Some(address)) => Some(format!("{}+{address}", tail(module, 1))),
        (Some(module), None) => Some(tail(module, 1).to_owned()),
        (None, address) => address.clone().filter(|address| address != NOWHERE),
    }
}

/// What a thread has for an address that has not come to any code yet, such as one that waits to begin a synchronized method of Java's.
const NOWHERE: &str = "0x0";

fn tail(path: &str, components: usize) -> &str {
    path.rmatch_indices('/').nth(components - 1).map_or(path, |(slash, _)| &path[slash + 1..])
}

/// What a frame is called: its function, or where it is in a program without names.
pub(crate) fn frame_name(frame: &Frame) -> String {
    frame
        .function
        .as_deref()
        .map(short_function)
        .or_else(|| raw_place(&frame.module, &frame.address))
        .unwrap_or_else(|| "unknown function".to_owned())
}

/// The file and line of a frame; empty if unknown.
pub(crate) fn frame_place(frame: &Frame) -> String {
    match (&frame.file, frame.line) {
        (Some(file), Some(line)) => format!("{file}:{line}"),
        (Some(file), None) => file.clone(),
        (None, _) => String::new(),
    }
}

/// The same with the file's own name only.
pub(crate) fn brief_frame_place(frame: &Frame) -> String {
    let place = frame_place(frame);
    tail(&place, 1).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One function, called twice.
    #[test]
    fn accesses_at_one_place_are_told_apart_by_their_calls() {
        let access = |thread: u32, call: u32| -> Access {
            let frame = |function: &str, line: u32| serde_json::json!({ "function": function, "file": "a.c", "line": line });
            let mut access = frame("is_closed", 12);
            access["stack"] =
                serde_json::json!([frame("is_closed", 12), frame("enter", call), frame("main", 9)]);
            access["thread"] = thread.into();
            access["kind"] = "read".into();
            access["variable"] = "closed".into();
            serde_json::from_value(access).unwrap()
        };
        let labels = |accesses: &[Access]| {
            let called = Places::told_apart(accesses);
            let places = Places { components: 1, called };
            accesses.iter().map(|access| places.label(access)).collect::<Vec<_>>()
        };
        let [first, again, other] = [access(1, 16), access(1, 18), access(2, 20)];
        assert_eq!(
            labels(&[first.clone(), other.clone(), again]),
            ["a.c:12, called at line 16", "a.c:12", "a.c:12, called at line 18"]
        );
        assert_eq!(labels(&[first.clone(), other, first]), ["a.c:12"; 3], "in another round");
    }

    #[test]
    fn paths_are_shortened_from_the_left() {
        assert_eq!(tail("/a/b/c.c", 1), "c.c");
        assert_eq!(tail("/a/b/c.c", 2), "b/c.c");
        assert_eq!(tail("/a/b/c.c", 9), "/a/b/c.c");
        assert_eq!(tail("c.c", 1), "c.c");
    }
}
