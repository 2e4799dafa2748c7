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

use rustc_hash::FxHashMap;

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

    /// The bits of all events.
    const KEPT: u32 = Self::LENGTH as u32 * Self::BITS;

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
        let kept = (1 << Self::KEPT) - 1;
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
    let codes = scan.histories.codes();
    let (sites, numbers) = codes.site_numbers();
    if sites.len() <= <u64 as Key>::SITES {
        graph_by::<u64>(scan, &numbers, &sites)
    } else {
        graph_by::<u128>(scan, &numbers, &sites)
    }
}

/// The same by keys of this kind, if there are no more sites than these have room for. Sites are told by the numbers of their actors.
fn graph_by<K: Key>(scan: &Scan, numbers: &[u32], sites: &[u32]) -> Graph {
    let mut gathered = Gathered::<K>::new(scan.run.outcome.is_failing());
    each_edge(scan, numbers, |key, ends| gathered.add(key, ends));
    gathered.settle();
    let edge = |key: &K| {
        let (numbers, contexts, overwrites) = key.parts();
        Edge { sites: numbers.map(|site| SiteId(sites[site as usize])), contexts, overwrites }
    };
    let edges = gathered.numbers.keys().iter().map(edge).collect();
    Graph { run: scan.run.id, outcome: scan.run.outcome, edges, places: gathered.places }
}

/// A communication of one run in as few bytes as can be, since there are many to be compared: the numbers of both sites, both contexts,
/// and whether the sink overwrites.
trait Key: Copy + Eq + Hash + Default {
    /// How many sites there may be.
    const SITES: usize;

    fn new(sites: [u32; 2], contexts: [Context; 2], overwrites: bool) -> Self;

    fn parts(&self) -> ([u32; 2], [Context; 2], bool);

    /// All of it mixed into one word.
    fn mixed(self) -> u64;
}

/// Key and what is taken out of it again, for an unsigned integer with so many bits for a site.
macro_rules! key {
    ($type:ty, $site_bits:literal, $mixed:expr) => {
        impl Key for $type {
            const SITES: usize = 1 << $site_bits;

            #[inline]
            fn new(sites: [u32; 2], contexts: [Context; 2], overwrites: bool) -> Self {
                let [source, sink] = sites.map(Self::from);
                let [before, after] = contexts.map(|context| Self::from(context.events));
                let both = (source << $site_bits | sink) << Context::KEPT | before;
                // The lowest bit keeps all of them apart from no key.
                ((both << Context::KEPT | after) << 1 | Self::from(overwrites)) << 1 | 1
            }

            fn parts(&self) -> ([u32; 2], [Context; 2], bool) {
                let part = |at: u32, bits: u32| (self >> at & ((1 << bits) - 1)) as u32;
                let context = |at| Context { events: part(at, Context::KEPT) };
                let sites = 2 + 2 * Context::KEPT;
                (
                    [part(sites + $site_bits, $site_bits), part(sites, $site_bits)],
                    [context(2 + Context::KEPT), context(2)],
                    part(1, 1) == 1,
                )
            }

            #[inline]
            fn mixed(self) -> u64 {
                $mixed(self).wrapping_mul(0x9e37_79b9_7f4a_7c15)
            }
        }
    };
}

key!(u64, 16, |key: u64| key);
key!(u128, 31, |key: u128| key as u64 ^ ((key >> 64) as u64).rotate_left(23));

/// The different communications of a run. They are looked up many at a time, so that the processor need not wait for the memory of one
/// before it goes for the next.
struct Gathered<K> {
    is_failing: bool,
    numbers: Numbering<K>,
    /// By number; of a passing run it does not matter where they are.
    places: Vec<Places>,
    /// What came lately, each where its mixed bits say: most repeat, and this is quicker than to look them up.
    recent: Vec<K>,
    /// Those that are not looked up yet.
    waiting: Vec<(K, [u32; 2])>,
}

impl<K: Key> Gathered<K> {
    const BITS: u32 = 15;
    const WAITING: usize = 256;

    fn new(is_failing: bool) -> Self {
        Self {
            is_failing,
            numbers: Numbering::new(),
            places: Vec::new(),
            recent: vec![K::default(); 1 << Self::BITS],
            waiting: Vec::with_capacity(Self::WAITING),
        }
    }

    #[inline]
    fn add(&mut self, key: K, ends: [u32; 2]) {
        self.waiting.push((key, ends));
        if self.waiting.len() == Self::WAITING {
            self.settle();
        }
    }

    /// Looks up all that wait.
    fn settle(&mut self) {
        if !self.is_failing {
            self.forget_recent();
        }
        self.numbers.fetch(self.waiting.iter().map(|&(key, _)| key));
        for (key, ends) in self.waiting.drain(..) {
            let (number, is_new) = self.numbers.number(key);
            if self.is_failing && is_new {
                self.places.push([ends; 2]);
            } else if self.is_failing {
                self.places[number as usize][Which::Last as usize] = ends;
            }
        }
    }

    /// Leaves those waiting that did not come lately.
    fn forget_recent(&mut self) {
        let mut kept = 0;
        for nth in 0..self.waiting.len() {
            let new = self.waiting[nth];
            let place = &mut self.recent[(new.0.mixed() >> (u64::BITS - Self::BITS)) as usize];
            let is_new = std::mem::replace(place, new.0) != new.0;
            self.waiting[kept] = new;
            kept += usize::from(is_new);
        }
        self.waiting.truncate(kept);
    }
}

/// Tells `edge` each communication of a run with the indices of its accesses, in the order of its sinks. The numbers of sites are those of
/// their actors.
fn each_edge<K: Key>(scan: &Scan, numbers: &[u32], mut edge: impl FnMut(K, [u32; 2])) {
    let histories = &scan.histories;
    let codes = histories.codes();
    let mut contexts: Vec<Context> = vec![Context::default(); codes.thread_count()];
    let mut locations: Vec<Sharing> = vec![Sharing::none(); histories.location_count()];
    let mut others = FxHashMap::default();
    let mut gaps = scan.run.gaps.iter().peekable();
    for (index, &Moment { location, code }) in (0u32..).zip(histories.moments()) {
        while let Some(gap) = gaps.next_if(|gap| gap.before <= index as usize) {
            if let Some(location) = histories.number_of(gap.location) {
                locations[location] = Sharing::none();
                others.remove(&(location as u32));
            }
        }
        let (thread, site) = (codes.thread_number(code), numbers[code.actor()]);
        let context = contexts[thread as usize];
        let writes = code.writes();
        let access = Accessor { index, thread, site, context };
        let publish = |thread: u32, event| contexts[thread as usize].push(event);
        let sharing = &mut locations[location as usize];
        let others = Others { location, all: &mut others };
        let source = match writes {
            true => sharing.write(access, others, publish),
            false => sharing.read(access.thread, others, publish),
        };
        if let Some(source) = source {
            let key = K::new([source.site, site], [source.context, context], writes);
            edge(key, [source.index, index]);
        }
    }
}

/// Who has to do with the data in a location. Threads and sites are told by number. Kept small, since there are many.
#[derive(Clone, Copy)]
struct Sharing {
    /// Means nothing without a writer.
    writer: Accessor,
    /// The other threads that have read since.
    readers: Readers,
}

#[derive(Clone, Copy)]
struct Accessor {
    index: u32,
    thread: u32,
    site: u32,
    context: Context,
}

impl Accessor {
    const NOBODY: u32 = u32::MAX;

    fn nobody() -> Self {
        Self { index: 0, thread: Self::NOBODY, site: 0, context: Context::default() }
    }
}

impl Sharing {
    fn none() -> Self {
        Self { writer: Accessor::nobody(), readers: Readers { bits: 0 } }
    }

    fn writer(&self) -> Option<Accessor> {
        (self.writer.thread != Accessor::NOBODY).then_some(self.writer)
    }

    /// A thread reads. Gives the writer from which it gets data, and tells `publish` what that is to which thread.
    #[inline]
    fn read(
        &mut self,
        thread: u32,
        others: Others,
        mut publish: impl FnMut(u32, ContextEvent),
    ) -> Option<Accessor> {
        let writer = self.writer();
        let is_own = writer.is_some_and(|writer| writer.thread == thread);
        if is_own || self.readers.contains(thread, &others) {
            return None;
        }
        publish(thread, ContextEvent::LocalRead);
        if let Some(writer) = writer {
            publish(writer.thread, ContextEvent::RemoteRead);
        }
        self.readers.insert(thread, others);
        writer
    }

    /// A thread writes. Gives the other writer whose data it overwrites, and tells `publish` what that is to which thread.
    #[inline]
    fn write(
        &mut self,
        by: Accessor,
        others: Others,
        mut publish: impl FnMut(u32, ContextEvent),
    ) -> Option<Accessor> {
        let previous = self.writer();
        self.writer = by;
        let other = previous.filter(|previous| previous.thread != by.thread);
        if previous.is_none() || other.is_some() || !self.readers.is_empty() {
            publish(by.thread, ContextEvent::LocalWrite);
            let mut tell = |other| {
                if other != by.thread {
                    publish(other, ContextEvent::RemoteWrite);
                }
            };
            self.readers.drain(others, &mut tell);
            other.map(|other| other.thread).into_iter().for_each(tell);
        }
        other
    }
}

/// A set of threads. Most programs have few, each with a bit of its own but the last, which says that there are others.
#[derive(Clone, Copy)]
struct Readers {
    bits: u64,
}

/// The threads without a bit that are in the set of a location, by the number of that: few locations have any.
struct Others<'o> {
    location: u32,
    all: &'o mut FxHashMap<u32, Vec<u32>>,
}

impl Readers {
    const OTHERS: u64 = 1 << 63;

    fn bit(thread: u32) -> Option<u64> {
        1u64.checked_shl(thread).filter(|&bit| bit != Self::OTHERS)
    }

    fn contains(&self, thread: u32, others: &Others) -> bool {
        let is_other = || {
            let others = others.all.get(&others.location).filter(|_| self.bits & Self::OTHERS != 0);
            others.is_some_and(|others| others.contains(&thread))
        };
        Self::bit(thread).map_or_else(is_other, |bit| self.bits & bit != 0)
    }

    fn is_empty(&self) -> bool {
        self.bits == 0
    }

    fn insert(&mut self, thread: u32, others: Others) {
        self.bits |= Self::bit(thread).unwrap_or(Self::OTHERS);
        if Self::bit(thread).is_none() {
            others.all.entry(others.location).or_default().push(thread);
        }
    }

    /// Tells and forgets all of them.
    fn drain(&mut self, others: Others, each: &mut impl FnMut(u32)) {
        let mut bits = std::mem::take(&mut self.bits);
        let has_others = bits & Self::OTHERS != 0;
        bits &= !Self::OTHERS;
        while bits != 0 {
            each(bits.trailing_zeros());
            bits &= bits - 1;
        }
        if has_others {
            others.all.remove(&others.location).into_iter().flatten().for_each(each);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::Options;
    use crate::run::{Access, AccessKind, LocationId, Run, StackId, ThreadId};

    /// Wide keys, for runs with very many sites, tell the same as narrow ones; and so does what is known of the run without any table.
    #[test]
    fn communications_are_those_that_are_compared_one_by_one() {
        let mut random = 1u32;
        let mut below = |bound: u32| {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (random >> 16) % bound
        };
        for (length, outcome) in (0..40).map(|nth| (nth * 50, [Outcome::Pass, Outcome::Fail][nth % 2])) {
            let mut run = Run::new(RunId(1), outcome);
            run.accesses.extend((0..length).map(|_| Access {
                thread: ThreadId(below(4)),
                location: LocationId(below(5)),
                site: SiteId(7 * below(6)),
                stack: StackId(0),
                kind: if below(2) == 0 { AccessKind::Read } else { AccessKind::Write },
                uncertain: false,
                value: None,
                before: None,
                locks: None,
                iteration: None,
                atomic: false,
                frees: false,
            }));
            let scan = Scan::new(&run, &Options::default());
            let codes = scan.histories.codes();
            // As if sites were numbered by themselves.
            let numbers: Vec<u32> = (0..codes.actor_count()).map(|actor| codes.site_of(actor).0).collect();
            let sites: Vec<u32> = (0..36).collect();
            let (mut edges, mut places): (Vec<Edge>, Vec<Places>) = Default::default();
            each_edge(&scan, &numbers, |key: u128, ends| {
                let (sites, contexts, overwrites) = key.parts();
                let edge = Edge { sites: sites.map(SiteId), contexts, overwrites };
                match edges.iter().position(|known| *known == edge) {
                    Some(known) => places[known][1] = ends,
                    None => {
                        edges.push(edge);
                        places.push([ends; 2]);
                    }
                }
            });
            places.truncate(if outcome.is_failing() { edges.len() } else { 0 });
            let wide = graph_by::<u128>(&scan, &numbers, &sites);
            for found in [graph(&scan), graph_by::<u64>(&scan, &numbers, &sites), wide] {
                assert_eq!((&found.edges, &found.places), (&edges, &places), "{length}");
            }
        }
    }

    #[test]
    fn sets_of_threads_have_room_for_any_thread() {
        let mut all = FxHashMap::default();
        let mut sets = [Readers { bits: 0 }; 2];
        let members = |location: u32| (0..200).filter(move |thread| thread % 7 == location);
        for (location, set) in (0..).zip(&mut sets) {
            members(location).for_each(|thread| set.insert(thread, Others { location, all: &mut all }));
        }
        for (location, set) in (0..).zip(&mut sets) {
            let others = Others { location, all: &mut all };
            assert!((0..200).all(|thread| set.contains(thread, &others) == (thread % 7 == location)));
            let mut told = Vec::new();
            set.drain(others, &mut |thread| told.push(thread));
            assert!(told.into_iter().eq(members(location)) && set.is_empty());
        }
        assert!(all.is_empty());
    }

    #[test]
    fn keys_give_back_what_they_were_made_of() {
        let contexts = [0b111_001_010_011_100, 1].map(|events| Context { events });
        for overwrites in [false, true] {
            let parts = ([65_535, 3], contexts, overwrites);
            assert_eq!(<u64 as Key>::new(parts.0, parts.1, parts.2).parts(), parts);
            let parts = ([3, (1 << 31) - 1], contexts, overwrites);
            assert_eq!(<u128 as Key>::new(parts.0, parts.1, parts.2).parts(), parts);
        }
    }

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
