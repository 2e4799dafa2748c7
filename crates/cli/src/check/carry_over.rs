//! Places in the code of a program that was built anew: found again by function and by the text of the line.

use std::path::Path;

use recording::{Interleaving, InterleavingStep, MOST_COPIES};
use report::source::Sources;
use report::{Access, AccessKind, Frame, Report};
use runner::hook_calls::{self, HookCall};
use runner::{BuildId, Session, Symbolizer};

use crate::replay::Test;

/// The accesses of the program as it is now, and the findings as they were told when it was as it was.
pub struct CarryOver {
    /// None if the session has no report of its own.
    told: Option<Report>,
    places: Vec<Place>,
}

/// An access in the code.
struct Place {
    build_id: [u8; 32],
    call: HookCall,
    /// The innermost frame.
    inner: Frame,
    /// The innermost frame of the program's own.
    own: Frame,
    text: Option<String>,
}

impl CarryOver {
    /// Reads what the session's report said, and the code of the test.
    pub fn new(session: &Session, test: &Test) -> CarryOver {
        let told = std::fs::read(session.folder().join("report.json")).ok();
        let told = told.and_then(|text| serde_json::from_slice(&text).ok());
        let mut symbolizer = Symbolizer::default();
        let mut sources = Sources::new(std::env::current_dir());
        let mut places = Vec::new();
        for binary in test.binaries() {
            let Some(build_id) = binary.build_id.as_ref().and_then(padded) else { continue };
            for call in hook_calls::in_file(&binary.path) {
                let frames = symbolizer.frames(&binary.path, binary.build_id.as_ref(), call.returns_to - 1);
                let frames: Vec<Frame> = frames.unwrap_or_default().iter().map(frame).collect();
                let Some(inner) = frames.first().cloned() else { continue };
                let own = frames.into_iter().find(|frame| frame.line.is_some() && !frame.is_library());
                let own = own.unwrap_or_else(|| inner.clone());
                let text =
                    own.file.as_deref().zip(own.line).and_then(|(file, line)| sources.line(file, line));
                places.push(Place { build_id, call, inner, own, text });
            }
        }
        CarryOver { told, places }
    }

    /// The finding with this index in the program as it is now; or which of its steps is gone.
    pub fn interleaving(&self, index: usize, old: &Interleaving) -> Result<Interleaving, String> {
        let steps = self.steps(index, old.steps())?;
        let orders: Vec<(usize, usize)> = old.orders().collect();
        let new = Interleaving::new(old.treatment, &steps).and_then(|new| new.with_orders(&orders));
        new.ok_or_else(|| "its places in the code are not known well enough".to_owned())
    }

    fn steps(&self, index: usize, old: &[InterleavingStep]) -> Result<Vec<InterleavingStep>, String> {
        let finding = self.told.as_ref().and_then(|report| report.findings.get(index));
        let threads = |finding: &report::Finding| {
            finding.accesses.iter().map(|access| access.thread).collect::<Vec<_>>()
        };
        let is_same = |finding: &&report::Finding| {
            threads(finding) == old.iter().map(|step| u32::from(step.thread)).collect::<Vec<_>>()
        };
        let finding = finding.filter(is_same).filter(|_| !old.is_empty());
        let finding = finding.ok_or("the session has no report that says where it was")?;
        let carried = old.iter().zip(&finding.accesses).map(|(step, access)| {
            let place =
                self.find(access).ok_or_else(|| format!("{} is not in this build", described(access)))?;
            // Where it is called from and where the lock is taken now is not known.
            Ok(InterleavingStep {
                build_id: place.build_id,
                address: place.call.returns_to,
                caller: 0,
                guard: 0,
                copies: [0; MOST_COPIES],
                ..*step
            })
        });
        carried.collect()
    }

    /// The same kind of access in the same function, on a line with the same text, or of the same library; of several,
    /// the one that is nearest to where it was.
    fn find(&self, access: &Access) -> Option<&Place> {
        let distance = |place: &&Place| {
            let lines = access.line.unwrap_or(0).abs_diff(place.own.line.unwrap_or(0));
            let columns = access.column.unwrap_or(0).abs_diff(place.own.column.unwrap_or(0));
            (lines, columns)
        };
        self.places.iter().filter(|place| place.is_like(access)).min_by_key(distance)
    }
}

impl Place {
    fn is_like(&self, access: &Access) -> bool {
        let inner = access.stack.first();
        let same_library_line = inner.is_some_and(|frame| {
            frame.is_library() && (&frame.file, frame.line) == (&self.inner.file, self.inner.line)
        });
        let same_text = match (&access.source, &self.text) {
            (Some(old), Some(new)) => old.trim() == new.trim(),
            _ => access.line == self.own.line,
        };
        let same_line = self.own.function == access.function && same_text;
        self.does(access.kind) && (same_line || same_library_line)
    }

    fn does(&self, kind: AccessKind) -> bool {
        let hook = self.call.hook.as_str();
        let is_atomic = hook.starts_with("__tsan_atomic");
        match kind {
            AccessKind::Read => hook.contains("read") || hook.ends_with("_load"),
            AccessKind::Write => hook.contains("write") || hook.ends_with("_store") || hook.contains("vptr"),
            _ => is_atomic && !hook.ends_with("_load") && !hook.ends_with("_store"),
        }
    }
}

fn padded(build_id: &BuildId) -> Option<[u8; 32]> {
    let bytes = build_id.bytes();
    let mut padded = [0; 32];
    padded.get_mut(..bytes.len())?.copy_from_slice(&bytes);
    Some(padded)
}

fn frame(frame: &runner::Frame) -> Frame {
    Frame {
        function: Some(frame.function.clone()),
        file: frame.file.clone(),
        line: frame.line,
        column: frame.column,
        module: None,
        address: None,
    }
}

/// `claim.c:41 in take_one()`.
fn described(access: &Access) -> String {
    let function = access.function.as_deref().unwrap_or("an unknown function");
    let file = access.file.as_deref().and_then(|file| Path::new(file).file_name()).unwrap_or_default();
    let line = access.line.map_or(String::new(), |line| format!(":{line}"));
    report::visible(&format!("{}{line} in {function}()", file.to_string_lossy())).to_string()
}
