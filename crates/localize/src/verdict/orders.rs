//! Which sites' accesses come before which, on one location and by different threads.
//!
//! What passing runs show in both orders can be a matter of interleaving. What they show in one order only may be
//! ordered by other means, such as the creation of a thread; and what they never show on one location happens for
//! another reason: then the failure is the cause and the accesses are its effect.

use rustc_hash::FxHashSet;

use crate::codes::Code;
use crate::histories::Histories;
use crate::pattern::Pattern;
use crate::run::SiteId;

/// What some runs show.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Orders {
    /// Sites of which the first comes before the second, in another thread.
    ordered: FxHashSet<[SiteId; 2]>,
    /// Sites on one location, the smaller first, in whichever threads.
    together: FxHashSet<[SiteId; 2]>,
    /// All sites that touch memory which threads share.
    visited: FxHashSet<SiteId>,
}

/// How a pattern stands to what passing runs show.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Standing {
    /// They make two of its accesses the other way round.
    Reordered,
    /// It uses memory that has been freed, at places where they come by: no run may do that, in whichever order its
    /// accesses are seen elsewhere.
    Freed,
    /// They make two of its accesses to one location, but never the other way round.
    OneOrder,
    /// The same of what another thread had set up: it is used afterwards, if at all.
    SetUp,
    /// They never make its accesses to one location.
    New,
}

impl Orders {
    pub fn extend(&mut self, other: &Self) {
        self.ordered.extend(&other.ordered);
        self.together.extend(&other.together);
        self.visited.extend(&other.visited);
    }

    /// Notes that the run comes to these sites.
    pub fn visit(&mut self, sites: impl IntoIterator<Item = SiteId>) {
        self.visited.extend(sites);
    }

    /// Whether a run comes to this site.
    pub fn visits(&self, site: SiteId) -> bool {
        self.visited.contains(&site)
    }

    /// All sites that a run comes to.
    pub fn visited(&self) -> impl Iterator<Item = SiteId> {
        self.visited.iter().copied()
    }

    /// Whether the pattern has an access that passing runs never come to.
    pub fn is_new_code(&self, pattern: &Pattern) -> bool {
        pattern.sites().iter().any(|site| !self.visited.contains(site))
    }

    /// Whether the pattern's accesses are one thread's alone in passing runs, whichever that is: two threads never come to them on one location.
    pub fn is_one_threads(&self, pattern: &Pattern) -> bool {
        let is_alone = |sites: [SiteId; 2]| {
            !self.ordered.contains(&sites)
                && !self.is_turned(sites)
                && self.together.contains(&unordered(sites))
        };
        pattern.conflicts().all(|(_, sites)| is_alone(sites))
    }

    /// Whether the second of these sites comes before the first, in another thread.
    pub fn is_turned(&self, [head, tail]: [SiteId; 2]) -> bool {
        self.ordered.contains(&[tail, head])
    }

    /// How `pattern` stands to what is known here of passing runs.
    pub fn standing(&self, pattern: &Pattern) -> Standing {
        let mut conflicts = pattern.conflicts().map(|(_, sites)| sites);
        if conflicts.clone().any(|sites| self.is_turned(sites)) {
            Standing::Reordered
        } else if conflicts.any(|sites| self.together.contains(&unordered(sites))) {
            Standing::OneOrder
        } else {
            Standing::New
        }
    }
}

/// A location with more sites in more threads than this is looked at no further: it would cost the square, and
/// whatever so many sites use is seen in all orders soon.
const MOST: usize = 64;

/// Who has accessed a location.
#[derive(Default)]
struct Visitors {
    /// The code of each actor's first access, in the order of these; with how many visitors before it are known to precede its latest
    /// access.
    known: Vec<(Code, usize)>,
    /// Who follows the latest among them: most come in the same order again and again.
    expected: usize,
}

/// The orders that a run shows.
pub(super) fn orders(histories: &Histories) -> Orders {
    let codes = histories.codes();
    let mut found = Orders::default();
    let (sites, number_of) = codes.site_numbers();
    let mut told = Told::new(sites.len());
    let mut visitors = Visitors::default();
    for accesses in histories.locations() {
        visitors.known.clear();
        visitors.expected = 0;
        for access in accesses {
            visitors.visit(access.code, |earlier| {
                let is_other_thread = codes.thread_number(earlier) != codes.thread_number(access.code);
                let numbers = [earlier, access.code].map(|code| number_of[code.actor()]);
                if told.is_new(numbers, is_other_thread) {
                    let order = numbers.map(|number| SiteId(sites[number as usize]));
                    found.together.insert(unordered(order));
                    if is_other_thread {
                        found.ordered.insert(order);
                    }
                }
            });
        }
    }
    found
}

impl Visitors {
    /// Tells `found` the visitors that come before this access, if that is not known yet.
    fn visit(&mut self, code: Code, found: impl FnMut(Code)) {
        let is_own = |(known, _): &(Code, usize)| known.actor() == code.actor();
        let own = match self.known.get(self.expected).filter(|visitor| is_own(visitor)) {
            Some(_) => Some(self.expected),
            None => self.known.iter().position(is_own),
        };
        let own = match own {
            Some(own) => own,
            None if self.known.len() == MOST => return,
            None => {
                self.known.push((code, 0));
                self.known.len() - 1
            }
        };
        let all = self.known.len();
        self.expected = if own + 1 == all { 0 } else { own + 1 };
        let told = std::mem::replace(&mut self.known[own].1, all);
        self.known[told..].iter().map(|&(earlier, _)| earlier).for_each(found);
    }
}

fn unordered([one, other]: [SiteId; 2]) -> [SiteId; 2] {
    [one.min(other), one.max(other)]
}

/// Orders told before: most repeat, and this is quicker than to look them up.
struct Told {
    /// So many bits for each first site; none if there are too many sites.
    width: usize,
    /// Two for each second site: in one thread, and in two.
    bits: Vec<u64>,
}

impl Told {
    /// With so many sites the bits take 4 MiB. Programs have fewer; beyond, memory matters more than time.
    const MAX_SITES: usize = 4096;

    fn new(sites: usize) -> Self {
        let width = if sites <= Self::MAX_SITES { 2 * sites } else { 0 };
        Self { width, bits: vec![0; (sites * width).div_ceil(64)] }
    }

    /// Whether it may not have been told. Sites are told by number.
    #[inline]
    fn is_new(&mut self, [first, second]: [u32; 2], is_other_thread: bool) -> bool {
        let bit = first as usize * self.width + 2 * second as usize + usize::from(is_other_thread);
        let Some(word) = self.bits.get_mut(bit / 64) else { return true };
        let is_new = *word >> (bit % 64) & 1 == 0;
        *word |= 1 << (bit % 64);
        is_new
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::{Access, AccessKind, LocationId, LocksetId, Outcome, Run, RunId, StackId, ThreadId};

    /// A run of accesses that are given as site, thread and location.
    fn run(accesses: &[[u32; 3]]) -> Run {
        let mut run = Run::new(RunId(1), Outcome::Pass);
        run.accesses.extend(accesses.iter().map(|&[site, thread, location]| Access {
            thread: ThreadId(thread),
            location: LocationId(location),
            site: SiteId(site),
            stack: StackId(0),
            kind: AccessKind::Read,
            uncertain: false,
            value: None,
            before: None,
            locks: Some(LocksetId(0)),
            iteration: None,
            atomic: false,
            frees: false,
        }));
        run
    }

    /// Each two accesses to a location. A site is together with itself from its first access on.
    fn naive(run: &Run) -> Orders {
        let mut found = Orders::default();
        for (nth, later) in run.accesses.iter().enumerate() {
            for earlier in run.accesses[..=nth].iter().filter(|earlier| earlier.location == later.location) {
                found.together.insert(unordered([earlier.site, later.site]));
                if earlier.thread != later.thread {
                    found.ordered.insert([earlier.site, later.site]);
                }
            }
        }
        found
    }

    #[test]
    fn finds_what_its_naive_twin_finds() {
        let mut random = 1u32;
        let mut below = |bound: u32| {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (random >> 16) % bound
        };
        for length in 0..200 {
            let accesses: Vec<[u32; 3]> = (0..length % 40).map(|_| [below(5), below(3), below(3)]).collect();
            let run = run(&accesses);
            assert_eq!(orders(&Histories::of(&run)), naive(&run), "{accesses:?}");
        }
    }

    #[test]
    fn orders_are_found_however_many_sites_there_are() {
        let sites = Told::MAX_SITES as u32 + 10;
        let accesses: Vec<[u32; 3]> = (0..sites).map(|site| [site, site % 3, site / 4]).collect();
        let run = run(&accesses);
        assert_eq!(orders(&Histories::of(&run)), naive(&run));
    }

    #[test]
    fn a_crowded_location_is_cut_short() {
        let accesses: Vec<[u32; 3]> = (0..200).map(|site| [site, site % 2, 0]).collect();
        assert!(orders(&Histories::of(&run(&accesses))).ordered.len() < MOST * MOST);
    }
}
