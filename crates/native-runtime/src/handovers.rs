//! How often bytes have passed from one site to another, and what that means for the next time.
//!
//! A program that passes buffers from thread to thread hands over every word of them. Up to a share of the
//! run's budget each becomes a location with a history of its own. Beyond that, words whose handover has been
//! seen many times already just change their owner: what is new is recorded, what repeats is counted.

use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use recording::{Location, RegionId};

use crate::thread::Thread;
use crate::{blocks, buffers, log, mapping};

/// Bytes of budget per location: of the usual 64 MiB, 131,072 locations with 8 MiB of records.
const BUDGET_PER_LOCATION: u64 = 512;
/// Handovers between two sites that are always recorded.
pub const ALWAYS_RECORDED: u32 = 64;
/// Handovers between two sites that are recorded within the budget, and locations in one heap block that are: more items than a
/// test has accounts, jobs or nodes, fewer than it has bytes in its buffers. A block beyond that is a buffer, or the workspace of whoever
/// has it just now, each word of which changes hands with the whole.
const MOST_RECORDED: u32 = 4096;

/// An access to so many bytes or more is one to a buffer: its first words have shown the same handover often enough. So have those
/// of a buffer that one access has filled, and another takes over piece by piece ([`buffers`]), and of one that is
/// only read, word after word ([`crate::trails`]).
pub const BUFFER: usize = ALWAYS_RECORDED as usize * 8;

/// A pair of sites. Those that find no room here count as new as long as there is room for locations.
struct Pair {
    sites: AtomicU64,
    count: AtomicU32,
    /// The first of what is kept of it, zero if nothing: see [`crate::kept`].
    kept: AtomicU32,
}

const PAIRS: usize = 1 << 14;
const PROBES: usize = 16;
static SEEN: [Pair; PAIRS] =
    [const { Pair { sites: AtomicU64::new(0), count: AtomicU32::new(0), kept: AtomicU32::new(0) } }; PAIRS];

/// Counts a handover; true if it is to be recorded.
pub unsafe fn is_worth_a_location(from: u32, to: u32) -> bool {
    let Some(pair) = find(from, to) else { return has_room_for_locations() };
    let before = pair.count.load(Ordering::Relaxed);
    pair.increment(before);
    has_room(before)
}

/// Is this handover one of those that are not recorded any more? Counts it only if so.
#[inline]
pub unsafe fn is_no_news(thread: &mut Thread, word: usize, from: u32, to: u32, is_on_trail: bool) -> bool {
    if thread.no_news == (from, to) {
        return true;
    }
    let Some(pair) = find(from, to) else { return !has_room_for_locations() };
    let before = pair.count.load(Ordering::Relaxed);
    if before < ALWAYS_RECORDED {
        return false;
    }
    let has_room = has_room(before);
    if has_room
        && !thread.in_buffer
        && !is_on_trail
        && !buffers::are_accessed_at(from)
        && !is_full(thread, word)
    {
        return false;
    }
    pair.increment(before);
    if !has_room {
        // What is no news stays so.
        thread.no_news = (from, to);
    }
    true
}

/// Has the heap block of this word as many locations as one may have? The look for the block is long, and in vain where the run has not
/// that many.
unsafe fn is_full(thread: &mut Thread, word: usize) -> bool {
    count_of_locations() >= MOST_RECORDED && blocks::has_locations(thread, word, MOST_RECORDED)
}

/// Where to find what is kept of a pair beyond the budget; none if there is no room for it.
pub fn kept(from: u32, to: u32) -> Option<&'static AtomicU32> {
    find(from, to).map(|pair| &pair.kept)
}

/// In a forked child.
pub fn restart() {
    let used = SEEN.iter().filter(|pair| pair.sites.load(Ordering::Relaxed) != 0);
    used.for_each(|pair| pair.kept.store(0, Ordering::Relaxed));
}

/// May a handover be recorded that was seen so many times before?
unsafe fn has_room(before: u32) -> bool {
    before < ALWAYS_RECORDED || before < MOST_RECORDED && has_room_for_locations()
}

unsafe fn has_room_for_locations() -> bool {
    u64::from(count_of_locations()) < log::budget() / BUDGET_PER_LOCATION
}

unsafe fn count_of_locations() -> u32 {
    mapping::record_count::<Location>(RegionId::Locations)
}

impl Pair {
    fn increment(&self, before: u32) {
        // A lost increment does no harm, and a store is cheaper than an atomic addition; nor is it needed for ever.
        if before <= MOST_RECORDED {
            self.count.store(before + 1, Ordering::Relaxed);
        }
    }
}

/// The count of a pair; none if there is no room for it.
#[inline]
fn find(from: u32, to: u32) -> Option<&'static Pair> {
    let sites = u64::from(from) << 32 | u64::from(to);
    let start = (sites.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as usize;
    for probe in 0..PROBES {
        let pair = &SEEN[(start + probe) % PAIRS];
        let found = pair.sites.load(Ordering::Relaxed);
        let ours = found == sites
            || found == 0
                && match pair.sites.compare_exchange(0, sites, Ordering::Relaxed, Ordering::Relaxed) {
                    Ok(_) => true,
                    Err(now) => now == sites,
                };
        if ours {
            return Some(pair);
        }
    }
    None
}
