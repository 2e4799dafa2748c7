//! Numbers for the sessions of a tenant.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::work::compute;

const STAMP_ROUNDS: u32 = 200;

pub struct Ids {
    next: AtomicUsize,
}

impl Ids {
    pub fn new() -> Ids {
        Ids { next: AtomicUsize::new(0) }
    }

    /// A number that no session of the tenant had before, and a stamp made from it.
    #[cfg(not(fixed))]
    #[inline(never)]
    pub fn take(&self) -> (usize, u32) {
        let id = self.next.load(Ordering::Acquire); // truth:A1
        let stamp = compute(id as u32, STAMP_ROUNDS);
        self.next.store(id + 1, Ordering::Release); // truth:A2
        (id, stamp)
    }

    /// A number that no session of the tenant had before, and a stamp made from it.
    #[cfg(fixed)]
    #[inline(never)]
    pub fn take(&self) -> (usize, u32) {
        let id = self.next.fetch_add(1, Ordering::AcqRel);
        (id, compute(id as u32, STAMP_ROUNDS))
    }
}
