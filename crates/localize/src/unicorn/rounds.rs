//! Whether two accesses of a thread belong to one round of a loop.
//!
//! A thread that does the first of them again before the second is in another round by then. That counts only if others have used the
//! location meanwhile: of accesses in one turn it is not known exactly when they came, compared with those to other locations.

use rustc_hash::FxHashMap;

use crate::histories::Histories;
use crate::run::{SiteId, ThreadId};
use crate::spare;

/// With room for more than this, a map takes longer to be emptied than to be made anew.
const FEW: usize = 64;

/// For each access, when the same thread does the same again in a later turn: at the same site, to the same location.
pub(super) struct Rounds {
    /// That, or the highest number if it never does; and when its own turn begins.
    times: Vec<[u32; 2]>,
}

/// The next time that a thread does something, in which turn, and when it does so in a turn after that.
#[derive(Clone, Copy)]
struct Next {
    index: u32,
    turn: u32,
    again: u32,
}

impl Rounds {
    pub fn of(histories: &Histories) -> Self {
        let mut times: Vec<[u32; 2]> = spare::take();
        times.resize(histories.moments().len(), [u32::MAX, 0]);
        let mut known: FxHashMap<(ThreadId, SiteId), Next> = FxHashMap::default();
        for location in histories.locations() {
            let turns = location.chunk_by(|one, next| one.thread == next.thread);
            for (number, turn) in (0u32..).zip(turns.rev()) {
                for entry in turn.iter().rev() {
                    let next = known.get(&(entry.thread, entry.site));
                    let again = next
                        .map_or(u32::MAX, |next| if next.turn == number { next.again } else { next.index });
                    times[entry.index as usize] = [again, turn[0].index];
                    known
                        .insert((entry.thread, entry.site), Next { index: entry.index, turn: number, again });
                }
            }
            if known.capacity() > FEW {
                known = FxHashMap::default();
            }
            known.clear();
        }
        Self { times }
    }

    /// When the thread does the same again.
    pub fn again(&self, access: u32) -> u32 {
        self.times[access as usize][0]
    }

    /// Whether two accesses of a thread are of one round. The later one stands for its turn, which may have begun long before.
    pub fn are_one(&self, one: u32, other: u32) -> bool {
        self.again(one.min(other)) >= self.times[one.max(other) as usize][1]
    }
}

impl Drop for Rounds {
    fn drop(&mut self) {
        spare::give(std::mem::take(&mut self.times));
    }
}
