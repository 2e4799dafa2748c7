//! What an access comes after, on its location: the part of the history on which its dependencies and triples depend.
//! Long runs repeat a few such segments very often, so that each different one is looked at only where it comes first.

use crate::codes::Code;
use crate::dependencies::keep_earliest;
use crate::histories::{Histories, Spot};
use crate::sequences::Sequences;

/// The different segments of a run. A segment ends with an access, and begins with its thread's previous access to the
/// location or with the last write, whichever is earlier.
#[derive(Default)]
pub(crate) struct Segments {
    sequences: Sequences<Code>,
    /// Where they end, by number.
    ends: Vec<Ends>,
}

/// Ends of segments that are alike.
struct Ends {
    length: u32,
    first: End,
    /// The first on another location.
    other: Option<End>,
}

/// A segment's last access.
#[derive(Clone, Copy)]
struct End {
    /// Its global index.
    index: u32,
    /// Where it stands, location by location.
    place: u32,
    location: u32,
}

/// Longer segments hardly ever repeat.
const LONGEST: usize = 16;

impl Segments {
    /// Gathers the segments of a run. Those that are too long to be compared with others are told to `long` at once.
    pub fn each_of(&mut self, histories: &Histories, mut long: impl FnMut(&[Spot])) {
        let known = histories.codes();
        // By thread: the stretch of its latest access, and where that is.
        let mut latest: Vec<(u32, u32)> = vec![(0, 0); known.thread_count()];
        let mut codes: Vec<Code> = Vec::new();
        let mut before = 0;
        for (stretch, accesses) in (1u32..).zip(histories.stretches()) {
            let location = histories.moments()[accesses[0].index as usize].location;
            codes.clear();
            let mut last_write: Option<u32> = None;
            // Where the thread at hand began its turn.
            let (mut turn_of, mut turn) = (known.thread_number(accesses[0].code), 0);
            for (nth, access) in (0u32..).zip(accesses) {
                let thread = known.thread_number(access.code);
                codes.push(access.code);
                let (own_stretch, own) = std::mem::replace(&mut latest[thread as usize], (stretch, nth));
                let own = (own_stretch == stretch).then_some(own);
                if thread != turn_of {
                    (turn_of, turn) = (thread, nth);
                }
                let writes = access.code.writes();
                // Without a write, a read depends on nothing, and a write on all reads.
                let start = match last_write {
                    Some(write) => own.map_or(write, |own| own.min(write)),
                    None if writes => 0,
                    None => nth,
                };
                if writes {
                    last_write = Some(nth);
                }
                // Nobody else is in it.
                if start >= turn {
                    continue;
                }
                let range = start as usize..=nth as usize;
                if range.end() - range.start() >= LONGEST {
                    long(&accesses[range]);
                } else {
                    let end = End { index: access.index, place: before + nth, location };
                    self.add(&codes[range], end);
                }
            }
            before += accesses.len() as u32;
        }
    }

    fn add(&mut self, codes: &[Code], end: End) {
        let (number, is_new) = self.sequences.number(codes);
        if is_new {
            self.ends.push(Ends { length: codes.len() as u32, first: end, other: None });
        } else {
            let Ends { first, other, .. } = &mut self.ends[number];
            keep_earliest(first, other, end, |known| known.location, |known| known.index);
        }
    }

    /// Each different segment, where it comes first and where it first comes on another location.
    pub fn known<'h>(&self, histories: &'h Histories) -> impl Iterator<Item = &'h [Spot]> {
        self.ends.iter().flat_map(move |ends| {
            let places = [Some(ends.first), ends.other].into_iter().flatten().map(|end| end.place + 1);
            places.map(move |end| &histories.spots()[(end - ends.length) as usize..end as usize])
        })
    }
}
