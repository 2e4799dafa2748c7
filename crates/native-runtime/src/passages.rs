//! Words that a thread goes through byte by byte: a buffer that it fills so, or that was handed on to it.
//!
//! Such a word soon is the thread's as a whole. To say so of each byte in between would take a locked exchange for each, and a
//! cell. Instead the owner fields of both halves name the [`Passage`] that tells who is at it, how far, and what the word
//! was before; the next byte is one plain store there. Whoever else comes, or this thread in another way, describes the
//! word as it is then ([`settle`]).
//!
//! - It begins with the word's lock held, and is settled first by whoever has the lock and looks at the word: so nobody else sees it there.
//! - Only the passage's thread moves it on, and it stops when the owner fields name the passage no more.
//! - Whoever exchanges them for [`CLOSING`] alone writes the word's description, and replaces them in a few instructions.
//! - A passage is in use for one word at a time: where the owner fields name it.
//!
//! As with words of its own, an access that its thread is about to note when another comes may be lost: it has not been yet.

use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering, compiler_fence};

use crate::cell::{Cell, ID, Masks};
use crate::cells::{self, stripe};
use crate::shadow::{self, Line};
use crate::split::{self, ByteCell};
use crate::thread::Thread;
use crate::tls::{self, Tls};
use crate::{fetch, log, noise, spin, thread};

/// One for reads and one for writes, so that copying from buffer to buffer has both.
const PER_THREAD: u32 = 2;
/// Threads that can have passages at a time; others do without.
const THREADS: u32 = 128;
pub const COUNT: u32 = PER_THREAD * THREADS;

/// Owner fields that name passages, from this on: ids that no thread has.
pub const FIRST: u32 = ID + 1 - COUNT;
/// The owner field of a word whose passage ends right now.
const CLOSING: u32 = FIRST - 1;
/// The highest id that a thread can have.
pub const LAST_THREAD: u32 = CLOSING - 1;

/// What is known of the word's bytes: all zero if nobody had touched them.
#[repr(C, align(64))]
pub struct Passage {
    /// The word's address; zero before the first.
    word: usize,
    /// Whose passage it is; zero if nobody's.
    pub thread: AtomicU32,
    /// Where its thread is: all bytes up to this one have been accessed.
    pub next: u32,
    /// The site of these accesses, and their times.
    pub leaf: u32,
    pub stamps: [u16; 8],
    /// Who had the word before, and how.
    former: u32,
    read: u32,
    write: u32,
    read_stamps: [u16; 2],
    write_stamps: [u16; 2],
    /// Where it was when it was last wanted for another word.
    wanted_at: u32,
}
const _: () = assert!(size_of::<Passage>() == 64);

pub struct Passages(UnsafeCell<[Passage; COUNT as usize]>);
// SAFETY: what may be read and written when is told above.
unsafe impl Sync for Passages {}
pub static PASSAGES: Passages = Passages(UnsafeCell::new([const { Passage::none() }; COUNT as usize]));

impl Passage {
    const fn none() -> Passage {
        Passage {
            word: 0,
            thread: AtomicU32::new(0),
            next: 0,
            leaf: 0,
            stamps: [0; 8],
            former: 0,
            read: 0,
            write: 0,
            read_stamps: [0; 2],
            write_stamps: [0; 2],
            wanted_at: 0,
        }
    }
}

#[inline(always)]
fn at(number: u32) -> *mut Passage {
    PASSAGES.0.get().cast::<Passage>().wrapping_add(number as usize)
}

/// Does this owner field say that the word is being gone through?
#[inline(always)]
pub fn is_named(owner: u32) -> bool {
    owner.wrapping_sub(FIRST) < COUNT
}

const fn pair(owner: u32) -> u64 {
    owner as u64 | (owner as u64) << 32
}

unsafe fn owners<'a>(line: *mut Line) -> &'a AtomicU64 {
    AtomicU64::from_ptr((&raw mut (*line).owner).cast())
}

unsafe fn exchange(line: *mut Line, from: u64, to: u64) -> bool {
    owners(line).compare_exchange(from, to, Ordering::AcqRel, Ordering::Relaxed).is_ok()
}

/// What became of an access to a byte.
pub enum Step {
    Noted,
    /// Its word is being gone through by this thread, and this is the last byte: see [`end`].
    Last,
    /// It needs a closer look; nothing is lost.
    Elsewhere,
}

/// Notes an access to the next byte of a word that this thread goes through, whose half has this owner field. Each site's
/// accesses are of one kind, so that it need not be compared.
#[inline(always)]
pub unsafe fn goes_on(owner: u32, line: *mut Line, address: usize, leaf: u32) -> Step {
    let tls = tls::current();
    let (number, byte) = (owner.wrapping_sub(FIRST), address & 7);
    let passage = at(number);
    if number >= COUNT
        || (*passage).thread.load(Ordering::Relaxed) != (*tls).id()
        || (*passage).leaf != leaf
        || (*tls).busy != 0
    {
        return Step::Elsewhere;
    }
    if byte == LAST {
        return Step::Last;
    }
    // From here on a signal handler, which may need the passage for another word, is kept out.
    (*tls).busy = 1;
    compiler_fence(Ordering::SeqCst);
    let is_here = (&raw const (*line).owner).cast::<u32>().add((address >> 2) & 1).read_volatile() == owner;
    let done = is_here && (*passage).next as usize == byte;
    if done {
        pass_byte(passage, byte, (*tls).stamp());
    }
    compiler_fence(Ordering::SeqCst);
    (*tls).busy = 0;
    if done { Step::Noted } else { Step::Elsewhere }
}

/// The last byte of a word, and how many it has.
const LAST: usize = 7;
const BYTES: u32 = LAST as u32 + 1;

/// The thread has accessed this byte, and all before it.
#[inline(always)]
unsafe fn pass_byte(passage: *mut Passage, byte: usize, stamp: u16) {
    (*passage).stamps[byte] = stamp;
    AtomicU32::from_ptr(&raw mut (*passage).next).store(byte as u32 + 1, Ordering::Release);
}

/// Notes an access to the last byte of a word that this thread goes through, which is its own as a whole then. False, with nothing lost,
/// if it needs a closer look.
#[inline(always)]
pub unsafe fn end<const WRITE: bool>(owner: u32, line: *mut Line) -> bool {
    let tls = tls::current();
    let thread = &mut *(*tls).thread;
    // Somebody may have settled the word since it was looked at.
    if !is_named(owner) {
        return false;
    }
    let passage = at(owner - FIRST);
    (*tls).busy = 1;
    compiler_fence(Ordering::SeqCst);
    let done = (*passage).thread.load(Ordering::Relaxed) == (*tls).id()
        && (*passage).next as usize == LAST
        && exchange(line, pair(owner), pair(CLOSING));
    if done {
        pass_byte(passage, LAST, (*tls).stamp());
        for half in 0..2 {
            describe_as_passed(line, half, passage, WRITE, half * 4 + 3);
        }
        owners(line).store((*tls).owner_pair, Ordering::Release);
        if (*passage).former != 0 {
            log::count_thinned(thread, BYTES);
        }
    }
    thread::leave(thread);
    done
}

/// What is known of a half whose bytes the passage's thread has accessed up to this one.
#[inline(always)]
unsafe fn describe_as_passed(line: *mut Line, half: usize, passage: *mut Passage, writes: bool, last: usize) {
    let (leaf, stamp) = ((*passage).leaf, (*passage).stamps[last]);
    let (read, write) = if writes { ((0, 0), (leaf, stamp)) } else { ((leaf, stamp), (0, 0)) };
    ((*line).read[half], (*line).read_stamp[half]) = read;
    ((*line).write[half], (*line).write_stamp[half]) = write;
}

/// Has the thread just been through the word before this one, at this site alone? Then it is worth while to expect the same here.
#[inline(always)]
unsafe fn has_come_this_way<const WRITE: bool>(tls: *const Tls, line: *mut Line, leaf: u32) -> bool {
    if line as usize & !shadow::BLOCK_MASK as usize == 0 {
        return false;
    }
    let before = line.sub(1);
    let (this, other) =
        if WRITE { (&(*before).write, &(*before).read) } else { (&(*before).read, &(*before).write) };
    owners(before).load(Ordering::Relaxed) == (*tls).owner_pair && *this == [leaf; 2] && *other == [0; 2]
}

/// Begins to go through a word that nobody has touched, by an access to its first byte; false if it needs a closer look.
#[inline(always)]
pub unsafe fn begin_to_fill<const WRITE: bool>(
    tls: *const Tls,
    line: *mut Line,
    address: usize,
    leaf: u32,
) -> bool {
    if !address.is_multiple_of(8) || (*tls).busy != 0 || !has_come_this_way::<WRITE>(tls, line, leaf) {
        return false;
    }
    let thread = &mut *(*tls).thread;
    let Some(lock) = cells::try_lock(thread, address) else { return false };
    let is_untouched = (*line).read == [0; 2] && (*line).write == [0; 2];
    let done = is_untouched && begin::<WRITE>(thread, line, address, leaf, 0);
    if done {
        ask_for_next(line);
    }
    cells::unlock(thread, lock);
    done
}

/// Begins to take over a word from the one thread that has used it so far, always as a whole; false if it needs a closer look. With
/// the word's lock held, for an access to its first byte.
#[inline(always)]
pub unsafe fn begin_to_take_over<const WRITE: bool>(
    thread: &mut Thread,
    line: *mut Line,
    address: usize,
    leaf: u32,
) -> bool {
    let former = (*line).owner[0];
    let is_alike = (*line).read[0] == (*line).read[1] && (*line).write[0] == (*line).write[1];
    // All of the word's accesses count as passed where a delay may be due, so that none has to look whether it is.
    let done = is_alike
        && !noise::is_due_within(thread, BYTES)
        && has_come_this_way::<WRITE>(thread.tls, line, leaf)
        && begin::<WRITE>(thread, line, address, leaf, former);
    if done {
        ask_for_next(line);
        noise::pass_accesses(thread, BYTES);
    }
    done
}

/// Words ahead whose description is asked for while a thread goes through one. Another had it last, and to be read and then
/// changed it would have to come from there twice.
const AHEAD: usize = 8;

#[inline(always)]
fn ask_for_next(line: *mut Line) {
    fetch::to_change(line.wrapping_add(AHEAD));
}

#[inline(always)]
unsafe fn begin<const WRITE: bool>(
    thread: &mut Thread,
    line: *mut Line,
    address: usize,
    leaf: u32,
    former: u32,
) -> bool {
    let Some(number) = own_passage::<WRITE>(thread) else { return false };
    let passage = at(number);
    if (*passage).word != 0 && !is_free(thread, number) {
        return false;
    }
    (*passage).word = address;
    (*passage).next = 1;
    (*passage).leaf = leaf;
    (*passage).stamps[0] = thread.last_tick as u16;
    (*passage).former = former;
    (*passage).read = (*line).read[0];
    (*passage).write = (*line).write[0];
    (*passage).read_stamps = (*line).read_stamp;
    (*passage).write_stamps = (*line).write_stamp;
    (*passage).wanted_at = 0;
    exchange(line, pair(former), pair(FIRST + number))
}

/// The thread's passage for reads or writes; none if there are too many threads.
#[inline(always)]
unsafe fn own_passage<const WRITE: bool>(thread: &mut Thread) -> Option<u32> {
    if thread.passages == 0 {
        thread.passages = FIRST_OF_NONE;
        let free = (0..COUNT).step_by(PER_THREAD as usize).find(|&first| {
            let user = &(*at(first)).thread;
            user.compare_exchange(0, thread.id, Ordering::Acquire, Ordering::Relaxed).is_ok()
        });
        if let Some(first) = free {
            (*at(first + 1)).thread.store(thread.id, Ordering::Relaxed);
            thread.passages = first + 1;
        }
    }
    let first = thread.passages - 1;
    (first < COUNT).then_some(first + WRITE as u32)
}

/// In [`Thread::passages`], which has one more than the number of the first: there are none for this thread.
const FIRST_OF_NONE: u32 = COUNT + 1;

/// Can this passage of the thread's be used for another word? If it has not moved since the last time that it was wanted, it
/// can be the next time: the thread went elsewhere.
#[inline(always)]
unsafe fn is_free(thread: &mut Thread, number: u32) -> bool {
    let passage = at(number);
    let line = shadow::line_if_mapped((*passage).word);
    let owner = (&raw const (*line).owner[0]).read_volatile();
    if owner != FIRST + number && owner != CLOSING {
        return true;
    }
    if (*passage).wanted_at == (*passage).next {
        give_up(thread, line, (*passage).word);
    }
    (*passage).wanted_at = (*passage).next;
    false
}

#[cold]
#[inline(never)]
unsafe fn give_up(thread: &mut Thread, line: *mut Line, address: usize) {
    // Another word's lock may be held.
    let lock = stripe(address);
    if lock.compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed).is_ok() {
        settle(thread, line);
        spin::unlock(lock);
    }
}

/// If somebody goes through this word, it is described as it is now, without a passage. With its lock held, so that no other
/// begins.
#[inline(always)]
pub unsafe fn settle(thread: &mut Thread, line: *mut Line) {
    let [low, high] = (*line).owner;
    if low.wrapping_sub(CLOSING) <= COUNT || high.wrapping_sub(CLOSING) <= COUNT {
        settle_named(thread, line);
    }
}

#[cold]
#[inline(never)]
unsafe fn settle_named(thread: &mut Thread, line: *mut Line) {
    loop {
        let now = owners(line).load(Ordering::Acquire);
        let owner = now as u32;
        if now == pair(CLOSING) {
            // By its own thread.
            if !spin::wait_while(AtomicU32::from_ptr(&raw mut (*line).owner[0]), CLOSING, 1) {
                return;
            }
        } else if now != pair(owner) {
            // The passage has ended, or the memory begins a new life right now.
            return (0..2).for_each(|half| forget_half(line, half));
        } else if !is_named(owner) {
            return;
        } else if exchange(line, now, pair(CLOSING)) {
            return describe(thread, line, owner - FIRST);
        }
    }
}

unsafe fn forget_half(line: *mut Line, half: usize) {
    if is_named((&raw const (*line).owner[half]).read_volatile()) {
        Cell::half(line, half).clear();
    }
}

/// Describes a word as it is in the midst of its passage, and ends that.
unsafe fn describe(thread: &mut Thread, line: *mut Line, number: u32) {
    let passage = at(number);
    let (id, writes) = ((*passage).thread.load(Ordering::Relaxed), number % PER_THREAD == 1);
    let next = AtomicU32::from_ptr(&raw mut (*passage).next).load(Ordering::Acquire) as usize;
    if (*passage).former != 0 {
        log::count_thinned(thread, next as u32);
    }
    let mut owners_then = [0; 2];
    for (half, owner) in owners_then.iter_mut().enumerate() {
        let passed = next.saturating_sub(half * 4).min(4);
        if passed == 0 {
            (*line).read[half] = (*passage).read;
            (*line).write[half] = (*passage).write;
            (*line).read_stamp[half] = (*passage).read_stamps[half];
            (*line).write_stamp[half] = (*passage).write_stamps[half];
            *owner = (*passage).former;
        } else if passed < 4
            && (*passage).former != 0
            && let Some(new) = split::room(thread, line)
        {
            describe_bytes(&mut *split::cells(new, line, half), passage, id, half, passed, writes);
            *owner = new;
        } else {
            // Without room for cells the whole half is taken for what was passed.
            let mask = if (*passage).former != 0 { 15 } else { (1 << passed) - 1 };
            let masks =
                if writes { Masks { reads: 0, writes: mask } } else { Masks { reads: mask, writes: 0 } };
            describe_as_passed(line, half, passage, writes, half * 4 + passed - 1);
            *owner = masks.owner(id);
        }
    }
    let [low, high] = owners_then;
    owners(line).store(u64::from(low) | u64::from(high) << 32, Ordering::Release);
}

unsafe fn describe_bytes(
    cells: &mut [ByteCell; 4],
    passage: *mut Passage,
    id: u32,
    half: usize,
    passed: usize,
    writes: bool,
) {
    for (byte, cell) in cells.iter_mut().enumerate() {
        let (leaf, stamp) = ((*passage).leaf, (*passage).stamps[half * 4 + byte]);
        *cell = if byte >= passed {
            ByteCell {
                owner: (*passage).former,
                read: (*passage).read,
                write: (*passage).write,
                read_stamp: (*passage).read_stamps[half],
                write_stamp: (*passage).write_stamps[half],
            }
        } else if writes {
            ByteCell { owner: id, read: 0, write: leaf, read_stamp: 0, write_stamp: stamp }
        } else {
            ByteCell { owner: id, read: leaf, write: 0, read_stamp: stamp, write_stamp: 0 }
        };
    }
}

/// The thread ends.
pub unsafe fn give_back_all(thread: &mut Thread) {
    let first = thread.passages.wrapping_sub(1);
    if first >= COUNT {
        return;
    }
    for number in (first..first + PER_THREAD).rev() {
        let word = (*at(number)).word;
        if word != 0 {
            let lock = stripe(word);
            if !spin::lock(lock) {
                return;
            }
            let line = shadow::line_if_mapped(word);
            if (*line).owner[0] == FIRST + number {
                settle(thread, line);
            }
            spin::unlock(lock);
        }
        (*at(number)).word = 0;
        (*at(number)).thread.store(0, Ordering::Release);
    }
}

/// In a forked child, whose shadow is empty.
pub unsafe fn restart(thread: &mut Thread) {
    for number in 0..COUNT {
        (*at(number)).word = 0;
        (*at(number)).thread.store(0, Ordering::Relaxed);
    }
    thread.passages = 0;
}
