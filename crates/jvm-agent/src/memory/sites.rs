//! What the hook class knows about places: nothing, until the recorder has seen that nothing is special about one.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::reserve;

/// More are not numbered.
pub const MOST: u32 = 1 << 24;

const WRITES: u64 = 1 << 16;
const NAMES: u64 = 1 << 17;
const PART_SHIFT: u32 = 32;

static TABLE: OnceLock<Option<u64>> = OnceLock::new();

fn base() -> Option<u64> {
    *TABLE.get_or_init(|| reserve(MOST as usize * size_of::<u64>()).map(|base| base as u64))
}

/// Where the hook class finds them, zero if there is no room.
pub fn table() -> u64 {
    base().unwrap_or(0)
}

/// Is there a table?
pub fn are_there() -> bool {
    base().is_some()
}

/// An access that may be noted without the recorder, if its object is the thread's own.
#[derive(Clone, Copy, Debug)]
pub struct Plain {
    /// Position of the instruction.
    pub position: u16,
    /// Does it write?
    pub writes: bool,
    /// Does reading it tell what to call an array or a lock?
    pub names_its_value: bool,
    /// Which part of the object it is about; any for elements of arrays.
    pub part: u32,
}

/// Tells the hook class.
pub fn tell(site: i32, plain: Plain) {
    let Some(base) = base() else { return };
    let bits = u64::from(plain.position)
        | if plain.writes { WRITES } else { 0 }
        | if plain.names_its_value { NAMES } else { 0 }
        | (u64::from(plain.part) + 1) << PART_SHIFT;
    // SAFETY: sites are numbered below MOST, for so many of which there is room.
    let place = unsafe { &*(base as *const AtomicU64).add(site as usize) };
    place.store(bits, Relaxed);
}
