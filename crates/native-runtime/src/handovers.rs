//! How often bytes have passed from one site to another, and what that means for the next time.
//!
//! A program that passes buffers from thread to thread hands over every word of them. Up to a share of the
//! run's budget each becomes a location with a history of its own. Beyond that, words whose handover has been
//! seen many times already just change their owner: what is new is recorded, what repeats is counted.

use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use recording::{Location, RegionId};

use crate::{log, mapping};

/// Bytes of budget per location: of the usual 64 MiB, 131,072 locations with 8 MiB of records.
const BUDGET_PER_LOCATION: u64 = 512;
/// Handovers between two sites that are always recorded.
const ALWAYS_RECORDED: u32 = 64;

/// A pair of sites. Those that find no room count as new each time.
struct Pair {
    sites: AtomicU64,
    count: AtomicU32,
}

const PAIRS: usize = 1 << 14;
const PROBES: usize = 16;
static SEEN: [Pair; PAIRS] = [const { Pair { sites: AtomicU64::new(0), count: AtomicU32::new(0) } }; PAIRS];

/// Counts a handover; true if it is to be recorded.
pub unsafe fn is_worth_a_location(from: u32, to: u32) -> bool {
    let times = count(from, to);
    times < ALWAYS_RECORDED
        || u64::from(mapping::record_count::<Location>(RegionId::Locations))
            < log::budget() / BUDGET_PER_LOCATION
}

/// Counts a handover and says how often it was seen before.
fn count(from: u32, to: u32) -> u32 {
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
            let before = pair.count.load(Ordering::Relaxed);
            // A lost increment does no harm, and a store is cheaper than an atomic addition.
            pair.count.store(before.saturating_add(1), Ordering::Relaxed);
            return before;
        }
    }
    0
}
