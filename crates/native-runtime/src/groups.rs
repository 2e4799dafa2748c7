//! Room for the cells of the bytes of split halves, four at a time: a *group*. The owner field of such a half has its number.
//!
//! Groups lie one behind the other, however far apart the memory is that they describe: heaps have a small field here and there,
//! each of which would have pages of its own beside the lines. Where many halves are split, their cells are there all the same
//! ([`crate::split`]): where these are is known before their owner field has come from memory, which buffers are read quicker by.
//!
//! Whoever has just read a number may still note an access in the group a few instructions after it was given back: what is noted is of
//! no more interest then. So a group that was given back is not taken again before [`KEPT_BACK`] others have been.

use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, AtomicU32, Ordering};

use crate::cell::BYTES;
use crate::residency::PAGE;
use crate::split::ByteCell;
use crate::thread::Thread;
use crate::{kernel, mapping, sandbox, spin};

pub type Group = [ByteCell; 4];

/// How many there are: as many as halves may be split.
const ROOM: u32 = 1 << 19;
/// The bits of a number; whatever they are, there is a place for it. No group has the number 0.
pub const NUMBER: u32 = ROOM - 1;
const _: () = assert!(ROOM.is_power_of_two() && NUMBER & BYTES == 0);

/// Groups that a thread takes from, or gives back to, the others at once: two pages.
const TOGETHER: u32 = (2 * PAGE / size_of::<Group>()) as u32;
/// A thread's newest groups that it does not take again as long as there are others.
const KEPT_BACK: u32 = TOGETHER;

/// Where they are.
pub static GROUPS: AtomicPtr<Group> = AtomicPtr::new(null_mut());

/// Groups that are free, the one longest so first. Each has the number of the next in the owner field of its first cell, beside
/// [`BYTES`], which no cell has otherwise: so nobody takes it for a thread's or a location's.
#[derive(Clone, Copy)]
pub struct Chain {
    first: u32,
    last: u32,
    count: u32,
}

/// What threads have given back, and the first group that nobody has had yet. Under the lock.
static LOCK: AtomicU32 = AtomicU32::new(0);
static mut GIVEN_BACK: Chain = Chain::EMPTY;
static mut UNUSED: u32 = 1;
/// How many all these are.
static LEFT: AtomicU32 = AtomicU32::new(ROOM - 1);

/// Reserves the address space; false if there is none.
pub unsafe fn start() -> bool {
    let place = mapping::reserve(ROOM as usize * size_of::<Group>());
    GROUPS.store(place.cast(), Ordering::Release);
    !place.is_null()
}

/// The group that an owner field names.
#[inline(always)]
pub unsafe fn at(owner: u32) -> *mut Group {
    GROUPS.load(Ordering::Relaxed).add((owner & NUMBER) as usize)
}

/// A free group; none if there is no room.
#[inline]
pub unsafe fn take(thread: &mut Thread) -> Option<u32> {
    if thread.groups.count <= KEPT_BACK && LEFT.load(Ordering::Relaxed) != 0 {
        fetch(&mut thread.groups);
    }
    thread.groups.take()
}

/// Gives a group back.
#[inline]
pub unsafe fn give_back(thread: &mut Thread, number: u32) {
    thread.groups.add(Chain { first: number & NUMBER, last: number & NUMBER, count: 1 });
    if thread.groups.count > KEPT_BACK + 2 * TOGETHER {
        let some = thread.groups.split_off(TOGETHER);
        give_to_others(some);
    }
}

/// Gets more groups, to be taken before the thread's own.
#[cold]
#[inline(never)]
unsafe fn fetch(own: &mut Chain) {
    if !spin::lock(&LOCK) {
        return;
    }
    let given_back = &raw mut GIVEN_BACK;
    let mut more =
        if (*given_back).count > 2 * TOGETHER { (*given_back).split_off(TOGETHER) } else { unused() };
    if more.count == 0 {
        // None that are new: also what others gave back just now.
        more = (*given_back).split_off(TOGETHER.min((*given_back).count));
    }
    LEFT.fetch_sub(more.count, Ordering::Relaxed);
    spin::unlock(&LOCK);
    if more.count != 0 {
        more.add(*own);
        *own = more;
    }
}

/// Groups that nobody has had yet.
unsafe fn unused() -> Chain {
    const POPULATE_WRITE: usize = 23;
    let first = UNUSED;
    if first == ROOM {
        return Chain::EMPTY;
    }
    let end = (first / TOGETHER + 1) * TOGETHER;
    UNUSED = end;
    if !sandbox::is_closed() {
        let place = at(first) as usize & !(PAGE - 1);
        let bytes = (at(end - 1).add(1) as usize).next_multiple_of(PAGE) - place;
        kernel::call(libc::SYS_madvise, [place, bytes, POPULATE_WRITE, 0]);
    }
    for number in first..end - 1 {
        link(number, number + 1);
    }
    Chain { first, last: end - 1, count: end - first }
}

unsafe fn give_to_others(chain: Chain) {
    if spin::lock(&LOCK) {
        let given_back = &raw mut GIVEN_BACK;
        (*given_back).add(chain);
        LEFT.fetch_add(chain.count, Ordering::Relaxed);
        spin::unlock(&LOCK);
    }
}

unsafe fn link(number: u32, next: u32) {
    (*at(number))[0].owner = BYTES | next;
}

unsafe fn next(number: u32) -> u32 {
    (*at(number))[0].owner & NUMBER
}

impl Chain {
    pub const EMPTY: Chain = Chain { first: 0, last: 0, count: 0 };

    #[inline]
    unsafe fn take(&mut self) -> Option<u32> {
        if self.count == 0 {
            return None;
        }
        let number = self.first;
        self.count -= 1;
        self.first = next(number);
        Some(number)
    }

    /// Puts others behind these.
    #[inline]
    unsafe fn add(&mut self, others: Chain) {
        if others.count == 0 {
            return;
        }
        link(others.last, 0);
        if self.count == 0 {
            *self = others;
            return;
        }
        link(self.last, others.first);
        self.last = others.last;
        self.count += others.count;
    }

    /// So many from the beginning, at most all.
    unsafe fn split_off(&mut self, count: u32) -> Chain {
        if count == 0 {
            return Chain::EMPTY;
        }
        let mut last = self.first;
        for _ in 1..count {
            last = next(last);
        }
        let off = Chain { first: self.first, last, count };
        *self = Chain { first: next(last), last: self.last, count: self.count - count };
        off
    }
}

/// The thread ends.
pub unsafe fn give_back_all(thread: &mut Thread) {
    give_to_others(thread.groups);
    thread.groups = Chain::EMPTY;
}

pub fn lock_before_fork() {
    spin::lock(&LOCK);
}

pub fn unlock_after_fork() {
    LOCK.store(0, Ordering::Relaxed);
}

/// In a forked child, whose shadow is empty.
pub unsafe fn restart(thread: &mut Thread) {
    thread.groups = Chain::EMPTY;
    GIVEN_BACK = Chain::EMPTY;
    let used = (UNUSED as usize * size_of::<Group>()).next_multiple_of(PAGE);
    UNUSED = 1;
    LEFT.store(ROOM - 1, Ordering::Relaxed);
    kernel::call(libc::SYS_madvise, [at(0) as usize, used, libc::MADV_DONTNEED as usize, 0]);
}
