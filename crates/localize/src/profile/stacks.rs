//! The ends of a recording's call stacks. A recursion can be a hundred thousand calls deep and access shared memory at each
//! depth; all of these stacks in full would take many times the memory of the recording.

use recording::{Frame, Recording};

/// Calls that are kept of a deep stack: enough for the whole of nearly every other one, and for a round of several functions
/// that call each other.
const INNERMOST: usize = 128;
/// What brought the recursion about.
const OUTERMOST: usize = 64;

/// Finds both ends of a stack without going through what lies between.
pub struct Stacks<'a> {
    recording: &'a Recording,
    /// By context: its calls, and the context around it that has as many as are kept of the outer end.
    depths: Vec<(u32, u32)>,
}

impl<'a> Stacks<'a> {
    pub fn of(recording: &'a Recording) -> Self {
        let mut depths: Vec<(u32, u32)> = Vec::with_capacity(recording.contexts.len());
        for (id, context) in recording.contexts.iter().enumerate() {
            // As in a recording's own reading: what a damaged file says about later contexts does not count.
            let parent = (id > 1).then(|| depths.get(context.parent as usize)).flatten();
            let (calls, outer) = parent.copied().unwrap_or_default();
            let calls = calls + u32::from(parent.is_some() && context.call != 0);
            let is_outer = outer == 0 && calls as usize == OUTERMOST;
            depths.push((calls, if is_outer { id as u32 } else { outer }));
        }
        Self { recording, depths }
    }

    /// The instructions of a leaf's stack, innermost first. Of a deep one what lies between the two is left out; of others
    /// the first has all.
    pub fn ends(&self, leaf: u32) -> (Vec<Frame>, Vec<Frame>) {
        let frames = self.recording.frames(leaf);
        let context = self.recording.resolve_leaf(leaf).map_or(0, |(context, _)| context);
        match self.depths.get(context as usize) {
            Some(&(calls, outer)) if calls as usize >= INNERMOST + OUTERMOST => {
                (frames.take(INNERMOST).collect(), self.recording.callers(outer).collect())
            }
            _ => (frames.collect(), Vec::new()),
        }
    }
}
