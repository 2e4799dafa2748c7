//! Functions of `string.h` that read or write whole strings.
//!
//! What they touch is recorded as ranges: up to and with the final zero, or up to the byte that decides. Other threads may
//! run before that is on record, so that what a function finds is looked for once more after it.

use core::ffi::c_int;

use crate::cells::Kind;
use crate::real::{real, with_caller};
use crate::{access, thread};

with_caller! {
    strcpy => 2, copy;
    stpcpy => 2, copy_to_end;
    strncpy => 3, copy_at_most;
    strcat => 2, append;
    strncat => 3, append_at_most;
    strlen => 1, length;
    strnlen => 2, length_at_most;
    strcmp => 2, compare;
    strncmp => 3, compare_at_most;
    memcmp => 3, compare_memory;
    strchr => 2, find;
    strrchr => 2, find_last;
    strdup => 1, duplicate;
    strndup => 2, duplicate_at_most;
}

unsafe fn reads(from: usize, bytes: usize, pc: usize) {
    if !thread::is_inside() {
        access::range(from, bytes, Kind::Read, 0, pc);
    }
}

unsafe fn writes(to: usize, bytes: usize, pc: usize) {
    if !thread::is_inside() {
        access::range(to, bytes, Kind::Write, 0, pc);
    }
}

/// Length without the final zero, of at most so many bytes. Not by a function that lands here again.
unsafe fn bytes_in(text: usize, most: usize) -> usize {
    let text = text as *const u8;
    let mut length = 0;
    while length < most && text.add(length).read_volatile() != 0 {
        length += 1;
    }
    length
}

unsafe extern "C" fn length(text: usize, pc: usize) -> usize {
    reads(text, bytes_in(text, usize::MAX) + 1, pc);
    bytes_in(text, usize::MAX)
}

unsafe extern "C" fn length_at_most(text: usize, most: usize, pc: usize) -> usize {
    reads(text, (bytes_in(text, most) + 1).min(most), pc);
    bytes_in(text, most)
}

unsafe extern "C" fn copy(to: usize, from: usize, pc: usize) -> usize {
    let bytes = bytes_in(from, usize::MAX) + 1;
    reads(from, bytes, pc);
    writes(to, bytes, pc);
    real!(strcpy(usize, usize) -> usize)(to, from)
}

unsafe extern "C" fn copy_to_end(to: usize, from: usize, pc: usize) -> usize {
    let bytes = bytes_in(from, usize::MAX) + 1;
    reads(from, bytes, pc);
    writes(to, bytes, pc);
    real!(stpcpy(usize, usize) -> usize)(to, from)
}

/// Fills up with zeros, so all of the room is written.
unsafe extern "C" fn copy_at_most(to: usize, from: usize, most: usize, pc: usize) -> usize {
    reads(from, (bytes_in(from, most) + 1).min(most), pc);
    writes(to, most, pc);
    real!(strncpy(usize, usize, usize) -> usize)(to, from, most)
}

unsafe extern "C" fn append(to: usize, from: usize, pc: usize) -> usize {
    let (present, bytes) = (bytes_in(to, usize::MAX), bytes_in(from, usize::MAX) + 1);
    reads(to, present + 1, pc);
    reads(from, bytes, pc);
    writes(to + present, bytes, pc);
    real!(strcat(usize, usize) -> usize)(to, from)
}

unsafe extern "C" fn append_at_most(to: usize, from: usize, most: usize, pc: usize) -> usize {
    let (present, bytes) = (bytes_in(to, usize::MAX), bytes_in(from, most));
    reads(to, present + 1, pc);
    reads(from, (bytes + 1).min(most), pc);
    writes(to + present, bytes + 1, pc);
    real!(strncat(usize, usize, usize) -> usize)(to, from, most)
}

/// Bytes that are looked at until two strings differ or end.
unsafe fn bytes_compared(one: usize, other: usize, most: usize) -> usize {
    let (one, other) = (one as *const u8, other as *const u8);
    let mut at = 0;
    while at < most {
        let (a, b) = (one.add(at).read_volatile(), other.add(at).read_volatile());
        at += 1;
        if a != b || a == 0 {
            break;
        }
    }
    at
}

unsafe extern "C" fn compare(one: usize, other: usize, pc: usize) -> c_int {
    let bytes = bytes_compared(one, other, usize::MAX);
    reads(one, bytes, pc);
    reads(other, bytes, pc);
    real!(strcmp(usize, usize) -> c_int)(one, other)
}

unsafe extern "C" fn compare_at_most(one: usize, other: usize, most: usize, pc: usize) -> c_int {
    let bytes = bytes_compared(one, other, most);
    reads(one, bytes, pc);
    reads(other, bytes, pc);
    real!(strncmp(usize, usize, usize) -> c_int)(one, other, most)
}

unsafe extern "C" fn compare_memory(one: usize, other: usize, bytes: usize, pc: usize) -> c_int {
    reads(one, bytes, pc);
    reads(other, bytes, pc);
    // In place: the recorder's own comparisons come here too, before the real function can be looked up.
    for at in 0..bytes {
        let a = (one as *const u8).add(at).read_volatile();
        let b = (other as *const u8).add(at).read_volatile();
        if a != b {
            return a as c_int - b as c_int;
        }
    }
    0
}

unsafe extern "C" fn find(text: usize, byte: c_int, pc: usize) -> usize {
    let real = real!(strchr(usize, c_int) -> usize);
    let found = real(text, byte);
    let bytes = if found != 0 { found - text } else { bytes_in(text, usize::MAX) };
    reads(text, bytes + 1, pc);
    real(text, byte)
}

unsafe extern "C" fn find_last(text: usize, byte: c_int, pc: usize) -> usize {
    reads(text, bytes_in(text, usize::MAX) + 1, pc);
    real!(strrchr(usize, c_int) -> usize)(text, byte)
}

unsafe extern "C" fn duplicate(text: usize, pc: usize) -> usize {
    let bytes = bytes_in(text, usize::MAX) + 1;
    reads(text, bytes, pc);
    let copy = real!(strdup(usize) -> usize)(text);
    if copy != 0 {
        writes(copy, bytes, pc);
    }
    copy
}

unsafe extern "C" fn duplicate_at_most(text: usize, most: usize, pc: usize) -> usize {
    let bytes = bytes_in(text, most);
    reads(text, (bytes + 1).min(most), pc);
    let copy = real!(strndup(usize, usize) -> usize)(text, most);
    if copy != 0 {
        writes(copy, bytes + 1, pc);
    }
    copy
}
