//! Which access passes data to which, and in which context: the context-aware communication graphs of Bugaboo,
//! from which Recon makes its reconstructions.
//!
//! Brandon Lucia, Benjamin P. Wood, Luis Ceze: *Isolating and Understanding Concurrency Errors Using
//! Reconstructed Execution Fragments* (PLDI 2011), sections 2.2 and 5.1. Each thread has a context: the kinds
//! of its latest few communications. There is an edge from the last writer of a location to an access by
//! another thread that reads or overwrites what was written. Its two nodes are sites with the context in
//! which they were executed, which does not have the node's own access yet.
//!
//! Deviations, with why:
//!
//! 1. Only a thread's first read of what was written counts (the paper's first-read-only variant, as
//!    evaluated): the recorder leaves out reading what was read before, so how often that happened is not
//!    known.
//! 2. A write is a remote write for the thread whose data it overwrites, as it is for those that read them. The
//!    rules of section 5.1 name only the readers, but the context shown in the paper's Figure 3 is that of a
//!    thread that wrote, and section 2.2 speaks of any thread that accessed the location.
//! 3. A thread that overwrites its own data communicates if others have read them in the meantime: their next
//!    read is a first read again.
//! 4. An update is a write.
//! 5. At a gap, the location's last writer and readers are forgotten: nothing may be concluded across it.

use std::fmt;

use rustc_hash::FxHashMap;

use crate::histories::LocationNumbers;
use crate::occurrences::{self, Occurrence};
use crate::pattern::PatternId;
use crate::run::{Access, Run, SiteId, ThreadId};
use crate::suspect::{Circumstance, Suspect};

/// The kinds of the latest communications of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Context {
    /// Three bits for each event, the latest lowest; zero where there has been none.
    events: u32,
}

/// A communication as its thread sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContextEvent {
    /// It read what another thread wrote.
    LocalRead,
    /// It wrote what others have to do with.
    LocalWrite,
    /// Another thread read what it wrote.
    RemoteRead,
    /// Another thread overwrote what it had read or written.
    RemoteWrite,
}

/// A site in a context.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Node {
    /// Where in the code.
    pub site: SiteId,
    /// What the thread had communicated before.
    pub context: Context,
}

impl Context {
    /// So many events are kept: the paper's choice.
    pub const LENGTH: usize = 5;

    const BITS: u32 = 3;

    /// The events, the latest first.
    pub fn events(self) -> impl Iterator<Item = ContextEvent> {
        (0..Self::LENGTH as u32).map_while(move |nth| match self.events >> (nth * Self::BITS) & 0b111 {
            1 => Some(ContextEvent::LocalRead),
            2 => Some(ContextEvent::LocalWrite),
            3 => Some(ContextEvent::RemoteRead),
            4 => Some(ContextEvent::RemoteWrite),
            _ => None,
        })
    }

    fn push(&mut self, event: ContextEvent) {
        let kept = (1 << (Self::LENGTH as u32 * Self::BITS)) - 1;
        self.events = (self.events << Self::BITS | (event as u32 + 1)) & kept;
    }
}

impl fmt::Display for Context {
    /// Local and remote reads and writes, the latest first: `RW RR LW`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self
            .events()
            .map(|event| match event {
                ContextEvent::LocalRead => "LR",
                ContextEvent::LocalWrite => "LW",
                ContextEvent::RemoteRead => "RR",
                ContextEvent::RemoteWrite => "RW",
            })
            .collect();
        f.pad(&names.join(" "))
    }
}

impl Suspect {
    /// Source and sink of a communication.
    pub(crate) fn nodes(&self) -> Option<[Node; 2]> {
        let Circumstance::Contexts(contexts) = self.circumstance else { return None };
        let sites = self.pattern.sites();
        Some([0, 1].map(|end| Node { site: sites[end], context: contexts[end] }))
    }
}

/// The first and the last occurrence of a communication.
#[derive(Clone, Copy)]
pub(crate) struct Edge {
    pub first: Occurrence,
    pub last: Occurrence,
}

/// The communications of `run`.
pub(crate) fn edges(run: &Run) -> FxHashMap<Suspect, Edge> {
    let mut edges: FxHashMap<Suspect, Edge> = FxHashMap::default();
    each_edge(run, |suspect, last| {
        edges.entry(suspect).and_modify(|edge| edge.last = last).or_insert(Edge { first: last, last });
    });
    edges
}

/// Tells `edge` each communication of `run`, in the order of its sinks.
fn each_edge(run: &Run, mut edge: impl FnMut(Suspect, Occurrence)) {
    let mut contexts: FxHashMap<ThreadId, Context> = FxHashMap::default();
    let numbers = LocationNumbers::of(run);
    let mut locations: Vec<Sharing> = Vec::new();
    locations.resize_with(numbers.count, Sharing::default);
    let mut gaps = run.gaps.iter().peekable();
    for (index, access) in (0u32..).zip(&run.accesses) {
        while let Some(gap) = gaps.next_if(|gap| gap.before <= index as usize) {
            if let Some(location) = numbers.find(gap.location) {
                locations[location] = Sharing::default();
            }
        }
        let sharing = &mut locations[numbers.of_location(access.location)];
        let context = *contexts.entry(access.thread).or_default();
        if let Some(source) = sharing.source_for(access) {
            let id = if access.kind.writes() { PatternId::P3 } else { PatternId::P2 };
            let ends = [source.index, index];
            let pattern = occurrences::pattern(run, id, &ends);
            let circumstance = Circumstance::Contexts([source.context, context]);
            edge(Suspect { pattern, circumstance }, Occurrence::new(id, &ends));
        }
        sharing.communicate(access, |thread, event| contexts.entry(thread).or_default().push(event));
        if access.kind.writes() {
            sharing.writer = Some(Writer { index, thread: access.thread, context });
        }
    }
}

/// Who has to do with the data in a location.
#[derive(Default)]
struct Sharing {
    writer: Option<Writer>,
    /// The other threads that have read since.
    readers: Vec<ThreadId>,
}

#[derive(Clone, Copy)]
struct Writer {
    index: u32,
    thread: ThreadId,
    context: Context,
}

impl Sharing {
    /// The writer from which `access` gets data, or whose data it overwrites.
    fn source_for(&self, access: &Access) -> Option<Writer> {
        let repeats = !access.kind.writes() && self.readers.contains(&access.thread);
        self.writer.filter(|writer| writer.thread != access.thread && !repeats)
    }

    /// Tells `publish` what `access` is to which thread.
    fn communicate(&mut self, access: &Access, mut publish: impl FnMut(ThreadId, ContextEvent)) {
        let thread = access.thread;
        let other_writer = self.writer.map(|writer| writer.thread).filter(|&writer| writer != thread);
        let is_foreign = self.writer.is_none() || other_writer.is_some();
        if access.kind.writes() {
            if is_foreign || !self.readers.is_empty() {
                publish(thread, ContextEvent::LocalWrite);
                let others = self.readers.drain(..).chain(other_writer);
                others
                    .filter(|&other| other != thread)
                    .for_each(|other| publish(other, ContextEvent::RemoteWrite));
            }
        } else if is_foreign && !self.readers.contains(&thread) {
            publish(thread, ContextEvent::LocalRead);
            other_writer.into_iter().for_each(|writer| publish(writer, ContextEvent::RemoteRead));
            self.readers.push(thread);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_context_keeps_the_latest_events() {
        let mut context = Context::default();
        assert_eq!(context.to_string(), "");
        use ContextEvent::{LocalRead, LocalWrite, RemoteRead, RemoteWrite};
        for event in [LocalRead, LocalWrite, RemoteRead, RemoteWrite, LocalRead, LocalRead] {
            context.push(event);
        }
        assert_eq!(context.to_string(), "LR LR RW RR LW");
    }
}
