//! Atomic operations in the midst of a turn: nearly all that a program does with one of its locations. The thread's
//! slot is found by the hint in the word's line, as plain accesses find it, and whatever is not as usual is left to
//! [`crate::cells`].

use core::sync::atomic::{AtomicU32, Ordering, compiler_fence, fence};

use recording::{Slot, flag};

use crate::cell::SHARED;
use crate::cells::{Kind, Touch};
use crate::shadow;
use crate::thread::{self, Thread};
use crate::tls;
use crate::{contested, location, lock_code, log, noise};

/// A location that has bytes of an operation.
struct Found {
    thread: &'static mut Thread,
    location: u32,
    hint: u32,
    leaf: u32,
}

impl Found {
    /// The thread's slot there, if it is exactly the bytes of the operation.
    #[inline(always)]
    unsafe fn slot<const SIZE: usize>(&self, address: usize) -> Option<*mut Slot> {
        if !address.is_multiple_of(SIZE) {
            return None;
        }
        location::slot_at_hint(self.thread, self.hint, self.location, SIZE)
    }

    /// Has nobody begun a turn at the location since the slot was found?
    #[inline(always)]
    unsafe fn is_current(&self, slot: *mut Slot) -> bool {
        (&raw const (*slot).location).read_volatile() == self.location
    }

    /// Does a read that the slot's turn has on record, if the lock is free before and after it.
    #[inline(always)]
    unsafe fn read_again<Result>(
        &mut self,
        slot: *mut Slot,
        lock: &AtomicU32,
        read: &impl Fn() -> Result,
    ) -> Option<Result> {
        if lock.load(Ordering::Acquire) != 0 {
            return None;
        }
        let result = read();
        fence(Ordering::Acquire);
        let touch = Touch { kind: Kind::Read, flags: 0, leaf: self.leaf };
        let done = lock.load(Ordering::Acquire) == 0
            && self.is_current(slot)
            && location::repeats_in_slot(self.thread, slot, self.location, touch);
        if done {
            noise::pass_access(self.thread);
        }
        done.then_some(result)
    }
}

/// Finds the location for an operation that may be done here.
#[inline(always)]
unsafe fn find(address: usize, pc: usize) -> Option<Found> {
    let tls = tls::current();
    // Null while the thread is not recorded, or only now and then.
    let root = (*tls).root;
    if root.is_null() || !log::is_active() {
        return None;
    }
    let block = shadow::block(root, address);
    let distance = (pc as u32).wrapping_sub((*tls).frame.function);
    if block.is_null() || distance >= (*tls).frame.size || (*tls).busy != 0 {
        return None;
    }
    let line = shadow::line_in(block, address);
    let owner = (&raw const (*line).owner[(address >> 2) & 1]).read_volatile();
    let thread = &mut *(*tls).thread;
    if owner & SHARED == 0 || noise::is_due_at_access(thread) || (*thread.stack).is_wanted() {
        return None;
    }
    if lock_code::is_present() && concerns_lock(thread, pc) {
        return None;
    }
    let location = owner & !SHARED;
    let hint = *location::hint(line, address, (*tls).id());
    Some(Found { thread, location, hint, leaf: (*tls).frame.first_leaf + distance })
}

/// Is the operation one of a lock's, or the first since the thread has had to wait for one?
#[inline(never)]
pub unsafe fn concerns_lock(thread: &mut Thread, pc: usize) -> bool {
    // A signal handler must not look up a role in the midst of this.
    (*thread.tls).busy = 1;
    compiler_fence(Ordering::SeqCst);
    let does = thread.awaited.address != 0 || lock_code::role(thread, pc).is_some();
    thread::leave(thread);
    does
}

/// Does an operation on a location of which the thread has a slot, and returns its result. None, with nothing done, if it
/// needs a closer look.
#[inline(always)]
pub unsafe fn operate<const SIZE: usize, Result>(
    address: usize,
    pc: usize,
    operate: &mut impl FnMut() -> (Result, Kind),
) -> Option<Result> {
    let found = find(address, pc)?;
    let lock = location::lock_of(location::at(found.location));
    // A look first: of a contested location, all processors have the record, but not the slot.
    if lock.load(Ordering::Relaxed) != 0 {
        return None;
    }
    let slot = found.slot::<SIZE>(address)?;
    // A signal handler must not wait for the lock of the thread that it interrupts.
    (*found.thread.tls).busy = 1;
    compiler_fence(Ordering::SeqCst);
    if lock.compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed).is_err() {
        thread::leave(found.thread);
        return None;
    }
    let mut done = None;
    if found.is_current(slot) {
        let before = location::content(address, SIZE);
        let (result, kind) = operate();
        let touch = Touch { kind, flags: flag::ATOMIC, leaf: found.leaf };
        if !location::repeats_in_slot(found.thread, slot, found.location, touch) {
            location::touch_locked(found.thread, found.location, touch, before);
        }
        noise::pass_access(found.thread);
        done = Some(result);
    }
    location::unlock(found.location);
    thread::leave(found.thread);
    done
}

/// Does an operation on a contested location. None, with nothing done, if it is none.
#[inline(always)]
pub unsafe fn operate_contested<const SIZE: usize, Result>(
    address: usize,
    pc: usize,
    operate: &mut impl FnMut() -> (Result, Kind),
) -> Option<Result> {
    let found = find(address, pc)?;
    let turn = turn_at::<SIZE>(&found, address)?;
    let Found { thread, location, leaf, .. } = found;
    (*thread.tls).busy = 1;
    compiler_fence(Ordering::SeqCst);
    let done = contested::operate(thread, location, turn, (flag::ATOMIC, leaf), operate);
    if done.is_some() {
        noise::pass_access(thread);
    }
    thread::leave(thread);
    done
}

/// The slot with the location's turns, if it is contested and exactly the bytes of the operation.
#[inline(always)]
unsafe fn turn_at<const SIZE: usize>(found: &Found, address: usize) -> Option<*mut Slot> {
    let lock = location::lock_of(location::at(found.location)).load(Ordering::Acquire);
    contested::turn(lock).filter(|_| location::is(found.location, address, SIZE))
}

/// Does a read that the thread's turn has on record, without the lock: right if no turn began in the meantime. None if it
/// needs a closer look; `read` may have been called then.
#[inline(always)]
pub unsafe fn read<const SIZE: usize, Result>(
    address: usize,
    pc: usize,
    read: &impl Fn() -> Result,
) -> Option<Result> {
    let mut found = find(address, pc)?;
    let lock = location::lock_of(location::at(found.location));
    if lock.load(Ordering::Relaxed) != 0 {
        return None;
    }
    let slot = found.slot::<SIZE>(address)?;
    found.read_again(slot, lock, read)
}

/// The same for a contested location.
#[inline(always)]
pub unsafe fn read_contested<const SIZE: usize, Result>(
    address: usize,
    pc: usize,
    read: &impl Fn() -> Result,
) -> Option<Result> {
    let mut found = find(address, pc)?;
    let turn = turn_at::<SIZE>(&found, address)?;
    let again =
        found.slot::<SIZE>(address).and_then(|slot| found.read_again(slot, contested::lock_of(turn), read));
    again.or_else(|| operate_contested::<SIZE, Result>(address, pc, &mut || (read(), Kind::Read)))
}
