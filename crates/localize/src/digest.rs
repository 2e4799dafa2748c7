//! Each different dependency and each different unserializable triple of a run, with where it comes first: what AVIO,
//! DefUse, PSet, Locon and the verdict go by. Long runs repeat a few of them very often.

use std::hash::{Hash, Hasher};

use crate::avio::{self, History};
use crate::dependencies::{self, Instance, Places, State};
use crate::gathering::Gathering;
use crate::histories::{Entry, Spot};
use crate::numbering::Numbering;
use crate::occurrences::Occurrences;
use crate::pattern::PatternId;
use crate::run::{AccessKind, SiteId, ThreadId};
use crate::scan::Scan;
use crate::segments::Segments;

/// The dependencies and triples of a run.
pub(crate) struct Digest {
    dependencies: Numbering<KnownDependency>,
    /// Where they come, by number.
    places: Vec<Places>,
    triples: Gathering<KnownTriple, 3>,
}

/// Dependencies that are alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct KnownDependency {
    /// P1, P2 or P3.
    pub id: PatternId,
    /// Of the head and of the tail.
    pub sites: [SiteId; 2],
    /// Of the head and of the tail.
    pub threads: [ThreadId; 2],
    /// Whether no other dependency says as much.
    pub is_immediate: bool,
    /// Whether the tail reads, if only to write at once.
    pub reads: bool,
}

/// Triples that are alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct KnownTriple {
    /// P4 to P8, with an update for the read or the write that it has to be.
    pub id: PatternId,
    /// The same if an update is a write; nothing if that can be serialized.
    pub written: Option<PatternId>,
    pub sites: [SiteId; 3],
    /// Whether the third access depends on the second.
    pub depends: bool,
}

impl Digest {
    /// Of a run.
    pub fn of(scan: &Scan) -> Self {
        let mut digest =
            Self { dependencies: Numbering::new(), places: Vec::new(), triples: Gathering::new() };
        let mut look = Look::default();
        let mut segments = Segments::default();
        segments.each_of(&scan.histories, |segment| look.at_last(scan, segment, &mut digest));
        for segment in segments.known(&scan.histories) {
            look.at_last(scan, segment, &mut digest);
        }
        digest
    }

    fn add(&mut self, known: KnownDependency, instance: Instance) {
        let (number, is_new) = self.dependencies.number(known);
        if is_new {
            self.places.push(Places { first: instance, other: None });
        } else {
            self.places[number as usize].add(instance);
        }
    }

    /// Each different dependency, and where it comes.
    pub fn dependencies(&self) -> impl Iterator<Item = (&KnownDependency, &Places)> {
        self.dependencies.keys().iter().zip(&self.places)
    }

    /// The dependencies for which `row` gives a row of the table, each where it is complete first.
    pub fn pairs(&self, scan: &Scan, row: impl Fn(&KnownDependency) -> Option<PatternId>) -> Occurrences {
        let mut pairs: Gathering<(PatternId, [SiteId; 2]), 2> = Gathering::new();
        for (known, Places { first, .. }) in self.dependencies() {
            if let Some(id) = row(known) {
                pairs.add((id, known.sites), first.time(), first.accesses);
            }
        }
        let mut found = Occurrences::of(scan.run);
        pairs.iter().for_each(|((id, sites), accesses)| found.push(id, &sites, &accesses));
        found
    }

    /// The triples for which `row` gives a row of the table, each where it is complete first.
    pub fn triples(&self, scan: &Scan, row: impl Fn(&KnownTriple) -> Option<PatternId>) -> Occurrences {
        let mut triples: Gathering<(PatternId, [SiteId; 3]), 3> = Gathering::new();
        for (known, accesses) in self.triples.iter() {
            if let Some(id) = row(&known) {
                triples.add((id, known.sites), [accesses[2], accesses[1]], accesses);
            }
        }
        let mut found = Occurrences::of(scan.run);
        triples.iter().for_each(|((id, sites), accesses)| found.push(id, &sites, &accesses));
        found
    }
}

/// What is used again from one look to the next.
#[derive(Default)]
struct Look {
    segment: Vec<Entry>,
    state: State,
    history: History,
    /// The accesses that the last one depends on.
    heads: Vec<u32>,
}

impl Look {
    /// Adds to the digest what ends with the last access of a segment.
    fn at_last(&mut self, scan: &Scan, segment: &[Spot], digest: &mut Digest) {
        self.segment.clear();
        self.segment.extend(segment.iter().map(|&spot| scan.histories.entry(spot)));
        let Some(last) = segment.last().map(|last| last.index) else { return };
        let location = scan.run.accesses[last as usize].location;
        self.heads.clear();
        dependencies::each(&self.segment, &mut self.state, |pair| {
            if pair.tail.index != last {
                return;
            }
            let ends = [pair.head, pair.tail];
            self.heads.push(pair.head.index);
            let instance = Instance { location, accesses: ends.map(|access| access.index) };
            let known = KnownDependency {
                id: pair.id,
                sites: ends.map(|access| access.site),
                threads: ends.map(|access| access.thread),
                is_immediate: pair.is_immediate,
                reads: pair.tail.kind != AccessKind::Write,
            };
            digest.add(known, instance);
        });
        avio::each_triple(&self.segment, &mut self.history, |id, accesses| {
            let indices @ [_, middle, third] = accesses.map(|access| access.index);
            if third != last {
                return;
            }
            let [first, between, third] = accesses.map(|access| access.kind.as_written());
            let triple = KnownTriple {
                id,
                written: PatternId::triple(first, between, third),
                sites: accesses.map(|access| access.site),
                depends: self.heads.contains(&middle),
            };
            digest.triples.add(triple, [last, middle], indices);
        });
    }
}

impl Hash for KnownDependency {
    /// In words as wide as the machine's, as few as there can be.
    fn hash<H: Hasher>(&self, state: &mut H) {
        let [head, tail] = self.sites.map(|site| u64::from(site.0));
        let [from, to] = self.threads.map(|thread| u64::from(thread.0));
        let rest = self.id as u64 | u64::from(self.is_immediate) << 8 | u64::from(self.reads) << 9;
        state.write_u64(head | tail << 32);
        state.write_u64(from ^ to << 24 ^ rest << 48);
    }
}

impl Hash for KnownTriple {
    /// In words as wide as the machine's, as few as there can be.
    fn hash<H: Hasher>(&self, state: &mut H) {
        let [first, middle, last] = self.sites.map(|site| u64::from(site.0));
        let rest = self.id as u64 | u64::from(self.depends) << 8;
        state.write_u64(first | middle << 32);
        state.write_u64(last | rest << 32);
    }
}
