//! Innocent sharing around the bug: background.h for the corpus's Rust programs. `--cfg noise="0"` leaves it out,
//! `--cfg noise="2"` adds thousands of accesses to a striped table and to a progress counter.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

const CACHE_LINES: usize = 8;
const STRIPES: usize = 8;
const CELLS_PER_STRIPE: usize = 32;
const STEPS_PER_SWEEP: u32 = 4;

struct Cache {
    lookups: u64,
    misses: u64,
    keys: [u32; CACHE_LINES],
    values: [u32; CACHE_LINES],
}

static CACHE: Mutex<Cache> =
    Mutex::new(Cache { lookups: 0, misses: 0, keys: [0; CACHE_LINES], values: [0; CACHE_LINES] });
static TABLE: [Mutex<[u32; CELLS_PER_STRIPE]>; STRIPES] =
    [const { Mutex::new([0; CELLS_PER_STRIPE]) }; STRIPES];
static PROGRESS: AtomicUsize = AtomicUsize::new(0);

/// One unit of what the rest of a program would be doing.
pub fn step(key: u32) {
    if cfg!(noise = "0") {
        return;
    }
    let value = look_up(key);
    if cfg!(noise = "2") && key.is_multiple_of(STEPS_PER_SWEEP) {
        sweep(value);
    }
}

#[inline(never)]
fn look_up(key: u32) -> u32 {
    let line = key as usize % CACHE_LINES;
    let mut cache = CACHE.lock().unwrap();
    cache.lookups += 1;
    if cache.keys[line] != key {
        cache.misses += 1;
        cache.keys[line] = key;
        cache.values[line] = key.wrapping_mul(2_654_435_761);
    }
    cache.values[line]
}

#[inline(never)]
fn sweep(value: u32) {
    for stripe in &TABLE {
        let mut cells = stripe.lock().unwrap();
        for i in 1..CELLS_PER_STRIPE {
            cells[i] = cells[i - 1] ^ value;
        }
        cells[0] = cells[0].wrapping_add(value);
        PROGRESS.fetch_add(1, Ordering::Relaxed);
    }
}
