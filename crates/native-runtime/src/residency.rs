//! Which pages of the shadow are in memory.
//!
//! To bring a page in takes the system as long as hundreds of accesses take the recorder. One that is looked at before it is
//! changed is brought in twice, since the first look finds a page of zeros that all share, and to replace that one interrupts every
//! processor that the program runs on. So pages are brought in several at a time where their neighbours are in use.
//!
//! What is remembered here is a guess: a page that is taken to be in memory and is not comes when it is touched.

use core::sync::atomic::{AtomicU64, Ordering};

use crate::{kernel, sandbox};

pub const PAGE: usize = 4096;

/// Pages that are brought in together once several of them are in use.
const UNIT: usize = 16;
/// How many are several.
const SEVERAL: u32 = 4;

/// Which of so many times 64 pages have been brought in. All zero at first.
#[repr(transparent)]
pub struct Pages<const WORDS: usize>([AtomicU64; WORDS]);

impl<const WORDS: usize> Pages<WORDS> {
    /// Brings in the page at this offset from the first, and with it the others of its unit or at least `together`, which is a power
    /// of two, unless that was done before.
    #[inline(always)]
    pub unsafe fn bring(&self, first: *mut u8, offset: usize, together: usize) {
        if !self.has(offset) {
            self.bring_absent(first, offset / PAGE, together);
        }
    }

    /// Has the page at this offset been brought in?
    #[inline(always)]
    pub fn has(&self, offset: usize) -> bool {
        let page = offset / PAGE;
        self.0[page / 64].load(Ordering::Relaxed) >> (page % 64) & 1 != 0
    }

    #[cold]
    #[inline(never)]
    unsafe fn bring_absent(&self, first: *mut u8, page: usize, together: usize) {
        const POPULATE_WRITE: usize = 23;
        let pages = &self.0[page / 64];
        let unit = pages.load(Ordering::Relaxed) >> ((page % 64) & !(UNIT - 1)) & mask(UNIT);
        let count = if unit.count_ones() >= SEVERAL { UNIT } else { together };
        let from = page & !(count - 1);
        pages.fetch_or(mask(count) << (from % 64), Ordering::Relaxed);
        if count > 1 && !sandbox::is_closed() {
            // Systems before Linux 5.14 refuse, and the pages come one by one.
            let place = first.add(from * PAGE) as usize;
            kernel::call(libc::SYS_madvise, [place, count * PAGE, POPULATE_WRITE, 0]);
        }
    }

    /// These bytes' pages have been taken out of memory.
    pub fn forget(&self, offset: usize, bytes: usize) {
        for page in offset / PAGE..(offset + bytes) / PAGE {
            self.0[page / 64].fetch_and(!(1 << (page % 64)), Ordering::Relaxed);
        }
    }
}

fn mask(pages: usize) -> u64 {
    (1 << pages) - 1
}
