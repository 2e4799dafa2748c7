//! The plan's sites, as addresses in this process. What it misses: modules loaded later than the recorder.
//!
//! What happens there is of interest even if the bytes are the thread's own. So that the hooks need not ask, they are
//! given a root by which nobody has touched anything yet, and take each access for an unusual one.

use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

use recording::{MOST_SITES, RunPlan};

use crate::{mapping, modules, shadow};

static SITES: [AtomicUsize; MOST_SITES] = [const { AtomicUsize::new(0) }; MOST_SITES];
static COUNT: AtomicUsize = AtomicUsize::new(0);
static EMPTY_ROOT: AtomicPtr<*mut u8> = AtomicPtr::new(null_mut());

pub unsafe fn start(plan: &RunPlan) {
    let mut count = 0;
    for site in plan.sites.iter() {
        if let Some(module) = modules::with_build_id(&site.build_id) {
            SITES[count].store(module.bias.wrapping_add(site.address) as usize, Ordering::Relaxed);
            count += 1;
        }
    }
    COUNT.store(count, Ordering::Relaxed);
    if count > 0 {
        look_at_all();
    }
}

/// From now on threads that begin look at each of their accesses.
pub unsafe fn look_at_all() {
    if EMPTY_ROOT.load(Ordering::Relaxed).is_null() {
        EMPTY_ROOT.store(mapping::reserve(shadow::ROOT_BYTES).cast(), Ordering::Relaxed);
    }
}

/// Where the hooks look for what is known about memory.
pub fn root() -> *const *mut u8 {
    let empty = EMPTY_ROOT.load(Ordering::Relaxed);
    if empty.is_null() { shadow::root() } else { empty }
}

/// Does the plan name any that are here?
#[inline]
pub fn any() -> bool {
    COUNT.load(Ordering::Relaxed) != 0
}

/// Is this one of them?
pub fn contains(site: usize) -> bool {
    sites().any(|planned| planned == site)
}

/// Where their hooks return to.
pub fn sites() -> impl Iterator<Item = usize> {
    SITES[..COUNT.load(Ordering::Relaxed)].iter().map(|site| site.load(Ordering::Relaxed))
}
