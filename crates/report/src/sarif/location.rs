//! Places in code as SARIF wants them.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Map, Value, json};

use super::message;
use crate::model::{Access, Frame};
use crate::wording;

/// What a path in a URI may not hold as it is. A colon would make a scheme of a relative path's first folder.
const NOT_IN_PATHS: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'/').remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// What the root is called where files are given relative to it.
const ROOT: &str = "SRCROOT";

/// Names places, those in files below a folder relative to it.
pub(super) struct Places<'a> {
    root: Option<&'a str>,
}

impl<'a> Places<'a> {
    pub(super) fn new(root: Option<&'a str>) -> Self {
        Places { root: root.map(|root| root.trim_end_matches('/')).filter(|root| root.starts_with('/')) }
    }

    /// Where relative files are.
    pub(super) fn root(&self) -> Option<Value> {
        self.root.map(|root| json!({ ROOT: { "uri": format!("{}/", uri(root)) } }))
    }

    /// Where an access is, and what it does.
    pub(super) fn access(&self, access: &Access) -> Value {
        let region = access.line.filter(|line| *line > 0).map(|line| {
            let mut region = json!({ "startLine": line });
            if let Some(column) = column(access) {
                region["startColumn"] = column.into();
            }
            if let Some(source) = &access.source {
                region["snippet"] = json!({ "text": source });
            }
            region
        });
        let words = wording::access_title(access);
        self.place(access.file.as_deref(), region, access.function.as_deref(), words)
    }

    /// A call stack, innermost frame first.
    pub(super) fn stack(&self, frames: &[Frame]) -> Value {
        let frame = |frame: &Frame| {
            let region = frame.line.filter(|line| *line > 0).map(|line| json!({ "startLine": line }));
            let words = wording::frame_name(frame);
            let place = self.place(frame.file.as_deref(), region, frame.function.as_deref(), words);
            let mut entry = json!({ "location": place });
            if let Some(module) = &frame.module {
                entry["module"] = module.as_str().into();
            }
            entry
        };
        json!({ "frames": frames.iter().map(frame).collect::<Vec<Value>>() })
    }

    fn place(
        &self,
        file: Option<&str>,
        region: Option<Value>,
        function: Option<&str>,
        words: String,
    ) -> Value {
        let mut place = Map::new();
        if let Some(file) = file {
            let mut physical = json!({ "artifactLocation": self.file(file) });
            if let Some(region) = region {
                physical["region"] = region;
            }
            place.insert("physicalLocation".into(), physical);
        }
        if let Some(function) = function {
            place.insert(
                "logicalLocations".into(),
                json!([{ "fullyQualifiedName": function, "kind": "function" }]),
            );
        }
        place.insert("message".into(), message(&words));
        place.into()
    }

    fn file(&self, file: &str) -> Value {
        let below = self.root.and_then(|root| file.strip_prefix(root)?.strip_prefix('/'));
        match below {
            Some(below) => json!({ "uri": uri(below), "uriBaseId": ROOT }),
            None => json!({ "uri": uri(file) }),
        }
    }
}

fn uri(file: &str) -> String {
    let path = utf8_percent_encode(file, NOT_IN_PATHS);
    if file.starts_with('/') { format!("file://{path}") } else { path.to_string() }
}

/// The column in characters. Debug info counts bytes, which differ where the line has other characters before it.
fn column(access: &Access) -> Option<u32> {
    let column = access.column.filter(|column| *column > 0)?;
    let before = access.source.as_deref().and_then(|source| source.get(..column as usize - 1));
    Some(before.map_or(column, |before| before.chars().count() as u32 + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_become_uris() {
        assert_eq!(uri("/src/größe 1.c"), "file:///src/gr%C3%B6%C3%9Fe%201.c");
        assert_eq!(uri("src/queue.c"), "src/queue.c");
        assert_eq!(uri("C:/x.c"), "C%3A/x.c");
        assert_eq!(uri("a?b#c%d\n"), "a%3Fb%23c%25d%0A");
    }

    #[test]
    fn files_below_the_root_are_relative_to_it() {
        let places = Places::new(Some("/home/me/queue/"));
        assert_eq!(places.root(), Some(json!({ "SRCROOT": { "uri": "file:///home/me/queue/" } })));
        assert_eq!(
            places.file("/home/me/queue/src/a.c"),
            json!({ "uri": "src/a.c", "uriBaseId": "SRCROOT" })
        );
        assert_eq!(places.file("/home/me/queue2/a.c"), json!({ "uri": "file:///home/me/queue2/a.c" }));
        assert_eq!(places.file("src/a.c"), json!({ "uri": "src/a.c" }));
        assert_eq!(Places::new(None).root(), None);
        assert_eq!(Places::new(Some("not absolute")).root(), None);
    }
}
