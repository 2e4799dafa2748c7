//! The plan's sites, as addresses in this process. What it misses: modules loaded later than the recorder.

use core::sync::atomic::{AtomicUsize, Ordering};

use recording::{MOST_SITES, RunPlan};

use crate::modules;

static SITES: [AtomicUsize; MOST_SITES] = [const { AtomicUsize::new(0) }; MOST_SITES];
static COUNT: AtomicUsize = AtomicUsize::new(0);

pub unsafe fn start(plan: &RunPlan) {
    let mut count = 0;
    for site in plan.sites.iter() {
        if let Some(module) = modules::with_build_id(&site.build_id) {
            SITES[count].store(module.bias.wrapping_add(site.address) as usize, Ordering::Relaxed);
            count += 1;
        }
    }
    COUNT.store(count, Ordering::Relaxed);
}

/// Does the plan name any that are here?
#[inline]
pub fn any() -> bool {
    COUNT.load(Ordering::Relaxed) != 0
}

/// Where their hooks return to.
pub fn sites() -> impl Iterator<Item = usize> {
    SITES[..COUNT.load(Ordering::Relaxed)].iter().map(|site| site.load(Ordering::Relaxed))
}
