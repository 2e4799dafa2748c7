//! Where threads are in the source, from the recording alone.

use std::path::Path;

use recording::Recording;
use runner::{BuildId, Symbolizer};

/// Names places in the code of recordings.
#[derive(Default)]
pub struct Places {
    symbolizer: Symbolizer,
}

impl Places {
    /// The place of a leaf in a few words: `take() at claim.c:41`. The innermost of its calls that is in the program's
    /// own source says more than what a library does inside.
    pub fn leaf(&mut self, recording: &Recording, leaf: u32) -> String {
        if leaf == 0 {
            return "its start".to_owned();
        }
        let Some((context, address)) = recording.resolve_leaf(leaf) else {
            return "an unknown place".to_owned();
        };
        let mut best = None;
        let mut next = Some((context, address));
        while let Some((context, address)) = next {
            let frames = self.frames(recording, address);
            if let Some(own) = frames.iter().find(|frame| frame.line.is_some() && !frame.is_library()) {
                return brief(own);
            }
            best = best.or_else(|| frames.first().map(brief));
            // Callers have smaller numbers; in a damaged recording that could be otherwise.
            let known = recording.contexts.get(context as usize).filter(|known| known.parent < context);
            next = known.filter(|known| known.parent != 0).map(|known| (known.parent, known.call));
        }
        best.unwrap_or_else(|| "an unknown place".to_owned())
    }

    fn frames(&mut self, recording: &Recording, address: u64) -> Vec<report::Frame> {
        let Some(module) = recording.module_of_code(address).map(|index| &recording.modules[index]) else {
            return Vec::new();
        };
        let build_id = BuildId::from_bytes(&module.build_id);
        // Where the call returns to belongs to what follows it.
        let address = address.wrapping_sub(module.bias).saturating_sub(1);
        let found = self.symbolizer.frames(Path::new(&module.path), build_id.as_ref(), address);
        let frame = |frame: &runner::Frame| report::Frame {
            function: Some(frame.function.clone()),
            file: frame.file.clone(),
            line: frame.line,
            column: frame.column,
            module: None,
            address: None,
        };
        found.map(|frames| frames.iter().map(frame).collect()).unwrap_or_default()
    }
}

fn brief(frame: &report::Frame) -> String {
    let function = report::brief_function(frame.function.as_deref().unwrap_or("?"));
    let file = frame.file.as_deref().and_then(|file| Path::new(file).file_name());
    let place = match (file, frame.line) {
        (Some(file), Some(line)) => format!("{function} at {}:{line}", file.to_string_lossy()),
        _ => function,
    };
    report::visible(&place).into_owned()
}
