//! Which sites' accesses come before which, on one location and by different threads.
//!
//! What passing runs show in both orders can be a matter of interleaving. What they show in one order only is
//! ordered by other means, such as the creation of a thread, and what they never show together happens for
//! another reason: then the failure is the cause and the accesses are its effect.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::run::{LocationId, Run, SiteId, ThreadId};

/// Ordered pairs of sites.
pub(super) type Orders = FxHashSet<[SiteId; 2]>;

/// A location with more sites in more threads than this is looked at no further: it would cost the square, and
/// whatever so many sites use is seen in all orders soon.
const MOST: usize = 64;

/// Who has accessed a location.
#[derive(Default)]
struct Visitors {
    /// Each site in each thread once, by first access; with how many visitors before it are known to precede
    /// its latest access.
    known: Vec<(SiteId, ThreadId, usize)>,
}

/// The orders that `run` shows.
pub(super) fn orders(run: &Run) -> Orders {
    let mut found = Orders::default();
    let mut recent = Recent::new();
    let mut locations: FxHashMap<LocationId, Visitors> = FxHashMap::default();
    for access in &run.accesses {
        let visitors = locations.entry(access.location).or_default();
        visitors.visit(access.site, access.thread, |order| {
            if recent.is_new(order) {
                found.insert(order);
            }
        });
    }
    found
}

impl Visitors {
    /// Tells `found` which sites of other threads come before this access, if that is not known yet.
    fn visit(&mut self, site: SiteId, thread: ThreadId, mut found: impl FnMut([SiteId; 2])) {
        let own = self.known.iter().position(|&(known, visitor, _)| (known, visitor) == (site, thread));
        let own = match own {
            Some(own) => own,
            None if self.known.len() == MOST => return,
            None => {
                self.known.push((site, thread, 0));
                self.known.len() - 1
            }
        };
        let all = self.known.len();
        let told = std::mem::replace(&mut self.known[own].2, all);
        for &(earlier, visitor, _) in &self.known[told..] {
            if visitor != thread {
                found([earlier, site]);
            }
        }
    }
}

/// Orders told lately: most repeat, and this is quicker than to look them up.
struct Recent {
    orders: Vec<[SiteId; 2]>,
}

impl Recent {
    const SIZE: usize = 4096;

    fn new() -> Self {
        Self { orders: vec![[SiteId(u32::MAX); 2]; Self::SIZE] }
    }

    fn is_new(&mut self, order: [SiteId; 2]) -> bool {
        let [first, second] = order.map(|site| site.0 as usize);
        let place = &mut self.orders[(first.wrapping_mul(61) ^ second) % Self::SIZE];
        std::mem::replace(place, order) != order
    }
}
