//! How far a thread has come, counted so that it does not depend on what others did: see [`recording::Numbering`].
//!
//! Whether an access is a point depends on whose the bytes are. Progress counts it all the same, if it is at one of the schedule's sites,
//! and where the schedule has a thread lose the token at an access to bytes of its own, that is a point, too. So every access passes
//! by here, and the hooks are given the root of an empty shadow (see [`planned`]).

use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, AtomicU32, AtomicUsize, Ordering};

use recording::{Numbering, Site, Switch};

use crate::{mapping, modules, planned};

static NUMBERING: AtomicU32 = AtomicU32::new(Numbering::Stops as u32);
/// Addresses of sites by their hash, with zeros in between; null if there are none.
static TABLE: AtomicPtr<usize> = AtomicPtr::new(null_mut());
/// Its length less one: a power of two less one.
static MASK: AtomicUsize = AtomicUsize::new(0);
/// The progress at which whoever has the token is to lose it.
static NEXT_STOP: AtomicU32 = AtomicU32::new(Switch::AS_LONG_AS_IT_CAN);

/// Takes the sites of a schedule that counts progress.
pub unsafe fn start(numbering: u32, sites: *const Site, count: usize) {
    let length = (2 * count).next_power_of_two();
    let table: *mut usize = mapping::reserve(length * size_of::<usize>()).cast();
    if table.is_null() {
        return;
    }
    let mut known = ([0; 32], None);
    for number in 0..count {
        let Site { build_id, address } = sites.add(number).read_unaligned();
        if known.0 != build_id {
            known = (build_id, modules::with_build_id(&build_id));
        }
        if let Some(module) = known.1 {
            let site = module.bias.wrapping_add(address) as usize;
            *find(table, length - 1, site) = site;
        }
    }
    MASK.store(length - 1, Ordering::Relaxed);
    TABLE.store(table, Ordering::Relaxed);
    NUMBERING.store(numbering, Ordering::Relaxed);
    planned::look_at_all();
}

/// Do the numbers of the schedule that is followed count progress?
pub fn is_followed() -> bool {
    NUMBERING.load(Ordering::Relaxed) == Numbering::Progress as u32
}

/// Is it told in the recording?
pub fn is_told() -> bool {
    NUMBERING.load(Ordering::Relaxed) != Numbering::Stops as u32
}

/// Is an access here progress?
#[inline]
pub unsafe fn counts(site: usize) -> bool {
    let table = TABLE.load(Ordering::Relaxed);
    !table.is_null() && *find(table, MASK.load(Ordering::Relaxed), site) == site
}

/// Whoever has the token is to lose it when it has come so far.
pub fn set_next_stop(stop: u32) {
    NEXT_STOP.store(stop, Ordering::Relaxed);
}

/// Is a thread that has come so far to lose the token here?
pub fn is_due(progress: u32) -> bool {
    is_followed() && progress >= NEXT_STOP.load(Ordering::Relaxed)
}

/// Where a site is in the table, or would be. Half of the table is empty, so that this ends.
unsafe fn find(table: *mut usize, mask: usize, site: usize) -> *mut usize {
    let mut place = site.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
    loop {
        let entry = table.add(place & mask);
        if *entry == site || *entry == 0 {
            return entry;
        }
        place += 1;
    }
}
