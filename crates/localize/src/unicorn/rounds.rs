//! Whether two accesses of a thread belong to one round of a loop.

use rustc_hash::FxHashMap;

use crate::histories::Histories;
use crate::run::{SiteId, ThreadId};
use crate::spare;

/// With room for more than this, a map takes longer to be emptied than to be made anew.
const FEW: usize = 64;

/// For each access, when the same was done before and after it: by the same thread, at the same site, to the same location.
pub(super) struct Rounds {
    /// One more than the index of the one before, or 0; and the index of the one after, or the highest number.
    neighbours: Vec<[u32; 2]>,
}

impl Rounds {
    pub fn of(histories: &Histories) -> Self {
        let mut neighbours: Vec<[u32; 2]> = spare::take();
        neighbours.resize(histories.moments().len(), [0, u32::MAX]);
        let mut newest: FxHashMap<(ThreadId, SiteId), u32> = FxHashMap::default();
        for location in histories.locations().filter(|location| location.len() > 1) {
            for entry in location {
                if let Some(before) = newest.insert((entry.thread, entry.site), entry.index) {
                    neighbours[before as usize][1] = entry.index;
                    neighbours[entry.index as usize][0] = before + 1;
                }
            }
            if newest.capacity() > FEW {
                newest = FxHashMap::default();
            }
            newest.clear();
        }
        Self { neighbours }
    }

    /// When the thread does the same again.
    pub fn again(&self, access: u32) -> u32 {
        self.neighbours[access as usize][1]
    }

    /// Whether a thread does neither of two of its accesses again between them.
    pub fn are_one(&self, one: u32, other: u32) -> bool {
        let (earlier, later) = (one.min(other), one.max(other));
        self.again(earlier) >= later && self.neighbours[later as usize][0] <= earlier + 1
    }
}

impl Drop for Rounds {
    fn drop(&mut self) {
        spare::give(std::mem::take(&mut self.neighbours));
    }
}
