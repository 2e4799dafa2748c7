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
use std::hash::{Hash, Hasher};

use crate::histories::Moment;
use crate::numbering::Numbering;
use crate::pattern::{Pattern, PatternId};
use crate::run::{Outcome, RunId, SiteId};
use crate::scan::Scan;

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

/// A communication, the same value in all runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Edge {
    /// Whether the sink overwrites the data.
    overwrites: bool,
    /// Of source and sink.
    pub sites: [SiteId; 2],
    /// Of source and sink.
    pub contexts: [Context; 2],
}

/// The communications that a run shows.
#[derive(Clone, Debug)]
pub(crate) struct Graph {
    pub run: RunId,
    pub outcome: Outcome,
    /// Each once.
    pub edges: Vec<Edge>,
    /// Where they are; empty for a passing run, which is no example.
    pub places: Vec<Places>,
}

/// Source and sink of the first and of the last occurrence of a communication.
pub(crate) type Places = [[u32; 2]; 2];

/// Which of the occurrences of a communication is asked for: an index of [`Places`].
#[derive(Clone, Copy, Debug)]
pub(crate) enum Which {
    First,
    Last,
}

impl Edge {
    /// The pair of accesses.
    pub fn pattern(self) -> Pattern {
        Pattern::new(if self.overwrites { PatternId::P3 } else { PatternId::P2 }, &self.sites)
    }

    /// In words as wide as the machine's, as few as there can be.
    fn words(self) -> [u64; 2] {
        let [source, sink] = self.sites.map(|site| u64::from(site.0));
        let [before, after] = self.contexts.map(|context| u64::from(context.events));
        [source | sink << 32, before | after << 31 | u64::from(self.overwrites) << 63]
    }

    /// Source and sink.
    pub fn nodes(self) -> [Node; 2] {
        [0, 1].map(|end| Node { site: self.sites[end], context: self.contexts[end] })
    }
}

impl Hash for Edge {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.words().into_iter().for_each(|word| state.write_u64(word));
    }
}

/// The communications of a run.
pub(crate) fn graph(scan: &Scan) -> Graph {
    let is_failing = scan.run.outcome.is_failing();
    let mut numbers: Numbering<Edge> = Numbering::new();
    let mut places: Vec<Places> = Vec::new();
    let mut recent = Recent::new();
    each_edge(scan, |edge, ends| {
        // Where a passing run shows it does not matter.
        if !is_failing && !recent.is_new(edge) {
            return;
        }
        let (number, is_new) = numbers.number(edge);
        if is_failing && is_new {
            places.push([ends; 2]);
        } else if is_failing {
            places[number as usize][Which::Last as usize] = ends;
        }
    });
    Graph { run: scan.run.id, outcome: scan.run.outcome, edges: numbers.keys().to_vec(), places }
}

/// Communications that came lately: most repeat, and this is quicker than to look them up.
struct Recent {
    edges: Vec<Edge>,
}

impl Recent {
    const BITS: u32 = 13;

    fn new() -> Self {
        let none =
            Edge { overwrites: false, sites: [SiteId(u32::MAX); 2], contexts: [Context::default(); 2] };
        Self { edges: vec![none; 1 << Self::BITS] }
    }

    #[inline]
    fn is_new(&mut self, edge: Edge) -> bool {
        let hash = edge
            .words()
            .into_iter()
            .fold(0, |hash: u64, word| (hash.rotate_left(26) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let place = &mut self.edges[(hash >> (u64::BITS - Self::BITS)) as usize];
        std::mem::replace(place, edge) != edge
    }
}

/// Tells `edge` each communication of a run with the indices of its accesses, in the order of its sinks.
fn each_edge(scan: &Scan, mut edge: impl FnMut(Edge, [u32; 2])) {
    let histories = &scan.histories;
    let codes = histories.codes();
    let mut contexts: Vec<Context> = vec![Context::default(); codes.thread_count()];
    let mut locations: Vec<Sharing> = Vec::new();
    locations.resize_with(histories.location_count(), Sharing::default);
    let mut gaps = scan.run.gaps.iter().peekable();
    for (index, &Moment { location, code }) in (0u32..).zip(histories.moments()) {
        while let Some(gap) = gaps.next_if(|gap| gap.before <= index as usize) {
            if let Some(location) = histories.number_of(gap.location) {
                locations[location] = Sharing::default();
            }
        }
        let (thread, site) = (codes.thread_number(code), codes.site(code));
        let context = contexts[thread as usize];
        let writes = code.writes();
        let access = Accessor { index, thread, site, context };
        let publish = |thread: u32, event| contexts[thread as usize].push(event);
        let sharing = &mut locations[location as usize];
        let source =
            if writes { sharing.write(access, publish) } else { sharing.read(access.thread, publish) };
        if let Some(source) = source {
            let (sites, contexts) = ([source.site, site], [source.context, context]);
            edge(Edge { sites, contexts, overwrites: writes }, [source.index, index]);
        }
    }
}

/// Who has to do with the data in a location. Threads are told by number.
#[derive(Default)]
struct Sharing {
    writer: Option<Accessor>,
    /// The other threads that have read since.
    readers: Readers,
}

#[derive(Clone, Copy)]
struct Accessor {
    index: u32,
    thread: u32,
    site: SiteId,
    context: Context,
}

impl Sharing {
    /// A thread reads. Gives the writer from which it gets data, and tells `publish` what that is to which thread.
    #[inline]
    fn read(&mut self, thread: u32, mut publish: impl FnMut(u32, ContextEvent)) -> Option<Accessor> {
        let is_own = self.writer.is_some_and(|writer| writer.thread == thread);
        if is_own || self.readers.contains(thread) {
            return None;
        }
        publish(thread, ContextEvent::LocalRead);
        if let Some(writer) = self.writer {
            publish(writer.thread, ContextEvent::RemoteRead);
        }
        self.readers.insert(thread);
        self.writer
    }

    /// A thread writes. Gives the other writer whose data it overwrites, and tells `publish` what that is to which thread.
    #[inline]
    fn write(&mut self, by: Accessor, mut publish: impl FnMut(u32, ContextEvent)) -> Option<Accessor> {
        let previous = self.writer.replace(by);
        let other = previous.filter(|previous| previous.thread != by.thread);
        if previous.is_none() || other.is_some() || !self.readers.is_empty() {
            publish(by.thread, ContextEvent::LocalWrite);
            let mut tell = |other| {
                if other != by.thread {
                    publish(other, ContextEvent::RemoteWrite);
                }
            };
            self.readers.drain(&mut tell);
            other.map(|other| other.thread).into_iter().for_each(tell);
        }
        other
    }
}

/// A set of threads. Most programs have few, whose bits are one word.
#[derive(Default)]
struct Readers {
    bits: u64,
    others: Option<Box<Others>>,
}

/// The threads for which there is no bit: behind a pointer, since there are many sets and few of these.
#[derive(Default)]
struct Others {
    threads: Vec<u32>,
}

impl Readers {
    fn bit(thread: u32) -> Option<u64> {
        1u64.checked_shl(thread)
    }

    fn contains(&self, thread: u32) -> bool {
        let is_other = || self.others.as_ref().is_some_and(|others| others.threads.contains(&thread));
        Self::bit(thread).map_or_else(is_other, |bit| self.bits & bit != 0)
    }

    fn is_empty(&self) -> bool {
        self.bits == 0 && self.others.is_none()
    }

    fn insert(&mut self, thread: u32) {
        match Self::bit(thread) {
            Some(bit) => self.bits |= bit,
            None => self.others.get_or_insert_default().threads.push(thread),
        }
    }

    /// Tells and forgets all of them.
    fn drain(&mut self, each: &mut impl FnMut(u32)) {
        while self.bits != 0 {
            each(self.bits.trailing_zeros());
            self.bits &= self.bits - 1;
        }
        self.others.take().into_iter().flat_map(|others| others.threads).for_each(each);
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
