//! Who touched which bytes so far, in private memory: the state of bytes before several threads use them.
//!
//! [`crate::cell`] says how bytes are described.
//!
//! Deviations from the design: a location's very first turn keeps its last read and last write only, since
//! nothing can precede its first ones. Their times have 16 bits each, so that which of the two came first is lost
//! where the thread had no event in between, or tens of thousands; the read is then taken to be first, as in
//! `x++`.

use core::mem::MaybeUninit;
use core::sync::atomic::{AtomicU32, Ordering, compiler_fence};

use recording::{Event, EventKind, Location, RegionId, flag};

use crate::cell::{BYTES, Cell, ID, READ_BY_MANY, SHARED, SPLIT, each_cell, exchange};
use crate::own::{self, Who};
use crate::shadow::{self, Line};
use crate::split::split;
use crate::thread::Thread;
use crate::{
    blocks, handovers, location, log, loops, mapping, noise, passages, passing, releases, repetition, spin,
    stack, thread,
};

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Read,
    Write,
    /// Atomic read-modify-write.
    Update,
}

/// What is done to bytes.
#[derive(Clone, Copy)]
pub struct Touch {
    pub kind: Kind,
    /// [`recording::flag`] bits for the event, should there be one.
    pub flags: u8,
    pub leaf: u32,
}

impl Touch {
    pub fn reads(self) -> bool {
        self.kind != Kind::Write
    }

    pub fn writes(self) -> bool {
        self.kind != Kind::Read
    }
}

/// Lines are changed under one of these, by address; each on a cache line of its own. Neighbouring words have the same, so that two
/// threads that go through buffers do not take a lock from each other for every word.
#[repr(align(64))]
struct Stripe(AtomicU32);
const STRIPES: usize = 1024;
static LOCKS: [Stripe; STRIPES] = [const { Stripe(AtomicU32::new(0)) }; STRIPES];

/// The lock of a word.
pub fn stripe(address: usize) -> &'static AtomicU32 {
    &LOCKS[(address >> 8).wrapping_mul(0x9e37_79b1) >> 7 & (STRIPES - 1)].0
}

/// Takes the lock of a word if nobody has it. A signal handler must not wait for the lock of the thread that it interrupts.
#[inline(always)]
pub unsafe fn try_lock(thread: &mut Thread, address: usize) -> Option<&'static AtomicU32> {
    let lock = stripe(address);
    (*thread.tls).busy = 1;
    compiler_fence(Ordering::SeqCst);
    if lock.compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed).is_err() {
        thread::leave(thread);
        return None;
    }
    Some(lock)
}

/// Gives it back.
#[inline(always)]
pub unsafe fn unlock(thread: &mut Thread, lock: &AtomicU32) {
    spin::unlock(lock);
    thread::leave(thread);
}

pub fn lock_before_fork() {
    for stripe in &LOCKS {
        spin::lock(&stripe.0);
    }
}

pub fn unlock_after_fork() {
    for stripe in &LOCKS {
        stripe.0.store(0, Ordering::Relaxed);
    }
}

/// The bytes of an access as bits, bit 0 for the first byte of its aligned word.
#[inline(always)]
pub fn byte_mask(address: usize, size: usize) -> u16 {
    (((1u32 << size) - 1) << (address & 7)) as u16
}

/// Locations that one access within a word concerns.
pub struct Concerned {
    pub locations: [u32; 8],
    pub count: usize,
}

impl Concerned {
    fn none() -> Concerned {
        Concerned { locations: [0; 8], count: 0 }
    }

    fn add(&mut self, location: u32) {
        if self.count == 0 || self.locations[self.count - 1] != location {
            self.locations[self.count] = location;
            self.count += 1;
        }
    }

    pub fn as_slice(&self) -> &[u32] {
        &self.locations[..self.count]
    }
}

/// A plain access within one aligned word.
pub unsafe fn touch(thread: &mut Thread, address: usize, size: usize, touch: Touch) {
    let line = shadow::line(address);
    if !line.is_null() && !own::note(line, thread.who(), address, size, touch) {
        touch_others(thread, line, address, size, touch);
    }
}

/// A plain access within one aligned word, not all of whose bytes are just this thread's own.
pub unsafe fn touch_others(thread: &mut Thread, line: *mut Line, address: usize, size: usize, touch: Touch) {
    if ends_passage(thread, line, address) && own::note(line, thread.who(), address, size, touch) {
        return;
    }
    if is_contended(thread, line, address) {
        // Before any state changes: what the delay lets others do must not be taken for our doing.
        noise::at_access(thread);
    }
    // A location that is cut or ended by another thread between the two steps is looked up anew.
    for _ in 0..16 {
        let only = sole_location(line, address, size);
        if only.is_some_and(|only| location::touch(thread, only, touch)) {
            return;
        }
        if only.is_none() && repetition::in_parts(thread, line, address, size, touch) {
            return;
        }
        let lock = stripe(address);
        if !spin::lock(lock) {
            return;
        }
        passages::settle(thread, line);
        if passing::take_over(thread, line, address, size, touch) {
            return spin::unlock(lock);
        }
        let concerned = look_at_others(thread, line, address, size, touch);
        note_own(thread, line, address, size, touch);
        spin::unlock(lock);
        let mut done = true;
        for &location in concerned.as_slice() {
            done &= location::touch(thread, location, touch);
        }
        if done {
            return;
        }
    }
}

/// An atomic access within one aligned word: `operate` is called at the one moment that counts in the order of
/// all accesses to these bytes, and says what kind it turned out to be.
pub unsafe fn touch_atomically(
    thread: &mut Thread,
    address: usize,
    size: usize,
    flags: u8,
    leaf: u32,
    operate: &mut dyn FnMut() -> Kind,
) {
    let line = shadow::line(address);
    if line.is_null() {
        operate();
        return;
    }
    ends_passage(thread, line, address);
    if is_contended(thread, line, address) {
        noise::at_access(thread);
    }
    let only = sole_location(line, address, size);
    if only.is_some_and(|only| location::operate(thread, only, flags, leaf, operate)) {
        return;
    }
    let lock = stripe(address);
    if !spin::lock(lock) {
        operate();
        return;
    }
    passages::settle(thread, line);
    // Which locations it concerns must be known before the operation, its kind only afterwards; so bytes of
    // this thread alone are noted afterwards, and others' bytes become locations first.
    let unknown = Touch { kind: Kind::Update, flags, leaf };
    let concerned = look_at_others(thread, line, address, size, unknown);
    for &location in concerned.as_slice() {
        location::lock(location);
    }
    let before = location::content(address, size);
    let kind = operate();
    let touch = Touch { kind, flags, leaf };
    for &location in concerned.as_slice() {
        location::touch_locked(thread, location, touch, before);
        location::unlock(location);
    }
    note_own(thread, line, address, size, touch);
    spin::unlock(lock);
}

/// An atomic read that the thread's turn may have on record already. False if it must be done the long way;
/// `read` may have been called then.
pub unsafe fn read_again(
    thread: &mut Thread,
    address: usize,
    size: usize,
    leaf: u32,
    read: &mut dyn FnMut() -> Kind,
) -> bool {
    let line = shadow::line_if_mapped(address);
    if line.is_null() || noise::is_due_at_access(thread) {
        return false;
    }
    if (*line).owner[(address >> 2) & 1] == READ_BY_MANY {
        // No order to be exact about: whoever writes next is recorded after all that was read until then.
        read();
        return true;
    }
    let only = sole_location(line, address, size);
    let done = only.is_some_and(|only| location::read_again(thread, only, leaf, read));
    if done {
        noise::pass_access(thread);
    }
    done
}

/// Was somebody going through this word byte by byte? Now it is described as any other.
#[inline]
unsafe fn ends_passage(thread: &mut Thread, line: *mut Line, address: usize) -> bool {
    if !passages::is_named((*line).owner[0]) {
        return false;
    }
    let lock = stripe(address);
    if spin::lock(lock) {
        passages::settle(thread, line);
        spin::unlock(lock);
    }
    true
}

/// Do other threads use these bytes too?
unsafe fn is_contended(thread: &Thread, line: *const Line, address: usize) -> bool {
    let owner = (*line).owner[(address >> 2) & 1];
    owner & SHARED != 0 || (owner & (SPLIT | SHARED) == 0 && owner != 0 && owner & ID != thread.id)
}

/// The one location that is exactly these bytes, as far as can be told without the lock.
#[inline]
unsafe fn sole_location(line: *const Line, address: usize, size: usize) -> Option<u32> {
    let owner = (&raw const (*line).owner[(address >> 2) & 1]).read_volatile();
    if owner & SHARED == 0 {
        return None;
    }
    let index = owner & !SHARED;
    let location: *const Location = mapping::record(RegionId::Locations, index);
    ((*location).address == address as u64 && (*location).size == size as u32).then_some(index)
}

/// Bytes that many have read are about to be written: they become the one known reader's again.
pub unsafe fn remember_reader(line: *mut Line, mask: u16) {
    each_cell(line, mask, &mut |cell| {
        if *cell.owner == READ_BY_MANY {
            let reader = *cell.write;
            *cell.write = 0;
            AtomicU32::from_ptr(cell.owner).store(reader, Ordering::Release);
        }
    });
}

/// Turns bytes of other threads into locations, cuts locations that the access covers in part, and returns
/// the locations that the access concerns. Bytes of this thread alone stay as they are.
unsafe fn look_at_others(
    thread: &mut Thread,
    line: *mut Line,
    address: usize,
    size: usize,
    touch: Touch,
) -> Concerned {
    let mask = byte_mask(address, size);
    let word = address & !7;
    if touch.writes() {
        remember_reader(line, mask);
    }
    for half in 0..2 {
        separate(thread, line, half, mask >> (half * 4) & 15);
    }
    cut_partly_covered(thread, line, word, mask);
    let mut concerned = Concerned::none();
    let mut alike = Alike::none();
    each_cell(line, mask, &mut |cell| {
        if !alike.takes(&cell) {
            alike.share(thread, word, touch.leaf, &mut concerned);
            alike = Alike::none();
        }
        if cell.has_one_user() && *cell.owner & ID != thread.id {
            alike.add(cell);
        } else if *cell.owner & SHARED != 0 && *cell.owner != READ_BY_MANY {
            concerned.add(*cell.owner & !SHARED);
        }
    });
    alike.share(thread, word, touch.leaf, &mut concerned);
    concerned
}

/// Adjacent cells of another thread that are described alike.
struct Alike {
    cells: [MaybeUninit<Cell>; 8],
    count: usize,
}

impl Alike {
    fn none() -> Alike {
        Alike { cells: [const { MaybeUninit::uninit() }; 8], count: 0 }
    }

    unsafe fn as_slice(&self) -> &[Cell] {
        core::slice::from_raw_parts(self.cells.as_ptr().cast(), self.count)
    }

    unsafe fn takes(&self, cell: &Cell) -> bool {
        self.as_slice().last().is_none_or(|last| cell.continues(last))
    }

    fn add(&mut self, cell: Cell) {
        self.cells[self.count].write(cell);
        self.count += 1;
    }

    unsafe fn share(&self, thread: &mut Thread, word: usize, leaf: u32, concerned: &mut Concerned) {
        if let Some(location) = share(thread, word, self.as_slice(), leaf) {
            concerned.add(location);
        }
    }
}

/// Makes sure that a half of another thread is either touched by both threads as a whole, or described byte by
/// byte.
unsafe fn separate(thread: &mut Thread, line: *mut Line, half: usize, mask: u16) {
    let owner = (*line).owner[half];
    if mask == 0 || owner == 0 || owner & (SHARED | SPLIT) != 0 || owner & ID == thread.id {
        return;
    }
    if owner & BYTES != 0 || mask != 15 {
        split(thread, line, half);
    }
}

/// A location that reaches beyond the access is cut, so that bytes nobody touched together never share a history.
unsafe fn cut_partly_covered(thread: &mut Thread, line: *mut Line, word: usize, mask: u16) {
    let mut cut = [0u32; 8];
    let mut count = 0;
    each_cell(line, mask, &mut |cell| {
        let owner = *cell.owner;
        if owner & SHARED == 0 || owner == READ_BY_MANY || cut[..count].contains(&(owner & !SHARED)) {
            return;
        }
        let location: *const Location = mapping::record(RegionId::Locations, owner & !SHARED);
        let whole = byte_mask((*location).address as usize, (*location).size as usize);
        if whole & !mask != 0 {
            cut[count] = owner & !SHARED;
            count += 1;
        }
    });
    for &location in &cut[..count] {
        cut_location(thread, line, word, location, mask);
    }
}

unsafe fn cut_location(thread: &mut Thread, line: *mut Line, word: usize, index: u32, mask: u16) {
    let location: *const Location = mapping::record(RegionId::Locations, index);
    let whole = byte_mask((*location).address as usize, (*location).size as usize);
    location::end(thread, index);
    for half in 0..2 {
        let part = whole >> (half * 4) & 15;
        let covered = mask >> (half * 4) & part;
        if (*line).owner[half] == SHARED | index && covered != 0 && covered != 15 {
            // Without room for a split the half stays one piece, and the neighbours are taken for it.
            split(thread, line, half);
        }
    }
    // The pieces: maximal runs of bytes that are all inside the access or all outside of it.
    let mut offset = 0;
    while offset < 8 {
        let inside = mask >> offset & 1;
        if whole >> offset & 1 == 0 {
            offset += 1;
            continue;
        }
        let mut end = offset + 1;
        while end < 8 && whole >> end & 1 != 0 && mask >> end & 1 == inside {
            end += 1;
        }
        let piece = location::new(word + offset, end - offset, index);
        each_cell(line, byte_mask(offset, end - offset), &mut |cell| {
            if *cell.owner == SHARED | index {
                *cell.owner = piece.map_or(0, |piece| SHARED | piece);
            }
        });
        offset = end;
    }
}

/// Makes a location of adjacent cells that another thread alone has used so far.
///
/// None if it is not worth one: the cells are nobody's then.
unsafe fn share(thread: &mut Thread, word: usize, cells: &[Cell], leaf: u32) -> Option<u32> {
    let first = cells.first()?;
    let last = cells.last()?;
    let owner = *first.owner & ID;
    if !handovers::is_worth_a_location(first.newest(), leaf) {
        log::count_thinned(thread, 1);
        cells.iter().for_each(|cell| cell.clear());
        return None;
    }
    let index = location::new(word + first.offset, last.offset + last.bytes - first.offset, 0)?;
    let location: *mut Location = mapping::record(RegionId::Locations, index);
    if !blocks::describe(thread, location) {
        stack::shared(thread, (*location).address as usize);
    }
    for (kind, leaf, stamp) in [
        (EventKind::LastRead, *first.read, *first.read_stamp),
        (EventKind::LastWrite, *first.write, *first.write_stamp),
    ] {
        if leaf != 0 {
            let tick = Thread::full_tick(owner, stamp);
            let exact = if Thread::has_exact_stamps(owner) { flag::EXACT_TIME } else { 0 };
            let event = Event {
                kind: kind as u8,
                flags: exact | releases::flag_of(leaf) | loops::flag_at(thread, owner, tick),
                size: (*location).size as u8,
                reserved: 0,
                leaf,
                tick,
                object: index,
                other: owner,
                value: 0,
            };
            log::emit(thread, event);
        }
    }
    for cell in cells {
        cell.clear();
        AtomicU32::from_ptr(cell.owner).store(SHARED | index, Ordering::Release);
    }
    Some(index)
}

/// Notes the access at those of its bytes that are untouched or this thread's own. With the word's lock held.
unsafe fn note_own(thread: &mut Thread, line: *mut Line, address: usize, size: usize, touch: Touch) {
    let mask = byte_mask(address, size) as u32;
    for half in 0..2 {
        let mask = mask >> (half * 4) & 15;
        if mask != 0 {
            note_own_half(thread, line, half, mask, touch);
        }
    }
}

/// The same within a half.
pub unsafe fn note_own_half(thread: &mut Thread, line: *mut Line, half: usize, mask: u32, touch: Touch) {
    let who = thread.who();
    let owner = (*line).owner[half];
    if owner & SHARED != 0 {
        return;
    }
    if owner & SPLIT == 0 {
        if owner != 0 && owner & ID != who.id || own::note_half(line, half, mask, who, touch) {
            return;
        }
        if !split(thread, line, half) {
            // Its neighbours' older accesses are forgotten.
            return forget_and_note(line, half, who, touch);
        }
    }
    for byte in (0..4).filter(|byte| mask >> byte & 1 != 0) {
        own::note_half(line, half, 1 << byte, who, touch);
    }
}

unsafe fn forget_and_note(line: *mut Line, half: usize, who: Who, touch: Touch) {
    let cell = Cell::half(line, half);
    cell.clear();
    if exchange(cell.owner, 0, who.id) {
        cell.note(who.stamp, touch);
    }
}
