//! Places in code as briefly as they can be told apart.

use super::{distinct, function};
use crate::model::{Access, Finding, Frame};

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

    /// The name of a file.
    pub(crate) fn file<'a>(&self, file: &'a str) -> &'a str {
        tail(file, self.components)
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

/// What a frame is called: its function, or where it is in a program without names.
pub(crate) fn frame_name(frame: &Frame) -> String {
    frame
        .function
        .as_deref()
        .map(function)
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

    #[test]
    fn paths_are_shortened_from_the_left() {
        assert_eq!(tail("/a/b/c.c", 1), "c.c");
        assert_eq!(tail("/a/b/c.c", 2), "b/c.c");
        assert_eq!(tail("/a/b/c.c", 9), "/a/b/c.c");
        assert_eq!(tail("c.c", 1), "c.c");
    }
}
